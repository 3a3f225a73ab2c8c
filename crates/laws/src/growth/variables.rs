//! The variables that a law publishes: what it knows of the path and does with it, beside the window and the threshold.

use ackclock_units::{Bytes, Duration};

/// A variable of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the law's source, with its unit.
    pub name: &'static str,
    /// Its meaning, in one line.
    pub help: &'static str,
}

/// A variable at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Nothing is known yet, or no bound is in force.
    Unknown,
    /// A number in the unit of the variable's name; 1 and 0 for true and false.
    Number(f64),
    /// A word, such as the name of a state.
    Word(&'static str),
}

/// Infinity stands for no bound.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Unknown }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Number(f64::from(u8::from(truth)))
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

/// In seconds.
impl From<Duration> for Value {
    fn from(time: Duration) -> Self {
        Self::Number(time.as_secs_f64())
    }
}

/// In bytes.
impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Self {
        Self::Number(bytes.as_f64())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}

/// The method of [`Growth`](super::Growth), of a rule or of a module by which a law publishes its variables:
/// `variables! { law => "name", "its meaning": value; ... }`.
macro_rules! variables {
    ($law:ident => $($name:literal, $help:literal: $value:expr;)+) => {
        fn variables(&self, give: &mut dyn FnMut(crate::growth::Variable, crate::growth::Value)) {
            let $law = self;
            $(give(crate::growth::Variable { name: $name, help: $help }, $value.into());)+
        }
    };
}
pub(super) use variables;

/// A time that Linux's modules keep in whole microseconds, in seconds.
pub(super) const fn from_micros(time: u64) -> f64 {
    time as f64 / 1e6
}
