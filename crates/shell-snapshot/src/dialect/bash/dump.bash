# Runs in a subshell of the shell to be dumped, with aliases off and no function named builtin, enable or declare.

# A disabled builtin is enabled again before it is used: noted first, or the list of them would not have it.
builtin printf -v __exec_@NONCE@_probe . || __exec_@NONCE@_disabled+=$'\nenable -n printf'
builtin enable printf
builtin printf '\n@NONCE@ disabled\n%s\n' "$__exec_@NONCE@_disabled" >&@DESCRIPTOR@
builtin enable -n >&@DESCRIPTOR@ || builtin compgen -P 'enable -n ' -A disabled >&@DESCRIPTOR@
builtin enable . alias declare eval kill mapfile read shopt trap ulimit umask unset

# Still in posix mode: only so does this variable have the user's attributes and value.
builtin printf '\n@NONCE@ posix\n' >&@DESCRIPTOR@
builtin declare -p POSIXLY_CORRECT >&@DESCRIPTOR@
\unset POSIXLY_CORRECT
# Leaving posix mode has turned aliases on.
\builtin shopt -u expand_aliases

# In a subshell these are the parent's traps until the first trap is set or reset. A DEBUG or ERR trap may have come
# along into the subshell and may print: until they are gone the descriptor is not stdout.
builtin printf '\n@NONCE@ traps\n' >&@DESCRIPTOR@
builtin trap -p >&@DESCRIPTOR@
builtin trap - DEBUG ERR RETURN

{
  builtin printf '\n@NONCE@ options\n%s\n%s\n%s\n' "$__exec_@NONCE@_flags" "$__exec_@NONCE@_set" "$__exec_@NONCE@_shopt"
  builtin unset "${!__exec_@NONCE@_@}"

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
  # Each list of all functions takes bash a time that grows with the square of their number. Where they are many, to
  # judge by the pages of memory, the names are taken from one; a process for it would cost others more. A name with an
  # equals sign is none that can be listed by name.
  builtin printf '\n@NONCE@ function-names\n'
  __exec_@NONCE@_names=() __exec_@NONCE@_listed=()
  IFS=' ' builtin read -r -a __exec_@NONCE@_memory </proc/self/statm
  if (( ${__exec_@NONCE@_memory[5]:-0} > 1500 )); then
    builtin mapfile -t __exec_@NONCE@_names < <(builtin declare -F)
    builtin printf '%s\n' "${__exec_@NONCE@_names[@]}"
    __exec_@NONCE@_names=("${__exec_@NONCE@_names[@]#declare -* }")
    [[ ${__exec_@NONCE@_names[*]} == *=* ]] || __exec_@NONCE@_listed=(-- "${__exec_@NONCE@_names[@]}")
  else
    builtin declare -F
  fi
  builtin printf '\n@NONCE@ functions\n'
  builtin declare -f "${__exec_@NONCE@_listed[@]}"

  # Some functions bash prints so that it cannot read them again, and one of them would take all others with it. To
  # find out, all are read where nothing runs; only if that fails each half of them, and so on. Printed twice and read as
  # a file they cost a third less than held in a variable and expanded, and not being defined they are not copied.
  builtin shopt -s extglob
  builtin . <(
    builtin printf '[[ 1 ]] || {\n:\n'
    builtin declare -f "${__exec_@NONCE@_listed[@]}"
    builtin printf '}\n'
  ) || {
    if (( ${#__exec_@NONCE@_names[@]} == 0 )); then
      builtin mapfile -t __exec_@NONCE@_names <<<"$(builtin declare -F)"
      __exec_@NONCE@_names=("${__exec_@NONCE@_names[@]#declare -* }")
    fi
    # Parts that are still to be read: where they begin, and where they end.
    __exec_@NONCE@_first=(0) __exec_@NONCE@_last=(${#__exec_@NONCE@_names[@]}) __exec_@NONCE@_top=0
    while (( __exec_@NONCE@_top >= 0 )); do
      __exec_@NONCE@_from=${__exec_@NONCE@_first[__exec_@NONCE@_top]}
      __exec_@NONCE@_to=${__exec_@NONCE@_last[__exec_@NONCE@_top]}
      __exec_@NONCE@_part=("${__exec_@NONCE@_names[@]:__exec_@NONCE@_from:__exec_@NONCE@_to-__exec_@NONCE@_from}")
      __exec_@NONCE@_top=$((__exec_@NONCE@_top - 1))
      if (( ${#__exec_@NONCE@_part[@]} <= 1 )); then
        __exec_@NONCE@_functions=$(builtin declare -f -- "$__exec_@NONCE@_part")
        __exec_@NONCE@_functions=${__exec_@NONCE@_functions/#"$__exec_@NONCE@_part ()"/function "$__exec_@NONCE@_part" ()}
        if builtin eval "[[ 1 ]] || {
:
$__exec_@NONCE@_functions
}"; then
          builtin printf '\n@NONCE@ readable\n%s\n' "$__exec_@NONCE@_functions"
        else
          builtin printf '\n@NONCE@ unreadable\n%s\n' "$__exec_@NONCE@_part"
        fi
      elif builtin . <(
        builtin printf '[[ 1 ]] || {\n:\n'
        # Some names it does not take: these are read by themselves.
        builtin declare -f -- "${__exec_@NONCE@_part[@]}" && builtin printf '}\n'
      ); then
        builtin printf '\n@NONCE@ readable\n'
        builtin declare -f -- "${__exec_@NONCE@_part[@]}"
      else
        __exec_@NONCE@_half=$(((__exec_@NONCE@_from + __exec_@NONCE@_to) / 2))
        __exec_@NONCE@_first[++__exec_@NONCE@_top]=$__exec_@NONCE@_half
        __exec_@NONCE@_last[__exec_@NONCE@_top]=$__exec_@NONCE@_to
        __exec_@NONCE@_first[++__exec_@NONCE@_top]=$__exec_@NONCE@_from
        __exec_@NONCE@_last[__exec_@NONCE@_top]=$__exec_@NONCE@_half
      fi
    done
  }
  builtin printf '\n@NONCE@ end\n'
} >&@DESCRIPTOR@

# No EXIT trap, no history: the shell stops here and is killed by whoever reads this, or else kills itself.
builtin kill -STOP $$
builtin kill -KILL $$
