//! The command that restores a state and runs the user's script.

use exec_protocol::limits::{SNAPSHOT_ENVIRONMENT_CHUNK_BYTES, SNAPSHOT_FISH_STATE_BYTES};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use exec_process::environment::Environment;

use crate::state::{Replay, State, Transport};

/// Variables that carry a state; they are gone before its first command.
const CARRIER: &str = "EXEC_SERVER_STATE_";

const FAILED: &str = "; or builtin echo 'failed to restore shell snapshot' >&2";

pub(super) fn command(
    shell: &Path,
    state: &State,
    transport: Transport,
    script: &OsStr,
    arguments: &[OsString],
) -> Option<Replay> {
    let mut set = Environment::new();
    let restore = match transport {
        Transport::File(_) if state.file.len() <= SNAPSHOT_FISH_STATE_BYTES => return None,
        Transport::File(descriptor) => format!("builtin source /proc/self/fd/{descriptor}"),
        Transport::Environment => {
            let carried = carried(&state.file);
            let names: Vec<String> = (0..carried.len().div_ceil(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES))
                .map(|number| format!("{CARRIER}{number}"))
                .collect();
            for (name, chunk) in names.iter().zip(carried.chunks(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES)) {
                set.insert(name.into(), OsString::from_vec(chunk.to_vec()));
            }
            let values: String = names.iter().map(|name| format!("${name}")).collect();
            let text = format!("\"builtin set --erase {}\"\\n\"{values}\"", names.join(" "));
            if state.file.is_ascii() {
                format!("builtin eval {text}")
            } else {
                format!(
                    "builtin eval (builtin string unescape --style=url -- {text} | builtin string collect)"
                )
            }
        }
    };
    // No configuration: not the system's either. A login shell as the command that was asked for.
    let mut argv: Vec<OsString> = vec![
        shell.into(),
        "-Nl".into(),
        "-C".into(),
        (restore + FAILED).into(),
        "-c".into(),
        script.into(),
    ];
    argv.extend_from_slice(arguments);
    Some(Replay {
        argv,
        arg0: None,
        set,
        unset: Vec::new(),
        file: None,
    })
}

/// A state as the environment carries it: ASCII, for where the locale is not UTF-8 fish takes each byte of a variable
/// for a letter of its own. Bytes beyond are `%` and two digits, if there are any.
fn carried(state: &[u8]) -> Cow<'_, [u8]> {
    if state.is_ascii() {
        return Cow::Borrowed(state);
    }
    let mut carried = Vec::with_capacity(state.len() * 2);
    for byte in state {
        if byte.is_ascii() && *byte != b'%' {
            carried.push(*byte);
        } else {
            carried.extend(format!("%{byte:02X}").bytes());
        }
    }
    Cow::Owned(carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(file: Vec<u8>, transport: Transport) -> Option<Replay> {
        let state = State {
            file,
            text: Vec::new(),
            demand: None,
        };
        command(
            Path::new("/bin/fish"),
            &state,
            transport,
            "ls".as_ref(),
            &["one".into()],
        )
    }

    #[test]
    fn a_state_travels_in_chunks_that_are_gone_before_its_first_command() {
        let replay = replay(
            vec![b'x'; SNAPSHOT_ENVIRONMENT_CHUNK_BYTES + 1],
            Transport::Environment,
        )
        .unwrap();
        let restore = "builtin eval \"builtin set --erase EXEC_SERVER_STATE_0 EXEC_SERVER_STATE_1\"\\n\
                       \"$EXEC_SERVER_STATE_0$EXEC_SERVER_STATE_1\"; \
                       or builtin echo 'failed to restore shell snapshot' >&2";
        assert_eq!(
            replay.argv,
            ["/bin/fish", "-Nl", "-C", restore, "-c", "ls", "one"]
        );
        assert_eq!(
            replay.set.values().map(|chunk| chunk.len()).collect::<Vec<_>>(),
            [SNAPSHOT_ENVIRONMENT_CHUNK_BYTES, 1]
        );
    }

    #[test]
    fn a_descriptor_carries_only_what_the_environment_cannot() {
        assert_eq!(
            replay(vec![b'x'; SNAPSHOT_FISH_STATE_BYTES], Transport::File(9)),
            None
        );
        assert!(
            replay(vec![b'x'; SNAPSHOT_FISH_STATE_BYTES + 1], Transport::File(9))
                .unwrap()
                .set
                .is_empty()
        );
    }
}
