//! Params: from raw JSON to their type, with an error that names the member.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::RpcError;

/// Reads an absent or null member as its default.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads params into their type; the error names the member that is wrong.
///
/// # Errors
/// `invalidParam`: params that are absent, positional (an array), no object, or of the wrong shape.
pub fn decode_params<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    let text = params.map_or("{}", RawValue::get);
    if !text.starts_with('{') {
        let reason = if text.starts_with('[') {
            "positional params are not supported, give an object"
        } else {
            "expected an object"
        };
        return Err(RpcError::invalid_param("params", reason));
    }
    // The plain decoder first: the one that tracks paths costs twice as much, and good input needs no path.
    serde_json::from_str(text).or_else(|_| {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let path = error.path().to_string();
            let reason = error.into_inner().to_string();
            // serde names a missing member in its text only.
            let missing = reason
                .strip_prefix("missing field `")
                .and_then(|rest| rest.split('`').next());
            let member = match (path.as_str(), missing) {
                (".", Some(field)) => field.to_owned(),
                (".", None) => "params".to_owned(),
                (path, Some(field)) => format!("{path}.{field}"),
                (path, None) => path.to_owned(),
            };
            let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
            RpcError::invalid_param(member, reason)
        })
    })
}
