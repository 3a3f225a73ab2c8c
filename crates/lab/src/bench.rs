//! The workload by which simulators are compared.

use serde_json::json;

use crate::from_json;
use crate::sweep::{SweepError, simulate_one};

/// The rate below which access links do not fall.
const LEAST_ACCESS_BPS: u64 = 1_000_000_000;

/// What one run of W(N, C) did.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchResult {
    /// Packets that crossed the bottleneck from the senders to the receivers.
    pub delivered_packets: u64,
    /// Events that the clock handled.
    pub events: u64,
    /// The share of time in which the bottleneck was sending.
    pub utilisation: f64,
    /// Packets that the bottleneck's queue refused.
    pub dropped_packets: u64,
}

/// Runs W(N, C): `flows` long-lived flows of `variant` across a dumbbell of `rate_bps`.
///
/// Full path: access links on both sides, as fast as the bottleneck but at least 1 Gbit/s, and a
/// reverse path of real links. 1500-byte packets (MSS 1448), base round trip 100 ms, a drop-tail
/// buffer of one bandwidth-delay product, an ACK for every packet, starts 1 ms apart, no probes.
///
/// # Errors
/// Numbers of which no scenario can be made, or a result that cannot be right.
pub fn bench_dumbbell(
    flows: u32,
    rate_bps: u64,
    duration_s: f64,
    variant: &str,
) -> Result<BenchResult, SweepError> {
    let scenario = json!({
        "title": format!("W({flows}, {rate_bps} bit/s)"),
        "duration": format!("{duration_s} s"),
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {
                "rate": format!("{rate_bps} bit/s"),
                "delay": "48 ms",
                "queue": { "kind": "droptail", "limit": "1 BDP" },
            },
            "access": {
                "rate": format!("{} bit/s", rate_bps.max(LEAST_ACCESS_BPS)),
                "delay": "1 ms",
            },
        },
        "flow": [{
            "name": "flow",
            "count": flows,
            "variant": variant,
            "tcp": { "mss": "1448 B", "delayed_ack": "off" },
            "stagger": "1 ms",
        }],
    });
    let run = simulate_one(&from_json(&scenario.to_string())?)?;
    let bottleneck = run
        .links
        .iter()
        .find(|row| (&*row.measure, &*row.link, row.direction) == ("run", "bottleneck", "forward"))
        .ok_or_else(|| SweepError::Internal("no row of the bottleneck".into()))?;
    let utilisation = bottleneck.utilisation;
    if !(utilisation > 0.0 && utilisation <= 1.0) {
        return Err(SweepError::Internal(format!(
            "a bottleneck busy for {utilisation} of the time"
        )));
    }
    Ok(BenchResult {
        delivered_packets: bottleneck.delivered_packets,
        events: run.events,
        utilisation,
        dropped_packets: bottleneck.dropped_packets,
    })
}

#[cfg(test)]
mod tests;
