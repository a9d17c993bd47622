//! Whatever a startup file does, it costs a command its state and a bounded time, and nobody else anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use exec_tests::home::Shell;
use exec_tests::{BASH, FISH, Home, SH, Server, ZSH, eventually, ours_only};
use serde_json::json;

/// What another request may take while a capture runs: a reply on a busy machine, and far from a capture's time.
const ROUND_TRIP: Duration = Duration::from_secs(2);

/// How often it is tried.
const PING_EVERY: Duration = Duration::from_millis(20);

/// An attempt and what a machine that is busy adds.
const ATTEMPT: Duration = Duration::from_secs(10 + 4);

/// A startup that does not wait for anything ends its attempt by itself, long before its time is up.
const AT_ONCE: Duration = Duration::from_secs(7);

/// What a startup file does, and what becomes of a command.
struct Act {
    what: &'static str,
    text: &'static str,
    /// The state is there.
    used: bool,
    within: Duration,
}

const fn act(what: &'static str, text: &'static str, used: bool, within: Duration) -> Act {
    Act {
        what,
        text,
        used,
        within,
    }
}

/// What the shells of the Bourne family can do.
const ACTS: &[Act] = &[
    act("exits with an error", "exit 7\n", false, AT_ONCE),
    act("exits", "exit 0\n", false, AT_ONCE),
    act("becomes another program", "exec true\n", false, AT_ONCE),
    act(
        "becomes another program that fails",
        "exec false\n",
        false,
        AT_ONCE,
    ),
    act("kills its shell", "kill -9 $$\n", false, AT_ONCE),
    act(
        "terminates its shell",
        "kill -TERM $$; kill -HUP $$; exit 3\n",
        false,
        AT_ONCE,
    ),
    act(
        "floods",
        "yes noise | head -c 2000000; yes noise | head -c 2000000 >&2\n",
        true,
        ATTEMPT,
    ),
    act(
        "closes descriptors",
        "exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-\n",
        true,
        AT_ONCE,
    ),
    act(
        "redirects descriptors",
        "exec </dev/null >/dev/null 2>&1 3>&1 9>~/nine\n",
        true,
        AT_ONCE,
    ),
    act(
        "backgrounds writers",
        "(while :; do echo noise; echo noise >&2; done) & yes noise &\n",
        true,
        AT_ONCE,
    ),
    act(
        "backgrounds a sleeper that holds everything open",
        "sleep 1000 &\n",
        true,
        AT_ONCE,
    ),
    act(
        "reads from the terminal",
        "read -r answer; cat >/dev/null; cat </dev/tty >/dev/null\n",
        true,
        AT_ONCE,
    ),
    act(
        "asks for a terminal of no echo",
        "stty -echo raw 2>/dev/null; stty 0 2>/dev/null\n",
        true,
        ATTEMPT,
    ),
];

/// What takes an attempt's whole time.
const HANGS: &[Act] = &[
    act("hangs", "sleep 1000\n", false, ATTEMPT),
    act("spins", "while :; do :; done\n", false, ATTEMPT),
    act(
        "hangs, deaf to signals",
        "trap '' TERM HUP INT QUIT; while :; do sleep 1000; done\n",
        false,
        ATTEMPT,
    ),
    act("floods for ever", "yes noise\n", false, ATTEMPT),
    act("becomes a sleeper", "exec sleep 1000\n", false, ATTEMPT),
    act("stops itself", "kill -STOP $$\n", false, ATTEMPT),
];

/// The file that is read whenever an interactive login shell starts. It says where its state is at its end.
fn startup_file(shell: Shell) -> &'static str {
    match shell.name {
        "bash" => ".bash_profile",
        "zsh" => ".zshrc",
        "sh" => ".profile",
        _ => ".config/fish/config.fish",
    }
}

/// What a home, and the folders for what lasts no longer than a session, hold.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Two commands in a home with that startup file: the first makes a capture, and another client's requests go on
/// meanwhile; the second pays nothing more.
fn plays(shell: Shell, act: &Act) -> Result<(), String> {
    let (sets, tells) = if shell == FISH {
        ("set -g FROM_RC 1", "set -q FROM_RC; and echo 1; or echo bare")
    } else {
        ("FROM_RC=1", "echo \"${FROM_RC-bare}\"")
    };
    let text = format!("{}{sets}\n", act.text);
    let home = Home::new(&[(startup_file(shell), &text)]);
    let temporary = Home::new(&[]);
    let place = |name: &str| temporary.path(name).to_str().unwrap().to_owned();
    for folder in ["tmp", "run", "cache"] {
        fs::create_dir(temporary.path(folder)).unwrap();
    }
    let server = Server::builder()
        .env("TMPDIR", &place("tmp"))
        .env("XDG_RUNTIME_DIR", &place("run"))
        .env("XDG_CACHE_HOME", &place("cache"))
        .start();
    // What the first capture of that shell leaves for all that follow is there; no state is.
    let other = Home::new(&[]);
    server.ok("shellSnapshot/prewarm", other.params(shell));
    assert_eq!(server.ok("shellSnapshot/invalidate", json!({}))["dropped"], 1);
    server.assert_works();
    let descriptors = server.descriptors();
    let mut wrong = Vec::new();
    for (at, limit) in [(1, act.within), (2, Duration::from_secs(5))] {
        let began = Instant::now();
        let command = home.command(shell, &format!("echo out; echo error >&2; {tells}"));
        let (process, start) = server.spawn_later(command);
        let mut slowest = Duration::ZERO;
        // Now and then, so that it is not the pings that keep the machine busy.
        let reply = loop {
            if let Some(reply) = server.reply_if_within(&start, PING_EVERY) {
                break reply;
            }
            slowest = slowest.max(server.ping());
            assert!(began.elapsed() < ATTEMPT * 2, "no reply to a start");
        };
        if reply.get("result").is_none() {
            wrong.push(format!("{at}: {reply}"));
            continue;
        }
        let exit = process.closed();
        let took = began.elapsed();
        if slowest > ROUND_TRIP {
            wrong.push(format!("{at}: another request took {slowest:?}"));
        }
        if took > limit {
            wrong.push(format!("{at}: the command took {took:?}, not {limit:?}"));
        }
        let stdout = String::from_utf8_lossy(&process.stream("stdout")).into_owned();
        let stderr = String::from_utf8_lossy(&process.stream("stderr")).into_owned();
        let expected = if act.used { "out\n1\n" } else { "out\nbare\n" };
        if stdout != expected || exit != 0 {
            wrong.push(format!("{at}: stdout {stdout:?}, exit code {exit}"));
        }
        let notice = "exec-server: running without your shell's startup files: ";
        let is_told = stderr.strip_suffix("error\n").is_some_and(|before| {
            before.is_empty() || !act.used && before.starts_with(notice) && before.lines().count() == 1
        });
        if !is_told {
            wrong.push(format!("{at}: stderr {stderr:?}"));
        }
    }
    // Nothing of the capture is left, once its state is dropped.
    server.ok("shellSnapshot/invalidate", json!({}));
    if eventually(Duration::from_secs(5), || {
        (server.descriptors() <= descriptors).then_some(())
    })
    .is_none()
    {
        wrong.push(format!(
            "{} descriptors, {descriptors} before",
            server.descriptors()
        ));
    }
    let left = server.processes();
    let own = [Some(server.pid()), server.warden()];
    let gone = eventually(Duration::from_secs(5), || {
        let mut others = server.processes().into_iter();
        others.all(|pid| own.contains(&Some(pid))).then_some(())
    });
    if gone.is_none() {
        let arguments: Vec<_> = left.into_iter().map(exec_tests::procfs::arguments).collect();
        wrong.push(format!("still running: {arguments:?}"));
    }
    // Exit status 0, no process.
    server.finish();
    for folder in ["tmp", "run", "cache"] {
        let left = names(&temporary.path(folder));
        if !left.is_empty() {
            wrong.push(format!("left in {folder}: {left:?}"));
        }
    }
    let mut files = names(home.dir());
    // fish keeps what it has by itself there.
    for known in [
        startup_file(shell).split('/').next().unwrap(),
        "nine",
        ".local",
        ".cache",
    ] {
        files.remove(known);
    }
    if !files.is_empty() {
        wrong.push(format!("left in the home: {files:?}"));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{}, a startup file that {}: {wrong:#?}",
            shell.name, act.what
        ))
    }
}

/// Plays all of them, so many at a time.
fn play_all(shell: Shell, acts: &[Act], at_a_time: usize) {
    ours_only!();
    let mut wrong = Vec::new();
    for group in acts.chunks(at_a_time) {
        std::thread::scope(|scope| {
            let played: Vec<_> = group
                .iter()
                .map(|act| scope.spawn(move || plays(shell, act)))
                .collect();
            for thread in played {
                match thread.join() {
                    Ok(Ok(())) => {}
                    Ok(Err(told)) => wrong.push(told),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bash_that_misbehaves() {
    play_all(BASH, ACTS, 1);
}

#[test]
fn bash_that_misbehaves_as_only_bash_can() {
    play_all(
        BASH,
        &[
            act(
                "closes every descriptor it knows of",
                "for fd in {0..255}; do eval \"exec $fd>&-\"; done\n",
                true,
                ATTEMPT,
            ),
            act(
                "closes every descriptor",
                "for fd in {0..1023}; do eval \"exec $fd>&-\"; done\n",
                false,
                ATTEMPT,
            ),
            act(
                "becomes another program that fails, if it is interactive",
                "case $- in *i*) exec false ;; esac\n",
                true,
                AT_ONCE,
            ),
            act("opens few files", "ulimit -n 8\n", true, AT_ONCE),
            act("writes no files", "ulimit -f 0\n", true, AT_ONCE),
            act("is restricted", "set -r\n", true, AT_ONCE),
            act(
                "is picky",
                "set -euo pipefail; shopt -s nullglob failglob\n",
                true,
                AT_ONCE,
            ),
            act("has no PATH", "PATH=\n", true, AT_ONCE),
            act(
                "has no home",
                "unset HOME; cd /; HOME=/nonexistent\n",
                true,
                AT_ONCE,
            ),
            act(
                "traps whatever it can",
                "trap 'echo noise' EXIT DEBUG RETURN ERR CHLD TERM HUP INT; trap 'exit 9' USR1\n",
                true,
                AT_ONCE,
            ),
            act(
                "starts a shell that waits for words",
                "bash --norc -i; bash --norc; sh\n",
                true,
                ATTEMPT,
            ),
            act(
                "leaves helpers in groups and sessions of their own",
                "set -m; sleep 1000 & set +m; (setsid sh -c 'trap \"\" TERM; exec sleep 1000' &) ; exit 7\n",
                false,
                AT_ONCE,
            ),
        ],
        1,
    );
}

#[test]
fn a_startup_file_that_hangs_is_paid_for_once_whatever_the_directory_and_environment() {
    ours_only!();
    let home = Home::new(&[(".bash_profile", "echo run >>~/runs; exec sleep 1000\n")]);
    let elsewhere = Home::new(&[]);
    let server = Server::start();
    let failed = server.refused(
        "shellSnapshot/prewarm",
        home.params(BASH),
        -32603,
        "snapshotFailed",
    );
    assert_eq!(failed["data"]["reason"], "timeout", "{failed}");
    let runs = home.lines("runs");
    for launch in [
        home.command(BASH, "echo out"),
        home.command(BASH, "echo out").cwd(elsewhere.dir()),
        home.command(BASH, "echo out").env("ANOTHER", "1"),
        home.command(BASH, "echo out").tty(),
    ] {
        let began = Instant::now();
        let process = server.spawn(launch);
        assert_eq!(process.closed(), 0);
        assert!(process.text().contains("out\n"), "{}", process.text());
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    }
    assert_eq!(home.lines("runs"), runs);
    // Until the file changes.
    home.write(".bash_profile", "f() { echo f; }\n");
    assert_eq!(server.run(home.command(BASH, "f")), (0, b"f\n".to_vec()));
}

#[test]
fn bash_that_hangs() {
    play_all(BASH, HANGS, HANGS.len());
}

#[test]
fn zsh_that_misbehaves() {
    play_all(ZSH, ACTS, 1);
}

#[test]
fn zsh_that_misbehaves_as_only_zsh_can() {
    play_all(
        ZSH,
        &[act(
            "closes every descriptor it knows of",
            "for fd in {3..255}; do exec {fd}>&-; done 2>/dev/null\n",
            true,
            AT_ONCE,
        )],
        1,
    );
}

#[test]
fn zsh_that_hangs() {
    play_all(ZSH, HANGS, HANGS.len());
}

#[test]
fn dash_that_misbehaves() {
    play_all(SH, ACTS, 1);
}

#[test]
fn dash_that_hangs() {
    play_all(SH, HANGS, HANGS.len());
}

#[test]
fn fish_that_misbehaves() {
    play_all(
        FISH,
        &[
            act("exits with an error", "exit 7\n", false, AT_ONCE),
            act("exits", "exit 0\n", false, AT_ONCE),
            act("becomes another program", "exec true\n", false, AT_ONCE),
            act("kills its shell", "kill -9 $fish_pid\n", false, AT_ONCE),
            act(
                "floods",
                "yes noise | head -c 2000000; yes noise | head -c 2000000 >&2\n",
                true,
                ATTEMPT,
            ),
            act("backgrounds writers", "yes noise &\n", true, AT_ONCE),
            act(
                "reads from the terminal",
                "read -l answer; cat </dev/tty >/dev/null\n",
                true,
                AT_ONCE,
            ),
        ],
        1,
    );
}

#[test]
fn fish_that_hangs() {
    play_all(
        FISH,
        &[
            act("hangs", "sleep 1000\n", false, ATTEMPT),
            act("spins", "while true; end\n", false, ATTEMPT),
            act("floods for ever", "yes noise\n", false, ATTEMPT),
            act("becomes a sleeper", "exec sleep 1000\n", false, ATTEMPT),
        ],
        4,
    );
}
