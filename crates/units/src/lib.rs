//! The quantities that every other crate speaks in, and their text forms.
//!
//! Times are whole nanoseconds, volumes whole bytes, rates whole bits per second. Each type has one
//! text form that people write (`"30 ms"`, `"1460 B"`, `"10 Mbit/s"`), read by [`str::parse`] and
//! written by [`Display`](std::fmt::Display).
//!
//! ```
//! use ackclock_units::{Bytes, Duration, Rate};
//!
//! let rate: Rate = "10 Mbit/s".parse().unwrap();
//! assert_eq!(rate.transmission_time(Bytes::new(1500)), "1.2 ms".parse::<Duration>().unwrap());
//! ```

mod name;
mod quantity;
pub mod random;
pub mod share;
mod text;
pub mod written;

pub use name::{LONGEST_NAME, NameError, check_line, check_name, is_printable};
pub use quantity::{Bytes, Duration, Frequency, Instant, Mss, PacketRate, Rate, RateOrZero};
pub use share::Percent;
pub use text::ParseError;
