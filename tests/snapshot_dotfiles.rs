//! Dotfiles as people have them: what a user at a prompt would see is what a command sees.
//!
//! `fixtures/dotfiles/NAME` is copied into a home of its own. There the same script is run twice: by the user's shell as
//! a terminal starts it (interactive, a login, on a terminal of its own), and as a command with a snapshot.

use std::fs;
use std::path::{Path, PathBuf};

use exec_tests::home::Shell;
use exec_tests::{BASH, FISH, Home, Server, ZSH, ours_only, program, target};

/// What bash knows: everything, without what is of one shell or of an interactive one.
const BASH_KNOWS: &str = r#"
command -p printf '%s\n' "== functions"; builtin declare -f; builtin declare -F
command -p printf '%s\n' "== aliases"; builtin alias -p
command -p printf '%s\n' "== options"; builtin shopt -p | command -p grep -v -e login_shell
builtin set +o | command -p grep -v -w -e emacs -e vi -e monitor -e history -e histexpand
command -p printf '%s\n' "== variables"
for name in $(builtin compgen -v); do
  case $name in
  # Of one shell, of its terminal, of its moment.
  BASHPID|BASHOPTS|BASH_ARGC|BASH_ARGV|BASH_LINENO|BASH_SOURCE|BASH_EXECUTION_STRING|BASH_COMMAND|BASH_SUBSHELL) ;;
  SHELLOPTS|SHLVL|PPID|RANDOM|SRANDOM|SECONDS|EPOCHSECONDS|EPOCHREALTIME|LINENO|_|PIPESTATUS|OPTIND|name) ;;
  PWD|OLDPWD|LINES|COLUMNS|DIRSTACK|FUNCNAME|GROUPS|BASH_MONOSECONDS|COMP_WORDBREAKS|HISTCMD|TERM) ;;
  # What an interactive one has by itself.
  HISTFILE|MAILCHECK|PS2) ;;
  # Keys come in no order.
  *) builtin declare -p "$name" | if [[ ${!name@a} == *A* ]]; then command -p tr '[' '\n' | command -p sort; else command -p cat; fi ;;
  esac
done
command -p printf '%s\n' "== limits"; builtin umask; builtin ulimit -S -a
"#;

/// What zsh knows.
const ZSH_KNOWS: &str = r#"
builtin print -r -- "== aliases"; builtin alias -L; builtin alias -gL; builtin alias -sL
builtin print -r -- "== functions"
# Those that zsh-syntax-highlighting names by the time are widgets'.
for name in ${${(ok)functions}:#*orig-s0*}; do builtin print -r -- "$name: $functions[$name]"; done
builtin print -r -- "== options"
for name in ${(ok)options}; do
  case $name in
  (interactive|login|shinstdin|zle|monitor|privileged|restricted|singlecommand|emacs|vi|bgnice|checkrunningjobs|hup|hashdirs) ;;
  (*) builtin print -r -- "$name=$options[$name]" ;;
  esac
done
builtin print -r -- "== variables"
for name in ${(ok)parameters}; do
  [[ $parameters[$name] == *(hide|special|readonly-export)* ]] && continue
  case $name in
  (name|OLDPWD|PWD|LINES|COLUMNS|SHLVL|_|TERM|TTY|LOGNAME|HISTCMD|ZSH_EXECUTION_STRING|ZSH_HIGHLIGHT_*|*EPOCH*|__theme_started) ;;
  (*) builtin typeset -p -- $name ;;
  esac
done
builtin print -r -- "== paths"; builtin print -rl -- $path $fpath $cdpath
builtin umask
"#;

/// What fish knows.
const FISH_KNOWS: &str = r"
echo == functions; functions -n | string split , | string match -v -r '^fish_title|^__'
echo == variables; set -gx | string match -v -r '^(PWD|OLDPWD|SHLVL|_|TERM|COLUMNS|LINES)( |$)'
set -g | string match -r '^(my_|EDITOR|TOOL|fish_greeting).*'
echo == paths; string join \n -- $PATH
umask
";

/// Where files of Debian's packages are: installed, or unpacked by `make fixtures`.
fn debian(package: &str) -> PathBuf {
    let installed = Path::new("/usr/share");
    let unpacked = Path::new(&target::helper_path())
        .ancestors()
        .nth(2)
        .expect("target/PROFILE/helper")
        .join("debian/usr/share");
    let found = [installed, &unpacked].into_iter().find(|place| match package {
        "bash-completion" => place.join("bash-completion/bash_completion").exists(),
        package => place.join(package).exists(),
    });
    found
        .unwrap_or_else(|| panic!("Debian's package {package} is missing: `make fixtures`"))
        .to_owned()
}

fn copy(from: &Path, to: &Home, below: &str, place: &Path) {
    for entry in fs::read_dir(from).expect("a fixture").flatten() {
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            copy(&entry.path(), to, &format!("{name}/"), place);
        } else {
            let text = fs::read_to_string(entry.path()).expect("text");
            to.write(&name, &text.replace("@DEBIAN@", place.to_str().unwrap()));
        }
    }
}

/// A home with these dotfiles.
fn dotfiles(name: &str, place: &Path) -> Home {
    let home = Home::new(&[]);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dotfiles");
    copy(&fixtures.join(name), &home, "", place);
    home
}

/// What it prints to `~/said` when the user's own shell runs it, started as a terminal does.
fn at_a_prompt(server: &Server, home: &Home, shell: Shell, script: &str) -> String {
    home.write("script", script);
    let runs = if shell == FISH {
        "begin; source ~/script; end >~/said"
    } else {
        "{ . ~/script; } >~/said"
    };
    let launch = program(&[shell.path, "-lic", runs])
        .set("env", home.variables())
        .cwd(home.dir())
        .tty();
    let process = server.spawn(launch);
    process.closed();
    fs::read_to_string(home.path("said")).unwrap_or_else(|_| panic!("nothing was said: {}", process.text()))
}

/// What it prints as a command.
fn as_a_command(server: &Server, home: &Home, shell: Shell, script: &str) -> String {
    home.write("script", script);
    let runs = if shell == FISH {
        "source ~/script"
    } else {
        ". ~/script"
    };
    let process = server.spawn(home.command(shell, runs));
    process.closed();
    assert_eq!(
        String::from_utf8_lossy(&process.stream("stderr")),
        "",
        "nothing but the script's own words"
    );
    String::from_utf8(process.stream("stdout")).expect("UTF-8")
}

/// The lines that are not in both, each with its side.
fn difference(prompt: &str, command: &str) -> Vec<String> {
    let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
    let gone = prompt.lines().filter(|line| lacks(command, line));
    let new = command.lines().filter(|line| lacks(prompt, line));
    gone.map(|line| format!("- {line}"))
        .chain(new.map(|line| format!("+ {line}")))
        .take(40)
        .collect()
}

/// Both see the same of what the shell knows and of what the script does; the command runs no startup file.
#[track_caller]
fn is_the_same(home: &Home, shell: Shell, script: &str, expected: &str) {
    let server = Server::start();
    let knows = match shell.name {
        "bash" => BASH_KNOWS,
        "zsh" => ZSH_KNOWS,
        _ => FISH_KNOWS,
    };
    for (what, script) in [("what it knows", knows), ("what it does", script)] {
        // Once before: what startup files make in the home is there at every other prompt.
        at_a_prompt(&server, home, shell, script);
        let prompt = at_a_prompt(&server, home, shell, script);
        // Captured, and found.
        for _ in 0..2 {
            let command = as_a_command(&server, home, shell, script);
            assert!(
                prompt == command,
                "{what}: at a prompt (-) and as a command (+):\n{}",
                difference(&prompt, &command).join("\n")
            );
        }
        if what == "what it does" {
            assert_eq!(prompt, expected);
        }
    }
}

#[test]
fn debians_stock_files() {
    ours_only!();
    let skeleton = Path::new("/etc/skel");
    if !skeleton.join(".bashrc").exists() {
        target::say_skipped("/etc/skel has no .bashrc here");
        return;
    }
    let home = Home::new(&[
        (".bash_aliases", "alias mine='echo mine'\n"),
        ("bin/tool", "#!/bin/sh\necho tool\n"),
    ]);
    copy(skeleton, &home, "", skeleton);
    is_the_same(
        &home,
        BASH,
        "type mine; tool; alias ls; echo \"$HISTCONTROL $HISTSIZE $PS1\"\n",
        "mine is aliased to `echo mine'\ntool\nalias ls='ls --color=auto'\nignoreboth 1000 ${debian_chroot:+($debian_chroot)}\\u@\\h:\\w\\$ \n",
    );
}

#[test]
fn bash_completion() {
    ours_only!();
    let place = debian("bash-completion");
    let home = dotfiles("bash-completion", &place);
    is_the_same(
        &home,
        BASH,
        "type -t _init_completion _mine __load_completion; shopt extglob; echo \"${BASH_COMPLETION_VERSINFO[0]}\"\n",
        "function\nfunction\nfunction\nextglob        \ton\n2\n",
    );
}

/// So many lines of functions as version managers and frameworks bring along.
fn generated_functions(lines: usize) -> String {
    let mut text = String::new();
    let mut count = 0;
    for number in 0.. {
        let function = format!(
            "nvm_generated_{number}() {{\n  local value\n  value=\"${{1-{number}}}\"\n  if [ -n \"${{value}}\" ] && [ \"_${{value}}\" != '_' ]; then\n    \
             case \"${{value}}\" in\n      v[0-9]* | iojs-*) nvm_echo \"${{value#v}}\" ;;\n      *'*'*) nvm_err \"odd: $value\"; return {} ;;\n      \
             *) nvm_echo \"$(nvm_normalize_version \"${{value}}.0.0\")\" ;;\n    esac\n  else\n    \
             # A comment that nobody needs again.\n    command cat <<'EOF' | command sed -e 's/^/  /'\nlines \"of $text\" {number}\nEOF\n  fi\n}}\n",
            number % 7
        );
        count += function.lines().count();
        text.push_str(&function);
        if count >= lines {
            return text;
        }
    }
    unreachable!("there are numbers enough")
}

#[test]
fn a_version_manager_of_five_thousand_lines() {
    ours_only!();
    let home = dotfiles("nvm", Path::new(""));
    home.write(".nvm/generated.sh", &generated_functions(5000));
    is_the_same(
        &home,
        BASH,
        "nvm use 20.1.0; echo \"${NVM_BIN#\"$HOME\"}\"; nvm_generated_17 v5; nvm_generated_40; nvm help | tail -n 1; declare -F | grep -c nvm_generated_\n",
        "Now using node v20.1.0 (20000001000000)\n/.nvm/versions/node/v20.1.0/bin\n5\n40000000000000\n  nvm use <version>    $not `expanded`\n313\n",
    );
}

#[test]
fn a_framework_for_zsh() {
    ours_only!();
    let home = dotfiles("oh-my-zsh", Path::new(""));
    is_the_same(
        &home,
        ZSH,
        "urlencode 'a b/ü'\ntake deep/er && pwd | sed 's/.*deep/deep/'; x a.tgz L\nplain_autoloaded twice; alias gst\ndir.log\n",
        "a%20b%2F%C3%BC\ndeep/er\ntar zxf a.tgz\nautoloaded with twice\ngst='git status'\nlog: dir.log\n",
    );
}

#[test]
fn a_prompt_theme_for_zsh() {
    ours_only!();
    let home = dotfiles("prompt-theme", Path::new(""));
    is_the_same(
        &home,
        ZSH,
        "prompt_dir; prompt_vcs 'a b'; print; print -r -- $#__theme_icons $__theme_colors[color3] ${(t)__theme_sourced} $THEME_VCS\nprint -rl -- $precmd_functions $preexec_functions\n",
        "[dir:\u{e0b0}1'\"\\][a b:\u{e0b0}1'\"\\]\n200 21 scalar-readonly ${$((my_formatter(1)))+${my_format}}\n_theme_precmd\n_theme_preexec\n",
    );
}

#[test]
fn hooks_that_follow_the_working_directory_in_zsh() {
    ours_only!();
    let home = dotfiles("direnv-zsh", Path::new(""));
    is_the_same(
        &home,
        ZSH,
        "cd project; echo \"$PROJECT_NAME $TOOL_VERSION\"; cd ..; echo \"${PROJECT_NAME-none} ${TOOL_VERSION-none}\"\n",
        "a project 18.2.1\nnone none\n",
    );
}

#[test]
fn hooks_that_follow_the_working_directory_in_bash() {
    ours_only!();
    let home = dotfiles("mise-bash", Path::new(""));
    is_the_same(
        &home,
        BASH,
        "cd project; echo \"$MISE_VERSION\"; cd ..; echo \"${MISE_VERSION-none}\"; mise shell 21; echo \"$MISE_NODE_VERSION\"; mise other word\n",
        "20.1.0\nnone\n21\nmise other word\n",
    );
}

#[test]
fn a_block_that_puts_conda_first() {
    ours_only!();
    let home = dotfiles("conda", Path::new(""));
    is_the_same(
        &home,
        BASH,
        "python; echo \"$CONDA_DEFAULT_ENV $CONDA_SHLVL\"; conda activate other; echo \"$CONDA_DEFAULT_ENV\"; conda list\n",
        "python of conda\nbase 1\nother\nconda list\n",
    );
}

#[test]
fn variables_that_guard_nix() {
    ours_only!();
    let home = dotfiles("nix", Path::new(""));
    is_the_same(
        &home,
        BASH,
        "hello; nix_guarded; echo \"$EDITOR\"; bash -c hello; no-such-command 2>&1; echo $?\n",
        "hello of nix\nhello of nix\nvim -u '~/my rc'\nhello of nix\nnot found: no-such-command\n127\n",
    );
}

#[test]
fn zsh_syntax_highlighting_and_autosuggestions() {
    ours_only!();
    let place = debian("zsh-syntax-highlighting");
    assert_eq!(
        place,
        debian("zsh-autosuggestions"),
        "both are installed, or both unpacked"
    );
    let home = dotfiles("zsh-plugins", &place);
    is_the_same(
        &home,
        ZSH,
        "m 'a b'\nprint -r -- $ZSH_HIGHLIGHT_STYLES[comment] $#ZSH_HIGHLIGHT_STYLES $ZSH_AUTOSUGGEST_HIGHLIGHT_STYLE\n",
        "mine a\\ b\nfg=blue,bold 41 fg=8\n",
    );
}

#[test]
fn a_configuration_of_fish() {
    ours_only!();
    let home = dotfiles("fish", Path::new(""));
    is_the_same(
        &home,
        FISH,
        "lazy a b; count $my_list; echo $my_list[2]\nset -g my_watched new; echo $my_seen\ncd project; echo $TOOL_VERSION; cd ..; set -q TOOL_VERSION; or echo none\n",
        "lazy a b\n3\ntwo words\nseen new\n3.1\nnone\n",
    );
}
