# Evaluated in the user's shell when its startup files are done, under zsh's own options, with no alias read and
# nothing disabled. Writes the sections
#   environment  what is exported, as NAME=VALUE and NUL
#   names        what the state holds, as kind, space, name and NUL
#   place        (empty) if commands find the place of the states
#   functions    their definitions, in parts divided by NUL
#   state        the rest of the state, as a fresh shell reads it
#   compiled     both by zcompile, where that can be done
# The shell is killed at the end, so nothing is put back and nothing of the user's runs: no exit trap, no logout
# file, no history. All names of ours begin with __es_. No functions: they would be in the listing. Few command
# substitutions: each is a process.

builtin enable -p -m '*'
builtin print -u@FD@ -r -- $'\n@NONCE@ login'
# Splitting and joining go by IFS.
__es_ifs=("${parameters[IFS]-unset}" "${IFS-}")
[[ $__es_ifs[1] == *readonly* ]] || IFS=$' \t\n\0'

# ---- Parameters, by kind.

__es_special=("${(@k)parameters[(R)*special*]}")
__es_exported=("${(@k)parameters[(R)(scalar|integer|float)*export*]}")
# Exported and more than a scalar: the environment brings the value, the state the rest.
__es_attributes=("${(@k)parameters[(R)((scalar-?*-export|integer*-export)*~*special*)]}")
# With ALLEXPORT names of ours are exported too.
__es_exported=("${(@)__es_exported:#__es_*}")
# What was exported and never had a value is in no environment, but looks as if it had an empty one.
__es_empty=()
for __es_name in "${(@)__es_exported}"; do [[ -n ${(P)__es_name} ]] || __es_empty+=($__es_name); done
if (( $#__es_empty )); then
    __es_line=("${(@0)$(/proc/$$/exe -fc 'builtin print -rn -- "$(</proc/self/environ)"')}")
    __es_line=("${(@)__es_line%%\=*}")
    (( $#__es_line > 1 )) && __es_empty=("${(@)__es_empty:|__es_line}") || __es_empty=()
fi
__es_plain=("${(@k)parameters}")
# What a process has of its own, what is set apart below, and what would run at the command's end. Tied arrays come
# with their scalars; undefined ones would load their module.
# What compinit fills: only the line editor asks for it, and it is most of many a state.
__es_completion=(_comps _services _patcomps _postpatcomps _compautos _lastcomp)
__es_skip=(ZSH_EXECUTION_STRING ZSH_ARGZERO ZSH_SCRIPT TTY PWD OLDPWD LINES COLUMNS ZDOTDIR EXEC_SERVER_SNAPSHOT
    zshexit_functions "${(@k)parameters[(I)__es_*]}" "${(@)__es_completion}"
    "${(@k)parameters[(R)array*tied*]}" "${(@k)parameters[(R)undefined*]}")
__es_completion=("${(@)__es_completion:*__es_plain}")
__es_plain=("${(@)__es_plain:|__es_special}")
__es_plain=("${(@)__es_plain:|__es_exported}")
__es_plain=("${(@)__es_plain:|__es_skip}")
# zsh prints neither the values of hidden parameters nor all digits of floats.
__es_hidden=("${(@k)parameters[(R)*hideval*]}")
__es_hidden=("${(@)__es_hidden:*__es_plain}")
# Nor does it say which a function hides when it makes them local.
__es_hide=("${(@k)parameters[(R)*-hide(|-*)]}")
__es_hide=("${(@)__es_hide:*__es_plain}")
__es_float=("${(@k)parameters[(R)float*]}")
__es_float=("${(@)__es_float:|__es_special}")
__es_plain=("${(@)__es_plain:|__es_float}")
# Of the parameters that are the shell's own, those a user sets and a command sees: first those every zsh has.
__es_own=(IFS PS1 PS2 PS3 PS4 SPROMPT NULLCMD READNULLCMD HISTSIZE SAVEHIST histchars WORDCHARS KEYTIMEOUT
    KEYBOARD_HACK FUNCNEST TMPPREFIX TIMEFMT MAILCHECK LISTMAX PSVAR CDPATH FPATH FIGNORE MAILPATH MANPATH
    MODULE_PATH)
__es_unset=("${(@k)parameters}")
__es_unset=("${(@)__es_own:|__es_unset}")
__es_own+=(RPS1 RPS2 RPROMPT RPROMPT2 POSTEDIT ZLE_RPROMPT_INDENT PATH LANG LC_ALL HISTFILE TMPSUFFIX DIRSTACKSIZE FCEDIT LOGCHECK REPORTTIME REPORTMEMORY PROMPT_EOL_MARK TMOUT
    WATCH WATCHFMT)
# What getopts left.
[[ $OPTIND == 1 && -z ${OPTARG-} ]] || __es_own+=(OPTIND OPTARG)
__es_own=("${(@)__es_own:*__es_special}")
# Exported, these come from the environment.
__es_skip=(PATH LANG LC_ALL PSVAR CDPATH FPATH FIGNORE MAILPATH MANPATH MODULE_PATH WATCH)
__es_skip=("${(@)__es_skip:*__es_exported}")
__es_own=("${(@)__es_own:|__es_skip}")
[[ $__es_ifs[1] == unset ]] && __es_unset+=(IFS) __es_own=("${(@)__es_own:#IFS}")
__es_unique=("${(@k)parameters[(R)*unique*special*]}")
__es_locked=(PATH path fpath HOME TERM LANG LC_ALL "${(@)__es_own}")
__es_readonly=("${(@k)parameters[(R)*readonly*]}")
__es_locked=("${(@)__es_locked:*__es_readonly}")
__es_skip=("${(@)__es_plain}" "${(@)__es_float}" "${(@)__es_attributes}")
__es_readonly=("${(@)__es_readonly:*__es_skip}")
__es_bulk=("${(@)__es_plain:|__es_readonly}")
__es_single=("${(@)__es_plain:*__es_readonly}")

# ---- The listings. Two processes: the second needs names that the first prints.

# Bytes that are no characters of the locale are listed as they are: of `\M-'` and `\M-\`, as zsh writes them between
# quotes, it cannot read the quotes again, and one "§" where LANG is not set would cost the whole state.
__es_list=("${(@ps:\0:)$(
    builtin setopt printeightbit
    builtin autoload
    for __es_name in +t +T +W -M; do builtin print -rn $'\0'; builtin functions $__es_name; done
    builtin print -rn $'\0'; builtin umask
    builtin print -rn $'\0'; builtin hash -dL
    builtin print -rn $'\0'; builtin zmodload -FL
    builtin print -rn $'\0'; builtin alias -L; builtin alias -Ls
)}")
__es_traced=("${(@f)__es_list[2]}")
__es_traced_all=("${(@f)__es_list[3]}")
__es_warning=("${(@f)__es_list[4]}")
# A stub is `NAME () {`, a comment that it is undefined, perhaps another, `builtin autoload -XFLAGS DIR` and `}`. There
# may be a thousand: they are taken apart at once, and put together by flags and folder.
__es_value=$'\n}\n'
__es_line=(${(ps:$__es_value:)__es_list[1]})
__es_value=$' () {\n\t# undefined\n'
__es_line=(${(ps:$__es_value:)${(pj:\0:)__es_line}})
__es_line=(${(ps:\0:)${(pj:\0:)__es_line}})
builtin typeset -A __es_autoload
__es_autoload=("${(@)__es_line}")
__es_stubs=("${(@Qk)__es_autoload}")
__es_functions=("${(@ok)functions}")
# These would run when the command ends.
__es_skip=(TRAPEXIT TRAPDEBUG zshexit)
__es_left_out=("${(@)__es_skip:*__es_functions}")
__es_left_out=("function "${(@)^__es_left_out})
(( ${+zshexit_functions} )) && __es_left_out+=('variable zshexit_functions')
__es_skip+=("${(@)__es_stubs}")
__es_functions=("${(@)__es_functions:|__es_skip}")
__es_traps=("${(@M)__es_functions:#TRAP*}")
__es_functions=("${(@)__es_functions:|__es_traps}")
# As zsh lists them, it reads names that are reserved words as such, and a quote after a byte 1c not at all.
__es_skip=($reswords "${(@M)__es_functions:#*[[:cntrl:]]*}")
__es_worded=("${(@)__es_functions:*__es_skip}")
__es_functions=("${(@)__es_functions:|__es_worded}")
# In parts: the time zsh takes to compile functions in one piece grows with the square of their number. Not in small
# ones: each is a file to open for every command.
(( __es_part = $#__es_functions / @PARTS@ + 1, __es_part = __es_part < 64 ? 64 : __es_part ))
# What RC_QUOTES made one quote of two is listed as one, which ends the string. In compiled functions quotes that are
# text and quotes around it (byte 9d) differ: there the former become a byte that is found again in the listing. A word
# of one quote alone is part of a number.
__es_quoted=() __es_mark=
if [[ " $__es_options " == *' rcquotes on '* ]]; then
    __es_value="*'*'*'*"
    __es_quoted=("${(@k)functions[(R)$__es_value]}")
    __es_quoted=("${(@)__es_quoted:*__es_functions}")
    for __es_mark in $'\x01' $'\x02' $'\x03' $'\x04' $'\x05' $'\x06' ''; do
        [[ "${functions[@]}" == *$__es_mark* ]] || break
    done
    __es_place=/dev/shm/.$$-$RANDOM$RANDOM$RANDOM
    if [[ -n $__es_mark ]] && (( $#__es_quoted )) && builtin zmodload -F zsh/files b:zf_mkdir b:zf_rm b:zf_rmdir &&
        builtin zf_mkdir -m 700 $__es_place && builtin zcompile -c -R $__es_place/one $__es_quoted
    then
        builtin unsetopt multibyte
        __es_code=$(<$__es_place/one.zwc)
        __es_code=${__es_code//$'\xeb\x3c\xe9\x04'/$'\xeb'${(#):-$((8*#__es_mark+4))}$'\xe8\x04'}
        __es_line=("${(@ps:\0:)__es_code}")
        # The few that have such quotes are changed, then put in place at once: one by one each would cost a copy of all.
        builtin typeset -A __es_changed
        __es_pattern=$'*\x9d*\'*\x9d*'
        for __es_name in "${(@u)${(@M)__es_line:#${~__es_pattern}}}"; do
            __es_value=("${(@ps:\x9d:)__es_name}")
            for (( __es_at = 2; __es_at < $#__es_value; __es_at += 2 )); do
                [[ $__es_value[__es_at-1] == *[$'\x85\x8c'] ]] ||
                    __es_value[__es_at]=${__es_value[__es_at]//\'/$__es_mark}
            done
            __es_changed[$__es_name]="${(pj:\x9d:)__es_value}"
        done
        __es_line=("${(@)__es_line/(#m)(#s)${~__es_pattern}(#e)/${__es_changed[$MATCH]}}")
        builtin zf_rm -f $__es_place/one.zwc
        builtin print -rn -- "${(pj:\0:)__es_line}" >$__es_place/one.zwc
        builtin setopt multibyte
    else
        [[ ! -d $__es_place ]] || builtin zf_rmdir $__es_place
        __es_quoted=()
    fi
fi
# zsh prints byte 0x1c as `\C-\`, and 0x9c so where it is no part of a letter: what follows it reads as escaped. Then all
# is listed once more, with other values for these, which are set anew.
__es_odd=()
while :; do
    __es_dump=("${(@ps:\0:)$(
    builtin setopt printeightbit
        # An array cannot be tied to a scalar that is read-only: that comes in a second step.
        (( $#__es_readonly )) && builtin typeset +r -- "${(@)__es_readonly}"
        (( $#__es_hidden )) && builtin typeset +H -- "${(@)__es_hidden}"
        [[ $__es_ifs[1] == (unset|*readonly*) ]] || IFS=$__es_ifs[2]
        for __es_name __es_value in "${(@)__es_odd}"; do
            case $parameters[$__es_name] in
            (association*) builtin set -A $__es_name x x ;;
            (array*) builtin set -A $__es_name x ;;
            (*) builtin eval "$__es_name=x" ;;
            esac
        done
        builtin typeset -p -- "${(@)__es_bulk}" "${(@)__es_own}" __es_part
        builtin print -rn $'\0'; (( $#__es_single )) && builtin typeset -p -- "${(@)__es_single}"
        builtin print -rn $'\0'; (( $#__es_float )) && builtin typeset -p -- "${(@)__es_float}"
        builtin print -rn $'\0'; (( $#__es_attributes )) && builtin typeset -p -- "${(@)__es_attributes}"
        builtin print -rn $'\0'; (( $#__es_traps )) && builtin functions -- "${(@)__es_traps}"
        if (( $#__es_quoted )); then
            fpath=($__es_place/one)
            builtin unfunction -- $__es_quoted
            builtin autoload -Uz +X -- $__es_quoted
        fi
        for (( __es_at = 1; __es_at <= $#__es_functions; __es_at += __es_part )); do
            builtin print -rn $'\0'
            builtin functions -- "${(@)__es_functions[__es_at,__es_at+__es_part-1]}"
        done
        (( $#__es_worded && ! $#__es_functions )) && builtin print -rn $'\0'
        for __es_name in "${(@)__es_worded}"; do
            builtin print -r -- "${(qqqq)__es_name} () {"$'\n'"$functions[$__es_name]"$'\n}'
        done
    )}")
    [[ "$__es_dump[1,4]" == *'\C-\'* ]] && (( ! $#__es_odd )) || break
    for __es_name in "${(@)__es_plain}" "${(@)__es_own}"; do
        case $parameters[$__es_name] in
        (association*) __es_value="( ${(j: :)${(@kvqqqq)${(@kvP)__es_name}}} )" ;;
        (array*) __es_value="( ${(j: :)${(@qqqq)${(@P)__es_name}}} )" ;;
        (scalar*) __es_value=${(qqqq)${(P)__es_name}} ;;
        (*) continue ;;
        esac
        [[ $__es_value == *'\'[02]34* ]] && __es_odd+=($__es_name "$__es_value")
    done
    (( $#__es_odd )) || break
done
__es_parts=("${(@)__es_dump[6,-1]}")
if (( $#__es_quoted )); then
    __es_parts=("${(@)__es_parts//$__es_mark/'\''}")
    builtin zf_rm -f $__es_place/one.zwc
    builtin zf_rmdir $__es_place
fi
__es_functions+=("${(@)__es_worded}")
# A part must be read again. If it cannot be, those of it that can be are kept, one by one: what is listed then may not be
# what RC_QUOTES made of it.
__es_unreadable=()
for (( __es_at = 1; __es_at <= $#__es_parts; ++__es_at )); do
    functions[$__es_at]=$__es_parts[__es_at]
    (( ${+functions[$__es_at]} )) && continue
    __es_parts[__es_at]=
    (( __es_end = __es_at == $#__es_parts ? -1 : __es_at * __es_part ))
    for __es_name in "${(@)__es_functions[(__es_at-1)*__es_part+1,__es_end]}"; do
        __es_value="${(qqqq)__es_name} () {"$'\n'"$functions[$__es_name]"$'\n}'
        if (( ! ${__es_quoted[(Ie)$__es_name]} )) && functions[__es_one]=$__es_value && (( ${+functions[__es_one]} )); then
            builtin unfunction __es_one
            __es_parts[__es_at]+=$__es_value$'\n'
        else
            __es_unreadable+=("$__es_name")
        fi
    done
    functions[$__es_at]=$__es_parts[__es_at]
done
__es_functions=("${(@)__es_functions:|__es_unreadable}")
# In a pipeline, not in a command substitution: that has no traps.
builtin setopt printeightbit
builtin trap | builtin read -r -d '' __es_trap || builtin trap -
builtin unsetopt printeightbit
# These cannot be set to something else before they are listed. Between `$'` and `'`, and only there, `\C-\` is byte 0x1c.
__es_dirs=(${(f)__es_list[7]})
__es_trap=(${(M)${(f)__es_trap}:#trap -- *})
builtin typeset -A __es_escape
__es_escape=('\C-\' '\034' '\\' '\\')
for (( __es_at = 1; __es_at <= $#__es_dirs; ++__es_at )); do
    [[ $__es_dirs[__es_at] == *=\$\'* ]] &&
        __es_dirs[__es_at]=${__es_dirs[__es_at]//(#m)(\\C-\\|\\\\)/$__es_escape[$MATCH]}
done
for (( __es_at = 1; __es_at <= $#__es_trap; ++__es_at )); do
    [[ $__es_trap[__es_at] == trap\ --\ \$\'* ]] &&
        __es_trap[__es_at]=${__es_trap[__es_at]//(#m)(\\C-\\|\\\\)/$__es_escape[$MATCH]}
done

# ---- Options: those that are not as zsh has them. Some are not the command's shell's, or cannot be set in one.

builtin typeset -A __es_option __es_default
__es_option=("${(@s: :)__es_options}")
__es_default=("${(@kv)options}" aliases on interactivecomments off extendedglob off)
for __es_name in "${(@k)__es_option}"; do
    if [[ $__es_option[$__es_name] == $__es_default[$__es_name] && $__es_emulation == zsh ]] ||
        [[ $__es_name == (exec|interactive|login|monitor|privileged|restricted|shinstdin|singlecommand|stdin|zle) ||
        $__es_name == (banghist|histexpand|onecmd|emacs|vi) ]]
    then
        builtin unset "__es_option[$__es_name]"
    fi
done

# ---- The state. It is read under zsh's own options and with no alias read. Functions come first: nothing here is
# found as a function, and compiled they come from parts of their own. An error ends its block only.

# A shell that runs one script does not read whole directories when it looks for a command; emulate has it do so.
__es_state=('builtin unsetopt hashdirs')
__es_always='} always {
if (( TRY_BLOCK_ERROR > 0 )); then
builtin print -u2 -r -- "failed to restore shell snapshot"
TRY_BLOCK_ERROR=0
fi
}'
# The command's shell began with the place of the states as its ZDOTDIR. EXEC_SERVER_ZDOTDIR and EXEC_SERVER_KEEP are what
# the request itself sets, which wins.
__es_state+=('if (( ${+EXEC_SERVER_ZDOTDIR} )); then
builtin export ZDOTDIR=$EXEC_SERVER_ZDOTDIR
builtin unset EXEC_SERVER_ZDOTDIR
else')
if [[ ${parameters[ZDOTDIR]-} == *export* ]]; then
    __es_state+=("builtin export ZDOTDIR=${(qqqq)ZDOTDIR}")
elif (( ${+ZDOTDIR} )); then
    __es_state+=("builtin unset ZDOTDIR; ZDOTDIR=${(qqqq)ZDOTDIR}")
else
    __es_state+=('builtin unset ZDOTDIR')
fi
__es_state+=("fi
if (( \${+EXEC_SERVER_KEEP} )); then
__es_name=($__es_plain $__es_float $__es_attributes $__es_own $__es_unset)"'
__es_value=(${(s: :)EXEC_SERVER_KEEP})
__es_kept=()
for __es_name in ${__es_value:*__es_name}; do
__es_kept+=($__es_name "${(P)__es_name}")
[[ ${(Pt)__es_name} == (*special*|*readonly*) ]] || builtin unset $__es_name
done
fi')
__es_state+=("builtin umask ${__es_list[6]}")
# Those that are not what commands begin with: the first needs a module, which takes longer than all else here. zsh and
# the system list them in the same order, the system below a headline.
__es_value=@LIMITS@
__es_line=("${(@f)$(</proc/self/limits)}")
__es_value=("${(@f)__es_value}")
if [[ "$__es_line" != "$__es_value" ]]; then
    __es_name=(${(f)"$(builtin ulimit -S -a)"})
    for (( __es_at = 1; __es_at <= $#__es_name; ++__es_at )); do
        [[ -n $__es_line[__es_at+1] && $__es_line[__es_at+1] == ${__es_value[__es_at+1]-} ]] ||
            __es_state+=("builtin ulimit -S ${__es_name[__es_at]%%:*} ${__es_name[__es_at]##* } 2>/dev/null")
    done
fi
__es_state+=("builtin "${(@)^__es_dirs})
# Those left out come by themselves where something of theirs is used.
__es_line=(${(f)__es_list[8]})
__es_line=("${(@)__es_line:#zmodload -F zsh/(complete|complist|compctl|computil|main|parameter|rlimits|termcap|terminfo|zle|zleparameter|zutil)(| *)}")
__es_state+=("builtin "${(@)^__es_line}" 2>/dev/null")

# Less what a command's shell has by itself, without an environment: what that brings is listed as exported.
__es_value="$(builtin exec -c /proc/$$/exe -fc "builtin setopt printeightbit; builtin print -rn $'\\0'; builtin typeset -p" 2>/dev/null)"
__es_value=("${(@f)${__es_value##*$'\0'}}")
# Less the last line, which is of ours: as lines, for a `%` pattern would try every one before it.
__es_line=("${(@f)__es_dump[1]}")
[[ -n $__es_line[-1] ]] || __es_line[-1]=()
__es_line[-1]=()
__es_line=("${(@)__es_line:|__es_value}")
# One command for all of a kind, as far below: each costs more than an assignment.
__es_state+=("$__es_always" '{')
for __es_flags in '' '-a ' '-A ' '-i '; do
    __es_name=("${(@M)__es_line:#typeset ${__es_flags}[^-]*}")
    __es_name=("${(@)__es_name#typeset $__es_flags}")
    (( $#__es_name )) && __es_state+=("typeset $__es_flags${(j: :)__es_name}")
done
__es_state+=("${(@)__es_line:#typeset (|-[aAi] )[^-]*}")
[[ ${parameters[SECONDS]-} == float* ]] && __es_state+=('builtin typeset -F SECONDS')
(( $#__es_unset )) && __es_state+=("builtin unset $__es_unset")
(( $#__es_unique )) && __es_state+=("builtin typeset -U -- $__es_unique")
# What the system's zshenv has made read-only cannot be set again.
__es_line=("${(@f)__es_dump[2]}")
for (( __es_at = 1; __es_at <= $#__es_single; ++__es_at )); do
    __es_state+=("[[ \${(t)$__es_single[__es_at]-} == *readonly* ]] || $__es_line[__es_at]")
done
__es_line=("${(@f)__es_dump[3]}")
for (( __es_at = 1; __es_at <= $#__es_float; ++__es_at )); do
    __es_name=$__es_float[__es_at]
    __es_value=${__es_line[__es_at]##*=}
    if [[ $__es_value == *e* ]]; then
        __es_value="-E $(( ${#${${__es_value#*.}%e*}} + 1 ))"
    else
        __es_value="-F ${#${__es_value#*.}}"
    fi
    if [[ ${parameters[$__es_name]} == *export* ]]; then
        __es_state+=("(( \${+$__es_name} )) && builtin typeset -x $__es_value $__es_name")
    else
        __es_state+=("[[ \${(t)$__es_name-} == *readonly* ]] || builtin typeset $__es_value $__es_name=$(( $__es_name ))")
    fi
done
# `export -i N=5`, `export -T LIST list=( a b ) :`: less the value, which the environment brings.
for __es_line in ${(M)${(f)__es_dump[4]}:#export -*}; do
    __es_name=${${__es_line%%=*}#export }
    __es_flags=${${__es_name%% *}#-}
    __es_name=${__es_name#* }
    __es_value=
    [[ $__es_flags == *T* ]] && __es_value=${${(M)__es_line%%\) [^\(]#}#\)}
    __es_state+=("(( \${+${__es_name%% *}} )) && builtin typeset -x$__es_flags $__es_name$__es_value")
done
(( $#__es_hidden )) && __es_state+=("builtin typeset -H -- $__es_hidden")
(( $#__es_hide )) && __es_state+=("builtin typeset -h -- $__es_hide")
for __es_name in $__es_empty; do
    __es_state+=("(( \${+$__es_name} )) || builtin typeset -x $__es_name")
done
for __es_name __es_value in "${(@)__es_odd}"; do
    __es_state+=("[[ \${(t)$__es_name-} == *readonly* ]] || $__es_name=$__es_value")
done
__es_state+=('if (( ${+EXEC_SERVER_KEEP} )); then
for __es_name __es_value in "${(@)__es_kept}"; do
[[ ${(Pt)__es_name} == *readonly* ]] && continue
[[ ${(Pt)__es_name} == *special* ]] || builtin unset $__es_name
builtin export "$__es_name=$__es_value"
done
builtin unset __es_name __es_value __es_kept EXEC_SERVER_KEEP
fi')
for __es_name in "${(@)__es_readonly}" "${(@)__es_locked}"; do
    __es_state+=("(( \${+$__es_name} )) && builtin typeset -r $__es_name")
done

__es_state+=("$__es_always" '{')
for __es_line in "${(@u)__es_autoload}"; do
    __es_name=("${(@k)__es_autoload[(Re)$__es_line]}")
    __es_line=${__es_line##*builtin autoload -X}
    [[ $__es_line == *\ * ]] && __es_name=("${(q)__es_line#* }/"${(@)^__es_name})
    __es_flags=${__es_line%% *}
    __es_state+=("builtin autoload ${__es_flags:+-$__es_flags} -- $__es_name")
done
__es_traced=("${(@)__es_traced:*__es_functions}")
(( $#__es_traced )) && __es_state+=("builtin functions -t -- ${(j: :)${(@q)__es_traced}}")
__es_traced_all=("${(@)__es_traced_all:*__es_functions}")
(( $#__es_traced_all )) && __es_state+=("builtin functions -T -- ${(j: :)${(@q)__es_traced_all}}")
__es_warning=("${(@)__es_warning:*__es_functions}")
(( $#__es_warning )) && __es_state+=("builtin functions -W -- ${(j: :)${(@q)__es_warning}}")
__es_line=(${(f)__es_list[5]})
__es_state+=("builtin "${(@)^__es_line})
for __es_name in "${(@k)dis_functions}"; do
    [[ $__es_name == (builtin|enable) ]] ||
        __es_state+=("builtin eval ${(qqqq)${:-${(qqqq)__es_name} () {
${dis_functions[$__es_name]}
\}}}; builtin disable -f -- ${(q)__es_name}")
done
# Functions that are traps are listed among the traps.
__es_state+=("builtin "${(@)^__es_trap} "$__es_dump[5]")
# A shell has some aliases by itself, which the user may have taken away.
# One command for all of a kind: by itself each costs more than the alias, and there may be hundreds.
__es_line=(${(f)__es_list[9]})
if [[ $__es_list[9] == *'\C-\'* ]]; then
    __es_line=()
    for __es_name in "${(@k)aliases}"; do __es_line+=("alias -- ${(q)__es_name}=${(qqqq)aliases[$__es_name]}"); done
    for __es_name in "${(@k)galiases}"; do __es_line+=("alias -g -- ${(q)__es_name}=${(qqqq)galiases[$__es_name]}"); done
    for __es_name in "${(@k)saliases}"; do __es_line+=("alias -s -- ${(q)__es_name}=${(qqqq)saliases[$__es_name]}"); done
fi
__es_line=("${(@)__es_line#alias }")
__es_state+=("builtin unalias -m '*'")
for __es_flags in '' '-g ' '-s '; do
    if [[ -n $__es_flags ]]; then
        __es_name=("${(@M)__es_line:#$__es_flags*}")
    else
        __es_name=("${(@)__es_line:#-[gs] *}")
    fi
    # A name that begins with a hyphen comes with a `--` of its own.
    __es_name=("${(@)${(@)__es_name#$__es_flags}#-- }")
    (( $#__es_name )) && __es_state+=("builtin noglob builtin alias $__es_flags-- ${(j: :)__es_name}")
done
for __es_name in "${(@k)dis_aliases}"; do
    __es_state+=("builtin alias -- ${(q)__es_name}=${(qqqq)dis_aliases[$__es_name]}; builtin disable -a -- ${(q)__es_name}")
done
# Last, for they change what runs and what is read: first what emulation stands for, then each option.
[[ $__es_emulation == zsh ]] || __es_state+=("builtin emulate $__es_emulation")
__es_name=("${(@ok)__es_option[(R)on]}")
__es_name=("${(@)__es_name:#(aliases|xtrace)}")
[[ ${__es_option[aliases]-on} == on ]] && __es_name+=(aliases)
(( $#__es_name )) && __es_state+=("builtin setopt $__es_name")
__es_name=("${(@ok)__es_option[(R)off]}")
(( $#__es_name )) && __es_state+=("builtin unsetopt $__es_name")
[[ -n $__es_nopatchars ]] && __es_state+=("builtin disable -p -- ${(j: :)${(@q)${=__es_nopatchars}}}")
[[ -n $__es_noreswords ]] && __es_state+=("builtin disable -r -- ${(j: :)${(@q)${=__es_noreswords}}}")
[[ -n $__es_nobuiltins ]] && __es_state+=("builtin disable -- ${(j: :)${(@q)${=__es_nobuiltins}}}")
[[ -n $__es_builtin ]] && __es_state+=($'builtin () {\n'"$__es_builtin"$'\n}')
[[ -n $__es_enable ]] && __es_state+=($'enable () {\n'"$__es_enable"$'\n}')
__es_state+=("$__es_always")
# After the last command of ours. An assignment leaves an empty line, the pattern an empty $_.
if [[ ${__es_option[xtrace]-} == on ]]; then
    if [[ -n $__es_builtin || " $__es_nobuiltins " == *\ (builtin|setopt)\ * ]]; then
        __es_state+=('options[xtrace]=on')
    else
        __es_state+=("builtin setopt -m xtrace ''")
    fi
fi
__es_state=${(F)__es_state}

# ---- The sections.

builtin print -u@FD@ -rn -- $'\n@NONCE@ environment\n'
for __es_name in "${(@)__es_exported:|__es_empty}"; do
    builtin print -u@FD@ -rn -- "$__es_name=${${(P)__es_name}%%$'\0'*}"$'\0'
done
builtin print -u@FD@ -rn -- $'\n@NONCE@ names\n'
__es_name=(
    "function "${(@)^__es_functions} "function "${(@)^__es_traps} "function "${(@)^__es_stubs}
    "alias "${(@k)^aliases} "alias "${(@k)^galiases} "alias "${(@k)^saliases}
    "variable "${(@)^__es_plain} "variable "${(@)^__es_float} "variable "${(@)^__es_own}
    "option "${(@k)^__es_option} "left "${(@)^__es_left_out}
    "completion "${(@)^__es_completion} "unreadable "${(@)^__es_unreadable})
builtin print -u@FD@ -rN -- "${(@)__es_name}"
# Commands look there only if the system's zshenv, which comes first, leaves them to.
__es_place=@PLACE@
__es_line=
for __es_name in /etc/zsh/zshenv /etc/zshenv; do
    [[ -r $__es_name && "$(<$__es_name)" == *ZDOTDIR* ]] &&
        __es_line="$(ZDOTDIR=$__es_place /proc/$$/exe -fc 'builtin print -rn -- $ZDOTDIR')"
done
[[ -r $__es_place/.zshenv && ${__es_line:-$__es_place} == $__es_place ]] &&
    builtin print -u@FD@ -r -- $'\n@NONCE@ place\n'

# The state must at least be read again. Compiled, it need not be: zcompile writes what is in memory, so the text goes
# nowhere. What it writes is in memory too (/dev/shm) and has no name any more once it is open.
__es_name=({1..$#__es_parts})
(( $#__es_parts )) || __es_name=()
__es_value="builtin emulate -R zsh
{
${(F)${(@)__es_name/#/builtin . \$ZDOTDIR/}}
builtin exec @STATE_FD@<&-
$__es_state"
functions[.zshenv]=$__es_value
__es_name+=(.zshenv)
if (( $#__es_name == ${#${(@k)functions:*__es_name}} )); then
    # zsh takes what is assigned there for what comes from outside: bytes from 0x83 to 0xa2, which it keeps escaped, are
    # escaped twice. What could be read there can be read as a definition, where they are not.
    for (( __es_at = 1; __es_at <= $#__es_name; ++__es_at )); do
        __es_line=${__es_parts[__es_at]-$__es_value}
        [[ $__es_line == *[^[:ascii:]]* ]] && builtin eval "$__es_name[__es_at] () {"$'\n'"$__es_line"$'\n}'
    done
    builtin print -u@FD@ -rn -- $'\n@NONCE@ functions\n'"${(pj:\0:)__es_parts}"$'\n@NONCE@ state\n'"$__es_state"
    # Compiled it is there twice, for either byte order: where there is much of it, a capture holds the text alone.
    __es_line=/dev/shm/.$$-$RANDOM$RANDOM$RANDOM
    if (( $#__es_state + ${#${(j::)__es_parts}} < 2000000 )) && builtin zmodload -F zsh/files b:zf_mkdir b:zf_rm b:zf_rmdir && builtin zmodload zsh/system &&
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
