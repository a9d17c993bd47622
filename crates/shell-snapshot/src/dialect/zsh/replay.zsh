# The `.zshenv` of the place that holds the state: read when the state is text, or if the compiled one cannot be.
# EXEC_SERVER_STATE says where the text is: `file`, or in how many variables. The state is the last thing that runs
# here: it may switch on tracing.
builtin emulate -R zsh
builtin setopt noaliases
case ${EXEC_SERVER_STATE-} in
(file)
    builtin unset EXEC_SERVER_STATE
    builtin . /proc/self/fd/@STATE_FD@
    ;;
(<1->)
    for (( __es_part = 0; __es_part < EXEC_SERVER_STATE; __es_part++ )); do
        __es_text+=${(P)${:-EXEC_SERVER_STATE_$__es_part}}
        builtin unset EXEC_SERVER_STATE_$__es_part
    done
    builtin unset EXEC_SERVER_STATE __es_part
    builtin eval $'builtin unset __es_text\n'$__es_text
    ;;
(*)
    builtin unset ZDOTDIR EXEC_SERVER_KEEP
    (( ${+EXEC_SERVER_ZDOTDIR} )) && builtin export ZDOTDIR=$EXEC_SERVER_ZDOTDIR
    builtin unset EXEC_SERVER_ZDOTDIR
    builtin print -u2 -r -- 'failed to restore shell snapshot'
    ;;
esac
