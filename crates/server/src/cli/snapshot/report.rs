//! What was found: what `--json` prints, and what a page is made of. Names, sizes and times, never a value.

use std::path::PathBuf;

use exec_protocol::snapshot::{Shell, SnapshotContents, SnapshotFailure};
use exec_shell_snapshot::ShellKind;
use serde::Serialize;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) shell: Shell,
    #[serde(skip)]
    pub(super) kind: ShellKind,
    pub(super) cwd: PathBuf,
    /// As in `shellSnapshot/describe`.
    pub(super) snapshot: Option<SnapshotContents>,
    pub(super) failure: Option<Failed>,
    pub(super) watched_files: Vec<File>,
    /// Of a second, traced run.
    pub(super) trace: Option<Traced>,
    /// Whether its times were asked for, and not only its end.
    #[serde(skip)]
    pub(super) is_profile: bool,
}

/// Why there is no snapshot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Failed {
    /// As in `snapshotFailed`.
    pub(super) reason: SnapshotFailure,
    /// The same for people.
    pub(super) message: String,
}

/// A file whose change ends the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) present: bool,
}

/// What a traced run showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Traced {
    pub(super) ending: Ending,
    /// From the first line of a startup file to the end.
    pub(super) total_micros: u64,
    /// Where the time went, most first.
    pub(super) files: Vec<FileTime>,
    /// The last line that was run.
    pub(super) last: Option<Place>,
    /// What is in the total, and after the end of a trace that startup files put an end to.
    pub(super) untraced_micros: u64,
}

/// How a traced run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Ending {
    /// All startup files were done.
    Complete,
    /// The shell ended before, or what it had become.
    #[serde(rename_all = "camelCase")]
    Exited { exit_code: i32 },
    /// It was ended.
    TimedOut,
}

/// A line of a startup file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u64,
}

/// The time that lines of a file took. What a function takes counts for the file that defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileTime {
    pub(super) path: String,
    pub(super) micros: u64,
    /// The line with the largest share, and what it took.
    pub(super) slowest_line: u64,
    pub(super) slowest_line_micros: u64,
}
