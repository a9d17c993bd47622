//! What has come through a capture's descriptor, until its end marker.

use memchr::memmem;

use crate::Failure;

/// Bytes of a capture that is not complete.
#[derive(Debug)]
pub(super) struct Stream {
    bytes: Vec<u8>,
    max: usize,
    end: Vec<u8>,
    login: Vec<u8>,
}

impl Stream {
    /// A stream of at most `max` bytes, framed by a nonce.
    pub(super) fn new(nonce: &str, max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            max,
            end: format!("\n{nonce} end\n").into_bytes(),
            login: format!("{nonce} login\n").into_bytes(),
        }
    }

    /// Takes what came; true once the end marker has.
    ///
    /// # Errors
    /// [`Failure::CaptureTooLarge`].
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<bool, Failure> {
        // The marker may have begun in an earlier piece.
        let from = self.bytes.len().saturating_sub(self.end.len());
        self.bytes.extend_from_slice(piece);
        if let Some(at) = memmem::find(&self.bytes[from..], &self.end) {
            self.bytes.truncate(from + at + self.end.len());
        }
        if self.bytes.len() > self.max {
            return Err(Failure::CaptureTooLarge);
        }
        Ok(self.bytes.ends_with(&self.end))
    }

    /// Whether the shell has said that its login files are done.
    pub(super) fn is_past_login(&self) -> bool {
        memmem::find_iter(&self.bytes, &self.login).any(|at| at == 0 || self.bytes[at - 1] == b'\n')
    }

    /// What came.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn it_ends_at_its_marker_wherever_the_pieces_part() {
        let text = format!("noise\n{NONCE} begin\n\n{NONCE} login\n\nx{NONCE} end\n\n{NONCE} end\nmore");
        let want = text.len() - "more".len();
        for at in 0..text.len() {
            let mut stream = Stream::new(NONCE, text.len());
            let (first, second) = text.as_bytes().split_at(at);
            let ended = stream.take(first).unwrap();
            assert_eq!(ended, at >= want, "{at}");
            if !ended {
                assert!(stream.take(second).unwrap(), "{at}");
            }
            assert!(stream.is_past_login());
            assert_eq!(stream.into_bytes(), text.as_bytes()[..want]);
        }
    }

    #[test]
    fn a_login_marker_is_a_line() {
        let mut stream = Stream::new(NONCE, 1000);
        assert_eq!(stream.take(format!("x{NONCE} login\n").as_bytes()), Ok(false));
        assert!(!stream.is_past_login());
        assert_eq!(stream.take(format!("{NONCE} login\n").as_bytes()), Ok(false));
        assert!(stream.is_past_login());
    }

    #[test]
    fn it_holds_so_much_and_no_more() {
        let mut stream = Stream::new(NONCE, 3);
        assert_eq!(stream.take(b"abc"), Ok(false));
        assert_eq!(stream.take(b"d"), Err(Failure::CaptureTooLarge));
    }
}
