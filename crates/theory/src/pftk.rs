//! Throughput of Reno with fast retransmits, timeouts and a limited window (Padhye, Firoiu, Towsley
//! and Kurose, 1998), and the simplified form that TFRC uses (RFC 5348 §3.1).

use crate::error::{InvalidParameter, loss_rate, packets_per_ack, positive, require};

/// A Reno connection, as the model sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Connection {
    /// Mean round-trip time, s.
    pub rtt_s: f64,
    /// Length of a first timeout (`T_0`), s.
    pub t_rto_s: f64,
    /// Packets acknowledged by one ACK (b): 1, or 2 with delayed ACKs.
    pub packets_per_ack: f64,
    /// Largest window the receiver allows (`W_max`), packets; infinite if it never limits.
    pub w_max_packets: f64,
}

/// Sending rate, packets/s, at loss rate `p` by the full model, retransmissions included.
///
/// The loss rate is that of the first loss in a round: the model takes all later packets of the
/// round as lost too.
///
/// # Errors
/// A loss rate outside (0, 1); a time not above 0; b below 1; a largest window below 1.
pub fn full_pps(p: f64, connection: &Connection) -> Result<f64, InvalidParameter> {
    let p = loss_rate(p)?;
    let rtt = positive("rtt_s", connection.rtt_s)?;
    let t_rto = positive("t_rto_s", connection.t_rto_s)?;
    let b = packets_per_ack(connection.packets_per_ack)?;
    let w_max = connection.w_max_packets;
    require("w_max_packets", w_max, w_max >= 1.0, || {
        "a number of packets, at least 1; may be infinite".into()
    })?;

    let constant = (2.0 + b) / (3.0 * b);
    let unconstrained = constant + (8.0 * (1.0 - p) / (3.0 * b * p) + constant * constant).sqrt();
    let (window, rounds) = if unconstrained < w_max {
        (unconstrained, b / 2.0 * unconstrained + 1.0)
    } else {
        (w_max, b / 8.0 * w_max + (1.0 - p) / (p * w_max) + 2.0)
    };
    let timeout_share = timeout_share(p, window);
    let sent = (1.0 - p) / p + window + timeout_share / (1.0 - p);
    let waited = rtt * rounds + timeout_share * t_rto * backoff(p) / (1.0 - p);
    Ok(sent / waited)
}

/// Probability that a loss in a window of `w` packets ends in a timeout (Q̂).
fn timeout_share(p: f64, w: f64) -> f64 {
    // With at most three packets there are never three duplicate ACKs.
    if w <= 3.0 {
        return 1.0;
    }
    // 1 − (1 − p)^n, which cancels for the small p that matter.
    let some_of = |n: f64| -libm::expm1(n * libm::log1p(-p));
    let first_three_kept = 1.0 - some_of(3.0);
    (some_of(3.0) * (1.0 + first_three_kept * some_of(w - 3.0)) / some_of(w)).min(1.0)
}

/// Mean length of a run of timeouts in units of the first, times 1 − p: each doubles the last, up to
/// 64 times the first (f(p)).
fn backoff(p: f64) -> f64 {
    1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))))
}

/// TFRC's allowed rate, packets/s, at loss event rate `p` (RFC 5348 §3.1).
///
/// RFC 5348 recommends b = 1 and `t_rto_s` of [`tfrc_timeout_s`].
///
/// # Errors
/// A loss rate outside (0, 1); a time not above 0; b below 1.
pub fn tfrc_pps(rtt_s: f64, t_rto_s: f64, p: f64, b: f64) -> Result<f64, InvalidParameter> {
    let p = loss_rate(p)?;
    let b = packets_per_ack(b)?;
    let rtt_s = positive("rtt_s", rtt_s)?;
    let t_rto_s = positive("t_rto_s", t_rto_s)?;
    let by_window = rtt_s * (2.0 * b * p / 3.0).sqrt();
    let by_timeout = t_rto_s * 3.0 * (3.0 * b * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    Ok(1.0 / (by_window + by_timeout))
}

/// The timeout that TFRC assumes, s: four round-trip times, at least 1 s.
pub fn tfrc_timeout_s(rtt_s: f64) -> f64 {
    (4.0 * rtt_s).max(1.0)
}

#[cfg(test)]
mod tests;
