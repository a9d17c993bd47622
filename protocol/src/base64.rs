//! Bytes that travel as standard, padded base64 (RFC 4648 §4).

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that are a base64 string on the wire. Decoding is strict: standard alphabet, padded, no white space.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(extend("contentEncoding" = "base64"))
)]
pub struct Base64(#[cfg_attr(feature = "schema", schemars(with = "String"), ts(as = "String"))] pub Vec<u8>);

impl fmt::Debug for Base64 {
    /// Shows the length only: the bytes are a child's input or output, which never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} bytes)", self.0.len())
    }
}

impl From<Vec<u8>> for Base64 {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Base64 {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64_simd::STANDARD.encode_to_string(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A borrowed string where the input allows it: chunks are large.
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a base64 string")
            }
            fn visit_borrowed_str<E: de::Error>(self, v: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(v))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(v.to_owned()))
            }
        }
        let text = deserializer.deserialize_str(Visitor)?;
        base64_simd::STANDARD
            .decode_to_vec(text.as_bytes())
            .map(Base64)
            .map_err(|_| de::Error::custom("not base64 (standard alphabet, padded, no white space)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decoding_is_strict() {
        let decode = |text: &str| serde_json::from_str::<Base64>(&format!("\"{text}\"")).map(|bytes| bytes.0);
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("aGk=").unwrap(), b"hi");
        assert_eq!(decode("\\u0061Gk=").unwrap(), b"hi");
        for wrong in ["aGk", "aGk==", "aG k=", "aGk=\\n", "_-8=", "aGk=aGk=", "é"] {
            assert!(decode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn contents_stay_out_of_logs() {
        assert_eq!(format!("{:?}", Base64(b"secret".to_vec())), "Base64(6 bytes)");
    }

    proptest! {
        #[test]
        fn every_byte_survives(bytes: Vec<u8>) {
            let text = serde_json::to_string(&Base64(bytes.clone())).unwrap();
            prop_assert_eq!(serde_json::from_str::<Base64>(&text).unwrap().0, bytes);
        }
    }
}
