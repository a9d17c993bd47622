//! The command that captures, and the files it makes the shell read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use super::words::quote;
use crate::dialect::bash::Bash;
use crate::dialect::{CaptureCommand, Dialect as _, Try};
use crate::sections::Frame;

const ASH: &str = include_str!("ash.sh");
const MKSH: &str = include_str!("mksh.sh");

/// The script asks which shell it is: only the shell itself knows.
pub(super) fn command(shell: &Path, try_: Try, frame: &Frame) -> CaptureCommand {
    let flags = match try_ {
        Try::Interactive => "-lic",
        Try::NonInteractive => "-lc",
    };
    CaptureCommand {
        argv: vec![shell.into(), flags.into(), script(shell, try_, frame)],
        arg0: None,
        set: Environment::new(),
    }
}

/// What the shell runs after its startup. It begins with no reserved word, for those can be aliased in bash, and each
/// shell's part ends the shell.
fn script(shell: &Path, try_: Try, frame: &Frame) -> OsString {
    let fill = |script: &str| {
        let script = script
            .replace("@NONCE@", &frame.nonce)
            .replace("@STREAM@", &format!("/proc/self/fd/{}", frame.descriptor));
        quote(script.as_bytes())
    };
    let script = [
        &b"\\eval ${BASH_VERSION:+"[..],
        &quote(bash(shell, try_, frame).as_bytes()),
        b"}\n\\eval ${KSH_VERSION:+",
        &fill(MKSH),
        b"}\n\\eval ",
        &fill(ASH),
        b"\n",
    ];
    OsString::from_vec(script.concat())
}

/// How bash writes its state down. That it reads ~/.bashrc after login files is no part of what it does as `sh`: with
/// a home that is none there is no such file.
fn bash(shell: &Path, try_: Try, frame: &Frame) -> OsString {
    let nowhere = Environment::from([("HOME".into(), "/dev/null".into())]);
    Bash.capture(shell, try_, frame, &nowhere)
        .argv
        .pop()
        .unwrap_or_default()
}

const PROFILE_FOLDER: &str = "/etc/profile.d";

/// Its `*.sh`, in the order of the shell's glob.
fn profiles(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("sh")))
        .collect();
    files.sort();
    files
}

pub(super) fn startup_files(environment: &Environment) -> Vec<PathBuf> {
    // The system's profile reads this folder, on every distribution that has it; a file added to it changes it.
    let mut files = vec![PathBuf::from("/etc/profile"), PathBuf::from(PROFILE_FOLDER)];
    files.extend(profiles(Path::new(PROFILE_FOLDER)));
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
    let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
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
            let mut files = startup_files(&environment);
            files.retain(|file| !file.starts_with(PROFILE_FOLDER));
            files
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
