# Writes down what startup made of mksh, which can print everything it knows.
#
# Whatever the startup files aliased or shadowed must not matter. A word with a backslash is no alias; a special
# builtin (unset, trap, set, exit) is found before a function; and once `builtin` is itself again, it finds every
# other one. Parentheses fork: what changes within them changes nowhere else.
( \unset -f builtin; \builtin print '\n@NONCE@ begin\n\n@NONCE@ traps' ) >>@STREAM@
# Not in a fork: there they are gone.
\trap >>@STREAM@
\trap - EXIT ERR
(
\unset -f builtin
\builtin print '\n@NONCE@ options'
\set +o
\builtin print '\n@NONCE@ aliases'
\builtin alias
\builtin print '\n@NONCE@ directories'
\builtin alias -d
\builtin print '\n@NONCE@ parameters'
\builtin typeset -p
\builtin print '\n@NONCE@ umask'
\builtin umask
\set +eu
# The limits that startup files speak of are state.
\builtin print '\n@NONCE@ files'
\builtin print -r -- "$(</etc/profile)
$(<"${HOME:-/nowhere}/.profile")
$(<"${ENV:-${HOME:-/nowhere}/.mkshrc}")" 2>/dev/null
\builtin print '\n@NONCE@ limits'
\builtin ulimit -S -a
\unset -f command
\builtin print '\n@NONCE@ names'
\builtin typeset +f
\builtin print '\n@NONCE@ functions'
\builtin typeset -f
) >>@STREAM@
# Functions of these names, if there are any, from a shell in which they still are.
( \unset -f builtin; \builtin print '\n@NONCE@ shadowing' ) >>@STREAM@
( \unset -f typeset; \typeset -f builtin command ) >>@STREAM@
( \unset -f builtin; \builtin print '\n@NONCE@ end' ) >>@STREAM@
\exit 0
