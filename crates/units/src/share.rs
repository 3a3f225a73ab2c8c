//! Shares: probabilities and parts of a whole, as numbers from 0 to 1 or in percent.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};

use crate::written_as_text;

/// A share in percent, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent {
    share: f64,
}

impl Percent {
    /// A share from 0 to 1.
    pub(crate) const fn of(share: f64) -> Self {
        Self { share }
    }

    /// The share, from 0 to 1.
    pub const fn share(self) -> f64 {
        self.share
    }
}

written_as_text! {
    Percent: "Percent", "A share in percent.", "1 %";
}

/// Reads a share: a number, whose bounds are the reader's to check, or a text in percent. For `deserialize_with`.
///
/// # Errors
/// If it is neither.
pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = f64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number from 0 to 1, or a share such as \"1 %\"")
        }
        fn visit_f64<E: de::Error>(self, share: f64) -> Result<f64, E> {
            Ok(share)
        }
        fn visit_u64<E: de::Error>(self, share: u64) -> Result<f64, E> {
            Ok(share as f64)
        }
        fn visit_i64<E: de::Error>(self, share: i64) -> Result<f64, E> {
            Ok(share as f64)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
            text.parse::<Percent>().map(Percent::share).map_err(E::custom)
        }
    }
    deserializer.deserialize_any(Visitor)
}

/// [`read`], of a key that may be left out.
///
/// # Errors
/// If it is neither a number, nor a text in percent, nor null.
pub fn read_if_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    struct Read(f64);
    impl<'de> serde::Deserialize<'de> for Read {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            read(deserializer).map(Self)
        }
    }
    let given = <Option<Read> as serde::Deserialize>::deserialize(deserializer)?;
    Ok(given.map(|share| share.0))
}

/// The schema of a share, for `schemars(with = ...)`.
#[derive(Debug)]
pub struct Share;

impl JsonSchema for Share {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Share".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number" }, generator.subschema_for::<Percent>()] })
    }
}
