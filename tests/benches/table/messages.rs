//! The few messages the bench sends, and what it looks for in those that come back.

use memchr::memmem;

use crate::Error;

/// No message but a chunk of output is longer.
const LONGEST_SMALL_LINE: usize = 2_000;
/// The environment of every command.
const ENVIRONMENT: &str = r#"{"PATH":"/usr/local/bin:/usr/bin:/bin","LC_ALL":"C.UTF-8"}"#;

/// What the descriptors of a process are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descriptors {
    Pipes,
    Terminal,
}

/// The answer to a request, known by its id.
#[derive(Debug)]
pub(crate) struct Reply(memmem::Finder<'static>);

impl Reply {
    /// The one to the request with this id.
    pub(crate) fn to(id: u64) -> Self {
        Self(memmem::Finder::new(format!("\"id\":{id}").as_bytes()).into_owned())
    }

    /// Whether this line is it.
    pub(crate) fn is(&self, line: &[u8]) -> bool {
        if line.len() > LONGEST_SMALL_LINE * 4 || memmem::find(line, b"\"method\":").is_some() {
            return false;
        }
        let after = |at: usize| line.get(at + self.0.needle().len());
        self.0
            .find(line)
            .is_some_and(|at| !after(at).is_some_and(u8::is_ascii_digit))
    }
}

/// Whether an answer is a result.
///
/// # Errors
/// It is an error: the line.
pub(crate) fn expect_result(line: &[u8]) -> Result<(), Error> {
    if memmem::find(line, b"\"error\":").is_some() {
        return Err(String::from_utf8_lossy(line).into_owned().into());
    }
    Ok(())
}

/// A request that every server answers at once, without doing anything.
pub(crate) const NOTHING: &str = r#"{"processId":"none"}"#;

/// A request, with its newline.
pub(crate) fn request_line(id: u64, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
}

/// Params of `process/start`, the same for every server.
pub(crate) fn start_params(id: &str, argv: &[&str], stdio: Descriptors) -> String {
    let argv = serde_json::Value::from(argv);
    let tty = stdio == Descriptors::Terminal;
    format!(
        r#"{{"processId":"{id}","argv":{argv},"cwd":"file:///","env":{ENVIRONMENT},"tty":{tty},"pipeStdin":false,"arg0":null}}"#
    )
}

/// Whether a line is a notification of this method; never one with much output.
pub(crate) fn is_about(line: &[u8], method: &str) -> bool {
    line.len() < LONGEST_SMALL_LINE && memmem::find(line, method.as_bytes()).is_some()
}

/// Whether a line is output of the echoing terminal.
pub(crate) fn is_echo(line: &[u8]) -> bool {
    is_about(line, "process/output") && memmem::find(line, b"\"processId\":\"echo\"").is_some()
}
