//! The command that makes bash write its state down.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use exec_process::environment::Environment;

use super::words::quoted;
use crate::dialect::{CaptureCommand, Try};
use crate::sections::Frame;

const CAPTURE: &str = include_str!("capture.bash");
const DUMP: &str = include_str!("dump.bash");

/// `bash -lic SCRIPT`, or without the `i`.
pub(super) fn command(shell: &Path, try_: Try, frame: &Frame, environment: &Environment) -> CaptureCommand {
    let flags = match try_ {
        Try::Interactive => "-lic",
        Try::NonInteractive => "-lc",
    };
    CaptureCommand {
        argv: vec![shell.into(), flags.into(), script(frame, environment)],
        arg0: None,
        set: Environment::new(),
    }
}

fn script(frame: &Frame, environment: &Environment) -> OsString {
    // The HOME the shell started with: that is where it looked for its files, whatever they made of it since.
    let home = match environment.get(OsStr::new("HOME")) {
        Some(home) => quoted(home.as_bytes()),
        None => b"~".to_vec(),
    };
    let descriptor = frame.descriptor.to_string();
    let frame = [
        ("@NONCE@", frame.nonce.as_bytes()),
        ("@DESCRIPTOR@", descriptor.as_bytes()),
    ];
    let dump = quoted(&filled(&without_comments(DUMP), &frame));
    let mut script = filled(&without_comments(CAPTURE), &frame);
    script = filled_bytes(&script, &[("@HOME@", &home), ("@DUMP@", &dump)]);
    OsString::from_vec(script)
}

fn without_comments(script: &str) -> String {
    let mut kept = String::new();
    for line in script.lines() {
        if !line.is_empty() && !line.trim_start().starts_with('#') {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn filled(script: &str, values: &[(&str, &[u8])]) -> Vec<u8> {
    filled_bytes(script.as_bytes(), values)
}

/// Puts values in place of their names, in one pass: a value may look like a name.
fn filled_bytes(script: &[u8], values: &[(&str, &[u8])]) -> Vec<u8> {
    let mut filled = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some((&first, after)) = rest.split_first() {
        match values.iter().find(|(name, _)| rest.starts_with(name.as_bytes())) {
            Some((name, value)) => {
                filled.extend(*value);
                rest = &rest[name.len()..];
            }
            None => {
                filled.push(first);
                rest = after;
            }
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_and_no_comment_is_left() {
        let frame = Frame {
            nonce: "0123456789abcdef0123456789abcdef".into(),
            descriptor: 200,
        };
        let home = Environment::from([("HOME".into(), "/home/it's @DUMP@".into())]);
        let command = command(Path::new("/bin/bash"), Try::Interactive, &frame, &home);
        assert_eq!(command.argv[..2], ["/bin/bash", "-lic"]);
        let script = command.argv[2].to_str().unwrap();
        assert!(script.contains(r"\. '/home/it'\''s @DUMP@'/.bashrc; ("));
        assert_eq!(script.matches("@DUMP@").count(), 2, "only in HOME: {script}");
        assert!(
            !["@HOME@", "@NONCE@", "@DESCRIPTOR@"]
                .iter()
                .any(|name| script.contains(name))
        );
        assert!(!script.lines().any(|line| line.trim_start().starts_with('#')));
        // A nonce at the start of a line would be taken for a marker if the script itself came into the stream.
        assert!(!script.lines().any(|line| line.starts_with(&frame.nonce)));
    }
}
