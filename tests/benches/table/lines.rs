//! Lines of a stream, found with SIMD and lent, not copied.

use std::io::{self, Read};

use memchr::memchr;

/// Large enough that a flood is read in few system calls.
const FIRST_CAPACITY: usize = 4 << 20;

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    read_bytes: u64,
}

impl<R: Read> Lines<R> {
    /// Lines of `from`.
    pub(crate) fn new(from: R) -> Self {
        Self {
            from,
            buffer: vec![0; FIRST_CAPACITY],
            start: 0,
            end: 0,
            read_bytes: 0,
        }
    }

    /// Bytes read so far.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// The next line, without its newline.
    ///
    /// # Errors
    /// The stream failed, or ended (`UnexpectedEof`).
    pub(crate) fn next(&mut self) -> io::Result<&[u8]> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.start..searched + at;
                self.start = line.end + 1;
                return Ok(&self.buffer[line]);
            }
            searched = self.end;
            if self.start == self.end {
                (self.start, self.end, searched) = (0, 0, 0);
            } else if self.end == self.buffer.len() {
                if self.start == 0 {
                    self.buffer.resize(self.buffer.len() * 2, 0);
                }
                self.buffer.copy_within(self.start..self.end, 0);
                searched -= self.start;
                self.end -= self.start;
                self.start = 0;
            }
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the server closed its stdout: it ended, or hung and was killed",
                    ));
                }
                Ok(read) => {
                    self.end += read;
                    self.read_bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
