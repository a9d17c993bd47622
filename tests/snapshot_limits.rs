//! A state that is too large, and a shell that yields none, is told with its reason, and costs a command its state only.

use exec_tests::home::Shell;
use exec_tests::{BASH, FISH, Home, SH, Server, ZSH, ours_only, target};
use serde_json::json;

/// A file of every interactive shell that a plain login shell does not read, where there is one.
fn startup_file(shell: Shell) -> &'static str {
    match shell.name {
        "bash" => ".bashrc",
        "zsh" => ".zshrc",
        "sh" => ".profile",
        _ => ".config/fish/config.fish",
    }
}

#[test]
fn a_failure_has_its_reason_and_a_command_its_output() {
    ours_only!();
    let large =
        |name: &str, megabytes: u32| format!("{name}=$(head -c {megabytes}000000 /dev/zero | tr '\\0' x)\n");
    let exports: String = (0..6)
        .map(|at| format!("export LARGE_{at}=$(head -c 100000 /dev/zero | tr '\\0' x)\n"))
        .collect();
    let fish_exports = exports
        .replace("export LARGE", "set -gx LARGE")
        .replace("=$(", " (");
    let missing = |name| Shell {
        name,
        path: "/no/such/shell",
    };
    let cases = [
        (BASH, large("big", 5), "state_too_large"),
        (ZSH, large("big", 5), "state_too_large"),
        (BASH, large("big", 9), "capture_too_large"),
        (BASH, exports.clone(), "environment_too_large"),
        (ZSH, exports.clone(), "environment_too_large"),
        (SH, exports, "environment_too_large"),
        (FISH, fish_exports, "environment_too_large"),
        (BASH, "exit 0\n".to_owned(), "missing_output"),
        (SH, "exit 0\n".to_owned(), "missing_output"),
        (BASH, "exit 9\n".to_owned(), "nonzero_exit"),
        (ZSH, "exit 9\n".to_owned(), "nonzero_exit"),
        (SH, "exit 9\n".to_owned(), "nonzero_exit"),
        (missing("bash"), String::new(), "spawn_failed"),
        (missing("fish"), String::new(), "spawn_failed"),
    ];
    let server = Server::start();
    let mut wrong = Vec::new();
    for (shell, text, reason) in cases {
        let home = Home::new(&[(startup_file(shell), &text)]);
        let told = server.call("shellSnapshot/prewarm", home.params(shell));
        let is = told
            .as_ref()
            .map_or_else(|error| error["data"]["reason"].to_string(), ToString::to_string);
        if is != format!("\"{reason}\"") {
            wrong.push(format!("{shell:?}, {reason}: {is}"));
        }
        if shell.path == "/no/such/shell" {
            server.start_refused(home.command(shell, "echo out"), -32603, "spawnNotFound");
            continue;
        }
        let process = server.spawn(home.command(shell, "echo out"));
        let (code, out) = (process.closed(), process.stream("stdout"));
        if code != 0 || out != b"out\n" {
            wrong.push(format!("{shell:?}, {reason}: {code}, {}", process.text()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_just_not_too_large_is_restored() {
    ours_only!();
    for shell in [BASH, ZSH] {
        let text = "big=$(head -c 3900000 /dev/zero | tr '\\0' x)\n\
                    for at in 1 2 3 4; do export \"LARGE_$at=$(head -c 100000 /dev/zero | tr '\\0' x)\"; done\n";
        let home = Home::new(&[(startup_file(shell), text)]);
        let server = Server::start();
        for _ in 0..2 {
            let launch = home.command(shell, "echo ${#big} ${#LARGE_1} ${#LARGE_4}");
            let (code, output) = server.run(launch);
            assert_eq!(
                (code, String::from_utf8(output).unwrap()),
                (0, "3900000 100000 100000\n".to_owned()),
                "{shell:?}"
            );
        }
    }
}

#[test]
fn what_no_program_can_be_given_keeps_no_command_from_starting() {
    ours_only!();
    // More than execve(2) takes of one variable, and, of a shell with a small stack, of all.
    let large = "$(head -c 200000 /dev/zero | tr '\\0' x)";
    let many: String = (0..4)
        .map(|at| format!("export LARGE_{at}=$(head -c 100000 /dev/zero | tr '\\0' x)\n"))
        .collect();
    for shell in [BASH, ZSH, SH, FISH] {
        let (text, tells) = if shell == FISH {
            (
                format!("set -gx BIG {}\nset -g SMALL 1\n", &large[1..]),
                "echo $SMALL",
            )
        } else {
            (format!("export BIG={large}\nSMALL=1\n"), "echo $SMALL")
        };
        let home = Home::new(&[(startup_file(shell), &text)]);
        let server = Server::start();
        for _ in 0..2 {
            let process = server.spawn(home.command(shell, tells));
            assert_eq!(process.closed(), 0, "{shell:?}: {}", process.text());
            assert_eq!(process.stream("stdout"), b"1\n", "{shell:?}: {}", process.text());
        }
        if shell == ZSH {
            let described = server.ok("shellSnapshot/describe", home.params(shell));
            let left_out = described["snapshot"]["leftOut"].to_string();
            assert!(left_out.contains("variable BIG"), "{described}");
        }
        // A script that fits only without what would be put in front of it.
        let script = format!(": {}", "x".repeat(128 * 1024 - 3));
        let process = server.spawn(home.command(shell, &script));
        assert_eq!(process.closed(), 0, "{shell:?}: {}", process.text());
    }
    let home = Home::new(&[(".bashrc", &format!("{many}SMALL=1\n"))]);
    let mut command = ["/bin/sh", "-c", "ulimit -S -s 1024; exec \"$@\"", "sh"]
        .map(str::to_owned)
        .to_vec();
    command.extend_from_slice(target::server_command());
    let server = Server::builder().command(command).start();
    server.ok("initialize", json!({"clientName": "exec-tests"}));
    server.notify("initialized", json!({}));
    for _ in 0..2 {
        let process = server.spawn(home.command(BASH, "echo $SMALL; /bin/echo ran"));
        assert_eq!(process.closed(), 0, "{}", process.text());
        assert_eq!(process.stream("stdout"), b"1\nran\n", "{}", process.text());
    }
}
