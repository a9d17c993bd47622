//! `fs/*`: files.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::envelope::{null_as_default, object, optional_object};
use crate::sandbox::SandboxRequest;
use crate::{Base64, PathUri};

/// A name that the client chose for a handle or a watch: a string or an integer, given back as it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientId {
    /// An integer.
    Number(i64),
    /// A string.
    Text(String),
}

impl Serialize for ClientId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for ClientId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ClientId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ClientId, E> {
                Ok(ClientId::Number(number))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ClientId, E> {
                i64::try_from(number)
                    .map(ClientId::Number)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ClientId, E> {
                Ok(ClientId::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Params of `fs/getMetadata`, `fs/readFile`, `fs/readDirectory` and `fs/canonicalize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathParams {
    /// Of what.
    pub path: PathUri,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// Result of `fs/getMetadata`. A symbolic link's target is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// A directory.
    pub is_directory: bool,
    /// A regular file.
    pub is_file: bool,
    /// The path itself is a symbolic link.
    pub is_symlink: bool,
    /// Bytes.
    pub size: u64,
    /// When it was made, Unix milliseconds; 0 where the file system does not say.
    pub created_at_ms: i64,
    /// When its contents last changed, Unix milliseconds.
    pub modified_at_ms: i64,
}

/// Result of `fs/readFile`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadFileResponse {
    /// Its contents.
    pub data_base64: Base64,
}

/// Params of `fs/writeFile`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteFileParams {
    /// Which file.
    pub path: PathUri,
    /// Its new contents.
    pub data_base64: Base64,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// Params of `fs/createDirectory`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateDirectoryParams {
    /// Which directory.
    pub path: PathUri,
    /// Its parents too, and fine if it exists; default true.
    pub recursive: Option<bool>,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// Result of `fs/readDirectory`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadDirectoryResponse {
    /// What is in it, `.` and `..` left out.
    pub entries: Vec<DirectoryEntry>,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntry {
    /// Its name; bytes that are not UTF-8 are replaced.
    pub file_name: String,
    /// A directory.
    pub is_directory: bool,
    /// A regular file.
    pub is_file: bool,
}

/// Result of `fs/canonicalize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CanonicalizeResponse {
    /// The path without symbolic links, `.` and `..`.
    pub path: PathUri,
}

/// Params of `fs/walk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkParams {
    /// Where to begin.
    pub path: PathUri,
    /// How far to go.
    #[serde(deserialize_with = "object")]
    pub options: WalkOptions,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkOptions {
    /// Levels below the start.
    pub max_depth: u64,
    /// Directories opened.
    pub max_directories: u64,
    /// Entries returned.
    pub max_entries: u64,
    /// Enter directories behind symbolic links; default false.
    #[serde(default, deserialize_with = "null_as_default")]
    pub follow_directory_symlinks: bool,
    /// Leave out directories whose name begins with a dot; default false.
    #[serde(default, deserialize_with = "null_as_default")]
    pub prune_hidden_directories: bool,
}

/// Result of `fs/walk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkResponse {
    /// What was found.
    pub entries: Vec<WalkEntry>,
    /// What could not be read.
    pub errors: Vec<WalkError>,
    /// True when an option ended the walk early.
    pub truncated: bool,
}

/// One find of a walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkEntry {
    /// Where.
    pub path: PathUri,
    /// What.
    pub kind: WalkEntryKind,
}

/// What a walk found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WalkEntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// What a walk could not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkError {
    /// Where.
    pub path: PathUri,
    /// Why.
    pub message: String,
}

/// Params of `fs/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveParams {
    /// What.
    pub path: PathUri,
    /// A directory with what is in it; default true.
    pub recursive: Option<bool>,
    /// Fine if it is missing; default true.
    pub force: Option<bool>,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// Params of `fs/copy`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyParams {
    /// What.
    pub source_path: PathUri,
    /// Where to.
    pub destination_path: PathUri,
    /// A directory with what is in it.
    pub recursive: bool,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// Params of `fs/open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenParams {
    /// Names the handle in later messages.
    pub handle_id: ClientId,
    /// Which file.
    pub path: PathUri,
    /// What for; default read.
    pub mode: Option<OpenMode>,
    /// What may be touched; null: everything.
    #[serde(default, deserialize_with = "optional_object")]
    pub sandbox: Option<SandboxRequest>,
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OpenMode {
    /// Reading.
    Read,
    /// Writing all of it anew; visible, at once and whole, when it is closed.
    Replace,
}

/// Result of `fs/open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenResponse {
    /// As given.
    pub handle_id: ClientId,
}

/// Params of `fs/readBlock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadBlockParams {
    /// Of which file.
    pub handle_id: ClientId,
    /// Where to begin, bytes.
    pub offset: u64,
    /// How much at most, bytes.
    pub len: u64,
}

/// Result of `fs/readBlock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadBlockResponse {
    /// What was there.
    pub chunk: Base64,
    /// Nothing follows it.
    pub eof: bool,
}

/// Params of `fs/writeBlock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteBlockParams {
    /// Of which file.
    pub handle_id: ClientId,
    /// Where to begin, bytes.
    pub offset: u64,
    /// What to put there.
    pub chunk: Base64,
}

/// Params of `fs/close`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseParams {
    /// Which handle.
    pub handle_id: ClientId,
}

/// Params of `fs/watchMissing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchMissingParams {
    /// Names the watch in its notification.
    pub watch_id: ClientId,
    /// Paths that are missing.
    #[serde(default, deserialize_with = "null_as_default")]
    pub missing: Vec<PathUri>,
    /// A path that is there.
    pub present: Option<PathUri>,
}

/// Result of `fs/watchMissing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchMissingResponse {
    /// True.
    pub watching: bool,
}

/// `fs/missingChanged`: a missing path came into being, or the present one went. Sent once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingChangedNotification {
    /// Which watch.
    pub watch_id: ClientId,
}
