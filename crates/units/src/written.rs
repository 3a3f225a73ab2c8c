//! The form of a value in a file: text with a unit, or a table that a `kind` tells apart.
//!
//! The types of every crate are read from scenarios as they are: [`written_as_text!`](crate::written_as_text) makes a
//! type that parses and prints a text of files and of their JSON schema, and [`kinds`] does the same for the choices
//! of a family.

mod draw;
pub mod kinds;

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{Schema, json_schema};
use serde::{Deserializer, de};

use crate::{Bytes, Duration, Frequency, Mss, PacketRate, Rate, RateOrZero};

pub use draw::{
    Draw, DurationDraw, ExponentialDraw, Lognormal, LognormalDraw, ParetoDraw, Quantile,
    QuantilesDraw, Quantity, Scaled, UniformDraw, ValuesDraw, WeibullDraw,
};
pub use {schemars, serde};

/// A value that stands in a file as text.
pub trait Written: FromStr<Err: Display> + Display {
    /// The name in the schema.
    const NAME: &'static str;
    /// The form of the text, in words.
    const SAYS: &'static str;
    /// A text that is valid.
    const EXAMPLE: &'static str;
}

/// The schema of a value's text.
pub fn schema<T: Written>() -> Schema {
    json_schema!({ "type": "string", "description": T::SAYS, "examples": [T::EXAMPLE] })
}

/// Reads a value from its text.
///
/// # Errors
/// The reason why the text is none of these values.
pub fn read<'de, T: Written, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Visitor<T>(PhantomData<T>);
    impl<T: Written> de::Visitor<'_> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "text such as \"{}\"", T::EXAMPLE)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_str(Visitor(PhantomData))
}

/// Makes types that parse and print texts of files: for each its name in the schema, the form in words, an example.
#[macro_export]
macro_rules! written_as_text {
    ($($type:ty: $name:literal, $says:literal, $example:literal;)*) => {
        $(
            impl $crate::written::Written for $type {
                const NAME: &'static str = $name;
                const SAYS: &'static str = $says;
                const EXAMPLE: &'static str = $example;
            }

            impl $crate::written::serde::Serialize for $type {
                fn serialize<S: $crate::written::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl<'de> $crate::written::serde::Deserialize<'de> for $type {
                fn deserialize<D: $crate::written::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> Result<Self, D::Error> {
                    $crate::written::read(deserializer)
                }
            }

            impl $crate::written::schemars::JsonSchema for $type {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    $name.into()
                }
                fn json_schema(
                    _: &mut $crate::written::schemars::SchemaGenerator,
                ) -> $crate::written::schemars::Schema {
                    $crate::written::schema::<Self>()
                }
            }
        )*
    };
}

written_as_text! {
    Duration: "Duration", "A duration: a number and ns, us, ms, s, min or h.", "30 ms";
    Bytes: "Bytes", "A volume: a number and B, kB, MB, GB, TB, KiB, MiB or GiB.", "1460 B";
    Mss: "Mss", "A segment size, from 1 B to 65535 B.", "1460 B";
    Rate: "Rate", "A rate: a number and bit/s, kbit/s, Mbit/s or Gbit/s.", "10 Mbit/s";
    RateOrZero: "RateOrZero", "A rate, which may be zero: a number and bit/s, kbit/s, Mbit/s or Gbit/s.", "0 bit/s";
    PacketRate: "PacketRate", "A rate of packets: a number and packet/s.", "100 packet/s";
    Frequency: "Frequency", "A rate of events: a number and /s, /min or /h.", "100 /s";
}
