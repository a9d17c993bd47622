//! bash, traced.

use std::collections::BTreeMap;

use super::Startup;

/// Reads the login files itself: PS4 of the environment means nothing to a bash that root runs, and there is no other
/// way to set it before the first file. The order is bash's, and what captures add to it: `~/.bashrc` where no login
/// file of the user's exists that would read it. The trace goes to the terminal, whatever becomes of descriptors 0–9.
const SCRIPT: &str = r#"\exec 200>/dev/tty
BASH_XTRACEFD=200
PS4='+@NONCE@ ${EPOCHREALTIME-} ${LINENO-} ${BASH_SOURCE-} @NONCE@ '
set -x
[[ ! -r /etc/profile ]] || \. /etc/profile
if [[ -r @HOME@/.bash_profile ]]; then \. @HOME@/.bash_profile
elif [[ -r @HOME@/.bash_login ]]; then \. @HOME@/.bash_login
elif [[ -r @HOME@/.profile ]]; then \. @HOME@/.profile
elif [[ -r @HOME@/.bashrc ]]; then \. @HOME@/.bashrc
fi
\builtin printf '\n@NONCE@ end %s\n' "${EPOCHREALTIME-}" >&200
\builtin kill -KILL $$
"#;

pub(super) fn startup(path: &str, nonce: String, home: Option<&str>) -> Startup {
    let home = home.map_or_else(
        || "~".to_owned(),
        |home| format!("'{}'", home.replace('\'', "'\\''")),
    );
    let script = SCRIPT.replace("@NONCE@", &nonce).replace("@HOME@", &home);
    let argv = [path, "--noprofile", "-l", "-i", "-c", &script];
    Startup {
        argv: argv.map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        nonce,
    }
}
