//! Measured windows: counters at the beginning and at the end, and the rows of their difference.

use ackclock_net::{Counters, DelayHistogram, SourceCounters};
use ackclock_tcp::SenderStats;
use ackclock_units::Instant;

use crate::engine::Host;
use crate::network::Network;
use crate::records::{FlowRow, LinkRow, Run, SourceRow};
use crate::scenario::Scenario;
use crate::topology::Layout;

/// A window of time.
#[derive(Clone, Debug)]
struct Window {
    name: String,
    from: Instant,
    until: Instant,
    /// Taken when it began.
    before: Option<Snapshot>,
    rows: Rows,
}

#[derive(Clone, Debug, Default)]
struct Rows {
    flows: Vec<FlowRow>,
    links: Vec<LinkRow>,
    sources: Vec<SourceRow>,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    link: String,
    wire: usize,
    number: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowSnapshot {
    delivered_bytes: u64,
    sender: SenderStats,
    path_rtt_sum_ns: u64,
    path_rtts: u64,
    /// Of both ends.
    checksum_errors: u64,
}

/// All counters at a moment.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    flows: Vec<FlowSnapshot>,
    links: Vec<(Counters, DelayHistogram)>,
    sources: Vec<SourceCounters>,
}

/// Every window of a scenario, the whole run first.
#[derive(Debug)]
pub struct Measures {
    windows: Vec<Window>,
    flows: Vec<(String, String)>,
    links: Vec<(String, &'static str)>,
    sources: Vec<Source>,
}

impl Measures {
    /// The windows of `scenario`, whose flows have these names and canonical variants.
    pub fn new(
        scenario: &Scenario,
        names: &[String],
        variants: &[String],
        layout: &Layout,
    ) -> Self {
        let end = Instant::START + scenario.duration.0;
        let window = |name: &str, from, until| Window {
            name: name.to_owned(),
            from,
            until,
            before: None,
            rows: Rows::default(),
        };
        let mut windows = vec![window("run", Instant::START, end)];
        windows.extend(scenario.measures.iter().map(|measure| {
            let from = Instant::START + measure.from.0;
            window(&measure.name, from, measure.lasts.map_or(end, |lasts| from + lasts.0))
        }));
        Self {
            windows,
            flows: names.iter().cloned().zip(variants.iter().cloned()).collect(),
            links: layout
                .wires
                .iter()
                .map(|wire| (wire.name.clone(), wire.direction.as_str()))
                .collect(),
            sources: Vec::new(),
        }
    }

    /// Adds a cross-traffic source: number `number` at `wire`.
    pub fn add_source(&mut self, name: &str, link: &str, wire: usize, number: u16) {
        self.sources.push(Source {
            name: name.to_owned(),
            link: link.to_owned(),
            wire,
            number: usize::from(number),
        });
    }

    /// The moments at which [`on_moment`](Self::on_moment) is to be called: (subject, when). The
    /// whole run needs none.
    pub fn moments(&self) -> Vec<(u32, Instant)> {
        let mut moments = Vec::new();
        for (n, window) in (0_u32..).zip(&self.windows).skip(1) {
            moments.push((2 * n, window.from));
            moments.push((2 * n + 1, window.until));
        }
        moments
    }

    /// A window begins or ends.
    pub fn on_moment(&mut self, subject: u32, now: Instant, network: &mut Network, hosts: &[Host]) {
        let n = subject as usize / 2;
        let snapshot = self.snapshot(now, network, hosts);
        if subject.is_multiple_of(2) {
            self.windows[n].before = Some(snapshot);
        } else {
            self.close(n, &snapshot, hosts);
        }
    }

    /// The run ends: rows of every window, in the order of the file.
    pub fn finish(&mut self, now: Instant, network: &mut Network, hosts: &[Host], run: &mut Run) {
        let snapshot = self.snapshot(now, network, hosts);
        self.close(0, &snapshot, hosts);
        for window in &mut self.windows {
            run.flows.append(&mut window.rows.flows);
            run.links.append(&mut window.rows.links);
            run.sources.append(&mut window.rows.sources);
        }
    }

    fn snapshot(&self, now: Instant, network: &mut Network, hosts: &[Host]) -> Snapshot {
        let flows = hosts
            .chunks_exact(2)
            .map(|ends| FlowSnapshot {
                delivered_bytes: ends[1].endpoint.received().get(),
                sender: *ends[0].endpoint.sender().stats(),
                path_rtt_sum_ns: ends[0].path_rtt_sum_ns,
                path_rtts: ends[0].path_rtts,
                checksum_errors: ends.iter().map(|end| end.checksum_errors).sum(),
            })
            .collect();
        let links =
            network.links.iter_mut().map(|link| (link.counters(now), link.delays(now))).collect();
        let sources =
            self.sources.iter().map(|s| network.links[s.wire].sources()[s.number]).collect();
        Snapshot { flows, links, sources }
    }

    fn close(&mut self, n: usize, after: &Snapshot, hosts: &[Host]) {
        let window = &self.windows[n];
        let before = window.before.as_ref();
        let duration_s = window.until.since(window.from).as_secs_f64();
        let mut rows = Rows::default();
        for (f, (flow, variant)) in self.flows.iter().enumerate() {
            let earlier = before.map(|b| b.flows[f]).unwrap_or_default();
            let later = after.flows[f];
            let sender =
                |count: fn(&SenderStats) -> u64| count(&later.sender) - count(&earlier.sender);
            let delivered_bytes = later.delivered_bytes - earlier.delivered_bytes;
            let by_now = |at: Option<Instant>| at.filter(|at| *at <= window.until);
            rows.flows.push(FlowRow {
                measure: window.name.clone(),
                flow: flow.clone(),
                variant: variant.clone(),
                duration_s,
                goodput_bps: (delivered_bytes * 8) as f64 / duration_s,
                delivered_bytes,
                segments_sent: sender(|s| s.segments_sent),
                segments_retransmitted: sender(|s| s.segments_retransmitted),
                checksum_errors: later.checksum_errors - earlier.checksum_errors,
                timeouts: sender(|s| s.timeouts),
                congestion_events: sender(|s| s.congestion_events),
                congestion_events_in_slow_start: sender(|s| s.congestion_events_in_slow_start),
                srtt_mean_s: mean_seconds(sender(|s| s.srtt_sum_ns), sender(|s| s.rtt_samples)),
                rto_mean_s: mean_seconds(sender(|s| s.rto_sum_ns), sender(|s| s.rtt_samples)),
                path_rtt_mean_s: mean_seconds(
                    later.path_rtt_sum_ns - earlier.path_rtt_sum_ns,
                    later.path_rtts - earlier.path_rtts,
                ),
                established_s: by_now(hosts[2 * f].endpoint.established_at())
                    .map(Instant::as_secs_f64),
                completed_s: by_now(hosts[2 * f].completed).map(Instant::as_secs_f64),
            });
        }
        let (no_counters, no_delays) = (Counters::default(), DelayHistogram::default());
        for (l, (link, direction)) in self.links.iter().enumerate() {
            let (earlier, delays_before) =
                before.map_or((&no_counters, &no_delays), |b| (&b.links[l].0, &b.links[l].1));
            let (later, delays) = &after.links[l];
            let offered = later.offered.since(earlier.offered);
            let delivered = later.delivered.since(earlier.delivered);
            let dropped = later.dropped.since(earlier.dropped);
            let busy = later.busy.saturating_sub(earlier.busy);
            let waited = later.queue_delay.saturating_sub(earlier.queue_delay);
            rows.links.push(LinkRow {
                measure: window.name.clone(),
                link: link.clone(),
                direction,
                duration_s,
                utilisation: busy.as_secs_f64() / duration_s,
                offered_packets: offered.packets,
                offered_bytes: offered.bytes,
                delivered_packets: delivered.packets,
                delivered_bytes: delivered.bytes,
                dropped_packets: dropped.packets,
                dropped_bytes: dropped.bytes,
                dropped_early_packets: later.dropped_early.since(earlier.dropped_early).packets,
                marked_packets: later.marked.since(earlier.marked).packets,
                lost_packets: later.lost.since(earlier.lost).packets,
                reordered_packets: later.reordered.since(earlier.reordered).packets,
                duplicated_packets: later.duplicated.since(earlier.duplicated).packets,
                corrupted_packets: later.corrupted.since(earlier.corrupted).packets,
                queued_packets: later.queued.packets,
                queued_bytes: later.queued.bytes,
                // What still waits in a scheduled queue has no delay yet.
                queue_delay_mean_s: mean_seconds(
                    waited.as_nanos(),
                    delays.count() - delays_before.count(),
                ),
                queue_delay_p99_s: delays
                    .quantile_since(delays_before, 0.99)
                    .map(ackclock_units::Duration::as_secs_f64),
            });
        }
        for (s, source) in self.sources.iter().enumerate() {
            let earlier = before.map(|b| b.sources[s]).unwrap_or_default();
            let later = after.sources[s];
            rows.sources.push(SourceRow {
                measure: window.name.clone(),
                source: source.name.clone(),
                link: source.link.clone(),
                duration_s,
                offered_packets: later.offered.since(earlier.offered).packets,
                delivered_packets: later.delivered.since(earlier.delivered).packets,
                dropped_packets: later.dropped.since(earlier.dropped).packets,
            });
        }
        self.windows[n].rows = rows;
    }
}

fn mean_seconds(sum_ns: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e9)
}
