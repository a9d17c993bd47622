# Writes down what startup made of fish.
#
# Whatever the startup files shadowed must not matter: nothing can be named `builtin`, and what is called through it
# is fish's own. Variables of our own are local to the block, and written down by nothing in it.
begin
builtin printf '\n%s begin\n\n%s umask\n%s\n' @NONCE@ @NONCE@ $umask
builtin printf '\n%s variables\n' @NONCE@
# Not the history, which is one of them; nor those of this block, which has none yet.
builtin set --show (builtin set --names | builtin string match --invert -- history)
# Of a long list it shows no more than both ends.
builtin set --local es_number 0
for es_name in (builtin set --names | builtin string match --invert -- history)
    if builtin set --query -- {$es_name}'[101]'
        builtin set es_number (builtin math $es_number + 1)
        builtin printf '\n%s list:%s\n%s\n' @NONCE@ $es_number $es_name
        builtin string escape --no-quoted -- $$es_name
    end
end
builtin printf '\n%s abbreviations\n' @NONCE@
if builtin contains -- abbr (builtin builtin --names)
    builtin abbr --show
else
    abbr --show
end
builtin printf '\n%s limits\n' @NONCE@
builtin ulimit -S -a
builtin printf '\n%s files\n' @NONCE@
for es_name in $__fish_sysconf_dir/config.fish $__fish_config_dir/config.fish $__fish_config_dir/conf.d/*.fish
    if builtin test -r $es_name
        builtin string match --entire -- ulimit <$es_name
    end
end
builtin printf '\n%s data\n%s\n' @NONCE@ $__fish_data_dir
builtin printf '\n%s known\n' @NONCE@
builtin functions --all --names
builtin printf '\n%s own\n' @NONCE@
builtin string replace --regex -- '^.*/' '' $__fish_data_dir/functions/*.fish
# Without a path for functions, those that were loaded from it are forgotten: the rest was defined by a file. In the
# global scope, so that it is not written to the user's own variables.
builtin set --global fish_function_path
builtin printf '\n%s names\n' @NONCE@
builtin functions --all --names
builtin printf '\n%s functions\n' @NONCE@
builtin functions -- (builtin functions --all --names)
builtin printf '\n%s end\n' @NONCE@
end >&@STREAM@ 2>/dev/null
