//! What the capturing shell is given to run.

use exec_protocol::limits::SNAPSHOT_COMPILED_PARTS;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use exec_process::warden::open_files_of_commands;

use super::place::STATE_DESCRIPTOR;
use super::quoting;
use crate::sections::Frame;

const BOOTSTRAP: &str = include_str!("bootstrap.zsh");
const CAPTURE: &str = include_str!("capture.zsh");

/// The script of a capture. `place`: where a command's shell will look for its state.
pub(super) fn script(frame: &Frame, place: Option<&Path>) -> OsString {
    let place = place.map_or_else(Vec::new, |place| place.as_os_str().as_bytes().to_vec());
    let capture = fill(CAPTURE, frame).replace("@STATE_FD@", &STATE_DESCRIPTOR.to_string());
    let capture = capture.replace("@PARTS@", &SNAPSHOT_COMPILED_PARTS.to_string());
    // Where they cannot be read the state sets all limits again.
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limits = limits_of_commands(&limits, open_files_of_commands());
    let limits = quoting::quote(limits.trim_end_matches('\n').as_bytes());
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

/// A process's `/proc/PID/limits` from the daemon's: it has raised its own limit of open files.
fn limits_of_commands(daemons: &str, open_files: Option<u64>) -> String {
    // `%-25s %-20s %-20s %-10s`: name, soft, hard, unit.
    const SOFT: std::ops::Range<usize> = 26..46;
    let soft = open_files.map_or_else(|| "unlimited".to_owned(), |soft| soft.to_string());
    let mut limits = daemons.to_owned();
    if let Some(at) = daemons.find("Max open files")
        && daemons.is_char_boundary(at + SOFT.start)
        && daemons.is_char_boundary(at + SOFT.end)
    {
        limits.replace_range(at + SOFT.start..at + SOFT.end, &format!("{soft:<20}"));
    }
    limits
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
    fn limits_are_those_commands_begin_with() {
        let limits = |soft: &str| {
            format!(
                "{:<25} {:<20} {:<20} {:<10}\n{:<25} {soft:<20} {:<20} {:<10}\n{:<25} {:<20}\n",
                "Max processes",
                96364,
                96364,
                "processes",
                "Max open files",
                524_288,
                "files",
                "Max locked memory",
                8,
            )
        };
        assert_eq!(limits_of_commands(&limits("524288"), Some(1024)), limits("1024"));
        assert_eq!(limits_of_commands(&limits("524288"), None), limits("unlimited"));
        assert_eq!(limits_of_commands("", Some(1)), "");
        assert_eq!(
            limits_of_commands("Max open files 3", Some(1)),
            "Max open files 3"
        );
        // As this system writes them.
        let own = fs::read_to_string("/proc/self/limits").unwrap();
        let soft = own
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        let soft = soft.split_whitespace().nth(3).unwrap().parse().ok();
        assert_eq!(limits_of_commands(&own, soft), own);
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        let frame = Frame {
            nonce: "0123456789abcdef0123456789abcdef".to_owned(),
            descriptor: 200,
        };
        let script = script(&frame, Some(Path::new("/run/it's")))
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
