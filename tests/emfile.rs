//! Out of descriptors: starts fail with an error, nothing else does, and it passes.

use exec_tests::{Server, helper, marker, ours};

#[test]
fn pressure_is_survived() {
    let server = Server::builder().option("nofile=96:96").start();
    let mark = marker();
    let (mut live, mut refused) = (Vec::new(), 0);
    for i in 0..70 {
        match server.try_spawn(helper(&["sleep", &mark]).on(i % 2 == 1)) {
            Ok(process) => live.push(process),
            Err(error) => {
                refused += 1;
                if ours() {
                    assert_eq!(
                        (&error["code"], &error["data"]["kind"]),
                        (&(-32603).into(), &"spawnFailed".into())
                    );
                    assert_eq!(error["data"]["errno"], "EMFILE", "{error}");
                }
            }
        }
    }
    assert!(refused > 0 || live.len() == 70);
    // What runs is untouched.
    assert_eq!(server.marked(&mark).len(), live.len());
    for process in &live {
        assert!(process.terminate());
    }
    for process in &live {
        process.closed();
    }
    for _ in 0..5 {
        server.assert_works();
    }
}

#[test]
fn the_limit_is_not_the_childrens() {
    let server = Server::builder().option("nofile=128:4096").start();
    let (code, output) = server.run(exec_tests::sh("ulimit -Sn; ulimit -Hn"));
    assert_eq!((code, output), (0, b"128\n4096\n".to_vec()));
    // The daemon may raise its own soft limit: 60 processes fit, whatever they need.
    exec_tests::ours_only!();
    let mark = marker();
    let live: Vec<_> = (0..60).map(|_| server.spawn(helper(&["sleep", &mark]))).collect();
    assert_eq!(live.len(), 60);
}
