//! Params: from raw JSON to their type, with an error that names the member.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::RpcError;

/// Reads an absent or null member as its default. Goes with `#[serde(default)]`.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a struct from an object only: serde takes an array for one too, member by member.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct ObjectVisitor<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// Reads an optional struct from an object or null only. Goes with `#[serde(default)]`.
pub(crate) fn optional_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Object<T>(T);
    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            object(deserializer).map(Object)
        }
    }
    Ok(Option::<Object<T>>::deserialize(deserializer)?.map(|object| object.0))
}

/// Reads params into their type; the error names the member that is wrong.
///
/// # Errors
/// `invalidParam`: params that are positional (an array), no object, or of the wrong shape. Absent params are
/// read as `{}`.
pub fn decode_params<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    decode_params_text(params.map(RawValue::get))
}

/// As [`decode_params`], from text that is known to be JSON.
///
/// # Errors
/// As [`decode_params`].
pub fn decode_params_text<T: DeserializeOwned>(params: Option<&str>) -> Result<T, RpcError> {
    let text = params.unwrap_or("{}");
    if !text.starts_with('{') {
        let reason = if text.starts_with('[') {
            "positional params are not supported, give an object"
        } else {
            "expected an object"
        };
        return Err(RpcError::invalid_param("params", reason));
    }
    // The plain decoder first: the one that tracks paths costs twice as much, and good input needs no path.
    serde_json::from_str(text).map_err(|plain| explain::<T>(text).unwrap_or_else(|| describe(".", &plain)))
}

/// Decodes again, to find out where it fails.
fn explain<T: DeserializeOwned>(text: &str) -> Option<RpcError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let error = serde_path_to_error::deserialize::<_, T>(&mut deserializer).err()?;
    Some(describe(&error.path().to_string(), error.inner()))
}

/// `path` is `.` at the top.
fn describe(path: &str, error: &serde_json::Error) -> RpcError {
    let reason = error.to_string();
    // The position is one in a line that the client no longer has.
    let reason = reason
        .rsplit_once(" at line ")
        .map_or(&*reason, |(reason, _)| reason);
    // serde names a missing member in its text, not in its path.
    let missing = reason
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    let member = match (path, missing) {
        (".", Some(field)) => field.to_owned(),
        (".", None) => "params".to_owned(),
        (path, Some(field)) => format!("{path}.{field}"),
        (path, None) => path.to_owned(),
    };
    match missing {
        Some(_) => RpcError::invalid_param(member, "missing, and required"),
        None => RpcError::invalid_param(member, in_json_words(reason)),
    }
}

/// Says with JSON's words what serde says with Rust's.
fn in_json_words(reason: &str) -> String {
    let reason = reason
        .replacen("invalid type: sequence", "invalid type: array", 1)
        .replacen("invalid type: map", "invalid type: object", 1);
    let Some((given, expected)) = reason.split_once("expected ") else {
        return reason;
    };
    let expected = match expected {
        "u16" => "an integer from 0 to 65535",
        "u32" | "u64" | "usize" => "an integer, 0 or more",
        "i32" | "i64" => "an integer",
        "a sequence" => "an array",
        "a map" => "an object",
        other if other.starts_with("struct ") => "an object",
        _ => return reason,
    };
    format!("{given}expected {expected}")
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
