//! `exec-server run` at a terminal, with and without one for the command.

use exec_tests::server::Ending;
use exec_tests::{Run, Terminal, marker, ours_only};
use rustix::process::Signal;

/// What [`Terminal::mode`] tells, to be compared.
fn mode(terminal: &Terminal) -> String {
    format!("{:?}", terminal.mode())
}

#[test]
fn the_command_has_a_terminal_of_this_size_and_every_later_one() {
    ours_only!();
    let terminal = Terminal::new(33, 101);
    let run = Run::helper(&["--tty"], &["winch"]).at(&terminal).start();
    terminal.await_text("size 33 101\r\n");
    terminal.resize(40, 123);
    terminal.await_text("size 40 123\r\n");
    run.signal(Signal::USR1);
    assert_eq!(run.ended(), Ending::Exit(0));
}

#[test]
fn the_local_terminal_is_raw_meanwhile_and_as_before_after() {
    ours_only!();
    for (arguments, end, ending) in [
        (&["signals", "7"][..], Signal::USR1, 7),
        (&["sleep", "at-a-terminal"], Signal::TERM, 143),
        (&["sleep", "at-a-terminal"], Signal::HUP, 129),
    ] {
        let terminal = Terminal::new(24, 80);
        let before = mode(&terminal);
        assert!(terminal.is_in_line_mode());
        let run = Run::helper(&["--tty"], arguments).at(&terminal).start();
        terminal.await_raw_mode();
        run.signal(end);
        assert_eq!(run.ended(), Ending::Exit(ending), "{arguments:?}");
        assert_eq!(mode(&terminal), before, "{arguments:?} {end:?}");
    }
}

#[test]
fn the_local_terminal_is_as_before_when_the_daemon_is_killed() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let before = mode(&terminal);
    let run = Run::helper(&["--tty"], &["tree", &marker()])
        .at(&terminal)
        .start();
    terminal.await_raw_mode();
    run.kill(run.daemon(), Signal::KILL);
    assert_eq!(run.ended(), Ending::Exit(125));
    assert_eq!(mode(&terminal), before);
    terminal.await_text("exec-server run: the daemon ended before the command did");
}

#[test]
fn control_c_reaches_the_command_as_sigint_and_no_one_else() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let run = Run::helper(&["--tty"], &["signals", "7", "INT=2"])
        .at(&terminal)
        .start();
    terminal.await_text("up\r\n");
    terminal.type_in(b"\x03");
    terminal.await_text("got INT\r\n");
    run.signal(Signal::USR1);
    assert_eq!(run.ended(), Ending::Exit(7));
    assert_eq!(terminal.screen.text().matches("got INT").count(), 1);
}

#[test]
fn keys_reach_the_command_and_are_echoed_once() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let run = Run::of(&["--tty", "--", "cat"]).at(&terminal).start();
    terminal.await_raw_mode();
    terminal.type_in(b"keys\r");
    terminal.await_text("keys\r\nkeys\r\n");
    terminal.type_in(b"\x04");
    assert_eq!(run.ended(), Ending::Exit(0));
    assert_eq!(terminal.screen.text(), "keys\r\nkeys\r\n");
}

#[test]
fn a_terminal_that_hangs_up_ends_the_command() {
    ours_only!();
    for options in [&["--tty"][..], &[]] {
        let mark = marker();
        let terminal = Terminal::new(24, 80);
        let run = Run::helper(options, &["tree", &mark]).at(&terminal).start();
        run.await_marked(&mark, 6);
        terminal.hang_up();
        assert_eq!(run.ended(), Ending::Exit(129), "{options:?}");
        run.assert_nothing_left();
    }
}

#[test]
fn a_terminal_for_the_command_needs_none_here() {
    ours_only!();
    let run = Run::of(&[
        "--tty",
        "--",
        "sh",
        "-c",
        "test -t 0 && test -t 1 && stty size; cat",
    ])
    .start();
    run.stdout.await_bytes(b"24 80\r\n");
    run.write(b"piped\n");
    // The end of the pipe is ^D for the command.
    run.close_stdin();
    assert_eq!(run.ended(), Ending::Exit(0));
    assert_eq!(run.stdout.all(), b"24 80\r\npiped\r\npiped\r\n");
}

#[test]
fn without_a_terminal_for_the_command_the_local_one_stays_in_line_mode() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let run = Run::of(&["--", "sh", "-c", "test -t 0 || echo pipe; cat"])
        .at(&terminal)
        .start();
    terminal.await_text("pipe\r\n");
    assert!(terminal.is_in_line_mode());
    terminal.type_in(b"line\n");
    terminal.await_text("line\r\nline\r\n");
    terminal.type_in(b"\x04");
    assert_eq!(run.ended(), Ending::Exit(0));
}

#[test]
fn control_c_at_a_terminal_reaches_a_command_on_pipes_once() {
    ours_only!();
    let terminal = Terminal::new(24, 80);
    let run = Run::helper(&[], &["signals", "7", "INT=2"]).at(&terminal).start();
    terminal.await_text("up\r\n");
    terminal.type_in(b"\x03");
    terminal.await_text("got INT\r\n");
    run.signal(Signal::USR1);
    assert_eq!(run.ended(), Ending::Exit(7));
    assert_eq!(terminal.screen.text().matches("got INT").count(), 1);
}
