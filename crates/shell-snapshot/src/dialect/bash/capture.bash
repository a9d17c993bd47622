# Runs after the login files. It is one command to the end: with `set -o onecmd` in a startup file there is no second
# one. Words that could be aliases are written \word until aliases are off. In posix mode the special builtins (set,
# unset) are found before functions of their names, and an assignment, which turns that mode on, cannot be shadowed.
# All of it happens in subshells, so that the user's own functions stay as they are in the shell that is dumped.
# (Lines of comments are left out before bash sees this: `shopt -u interactive_comments`.)

# 1. The login files are done. Succeeds if ~/.bashrc is still to be read.
(
  __exec_home=@HOME@
  POSIXLY_CORRECT=${POSIXLY_CORRECT-}
  \set +eEfkntuvxT
  \unset -f builtin enable
  \builtin : || \enable builtin
  \unset POSIXLY_CORRECT
  \builtin shopt -u expand_aliases
  \builtin eval '
    builtin enable printf
    builtin printf "\n@NONCE@ %s\n" begin login >&@DESCRIPTOR@
    for __exec_file in .bash_profile .bash_login .profile; do
      [[ ! -r $__exec_home/$__exec_file ]] || builtin exit 1
    done
    [[ -r $__exec_home/.bashrc ]]
  '
) && \. @HOME@/.bashrc; (
  # 2. The user's own functions of the names that the dump needs for itself.
  POSIXLY_CORRECT=${POSIXLY_CORRECT-}
  \set +eEfkntuvxT
  \unset -f printf typeset
  \unset POSIXLY_CORRECT
  \printf '\n@NONCE@ overriding\n' >&@DESCRIPTOR@
  \typeset -f builtin enable declare >&@DESCRIPTOR@
  # There mostly are none, and that is no reason for `set -e` to end the shell.
  __exec_status=0
); (
  # 3. Everything else. Posix mode changes other options, so they are noted before it is on.
  __exec_flags=$- __exec_set=$SHELLOPTS __exec_shopt=$BASHOPTS __exec_disabled=
  POSIXLY_CORRECT=${POSIXLY_CORRECT-}
  \set +eEfkntuvxT
  \unset -f builtin enable declare
  \builtin : || __exec_disabled='enable -n builtin'
  \enable builtin
  \builtin shopt -u expand_aliases
  \builtin eval @DUMP@
)
