//! The command that restores a state and runs the user's script.

use exec_protocol::limits::SNAPSHOT_ENVIRONMENT_CHUNK_BYTES;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use exec_process::environment::Environment;
use memchr::memmem;

use super::definitions::first_read;
use super::words::Words;
use crate::dialect::Dialect as _;
use crate::dialect::bash::Bash;
use crate::state::{Replay, State, Transport};

/// The descriptor that a state closes: these shells name none of more than one digit.
const DESCRIPTOR: i32 = 9;

/// The state's first line.
pub(super) const CLOSE: &[u8] = b"exec 9<&-\n";

/// Variables that carry a state; the state's first command unsets them.
const CARRIER: &str = "EXEC_SERVER_STATE_";

/// Not `||`: mksh gives errexit its effect back after such a list.
const CHECK: &str = "; case $? in 0) ;; *) echo 'failed to restore shell snapshot' >&2 ;; esac";

pub(super) fn command(
    shell: &Path,
    state: &State,
    transport: Transport,
    script: &OsStr,
    arguments: &[OsString],
) -> Option<Replay> {
    if !state.file.starts_with(CLOSE) {
        return bash(shell, state, transport, script, arguments);
    }
    let mut set = Environment::new();
    // `command`: a special builtin that fails would end the shell.
    let restore = match transport {
        Transport::File(DESCRIPTOR) => format!("command . /proc/self/fd/{DESCRIPTOR}"),
        Transport::File(_) => return None,
        Transport::Environment => {
            let names: Vec<String> = (0..state.file.len().div_ceil(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES))
                .map(|number| format!("{CARRIER}{number}"))
                .collect();
            for (name, chunk) in names
                .iter()
                .zip(state.file.chunks(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES))
            {
                set.insert(name.into(), OsString::from_vec(chunk.to_vec()));
            }
            let values: String = names.iter().map(|name| format!("${{{name}}}")).collect();
            format!("command eval \"unset {}\n{values}\"", names.join(" "))
        }
    };
    let separator = if uses_alias(&state.file, script.as_bytes()) {
        "\n"
    } else {
        "; "
    };
    let mut whole = OsString::from(restore + CHECK + separator);
    whole.push(script);
    let mut argv = vec![shell.into(), "-c".into(), whole];
    argv.extend_from_slice(arguments);
    Some(Replay {
        argv,
        arg0: None,
        set,
        unset: Vec::new(),
        file: None,
    })
}

/// bash under the name of `sh` would be in posix mode from the start, and read nothing before a script. Under its own
/// name it restores that mode with the rest; what it calls itself in messages is `$0`, as for `sh -c SCRIPT NAME`.
fn bash(
    shell: &Path,
    state: &State,
    transport: Transport,
    script: &OsStr,
    arguments: &[OsString],
) -> Option<Replay> {
    let own_name = [OsString::from(shell)];
    let arguments = if arguments.is_empty() {
        &own_name
    } else {
        arguments
    };
    let mut replay = Bash.replay(shell, state, transport, script, arguments)?;
    replay.arg0 = Some("bash".into());
    Some(replay)
}

/// Whether what a shell reads of a script before it runs any of it may use an alias: only then must a line end before
/// it, so that it is read after the aliases were made. Otherwise it stays on the first line, where its error messages
/// say it is.
fn uses_alias(state: &[u8], script: &[u8]) -> bool {
    let mut aliases = memmem::find_iter(state, ALIAS)
        .filter_map(|at| Words::new(&state[at + ALIAS.len()..]).word())
        .peekable();
    if aliases.peek().is_none() {
        return false;
    }
    let script = first_read(script);
    aliases.any(|(word, _)| {
        let name = memchr::memchr(b'=', &word).map_or(&word[..], |equals| &word[..equals]);
        memmem::find_iter(script, name).any(|at| {
            // An alias is a whole word; of a line that is continued, any part may be.
            let before = script[..at].last();
            let after = script.get(at + name.len());
            let ends = |byte: Option<&u8>| byte.is_none_or(|byte| b" \t\n;&|<>()`\\".contains(byte));
            ends(before) && ends(after)
        })
    })
}

/// How an alias begins in a state.
pub(super) const ALIAS: &[u8] = b"\n\\command alias ";

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(file: &[u8], transport: Transport, script: &str) -> Option<Replay> {
        let state = State {
            file: file.to_vec(),
            text: Vec::new(),
            demand: None,
        };
        command(
            Path::new("/bin/sh"),
            &state,
            transport,
            script.as_ref(),
            &["zero".into(), "one".into()],
        )
    }

    #[test]
    fn the_script_stays_on_the_first_line_unless_it_may_use_an_alias() {
        let state = b"exec 9<&-\n\\command alias 'll=ls -l'\n";
        for (script, separator) in [
            ("ls", "; "),
            ("ll", "\n"),
            ("echo all; `ll`", "\n"),
            ("echo all", "; "),
            ("x\nll", "; "),
        ] {
            let replay = replay(state, Transport::File(9), script).unwrap();
            let whole = format!("command . /proc/self/fd/9{CHECK}{separator}{script}");
            assert_eq!(replay.argv, ["/bin/sh", "-c", &whole, "zero", "one"]);
            assert!(replay.set.is_empty() && replay.unset.is_empty() && replay.arg0.is_none());
        }
    }

    #[test]
    fn a_state_travels_in_chunks_that_its_first_command_unsets() {
        let mut file = CLOSE.to_vec();
        file.resize(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES + 1, b'x');
        let replay = replay(&file, Transport::Environment, "ls").unwrap();
        assert_eq!(
            replay.argv[2],
            *"command eval \"unset EXEC_SERVER_STATE_0 EXEC_SERVER_STATE_1\n${EXEC_SERVER_STATE_0}${EXEC_SERVER_STATE_1}\"; case $? in 0) ;; *) \
              echo 'failed to restore shell snapshot' >&2 ;; esac; ls"
        );
        let chunks: Vec<usize> = replay.set.values().map(|chunk| chunk.len()).collect();
        assert_eq!(chunks, [SNAPSHOT_ENVIRONMENT_CHUNK_BYTES, 1]);
    }

    #[test]
    fn only_the_descriptor_that_a_state_closes_will_do() {
        assert_eq!(replay(CLOSE, Transport::File(10), "ls"), None);
    }
}
