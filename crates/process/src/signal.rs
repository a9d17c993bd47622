//! Signals by name.

/// A signal number that the kernel knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(i32);

/// A name that is no signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0:?}, expected `interrupt`, a POSIX name such as `SIGTERM`, or `SIGRTMIN+n`")]
pub struct InvalidSignal(pub String);

/// Every signal of signal(7) with a name of its own, the usual name of a number first, its aliases after it.
const NAMES: &[(&str, i32)] = &[
    ("SIGHUP", libc::SIGHUP),
    ("SIGINT", libc::SIGINT),
    ("SIGQUIT", libc::SIGQUIT),
    ("SIGILL", libc::SIGILL),
    ("SIGTRAP", libc::SIGTRAP),
    ("SIGABRT", libc::SIGABRT),
    ("SIGIOT", libc::SIGIOT),
    ("SIGBUS", libc::SIGBUS),
    ("SIGFPE", libc::SIGFPE),
    ("SIGKILL", libc::SIGKILL),
    ("SIGUSR1", libc::SIGUSR1),
    ("SIGSEGV", libc::SIGSEGV),
    ("SIGUSR2", libc::SIGUSR2),
    ("SIGPIPE", libc::SIGPIPE),
    ("SIGALRM", libc::SIGALRM),
    ("SIGTERM", libc::SIGTERM),
    ("SIGSTKFLT", libc::SIGSTKFLT),
    ("SIGCHLD", libc::SIGCHLD),
    ("SIGCLD", libc::SIGCHLD),
    ("SIGCONT", libc::SIGCONT),
    ("SIGSTOP", libc::SIGSTOP),
    ("SIGTSTP", libc::SIGTSTP),
    ("SIGTTIN", libc::SIGTTIN),
    ("SIGTTOU", libc::SIGTTOU),
    ("SIGURG", libc::SIGURG),
    ("SIGXCPU", libc::SIGXCPU),
    ("SIGXFSZ", libc::SIGXFSZ),
    ("SIGVTALRM", libc::SIGVTALRM),
    ("SIGPROF", libc::SIGPROF),
    ("SIGWINCH", libc::SIGWINCH),
    ("SIGIO", libc::SIGIO),
    ("SIGPOLL", libc::SIGPOLL),
    ("SIGPWR", libc::SIGPWR),
    ("SIGSYS", libc::SIGSYS),
];

impl Signal {
    /// SIGTERM.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// SIGINT.
    pub const INT: Self = Self(libc::SIGINT);
    /// SIGKILL.
    pub const KILL: Self = Self(libc::SIGKILL);

    /// A number as wait(2) reports it.
    pub(crate) fn from_number(number: i32) -> Self {
        Self(number)
    }

    /// Reads `interrupt`, `SIGTERM`, `SIGRTMIN+3`, `SIGRTMAX-1`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(name: &str) -> Result<Self, InvalidSignal> {
        if name == "interrupt" {
            return Ok(Self::INT);
        }
        if let Some((_, number)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(Self(*number));
        }
        real_time(name)
            .map(Self)
            .ok_or_else(|| InvalidSignal(name.to_owned()))
    }

    /// The number.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Its name: `SIGTERM`, `SIGRTMIN+3`.
    #[must_use]
    pub fn name(self) -> String {
        if let Some((name, _)) = NAMES.iter().find(|(_, number)| *number == self.0) {
            return (*name).to_owned();
        }
        match self.0 - libc::SIGRTMIN() {
            0 => "SIGRTMIN".to_owned(),
            n if n > 0 && self.0 <= libc::SIGRTMAX() => format!("SIGRTMIN+{n}"),
            // 32 and 33 are the C library's own; they have no name.
            _ => format!("SIG{}", self.0),
        }
    }
}

/// Reads `SIGRTMIN`, `SIGRTMIN+n`, `SIGRTMAX` and `SIGRTMAX-n`.
fn real_time(name: &str) -> Option<i32> {
    let (min, max) = (libc::SIGRTMIN(), libc::SIGRTMAX());
    let number = if let Some(rest) = name.strip_prefix("SIGRTMIN") {
        min.checked_add(offset(rest, '+')?)?
    } else {
        max.checked_sub(offset(name.strip_prefix("SIGRTMAX")?, '-')?)?
    };
    (min..=max).contains(&number).then_some(number)
}

/// Reads nothing as 0, or the sign and digits.
fn offset(text: &str, sign: char) -> Option<i32> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix(sign)?;
    // `parse` would take a second sign.
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_given_back() {
        for (text, number, name) in [
            ("interrupt", 2, "SIGINT"),
            ("SIGTERM", 15, "SIGTERM"),
            ("SIGWINCH", 28, "SIGWINCH"),
            ("SIGIOT", 6, "SIGABRT"),
            ("SIGCLD", 17, "SIGCHLD"),
            ("SIGPOLL", 29, "SIGIO"),
            ("SIGRTMIN", libc::SIGRTMIN(), "SIGRTMIN"),
            ("SIGRTMIN+3", libc::SIGRTMIN() + 3, "SIGRTMIN+3"),
            ("SIGRTMAX-30", libc::SIGRTMAX() - 30, "SIGRTMIN"),
            ("SIGRTMAX", libc::SIGRTMAX(), "SIGRTMIN+30"),
        ] {
            let signal = Signal::parse(text).expect(text);
            assert_eq!(
                (signal.number(), signal.name().as_str()),
                (number, name),
                "{text}"
            );
        }
    }

    #[test]
    fn every_name_of_a_number_reads_back() {
        for number in (1..=libc::SIGRTMAX()).filter(|n| !(32..libc::SIGRTMIN()).contains(n)) {
            let signal = Signal::from_number(number);
            assert_eq!(Signal::parse(&signal.name()), Ok(signal));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "TERM",
            "sigterm",
            "SIGTERM ",
            "15",
            "SIG15",
            "SIGRTMIN+",
            "SIGRTMIN++1",
            "SIGRTMIN-1",
            "SIGRTMIN+31",
            "SIGRTMAX+1",
            "SIGRTMAX-31",
            "SIGRTMIN+99999999999",
            "INTERRUPT",
            "SIG32",
        ] {
            assert_eq!(Signal::parse(text), Err(InvalidSignal(text.to_owned())));
        }
    }
}
