# Writes down what startup made of dash or busybox ash. Neither can print a function: the definitions are taken from
# the text of the files that startup read, which is handed over with everything else.
#
# Whatever the startup files aliased or shadowed must not matter. A word with a backslash is no alias; a special
# builtin (unset, set, export, readonly, trap, eval) cannot be a function in these shells; and once `command` is
# itself again, it finds every other builtin. Parentheses fork: what changes within them changes nowhere else.
( \unset -f command; \command printf '\n%s begin\n\n%s traps\n' @NONCE@ @NONCE@ ) >>@STREAM@
# Not in a fork: there they are gone.
\trap >>@STREAM@
\trap - 0
(
# The last line of the traps says whether `command` was a function.
\unset -f type
\type command
\unset -f command
\command printf '\n%s options\n' @NONCE@
\set +o
\command printf '\n%s aliases\n' @NONCE@
\command alias
\command printf '\n%s exports\n' @NONCE@
\export -p
\command printf '\n%s readonly\n' @NONCE@
\readonly -p
\command printf '\n%s variables\n' @NONCE@
\set
\command printf '\n%s umask\n' @NONCE@
\command umask
\command unalias -a
\set +aefuvxC
# Parsed only now, without aliases.
\command eval '
command eval "LC_ALL=C; export LC_ALL" 2>/dev/null
# Lines are split into words; where IFS is readonly, no file is looked at.
command eval "IFS=\"
\"" 2>/dev/null

# A file of the startup, if it can be read and is new.
es_add() {
    case "
$es_files$es_new" in *"
$1
"*) return ;; esac
    command test -f "$1" && command test -r "$1" && es_new=$es_new$1"
"
}

# Fills es_new with the files these files source, so far as the words hold no more than text and variables, and says
# of what may be functions in them what it is.
es_scan() {
    es_new= es_for= es_words=
    for es_line in $(command -p sed -n "
/[(]/b read
/[.]/b read
/for/b read
/function/b read
/source/b read
/ulimit/b read
d
:read
s/[;&|]/\\
/g
s/{[[:blank:]]/\\
/g
h
s/\n.*//
/ulimit/s/.*/limits/p
s/^\(.*[^A-Za-z0-9_]\)\{0,1\}\([A-Za-z_][A-Za-z0-9_]*\)[[:blank:]]*([[:blank:]]*).*\$/name \2/p
s/^\(.*[[:blank:]]\)\{0,1\}function[[:blank:]]\{1,\}\([A-Za-z_][A-Za-z0-9_]*\).*\$/name \2/p
s/^\(.*[[:blank:]]\)\{0,1\}for[[:blank:]]\{1,\}\([A-Za-z_][A-Za-z0-9_]*\)[[:blank:]]\{1,\}in[[:blank:]]\{1,\}\(.*\)\$/for \2 \3/p
s/^\(.*[({[:blank:]]\)\{0,1\}source[[:blank:]]/. /
s/^\(.*[({[:blank:]]\)\{0,1\}\.[[:blank:]]\{1,\}\(\"[^\"]*\"[^[:blank:])]*\).*\$/. \2/p
s/^\(.*[({[:blank:]]\)\{0,1\}\.[[:blank:]]\{1,\}\([^\"[:blank:])][^[:blank:])]*\).*\$/. \2/p
g
D
" "$@"); do
        es_word=${es_line#* }
        case $es_line in
        limits) es_limits=1 ;;
        "name "*) case $es_word in es_*) ;; *) command -V "$es_word" 2>/dev/null ;; esac ;;
        ". "*[!A-Za-z0-9_./~\${}\"*:\ -]*) es_unseen=1 ;;
        *[!A-Za-z0-9_./~\${}\"*:\ -]*) ;;
        "for "*) es_for=${es_word%%" "*} es_words=${es_word#*" "} ;;
        ". "*)
            case $es_word in
            "\$$es_for" | "\"\$$es_for\"" | "\${$es_for}" | "\"\${$es_for}\"") es_word=$es_words ;;
            esac
            set +f
            command eval "for es_file in $es_word; do es_add \"\$es_file\"; done" 2>/dev/null
            set -f ;;
        esac
    done
}

# A program cannot be given a variable of more than 128 KiB, nor more than 2 MiB in all. What is exported was written
# down already.
es_unset_large() {
    for es_line in $(export -p); do
        case $es_line in "export "*=*)
            es_word=${es_line%%=*} es_word=${es_word#export }
            case $es_word in
            HOME | ENV | es_* | *[!A-Za-z0-9_]*) ;;
            *) command eval "command test \${#$es_word} -lt 8192" || command unset "$es_word" ;;
            esac ;;
        esac
    done 2>/dev/null
}

set -f
es_word=$(export -p)
command test ${#es_word} -lt 100000 || es_unset_large
es_files= es_new= es_limits= es_unseen=
command printf "\n%s types\n" @NONCE@
if command test "$IFS" = "
"; then
es_add /etc/profile
es_add "${HOME-}/.profile"
case ${ENV-} in
"" | *[!A-Za-z0-9_./~\${}:-]*) ;;
*) command eval "es_add \"$ENV\"" 2>/dev/null ;;
esac
fi
while command test -n "$es_new"; do
    es_files=$es_files$es_new
    es_scan $es_new
done
if command test -n "$es_limits"; then
    command printf "\n%s limits\n" @NONCE@
    for es_name in t f d s c m l p n v w r e i q u x; do
        es_word=$(command ulimit -S -$es_name) && command printf "%s %s\n" $es_name "$es_word"
    done 2>/dev/null
fi
command test -z "$es_unseen" || command printf "\n%s unseen\n" @NONCE@
# head names each file in front of its text if there is more than one.
command printf "\n%s names\n%s\n%s files\n" @NONCE@ "$es_files" @NONCE@
command -p head -n 1000000 /dev/null $es_files
'
\command printf '\n%s end\n' @NONCE@
) >>@STREAM@
