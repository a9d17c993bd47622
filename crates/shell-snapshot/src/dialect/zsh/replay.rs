//! A command that restores a state before it runs its script.

use exec_protocol::limits::SNAPSHOT_ENVIRONMENT_CHUNK_BYTES;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use exec_process::environment::Environment;

use super::place::STATE_DESCRIPTOR;
use super::quoting;
use crate::state::{Replay, State, Transport};

/// The first line of a text for shells that cannot look into the place of the states.
const INLINE: &[u8] = b"# inline\n";

/// Tells `replay.zsh` where the text is; with a number behind, a piece of it.
const WHERE: &str = "EXEC_SERVER_STATE";

/// Tells the state which variables of its own are to be as the environment has them, divided by spaces.
const KEEP: &str = "EXEC_SERVER_KEEP";

/// Tells the state what ZDOTDIR is to be: the shell begins with the place of the states there.
const KEEP_ZDOTDIR: &str = "EXEC_SERVER_ZDOTDIR";

/// What tells a state to leave alone the variables `own` of an environment. The state knows which of them it has.
pub(super) fn keep(own: &BTreeSet<String>, environment: &Environment) -> Environment {
    let mut set = Environment::new();
    let there = |name: &&str| environment.contains_key(OsStr::new(name)) && !name.contains(' ');
    let names: Vec<&str> = own.iter().map(String::as_str).filter(there).collect();
    if !names.is_empty() {
        set.insert(KEEP.into(), names.join(" ").into());
    }
    if own.contains("ZDOTDIR")
        && let Some(value) = environment.get(OsStr::new("ZDOTDIR"))
    {
        set.insert(KEEP_ZDOTDIR.into(), value.clone());
    }
    set
}

/// A state as [`command`] reads it again. `inline`: commands do not see the place of the states.
pub(super) fn state(text: Vec<u8>, compiled: Vec<u8>, inline: bool) -> State {
    let close = close();
    if inline {
        State {
            file: [INLINE, &close, &text].concat(),
            text: Vec::new(),
            demand: None,
        }
    } else if compiled.is_empty() {
        State {
            file: [&close[..], &text].concat(),
            text: Vec::new(),
            demand: None,
        }
    } else {
        State {
            file: compiled,
            text,
            demand: None,
        }
    }
}

/// What closes the descriptor of a state that is text; one that is compiled does it itself.
fn close() -> Vec<u8> {
    format!("builtin exec {STATE_DESCRIPTOR}<&-\n").into_bytes()
}

/// The command. `None`: by another descriptor than the state closes.
///
/// With a place, the script is argv's as it came: everything about it is as in a shell of its own. Without, it is
/// evaluated after the state, for zsh reads all of a script before it runs the first line and would know no alias:
/// messages begin with `(eval):1:` then, not with `zsh:1:`, and `$ZSH_EXECUTION_STRING` is not the script.
pub(super) fn command(
    shell: &Path,
    state: &State,
    transport: Transport,
    place: Option<&Path>,
    script: &OsStr,
    arguments: &[OsString],
) -> Option<Replay> {
    let text = if state.text.is_empty() {
        &state.file
    } else {
        &state.text
    };
    let inline = text.starts_with(INLINE);
    let mut set = Environment::new();
    let mut load = Vec::new();
    match transport {
        Transport::File(STATE_DESCRIPTOR) => {
            // One that is compiled is found without being told of.
            if state.text.is_empty() {
                set.insert(WHERE.into(), "file".into());
            }
            load.extend(
                format!("\\builtin \\unset {WHERE}\n\\builtin \\. /proc/self/fd/{STATE_DESCRIPTOR}\n")
                    .bytes(),
            );
        }
        Transport::File(_) => return None,
        Transport::Environment => {
            let text = text.strip_prefix(INLINE).unwrap_or(text);
            let text = text.strip_prefix(close().as_slice()).unwrap_or(text);
            let mut names = vec![WHERE.to_owned()];
            for chunk in text.chunks(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES) {
                let name = format!("{WHERE}_{}", names.len() - 1);
                set.insert(name.clone().into(), OsString::from_vec(chunk.to_vec()));
                names.push(name);
            }
            set.insert(WHERE.into(), (names.len() - 1).to_string().into());
            load.extend(format!("\\builtin \\eval $'builtin unset {}\\n'\"", names.join(" ")).bytes());
            load.extend(names[1..].iter().flat_map(|name| format!("${name}").into_bytes()));
            load.extend(b"\"\n");
        }
    }
    let (flags, script) = if inline {
        let script = quoting::quote(script.as_bytes());
        ("-fc", quoting::join(&[&load, b"\\builtin \\eval ", &script]))
    } else {
        set.insert("ZDOTDIR".into(), place?.into());
        ("-c", script.to_owned())
    };
    let head = [shell.as_os_str().to_owned(), flags.into(), script];
    Some(Replay {
        argv: head.into_iter().chain(arguments.iter().cloned()).collect(),
        arg0: None,
        set,
        unset: Vec::new(),
        file: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replayed(state: &State, transport: Transport, place: Option<&str>) -> Option<Replay> {
        let arguments = ["zero".into(), "one".into()];
        let place = place.map(Path::new);
        command(
            Path::new("/bin/zsh"),
            state,
            transport,
            place,
            OsStr::new("it's"),
            &arguments,
        )
    }

    #[test]
    fn only_what_the_request_itself_sets_is_kept() {
        let environment: Environment = [
            ("PS1", "a"),
            ("PATH", "/bin"),
            ("X", "b"),
            ("ZDOTDIR", "/z"),
            ("a b", ""),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let kept = |own: &[&str]| {
            let own = own.iter().map(|&name| name.to_owned()).collect();
            keep(&own, &environment)
        };
        assert_eq!(
            kept(&["PS1", "X", "GONE", "ZDOTDIR", "a b"]),
            [
                ("EXEC_SERVER_KEEP", "PS1 X ZDOTDIR"),
                ("EXEC_SERVER_ZDOTDIR", "/z")
            ]
            .map(|(name, value)| (name.into(), value.into()))
            .into()
        );
        assert_eq!(kept(&["GONE"]), Environment::new());
    }

    #[test]
    fn with_a_place_the_script_is_handed_on_as_it_came() {
        let compiled = state(b"text".to_vec(), b"words".to_vec(), false);
        let text = state(b"text".to_vec(), Vec::new(), false);
        for (state, transport, names) in [
            (&compiled, Transport::File(9), &["ZDOTDIR"][..]),
            (&text, Transport::File(9), &["EXEC_SERVER_STATE", "ZDOTDIR"]),
            (
                &compiled,
                Transport::Environment,
                &["EXEC_SERVER_STATE", "EXEC_SERVER_STATE_0", "ZDOTDIR"],
            ),
        ] {
            let replay = replayed(state, transport, Some("/run/place")).unwrap();
            assert_eq!(replay.argv, ["/bin/zsh", "-c", "it's", "zero", "one"]);
            assert!(replay.set.keys().eq(names), "{:?}", replay.set);
        }
    }

    #[test]
    fn without_a_place_only_a_state_made_for_that_can_travel() {
        let inline = state(b"text".to_vec(), b"words".to_vec(), true);
        let replay = replayed(&inline, Transport::File(9), None).unwrap();
        assert_eq!(replay.argv[1], "-fc");
        assert!(
            replay.argv[2]
                .to_str()
                .unwrap()
                .ends_with("\\builtin \\eval $'it\\'s'")
        );
        let compiled = state(b"text".to_vec(), b"words".to_vec(), false);
        assert_eq!(replayed(&compiled, Transport::File(9), None), None);
        assert_eq!(replayed(&compiled, Transport::File(8), Some("/run/place")), None);
    }

    #[test]
    fn a_long_state_is_cut_into_variables_that_hold_it_all() {
        let long: Vec<u8> = (0..2 * SNAPSHOT_ENVIRONMENT_CHUNK_BYTES + 1)
            .map(|at| b'a' + (at % 26) as u8)
            .collect();
        let text = state(long.clone(), Vec::new(), false);
        let replay = replayed(&text, Transport::Environment, Some("/run/place")).unwrap();
        let pieces = (0..3).map(|piece| &replay.set[OsStr::new(&format!("{WHERE}_{piece}"))]);
        let whole: Vec<u8> = pieces.flat_map(|piece| piece.as_bytes().to_vec()).collect();
        assert_eq!(replay.set[OsStr::new(WHERE)], "3");
        assert!(whole == long);
    }
}
