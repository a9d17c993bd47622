//! What the warden is asked to start.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use exec_protocol::process::ResourceLimits;

use crate::Inherited;

/// Names one launch between daemon and warden; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaunchId(pub u64);

/// One command to start, all of it prepared.
#[derive(Debug)]
pub struct Launch {
    /// Its name.
    pub id: LaunchId,
    /// Paths to try in order, as execvp(3) does: one for a program with a slash.
    pub programs: Vec<CString>,
    /// argv.
    pub argv: Vec<CString>,
    /// `NAME=value`.
    pub environment: Vec<CString>,
    /// Working directory.
    pub cwd: CString,
    /// Descriptor 0; `None`: /dev/null. For a terminal the slave, which becomes 0, 1 and 2.
    pub stdin: Option<OwnedFd>,
    /// Descriptors 1 and 2; `None` for a terminal.
    pub output: Option<(OwnedFd, OwnedFd)>,
    /// The stdin descriptor is a PTY slave: make it the controlling terminal.
    pub terminal: bool,
    /// Resource limits.
    pub limits: ResourceLimits,
    /// Descriptors besides 0–2: [`MAX_INHERITED`](exec_protocol::limits::MAX_INHERITED) at most, each number once.
    pub inherited: Vec<Inherited>,
}
