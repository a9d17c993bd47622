//! The folder that zsh is told to be the user's own (ZDOTDIR), so that it reads the state as its `.zshenv`: the only
//! file a shell reads before it parses its script, and so the only way to have aliases in the script's first line and
//! nothing changed in its messages.
//!
//! The folder never holds a state. It holds links to the descriptor a command inherits the state by,
//! `/proc/self/fd/9`, under the names by which zsh looks for compiled files, and the fixed script that zsh reads if
//! the state is text. There is one per daemon, made when zsh is first captured, mode 0700. It does not lie in `/tmp`
//! or `/dev/shm`, which sandboxes let commands write: who can write to it can run code in every later zsh.

use exec_protocol::limits::SNAPSHOT_COMPILED_PARTS;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

/// The descriptor that commands inherit the state by.
pub(super) const STATE_DESCRIPTOR: i32 = 9;

const REPLAY: &str = include_str!("replay.zsh");
const SCRIPT: &str = ".zshenv";
const PREFIX: &str = "exec-server-zsh.";

/// A folder in which zsh finds states.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// Its script, locked for as long as the daemon lives.
    #[expect(dead_code, reason = "held for its lock")]
    script: File,
}

/// `None` inside: it could not be made.
static PLACE: OnceLock<Option<Place>> = OnceLock::new();

/// This daemon's folder, made when first asked for. `None`: nowhere to make it.
pub(super) fn path() -> Option<&'static Path> {
    PLACE
        .get_or_init(|| candidates().iter().find_map(|parent| make(parent).ok()))
        .as_ref()
        .map(|place| place.path.as_path())
}

/// Removes the folder that zsh finds states by, if there is one. For the daemon's end: no state can be replayed after.
pub fn remove_place() {
    if let Some(Some(place)) = PLACE.get() {
        // What cannot be removed holds nothing.
        let _ = fs::remove_dir_all(&place.path);
    }
}

/// Where the user's own programs keep what lasts as long as they run, then where they keep what can be made again.
fn candidates() -> Vec<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let user = fs::metadata("/proc/self").map(|own| own.uid()).ok();
    let mut candidates: Vec<PathBuf> = absolute("XDG_RUNTIME_DIR").into_iter().collect();
    candidates.extend(user.map(|user| PathBuf::from(format!("/run/user/{user}"))));
    candidates.extend((user == Some(0)).then(|| PathBuf::from("/run")));
    candidates.extend(absolute("XDG_CACHE_HOME"));
    candidates.extend(absolute("HOME").map(|home| home.join(".cache")));
    candidates
}

/// Makes a folder in `parent`, which must be there and nobody else's.
fn make(parent: &Path) -> io::Result<Place> {
    let metadata = fs::metadata(parent)?;
    let own = fs::metadata("/proc/self")?.uid();
    if metadata.uid() != own || metadata.mode() & 0o022 != 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    sweep(parent);
    let mut random = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let path = parent.join(format!("{PREFIX}{:016x}", u64::from_ne_bytes(random)));
    DirBuilder::new().mode(0o700).create(&path)?;
    match fill(&path) {
        Ok(script) => Ok(Place { path, script }),
        Err(error) => {
            let _ = fs::remove_dir_all(&path);
            Err(error)
        }
    }
}

/// Removes what daemons that were killed have left: what nobody holds a lock on.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        if entry.file_name().as_bytes().starts_with(PREFIX.as_bytes())
            && let Ok(script) = File::open(entry.path().join(SCRIPT))
            && lock(&script).is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn lock(script: &File) -> io::Result<()> {
    Ok(flock(script, FlockOperation::NonBlockingLockExclusive)?)
}

/// Puts into the folder what belongs there. The script comes locked.
fn fill(place: &Path) -> io::Result<File> {
    let state = format!("/proc/self/fd/{STATE_DESCRIPTOR}");
    for name in
        std::iter::once(SCRIPT.to_owned()).chain((1..=SNAPSHOT_COMPILED_PARTS).map(|part| part.to_string()))
    {
        symlink(&state, place.join(format!("{name}.zwc")))?;
    }
    // Locked before it has its name: a daemon that starts at the same moment must not take it for left behind.
    let unnamed = place.join("new");
    let mut script = File::create_new(&unnamed)?;
    lock(&script)?;
    script.write_all(
        REPLAY
            .replace("@STATE_FD@", &STATE_DESCRIPTOR.to_string())
            .as_bytes(),
    )?;
    // zsh reads a compiled file only if it is newer.
    script.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1))?;
    fs::rename(unnamed, place.join(SCRIPT))?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_place_holds_links_and_a_script_and_is_the_users_own() {
        let parent = tempfile::tempdir().unwrap();
        let made = make(parent.path()).unwrap();
        let place = made.path.as_path();
        assert_eq!(fs::metadata(place).unwrap().mode() & 0o7777, 0o700);
        let mut names: Vec<_> = fs::read_dir(place)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| !entry.file_type().unwrap().is_symlink())
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        assert_eq!(names, [".zshenv"]);
        assert_eq!(
            fs::read_link(place.join(".zshenv.zwc")).unwrap(),
            Path::new("/proc/self/fd/9")
        );
    }

    #[test]
    fn what_dead_daemons_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let live = make(parent.path()).unwrap();
        let dead = make(parent.path()).unwrap();
        let dead = { dead }.path;
        let other = parent.path().join("other");
        fs::create_dir(&other).unwrap();
        sweep(parent.path());
        assert!(!dead.exists());
        assert!(live.path.exists() && other.exists());
    }

    #[test]
    fn no_place_is_made_where_others_may_write() {
        let parent = tempfile::tempdir().unwrap();
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        make(parent.path()).unwrap_err();
    }
}
