//! What a warden is told at its start, and how a replacement is told.

use std::ffi::OsStr;
use std::time::Duration;

/// The variable that tells a replacement its settings. No command is given it.
pub(crate) const SETTINGS: &str = "EXEC_SERVER_WARDEN";

/// What a warden is told at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) use_cgroup: bool,
    pub(super) daemon_gone_grace: Duration,
    /// The daemon's process id.
    pub(super) daemon: u32,
    /// RLIMIT_NOFILE the daemon was given: children get it.
    pub(super) open_files: [u64; 2],
}

impl Settings {
    /// The value of [`SETTINGS`] for a replacement.
    pub(super) fn for_replacement(&self) -> String {
        let Self {
            use_cgroup,
            daemon_gone_grace,
            daemon,
            open_files: [soft, hard],
        } = *self;
        format!(
            "{} {} {daemon} {soft} {hard}",
            u8::from(use_cgroup),
            daemon_gone_grace.as_millis()
        )
    }

    /// What [`Settings::for_replacement`] said to this process.
    pub(super) fn of_replacement() -> Option<Self> {
        Self::parse(&std::env::var_os(SETTINGS)?)
    }

    fn parse(value: &OsStr) -> Option<Self> {
        let mut numbers = value.to_str()?.split(' ').map(|text| text.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            use_cgroup: next()? == 1,
            daemon_gone_grace: Duration::from_millis(next()?),
            daemon: u32::try_from(next()?).ok()?,
            open_files: [next()?, next()?],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use std::time::Duration;

    #[test]
    fn settings_are_read_as_they_were_written() {
        let settings = Settings {
            use_cgroup: true,
            daemon_gone_grace: Duration::from_millis(500),
            daemon: 7,
            open_files: [1024, u64::MAX],
        };
        assert_eq!(settings.for_replacement(), "1 500 7 1024 18446744073709551615");
        assert_eq!(
            Settings::parse("1 500 7 1024 18446744073709551615".as_ref()),
            Some(settings)
        );
        assert_eq!(Settings::parse("1 500 7 1024".as_ref()), None);
        assert_eq!(Settings::parse("".as_ref()), None);
    }
}
