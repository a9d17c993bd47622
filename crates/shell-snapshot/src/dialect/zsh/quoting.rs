//! Words that zsh reads as they are, whatever its options.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// `$'…'` of printable ASCII alone: RC_QUOTES, CSH_JUNKIE_QUOTES and the locale leave it as it is.
pub(super) fn quote(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut quoted = Vec::with_capacity(bytes.len() + bytes.len() / 8 + 3);
    quoted.extend(b"$'");
    for &byte in bytes {
        match byte {
            b'\n' => quoted.extend(b"\\n"),
            b'\'' | b'\\' => quoted.extend([b'\\', byte]),
            b' '..=b'~' => quoted.push(byte),
            _ => quoted.extend([
                b'\\',
                b'x',
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Joins pieces of a command line.
pub(super) fn join(pieces: &[&[u8]]) -> OsString {
    OsString::from_vec(pieces.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_printable_ascii_is_escaped() {
        assert_eq!(quote(b"a b"), b"$'a b'");
        assert_eq!(quote(b"'\\\n\t\xff!"), b"$'\\'\\\\\\n\\x09\\xff!'");
    }
}
