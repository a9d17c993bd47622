//! What tells one version of a file from another, at the price of one stat(2).

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, makedev, openat2, statfs, statx,
};
use rustix::io::Errno;

/// File systems that have what they say of a file in memory or on this machine's disks, by the numbers of statfs(2):
/// ext2 to ext4, XFS, Btrfs, overlayfs, tmpfs, ramfs, F2FS, ZFS, bcachefs, SquashFS and EROFS.
const LOCAL: &[u64] = &[
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x794c_7630,
    0x0102_1994,
    0x8584_58f6,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x7371_7368,
    0xe0f5_e1e2,
];

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

    /// The same from what the kernel has in memory: never waits for a disk or a server. `None`: it would have to, or
    /// the kernel is older than 5.12. Of a file that is not on a local file system it may be long out of date.
    pub(super) fn at_a_glance(path: &Path) -> Option<Option<Self>> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::NOTDIR) => return Some(None),
            Err(_) => return None,
        };
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let status = statx(&file, c"", flags, StatxFlags::BASIC_STATS).ok()?;
        Some(Some(Self {
            device: makedev(status.stx_dev_major, status.stx_dev_minor),
            inode: status.stx_ino,
            size: status.stx_size,
            modified: (status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec.into()),
            regular: FileType::from_raw_mode(status.stx_mode.into()).is_file(),
        }))
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

/// Whether a file lies on a file system that is known to be local.
pub(super) fn is_local(path: &Path) -> bool {
    let local = |kind| LOCAL.contains(&kind);
    statfs(path).is_ok_and(|status| u64::try_from(status.f_type).is_ok_and(local))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_glance_sees_what_a_look_sees() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, absent] = ["file", "link", "absent"].map(|name| folder.path().join(name));
        fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [&*file, &link, &absent, folder.path(), &file.join("below")] {
            let looked = Identity::of(path);
            // Not every kernel and file system has what it takes.
            if let Some(glanced) = Identity::at_a_glance(path) {
                assert_eq!(glanced, looked, "{}", path.display());
            }
        }
        assert!(!is_local(Path::new("/proc/self")));
    }
}
