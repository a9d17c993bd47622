//! Lines from the server, capped, taken from the buffer without a copy where they are whole in it.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// A line, or what is known of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Without its `\n`. The last one of a stream may lack it.
    Whole(&'a [u8]),
    /// Over the cap: its first bytes. The rest was skipped.
    Oversized(&'a [u8]),
}

/// Reads lines of at most `max_bytes`; of longer ones keeps `prefix_bytes`.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    max_bytes: usize,
    prefix_bytes: usize,
    /// A line that did not fit the reader's buffer.
    partial: Vec<u8>,
    /// Bytes of the reader's buffer that the last line was borrowed from.
    borrowed: usize,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, max_bytes: usize, prefix_bytes: usize) -> Self {
        Self {
            reader,
            max_bytes,
            prefix_bytes,
            partial: Vec::new(),
            borrowed: 0,
        }
    }

    /// The next line; `None` at the end of the stream. Not cancel-safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.reader.consume(std::mem::take(&mut self.borrowed));
        self.partial.clear();
        self.partial.shrink_to(crate::limits::KEPT_BUFFER_BYTES);
        let mut len = 0_usize;
        loop {
            // Looked at twice, since a borrow that is returned cannot be given up in the other branch.
            let buffer = self.reader.fill_buf().await?;
            let at_end = buffer.is_empty();
            let newline = memchr::memchr(b'\n', buffer);
            let available = newline.unwrap_or(buffer.len());
            if len == 0 && newline.is_some() && available <= self.max_bytes {
                self.borrowed = available + 1;
                return Ok(Some(Line::Whole(&self.reader.fill_buf().await?[..available])));
            }
            len = len.saturating_add(available);
            let keep = if len <= self.max_bytes {
                usize::MAX
            } else {
                self.prefix_bytes
            };
            let wanted = keep.saturating_sub(self.partial.len()).min(available);
            self.partial.extend_from_slice(&buffer[..wanted]);
            self.reader.consume(available + usize::from(newline.is_some()));
            if len > self.max_bytes {
                self.partial.truncate(self.prefix_bytes);
            }
            if newline.is_some() || at_end {
                return Ok(if len > self.max_bytes {
                    Some(Line::Oversized(&self.partial))
                } else if at_end && len == 0 {
                    None
                } else {
                    Some(Line::Whole(&self.partial))
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    async fn lines(input: &[u8], buffer: usize, max: usize, prefix: usize) -> Vec<(bool, Vec<u8>)> {
        let mut reader = LineReader::new(BufReader::with_capacity(buffer, input), max, prefix);
        let mut all = Vec::new();
        while let Some(line) = reader.next().await.expect("memory reads") {
            all.push(match line {
                Line::Whole(bytes) => (true, bytes.to_vec()),
                Line::Oversized(bytes) => (false, bytes.to_vec()),
            });
        }
        all
    }

    #[tokio::test]
    async fn an_oversized_line_keeps_its_prefix_and_the_next_line_is_read() {
        let found = lines(b"abcdefghij\nxy\n", 3, 4, 2).await;
        assert_eq!(found, [(false, b"ab".to_vec()), (true, b"xy".to_vec())]);
    }

    /// Any buffer size gives the same lines. Newlines are many (every byte below 64 is one), lines and caps
    /// small.
    #[test]
    fn fuzz_lines() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        bolero::check!()
            .with_type::<(Vec<u8>, u8, u8)>()
            .for_each(|(bytes, buffer, max)| {
                let (buffer, max) = (usize::from(*buffer % 40) + 1, usize::from(*max % 30) + 1);
                let input: Vec<u8> = bytes
                    .iter()
                    .map(|byte| if *byte < 64 { b'\n' } else { *byte })
                    .collect();
                let prefix = max.min(5);
                let mut expected: Vec<(bool, Vec<u8>)> = input
                    .split(|byte| *byte == b'\n')
                    .map(|line| match line.len() <= max {
                        true => (true, line.to_vec()),
                        false => (false, line[..prefix].to_vec()),
                    })
                    .collect();
                // What follows the last newline is a line only if there is something.
                if expected.last().is_some_and(|(_, line)| line.is_empty()) {
                    expected.pop();
                }
                assert_eq!(runtime.block_on(lines(&input, buffer, max, prefix)), expected);
            });
    }
}
