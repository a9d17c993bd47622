//! Which server is driven, and where the helper program is.

use std::path::PathBuf;
use std::sync::OnceLock;

/// The folder the tests were built into.
fn build_dir() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    test.parent()
        .and_then(|deps| deps.parent())
        .expect("a test binary lives in target/PROFILE/deps")
        .to_path_buf()
}

/// The helper program.
#[must_use]
pub fn helper_path() -> String {
    let path = build_dir().join("helper");
    assert!(
        path.exists(),
        "{} is missing: run `cargo build -p exec-tests`",
        path.display()
    );
    path.to_string_lossy().into_owned()
}

/// The server's command line: `EXEC_SERVER`, split at blanks, or the binary built beside the tests.
#[must_use]
pub fn server_command() -> &'static [String] {
    static COMMAND: OnceLock<Vec<String>> = OnceLock::new();
    COMMAND.get_or_init(|| {
        let given = std::env::var("EXEC_SERVER").unwrap_or_default();
        let command: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
        if !command.is_empty() {
            return command;
        }
        let path = build_dir().join("exec-server");
        assert!(
            path.exists(),
            "{} is missing: run `cargo build -p exec-server` (same profile), or set EXEC_SERVER",
            path.display()
        );
        vec![path.to_string_lossy().into_owned()]
    })
}

/// Whether the server is ours: then its additions are promises too.
#[must_use]
pub fn ours() -> bool {
    server_command()
        .first()
        .is_some_and(|program| program.rsplit('/').next() == Some("exec-server"))
}

/// Says on the real stderr (the test harness hides the other) that a test was skipped.
pub fn say_skipped(place: &str) {
    use std::io::Write;
    drop(writeln!(
        std::io::stderr(),
        "skipped: {place}: not promised by {:?}",
        server_command()[0]
    ));
}

/// Leaves a test that is about an addition of ours when another server is driven.
#[macro_export]
macro_rules! ours_only {
    () => {
        if !$crate::ours() {
            $crate::target::say_skipped(concat!(file!(), ":", line!()));
            return;
        }
    };
}
