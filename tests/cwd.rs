//! `cwd` is an absolute `file:` URI of a folder that exists.

use std::os::unix::ffi::OsStrExt;

use exec_tests::launch::file_uri;
use exec_tests::{Server, ours, program};

#[test]
fn missing_or_no_folder() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plain");
    std::fs::write(&file, "").expect("written");
    for path in [std::path::Path::new("/no/such/dir"), &file] {
        let error = server.start_refused(program(&["/bin/true"]).cwd(path), -32603, "spawnNotFound");
        if ours() {
            assert_eq!(error["data"]["subject"], "cwd", "{error}");
            assert_eq!(error["data"]["path"], file_uri(path), "{error}");
        }
    }
    server.assert_works();
}

#[test]
fn odd_names_survive() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let odd: [&[u8]; 5] = [b"a b", b"p%20q", "ünï".as_bytes(), b"q'#?", b"\xff\xfe"];
    for name in odd {
        let path = folder.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir(&path).expect("a folder");
        let (code, output) = server.run(program(&["/bin/pwd"]).cwd(&path));
        let mut expected = path.as_os_str().as_bytes().to_vec();
        expected.push(b'\n');
        assert_eq!((code, output), (0, expected));
    }
}

#[test]
fn no_native_and_no_relative_path() {
    let server = Server::start();
    for cwd in [
        "work",
        "/tmp",
        "",
        "http://localhost/tmp",
        "file:relative",
        "file://otherhost/tmp",
        "file:///a%00b",
        "file:///%zz",
    ] {
        let error = server.err(
            "process/start",
            program(&["/bin/true"]).set("cwd", cwd).params("bad"),
        );
        assert_eq!(error["code"], -32602, "{cwd}: {error}");
    }
    server.assert_works();
}

#[test]
fn a_program_with_a_slash_is_relative_to_cwd() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("/bin/echo", folder.path().join("here")).expect("symlink");
    let (code, output) = server.run(program(&["./here", "found"]).cwd(folder.path()));
    assert_eq!((code, output), (0, b"found\n".to_vec()));
}
