//! The files behind a snapshot.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exec_process::environment::Environment;
use exec_protocol::limits::SnapshotLimits;

use super::identity::{Identity, is_local};
use super::mentioned::{Mentioned, hash};
use super::sourced::{Named, Places, named_files};

/// Startup files as they were: present or absent.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    files: Vec<File>,
    /// What they name.
    mentioned: Mentioned,
    /// Bytes read of each.
    max: usize,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    /// As it was when it was looked at last; `None`: absent.
    identity: Mutex<Option<Identity>>,
    /// A hash of its text, where all of it was read: a startup file that another one writes anew each time, with
    /// the same text, has not changed.
    text: Option<u64>,
    /// The kernel may be believed without it asking anybody else.
    is_local: bool,
}

impl File {
    fn look(path: PathBuf) -> Self {
        let identity = Identity::of(&path);
        // A folder that has no such file is asked for it in any case.
        let is_local = identity.is_none() || is_local(&path);
        Self {
            path,
            identity: Mutex::new(identity),
            text: None,
            is_local,
        }
    }

    fn identity(&self) -> MutexGuard<'_, Option<Identity>> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_same_at_a_glance(&self) -> bool {
        self.is_local && Identity::at_a_glance(&self.path) == Some(*self.identity())
    }

    fn has_changed(&self, max: usize) -> bool {
        let now = Identity::of(&self.path);
        let was = *self.identity();
        if now == was {
            return false;
        }
        let may_be_same = match (was, now) {
            (Some(was), Some(now)) => self.text.is_some() && was.may_hold_the_same(&now),
            _ => false,
        };
        if may_be_same && read(&self.path, max).map(|text| hash(&text)) == self.text {
            // Looked at before its text was read: a change after that is seen.
            *self.identity() = now;
            return false;
        }
        true
    }
}

impl Watched {
    /// Looks at a shell, at its startup files, and at those that they source by a literal path. Blocks.
    pub(crate) fn look(
        shell: &Path,
        startup: Vec<PathBuf>,
        environment: &Environment,
        limits: &SnapshotLimits,
    ) -> Self {
        let places = Places::of(environment);
        let mut files = vec![File::look(shell.to_owned())];
        // Before its text is read: a change after that is seen.
        let add = |files: &mut Vec<File>, path: PathBuf| {
            if files.len() < limits.watched_files && !files.iter().any(|known| known.path == path) {
                files.push(File::look(path));
            }
        };
        for path in startup {
            add(&mut files, path);
        }
        let mut mentioned = Mentioned::default();
        // The shell itself sources nothing.
        let mut at = 1;
        while let Some(file) = files.get_mut(at) {
            at += 1;
            if !file.identity().as_ref().is_some_and(Identity::is_regular) {
                continue;
            }
            let Some(text) = read(&file.path, limits.searched_bytes) else {
                mentioned.miss();
                continue;
            };
            let whole = text.len() < limits.searched_bytes;
            file.text = whole.then(|| hash(&text));
            mentioned.read(&text, whole);
            for named in named_files(&text, &places) {
                match named {
                    Named::File(path) => add(&mut files, path),
                    Named::Folder(path) => {
                        let inside = files_in(&path, limits.watched_files);
                        add(&mut files, path);
                        for path in inside {
                            add(&mut files, path);
                        }
                    }
                }
            }
        }
        Self {
            files,
            mentioned,
            max: limits.searched_bytes,
        }
    }

    /// Whether it is plain without waiting for anybody that every file is as it was.
    pub(crate) fn is_same_at_a_glance(&self) -> bool {
        self.files.iter().all(File::is_same_at_a_glance)
    }

    /// Whether a file is no longer as it was. Blocks, for a stat of each; one that is another is read.
    pub(crate) fn has_changed(&self) -> bool {
        self.files.iter().any(|file| file.has_changed(self.max))
    }

    /// Whether a startup file may name a variable. One that was not read, or not to its end, may.
    pub(crate) fn mentions(&self, name: &OsStr) -> bool {
        self.mentioned.may_hold(name.as_bytes())
    }

    /// The files, and whether they were there.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.files
            .iter()
            .map(|file| (file.path.as_path(), file.identity().is_some()))
    }
}

/// The files of a folder that a pattern finds, in order; of a folder with more than `most`, none: it is no place for
/// startup files.
fn files_in(folder: &Path, most: usize) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .take(most + 1)
        .filter(|entry| !entry.file_name().as_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .collect();
    if files.len() > most {
        return Vec::new();
    }
    files.sort_unstable();
    files
}

fn read(path: &Path, max: usize) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let mut text = Vec::new();
    file.take(max as u64).read_to_end(&mut text).ok()?;
    Some(text)
}

impl Places {
    fn of(environment: &Environment) -> Self {
        let directory = |name: &str| {
            environment
                .get(OsStr::new(name))
                .filter(|value| value.as_bytes().starts_with(b"/"))
                .map(OsString::as_os_str)
                .map(|value| value.as_bytes().to_vec())
        };
        Self {
            home: directory("HOME"),
            zdotdir: directory("ZDOTDIR").or_else(|| directory("HOME")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Home(tempfile::TempDir);

    impl Home {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.path(name), text).unwrap();
        }

        fn look(&self, startup: &[&str], limits: &SnapshotLimits) -> Watched {
            let startup = startup.iter().map(|name| self.path(name)).collect();
            let environment = [("HOME".into(), self.0.path().into())].into();
            Watched::look(Path::new("/shell"), startup, &environment, limits)
        }
    }

    fn names(home: &Home, watched: &Watched) -> Vec<(String, bool)> {
        let name = |path: &Path| path.strip_prefix(home.0.path()).unwrap().display().to_string();
        let files = watched.files().skip(1);
        files.map(|(path, there)| (name(path), there)).collect()
    }

    #[test]
    fn files_are_followed_to_those_they_source_and_each_is_watched_once() {
        let home = Home::new();
        home.write(".profile", ". ~/.bashrc\n. $HOME/missing\n");
        home.write(".bashrc", "source ~/.aliases; . ~/.profile\n");
        home.write(".aliases", "alias a=b\n");
        fs::create_dir(home.path("dir")).unwrap();
        let watched = home.look(&[".absent", ".profile", "dir"], &SnapshotLimits::default());
        let want = [
            (".absent", false),
            (".profile", true),
            ("dir", true),
            (".bashrc", true),
            ("missing", false),
            (".aliases", true),
        ];
        assert_eq!(
            names(&home, &watched),
            want.map(|(name, there)| (name.to_owned(), there))
        );
        assert!(!watched.has_changed());
    }

    #[test]
    fn folders_that_startup_goes_through_are_watched_with_their_files() {
        let home = Home::new();
        fs::create_dir(home.path("rc.d")).unwrap();
        for (name, text) in [
            ("rc.d/b", ". ~/more"),
            ("rc.d/a", ""),
            ("rc.d/.hidden", ""),
            ("more", ""),
        ] {
            home.write(name, text);
        }
        home.write(".bashrc", "for rc in ~/rc.d/*; do . $rc; done\n");
        let watched = home.look(&[".bashrc"], &SnapshotLimits::default());
        let found: Vec<String> = names(&home, &watched).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, [".bashrc", "rc.d", "rc.d/a", "rc.d/b", "more"]);
        assert!(!watched.has_changed());
        home.write("rc.d/c", "");
        assert!(watched.has_changed(), "a file was added");
        let few = SnapshotLimits {
            watched_files: 3,
            ..SnapshotLimits::default()
        };
        let watched = home.look(&[".bashrc"], &few);
        assert_eq!(
            watched.files().count(),
            3,
            "the shell, the startup file, the folder"
        );
    }

    #[test]
    fn every_kind_of_change_is_seen() {
        type Change = fn(&Home);
        let changes: &[(&str, Change)] = &[
            ("longer", |home| home.write(".rc", ". ~/.inner\nmore\n")),
            ("other text of the same length", |home| {
                home.write(".inner", "two");
                let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
                let file = fs::File::options()
                    .append(true)
                    .open(home.path(".inner"))
                    .unwrap();
                file.set_modified(time).unwrap();
            }),
            ("replaced", |home| {
                home.write("new", "two");
                let modified = fs::metadata(home.path(".inner")).unwrap().modified().unwrap();
                let file = fs::File::options().append(true).open(home.path("new")).unwrap();
                file.set_modified(modified).unwrap();
                fs::rename(home.path("new"), home.path(".inner")).unwrap();
            }),
            ("gone", |home| fs::remove_file(home.path(".inner")).unwrap()),
            ("come", |home| home.write(".absent", "")),
        ];
        for (what, change) in changes {
            let home = Home::new();
            home.write(".rc", ". ~/.inner\n");
            home.write(".inner", "one");
            let watched = home.look(&[".rc", ".absent"], &SnapshotLimits::default());
            assert!(!watched.has_changed(), "{what}");
            change(&home);
            assert!(!watched.is_same_at_a_glance(), "{what}");
            assert!(watched.has_changed(), "{what}");
        }
    }

    #[test]
    fn the_same_text_written_again_is_no_change() {
        let home = Home::new();
        home.write(".rc", "tool >~/.made; . ~/.made\n");
        home.write(".made", "one");
        let watched = home.look(&[".rc"], &SnapshotLimits::default());
        for _ in 0..2 {
            fs::remove_file(home.path(".made")).unwrap();
            home.write(".made", "one");
            assert!(!watched.has_changed());
        }
        home.write(".made", "two");
        assert!(watched.has_changed());
    }

    #[test]
    fn so_many_files_and_so_much_of_each() {
        let home = Home::new();
        home.write(".rc", &format!(". ~/first\n{}\n. ~/late\n", "#".repeat(100)));
        home.write("first", ". ~/second\n");
        let limits = SnapshotLimits {
            searched_bytes: 100,
            watched_files: 4,
            ..SnapshotLimits::default()
        };
        let watched = home.look(&[".rc"], &limits);
        let seen = names(&home, &watched);
        assert_eq!(seen.last(), Some(&("second".to_owned(), false)));
        let limits = SnapshotLimits {
            watched_files: 3,
            ..limits
        };
        assert_eq!(home.look(&[".rc"], &limits).files().count(), 3);
    }
}
