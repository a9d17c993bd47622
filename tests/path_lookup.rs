//! A program without a slash is looked up on the child's own PATH.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use exec_tests::{Server, program};

#[test]
fn the_childs_path_decides() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("only-here");
    fs::write(&script, "#!/bin/sh\necho found\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("chmod");
    for tty in [false, true] {
        let path = format!("{}:/bin", folder.path().display());
        let process = server.spawn(program(&["only-here"]).env("PATH", &path).on(tty));
        assert_eq!((process.closed(), process.text().as_str()), (0, "found\n"));
        server.start_refused(program(&["only-here"]).on(tty), -32603, "spawnNotFound");
    }
}

#[test]
fn the_first_that_can_be_executed_wins() {
    let server = Server::start();
    let (first, second) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    fs::write(first.path().join("tool"), "#!/bin/sh\necho first\n").expect("written");
    let script = second.path().join("tool");
    fs::write(&script, "#!/bin/sh\necho second\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("chmod");
    let path = format!("{}:{}:/bin", first.path().display(), second.path().display());
    assert_eq!(
        server.run(program(&["tool"]).env("PATH", &path)),
        (0, b"second\n".to_vec())
    );
}

#[test]
fn arg0_is_what_the_process_sees() {
    let server = Server::start();
    let launch = program(&["/bin/sh", "-c", "tr '\\0' '\\n' < /proc/$$/cmdline"]).set("arg0", "-other");
    let (code, output) = server.run(launch);
    assert_eq!(
        (code, output.split(|b| *b == b'\n').next()),
        (0, Some(&b"-other"[..]))
    );
}
