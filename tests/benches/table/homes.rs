//! Homes of users: startup files of the sizes and kinds that people have.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// What every home defines and every measured script calls: a script that ends with 0 has the state.
pub(crate) const PROBE: &str = "probe";

/// A small `.bashrc`, typed by hand over the years.
const SMALL: &str = r#"
HISTCONTROL=ignoreboth
HISTSIZE=10000
shopt -s checkwinsize histappend globstar
export EDITOR=vi PAGER=less LESS=-R
export PATH="$HOME/bin:$HOME/.local/bin:$PATH"
PS1='\u@\h:\w\$ '
alias ls='ls --color=auto' ll='ls -alF' la='ls -A' l='ls -CF'
alias grep='grep --color=auto' ..='cd ..' gs='git status' gd='git diff'
mkcd () { mkdir -p -- "$1" && cd -- "$1"; }
extract () {
    case "$1" in
        *.tar.gz | *.tgz) tar xzf "$1" ;;
        *.tar.xz) tar xJf "$1" ;;
        *.zip) unzip "$1" ;;
        *) echo "extract: $1: unknown kind" >&2; return 1 ;;
    esac
}
probe () { :; }
"#;

/// The options and hooks of a zsh framework.
const FRAMEWORK: &str = r"
setopt auto_cd extended_glob hist_ignore_dups interactive_comments prompt_subst auto_pushd pushd_ignore_dups
export EDITOR=vi PAGER=less LESS=-R ZSH=$HOME/.oh-my-zsh
plugins=(git docker kubectl npm python rust sudo z)
typeset -A theme=(prompt '%n@%m:%~%# ' color blue separator ' ')
PROMPT=$theme[prompt]
autoload -Uz add-zsh-hook colors is-at-least
note_directory () { last_directory=$PWD; }
add-zsh-hook chpwd note_directory
probe () { :; }
";

/// bash with a small rc.
pub(crate) fn small_bash(home: &Path) -> io::Result<()> {
    fs::write(home.join(".bashrc"), SMALL)
}

/// bash with 240 KB of functions: bash-completion, nvm and a framework.
pub(crate) fn large_bash(home: &Path) -> io::Result<()> {
    fs::write(home.join(".bashrc"), functions(SMALL, 240_000))
}

/// bash with 70 KB of functions: a distribution's bash-completion. With a login file, so that a login shell reads them.
pub(crate) fn medium_bash(home: &Path) -> io::Result<()> {
    fs::write(home.join(".bash_profile"), ". ~/.bashrc\n")?;
    fs::write(home.join(".bashrc"), functions(SMALL, 70_000))
}

/// zsh with 184 KB of functions and some hundred aliases: a framework with a few plugins.
pub(crate) fn large_zsh(home: &Path) -> io::Result<()> {
    let mut text = FRAMEWORK.to_owned();
    for number in 0..250 {
        let _ = writeln!(
            text,
            "alias g{number}='git log --oneline --decorate --max-count={number}'"
        );
    }
    fs::write(home.join(".zshrc"), functions(&text, 184_000))
}

/// `text`, and functions as bash prints them, of `bytes` bytes.
fn functions(text: &str, bytes: usize) -> String {
    let mut text = text.to_owned();
    let enough = text.len() + bytes;
    let mut number = 0;
    while text.len() < enough {
        let _ = write!(
            text,
            r#"_tool_{number}_complete ()
{{
    local current="$1" previous="${{2:-none}}" word rest;
    local -i count=0 limit={number};
    for word in "$@";
    do
        case "$word" in
            --help | -h)
                printf '%s\n' "usage: tool-{number} [--limit N] [--output FILE] [file ...]";
                return 0
            ;;
            --output=*)
                rest="${{word#--output=}}";
                [[ -n $rest && -d "${{rest%/*}}" ]] || return 1
            ;;
            *)
                (( count += 1 ));
                if (( count > limit )); then
                    printf 'tool-{number}: more than %d words: %s\n' "$limit" "$previous" 1>&2;
                    return 2;
                fi
            ;;
        esac;
    done;
    last_of_tool_{number}="$current $(printf '%s' "${{rest:-$word}}" | tr -d '\n')"
}}
"#
        );
        number += 1;
    }
    text
}
