//! Paths on the wire: absolute `file://` URIs (RFC 8089), percent-encoded.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What stays readable in a URI path: RFC 3986's unreserved characters and `/`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// An absolute path, a `file://` URI on the wire. Bytes that are not UTF-8 survive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathUri(PathBuf);

/// Why a string is no [`PathUri`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid URI: {reason}: {given:?}, expected file:///absolute/path, percent-encoded")]
pub struct InvalidUri {
    /// What is wrong with it.
    pub reason: &'static str,
    /// The string as given.
    pub given: String,
}

impl PathUri {
    /// The URI of an absolute path; `None` for a relative one or one with a NUL.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        (path.is_absolute() && !path.as_os_str().as_bytes().contains(&0)).then(|| Self(path.to_path_buf()))
    }

    /// `file:///`.
    #[must_use]
    pub fn root() -> Self {
        Self(PathBuf::from("/"))
    }

    /// The native path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The native path, owned.
    #[must_use]
    pub fn into_path(self) -> PathBuf {
        self.0
    }

    /// The native path, for system calls.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        self.0.as_os_str()
    }
}

impl FromStr for PathUri {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<Self, InvalidUri> {
        let invalid = |reason| InvalidUri {
            reason,
            given: text.to_owned(),
        };
        let scheme_end = text.find(':').ok_or_else(|| invalid("not a URI"))?;
        if !text[..scheme_end].eq_ignore_ascii_case("file") {
            return Err(invalid("not a file: URI"));
        }
        let rest = &text[scheme_end + 1..];
        // RFC 8089: file:/path, file:///path and file://localhost/path name the same file.
        let path = match rest.strip_prefix("//") {
            None => rest,
            Some(authority_and_path) => {
                let slash = authority_and_path
                    .find('/')
                    .ok_or_else(|| invalid("no absolute path"))?;
                let host = &authority_and_path[..slash];
                if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                    return Err(invalid("a host other than this one"));
                }
                &authority_and_path[slash..]
            }
        };
        if !path.starts_with('/') {
            return Err(invalid("no absolute path"));
        }
        if path.contains(['?', '#']) {
            return Err(invalid("`?` and `#` must be percent-encoded"));
        }
        let mut bytes = path.as_bytes();
        while let Some(percent) = bytes.iter().position(|b| *b == b'%') {
            let digits = bytes.get(percent + 1..percent + 3);
            if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                return Err(invalid("`%` without two hex digits"));
            }
            bytes = &bytes[percent + 3..];
        }
        let decoded: Vec<u8> = percent_decode_str(path).collect();
        if decoded.contains(&0) {
            return Err(invalid("a NUL byte"));
        }
        Ok(Self(PathBuf::from(OsString::from_vec(decoded))))
    }
}

impl fmt::Display for PathUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "file://{}",
            percent_encode(self.0.as_os_str().as_bytes(), ENCODED)
        )
    }
}

impl Serialize for PathUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PathUri {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}
