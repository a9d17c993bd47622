# What `zsh -lic` is given. zsh parses all of it under the user's options and with the user's aliases, functions and
# disabled words in place, so it is made of nothing but assignments (which cannot be shadowed) and quoted words
# (which are neither aliases nor reserved words). It makes `builtin` sure, then evaluates the capture itself under
# zsh's own options. These comment lines are not sent: an interactive shell knows no comments.
#
# Options come first: none of what follows may end the shell or be traced.
__es_options="${(j: :kv)options[@]}"
options[errexit]=off options[errreturn]=off options[xtrace]=off options[verbose]=off
__es_builtin="${functions[builtin]-}" __es_enable="${functions[enable]-}"
__es_nobuiltins="${(j: :k)dis_builtins[@]}" __es_noreswords="${(j: :)dis_reswords[@]}" __es_nopatchars="${(j: :)dis_patchars[@]}"
# A disabled function of that name is not found, and takes the place of the user's.
dis_functions[builtin]=: dis_functions[enable]=:
\enable builtin
\builtin \enable -m \*
\builtin \enable -r -m \*
# No shell below may run the user's EXIT trap: its output would be ours. What is taken away is written first.
\builtin \print -u@FD@ -r -- $'\n@NONCE@ begin\n\n@NONCE@ traps'
\builtin \trap >&@FD@
\builtin \trap - EXIT DEBUG
# What the shell emulates is asked only if it may be something else: it costs a process.
__es_emulation=zsh
\builtin \test "${options[shwordsplit]}${options[cshnullcmd]}" \= offoff || __es_emulation="$(\builtin \emulate)"
\builtin \emulate -R zsh
\builtin \setopt noaliases interactivecomments extendedglob
\builtin \eval @CAPTURE@
