//! Which files zsh starts up with.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

/// Where builds of zsh look for the files of all users.
const SYSTEM: [&str; 2] = ["/etc/zsh", "/etc"];

/// The files an interactive login shell looks for, in its order. The later ones lie where ZDOTDIR is by then, and the
/// place to set it is zshenv: if one there says so in words that can be read without running it, its folder comes too.
pub(super) fn files(environment: &Environment) -> Vec<PathBuf> {
    let variable = |name: &str| environment.get(OsStr::new(name)).map(PathBuf::from);
    let home = variable("HOME").unwrap_or_else(|| "/".into());
    let mut folder = variable("ZDOTDIR").unwrap_or_else(|| home.clone());
    let mut files = Vec::new();
    for system in SYSTEM {
        let zshenv = Path::new(system).join("zshenv");
        folder = moved(&zshenv, environment, &home).unwrap_or(folder);
        files.push(zshenv);
    }
    let zshenv = folder.join(".zshenv");
    let mut folders = vec![folder];
    folders.extend(moved(&zshenv, environment, &home));
    files.push(zshenv);
    for name in ["zprofile", "zshrc", "zlogin"] {
        files.extend(SYSTEM.iter().map(|system| Path::new(system).join(name)));
        files.extend(folders.iter().map(|folder| folder.join(format!(".{name}"))));
    }
    files
}

/// Where a file sets ZDOTDIR to: the last `ZDOTDIR=WORD` that begins with a path, `~`, `$HOME` or
/// `$XDG_CONFIG_HOME` and goes on literally.
fn moved(file: &Path, environment: &Environment, home: &Path) -> Option<PathBuf> {
    let text = std::fs::read(file).ok()?;
    let config = environment.get(OsStr::new("XDG_CONFIG_HOME"));
    let config = config.map_or_else(|| home.join(".config"), PathBuf::from);
    text.split(|byte| b"\n;&".contains(byte))
        .filter_map(|command| {
            let at = memchr::memmem::find(command, b"ZDOTDIR=")?;
            let before = command[..at].trim_ascii();
            if !matches!(before, b"" | b"export" | b"typeset -x" | b"typeset -gx" | b": ${") {
                return None;
            }
            let word = &command[at + b"ZDOTDIR=".len()..];
            let word: Vec<u8> = word
                .iter()
                .copied()
                .filter(|byte| !b"\"'{}".contains(byte))
                .collect();
            let word = word.split(u8::is_ascii_whitespace).next()?;
            let (base, rest) = [
                (&b"$HOME"[..], home),
                (b"~", home),
                (b"$XDG_CONFIG_HOME:-$HOME/.config", &config),
                (b"$XDG_CONFIG_HOME:-~/.config", &config),
                (b"$XDG_CONFIG_HOME", &config),
                (b"/", Path::new("/")),
            ]
            .into_iter()
            .find_map(|(prefix, base)| Some((base, word.strip_prefix(prefix)?)))?;
            let rest = rest.strip_prefix(b"/").unwrap_or(rest);
            (!rest.iter().any(|byte| b"$`*?~".contains(byte))).then(|| base.join(OsStr::from_bytes(rest)))
        })
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[PathBuf], home: &Path) -> Vec<String> {
        let own = files.iter().filter_map(|file| file.strip_prefix(home).ok());
        own.map(|file| file.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn files_come_in_the_order_zsh_reads_them() {
        let environment = Environment::from([("HOME".into(), "/nowhere".into())]);
        let files = files(&environment);
        assert_eq!(
            names(&files, Path::new("/nowhere")),
            [".zshenv", ".zprofile", ".zshrc", ".zlogin"]
        );
        assert_eq!(files[0], Path::new("/etc/zsh/zshenv"));
        assert_eq!(files.len(), 12);
    }

    #[test]
    fn zdotdir_is_followed_where_it_is_said_in_words() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        for (zshenv, folder) in [
            ("export ZDOTDIR=~/.config/zsh", Some(".config/zsh/")),
            ("ZDOTDIR=\"$HOME/z\"; x", Some("z/")),
            (
                "export ZDOTDIR=${XDG_CONFIG_HOME:-$HOME/.config}/zsh",
                Some(".config/zsh/"),
            ),
            (": ${ZDOTDIR=~/z}", Some("z/")),
            ("echo MY_ZDOTDIR=~/z", None),
            ("ZDOTDIR=$(where)", None),
            ("ZDOTDIR=~/$x", None),
        ] {
            std::fs::write(home.join(".zshenv"), zshenv).unwrap();
            let environment = Environment::from([("HOME".into(), home.into())]);
            let found = names(&files(&environment), home);
            let mut expected = vec![".zshenv".to_owned()];
            for name in [".zprofile", ".zshrc", ".zlogin"] {
                expected.push(name.to_owned());
                expected.extend(folder.map(|folder| format!("{folder}{name}")));
            }
            assert_eq!(found, expected, "{zshenv}");
        }
    }

    #[test]
    fn zdotdir_of_the_environment_is_where_all_files_are() {
        let environment = Environment::from([
            ("HOME".into(), "/nowhere".into()),
            ("ZDOTDIR".into(), "/elsewhere".into()),
        ]);
        assert_eq!(names(&files(&environment), Path::new("/nowhere")), [""; 0]);
        assert_eq!(names(&files(&environment), Path::new("/elsewhere")).len(), 4);
    }
}
