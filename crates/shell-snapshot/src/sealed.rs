//! State in a file without a name, which nobody can change.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags, fcntl_add_seals, memfd_create, open};

/// What the file is called where descriptors are shown.
const NAME: &str = "shell-state";

/// A sealed file.
#[derive(Debug)]
pub(crate) struct SealedFile(OwnedFd);

impl SealedFile {
    /// Makes one that holds these bytes.
    ///
    /// # Errors
    /// No descriptor or no memory is left.
    pub(crate) fn new(bytes: &[u8]) -> io::Result<Self> {
        let file = memfd_create(NAME, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = std::fs::File::from(file);
        file.write_all(bytes)?;
        let file = OwnedFd::from(file);
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok(Self(file))
    }

    /// A descriptor of its own for one reader: read-only, at the beginning, sharing its place with nobody.
    ///
    /// # Errors
    /// No descriptor is left, or there is no `/proc`.
    pub(crate) fn open(&self) -> io::Result<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn each_reader_has_its_own_place_and_nobody_can_write() {
        let sealed = SealedFile::new(b"state").unwrap();
        for _ in 0..2 {
            let mut reader = File::from(sealed.open().unwrap());
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            assert_eq!(text, "state");
            assert!(reader.write(b"x").is_err());
            assert!(reader.set_len(0).is_err());
        }
        let mut held = File::from(sealed.0);
        held.rewind().unwrap();
        assert!(held.write(b"x").is_err());
        assert!(held.set_len(0).is_err());
    }
}
