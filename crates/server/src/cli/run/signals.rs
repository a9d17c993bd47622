//! The signals that are passed on to the command.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Passed on; once the command has exited, it ends this process.
    End,
    /// Passed on.
    PassOn,
    /// The command stops, then this process.
    Stop,
    /// This process was continued, so the command is.
    Continue,
    /// The local terminal has another size.
    Resize,
}

/// A signal that is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caught {
    pub(super) name: &'static str,
    pub(super) number: u8,
    pub(super) meaning: Meaning,
}

const fn caught(name: &'static str, number: i32, meaning: Meaning) -> Caught {
    // Standard signals are 1 to 31.
    let number = number as u8;
    Caught {
        name,
        number,
        meaning,
    }
}

/// All that are caught, in the order they are looked at.
const ALL: [Caught; 9] = [
    caught("SIGHUP", rustix::process::Signal::HUP.as_raw(), Meaning::End),
    caught("SIGTERM", rustix::process::Signal::TERM.as_raw(), Meaning::End),
    caught("SIGQUIT", rustix::process::Signal::QUIT.as_raw(), Meaning::End),
    caught("SIGINT", rustix::process::Signal::INT.as_raw(), Meaning::End),
    caught("SIGUSR1", rustix::process::Signal::USR1.as_raw(), Meaning::PassOn),
    caught("SIGUSR2", rustix::process::Signal::USR2.as_raw(), Meaning::PassOn),
    caught("SIGTSTP", rustix::process::Signal::TSTP.as_raw(), Meaning::Stop),
    caught(
        "SIGCONT",
        rustix::process::Signal::CONT.as_raw(),
        Meaning::Continue,
    ),
    caught(
        "SIGWINCH",
        rustix::process::Signal::WINCH.as_raw(),
        Meaning::Resize,
    ),
];

/// The caught signals, as they come.
#[derive(Debug)]
pub(super) struct Signals(Vec<(Caught, Signal)>);

impl Signals {
    /// Catches every signal of the list that this process was not told to ignore: under nohup(1), or as a
    /// background job of a script, an ignored signal is meant to be ignored.
    pub(super) fn catch() -> io::Result<Self> {
        let ignored = ignored_signals();
        let wanted = ALL
            .into_iter()
            .filter(|caught| ignored & (1 << (caught.number - 1)) == 0);
        let signals = wanted.map(|caught| {
            let receiver = signal(SignalKind::from_raw(i32::from(caught.number)))?;
            Ok((caught, receiver))
        });
        signals.collect::<io::Result<_>>().map(Self)
    }

    /// The next one. Cancel-safe.
    pub(super) async fn next(&mut self) -> Caught {
        poll_fn(|context| {
            for (caught, receiver) in &mut self.0 {
                if receiver.poll_recv(context).is_ready() {
                    return Poll::Ready(*caught);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Bit N - 1 is set when signal N is ignored.
fn ignored_signals() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .map(|status| ignored_in(&status))
        .unwrap_or(0)
}

fn ignored_in(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        assert_eq!(
            ignored_in("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"),
            0x1001
        );
        assert_eq!(ignored_in("Name:\tx\n"), 0);
    }
}
