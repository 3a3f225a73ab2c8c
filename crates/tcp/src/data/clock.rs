//! The clock of timestamps (RFC 7323 §5.4).

use ackclock_units::Instant;

/// Milliseconds, from 1 so that an echo of zero stays what it is before any segment has arrived.
#[expect(clippy::cast_possible_truncation, reason = "the clock wraps, as RFC 7323 §5.2 has it")]
pub const fn timestamp_clock(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000 + 1) as u32
}
