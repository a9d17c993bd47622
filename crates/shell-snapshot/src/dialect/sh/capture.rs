//! The command that captures, and the files it makes the shell read.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use super::words::quote;
use crate::dialect::{CaptureCommand, Try};
use crate::sections::Frame;

const ASH: &str = include_str!("ash.sh");
const MKSH: &str = include_str!("mksh.sh");

pub(super) fn command(shell: &Path, try_: Try, frame: &Frame) -> CaptureCommand {
    let flags = match try_ {
        Try::Interactive => "-lic",
        Try::NonInteractive => "-lc",
    };
    CaptureCommand {
        argv: vec![shell.into(), flags.into(), script(frame).into()],
        arg0: None,
        set: Environment::new(),
    }
}

/// What the shell runs after its startup. It begins with no reserved word: in some shells those can be aliased.
fn script(frame: &Frame) -> String {
    let fill = |script: &str| {
        let script = script
            .replace("@NONCE@", &frame.nonce)
            .replace("@STREAM@", &format!("/proc/self/fd/{}", frame.descriptor));
        String::from_utf8_lossy(&quote(script.as_bytes())).into_owned()
    };
    format!("\\eval ${{KSH_VERSION:+{}}}\n\\eval {}\n", fill(MKSH), fill(ASH))
}

pub(super) fn startup_files(environment: &Environment) -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/profile")];
    let home = environment
        .get(OsStr::new("HOME"))
        .filter(|home| !home.is_empty())
        .map(Path::new);
    files.extend(home.map(|home| home.join(".profile")));
    match environment.get(OsStr::new("ENV")).filter(|file| !file.is_empty()) {
        Some(file) => files.extend(expand(file.as_bytes(), home)),
        None => files.extend(home.map(|home| home.join(".mkshrc"))),
    }
    files
}

/// The path that ENV names, if it holds no expansion but the home directory.
fn expand(file: &[u8], home: Option<&Path>) -> Option<PathBuf> {
    let rest = [&b"~/"[..], b"$HOME/", b"${HOME}/"]
        .iter()
        .find_map(|prefix| file.strip_prefix(*prefix));
    let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
    let whole = match rest {
        Some(rest) => home?.join(path(rest)),
        None => path(file),
    };
    let plain = !whole
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|byte| b"$`\\~".contains(byte));
    plain.then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_startup_files_follow_home_and_env() {
        let files = |variables: &[(&str, &str)]| {
            let environment = variables
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            startup_files(&environment)
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(files(&[]), paths(&["/etc/profile"]));
        assert_eq!(
            files(&[("HOME", "/h")]),
            paths(&["/etc/profile", "/h/.profile", "/h/.mkshrc"])
        );
        for file in ["~/rc", "$HOME/rc", "${HOME}/rc", "/h/rc"] {
            assert_eq!(
                files(&[("HOME", "/h"), ("ENV", file)]),
                paths(&["/etc/profile", "/h/.profile", "/h/rc"]),
                "{file}"
            );
        }
        assert_eq!(
            files(&[("HOME", "/h"), ("ENV", "$(rc)")]),
            paths(&["/etc/profile", "/h/.profile"])
        );
    }
}
