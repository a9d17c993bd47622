//! `process/wait`.

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{ProcessId, Stream};
use crate::envelope::object;
use crate::exit::ExitCause;

/// Params of `process/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WaitParams {
    /// What to wait for.
    pub process_id: ProcessId,
    /// The condition; one that holds already answers at once.
    pub until: WaitUntil,
    /// Milliseconds; absent: no limit.
    pub timeout_ms: Option<u64>,
}

/// The condition of a `process/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitUntil {
    /// The leader ended.
    Exit,
    /// Nothing that it started is left.
    TreeEnded,
    /// Its output holds a pattern: exactly one of `literal` and `regex`.
    Output {
        /// Text to find.
        literal: Option<String>,
        /// Regular expression (Rust syntax, over bytes).
        regex: Option<String>,
        /// Only in this stream; default: any.
        stream: Option<Stream>,
        /// Offset in the stream to search from; default 0.
        from_offset: Option<u64>,
    },
    /// No output for so long.
    Quiet {
        /// Milliseconds.
        ms: u64,
        /// Only this stream; default: all.
        stream: Option<Stream>,
    },
    /// So many bytes of output since its start.
    Bytes {
        /// How many.
        count: u64,
        /// Only this stream; default: all together.
        stream: Option<Stream>,
    },
}

// By hand, for errors that name the member: the derived decoder of a tagged enum buffers its input.
impl<'de> Deserialize<'de> for WaitUntil {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        enum Type {
            Exit,
            TreeEnded,
            Output,
            Quiet,
            Bytes,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members {
            r#type: Type,
            literal: Option<String>,
            regex: Option<String>,
            stream: Option<Stream>,
            from_offset: Option<u64>,
            ms: Option<u64>,
            count: Option<u64>,
        }
        let members: Members = object(deserializer)?;
        let stream = members.stream;
        Ok(match members.r#type {
            Type::Exit => Self::Exit,
            Type::TreeEnded => Self::TreeEnded,
            Type::Output => {
                if members.literal.is_some() == members.regex.is_some() {
                    return Err(de::Error::custom("expected exactly one of `literal` and `regex`"));
                }
                Self::Output {
                    literal: members.literal,
                    regex: members.regex,
                    stream,
                    from_offset: members.from_offset,
                }
            }
            Type::Quiet => Self::Quiet {
                ms: members.ms.ok_or_else(|| de::Error::missing_field("ms"))?,
                stream,
            },
            Type::Bytes => Self::Bytes {
                count: members.count.ok_or_else(|| de::Error::missing_field("count"))?,
                stream,
            },
        })
    }
}

/// Why a `process/wait` answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum WaitReason {
    /// As asked.
    Exit,
    /// As asked.
    Output,
    /// As asked.
    Quiet,
    /// As asked.
    Bytes,
    /// As asked.
    TreeEnded,
    /// The condition can no longer be met.
    Closed,
    /// `timeoutMs` ran out.
    Timeout,
    /// The session is ending.
    SessionEnding,
}

/// Where a pattern was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OutputMatch {
    /// In which stream.
    pub stream: Stream,
    /// Offset of the first byte in its stream.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Result of `process/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WaitResponse {
    /// Why it answered.
    pub reason: WaitReason,
    /// The next seq to be made.
    pub next_seq: u64,
    /// Once exited.
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<String>,
    /// Once exited.
    pub cause: Option<ExitCause>,
    /// For the reason output.
    #[serde(rename = "match")]
    pub found: Option<OutputMatch>,
}
