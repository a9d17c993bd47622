evil() { echo "EVIL $*"; echo 7; }
f() { echo "f $*"; g; }
g() { echo "g ${1:-none}" "$@"; nosuch_program; }
h() { local x=$1 y="$(f)"; echo "h $x $y $LINENO ${FUNCNAME[0]} ${BASH_LINENO[0]}"; }
big() {
  case "$1" in
    a|b) f "$1" ;;
    *) cat <<DOC
text $1 $(g x)
DOC
    ;;
  esac
  for i in 1 2; do
    echo "$i" | tr 1 2
  done
}
run() { "$@"; }
ls() { echo "ls wrapper"; command ls "$@"; }
cd() { builtin cd "$@" && echo "in ${PWD##*/}"; }
helper() { echo "help for $1" >&2; }
command_not_found_handle() { helper "$1"; echo "nf $1" >&2; return 127; }
shared() { echo shared; }
outer() { shared; inner() { echo inner; }; inner; }
asks() { if [ -n "$1" ]; then echo "$1"; else return 3; fi; }
counts() { local n=0; n=$((n+1)); echo $n; }
where() {
  echo "line $LINENO from ${BASH_LINENO[*]}"
  nosuch_program_again
}
on_usr1() { echo usr1; }
cat() { echo "cat wrapper"; command cat "$@"; }
echo2() { printf '%s\n' "$@"; }
then_some() { echo some; }
export -f shared
readonly -f echo2
trap 'on_usr1 now' USR1
alias ll='ls -l' e='evil' sudo='env ' ev='eval' sub='echo $(evil)' c='command ' ..='cd ..' loop='loop x' two='f; g'
alias grep='grep --color=auto' now='big a' x1='f 1'
declare -i NUMBER=1
declare -A MAP=([a]=evil [b]='a[$(evil)]')
LIST=(evil 'a[$(evil)]' f)
