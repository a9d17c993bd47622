//! The man pages and shell completions under docs/ are what the command line says: written here, and stale
//! files fail. `UPDATE_MANUAL=1 cargo test -p exec-server manual` (`make manual`) rewrites them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use super::Cli;

fn document(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file)
}

/// Fails unless the file is `generated`; with UPDATE_MANUAL it is written first.
#[track_caller]
fn check(file: &str, generated: &str) {
    let path = document(file);
    if std::env::var_os("UPDATE_MANUAL").is_some() {
        fs::create_dir_all(path.parent().expect("has a parent")).expect("can be made");
        fs::write(&path, generated).expect("can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/{file} is not what the command line says: run `make manual`"
    );
}

/// The command line without the subcommand that is hidden from people: completions would offer it.
fn shown() -> Command {
    let whole = Cli::command();
    let subcommand = |name| whole.find_subcommand(name).expect("there is one").clone();
    let subcommands: Vec<_> = whole.get_subcommands().map(Command::get_name).collect();
    assert_eq!(
        subcommands,
        ["run", "snapshot", "warden"],
        "one more needs a page of its own here"
    );
    let said = |text: Option<&StyledStr>| text.expect("there is a text").clone();
    // A subcommand cannot be taken away: the same is put together without it.
    Command::new("exec-server")
        .version(env!("CARGO_PKG_VERSION"))
        .about(said(whole.get_about()))
        .long_about(said(whole.get_long_about()))
        .after_help(said(whole.get_after_help()))
        .args(whole.get_arguments().cloned())
        .subcommands(["run", "snapshot"].map(subcommand))
        .disable_help_subcommand(true)
}

/// A page: what clap_mangen makes well, and the rest from the help text, whose sections begin with `Name:`.
fn page(command: Command, name: &'static str, synopsis: &[&str], see_also: &str) -> String {
    let version = concat!("exec-server ", env!("CARGO_PKG_VERSION"));
    let after = command.get_after_help().map(ToString::to_string);
    let command = command.name(name).display_name(name);
    let man = Man::new(command).source(version).manual("User Commands");
    let mut page = Vec::new();
    let written = man
        .render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page));
    written.expect("memory can be written to");
    page.extend_from_slice(b".SH SYNOPSIS\n.nf\n");
    for line in synopsis {
        page.extend_from_slice(format!("{}\n", line.replace('-', "\\-")).as_bytes());
    }
    page.extend_from_slice(b".fi\n");
    let written = man
        .render_description_section(&mut page)
        .and_then(|()| man.render_options_section(&mut page));
    written.expect("memory can be written to");
    let mut page = String::from_utf8(page).expect("text");
    if let Some((title, text)) = after.as_deref().and_then(|after| after.split_once(":\n")) {
        let text = text.replace('\\', "\\e").replace('-', "\\-");
        page.push_str(&format!(".SH \"{}\"\n.nf\n{text}\n.fi\n", title.to_uppercase()));
    }
    page.push_str(&format!(".SH \"SEE ALSO\"\n{see_also}\n"));
    page
}

#[test]
fn the_man_pages_are_current() {
    let command = shown();
    let subcommand = |name| command.find_subcommand(name).expect("there is one").clone();
    let usage = [
        "exec-server [OPTIONS]",
        "exec-server run [OPTIONS] [--] COMMAND [ARGUMENT]...",
        "exec-server snapshot [OPTIONS]",
    ];
    let page_of_run = page(
        subcommand("run"),
        "exec-server-run",
        &usage[1..2],
        ".BR exec\\-server (1),\n.BR exec\\-server\\-snapshot (1)",
    );
    check("man/exec-server-run.1", &page_of_run);
    let page_of_snapshot = page(
        subcommand("snapshot"),
        "exec-server-snapshot",
        &usage[2..],
        ".BR exec\\-server (1),\n.BR exec\\-server\\-run (1)",
    );
    check("man/exec-server-snapshot.1", &page_of_snapshot);
    let page = page(
        command,
        "exec-server",
        &usage,
        ".BR exec\\-server\\-run (1):\nruns one command.\n.br\n.BR exec\\-server\\-snapshot (1):\nshows your shell\\(aqs snapshot.",
    );
    check("man/exec-server.1", &page);
    // The same usage stands in the help.
    let help = Cli::command().render_help().to_string();
    for line in usage {
        assert!(help.contains(line), "{line}");
    }
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut shown(), "exec-server", &mut script);
    let script = String::from_utf8(script).expect("text");
    // clap_complete names a command with a dash in two ways, and so never finds its subcommands.
    script.replace("exec__subcmd__server", "exec__server")
}

#[test]
fn the_completions_are_current() {
    check("completions/exec-server.bash", &completions(Shell::Bash));
    check("completions/_exec-server", &completions(Shell::Zsh));
    check("completions/exec-server.fish", &completions(Shell::Fish));
}

#[test]
fn bash_completes_options_and_their_values() {
    for (line, expected) in [
        (&["exec-server", "r"][..], "run"),
        (&["exec-server", "--cgroup", ""], "auto off"),
        (&["exec-server", "run", "--t"], "--tty --timeout"),
        (&["exec-server", "snapshot", "--p"], "--profile"),
    ] {
        let script = format!(
            "{}\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n\
             _exec__server \"$1\" \"${{!#}}\" \"${{@: -2:1}}\"\necho \"${{COMPREPLY[*]}}\"",
            completions(Shell::Bash)
        );
        let mut bash = Process::new("bash");
        let output = bash
            .args(["--norc", "-c", &script, "bash"])
            .args(line)
            .output()
            .expect("bash runs");
        let (found, errors) = (output.stdout, output.stderr);
        let found = String::from_utf8_lossy(&found);
        assert_eq!(
            found.trim_end(),
            expected,
            "{line:?} {}",
            String::from_utf8_lossy(&errors)
        );
    }
}
