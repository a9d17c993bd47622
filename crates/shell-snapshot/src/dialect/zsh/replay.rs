//! A command that restores a state before it runs its script.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use exec_process::environment::Environment;

use super::place::STATE_DESCRIPTOR;
use super::quoting;
use crate::state::{ENVIRONMENT_CHUNK_BYTES, Replay, State, Transport};

/// The first line of a text for shells that cannot look into the place of the states.
const INLINE: &[u8] = b"# inline\n";

/// Tells `replay.zsh` where the text is; with a number behind, a piece of it.
const WHERE: &str = "EXEC_SERVER_STATE";

/// A state as [`command`] reads it again. `inline`: commands do not see the place of the states.
pub(super) fn state(text: Vec<u8>, compiled: Vec<u8>, inline: bool) -> State {
    let close = close();
    if inline {
        State {
            file: [INLINE, &close, &text].concat(),
            text: Vec::new(),
        }
    } else if compiled.is_empty() {
        State {
            file: [&close[..], &text].concat(),
            text: Vec::new(),
        }
    } else {
        State { file: compiled, text }
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
            for chunk in text.chunks(ENVIRONMENT_CHUNK_BYTES) {
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
    })
}
