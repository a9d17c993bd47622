# Writes down what startup made of mksh, which can print everything it knows.
#
# Whatever the startup files aliased or shadowed must not matter. A word with a backslash is no alias; a special
# builtin (unset, trap, set, exit) is found before a function; and once `builtin` is itself again, it finds every
# other one. Parentheses fork: what changes within them changes nowhere else.
( \unset -f builtin; \builtin printf '\n%s begin\n\n%s traps\n' @NONCE@ @NONCE@ ) >>@STREAM@
# Not in a fork: there they are gone.
\trap >>@STREAM@
\trap - EXIT ERR
(
\unset -f builtin
\builtin printf '\n%s options\n' @NONCE@
\set +o
\builtin printf '\n%s aliases\n' @NONCE@
\builtin alias
\builtin printf '\n%s parameters\n' @NONCE@
\builtin typeset -p
\builtin printf '\n%s umask\n' @NONCE@
\builtin umask
\builtin printf '\n%s limits\n' @NONCE@
\set +eu
# Limits are only state if a startup file sets them.
case $(</etc/profile)$(<"${HOME:-/nowhere}/.profile")$(<"${ENV:-${HOME:-/nowhere}/.mkshrc}") in
(*ulimit*) \builtin ulimit -S -a ;;
esac 2>/dev/null
\builtin printf '\n%s names\n' @NONCE@
\builtin typeset +f
\builtin printf '\n%s functions\n' @NONCE@
\builtin typeset -f
) >>@STREAM@
# A function of that name, if there is one, from a shell in which it still is one.
( \unset -f typeset; \typeset -f builtin ) >>@STREAM@
( \unset -f builtin; \builtin printf '\n%s end\n' @NONCE@ ) >>@STREAM@
\exit 0
