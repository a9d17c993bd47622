//! The command that captures, and the files it makes the shell read.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use crate::dialect::{CaptureCommand, Try};
use crate::sections::Frame;

const SCRIPT: &str = include_str!("capture.fish");

pub(super) fn command(shell: &Path, try_: Try, frame: &Frame) -> CaptureCommand {
    let flags = match try_ {
        Try::Interactive => "-lic",
        Try::NonInteractive => "-lc",
    };
    let script = SCRIPT
        .replace("@NONCE@", &frame.nonce)
        .replace("@STREAM@", &frame.descriptor.to_string());
    CaptureCommand {
        argv: vec![shell.into(), flags.into(), script.into()],
        arg0: None,
        set: Environment::new(),
    }
}

/// Where fish keeps what comes with the system, unless it was built for another place.
const SYSTEM: &str = "/etc/fish";

pub(super) fn startup_files(environment: &Environment) -> Vec<PathBuf> {
    let variable = |name: &str| {
        environment
            .get(OsStr::new(name))
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let own = variable("XDG_CONFIG_HOME")
        .or_else(|| Some(variable("HOME")?.join(".config")))
        .map(|folder| folder.join("fish"));
    let system = Path::new(SYSTEM);
    // A folder is watched as well as what is in it: a new file is a change.
    let mut files = Vec::new();
    for folder in own.iter().map(PathBuf::as_path).chain([system]) {
        files.push(folder.join("conf.d"));
        files.extend(snippets(&folder.join("conf.d")));
    }
    files.push(system.join("config.fish"));
    if let Some(own) = own {
        files.push(own.join("config.fish"));
        files.push(own.join("fish_variables"));
        // Functions are found in it when they are called; whether they exist is part of what is captured.
        files.push(own.join("functions"));
    }
    files
}

/// The files of a folder for configuration, in the order they are read.
fn snippets(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("fish")))
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_startup_files_follow_the_configuration_folder() {
        let files = |variables: &[(&str, &str)]| {
            let environment = variables
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            startup_files(&environment)
        };
        let home = files(&[("HOME", "/nowhere/h")]);
        for file in ["config.fish", "conf.d", "fish_variables"] {
            assert!(
                home.contains(&Path::new("/nowhere/h/.config/fish").join(file)),
                "{file}"
            );
        }
        assert!(home.contains(&PathBuf::from("/etc/fish/config.fish")));
        let xdg = files(&[("HOME", "/nowhere/h"), ("XDG_CONFIG_HOME", "/nowhere/x")]);
        assert!(xdg.contains(&PathBuf::from("/nowhere/x/fish/config.fish")));
        assert!(!xdg.iter().any(|file| file.starts_with("/nowhere/h")));
    }
}
