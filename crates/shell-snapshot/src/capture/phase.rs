//! How far a shell came that cannot tell it: which of its startup files it opened.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify;

use crate::dialect::PhaseFiles;

/// Looks whether the files of a shell's phases are opened. Somebody else may open one at the same time: then a
/// startup that failed early is taken for one that failed late, and the command starts as it is.
#[derive(Debug)]
pub(super) struct Phase(Option<Watch>);

#[derive(Debug)]
struct Watch {
    inotify: OwnedFd,
    /// The files only an interactive shell reads.
    interactive: Vec<i32>,
}

impl Phase {
    /// Begins to look. Where that is not possible, nothing is seen.
    pub(super) fn watch(files: &PhaseFiles) -> Self {
        if files.interactive.is_empty() {
            return Self(None);
        }
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let Ok(inotify) = inotify::init(flags) else {
            return Self(None);
        };
        let add = |path: &Path| inotify::add_watch(&inotify, path, inotify::WatchFlags::OPEN).ok();
        let interactive = files.interactive.iter().filter_map(|path| add(path)).collect();
        for path in &files.login {
            // A file that is not there is not opened.
            let _ = add(path);
        }
        Self(Some(Watch { inotify, interactive }))
    }

    /// Whether the last file opened was one that only an interactive shell reads: the login files in front of it
    /// are done, and none of those behind it was begun.
    pub(super) fn is_past_login(&self) -> bool {
        let Some(Watch { inotify, interactive }) = &self.0 else {
            return false;
        };
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(inotify, &mut buffer);
        let mut last = None;
        while let Ok(event) = events.next() {
            last = Some(event.wd());
        }
        last.is_some_and(|watch| interactive.contains(&watch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn the_last_file_opened_tells_the_phase() {
        let folder = tempfile::tempdir().unwrap();
        let [first, only_interactive, last] = ["a", "b", "c"].map(|name| folder.path().join(name));
        for path in [&first, &only_interactive] {
            fs::write(path, "").unwrap();
        }
        let files = || PhaseFiles {
            interactive: vec![only_interactive.clone()],
            login: vec![first.clone(), last.clone()],
        };
        for (opened, past) in [
            (&[][..], false),
            (&[&first], false),
            (&[&first, &only_interactive], true),
        ] {
            let phase = Phase::watch(&files());
            for path in opened {
                File::open(path).unwrap();
            }
            assert_eq!(phase.is_past_login(), past, "{opened:?}");
        }
        fs::write(&last, "").unwrap();
        let phase = Phase::watch(&files());
        File::open(&only_interactive).unwrap();
        File::open(&last).unwrap();
        assert!(!phase.is_past_login());
    }
}
