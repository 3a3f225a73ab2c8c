//! The smaller and the larger of two real numbers.
//!
//! Of a number and NaN, [`f64::min`] gives the number, for which a processor takes five instructions where one would
//! do. Laws never have NaN.

/// The smaller of `a` and `b`, neither of them NaN.
#[inline]
pub const fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of `a` and `b`, neither of them NaN.
#[inline]
pub const fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
