//! What the daemon knows of its user and machine, from its environment and the user database.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use exec_process::environment::Environment;
use exec_protocol::PathUri;

/// Where the users are.
const PASSWD: &str = "/etc/passwd";
/// The shell of a user who has none.
const DEFAULT_SHELL: &str = "/bin/sh";
/// The directory for temporary files where `TMPDIR` names none.
const DEFAULT_TEMP: &str = "/tmp";

/// What is known of where commands run. It does not change while the daemon runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The user's shell.
    pub(crate) shell: PathUri,
    /// The daemon's working directory.
    pub(crate) cwd: PathUri,
    /// The user's home.
    pub(crate) home: PathUri,
    /// Where temporary files go.
    pub(crate) temp: PathUri,
}

impl Facts {
    /// From the daemon's environment, and the user database where that says nothing.
    pub(crate) fn gather(environment: &Environment, cwd: PathUri) -> Self {
        let uid = rustix::process::getuid().as_raw();
        Self::from_sources(environment, cwd, || {
            let passwd = std::fs::read(PASSWD).ok()?;
            find_user(&passwd, uid)
        })
    }

    fn from_sources(environment: &Environment, cwd: PathUri, user: impl Fn() -> Option<User>) -> Self {
        let uri = |path: &OsStr| PathUri::from_path(Path::new(path));
        let variable = |name: &str| environment.get(OsStr::new(name)).and_then(|path| uri(path));
        let default = |path: &str| uri(OsStr::new(path)).unwrap_or_else(PathUri::root);
        Self {
            shell: variable("SHELL")
                .or_else(|| uri(&user()?.shell))
                .unwrap_or_else(|| default(DEFAULT_SHELL)),
            home: variable("HOME")
                .or_else(|| uri(&user()?.home))
                .unwrap_or_else(PathUri::root),
            temp: variable("TMPDIR").unwrap_or_else(|| default(DEFAULT_TEMP)),
            cwd,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct User {
    home: OsString,
    shell: OsString,
}

/// Finds a user in the text of passwd(5).
fn find_user(passwd: &[u8], uid: u32) -> Option<User> {
    passwd.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let &[_, _, id, _, _, home, shell] = fields.as_slice() else {
            return None;
        };
        let path = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
        (std::str::from_utf8(id).ok()?.parse() == Ok(uid)).then(|| User {
            home: path(home),
            shell: path(shell),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"root:x:0:0:root:/root:/bin/bash\n# comment\nbroken:x:1\n\
        me:x:1000:1000:,,,:/home/me:/usr/bin/zsh\nodd:x:x:1::/odd:/odd\n";

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn uri(path: &str) -> PathUri {
        PathUri::from_path(Path::new(path)).unwrap()
    }

    #[test]
    fn users_are_found_by_number() {
        let shell_of = |uid| find_user(TEXT, uid).map(|user| user.shell);
        assert_eq!(shell_of(0), Some("/bin/bash".into()));
        assert_eq!(shell_of(1000), Some("/usr/bin/zsh".into()));
        assert_eq!(shell_of(1), None);
    }

    #[test]
    fn the_environment_comes_before_the_user_database() {
        let user = || find_user(TEXT, 1000);
        let all = [("HOME", "/h"), ("SHELL", "/bin/fish"), ("TMPDIR", "/var/tmp")];
        let facts = Facts::from_sources(&environment(&all), uri("/w"), user);
        let expected = |shell: &str, home: &str, temp: &str| Facts {
            shell: uri(shell),
            cwd: uri("/w"),
            home: uri(home),
            temp: uri(temp),
        };
        assert_eq!(facts, expected("/bin/fish", "/h", "/var/tmp"));
        let relative = environment(&[("HOME", "h"), ("SHELL", "bash"), ("TMPDIR", "")]);
        let facts = Facts::from_sources(&relative, uri("/w"), user);
        assert_eq!(facts, expected("/usr/bin/zsh", "/home/me", "/tmp"));
        let facts = Facts::from_sources(&relative, uri("/w"), || None);
        assert_eq!(facts, expected("/bin/sh", "/", "/tmp"));
    }
}
