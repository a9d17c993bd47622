//! Reads a trace: times by file and line, and where it stopped.

use std::collections::BTreeMap;

use exec_protocol::limits::TRACE_RECORD_BYTES;
use memchr::memmem;

use crate::cli::snapshot::report::{Ending, FileTime, Place, Traced};

/// The file of what zsh evaluates.
const EVALUATED: &str = "(eval)";

/// Files that end a shell, and do not start it.
const LOGOUT_FILES: [&str; 4] = ["/.bash_logout", "/bash.bash_logout", "/.zlogout", "/zlogout"];

/// A trace that is being read. A record is `NONCE TIME LINE FILE NONCE`, wherever it stands; after the last one comes
/// `NONCE end TIME`.
#[derive(Debug)]
pub(super) struct Reader {
    nonce: Vec<u8>,
    unread: Vec<u8>,
    /// When the first record was written, and the latest, in microseconds.
    began: Option<u64>,
    now: u64,
    /// Where the time goes now.
    at: Option<(String, u64)>,
    last: Option<Place>,
    /// The latest record is one of the script that traces.
    in_script: bool,
    untraced: u64,
    files: BTreeMap<String, BTreeMap<u64, u64>>,
    complete: bool,
}

impl Reader {
    pub(super) fn new(nonce: &str) -> Self {
        Self {
            nonce: nonce.as_bytes().to_vec(),
            unread: Vec::new(),
            began: None,
            now: 0,
            at: None,
            last: None,
            in_script: false,
            untraced: 0,
            files: BTreeMap::new(),
            complete: false,
        }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let finder = memmem::Finder::new(&self.nonce).into_owned();
        let mut rest = unread.as_slice();
        while !self.complete {
            let Some(at) = finder.find(rest) else {
                // It may have come in part.
                rest = &rest[rest.len().saturating_sub(self.nonce.len() - 1)..];
                break;
            };
            let after = &rest[at + self.nonce.len()..];
            let record = &after[..after.len().min(TRACE_RECORD_BYTES)];
            let end = record.strip_prefix(b" end ");
            if let Some((end, length)) = end.and_then(|end| Some((end, memchr::memchr(b'\n', end)?))) {
                // The script itself is traced too: that has no time.
                let Some(time) = micros(&end[..length]) else {
                    rest = after;
                    continue;
                };
                if !self.in_script {
                    // Startup files have put an end to it.
                    self.untraced = time.saturating_sub(self.now);
                    self.at = None;
                }
                self.reach(time);
                self.complete = true;
            } else if end.is_none()
                && let Some(length) = finder.find(record)
                && self.record(&record[..length])
            {
                rest = &after[length + self.nonce.len()..];
            } else if finder.find(record).is_some() || record.len() == TRACE_RECORD_BYTES {
                // Part of a command that is traced, and none of a record.
                rest = after;
            } else {
                // It has come in part.
                rest = &rest[at..];
                break;
            }
        }
        self.unread = rest.to_vec();
    }

    /// Whether all startup files were done.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// What it showed.
    pub(super) fn finish(self, ending: Ending) -> Traced {
        let mut files: Vec<FileTime> = self
            .files
            .into_iter()
            .map(|(path, lines)| {
                let slowest = lines.iter().max_by_key(|(_, micros)| **micros);
                let (slowest_line, slowest_line_micros) =
                    slowest.map_or((0, 0), |(line, micros)| (*line, *micros));
                FileTime {
                    path,
                    micros: lines.values().sum(),
                    slowest_line,
                    slowest_line_micros,
                }
            })
            .collect();
        files.sort_by(|one, other| other.micros.cmp(&one.micros).then(one.path.cmp(&other.path)));
        Traced {
            ending,
            total_micros: self.began.map_or(0, |began| self.now - began),
            files,
            last: self.last,
            untraced_micros: self.untraced,
        }
    }

    /// ` TIME LINE FILE `; false for anything else.
    fn record(&mut self, record: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(record) else {
            return false;
        };
        let Some(fields) = text.strip_prefix(' ').and_then(|text| text.strip_suffix(' ')) else {
            return false;
        };
        let mut fields = fields.splitn(3, ' ');
        let (Some(time), Some(line), Some(file)) = (fields.next(), fields.next(), fields.next()) else {
            return false;
        };
        let (Some(time), Ok(line)) = (micros(time.as_bytes()), line.parse()) else {
            return false;
        };
        self.reach(time);
        // What is evaluated counts for the line that has it evaluated. A name without a path is the script that traces.
        self.in_script = !file.contains('/') && file != EVALUATED;
        if !file.contains('/') {
            return true;
        }
        self.at = Some((file.to_owned(), line));
        if !LOGOUT_FILES.iter().any(|name| file.ends_with(name)) {
            self.last = Some(Place {
                path: file.to_owned(),
                line,
            });
        }
        true
    }

    /// It is that time: what has passed was taken by the line before. A line that ends after one within it was begun
    /// may come with the time of its own beginning.
    fn reach(&mut self, time: u64) {
        let began = *self.began.get_or_insert(time);
        let now = self.now.max(began);
        if let Some((file, line)) = &self.at {
            let lines = match self.files.get_mut(file) {
                Some(lines) => lines,
                None => self.files.entry(file.clone()).or_default(),
            };
            *lines.entry(*line).or_default() += time.saturating_sub(now);
        }
        self.now = now.max(time);
    }
}

/// `SECONDS.MICROSECONDS`, with the locale's own point.
fn micros(time: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(time).ok()?.trim_end();
    let (seconds, fraction) = text.split_once(['.', ','])?;
    if fraction.len() != 6 {
        return None;
    }
    let (seconds, fraction): (u64, u64) = (seconds.parse().ok()?, fraction.parse().ok()?);
    seconds.checked_mul(1_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn read(trace: &str, piece: usize) -> (Traced, bool) {
        let mut reader = Reader::new(NONCE);
        for piece in trace.replace("NONCE", NONCE).as_bytes().chunks(piece) {
            reader.take(piece);
        }
        let complete = reader.is_complete();
        (reader.finish(Ending::Complete), complete)
    }

    const TRACE: &str = "\r\nnoise\r\n+NONCE 100.000000 1  NONCE . /h/.bashrc\r\n\
        ++NONCE 100.000100 3 /h/.bashrc NONCE echo a\n second line\r\n\
        ++NONCE 100.001100 4 /h/.bashrc NONCE f\r\n\
        +++NONCE 100.001200 1 /h/with space NONCE sleep 1 NONCE x\r\n\
        x=+NONCE 100.101200 5 /h/.bashrc NONCE echo\r\n\
        +NONCE 100.100000 5 /h/.bashrc NONCE x=value\r\n\
        +NONCE 100.102000 9  NONCE printf '\\nNONCE end %s\\n'\r\n\r\nNONCE end 100.103000\r\n";

    #[test]
    fn time_goes_to_the_line_that_took_it() {
        for piece in [1, 7, 33, 10_000] {
            let (traced, complete) = read(TRACE, piece);
            assert!(complete);
            let file = |path: &str, micros, slowest_line, slowest_line_micros| FileTime {
                path: path.to_owned(),
                micros,
                slowest_line,
                slowest_line_micros,
            };
            let expected = Traced {
                ending: Ending::Complete,
                total_micros: 103_000,
                files: vec![
                    file("/h/with space", 100_000, 1, 100_000),
                    file("/h/.bashrc", 2_900, 5, 1_800),
                ],
                last: Some(Place {
                    path: "/h/.bashrc".to_owned(),
                    line: 5,
                }),
                untraced_micros: 0,
            };
            assert_eq!(traced, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn time_after_the_end_of_a_trace_is_nobodys() {
        for (trace, untraced) in [
            ("+NONCE 1.000000 1 /f NONCE set +x\nNONCE end 1.500000\n", 500_000),
            (
                "+NONCE 1.000000 1 /f NONCE eval x\n+NONCE 1.000001 1 (eval) NONCE x\nNONCE end 1.500000\n",
                499_999,
            ),
            (
                "+NONCE 1.000000 1 /f NONCE x\n+NONCE 1.400000 1 zsh NONCE print\nNONCE end 1.500000\n",
                0,
            ),
        ] {
            let (traced, _) = read(trace, 100);
            assert_eq!(
                (traced.untraced_micros, traced.total_micros),
                (untraced, 500_000),
                "{trace}"
            );
            let in_files: u64 = traced.files.iter().map(|file| file.micros).sum();
            assert_eq!(in_files + untraced, 500_000, "{trace}");
        }
    }

    #[test]
    fn the_last_line_is_no_logout_files() {
        let (traced, complete) = read(
            "+NONCE 5,000001 7 /h/.profile NONCE exit 7\n+NONCE 5,000002 1 /h/.bash_logout NONCE clear\n",
            9,
        );
        assert!(!complete);
        let last = traced.last.unwrap();
        assert_eq!((last.path.as_str(), last.line), ("/h/.profile", 7));
    }

    #[test]
    fn fuzz_any_bytes_are_read_alike_in_any_pieces() {
        bolero::check!()
            .with_type::<(Vec<u8>, u8)>()
            .for_each(|(bytes, piece)| {
                // Pieces of records turn up where random bytes would not have them.
                let mut trace = Vec::new();
                for byte in bytes {
                    match byte % 8 {
                        0 => trace.extend_from_slice(NONCE.as_bytes()),
                        1 => trace.extend_from_slice(b" 1.000001 2 /f "),
                        2 => trace.extend_from_slice(b" end 3.000000\n"),
                        _ => trace.push(*byte),
                    }
                }
                let mut whole = Reader::new(NONCE);
                whole.take(&trace);
                let mut pieces = Reader::new(NONCE);
                for piece in trace.chunks(usize::from(*piece).max(1)) {
                    pieces.take(piece);
                }
                assert_eq!(whole.is_complete(), pieces.is_complete());
                assert_eq!(whole.finish(Ending::TimedOut), pieces.finish(Ending::TimedOut));
            });
    }
}
