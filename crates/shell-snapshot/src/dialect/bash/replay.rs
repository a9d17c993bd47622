//! The command that restores a state and runs the user's script.

use exec_protocol::limits::SNAPSHOT_ENVIRONMENT_CHUNK_BYTES;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use exec_process::environment::Environment;

use super::read::{FILE_HEADER, GROUP, GUARD};
use super::words::quoted;
use crate::state::{Replay, State, Transport};

const CHUNK: &str = "EXEC_SERVER_STATE_";

/// With these in its environment bash would start in another mode, or with options of its own. The state has them.
const STATE_ONLY: &[&str] = &["BASHOPTS", "POSIXLY_CORRECT", "SHELLOPTS"];

/// `bash -c SCRIPT`, and `arguments` after it.
pub(super) fn command(
    shell: &Path,
    state: &State,
    transport: Transport,
    script: &OsStr,
    arguments: &[OsString],
) -> Replay {
    let mut unset: Vec<OsString> = STATE_ONLY.iter().map(Into::into).collect();
    let mut set = Environment::new();
    let mut file = None;
    let script = match transport {
        // What BASH_ENV names is read before the script, by every bash that runs one. It is not part of the script, so
        // `$0`, line numbers, `$BASH_EXECUTION_STRING` and the like are those of the script alone.
        Transport::File(descriptor) => {
            let demand = state.demand.as_ref();
            file = demand.and_then(|demand| demand.cut(&state.file, script.as_bytes()));
            set.insert("BASH_ENV".into(), format!("/proc/self/fd/{descriptor}").into());
            script.to_owned()
        }
        Transport::Environment => {
            unset.push("BASH_ENV".into());
            let text = without_descriptor(&state.file);
            let mut chunks = Vec::new();
            for (index, chunk) in text.chunks(SNAPSHOT_ENVIRONMENT_CHUNK_BYTES).enumerate() {
                let name = format!("{CHUNK}{index}");
                set.insert(name.clone().into(), OsString::from_vec(chunk.to_vec()));
                chunks.push(name);
            }
            behind_prelude(&chunks, script)
        }
    };
    let mut argv = vec![shell.into(), "-c".into(), script];
    argv.extend(arguments.iter().cloned());
    Replay {
        argv,
        arg0: None,
        set,
        unset,
        file,
    }
}

/// Of what a state assigns, what a shell at a prompt takes from its environment and a shell that runs a script does not.
/// IFS, OPTERR and OPTIND none does.
const NOT_TAKEN: &[&str] = &["BASH_ENV", "PS1", "PS2", "PS4"];

/// A state in front of whose last group those variables are assigned again that bash does not take from its environment.
pub(super) fn restated(file: &[u8], stated: &Environment) -> Option<Vec<u8>> {
    let statements: Vec<u8> = stated
        .iter()
        .filter(|(name, _)| NOT_TAKEN.iter().any(|known| name == known))
        .flat_map(|(name, value)| {
            let value = quoted(value.as_bytes());
            [b"declare -x ", name.as_bytes(), b"=", &value, b"\n"].concat()
        })
        .collect();
    if statements.is_empty() {
        return None;
    }
    // Behind the line feed.
    let at = memchr::memmem::rfind(file, GROUP.as_bytes())? + 1;
    Some([&file[..at], &statements, &file[at..]].concat())
}

/// A state that is evaluated: nothing is to be closed, and `eval` tells itself whether it could read all of it.
fn without_descriptor(state: &[u8]) -> Vec<u8> {
    let text = state.strip_prefix(FILE_HEADER.as_bytes()).unwrap_or(state);
    match memchr::memmem::find(text, GUARD.as_bytes()) {
        Some(at) => [&text[..at], &text[at + GUARD.len()..]].concat(),
        None => text.to_vec(),
    }
}

/// The script behind a first line that restores. The redirection there changes nothing and counts the lines anew. The
/// comment at the end of what is evaluated is what `$_` will be.
fn behind_prelude(chunks: &[String], script: &OsStr) -> OsString {
    let values: String = chunks.iter().map(|name| format!("${name}")).collect();
    let prelude = format!(
        "{{ BASH_EXECUTION_STRING=${{BASH_EXECUTION_STRING#*$'\\n'}}; \
         eval 'unset {names}'$'\\n'\"{values} #\" \"$BASH\" || \
         \\builtin echo 'failed to restore shell snapshot' >&2; }} 9<&${{BASH:LINENO=0:0}}-\n",
        names = chunks.join(" "),
    );
    let mut whole = prelude.into_bytes();
    whole.extend(script.as_bytes());
    OsString::from_vec(whole)
}
