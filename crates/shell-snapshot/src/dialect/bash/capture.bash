# Runs after the login files. It is one command to the end: with `set -o onecmd` in a startup file there is no second
# one. Words that could be aliases are written \word until aliases are off. In posix mode the special builtins (set,
# unset) are found before functions of their names, and an assignment, which turns that mode on, cannot be shadowed.
# All of it happens in subshells, so that the user's own functions stay as they are in the shell that is dumped.
# Any builtin may be disabled, and what is not there must not end a shell with `set -e`. Reserved words could be
# aliases: there are none but between quotes. Names of ours hold the nonce:
# no user has such ones.
# (Lines of comments are left out before bash sees this: `shopt -u interactive_comments`.)

# 1. The login files are done. Succeeds if ~/.bashrc is still to be read.
(
  __exec_@NONCE@_home=@HOME@
  POSIXLY_CORRECT=${POSIXLY_CORRECT-}
  \set +eEfkntuvxT || \builtin enable set || \enable set
  \set +eEfkntuvxT
  \unset __exec_@NONCE@_none || \builtin enable unset || \enable unset
  \unset -f builtin enable
  \builtin builtin || \enable builtin
  \unset POSIXLY_CORRECT
  \builtin enable eval exit printf shopt
  \builtin shopt -u expand_aliases
  \builtin eval '
    builtin printf "\n@NONCE@ %s\n" begin login >&@DESCRIPTOR@
    for __exec_@NONCE@_file in .bash_profile .bash_login .profile; do
      [[ ! -r $__exec_@NONCE@_home/$__exec_@NONCE@_file ]] || builtin exit 1
    done
    [[ -r $__exec_@NONCE@_home/.bashrc ]]
  '
) && \. @HOME@/.bashrc; (
  # 2. Everything else. Posix mode changes other options, so they are noted before it is on. So is what must be enabled
  # before the list of what is disabled can be had.
  __exec_@NONCE@_flags=$- __exec_@NONCE@_set=$SHELLOPTS __exec_@NONCE@_shopt=$BASHOPTS __exec_@NONCE@_disabled=
  POSIXLY_CORRECT=${POSIXLY_CORRECT-}
  \set +eEfkntuvxT || __exec_@NONCE@_disabled+=$'\nenable -n set'
  \set +eEfkntuvxT || \builtin enable set || \enable set
  \set +eEfkntuvxT
  \unset __exec_@NONCE@_none || __exec_@NONCE@_disabled+=$'\nenable -n unset'
  \unset __exec_@NONCE@_none || \builtin enable unset || \enable unset
  # The user's own functions of the names that the dump needs for itself: one more subshell prints them, if there are
  # any. Only of a function can the attribute be taken, and no function can be in the way of that.
  \export -fn builtin || \export -fn enable || \export -fn declare && (
    \unset -f printf typeset
    \unset POSIXLY_CORRECT
    \builtin enable printf typeset
    \printf '\n@NONCE@ overriding\n' >&@DESCRIPTOR@
    \typeset -f builtin enable declare >&@DESCRIPTOR@
  )
  \unset -f builtin enable declare
  \builtin builtin || __exec_@NONCE@_disabled+=$'\nenable -n builtin'
  \enable builtin
  \builtin enable builtin || __exec_@NONCE@_disabled+=$'\nenable -n enable'
  \builtin shopt -u expand_aliases || __exec_@NONCE@_disabled+=$'\nenable -n shopt'
  \builtin eval '' || __exec_@NONCE@_disabled+=$'\nenable -n eval'
  \builtin enable eval shopt
  \builtin shopt -u expand_aliases
  \builtin eval @DUMP@
)
