//! zsh, traced.

use std::collections::BTreeMap;

use super::Startup;

/// Runs when all startup files are done.
const SCRIPT: &str = r#"\builtin print -rP -- $'\n'"@NONCE@ end %D{%s.%6.}"
\builtin kill -KILL $$
"#;

pub(super) fn startup(path: &str, nonce: String) -> Startup {
    let script = SCRIPT.replace("@NONCE@", &nonce);
    let argv = [path, "-o", "xtrace", "-l", "-i", "-c", &script];
    let prompt = format!("+{nonce} %D{{%s.%6.}} %I %x {nonce} ");
    Startup {
        argv: argv.map(str::to_owned).to_vec(),
        env: BTreeMap::from([("PS4".to_owned(), prompt)]),
        nonce,
    }
}
