//! When the warden dies: the daemon ends what it gets back, and starts another.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use exec_protocol::limits::WARDEN_SWEEP_MS;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::main_loop::Settings;
use super::{cgroup, tracker, tree};
use crate::sys;

/// The variable that tells a replacement its settings. No command is given it.
pub(crate) const SETTINGS: &str = "EXEC_SERVER_WARDEN";
/// Between two rounds of it.
const SWEEP_ROUND: Duration = Duration::from_millis(2);

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
        tracker::own_cgroup()
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
            Round::Left => tokio::time::sleep(SWEEP_ROUND).await,
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
    let Settings {
        use_cgroup,
        daemon_gone_grace,
        daemon,
        open_files: [soft, hard],
    } = *settings;
    let value = format!(
        "{} {} {daemon} {soft} {hard}",
        u8::from(use_cgroup),
        daemon_gone_grace.as_millis()
    );
    let child = Command::new("/proc/self/exe")
        .arg("warden")
        .env(SETTINGS, value)
        .stdin(Stdio::from(other))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((socket, child.id() as i32))
}

/// What [`start_replacement`] said.
pub(super) fn settings_of_replacement() -> Option<Settings> {
    parse(&std::env::var_os(SETTINGS)?)
}

fn parse(value: &OsStr) -> Option<Settings> {
    let mut numbers = value.to_str()?.split(' ').map(|text| text.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    Some(Settings {
        use_cgroup: next()? == 1,
        daemon_gone_grace: Duration::from_millis(next()?),
        daemon: u32::try_from(next()?).ok()?,
        open_files: [next()?, next()?],
    })
}

#[cfg(test)]
mod tests {
    use super::{Settings, parse};
    use std::time::Duration;

    #[test]
    fn settings_are_read() {
        let settings = Settings {
            use_cgroup: true,
            daemon_gone_grace: Duration::from_millis(500),
            daemon: 7,
            open_files: [1024, u64::MAX],
        };
        assert_eq!(
            parse("1 500 7 1024 18446744073709551615".as_ref()),
            Some(settings)
        );
        assert_eq!(parse("1 500 7 1024".as_ref()), None);
        assert_eq!(parse("".as_ref()), None);
    }
}
