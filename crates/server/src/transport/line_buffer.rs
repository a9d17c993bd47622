//! Cuts a byte stream into lines under a cap, without copying a complete line.

use exec_protocol::limits::{FIRST_LINE_BUFFER_BYTES, LINE_BUFFER_BYTES, LINE_PREFIX_BYTES};

/// One line, without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// All of it.
    Complete(&'a [u8]),
    /// Over the cap: its first [`LINE_PREFIX_BYTES`] at most; the rest was skipped.
    TooLong(&'a [u8]),
}

/// Bytes in, lines out. Holds at most one line of the cap, twice over while it grows.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    max_line_bytes: usize,
    bytes: Vec<u8>,
    /// The size it has while lines are small.
    base_bytes: usize,
    /// First byte not yet given out.
    start: usize,
    /// Bytes before this one hold no newline (start ≤ scanned ≤ end).
    scanned: usize,
    /// End of what was read.
    end: usize,
    /// The prefix of a line over the cap whose end has not come yet.
    skipping: Option<Vec<u8>>,
    /// The prefix last given out, which a [`Line`] borrows.
    given: Vec<u8>,
}

impl LineBuffer {
    pub(crate) fn new(max_line_bytes: usize) -> Self {
        Self {
            max_line_bytes,
            bytes: Vec::new(),
            base_bytes: FIRST_LINE_BUFFER_BYTES,
            start: 0,
            scanned: 0,
            end: 0,
            skipping: None,
            given: Vec::new(),
        }
    }

    /// Room to read into, never empty. Call [`filled`](Self::filled) with what was read. To be called when
    /// [`next_line`](Self::next_line) has returned `None`.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.scanned, self.end) = (0, 0, 0);
            if self.bytes.len() != self.base_bytes {
                // Gives the memory of a large line back.
                self.bytes = vec![0; self.base_bytes];
            }
        } else if self.end >= self.bytes.len() - self.bytes.len() / 8 {
            // Nearly full: a small read costs as much as a large one.
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.scanned -= self.start;
                self.start = 0;
            }
            if self.end > self.bytes.len() / 2 {
                // One byte over the cap is enough to know; doubling keeps the copying linear.
                let larger = (self.bytes.len() * 2).min(self.max_line_bytes.max(LINE_BUFFER_BYTES) + 1);
                self.bytes.resize(larger.max(self.end + 1), 0);
            }
        }
        &mut self.bytes[self.end..]
    }

    /// `count` bytes of the room were filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
        if self.end == self.bytes.len() {
            self.base_bytes = LINE_BUFFER_BYTES;
        }
    }

    /// The next line that is complete.
    pub(crate) fn next_line(&mut self) -> Option<Line<'_>> {
        let newline = memchr::memchr(b'\n', &self.bytes[self.scanned..self.end]);
        let Some(found) = newline else {
            self.scanned = self.end;
            self.skip_if_too_long();
            return None;
        };
        let line = self.start..self.scanned + found;
        self.start = line.end + 1;
        self.scanned = self.start;
        Some(self.give(line))
    }

    /// What is left when the input ends: a last line without its newline.
    pub(crate) fn finish(&mut self) -> Option<Line<'_>> {
        if self.start == self.end && self.skipping.is_none() {
            return None;
        }
        let line = self.start..self.end;
        self.start = line.end;
        self.scanned = line.end;
        Some(self.give(line))
    }

    fn give(&mut self, line: std::ops::Range<usize>) -> Line<'_> {
        if let Some(mut prefix) = self.skipping.take() {
            keep_prefix(&mut prefix, &self.bytes[line]);
            self.given = prefix;
            return Line::TooLong(&self.given);
        }
        let line = &self.bytes[line];
        if line.len() > self.max_line_bytes {
            return Line::TooLong(&line[..line.len().min(LINE_PREFIX_BYTES)]);
        }
        Line::Complete(line)
    }

    /// Keeps the prefix of a line that has outgrown the cap, and drops what has come of it.
    fn skip_if_too_long(&mut self) {
        let line = &self.bytes[self.start..self.end];
        if self.skipping.is_none() && line.len() > self.max_line_bytes {
            self.skipping = Some(Vec::new());
        }
        if let Some(prefix) = &mut self.skipping {
            keep_prefix(prefix, line);
            self.start = self.end;
            self.scanned = self.end;
        }
    }
}

fn keep_prefix(prefix: &mut Vec<u8>, more: &[u8]) {
    let room = LINE_PREFIX_BYTES - prefix.len();
    prefix.extend_from_slice(&more[..more.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as plain data: too long or not, and its bytes.
    type Given = (bool, Vec<u8>);

    fn owned(line: Line<'_>) -> Given {
        match line {
            Line::Complete(bytes) => (false, bytes.to_vec()),
            Line::TooLong(prefix) => (true, prefix.to_vec()),
        }
    }

    fn lines_of(cap: usize, pieces: &[&[u8]]) -> Vec<Given> {
        let mut buffer = LineBuffer::new(cap);
        let mut lines = Vec::new();
        for piece in pieces {
            let mut piece = *piece;
            while !piece.is_empty() {
                let room = buffer.room();
                let count = room.len().min(piece.len());
                room[..count].copy_from_slice(&piece[..count]);
                buffer.filled(count);
                piece = &piece[count..];
                while let Some(line) = buffer.next_line() {
                    lines.push(owned(line));
                }
            }
        }
        lines.extend(buffer.finish().map(owned));
        assert!(buffer.finish().is_none());
        lines
    }

    /// The same by the plainest means.
    fn model(cap: usize, bytes: &[u8]) -> Vec<Given> {
        let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let cut = |line: &[u8]| match line.len() > cap {
            true => (true, line[..line.len().min(LINE_PREFIX_BYTES)].to_vec()),
            false => (false, line.to_vec()),
        };
        lines.into_iter().map(cut).collect()
    }

    /// Any split of any bytes gives the same lines. Newlines are many (every byte below 64 is one), lines and
    /// caps small.
    #[test]
    fn fuzz_lines() {
        bolero::check!()
            .with_type::<(Vec<u8>, Vec<u8>, u8)>()
            .for_each(|(bytes, sizes, cap)| {
                let cap = usize::from(*cap % 30) + 1;
                let bytes: Vec<u8> = bytes
                    .iter()
                    .map(|byte| if *byte < 64 { b'\n' } else { *byte })
                    .collect();
                let mut pieces = Vec::new();
                let mut rest = &bytes[..];
                for size in sizes {
                    let (piece, after) = rest.split_at(rest.len().min(usize::from(*size)));
                    pieces.push(piece);
                    rest = after;
                }
                pieces.push(rest);
                assert_eq!(lines_of(cap, &pieces), model(cap, &bytes));
            });
    }

    #[test]
    fn lines_larger_than_the_buffer_and_over_the_cap() {
        for (cap, len) in [
            (300_000, 300_000),
            (300_000, 300_001),
            (300_000, 2_000_000),
            (100, 70_000),
        ] {
            let mut bytes = vec![b'a'; len];
            bytes.extend_from_slice(b"\nnext\nlast");
            for size in [7, 4096, 1 << 20] {
                let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
                let lines = lines_of(cap, &pieces);
                assert!(
                    lines == model(cap, &bytes),
                    "cap {cap}, length {len}, pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn memory_is_bounded_while_skipping_and_given_back_after_a_large_line() {
        let mut buffer = LineBuffer::new(1 << 20);
        let mut most = 0;
        for _ in 0..1000 {
            let room = buffer.room();
            let count = room.len();
            room.fill(b'x');
            buffer.filled(count);
            assert!(buffer.next_line().is_none());
            most = most.max(buffer.bytes.len());
        }
        assert!(most <= (1 << 20) + 1, "{most}");
        buffer.room()[0] = b'\n';
        buffer.filled(1);
        assert!(
            matches!(buffer.next_line(), Some(Line::TooLong(prefix)) if prefix.len() == LINE_PREFIX_BYTES)
        );
        assert!(buffer.next_line().is_none());
        buffer.room();
        assert_eq!(buffer.bytes.len(), LINE_BUFFER_BYTES);
    }
}
