//! Rounds of slow start that a short transfer takes (Cardwell, Savage and Anderson, 2000).

use crate::error::{InvalidParameter, packets_per_ack, positive};

/// Rounds to send `segments`, without loss, from a window of `initial_window` that grows by
/// γ = 1 + 1/b a round: `⌈log_γ(S (γ − 1)/IW + 1)⌉`, with one ACK for every b segments.
///
/// # Errors
/// A count that is not above 0, or b below 1.
pub fn rounds(segments: f64, initial_window: f64, b: f64) -> Result<u32, InvalidParameter> {
    let segments = positive("segments", segments)?;
    let mut window = positive("initial_window", initial_window)?;
    let growth = 1.0 + 1.0 / packets_per_ack(b)?;
    // Counted and not by logarithms, which may round an exact fit up by a whole round.
    let (mut sent, mut rounds) = (window, 1);
    while sent < segments {
        window *= growth;
        sent += window;
        rounds += 1;
    }
    Ok(rounds)
}

#[cfg(test)]
mod tests;
