//! A start that fails says what was missing, and leaves nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use exec_tests::launch::file_uri;
use exec_tests::{Server, ours, program};
use serde_json::json;

fn assert_path(error: &serde_json::Value, subject: &str, path: &std::path::Path) {
    if ours() {
        let data = &error["data"];
        assert_eq!(
            (&data["subject"], &data["path"]),
            (&json!(subject), &json!(file_uri(path))),
            "{error}"
        );
    }
}

#[test]
fn missing_program() {
    let server = Server::start();
    for tty in [false, true] {
        let error = server.start_refused(
            program(&["/no/such/program"]).on(tty).id("m"),
            -32603,
            "spawnNotFound",
        );
        assert_path(&error, "program", "/no/such/program".as_ref());
        // The id stayed free.
        assert_eq!(
            server
                .run(program(&["/bin/echo", "x"]).id(&format!("again{tty}")))
                .0,
            0
        );
    }
    assert_eq!(server.run(program(&["/bin/true"]).id("m")).0, 0);
}

#[test]
fn program_not_on_the_path() {
    let server = Server::start();
    server.start_refused(program(&["no-such-command-xyz"]), -32603, "spawnNotFound");
    server.assert_works();
}

#[test]
fn not_executable() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("plain.txt");
    fs::write(&plain, "hello\n").expect("written");
    for tty in [false, true] {
        for path in [plain.as_path(), folder.path()] {
            let launch = program(&[&path.to_string_lossy()]).on(tty);
            let error = server.start_refused(launch, -32603, "spawnPermissionDenied");
            assert_path(&error, "program", path);
        }
    }
    server.assert_works();
}

#[test]
fn missing_interpreter() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\necho hi\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("chmod");
    let error = server.start_refused(program(&[&script.to_string_lossy()]), -32603, "spawnNotFound");
    assert_path(&error, "interpreter", "/no/such/interpreter".as_ref());
    server.assert_works();
}

#[test]
fn a_script_without_an_interpreter_line_is_run_by_the_shell() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script");
    fs::write(&script, "echo \"shell $1\"\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("chmod");
    let (code, output) = server.run(program(&[&script.to_string_lossy(), "one"]));
    assert_eq!((code, output), (0, b"shell one\n".to_vec()));
}

#[test]
fn empty_argv_and_nul() {
    let server = Server::start();
    for argv in [json!([]), json!([""]), json!(["/bin/echo", "a\0b"])] {
        let error = server.err(
            "process/start",
            program(&[]).set("argv", argv.clone()).params("bad"),
        );
        let missing = argv == json!([""]);
        assert!(error["code"] == -32602 || missing, "{argv}: {error}");
    }
    exec_tests::ours_only!();
    let launch = program(&["/bin/true"]).env("A", "b\0c");
    server.start_refused(launch, -32602, "invalidParam");
    let error = server.start_refused(program(&["/bin/echo", "a\0b"]), -32602, "invalidParam");
    assert_eq!(error["data"]["member"], "argv[1]", "{error}");
    server.start_refused(
        program(&["/bin/true"]).set("arg0", "a\0b"),
        -32602,
        "invalidParam",
    );
}

#[test]
fn a_name_with_an_equals_sign() {
    exec_tests::ours_only!();
    let server = Server::start();
    for name in ["A=B", ""] {
        server.start_refused(program(&["/bin/true"]).env(name, "x"), -32602, "invalidParam");
    }
    server.assert_works();
}

#[test]
fn an_argument_list_that_is_too_long() {
    exec_tests::ours_only!();
    let server = Server::start();
    let long = "x".repeat(3 << 20);
    let error = server.start_refused(program(&["/bin/echo", &long]), -32603, "spawnFailed");
    assert_eq!(error["data"]["errno"], "E2BIG", "{error}");
    // As long as the kernel takes it, it arrives.
    let args: Vec<String> = (0..15)
        .map(|i| format!("{i}").repeat(100_000)[..100_000].to_owned())
        .collect();
    let mut argv = vec!["/bin/echo"];
    argv.extend(args.iter().map(String::as_str));
    let (code, output) = server.run(program(&argv));
    assert_eq!((code, output.len()), (0, 15 * 100_001));
}
