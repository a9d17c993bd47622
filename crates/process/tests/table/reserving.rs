//! Starts whose launch comes later.

use std::sync::Arc;

use exec_process::{Inherited, Rewrite, StartError};
use exec_protocol::process::WaitUntil;

use super::{Stage, in_time, pipe, shell, terminal};

pub(super) async fn all(stage: &Stage) {
    what_was_reserved_runs_rewritten(stage).await;
    what_is_ended_before_its_launch_never_runs(stage).await;
}

async fn what_was_reserved_runs_rewritten(stage: &Stage) {
    for on in [shell("echo plain"), terminal("echo plain")] {
        let id = format!("rewritten {:?}", on.stdio);
        let (mut state, write) = pipe();
        let rewrite = Rewrite {
            argv: vec!["sh".into(), "-c".into(), "echo $WHAT; echo state >&9".into()],
            arg0: None,
            environment: [
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("WHAT".into(), "rewritten".into()),
            ]
            .into(),
            inherited: vec![Inherited {
                number: 9,
                descriptor: write,
            }],
            notice: "notice\n".into(),
        };
        let reserved = stage.table.reserve(id.as_str().into(), None, on);
        let reserved = reserved.expect("not refused");
        let process = Arc::clone(reserved.process());
        process.open_notifications();
        reserved.launch(Some(rewrite));
        assert_eq!(state.next().await.as_deref(), Some("state"));
        let told = stage.told(&process).await;
        // Of two pipes, either may be read first.
        let mut lines: Vec<_> = String::from_utf8_lossy(&told.output)
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        assert_eq!(
            (lines.join(" ").as_str(), told.exit_code),
            ("notice rewritten", 0)
        );
        assert_eq!(
            state.next().await,
            None,
            "nobody holds it any more, neither here nor in the warden"
        );
    }
}

async fn what_is_ended_before_its_launch_never_runs(stage: &Stage) {
    let directory = tempfile::tempdir().expect("tempdir");
    let witness = directory.path().join("witness");
    let script = format!("touch {}", witness.display());
    let reserved = stage.table.reserve("ended".into(), None, shell(&script));
    let reserved = reserved.expect("not refused");
    let process = Arc::clone(reserved.process());
    assert!(process.terminate(None));
    reserved.launch(None);
    assert_eq!(in_time(process.started()).await, Err(StartError::Terminated));
    // Another one through the same warden: it is asked for in order.
    let after = stage.start("after", shell("true"));
    stage.wait(&after, WaitUntil::TreeEnded).await;
    assert!(!witness.exists());
    stage.told(&after).await;
}
