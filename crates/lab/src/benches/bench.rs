//! The workloads by which simulators are compared.

use ackclock_results::check_conservation;
use ackclock_sim::records::{Connections, LinkRow, Outcome};
use ackclock_sim::{Collector, Engine, Meter, Run, simulate_into};
use serde_json::{Value, json};

use crate::from_json;
use crate::run::sweep::{SweepError, guarded, simulate_plain};

/// The rate below which access links do not fall.
const LEAST_ACCESS_BPS: u64 = 1_000_000_000;

/// Payload of a full packet of W(N, C), and the packet.
const MSS_BYTES: u64 = 1448;
const PACKET_BYTES: u64 = 1488;

/// The result of one run of a workload.
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
    /// Connections that came and went.
    pub connections: u64,
}

/// Runs W(N, C): `flows` long-lived flows of `variant` across a dumbbell of `rate_bps`.
///
/// Full path: access links on both sides, as fast as the bottleneck but at least 1 Gbit/s, and a
/// reverse path of real links. Full packets (MSS 1448), base round trip 100 ms, a drop-tail buffer of
/// one bandwidth-delay product, an ACK for every packet, starts 1 ms apart (above 10,000 flows, as far
/// apart as brings all of them within 10 s), no probes. The queue may be another `kind` of scenarios, as long.
///
/// # Errors
/// Words and numbers of which no scenario can be made, or a result that cannot be right.
pub fn bench_dumbbell(
    flows: u32,
    rate_bps: u64,
    duration_s: f64,
    variant: &str,
    queue: &str,
) -> Result<BenchResult, SweepError> {
    let apart_ns = 1_000_000.min(10_000_000_000 / u64::from(flows.max(1)));
    let scenario = json!({
        "title": format!("W({flows}, {rate_bps} bit/s)"),
        "duration": format!("{duration_s} s"),
        "topology": dumbbell(rate_bps, "48 ms", queue),
        "flow": [{
            "name": "flow",
            "count": flows,
            "variant": variant,
            "tcp": { "mss": format!("{MSS_BYTES} B"), "delayed_ack": "off" },
            "stagger": format!("{apart_ns} ns"),
        }],
    });
    let run = simulate_plain(Engine::Fast, &from_json(&scenario.to_string())?, &Meter::default())?;
    let row = bottleneck(&run)?;
    check_carried(row, rate_bps, duration_s)?;
    check_flows(&run, row)?;
    Ok(result(&run, row, 0))
}

fn dumbbell(rate_bps: u64, delay: &str, queue: &str) -> Value {
    json!({
        "kind": "dumbbell",
        "bottleneck": {
            "rate": format!("{rate_bps} bit/s"),
            "delay": delay,
            "queue": { "kind": queue, "limit": "1 BDP" },
        },
        "access": {
            "rate": format!("{} bit/s", rate_bps.max(LEAST_ACCESS_BPS)),
            "delay": "1 ms",
        },
    })
}

fn result(run: &Run, bottleneck: &LinkRow, connections: u64) -> BenchResult {
    BenchResult {
        delivered_packets: bottleneck.delivered_packets,
        events: run.events,
        utilisation: bottleneck.utilisation,
        dropped_packets: bottleneck.dropped_packets,
        connections,
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, SweepError> {
    Err(SweepError::Internal(what.into()))
}

fn bottleneck(run: &Run) -> Result<&LinkRow, SweepError> {
    run.links
        .iter()
        .find(|row| (&*row.measure, &*row.link, row.direction) == ("run", "bottleneck", "forward"))
        .ok_or_else(|| SweepError::Internal("no row of the bottleneck".into()))
}

/// A link is no faster than its rate.
fn check_carried(row: &LinkRow, rate_bps: u64, duration_s: f64) -> Result<(), SweepError> {
    let LinkRow { utilisation, delivered_bytes, delivered_packets, .. } = *row;
    if !(utilisation > 0.0 && utilisation <= 1.0) {
        return wrong(format!("a bottleneck busy for {utilisation} of the time"));
    }
    let carried = (delivered_bytes * 8) as f64;
    let time = rate_bps as f64 * duration_s;
    // What is busy and what was carried agree, but for a packet under way and, where a byte does not take whole
    // nanoseconds, for what packets that find the wire idle lose: 3.2 ns, which a SYN takes at 100 Gbit/s, are 3.
    let whole = 8_000_000_000 % rate_bps == 0;
    let rounded = if whole { 0.0 } else { delivered_packets as f64 * (rate_bps as f64 / 1e9) };
    if (carried - utilisation * time).abs() > (8 * PACKET_BYTES) as f64 + rounded {
        return wrong(format!("{carried} bit carried in {} s of work", utilisation * duration_s));
    }
    Ok(())
}

/// Checks that flows and bottleneck agree.
fn check_flows(run: &Run, row: &LinkRow) -> Result<(), SweepError> {
    let sum =
        |of: fn(&ackclock_sim::records::FlowRow) -> u64| run.flows.iter().map(of).sum::<u64>();
    let read = sum(|flow| flow.delivered_bytes);
    let (sent, again) = (sum(|flow| flow.segments_sent), sum(|flow| flow.segments_retransmitted));
    if read > row.delivered_packets * MSS_BYTES {
        return wrong(format!("{read} B read out of {} packets", row.delivered_packets));
    }
    if sent < row.delivered_packets.saturating_sub(2 * run.flows.len() as u64) {
        return wrong(format!("{} packets of {sent} sent", row.delivered_packets));
    }
    // Of the transmissions of a segment that was read, one at least was not dropped; so every drop
    // is one of a segment sent again, or of a segment not read yet, or of a handshake.
    let unread = sent.saturating_sub(again).saturating_sub(read / MSS_BYTES);
    if row.dropped_packets > again + unread + 2 * run.flows.len() as u64 {
        return wrong(format!("{} packets dropped, {again} sent again", row.dropped_packets));
    }
    Ok(())
}

/// Runs short connections of `variant`: `count` of them, each with 10 kB from the opening end, as a
/// Poisson process of 10,000 a second on 1 Gbit/s, base round trip 20 ms, otherwise as
/// [`bench_dumbbell`]. Their rows are checked and thrown away.
///
/// # Errors
/// As of [`bench_dumbbell`]; a connection that did not carry what it was to carry.
pub fn bench_short(count: u64, variant: &str, queue: &str) -> Result<BenchResult, SweepError> {
    const RATE_BPS: u64 = 1_000_000_000;
    // All have come within 3 standard deviations, and then there is time for a SYN lost 5 times.
    let arrivals_s = (count as f64 + 3.0 * (count as f64).sqrt()) / 1e4;
    let duration_s = (arrivals_s + 64.0).ceil();
    let scenario = json!({
        "title": "short connections",
        "duration": format!("{duration_s} s"),
        "topology": dumbbell(RATE_BPS, "8 ms", queue),
        "traffic": [{
            "name": "short",
            "count": count,
            "variant": variant,
            "tcp": { "mss": format!("{MSS_BYTES} B"), "delayed_ack": "off" },
            "arrivals": { "kind": "poisson", "rate": "10000 /s" },
            "app": { "kind": "bulk", "size": format!("{SHORT_BYTES} B") },
        }],
    });
    let scenario = from_json(&scenario.to_string())?;
    let mut counts = ShortConnections::default();
    let run = guarded(|| simulate_into(&scenario, &mut counts, &Meter::default()))?;
    let mut run = run.ok_or(SweepError::Cancelled)?;
    counts.take(&mut run);
    check_conservation(&run).map_err(SweepError::Internal)?;
    let row = bottleneck(&run)?;
    check_carried(row, RATE_BPS, duration_s)?;
    if (counts.connections, counts.closed, counts.complete) != (count, count, count) {
        return wrong(format!("of {count} connections {counts:?}"));
    }
    if row.delivered_bytes < count * SHORT_BYTES {
        return wrong(format!("{} B for {count} connections", row.delivered_bytes));
    }
    Ok(result(&run, row, count))
}

/// The volume of a short connection.
const SHORT_BYTES: u64 = 10_000;

/// Counts what connections did, and forgets them.
#[derive(Debug, Default)]
struct ShortConnections {
    connections: u64,
    closed: u64,
    complete: u64,
}

impl Collector for ShortConnections {
    fn take(&mut self, run: &mut Run) {
        let rows = run.take_rows();
        let Connections { outcome, bytes_to_server, .. } = &rows.connections;
        self.connections += outcome.len() as u64;
        let count = |matches: usize| matches as u64;
        self.closed += count(outcome.iter().filter(|o| **o == Outcome::Closed).count());
        self.complete += count(bytes_to_server.iter().filter(|b| **b == SHORT_BYTES).count());
    }
}

#[cfg(test)]
mod tests;
