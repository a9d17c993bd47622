//! A command starts from the state of the user's own shell, and no startup file harms it.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use exec_tests::launch::file_uri;
use exec_tests::server::Ending;
use exec_tests::{Launch, Server, marker, ours_only, program};
use serde_json::{Value, json};

/// A home of its own.
struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            home.write(name, text);
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    /// How many lines a file has.
    fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.path(name)).map_or(0, |text| text.lines().count())
    }

    fn variables(&self) -> Value {
        json!({"HOME": self.0.path(), "PATH": "/usr/bin:/bin", "TERM": "dumb"})
    }

    /// A login shell's command in that home.
    fn bash(&self, script: &str) -> Launch {
        program(&["/bin/bash", "-lc", script])
            .set("env", self.variables())
            .set("cwd", file_uri(self.0.path()))
            .set("shellSnapshot", json!({"scopeId": "s", "shell": shell()}))
    }

    /// Params that have the same snapshot.
    fn params(&self) -> Value {
        json!({"scopeId": "s", "shell": shell(), "cwd": file_uri(self.0.path()), "env": self.variables()})
    }
}

fn shell() -> Value {
    json!({"name": "bash", "path": "/bin/bash"})
}

fn text(output: (i64, Vec<u8>)) -> (i64, String) {
    (output.0, String::from_utf8_lossy(&output.1).into_owned())
}

#[test]
fn startup_files_run_once_and_every_command_has_what_they_made() {
    ours_only!();
    let home = Home::new(&[(
        ".bashrc",
        "case $- in *i*) ;; *) return;; esac\n\
         echo noise; echo run >>~/runs\n\
         greet() { echo \"hello $1\"; }\nalias hi='greet you'\nexport FROM_RC='a b'\nlocal_one=1\n",
    )]);
    let server = Server::start();
    for _ in 0..3 {
        let launch = home.bash("hi; echo \"$FROM_RC $local_one\"; ls /proc/self/fd | wc -l");
        assert_eq!(text(server.run(launch)), (0, "hello you\na b 1\n4\n".to_owned()));
    }
    assert_eq!(home.lines("runs"), 1);
}

#[test]
fn a_startup_file_that_holds_a_lock_on_a_descriptor_of_its_choice_keeps_its_state() {
    ours_only!();
    let home = Home::new(&[(
        ".bashrc",
        "for number in 9 20 42 50 99 100 128 199 200 201 222 250 254; do\n\
         eval \"exec $number>~/lock\"; flock -n \"$number\"; exec {other}>&1; done\nf() { echo f; }\n",
    )]);
    let server = Server::start();
    assert_eq!(text(server.run(home.bash("f"))), (0, "f\n".to_owned()));
}

#[test]
fn the_change_of_a_startup_file_is_seen_by_the_next_command() {
    ours_only!();
    let home = Home::new(&[(".bashrc", ". ~/.aliases\n")]);
    let server = Server::start();
    let run = || text(server.run(home.bash("type f >/dev/null 2>&1 && f || echo none")));
    assert_eq!(run(), (0, "none\n".to_owned()));
    home.write(".aliases", "f() { echo one; }\n");
    assert_eq!(run(), (0, "one\n".to_owned()));
    home.write(".aliases", "f() { echo changed; }\n");
    assert_eq!(run(), (0, "changed\n".to_owned()));
}

#[test]
fn a_prewarmed_snapshot_is_described_and_dropped() {
    ours_only!();
    let home = Home::new(&[(
        ".bashrc",
        // Whatever this machine's own startup files define: a system's bash-completion has some two hundred functions.
        "unset -f $(compgen -A function); unalias -a\n\
         echo run >>~/runs\nf() { :; }\nalias a=b\nexport SECRET_OF_MINE=value-to-hide\n",
    )]);
    let server = Server::start();
    let warm = server.ok("shellSnapshot/prewarm", home.params());
    assert_eq!(
        (&warm["functions"], &warm["aliases"]),
        (&json!(1), &json!(1)),
        "{warm}"
    );
    assert!(
        warm["stateBytes"].as_u64() > Some(0) && warm["durationMs"].is_u64(),
        "{warm}"
    );
    server.run(home.bash("f"));
    assert_eq!(home.lines("runs"), 1);

    let told = server.ok("shellSnapshot/describe", home.params());
    assert_eq!(told["availability"], "prewarm_ready", "{told}");
    assert_eq!(told["failure"], Value::Null);
    let snapshot = &told["snapshot"];
    assert_eq!(snapshot["functions"], json!(["f"]), "{told}");
    assert_eq!(snapshot["aliases"], json!(["a"]));
    assert!(
        snapshot["exported"]
            .as_array()
            .unwrap()
            .contains(&json!("SECRET_OF_MINE"))
    );
    assert_eq!(snapshot["replay"], "file");
    assert!(!told.to_string().contains("value-to-hide"));
    let bashrc = json!({"path": file_uri(&home.path(".bashrc")), "present": true});
    assert!(
        told["watchedFiles"].as_array().unwrap().contains(&bashrc),
        "{told}"
    );

    assert_eq!(
        server.ok("shellSnapshot/invalidate", json!({"scopeId": "t"})),
        json!({"dropped": 0})
    );
    assert_eq!(
        server.ok("shellSnapshot/invalidate", json!({})),
        json!({"dropped": 1})
    );
    let told = server.ok("shellSnapshot/describe", home.params());
    assert_eq!(
        (&told["availability"], &told["snapshot"]),
        (&json!("on_demand"), &Value::Null)
    );
    server.run(home.bash("f"));
    assert_eq!(home.lines("runs"), 2);
}

#[test]
fn a_startup_that_fails_costs_a_command_its_state_and_nothing_else() {
    ours_only!();
    let home = Home::new(&[(".bash_profile", "echo run >>~/runs; exit 7\n")]);
    let server = Server::start();
    let error = server.refused("shellSnapshot/prewarm", home.params(), -32603, "snapshotFailed");
    assert_eq!(error["data"]["reason"], "nonzero_exit", "{error}");
    for tty in [false, true] {
        let process = server.spawn(home.bash("echo \"$0 $- $LINENO\"; echo error >&2").on(tty));
        assert_eq!(process.closed(), 0);
        let notice = "exec-server: running without your shell's startup files: \
                      a startup file ended the shell with an error";
        if tty {
            let want = format!("{notice}\r\n/bin/bash hBc 1\r\nerror\r\n");
            assert_eq!(String::from_utf8(process.output()).unwrap(), want);
        } else {
            let stream = |name| String::from_utf8(process.stream(name)).unwrap();
            assert_eq!(stream("stdout"), "/bin/bash hBc 1\n");
            assert_eq!(stream("stderr"), format!("{notice}\nerror\n"));
        }
    }
    // The prewarm and the first command's; the second shares its failure.
    assert_eq!(home.lines("runs"), 2);
}

#[test]
fn a_startup_that_fails_only_when_interactive_leaves_the_normal_one() {
    ours_only!();
    let home = Home::new(&[
        (".bash_profile", "export NORMAL=1\n. ~/.bashrc\n"),
        (".bashrc", "case $- in *i*) kill -9 $$;; esac\n"),
    ]);
    let server = Server::start();
    // Killed, so a try follows that is not interactive; that one has state.
    assert_eq!(text(server.run(home.bash("echo $NORMAL"))), (0, "1\n".to_owned()));
}

#[test]
fn a_capture_delays_no_other_request_and_can_be_given_up() {
    ours_only!();
    let marker = marker();
    let home = Home::new(&[(".bashrc", &format!("exec -a {marker} sleep 1000\n"))]);
    let server = Server::start();
    let began = Instant::now();
    let (hanging, start) = server.spawn_later(home.bash("echo x").id("hangs"));
    for _ in 0..3 {
        server.ping();
        assert_eq!(
            text(server.run(program(&["/bin/echo", "free"]))),
            (0, "free\n".to_owned())
        );
    }
    server.notify("$/cancelRequest", json!({"id": start}));
    assert_eq!(server.reply(&start)["error"]["code"], -32800);
    // Its id is free again.
    let (_, again) = server.spawn_later(home.bash("echo x").id("hangs"));
    server.ping();
    assert_eq!(server.reply_now(&again), None);
    assert!(!hanging.terminate() || began.elapsed() < Duration::from_secs(8));
    let error = server.reply(&again);
    assert_eq!(
        error["error"]["data"]["kind"], "terminatedWhileStarting",
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn a_repeated_start_is_the_same_process() {
    ours_only!();
    let home = Home::new(&[(".bashrc", "f() { echo f; }\n")]);
    let server = Server::start();
    let launch = || home.bash("f").set("startId", "once").params("p");
    let first = server.post("process/start", launch());
    let second = server.post("process/start", launch());
    let (first, second) = (server.reply(&first), server.reply(&second));
    assert_eq!(first["result"], second["result"]);
    assert!(first["result"]["pid"].is_u64(), "{first}");
    assert_eq!(server.process("p").closed(), 0);
    assert_eq!(server.process("p").output(), b"f\n");
}

#[test]
fn what_names_no_scope_or_no_shell_is_refused() {
    ours_only!();
    let home = Home::new(&[]);
    let server = Server::start();
    for (scope, name, member) in [
        (String::new(), "bash", "scopeId"),
        ("x".repeat(257), "bash", "scopeId"),
        ("s".to_owned(), "tcsh", "shell.name"),
    ] {
        let asked = json!({"scopeId": scope, "shell": {"name": name, "path": "/bin/bash"}});
        let launch = home.bash("true").set("shellSnapshot", asked.clone());
        let error = server.start_refused(launch, -32602, "invalidParam");
        assert_eq!(
            error["data"]["member"],
            format!("shellSnapshot.{member}"),
            "{error}"
        );
        for method in ["shellSnapshot/prewarm", "shellSnapshot/describe"] {
            let mut params = home.params();
            params["scopeId"] = asked["scopeId"].clone();
            params["shell"] = asked["shell"].clone();
            let error = server.refused(method, params, -32602, "invalidParam");
            assert_eq!(error["data"]["member"], member, "{error}");
        }
    }
}

#[test]
fn the_environment_is_the_requests_then_the_users_then_the_overrides() {
    ours_only!();
    let home = Home::new(&[(
        ".bash_profile",
        "export PROFILE_ALLOWED=1 PROFILE_DENIED=1 PROFILE_SECRET=1 MY_PATH=/mine:$MY_PATH\nunset GIVEN\ncd /\n",
    )]);
    let server = Server::start();
    let script = "echo \"$PROFILE_ALLOWED,$PROFILE_DENIED,$PROFILE_SECRET,$MY_PATH,$GIVEN,${PWD##*/}\"";
    let name = home.0.path().file_name().unwrap().to_str().unwrap();
    // Without a policy, env is what startup files were given.
    let launch = home.bash(script).env("GIVEN", "1").env("MY_PATH", "/bin");
    assert_eq!(
        text(server.run(launch)),
        (0, format!("1,1,1,/mine:/bin,,{name}\n"))
    );
    // With one, it is a list of overrides.
    for inherit in ["all", "core", "none"] {
        let policy =
            json!({"inherit": inherit, "exclude": ["PROFILE_DENIED"], "set": {"PROFILE_ALLOWED": "set"}});
        let launch = home
            .bash(script)
            .env("GIVEN", "1")
            .env("MY_PATH", "/bin")
            .set("envPolicy", policy);
        assert_eq!(
            text(server.run(launch)),
            (0, format!("set,,,/bin,1,{name}\n")),
            "{inherit}"
        );
    }
}

#[test]
fn a_counter_of_the_client_does_not_defeat_the_cache() {
    ours_only!();
    let home = Home::new(&[(".bashrc", "echo run >>~/runs\nf() { echo f; }\n")]);
    let server = Server::start();
    for call in 1..=6 {
        let launch = home
            .bash("f; echo $CALL_NUMBER")
            .env("CALL_NUMBER", &call.to_string())
            .set("metadata", json!({"toolCallId": format!("call-{call}")}));
        assert_eq!(text(server.run(launch)), (0, format!("f\n{call}\n")));
    }
    assert_eq!(
        home.lines("runs"),
        2,
        "the second call shows that it makes no difference"
    );
}

#[test]
fn a_startup_file_that_is_written_anew_by_another_is_captured_once() {
    ours_only!();
    let home = Home::new(&[(
        ".bashrc",
        "echo run >>~/runs\necho 'f() { echo f; }' >~/.made\n. ~/.made\n",
    )]);
    let server = Server::start();
    for _ in 0..4 {
        assert_eq!(text(server.run(home.bash("f"))), (0, "f\n".to_owned()));
    }
    // Once more than once: it was not there at first.
    assert_eq!(home.lines("runs"), 2);
}

#[test]
fn the_end_of_the_session_ends_a_capture() {
    ours_only!();
    let marker = marker();
    let home = Home::new(&[(".bashrc", &format!("exec -a {marker} sleep 1000\n"))]);
    let server = Server::start();
    let _start = server.post("process/start", home.bash("true").params("p"));
    server.await_marked(&marker, 1);
    server.close_stdin();
    assert_eq!(server.await_end(Duration::from_secs(5)), Some(Ending::Exit(0)));
    server.assert_none_marked(&marker, Duration::ZERO);
}

#[test]
fn no_startup_file_runs_where_they_fail_whatever_the_shell() {
    ours_only!();
    for (name, path, file, fails) in [
        ("bash", "/bin/bash", ".bash_profile", "exit 7\n"),
        ("zsh", "/usr/bin/zsh", ".zshenv", "exit 7\n"),
        ("sh", "/bin/sh", ".profile", "exit 7\n"),
    ] {
        if !PathBuf::from(path).exists() {
            continue;
        }
        let home = Home::new(&[(file, fails)]);
        let server = Server::start();
        let process = server.spawn(home.bash("").set("argv", json!([path, "-lc", "echo alive"])).set(
            "shellSnapshot",
            json!({"scopeId": "s", "shell": {"name": name, "path": path}}),
        ));
        assert_eq!(
            (process.closed(), process.stream("stdout")),
            (0, b"alive\n".to_vec()),
            "{name}"
        );
    }
}
