//! The files bash reads when a user opens a terminal.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

const PROFILE_FOLDER: &str = "/etc/profile.d";

/// Login files in their order, then what those usually read, then what an interactive shell reads. The folder of
/// /etc/profile is one of them: a file added to it changes it.
pub(super) fn files(environment: &Environment) -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/profile"), PROFILE_FOLDER.into()];
    files.extend(profiles(Path::new(PROFILE_FOLDER)));
    files.push("/etc/bash.bashrc".into());
    if let Some(home) = environment.get(OsStr::new("HOME")) {
        let home = Path::new(home);
        files.extend([".bash_profile", ".bash_login", ".profile", ".bashrc"].map(|name| home.join(name)));
    }
    files
}

/// `*.sh`, in the order in which the shell's glob has them.
fn profiles(folder: &Path) -> Vec<PathBuf> {
    // A folder that is not there or cannot be read has no files the shell could read.
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("sh")))
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_files_come_in_their_order() {
        let files = files(&Environment::from([("HOME".into(), "/home/u".into())]));
        assert_eq!(files[0], Path::new("/etc/profile"));
        let names = [
            "/home/u/.bash_profile",
            "/home/u/.bash_login",
            "/home/u/.profile",
            "/home/u/.bashrc",
        ];
        assert_eq!(files[files.len() - 4..], names.map(PathBuf::from));
        assert!(
            super::files(&Environment::new())
                .iter()
                .all(|file| file.starts_with("/etc"))
        );
    }
}
