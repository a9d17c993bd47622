//! What the capturing shell is given to run.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::place::{PARTS, STATE_DESCRIPTOR};
use super::quoting;
use crate::sections::Frame;

const BOOTSTRAP: &str = include_str!("bootstrap.zsh");
const CAPTURE: &str = include_str!("capture.zsh");

/// The script of a capture. `place`: where a command's shell will look for its state.
pub(super) fn capture(frame: &Frame, place: Option<&Path>) -> OsString {
    let place = place.map_or_else(Vec::new, |place| place.as_os_str().as_bytes().to_vec());
    let capture = fill(CAPTURE, frame).replace("@STATE_FD@", &STATE_DESCRIPTOR.to_string());
    let capture = capture.replace("@PARTS@", &PARTS.to_string());
    // Where they cannot be read the state sets all limits again.
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limits = quoting::quote(limits.trim_end().as_bytes());
    let capture = capture.replace("@LIMITS@", &String::from_utf8_lossy(&limits));
    let (before, after) = capture
        .split_once("@PLACE@")
        .expect("the script asks for the place once");
    let capture = [before.as_bytes(), &quoting::quote(&place), after.as_bytes()].concat();
    let bootstrap: Vec<&str> = BOOTSTRAP.lines().filter(|line| !line.starts_with('#')).collect();
    let bootstrap = fill(&bootstrap.join("\n"), frame);
    let (before, after) = bootstrap
        .split_once("@CAPTURE@")
        .expect("the bootstrap evaluates the capture");
    quoting::join(&[before.as_bytes(), &quoting::quote(&capture), after.as_bytes()])
}

fn fill(script: &str, frame: &Frame) -> String {
    script
        .replace("@NONCE@", &frame.nonce)
        .replace("@FD@", &frame.descriptor.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_fill_in() {
        let frame = Frame {
            nonce: "0123456789abcdef0123456789abcdef".to_owned(),
            descriptor: 200,
        };
        let script = capture(&frame, Some(Path::new("/run/it's")))
            .into_string()
            .unwrap();
        for left in [
            "@NONCE@",
            "@FD@",
            "@STATE_FD@",
            "@PARTS@",
            "@PLACE@",
            "@LIMITS@",
            "@CAPTURE@",
            "\n#",
        ] {
            assert!(!script.contains(left), "{left}");
        }
        assert!(script.is_ascii());
    }
}
