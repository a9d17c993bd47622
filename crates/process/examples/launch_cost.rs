//! Start to exit of `/bin/true`: posix_spawn(3) and waitpid(2) against a warden with cgroups and one with
//! keepers, interleaved in one run. Prints medians in microseconds and their ratios to the first.
//!
//! `cargo run --release -p exec-process --example launch_cost [ROUNDS]`

use std::ffi::CString;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exec_process::warden::{
    Exit, FirstWarden, Launch, LaunchFailure, LaunchId, Warden, WardenConfig, WardenEvents, run_replacement,
};
use exec_protocol::process::ResourceLimits;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

struct Exits(UnboundedSender<LaunchId>);

impl WardenEvents for Exits {
    fn started(&self, _: LaunchId, _: u32, _: Instant) {}
    fn failed(&self, id: LaunchId, failure: LaunchFailure) {
        panic!("{id:?}: {failure:?}");
    }
    fn exited(&self, id: LaunchId, exit: Exit) {
        assert_eq!(exit.code, Some(0));
        let _ = self.0.send(id);
    }
    fn tree_ended(&self, _: LaunchId) {}
    fn lost(&self) {
        panic!("the warden died");
    }
}

fn attach(first: FirstWarden) -> (Warden, UnboundedReceiver<LaunchId>) {
    let (sender, receiver) = unbounded_channel();
    (
        Warden::attach(first, Arc::new(Exits(sender))).expect("attach"),
        receiver,
    )
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

async fn launch(warden: &Warden, exits: &mut UnboundedReceiver<LaunchId>, id: u64) -> Duration {
    let began = Instant::now();
    let environment = std::env::vars()
        .map(|(name, value)| c(&format!("{name}={value}")))
        .collect();
    warden.launch(Launch {
        id: LaunchId(id),
        programs: vec![c("/bin/true")],
        argv: vec![c("true")],
        environment,
        cwd: c("/"),
        stdin: None,
        output: None,
        terminal: false,
        limits: ResourceLimits::default(),
        inherited: Vec::new(),
    });
    assert_eq!(exits.recv().await, Some(LaunchId(id)));
    began.elapsed()
}

unsafe extern "C" {
    static environ: *const *mut libc::c_char;
}

fn floor() -> Duration {
    let began = Instant::now();
    let (program, argument) = (c("/bin/true"), c("true"));
    let argv = [argument.as_ptr().cast_mut(), std::ptr::null_mut()];
    let (mut pid, mut status) = (0, 0);
    // SAFETY: path and arguments are NUL-terminated and outlive the call, as does the environment, which
    // nothing in this program changes; waitpid writes one int.
    unsafe {
        let spawned = libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            argv.as_ptr(),
            environ,
        );
        assert_eq!(spawned, 0);
        assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
    }
    began.elapsed()
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("warden") {
        run_replacement();
    }
    let rounds: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1000);
    let fork = |use_cgroup| {
        FirstWarden::fork(WardenConfig {
            use_cgroup,
            daemon_gone_grace: Duration::from_millis(100),
        })
        .expect("fork")
    };
    let (cgroup, keeper) = (fork(true), fork(false));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    runtime.block_on(async {
        let (cgroup, mut cgroup_exits) = attach(cgroup);
        let (keeper, mut keeper_exits) = attach(keeper);
        for round in 0..rounds + 50 {
            let measured = [
                floor(),
                launch(&cgroup, &mut cgroup_exits, round).await,
                launch(&keeper, &mut keeper_exits, round).await,
            ];
            // The first rounds warm caches up.
            if round >= 50 {
                for (list, time) in times.iter_mut().zip(measured) {
                    list.push(time);
                }
            }
        }
    });
    let medians = times.map(|mut list| {
        list.sort_unstable();
        list[list.len() / 2].as_secs_f64() * 1e6
    });
    let mut out = std::io::stdout();
    for (name, median) in ["posix_spawn", "cgroup", "subreaper"].iter().zip(medians) {
        let _ = writeln!(out, "{name:12} {median:8.0} µs  × {:.2}", median / medians[0]);
    }
}
