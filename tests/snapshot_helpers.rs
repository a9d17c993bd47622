//! What captures leave alive on purpose, as an agent for keys, is left alive: of so many captures, and no more.

use std::fs;
use std::time::Duration;

use exec_tests::{Home, SH, Server, eventually, ours_only};
use serde_json::json;

/// `SNAPSHOT_HELPERS` of docs/limits.md.
const HELPERS: usize = 64;

/// A helper in a session of its own. Its capture waits for it.
const STARTUP: &str =
    "rm -f ~/one; setsid sh -c 'echo $$ >~/one; cat ~/one >>~/pids; exec sleep 1000' >/dev/null 2>&1 &
until [ -s ~/one ]; do :; done
";

#[test]
fn the_helpers_of_the_oldest_captures_are_ended_when_too_many_captures_have_some() {
    ours_only!();
    let home = Home::new(&[(".profile", STARTUP)]);
    let server = Server::start();
    let capture = |number: usize| {
        let mut params = home.params(SH);
        params["scopeId"] = json!(format!("scope {number}"));
        server.ok("shellSnapshot/prewarm", params);
    };
    let alive = || -> Vec<bool> {
        let pids = fs::read_to_string(home.path("pids")).unwrap_or_default();
        pids.lines()
            .map(|pid| {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                !matches!(stat.rsplit(") ").next(), None | Some("")) && !stat.contains(") Z ")
            })
            .collect()
    };
    (0..HELPERS).for_each(capture);
    assert_eq!(alive(), vec![true; HELPERS]);
    capture(HELPERS);
    let mut wanted = vec![true; HELPERS + 1];
    wanted[0] = false;
    let limit = Duration::from_secs(10);
    let ended = eventually(limit, || (alive() == wanted).then_some(()));
    assert!(ended.is_some(), "the oldest helper, and no other: {:?}", alive());
    let told = eventually(limit, || {
        server.stderr().contains("too many have helpers").then_some(())
    });
    assert!(told.is_some(), "{}", server.stderr());
}
