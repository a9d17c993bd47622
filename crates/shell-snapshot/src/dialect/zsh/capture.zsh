# Evaluated in the user's shell when its startup files are done, under zsh's own options, with no alias read and
# nothing disabled. Writes the sections `environment`, `text` (the state, as a fresh shell reads it), `compiled` (the
# same by zcompile, where that can be done) and `names` (what the state holds). The shell is killed at the end, so
# nothing is put back and nothing of the user's runs: no exit trap, no logout file, no history.
#
# All names of ours begin with __es_. No functions: they would be in the dump.

builtin enable -p -m '*'
builtin print -u@FD@ -r -- $'\n@NONCE@ login'

# ---- Parameters, by kind.

__es_special=("${(@k)parameters[(R)*special*]}")
__es_exported=("${(@k)parameters[(R)(scalar|integer|float)*export*]}")
# Exported and more than a scalar: the environment brings the value, the state the rest.
__es_attributes=("${(@k)parameters[(R)((scalar-?*-export|(integer|float)*-export)*~*special*)]}")
__es_plain=("${(@k)parameters}")
# What a process has of its own, what is set apart below, and what would run at the command's end.
__es_skip=(ZSH_EXECUTION_STRING ZSH_ARGZERO ZSH_SCRIPT TTY PWD OLDPWD LINES COLUMNS ZDOTDIR EXEC_SERVER_SNAPSHOT
    zshexit_functions "${(@k)parameters[(I)__es_*]}"
    # Tied arrays come with their scalars; undefined ones would load their module.
    "${(@k)parameters[(R)array*tied*]}" "${(@k)parameters[(R)undefined*]}")
__es_plain=("${(@)__es_plain:|__es_special}")
__es_plain=("${(@)__es_plain:|__es_exported}")
__es_plain=("${(@)__es_plain:|__es_skip}")
# zsh prints neither the values of hidden parameters nor all digits of floats.
__es_hidden=("${(@k)parameters[(R)*hideval*]}")
__es_hidden=("${(@)__es_hidden:*__es_plain}")
__es_float=("${(@k)parameters[(R)float*]}")
__es_float=("${(@)__es_float:|__es_special}")
__es_plain=("${(@)__es_plain:|__es_float}")
# Of the parameters that are the shell's own, those a user sets and a command sees.
__es_own=(IFS PS1 PS2 PS3 PS4 RPS1 RPS2 SPROMPT NULLCMD READNULLCMD HISTFILE HISTSIZE SAVEHIST histchars WORDCHARS
    KEYTIMEOUT KEYBOARD_HACK FUNCNEST TMPPREFIX TMPSUFFIX TIMEFMT MAILCHECK LISTMAX DIRSTACKSIZE FCEDIT LOGCHECK
    REPORTTIME REPORTMEMORY PROMPT_EOL_MARK TMOUT WATCH WATCHFMT PSVAR CDPATH FPATH FIGNORE MAILPATH MANPATH
    MODULE_PATH)
__es_own=("${(@)__es_own:*__es_special}")
# Of these, the exported ones that the shell does not take from its environment.
__es_lists=(PSVAR CDPATH FPATH FIGNORE MAILPATH MANPATH MODULE_PATH WATCH)
__es_lists=("${(@)__es_lists:*__es_exported}")
__es_own=("${(@)__es_own:|__es_lists}")
__es_unique=("${(@k)parameters[(R)*unique*special*]}")
__es_readonly=(PATH HOME TERM LANG LC_ALL $__es_own)
__es_own_readonly=("${(@k)parameters[(R)*readonly*]}")
__es_own_readonly=("${(@)__es_own_readonly:*__es_readonly}")

# ---- Functions and traps. A stub is printed in three or four lines: its name and flags are paired again here.

__es_dump=("${(@ps:\0:)$(builtin autoload; for __es_name in t T W; do
    builtin print -rn $'\0'
    builtin functions +$__es_name
done)}")
__es_line=("${(@f)__es_dump[1]}")
__es_traced=("${(@f)__es_dump[2]}")
__es_traced_all=("${(@f)__es_dump[3]}")
__es_warning=("${(@f)__es_dump[4]}")
builtin typeset -A __es_autoload
__es_name=("${(@Q)${(@M)__es_line:#* \(\) \{}% \(\) \{}")
__es_line=("${(@)${(@M)__es_line:#$'\t'builtin autoload -X*}#$'\t'builtin autoload -X}")
__es_autoload=("${(@)__es_name:^__es_line}")
__es_functions=("${(@ok)functions}")
# These would run when the command ends.
__es_skip=(TRAPEXIT TRAPDEBUG zshexit)
__es_left_out=("function "${(@)^${(@)__es_skip:*__es_functions}})
(( ${+zshexit_functions} )) && __es_left_out+=('variable zshexit_functions')
__es_skip+=("${(@k)__es_autoload}")
__es_functions=("${(@)__es_functions:|__es_skip}")
__es_traps=("${(@M)__es_functions:#TRAP*}")
__es_functions=("${(@)__es_functions:|__es_traps}")
# In parts, in text as in what is compiled: the time zsh takes to read functions in one piece grows with the square
# of their number.
(( __es_part = $#__es_functions / @PARTS@ + 1, __es_part = __es_part < 12 ? 12 : __es_part ))
__es_dump=("${(@ps:\0:)$(
    (( $#__es_traps )) && builtin functions -- "${(@)__es_traps}"
    for (( __es_at = 1; __es_at <= $#__es_functions; __es_at += __es_part )); do
        builtin print -rn $'\0'
        builtin functions -- "${(@)__es_functions[__es_at,__es_at+__es_part-1]}"
    done
)}")
# In a pipeline, not in a command substitution: that has no traps.
builtin trap | IFS= builtin read -r -d '' __es_trap || builtin trap -

# ---- Options: those that are not as zsh has them. Some are not the command's shell's, or cannot be set in one.

builtin typeset -A __es_option __es_default
__es_option=(${=__es_options})
__es_default=("${(@kv)options}" aliases on interactivecomments off extendedglob off)
for __es_name in "${(@k)__es_option}"; do
    if [[ $__es_option[$__es_name] == $__es_default[$__es_name] && $__es_emulation == zsh ]] ||
        [[ $__es_name == (exec|interactive|login|monitor|privileged|restricted|shinstdin|singlecommand|stdin|zle) ||
        $__es_name == (banghist|emacs|vi) ]]
    then
        builtin unset "__es_option[$__es_name]"
    fi
done

# ---- The state. It is read in one piece, under zsh's own options and with no alias read. Functions come first:
# nothing here is found as a function, and compiled they come from parts of their own.

__es_text="$(
    # The request's shell began with the place of the state as its ZDOTDIR.
    if [[ ${parameters[ZDOTDIR]-} == *export* ]]; then
        builtin print -r -- "builtin export ZDOTDIR=${(qqqq)ZDOTDIR}"
    elif (( ${+ZDOTDIR} )); then
        builtin print -r -- "builtin unset ZDOTDIR; ZDOTDIR=${(qqqq)ZDOTDIR}"
    else
        builtin print -r -- 'builtin unset ZDOTDIR'
    fi
    builtin print -r -- "builtin umask $(builtin umask)"
    # The limits of the parent are those this shell began with.
    if [[ "$(</proc/$PPID/limits)" != "$(</proc/self/limits)" ]]; then
        builtin ulimit -S -a | while IFS= builtin read -r __es_line; do
            builtin print -r -- "builtin ulimit -S ${__es_line%%:*} ${__es_line##* } 2>/dev/null"
        done
    fi
    # Those left out come by themselves where something of theirs is used.
    builtin zmodload -FL | while IFS= builtin read -r __es_line; do
        [[ $__es_line == 'zmodload -F zsh/'(complete|complist|compctl|computil|main|parameter|rlimits|termcap|terminfo|zle|zleparameter|zutil)* ]] ||
            builtin print -r -- "builtin $__es_line 2>/dev/null"
    done
    builtin hash -dL | while IFS= builtin read -r __es_line; do builtin print -r -- "builtin $__es_line"; done

    (( $#__es_hidden )) && builtin typeset +H -- "${(@)__es_hidden}"
    (( $#__es_plain )) && builtin typeset -p -- "${(@)__es_plain}"
    for __es_name in "${(@)__es_float}"; do
        __es_line=${${parameters[$__es_name]}/float/}
        __es_value="$(builtin typeset -p -- $__es_name)"
        __es_value=${__es_value##*=}
        if [[ $__es_value == *e* ]]; then
            __es_value="-E ${#${${__es_value#*.}%e*}}"
        else
            __es_value="-F ${#${__es_value#*.}}"
        fi
        [[ $__es_line == *export* ]] && builtin print -rn -- "(( \${+$__es_name} )) && "
        builtin print -rn -- "builtin typeset ${${(M)__es_line:#*export*}:+-x} ${${(M)__es_line:#*readonly*}:+-r} $__es_value $__es_name"
        [[ $__es_line == *export* ]] && builtin print || builtin print -r -- "=$(( $__es_name ))"
    done
    (( $#__es_hidden )) && builtin print -r -- "builtin typeset -H -- $__es_hidden"
    (( $#__es_own )) && builtin typeset -p -- "${(@)__es_own}"
    [[ ${parameters[SECONDS]-} == float* ]] && builtin print -r -- 'builtin typeset -F SECONDS'
    (( $#__es_attributes )) && builtin typeset -p -- "${(@)__es_attributes}" | while IFS= builtin read -r __es_line; do
        # `export -i N=5`, `export -T LIST list=( a b ) :`: less the value, which the environment brings.
        __es_name=${__es_line%%=*}
        if [[ $__es_name == 'export -'[^\ ]#T* ]]; then
            __es_value=${${(M)__es_line%%\) [^\(]#}#\)}
            __es_line=${${__es_name% *}##* }
        else
            __es_value=
            __es_line=${__es_name##* }
        fi
        builtin print -r -- "(( \${+$__es_line} )) && builtin ${__es_name/#export/typeset -x}$__es_value"
    done
    (( $#__es_unique )) && builtin print -r -- "builtin typeset -U -- $__es_unique"
    (( $#__es_own_readonly )) && builtin print -r -- "builtin typeset -r -- $__es_own_readonly"

    for __es_line in "${(@u)__es_autoload}"; do
        __es_name=("${(@k)__es_autoload[(Re)$__es_line]}")
        if [[ $__es_line == *\ * ]]; then
            __es_name=("${__es_line#* }/"${(@)^__es_name})
            __es_line=${__es_line%% *}
        fi
        builtin print -r -- "builtin autoload -$__es_line -- ${(@q)__es_name}"
    done
    __es_traced=("${(@)__es_traced:*__es_functions}")
    (( $#__es_traced )) && builtin print -r -- "builtin functions -t -- ${(@q)__es_traced}"
    __es_traced_all=("${(@)__es_traced_all:*__es_functions}")
    (( $#__es_traced_all )) && builtin print -r -- "builtin functions -T -- ${(@q)__es_traced_all}"
    __es_warning=("${(@)__es_warning:*__es_functions}")
    (( $#__es_warning )) && builtin print -r -- "builtin functions -W -- ${(@q)__es_warning}"
    for __es_name in "${(@k)dis_functions}"; do
        [[ $__es_name == (builtin|enable) ]] ||
            builtin print -r -- "functions[${(q)__es_name}]=${(qqqq)dis_functions[$__es_name]}; builtin disable -f -- ${(q)__es_name}"
    done

    builtin print -r -- "${${__es_trap/#trap/builtin trap}//$'\n'trap/$'\n'builtin trap}"
    builtin print -r -- "$__es_dump[1]"
    # A shell has some aliases by itself, which the user may have taken away.
    builtin print -r -- "builtin unalias -m '*'"
    { builtin alias -L; builtin alias -Ls } | while IFS= builtin read -r __es_line; do
        builtin print -r -- "builtin $__es_line"
    done
    for __es_name in "${(@k)dis_aliases}"; do
        builtin print -r -- "builtin alias -- ${(q)__es_name}=${(qqqq)dis_aliases[$__es_name]}; builtin disable -a -- ${(q)__es_name}"
    done
    # Last, for they change what runs and what is read: first what emulation stands for, then each option.
    [[ $__es_emulation == zsh ]] || builtin print -r -- "builtin emulate $__es_emulation"
    __es_name=("${(@ok)__es_option[(R)on]}")
    __es_name=("${(@)__es_name:#(aliases|xtrace)}")
    [[ ${__es_option[aliases]-on} == on ]] && __es_name+=(aliases)
    (( $#__es_name )) && builtin print -r -- "builtin setopt $__es_name"
    __es_name=("${(@ok)__es_option[(R)off]}")
    (( $#__es_name )) && builtin print -r -- "builtin unsetopt $__es_name"
    [[ -n $__es_nopatchars ]] && builtin print -r -- "builtin disable -p -- ${(@q)${=__es_nopatchars}}"
    [[ -n $__es_noreswords ]] && builtin print -r -- "builtin disable -r -- ${(@q)${=__es_noreswords}}"
    [[ -n $__es_nobuiltins ]] && builtin print -r -- "builtin disable -- ${(@q)${=__es_nobuiltins}}"
    [[ -n $__es_builtin ]] && builtin print -r -- $'builtin () {\n'"$__es_builtin"$'\n}'
    [[ -n $__es_enable ]] && builtin print -r -- $'enable () {\n'"$__es_enable"$'\n}'
    builtin print -r -- '} always {
if (( TRY_BLOCK_ERROR > 0 )); then
builtin print -u2 -r -- "failed to restore shell snapshot"
TRY_BLOCK_ERROR=0
fi
}'
    # After the last command of ours. An assignment leaves an empty line, the pattern an empty $_.
    if [[ ${__es_option[xtrace]-} == on ]]; then
        if [[ -n $__es_builtin || " $__es_nobuiltins " == *\ (builtin|setopt)\ * ]]; then
            builtin print -r -- 'options[xtrace]=on'
        else
            builtin print -r -- "builtin setopt -m xtrace ''"
        fi
    fi
)"

# ---- The sections.

[[ -r @PLACE@/.zshenv ]] && builtin print -u@FD@ -r -- $'\n@NONCE@ place\n'

builtin print -u@FD@ -rn -- $'\n@NONCE@ environment\n'
for __es_name in "${(@)__es_exported}"; do
    builtin print -u@FD@ -rn -- "$__es_name=${${(P)__es_name}%%$'\0'*}"$'\0'
done
builtin print -u@FD@ -rn -- $'\n@NONCE@ names\n'
__es_name=(
    "function "${(@)^__es_functions} "function "${(@)^__es_traps} "function "${(@k)^__es_autoload}
    "alias "${(@k)^aliases} "alias "${(@k)^galiases} "alias "${(@k)^saliases}
    "variable "${(@)^__es_plain} "variable "${(@)^__es_own} "option "${(@k)^__es_option} "left "${(@)^__es_left_out})
builtin print -u@FD@ -rN -- "${(@)__es_name}"

# The state must at least be read again. Compiled, it need not be: zcompile writes what is in memory, so the text goes
# nowhere. What it writes is in memory too (/dev/shm) and has no name any more once it is open.
__es_name=()
for (( __es_at = 1; __es_at < $#__es_dump; ++__es_at )); do
    functions[$__es_at]="$__es_dump[__es_at+1]"
    __es_name+=($__es_at)
done
functions[.zshenv]="builtin emulate -R zsh
{
${(F)${(@)__es_name/#/builtin . \$ZDOTDIR/}}
builtin exec @STATE_FD@<&-
$__es_text"
__es_name+=(.zshenv)
if (( $#__es_name == ${#${(@k)functions:*__es_name}} )); then
    builtin print -u@FD@ -r -- $'\n@NONCE@ text\nbuiltin emulate -R zsh; builtin setopt noaliases\n{'
    builtin print -u@FD@ -rl -- "builtin eval "${(@qqqq)^__es_dump[2,-1]} "$__es_text"
    __es_line=/dev/shm/.$$-$RANDOM$RANDOM$RANDOM
    if builtin zmodload -F zsh/files b:zf_mkdir b:zf_rm b:zf_rmdir && builtin zmodload zsh/system &&
        builtin zf_mkdir -m 700 $__es_line
    then
        builtin zcompile -c -R $__es_line/state $__es_name && builtin exec {__es_file}<$__es_line/state.zwc
        builtin zf_rm -f $__es_line/state.zwc
        builtin zf_rmdir $__es_line
        builtin print -u@FD@ -rn -- $'\n@NONCE@ compiled\n'
        (( ${+__es_file} )) && while builtin sysread -s 65536 -i $__es_file -o @FD@; do :; done
    fi
fi
builtin print -u@FD@ -rn -- $'\n@NONCE@ end\n'
builtin kill -KILL $$
