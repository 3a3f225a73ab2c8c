//! Measured windows: counters at the beginning and at the end, and the rows of their difference.

mod own;

use std::collections::BTreeMap;
use std::sync::Arc;

use ackclock_app::Moment;
use ackclock_net::{Counters, DelayHistogram, SourceCounters};
use ackclock_tcp::{Endpoint, SenderStats, State};
use ackclock_units::{Duration, Instant};

use crate::hosts::host::Host;
use crate::layout::links::Links;
use crate::layout::topology::Layout;
use crate::records::acks::Acks;
use crate::records::{CrossingRow, FlowRow, LinkRow, Outcome, Run, SourceRow};
use crate::scenario::{EventTime, Measure, Scenario, Span};
use own::Own;

/// A window of time.
#[derive(Clone, Debug)]
struct Window {
    name: String,
    from: Instant,
    until: Instant,
    /// Taken when it began.
    before: Option<Snapshot>,
    /// The flows that have a row; all if empty.
    of: Vec<bool>,
    /// The wires at which flows are counted.
    crossings: Vec<usize>,
    /// The window of each flow, if each has its own.
    own: Option<Box<Own>>,
    rows: Rows,
}

#[derive(Clone, Debug, Default)]
struct Rows {
    flows: Vec<FlowRow>,
    links: Vec<LinkRow>,
    sources: Vec<SourceRow>,
    crossings: Vec<CrossingRow>,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    link: String,
    wire: usize,
    number: usize,
}

#[derive(Clone, Debug, Default)]
struct FlowSnapshot {
    delivered_bytes: u64,
    sender: SenderStats,
    path_rtt_sum_ns: u128,
    path_rtts: u64,
    arrived_packets: u64,
    arrived_bytes: u64,
    /// Packets that either end discarded because of a wrong checksum.
    checksum_errors: u64,
    acks: Option<Box<Acks>>,
}

/// All counters at a moment.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    flows: Vec<FlowSnapshot>,
    /// Per flow, of each wire that counts it: packets offered and dropped.
    crossings: Vec<Vec<[u64; 2]>>,
    links: Vec<(Counters, DelayHistogram)>,
    sources: Vec<SourceCounters>,
}

/// Every window of a scenario, the whole run first.
#[derive(Debug)]
pub struct Measures {
    windows: Vec<Window>,
    /// Names of flows and links, which are the run's, and what each flow's variant is.
    flows: Arc<[String]>,
    links: Arc<[(String, &'static str)]>,
    variants: Vec<Arc<str>>,
    sources: Vec<Source>,
}

impl Measures {
    /// The windows of `scenario`, whose flows have the names that `run` has, and these canonical variants.
    pub fn new(
        scenario: &Scenario,
        entries: &[usize],
        run: &Run,
        variants: &[String],
        layout: &Layout,
    ) -> Self {
        let names = &run.flow_names;
        let end = Instant::START + scenario.duration;
        let rtts: Vec<Duration> = (0..names.len()).map(|flow| layout.base_rtt(flow)).collect();
        let window = |name: &str, from, until| Window {
            name: name.to_owned(),
            from,
            until,
            before: None,
            of: Vec::new(),
            crossings: Vec::new(),
            own: None,
            rows: Rows::default(),
        };
        let mut windows = vec![window("run", Instant::START, end)];
        windows.extend(scenario.measures.iter().map(|measure| {
            let of = match &measure.flow {
                None => Vec::new(),
                Some(flow) => (0..names.len())
                    .map(|n| names[n] == *flow || scenario.flows[entries[n]].name == *flow)
                    .collect(),
            };
            let ways = measure.crossings.iter().filter_map(|link| layout.link(link));
            let crossings = ways.flat_map(|wire| [wire, wire + 1]).collect();
            let mut window = if let (EventTime::At(from), false) = (&measure.from, own(measure)) {
                let from = Instant::START + *from;
                let until = measure.lasts.map_or(end, |lasts| from + lasts.of(Duration::ZERO));
                window(&measure.name, from, until)
            } else {
                let mut window = window(&measure.name, Instant::NEVER, end);
                window.own = Some(Box::new(Own::new(measure, &rtts, end)));
                window
            };
            window.of = of;
            window.crossings = crossings;
            window
        }));
        Self {
            windows,
            flows: Arc::clone(names),
            links: Arc::clone(&run.link_names),
            variants: shared(variants),
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
            if let Some(own) = &window.own {
                moments.extend(own.begins().map(|at| (2 * n, at)));
            } else {
                // A window that begins at instant 0 has the events of that instant, as the whole run has.
                if window.from > Instant::START {
                    moments.push((2 * n, window.from));
                }
                moments.push((2 * n + 1, window.until));
            }
        }
        moments
    }

    /// The first moment after `now` at which the counters of links are read; `None` if nobody knows.
    pub fn reads_after(&self, now: Instant) -> Option<Instant> {
        let mut reads = self.windows[0].until;
        for window in &self.windows[1..] {
            if window.own.is_some() {
                return None;
            }
            for at in [window.from, window.until] {
                if at > now {
                    reads = reads.min(at);
                }
            }
        }
        Some(reads)
    }

    /// The wires at which the packets of flows are to be counted.
    pub fn crossed(&self) -> Vec<usize> {
        let mut wires: Vec<usize> =
            self.windows.iter().flat_map(|window| window.crossings.iter().copied()).collect();
        wires.sort_unstable();
        wires.dedup();
        wires
    }

    /// Something happens to a flow's application; returns the moments at which
    /// [`on_moment`](Self::on_moment) is to be called for what begins now.
    pub fn on_flow_event(
        &mut self,
        flow: usize,
        moment: Moment,
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
    ) -> Vec<(u32, Instant)> {
        let mut ends = Vec::new();
        for n in 1..self.windows.len() {
            let window = &mut self.windows[n];
            let wanted = window.of.get(flow).copied().unwrap_or(true);
            let begins =
                window.own.as_mut().is_some_and(|own| wanted && own.is_anchored(flow, moment));
            if begins {
                ends.extend(self.begin_own(n, &[flow], now, network, hosts));
            }
        }
        ends
    }

    /// The window `n` begins for these flows.
    fn begin_own(
        &mut self,
        n: usize,
        flows: &[usize],
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
    ) -> Option<(u32, Instant)> {
        let whole = self.windows[n].before.is_none();
        let snapshot = self.snapshot_of(now, network, hosts, whole);
        let window = &mut self.windows[n];
        let own = window.own.as_mut()?;
        for flow in flows {
            own.begin(*flow, now, &snapshot, &window.crossings);
        }
        if whole {
            window.from = now;
            window.before = Some(snapshot);
        }
        let next = own.next_end()?;
        Some((2 * u32::try_from(n).ok()? + 1, next))
    }

    /// A window begins or ends; returns when this is to be called next for the same.
    pub fn on_moment(
        &mut self,
        subject: u32,
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
    ) -> Option<(u32, Instant)> {
        let n = subject as usize / 2;
        let begins = subject.is_multiple_of(2);
        if self.windows[n].own.is_some() {
            if begins {
                let window = &self.windows[n];
                let wanted = |flow: &usize| window.of.get(*flow).copied().unwrap_or(true);
                let flows: Vec<usize> = (0..self.flows.len()).filter(wanted).collect();
                return self.begin_own(n, &flows, now, network, hosts);
            }
            return self.end_own(n, now, network, hosts).map(|at| (subject, at));
        }
        if begins {
            self.windows[n].before = Some(self.snapshot_of(now, network, hosts, true));
        } else {
            self.close(n, now, network, hosts);
        }
        None
    }

    /// The window `n` ends for the flows whose time is over; returns when it does for the next.
    fn end_own(
        &mut self,
        n: usize,
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
    ) -> Option<Instant> {
        let own = self.windows[n].own.as_mut()?;
        let ended = own.take_ended(now);
        if ended.is_empty() {
            return None;
        }
        let next = own.next_end();
        let snapshot = self.snapshot_of(now, network, hosts, false);
        for (flow, span) in ended {
            let row = self.flow_row(n, flow, span.from, now, &span.before, &snapshot, hosts);
            let crossed = self.crossing_rows(n, flow, &span.crossed, &snapshot);
            let rows = &mut self.windows[n].rows;
            rows.flows.push(row);
            rows.crossings.extend(crossed);
        }
        if next.is_none() {
            self.windows[n].until = now;
            self.close_network(n, now, network);
        }
        next
    }

    /// The run ends: rows of every window, in the order of the file.
    pub fn finish(
        &mut self,
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
        run: &mut Run,
    ) {
        self.close(0, now, network, hosts);
        for n in 1..self.windows.len() {
            if self.windows[n].own.as_ref().is_some_and(|own| own.is_open()) {
                self.end_own(n, now, network, hosts);
            }
        }
        let places: BTreeMap<&str, usize> =
            self.flows.iter().enumerate().map(|(place, flow)| (&**flow, place)).collect();
        for window in &mut self.windows {
            // Flows end in any order.
            window.rows.flows.sort_by_key(|row| places.get(&*row.flow));
            append(&mut run.flows, &mut window.rows.flows);
            append(&mut run.links, &mut window.rows.links);
            append(&mut run.sources, &mut window.rows.sources);
            append(&mut run.crossings, &mut window.rows.crossings);
        }
    }

    /// A snapshot of flows, and of links and sources if it is to be `whole`.
    fn snapshot_of(
        &self,
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
        whole: bool,
    ) -> Snapshot {
        let flows = hosts
            .chunks_exact(2)
            .map(|ends| FlowSnapshot {
                delivered_bytes: ends[1].delivered().get(),
                sender: ends[0].stats(),
                path_rtt_sum_ns: ends[0].path_rtt_sum_ns,
                path_rtts: ends[0].path_rtts,
                arrived_packets: ends[1].arrived_packets,
                arrived_bytes: ends[1].arrived_bytes,
                checksum_errors: ends.iter().map(|end| end.checksum_errors).sum(),
                acks: ends[0].acks.clone(),
            })
            .collect();
        let crossings = if self.crossed().is_empty() {
            Vec::new()
        } else {
            (0..network.count()).map(|wire| network.crossings(wire).to_vec()).collect()
        };
        if !whole {
            return Snapshot { flows, crossings, ..Snapshot::default() };
        }
        let links = (0..network.count())
            .map(|wire| (network.counters(wire, now), network.delays(wire, now)))
            .collect();
        let sources = self.sources.iter().map(|s| network.sources(s.wire)[s.number]).collect();
        Snapshot { flows, crossings, links, sources }
    }

    fn close(&mut self, n: usize, now: Instant, network: &mut impl Links, hosts: &[Host]) {
        let after = &self.snapshot_of(now, network, hosts, false);
        let window = &self.windows[n];
        let (from, until) = (window.from, window.until);
        let nothing = Snapshot::default();
        let before = window.before.as_ref().unwrap_or(&nothing);
        let mut rows = Vec::with_capacity(self.flows.len());
        let mut crossed = Vec::new();
        for flow in 0..self.flows.len() {
            if window.of.get(flow).copied().unwrap_or(true) {
                let earlier = before.flows.get(flow).cloned().unwrap_or_default();
                rows.push(self.flow_row(n, flow, from, until, &earlier, after, hosts));
                let earlier: Vec<[u64; 2]> =
                    window.crossings.iter().map(|wire| crossings_of(before, *wire, flow)).collect();
                crossed.extend(self.crossing_rows(n, flow, &earlier, after));
            }
        }
        self.windows[n].rows.flows = rows;
        self.windows[n].rows.crossings = crossed;
        self.close_network(n, now, network);
    }

    #[expect(clippy::too_many_arguments, reason = "a window, a flow, and counters at its two ends")]
    fn flow_row(
        &self,
        n: usize,
        flow: usize,
        from: Instant,
        until: Instant,
        earlier: &FlowSnapshot,
        after: &Snapshot,
        hosts: &[Host],
    ) -> FlowRow {
        let duration_s = until.since(from).as_secs_f64();
        let (name, variant) = (&self.flows[flow], &self.variants[flow]);
        let later = &after.flows[flow];
        let sender = |count: fn(&SenderStats) -> u64| count(&later.sender) - count(&earlier.sender);
        let sum = |of: fn(&SenderStats) -> u128| of(&later.sender) - of(&earlier.sender);
        let delivered_bytes = later.delivered_bytes - earlier.delivered_bytes;
        let by_now = |at: Option<Instant>| at.filter(|at| *at <= until);
        let acks = later.acks.as_ref().map(|acks| acks.since(earlier.acks.as_deref()));
        FlowRow {
            measure: self.windows[n].name.clone(),
            flow: name.clone(),
            variant: variant.to_string(),
            duration_s,
            goodput_bps: (delivered_bytes * 8) as f64 / duration_s,
            delivered_bytes,
            arrived_packets: later.arrived_packets - earlier.arrived_packets,
            arrived_bytes: later.arrived_bytes - earlier.arrived_bytes,
            segments_sent: sender(SenderStats::data_segments),
            segments_retransmitted: sender(|s| s.segments_retransmitted),
            checksum_errors: later.checksum_errors - earlier.checksum_errors,
            timeouts: sender(|s| s.timeouts),
            congestion_events: sender(|s| s.congestion_events),
            congestion_events_in_slow_start: sender(|s| s.congestion_events_in_slow_start),
            srtt_mean_s: mean_seconds(sum(|s| s.srtt_sum_ns), sender(|s| s.rtt_samples)),
            rto_mean_s: mean_seconds(sum(|s| s.rto_sum_ns), sender(|s| s.rtt_samples))
                .filter(|_| hosts[2 * flow].visiting.is_none()),
            path_rtt_mean_s: mean_seconds(
                later.path_rtt_sum_ns - earlier.path_rtt_sum_ns,
                later.path_rtts - earlier.path_rtts,
            ),
            acks,
            established_s: by_now(hosts[2 * flow].established_at()).map(Instant::as_secs_f64),
            completed_s: by_now(hosts[2 * flow].completed).map(Instant::as_secs_f64),
            outcome: Some(outcome(&hosts[2 * flow], &hosts[2 * flow + 1])),
        }
    }

    /// A flow at each wire of the window `n`, counted from `earlier` on.
    fn crossing_rows(
        &self,
        n: usize,
        flow: usize,
        earlier: &[[u64; 2]],
        after: &Snapshot,
    ) -> Vec<CrossingRow> {
        let window = &self.windows[n];
        let rows = window.crossings.iter().zip(earlier).map(|(wire, earlier)| {
            let [offered, dropped] = crossings_of(after, *wire, flow);
            let (link, direction) = &self.links[*wire];
            CrossingRow {
                measure: window.name.clone(),
                flow: self.flows[flow].clone(),
                link: link.clone(),
                direction,
                offered_packets: offered - earlier[0],
                dropped_packets: dropped - earlier[1],
            }
        });
        rows.collect()
    }

    /// The rows of links and sources of the window `n`, one after another, as thousands of links are read.
    fn close_network(&mut self, n: usize, now: Instant, network: &mut impl Links) {
        let window = &self.windows[n];
        let before = window.before.as_ref();
        let duration_s = window.until.since(window.from).as_secs_f64();
        let (mut links, mut sources) = (Vec::with_capacity(self.links.len()), Vec::new());
        let (no_counters, no_delays) = (Counters::default(), DelayHistogram::default());
        for (l, (link, direction)) in self.links.iter().enumerate() {
            let (earlier, delays_before) =
                before.map_or((&no_counters, &no_delays), |b| (&b.links[l].0, &b.links[l].1));
            let (later, delays) = (network.counters(l, now), network.delays(l, now));
            links.push(LinkRow::between(
                &window.name,
                (link, direction),
                duration_s,
                (earlier, delays_before),
                (&later, &delays),
            ));
        }
        for (s, source) in self.sources.iter().enumerate() {
            let earlier = before.map(|b| b.sources[s]).unwrap_or_default();
            let later = network.sources(source.wire)[source.number];
            sources.push(SourceRow {
                measure: window.name.clone(),
                source: source.name.clone(),
                link: source.link.clone(),
                duration_s,
                offered_packets: later.offered.since(earlier.offered).packets,
                delivered_packets: later.delivered.since(earlier.delivered).packets,
                dropped_packets: later.dropped.since(earlier.dropped).packets,
            });
        }
        let window = &mut self.windows[n];
        if window.own.is_none() {
            // A window of its own may yet begin for other flows.
            window.before = None;
        }
        window.rows.links = links;
        window.rows.sources = sources;
    }
}

/// The same words, of which one that repeats the last is kept once.
fn shared(words: &[String]) -> Vec<Arc<str>> {
    let mut all: Vec<Arc<str>> = Vec::with_capacity(words.len());
    for word in words {
        let last = all.last().filter(|last| ***last == **word).cloned();
        all.push(last.unwrap_or_else(|| word.as_str().into()));
    }
    all
}

/// Adds `rows` to `all` in the memory of the rows if those are the first.
fn append<T>(all: &mut Vec<T>, rows: &mut Vec<T>) {
    if all.is_empty() {
        std::mem::swap(all, rows);
    } else {
        all.append(rows);
    }
}

/// Packets of `flow` that were offered to `wire`, and dropped there.
fn crossings_of(snapshot: &Snapshot, wire: usize, flow: usize) -> [u64; 2] {
    snapshot.crossings.get(wire).and_then(|counts| counts.get(flow)).copied().unwrap_or_default()
}

/// True if the window begins or ends for each flow by itself.
fn own(measure: &Measure) -> bool {
    let by_round_trips = measure.lasts.is_some_and(|lasts| matches!(lasts, Span::RoundTrips(_)));
    matches!(measure.from, EventTime::After(_)) || by_round_trips
}

/// The state of a flow's connection.
fn outcome(sender: &Host, receiver: &Host) -> Outcome {
    if let (Some(sender), Some(receiver)) = (&sender.visiting, &receiver.visiting) {
        return match () {
            () if !sender.begun && !receiver.begun => Outcome::NotStarted,
            () if sender.state.closed && receiver.state.closed => Outcome::Closed,
            () => Outcome::Open,
        };
    }
    let (sender, receiver) = (&sender.endpoint, &receiver.endpoint);
    let is_over = |end: &Endpoint| matches!(end.state(), State::Closed | State::TimeWait);
    let ends = [sender, receiver];
    Outcome::of_failures(ends.map(Endpoint::failure)).unwrap_or_else(|| {
        // The passive end listens from the beginning on.
        let begun = ends.iter().any(|end| end.established_at().is_some())
            || !ends.iter().all(|end| matches!(end.state(), State::Closed | State::Listen));
        match () {
            () if !begun => Outcome::NotStarted,
            () if ends.into_iter().all(is_over) => Outcome::Closed,
            () => Outcome::Open,
        }
    })
}

fn mean_seconds(sum_ns: u128, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e9)
}
