//! Keys that may be left out: their defaults, and the values that are not written.

/// The default of a number of things.
pub fn one<T: From<u8>>() -> T {
    1.into()
}

pub fn is_one<T: From<u8> + PartialEq>(value: &T) -> bool {
    *value == one()
}

pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
