//! When the warden dies: the daemon ends what it gets back, and starts another.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use exec_protocol::limits::{WARDEN_SWEEP_MS, WARDEN_SWEEP_ROUND_MS};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::settings::{SETTINGS, Settings};
use super::{cgroup, tree};
use crate::sys;

/// The link between daemon and warden.
pub(super) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Kills every descendant of this process until none is left, and removes the lost warden's cgroups. What the
/// warden had comes to this process, its subreaper.
pub(super) async fn sweep(settings: &Settings) {
    let own_cgroup = if settings.use_cgroup {
        cgroup::own_cgroup()
    } else {
        None
    };
    let remove_cgroups = || {
        if let Some(own) = &own_cgroup {
            cgroup::remove_after_loss(own, settings.daemon);
        }
    };
    remove_cgroups();
    let (began, bound) = (Instant::now(), Duration::from_millis(WARDEN_SWEEP_MS));
    while began.elapsed() < bound {
        match kill_children() {
            Round::Empty => break,
            Round::Reaped => {}
            Round::Left => tokio::time::sleep(Duration::from_millis(WARDEN_SWEEP_ROUND_MS)).await,
        }
    }
    remove_cgroups();
}

/// What a round of killing found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// No child.
    Empty,
    /// Every child it found is reaped; what those had may have come here since it looked.
    Reaped,
    /// Some are not dead yet.
    Left,
}

/// One round: kills what descends from this process and reaps what is dead.
fn kill_children() -> Round {
    let own = std::process::id() as i32;
    let mut round = Round::Empty;
    for child in tree::children(own) {
        tree::signal_descendants(child, libc::SIGKILL, |_, _| true);
        // Not reaped before the next line: the number is its own.
        let _ = sys::kill(child, libc::SIGKILL);
        if sys::reap(child).is_none() {
            round = Round::Left;
        } else if round == Round::Empty {
            round = Round::Reaped;
        }
    }
    round
}

/// Starts another warden from this program. Gives the socket and its process id; it is not waited for.
pub(super) fn start_replacement(settings: &Settings) -> io::Result<(OwnedFd, i32)> {
    let (socket, other) = socket_pair()?;
    let child = Command::new("/proc/self/exe")
        .arg("warden")
        .env(SETTINGS, settings.for_replacement())
        .stdin(Stdio::from(other))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((socket, child.id() as i32))
}
