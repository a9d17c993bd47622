//! `sandbox`: what a command may touch.
//!
//! The outer members are camelCase, everything under `permissions` is snake_case. The sets are closed: a
//! word outside them is refused, since what is not understood cannot be enforced.

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::PathUri;
use crate::envelope::{null_as_default, object};

/// `process/start.sandbox` and `fs/*.sandbox`; null or absent means none. Members that mean something on
/// another platform only (`windowsSandboxLevel`, `useLegacyLandlock`, …) are ignored as unknown ones are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxRequest {
    /// What is permitted.
    pub permissions: Permissions,
    /// Base of relative globs, and of project roots where `workspace_roots` is empty.
    pub cwd: Option<PathUri>,
    /// Each entry for the project roots stands for one entry per root.
    #[serde(default, deserialize_with = "null_as_default")]
    pub workspace_roots: Vec<PathUri>,
    /// What `~/` in globs means.
    pub user_home_dir: Option<PathUri>,
    /// More directories that `tmpdir` stands for.
    #[serde(default, deserialize_with = "null_as_default")]
    pub temporary_directories: Vec<PathUri>,
}

impl SandboxRequest {
    /// True when nothing is to be applied.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        self.permissions.is_disabled()
    }
}

/// What is permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Permissions {
    /// Files and network as said.
    Managed {
        /// Files.
        file_system: FileSystemPermissions,
        /// Network.
        network: NetworkAccess,
    },
    /// Everything: no sandbox.
    Disabled,
    /// Someone else guards the files; network as said.
    External {
        /// Network.
        network: NetworkAccess,
    },
}

impl Permissions {
    /// True when nothing is to be applied.
    #[must_use]
    pub fn is_disabled(&self) -> bool {
        matches!(self, Self::Disabled)
    }
}

/// Which network a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    /// None.
    Restricted,
    /// The daemon's own.
    Enabled,
}

/// Which files a command reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileSystemPermissions {
    /// All of them.
    Unrestricted,
    /// Those of the entries: the longest matching path wins; at equal depth deny, then write, then read.
    Restricted {
        /// What may be touched, and how.
        entries: Vec<FileSystemEntry>,
        /// How deep directories are searched for matches of a glob.
        glob_scan_max_depth: Option<u64>,
    },
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemEntry {
    /// For which paths.
    pub path: EntryPath,
    /// What is allowed there.
    pub access: Access,
    /// What to do when the path is missing; null: what the access demands.
    pub missing_path_behavior: Option<MissingPathBehavior>,
}

/// What is allowed at a path and below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
    /// Nothing. `none` is an older spelling.
    #[serde(alias = "none")]
    Deny,
}

/// What becomes of an entry whose path is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingPathBehavior {
    /// The entry counts for nothing.
    Skip,
}

/// The paths of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryPath {
    /// One path and what is below.
    Path {
        /// Absolute.
        path: PathUri,
    },
    /// What matches; with deny only.
    GlobPattern {
        /// A native path with `*`, `**`, `?`, `[…]`; may be relative or begin with `~/`.
        pattern: String,
    },
    /// A path that has a meaning.
    Special {
        /// Which.
        value: SpecialPath,
    },
}

/// A path that has a meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SpecialPath {
    /// `/`.
    Root,
    /// What programs need to run: `/usr`, `/bin`, `/etc`, …
    Minimal,
    /// The command's working directory.
    CurrentWorkingDirectory,
    /// The workspace's roots.
    ProjectRoots {
        /// A relative path below each.
        subpath: Option<String>,
    },
    /// `$TMPDIR` of the daemon, and `temporaryDirectories`.
    Tmpdir,
    /// `/tmp`.
    SlashTmp,
    /// Something newer than this protocol, ignored.
    Unknown {
        /// What the client calls it.
        path: Option<String>,
    },
}

// The derived decoders of tagged enums buffer their input, and then no error can say which member is wrong.
// So each is decoded as the sum of its variants' members, and told apart afterwards.

/// A member that a variant cannot do without.
fn required<T, E: de::Error>(member: Option<T>, name: &'static str) -> Result<T, E> {
    member.ok_or_else(|| E::missing_field(name))
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Type {
            Managed,
            Disabled,
            External,
        }
        #[derive(Deserialize)]
        struct Members {
            r#type: Type,
            file_system: Option<FileSystemPermissions>,
            network: Option<NetworkAccess>,
        }
        let members: Members = object(deserializer)?;
        Ok(match members.r#type {
            Type::Managed => Self::Managed {
                file_system: required(members.file_system, "file_system")?,
                network: required(members.network, "network")?,
            },
            Type::Disabled => Self::Disabled,
            Type::External => Self::External {
                network: required(members.network, "network")?,
            },
        })
    }
}

impl<'de> Deserialize<'de> for FileSystemPermissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Type {
            Unrestricted,
            Restricted,
        }
        #[derive(Deserialize)]
        struct Members {
            r#type: Type,
            entries: Option<Vec<FileSystemEntry>>,
            glob_scan_max_depth: Option<u64>,
        }
        let members: Members = object(deserializer)?;
        Ok(match members.r#type {
            Type::Unrestricted => Self::Unrestricted,
            Type::Restricted => Self::Restricted {
                entries: required(members.entries, "entries")?,
                glob_scan_max_depth: members.glob_scan_max_depth,
            },
        })
    }
}

impl<'de> Deserialize<'de> for EntryPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Type {
            Path,
            GlobPattern,
            Special,
        }
        #[derive(Deserialize)]
        struct Members {
            r#type: Type,
            path: Option<PathUri>,
            pattern: Option<String>,
            value: Option<SpecialPath>,
        }
        let members: Members = object(deserializer)?;
        Ok(match members.r#type {
            Type::Path => Self::Path {
                path: required(members.path, "path")?,
            },
            Type::GlobPattern => Self::GlobPattern {
                pattern: required(members.pattern, "pattern")?,
            },
            Type::Special => Self::Special {
                value: required(members.value, "value")?,
            },
        })
    }
}

impl<'de> Deserialize<'de> for SpecialPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Root,
            Minimal,
            CurrentWorkingDirectory,
            ProjectRoots,
            Tmpdir,
            SlashTmp,
            Unknown,
        }
        #[derive(Deserialize)]
        struct Members {
            kind: Kind,
            subpath: Option<String>,
            path: Option<String>,
        }
        let members: Members = object(deserializer)?;
        Ok(match members.kind {
            Kind::Root => Self::Root,
            Kind::Minimal => Self::Minimal,
            Kind::CurrentWorkingDirectory => Self::CurrentWorkingDirectory,
            Kind::ProjectRoots => Self::ProjectRoots {
                subpath: members.subpath,
            },
            Kind::Tmpdir => Self::Tmpdir,
            Kind::SlashTmp => Self::SlashTmp,
            Kind::Unknown => Self::Unknown { path: members.path },
        })
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
