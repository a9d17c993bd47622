# Runs in a subshell of the shell to be dumped, with aliases off and no function named builtin, enable or declare.

# A disabled builtin is enabled again before it is used: noted first, or the list of them would not have it.
builtin printf -v __exec_probe . || __exec_disabled+=$'\nenable -n printf'
builtin enable printf

# Still in posix mode: only so does this variable have the user's attributes and value.
builtin printf '\n@NONCE@ posix\n' >&@DESCRIPTOR@
builtin declare -p POSIXLY_CORRECT >&@DESCRIPTOR@
builtin unset POSIXLY_CORRECT
# Leaving posix mode has turned aliases on.
\builtin shopt -u expand_aliases

# In a subshell these are the parent's traps until the first trap is set or reset. A DEBUG or ERR trap may have come
# along into the subshell and may print: until they are gone the descriptor is not stdout.
builtin printf '\n@NONCE@ traps\n' >&@DESCRIPTOR@
builtin trap -p >&@DESCRIPTOR@
builtin trap - DEBUG ERR RETURN

{
  builtin printf '\n@NONCE@ options\n%s\n%s\n%s\n' "$__exec_flags" "$__exec_set" "$__exec_shopt"
  builtin printf '\n@NONCE@ disabled\n%s\n' "$__exec_disabled"
  builtin enable -n
  builtin enable alias declare kill shopt trap ulimit umask

  builtin printf '\n@NONCE@ shopt\n'
  builtin shopt -p
  builtin printf '\n@NONCE@ umask\n'
  builtin umask
  builtin printf '\n@NONCE@ limits\n'
  builtin ulimit -S -a
  builtin printf '\n@NONCE@ aliases\n'
  builtin alias -p
  builtin printf '\n@NONCE@ variables\n'
  builtin declare -p
  builtin printf '\n@NONCE@ functions\n'
  builtin declare -f
  builtin printf '\n@NONCE@ function-names\n'
  builtin declare -F

  # Some functions bash prints so that it cannot read them again, and one of them would take all others with it. To
  # find out, all are read where nothing runs, only if that fails each by itself. Printed twice and read as a file they
  # cost a third less than held in a variable and expanded, and not being defined they are not copied.
  builtin enable . eval mapfile
  builtin shopt -s extglob
  builtin . <(
    builtin printf '[[ 1 ]] || {\n:\n'
    builtin declare -f
    builtin printf '}\n'
  ) || {
    builtin mapfile -t __exec_names <<<"$(builtin declare -F)"
    for __exec_name in "${__exec_names[@]#declare -* }"; do
      __exec_functions=$(builtin declare -f -- "$__exec_name")
      __exec_functions=${__exec_functions/#"$__exec_name ()"/function "$__exec_name" ()}
      if builtin eval "[[ 1 ]] || {
:
$__exec_functions
}"; then
        builtin printf '\n@NONCE@ readable\n%s\n' "$__exec_functions"
      else
        builtin printf '\n@NONCE@ unreadable\n%s\n' "$__exec_name"
      fi
    done
  }
  builtin printf '\n@NONCE@ end\n'
} >&@DESCRIPTOR@

# No EXIT trap, no history: the shell stops here and is killed by whoever reads this, or else kills itself.
builtin kill -STOP $$
builtin kill -KILL $$
