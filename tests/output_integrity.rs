//! Every byte a process prints arrives once, in order and unchanged.

use exec_tests::{Server, helper, ours_only, program};
use serde_json::json;

/// Bytes with every value and no pattern, the same at every run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut bytes: Vec<u8> = (0..=255).collect();
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[test]
fn nothing_is_lost_at_exit() {
    let server = Server::start();
    let body = "x".repeat(5000) + "END\n";
    let all: Vec<_> = (0..80)
        .map(|_| server.spawn(program(&["/usr/bin/printf", "%s", &body])))
        .collect();
    for process in all {
        assert_eq!(
            (process.closed(), process.stream("stdout").len()),
            (0, body.len())
        );
        assert_eq!(process.output(), body.as_bytes());
    }
}

#[test]
fn large_output_through_a_pipe() {
    let server = Server::builder().count_only().start();
    let length = 64 << 20;
    let process = server.spawn(helper(&["zeros", &length.to_string(), "0"]));
    process.closed_within(std::time::Duration::from_secs(120));
    assert_eq!(process.stream_length("stdout"), length);
}

#[test]
fn large_output_through_a_terminal() {
    let server = Server::start();
    let process = server.spawn(helper(&["numbers", "1048576", "raw"]).tty());
    process.closed_within(std::time::Duration::from_secs(120));
    let output = process.stream("pty");
    assert_eq!(output.len(), 8 << 20);
    let wrong = output
        .chunks(8)
        .enumerate()
        .find(|(i, line)| *line != format!("{i:07}\n").as_bytes());
    assert_eq!(wrong, None);
}

#[test]
fn binary_through_a_pipe() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (path, data) = (folder.path().join("noise"), noise(1 << 20));
    std::fs::write(&path, &data).expect("written");
    let (code, output) = server.run(program(&["/bin/cat", &path.to_string_lossy()]));
    assert_eq!((code, output.len(), output == data), (0, data.len(), true));
}

#[test]
fn binary_through_a_raw_terminal() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (path, data) = (folder.path().join("noise"), noise(200_000));
    std::fs::write(&path, &data).expect("written");
    let script = format!("stty raw -echo -opost; cat {}", path.display());
    let (code, output) = server.run(exec_tests::sh(&script).tty());
    assert_eq!((code, output.len(), output == data), (0, data.len(), true));
}

#[test]
fn characters_split_between_chunks() {
    let server = Server::start();
    let text = "cleanup — 🎉 end";
    let parts: Vec<String> = text.bytes().map(|b| format!("{b:02x}")).collect();
    let args: Vec<&str> = ["trickle", "2"]
        .into_iter()
        .chain(parts.iter().map(String::as_str))
        .collect();
    for tty in [false, true] {
        let (code, output) = server.run(helper(&args).on(tty));
        assert_eq!(
            (code, String::from_utf8_lossy(&output).as_ref()),
            (0, text),
            "tty: {tty}"
        );
    }
}

#[test]
fn bytes_that_are_not_utf8() {
    let server = Server::start();
    for tty in [false, true] {
        let (code, output) = server.run(helper(&["trickle", "0", "fffec0afeda080"]).on(tty));
        assert_eq!(
            (code, output),
            (0, b"\xff\xfe\xc0\xaf\xed\xa0\x80".to_vec()),
            "tty: {tty}"
        );
    }
}

#[test]
fn both_streams_flooded_at_once() {
    let server = Server::builder().count_only().start();
    let process = server.spawn(helper(&["zeros", "4000000", "4000000"]));
    assert_eq!(process.closed(), 0);
    assert_eq!(
        (process.stream_length("stdout"), process.stream_length("stderr")),
        (4_000_000, 4_000_000)
    );
}

#[test]
fn closed_says_how_much_came_and_that_nothing_was_dropped() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["zeros", "300000", "70000"]));
    let closed = process.closed_params();
    assert_eq!(closed["outputBytes"], 370_000, "{closed}");
    assert_eq!(closed["droppedBytes"], 0, "{closed}");
    assert_eq!(closed["tree"], json!("ended"), "{closed}");
}
