//! `envPolicy`: which variables of the daemon's own environment a child sees.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `process/start.envPolicy`. Applied in this order: `inherit`, default excludes, `exclude`, `set`,
/// `includeOnly`; the request's `env` is laid over the result and never filtered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct EnvPolicy {
    /// Where to start from.
    #[serde(deserialize_with = "crate::envelope::null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub inherit: Inherit,
    /// True keeps names that match `*KEY*`, `*SECRET*` or `*TOKEN*`.
    #[serde(deserialize_with = "crate::envelope::null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub ignore_default_excludes: bool,
    /// Whole-name globs (`*`, `?`), case-insensitive: names that match are dropped.
    #[serde(deserialize_with = "crate::envelope::null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub exclude: Vec<String>,
    /// Laid over what is left.
    #[serde(deserialize_with = "crate::envelope::null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub set: BTreeMap<String, String>,
    /// If not empty, only names that match one of these globs stay, those of `set` included.
    #[serde(deserialize_with = "crate::envelope::null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub include_only: Vec<String>,
}

/// Where the environment starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Inherit {
    /// The daemon's own environment.
    #[default]
    All,
    /// HOME, LANG, LC_ALL, LC_CTYPE, LOGNAME, PATH, SHELL, TEMP, TMP, TMPDIR and USER of it.
    Core,
    /// Nothing.
    None,
}
