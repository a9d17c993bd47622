//! The capture stream: what a shell writes to the capture's descriptor.
//!
//! A marker is a line `NONCE NAME`, the nonce being 32 hexadecimal digits nobody could know before. The stream
//! begins with the marker `begin` and ends with the marker `end`; what stands before and after is not ours. A
//! section is what stands between its marker and the next, less the line feed in front of that one: a capture
//! script writes `\nNONCE NAME\n` before each section and so need not care how the one before ended. A section may
//! come more than once; the parts are joined in order.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::Failure;

/// What frames one capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// 32 hexadecimal digits.
    pub(crate) nonce: String,
    /// The descriptor the shell writes its state to: above those startup files use.
    pub(crate) descriptor: i32,
}

/// The sections of a complete capture, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sections<'a>(BTreeMap<&'a str, Vec<&'a [u8]>>);

impl<'a> Sections<'a> {
    /// Reads a stream that may hold more than the capture.
    ///
    /// # Errors
    /// [`Failure::MissingOutput`] without a begin or an end, [`Failure::InvalidCapture`] for a marker that is none.
    pub(crate) fn read(stream: &'a [u8], nonce: &str) -> Result<Self, Failure> {
        let mut sections = Self::default();
        let mut current: Option<&'a str> = None;
        let mut body_from = 0;
        for at in memmem::find_iter(stream, nonce.as_bytes()) {
            if at > 0 && stream[at - 1] != b'\n' {
                continue;
            }
            let after = at + nonce.len();
            let Some(line) = memchr::memchr(b'\n', &stream[after..]).map(|end| &stream[after..after + end])
            else {
                break;
            };
            let name = line
                .strip_prefix(b" ")
                .and_then(|name| std::str::from_utf8(name).ok())
                .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()))
                .ok_or(Failure::InvalidCapture)?;
            if let Some(current) = current {
                let body = &stream[body_from..at.saturating_sub(1).max(body_from)];
                sections.0.entry(current).or_default().push(body);
            } else if name != "begin" {
                return Err(Failure::InvalidCapture);
            }
            if name == "end" {
                return Ok(sections);
            }
            current = Some(name);
            body_from = after + line.len() + 1;
        }
        Err(Failure::MissingOutput)
    }

    /// Whether the capture has such a section.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A section's bytes, all its parts joined; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        self.0.get(name).map(|parts| parts.concat()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn stream(text: &str) -> Vec<u8> {
        text.replace('@', NONCE).into_bytes()
    }

    #[test]
    fn sections_stand_between_markers_whatever_is_around() {
        let stream = stream("noise\n@ begin\n\n@ a\none\n\n@ b\n\n@ a\ntwo x@ b\n@ end\nmore\n@ a\n");
        let sections = Sections::read(&stream, NONCE).unwrap();
        assert_eq!(sections.get("a"), format!("one\ntwo x{NONCE} b").into_bytes());
        assert!(sections.has("b") && sections.get("b").is_empty());
        assert!(!sections.has("c"));
    }

    #[test]
    fn without_an_end_there_is_no_capture() {
        for text in ["", "@", "@ begin\n", "@ begin\n\n@ a\nx", "@ begin\n\n@ en"] {
            assert_eq!(
                Sections::read(&stream(text), NONCE),
                Err(Failure::MissingOutput),
                "{text}"
            );
        }
        for text in [
            "@ a\n@ end\n",
            "@ begin\n\n@\n@ end\n",
            "@ begin\n\n@ \u{1}\n\n@ end\n",
        ] {
            assert_eq!(
                Sections::read(&stream(text), NONCE),
                Err(Failure::InvalidCapture),
                "{text}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(noise: Vec<u8>, body: Vec<u8>) {
            let mut whole = noise.clone();
            whole.extend(stream("\n@ begin\n\n@ a\n"));
            whole.extend(&body);
            whole.extend(stream("\n@ end\n"));
            let _ = Sections::read(&noise, NONCE);
            let sections = Sections::read(&whole, NONCE).unwrap();
            proptest::prop_assert_eq!(sections.get("a"), body);
        }
    }
}
