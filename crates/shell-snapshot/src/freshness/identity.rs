//! What tells one version of a file from another, at the price of one stat(2).

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    regular: bool,
}

impl Identity {
    /// Looks at a file, through links; `None`: there is none, or it cannot be seen.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            regular: metadata.is_file(),
        })
    }

    /// Whether the two may hold the same text.
    pub(super) fn may_hold_the_same(&self, other: &Self) -> bool {
        self.regular && other.regular && self.size == other.size
    }

    /// Whether it can be read without waiting for anybody.
    pub(super) fn is_regular(&self) -> bool {
        self.regular
    }
}
