//! The program on the command line: help, version, mistakes, and a person at a terminal.

use exec_tests::server::Ending;
use exec_tests::{Run, Terminal, ours_only};

/// A first message, typed in.
const INITIALIZE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"clientName\":\"me\"}}\n";

#[test]
fn help_and_version_are_on_stdout() {
    ours_only!();
    for (arguments, expected) in [
        (&["--help"][..], "Usage: exec-server [OPTIONS]"),
        (&["-h"], "--listen <WHERE>"),
        (&["run", "--help"], "124  --timeout ended it"),
        (&["--version"], "exec-server "),
    ] {
        let said = Run::program(arguments).output();
        assert_eq!(
            (said.ending, said.errors().as_str()),
            (Ending::Exit(0), ""),
            "{arguments:?}"
        );
        assert!(said.text().contains(expected), "{arguments:?}: {}", said.text());
    }
}

#[test]
fn the_version_is_that_of_the_build() {
    ours_only!();
    let said = Run::program(&["--version"]).output().text();
    assert_eq!(said, concat!("exec-server ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_helper_process_is_not_shown_to_people() {
    ours_only!();
    let help = Run::program(&["--help"]).output().text();
    assert!(help.contains("run ") && !help.contains("  warden"), "{help}");
}

#[test]
fn a_mistake_is_told_on_stderr_with_status_2() {
    ours_only!();
    for (arguments, named) in [
        (&["--no-such-option"][..], "--no-such-option"),
        (&["no-such-verb"], "no-such-verb"),
        (&["--listen", "tcp"], "tcp"),
        (&["run"], "COMMAND"),
        (&["run", "--no-such-option", "--", "true"], "--no-such-option"),
        (&["run", "--timeout", "never", "--", "true"], "never"),
        (&["run", "--env", "NAME", "--", "true"], "NAME=VALUE"),
    ] {
        let said = Run::program(arguments).output();
        assert_eq!(
            (said.ending, said.text().as_str()),
            (Ending::Exit(2), ""),
            "{arguments:?}"
        );
        assert!(said.errors().contains(named), "{arguments:?}: {}", said.errors());
    }
}

#[test]
fn a_person_at_a_terminal_is_told_what_the_daemon_waits_for() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let daemon = Run::program(&[]).at(&terminal).start();
    terminal.await_text("To run a command: exec-server run -- COMMAND");
    terminal.type_in(INITIALIZE);
    terminal.await_text("\"result\":{");
    terminal.type_in(b"\x04");
    assert_eq!(daemon.ended(), Ending::Exit(0));
}

#[test]
fn control_c_ends_a_daemon_at_a_terminal() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let daemon = Run::program(&[]).at(&terminal).start();
    // Once it answers, it is past its start.
    terminal.type_in(INITIALIZE);
    terminal.await_text("\"result\":{");
    terminal.type_in(b"\x03");
    assert_eq!(daemon.ended(), Ending::Exit(0));
}
