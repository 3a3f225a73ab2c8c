//! Looking at the kernel's connections while they run.

pub(crate) mod program_sockets;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ackclock_sim::records::{EventWatch, FlowEventRow, FlowSamples, LawRow, SenderState};
use ackclock_sim::run::plan::Plan;
use ackclock_sim::scenario::{Every, Scenario, What};
use ackclock_units::{Duration, Instant};

use crate::base::addresses::flow_of;
use crate::base::feed::{Feed, Given};
use crate::base::limits::LOOK_EVERY;
use crate::machine::diag::Diagnosis;
use crate::machine::tracepoint::{Probed, Tracepoint};
use crate::records::observed::{Observed, SenderSample, sender_state};
use crate::sys::TcpInfo;
use crate::timing::clock::Clock;
use crate::watch::program_sockets::{ProgramSockets, SocketTotals};

/// The longest interval between looks in virtual time that nobody waits for, where a look costs as much as a packet or
/// two: a quarter of the round trip, by which a repair is seen as well.
const RARELY: Duration = Duration::from_millis(100);

/// A probe of flows.
#[derive(Clone, Debug)]
struct FlowProbe {
    flows: Vec<bool>,
    interval: Option<Duration>,
    next: Instant,
    from: Instant,
    until: Instant,
    what: Vec<What>,
}

impl FlowProbe {
    fn wants(&self, what: What) -> bool {
        self.what.is_empty() || self.what.contains(&what)
    }

    /// True if it records a column of `flow_samples`.
    fn has_columns(&self) -> bool {
        self.what.is_empty() || self.what.iter().any(|what| *what != What::Law)
    }
}

/// Watches the senders of a run.
#[derive(Debug)]
pub struct Watcher {
    /// One for each namespace of senders.
    diagnoses: Vec<Diagnosis>,
    tracepoint: Option<Tracepoint>,
    probes: Vec<FlowProbe>,
    seen: Vec<Observed>,
    last: Vec<Option<TcpInfo>>,
    /// The sockets of the run's senders.
    cookies: BTreeSet<u64>,
    /// The sockets of programs.
    program_sockets: ProgramSockets,
    probed: Vec<Probed>,
    samples: FlowSamples,
    /// By flow: its events are found here, and what was counted of them.
    events: Vec<(EventWatch, SenderState)>,
    rows: Vec<FlowEventRow>,
    /// By flow: when a look found more segments sent again, and how many then.
    retransmitted: Vec<Vec<(Instant, u64)>>,
    /// The place for rows while the run lasts.
    pub feed: Option<Arc<Feed>>,
}

/// The result of watching.
#[derive(Debug)]
pub struct Watched {
    /// The observations of each flow at the requested moments, in their order.
    pub snapshots: Vec<Vec<Observed>>,
    /// The totals of the sockets of programs at those moments, for each flow that has some.
    pub program_totals: Vec<Vec<Option<SocketTotals>>>,
    /// The samples of probes.
    pub samples: FlowSamples,
    /// The events of all senders.
    pub flow_events: Vec<FlowEventRow>,
    /// Events of the tracepoint that were lost.
    pub lost: u64,
}

impl Watcher {
    /// Watches the connections of `plan` by these conversations; `tracepoint` tells of every ACK, for
    /// probes that want each change, and `program_sockets` counts the sockets of programs.
    pub fn new(
        scenario: &Scenario,
        plan: &Plan,
        diagnoses: Vec<Diagnosis>,
        tracepoint: Option<Tracepoint>,
        program_sockets: ProgramSockets,
    ) -> Self {
        let every_change = tracepoint.is_some();
        Self {
            diagnoses,
            tracepoint,
            probes: probes(scenario, plan, every_change),
            seen: vec![Observed::default(); plan.flows.len()],
            last: vec![None; plan.flows.len()],
            cookies: BTreeSet::new(),
            program_sockets,
            probed: Vec::new(),
            samples: FlowSamples::default(),
            events: vec![Default::default(); plan.flows.len()],
            rows: Vec::new(),
            retransmitted: vec![Vec::new(); plan.flows.len()],
            feed: None,
        }
    }

    /// Watches until `end`, or until `stop` says so. To be called on a thread of its own.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn run(
        mut self,
        clock: Clock,
        moments: &[Instant],
        end: Instant,
        stop: &AtomicBool,
    ) -> io::Result<Watched> {
        let mut snapshots = Vec::with_capacity(moments.len());
        let mut program_totals = Vec::with_capacity(moments.len());
        let mut look = Instant::START;
        let rarely = crate::sys::in_virtual_time() && self.nobody_asks_between();
        let mut given = Given::default();
        loop {
            let now = clock.now();
            if now >= look {
                self.look(now)?;
                look += if rarely { self.between_looks() } else { LOOK_EVERY };
            }
            if let Some(tracepoint) = &mut self.tracepoint {
                tracepoint.drain(clock, &mut self.probed);
            }
            self.record(now);
            if let Some(feed) = &self.feed {
                let seen = |row: &FlowEventRow| is_seen(&self.probes, row);
                given.flows(feed, now, &self.samples, &self.rows, seen);
            }
            while moments.get(snapshots.len()).is_some_and(|at| *at <= now) {
                // Programs' sockets have no other place where they are counted.
                self.program_sockets.look(now, &mut self.seen, &mut self.last)?;
                snapshots.push(self.seen.clone());
                program_totals.push(self.program_sockets.totals());
            }
            if now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            let probes = self.probes.iter().filter(|probe| probe.interval.is_some());
            let next = probes.map(|probe| probe.next).fold(look.min(end), Instant::min);
            let wait = clock.until(next).max(Duration::from_micros(500));
            thread::sleep(std::time::Duration::from_nanos(wait.as_nanos()));
        }
        self.keep_changes();
        let lost = self.tracepoint.as_ref().map_or(0, |tracepoint| tracepoint.lost);
        let (samples, flow_events) = (self.samples.in_order(), self.rows);
        Ok(Watched { snapshots, program_totals, samples, flow_events, lost })
    }

    /// True if a look tells nothing but of repairs and of means: no probe wants the window, and no program is timed.
    fn nobody_asks_between(&self) -> bool {
        self.probes.is_empty() && (0..self.seen.len()).all(|flow| !self.program_sockets.has(flow))
    }

    /// The time to the next look that nobody waits for: a quarter of the shortest round trip of any sender.
    fn between_looks(&self) -> Duration {
        let least = self.last.iter().flatten().map(|info| info.srtt_us).min().unwrap_or(0);
        (Duration::from_micros(u64::from(least)) / 4).clamp(LOOK_EVERY, RARELY)
    }

    /// Looks at every connection.
    fn look(&mut self, now: Instant) -> io::Result<()> {
        let Self {
            diagnoses,
            seen,
            last,
            cookies,
            program_sockets,
            events,
            rows,
            retransmitted,
            ..
        } = self;
        program_sockets.look(now, seen, last)?;
        for diagnosis in diagnoses {
            diagnosis.each(|connection| {
                let Some((flow, 0)) = flow_of(connection.local.0) else { return };
                let Some(seen) = seen.get_mut(flow).filter(|_| !program_sockets.has(flow)) else {
                    return;
                };
                cookies.insert(connection.cookie);
                seen.note(last[flow].as_ref(), &connection.info);
                note_events(
                    now,
                    flow,
                    last[flow].as_ref(),
                    &connection.info,
                    &mut events[flow],
                    rows,
                );
                let again = u64::from(connection.info.total_retrans);
                if retransmitted[flow].last().map_or(0, |(_, known)| *known) < again {
                    retransmitted[flow].push((now, again));
                }
                last[flow] = Some(connection.info);
            })?;
        }
        Ok(())
    }

    /// Has the probes record whose interval is over.
    fn record(&mut self, now: Instant) {
        let Self { probes, last, samples, .. } = self;
        for probe in probes {
            let Some(interval) = probe.interval else { continue };
            if now < probe.next || now > probe.until {
                continue;
            }
            while probe.next <= now {
                probe.next += interval;
            }
            for (flow, info) in last.iter().enumerate().filter(|(flow, _)| probe.flows[*flow]) {
                let Some(info) = info else { continue };
                let in_flight =
                    (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
                let acked = info.data_acked();
                let sample = SenderSample {
                    in_flight_segments: f64::from(in_flight),
                    acked,
                    sent: acked + u64::from(info.unacked) * u64::from(info.snd_mss),
                    retransmitted: u64::from(info.total_retrans),
                    ..sample(now, [info.cwnd, info.ssthresh, info.srtt_us])
                };
                push(samples, probe, flow, &sample);
            }
        }
    }

    /// Has the probes record that want every change.
    fn keep_changes(&mut self) {
        let Self { probes, cookies, probed, samples, last, program_sockets, retransmitted, .. } =
            self;
        let mut before = vec![None; last.len()];
        // The first segment comes before anything is acknowledged.
        let mut acked: Vec<Option<(u32, u64)>> = vec![None; last.len()];
        cookies.extend(program_sockets.foremost());
        probed.sort_by_key(|probed| probed.at);
        for probed in probed.iter().filter(|probed| cookies.contains(&probed.cookie)) {
            let Some((flow, 0)) = flow_of(probed.local) else { continue };
            let values = [probed.cwnd, probed.ssthresh, probed.srtt_us];
            let state = Some((values, probed.in_flight));
            if flow >= before.len() {
                continue;
            }
            let (una, so_far) = acked[flow].unwrap_or((probed.una, 0));
            let so_far = so_far + u64::from(probed.una.wrapping_sub(una));
            acked[flow] = Some((probed.una, so_far));
            if before[flow] == state {
                continue;
            }
            before[flow] = state;
            let mss = last[flow].map_or(0, |info| info.snd_mss).max(1);
            let known = &retransmitted[flow];
            let looks = known.partition_point(|(at, _)| *at <= probed.at);
            let sample = SenderSample {
                in_flight_segments: f64::from(probed.in_flight) / f64::from(mss),
                acked: so_far,
                sent: so_far + u64::from(probed.in_flight),
                retransmitted: looks.checked_sub(1).map_or(0, |n| known[n].1),
                ..sample(probed.at, values)
            };
            for probe in probes.iter().filter(|probe| probe.interval.is_none()) {
                if probe.flows[flow] && probe.from <= probed.at && probed.at <= probe.until {
                    push(samples, probe, flow, &sample);
                }
            }
        }
    }
}

/// True if a probe wants to see every change of a flow.
pub fn wants_every_change(scenario: &Scenario) -> bool {
    scenario.probes.iter().any(|probe| probe.flow.is_some() && probe.every == Every::Change)
}

/// The probes of flows; those of every change look at an interval unless `every_change` can be seen.
fn probes(scenario: &Scenario, plan: &Plan, every_change: bool) -> Vec<FlowProbe> {
    let probes = scenario.probes.iter().filter_map(|probe| {
        let name = probe.flow.as_ref()?;
        let from = Instant::START + probe.from;
        let of = |flow: &ackclock_sim::run::plan::PlannedFlow| {
            flow.name == *name || scenario.flows[flow.entry].name == *name
        };
        Some(FlowProbe {
            flows: plan.flows.iter().map(of).collect(),
            interval: match probe.every {
                Every::Change if every_change => None,
                Every::Change => Some(LOOK_EVERY),
                Every::Interval(interval) => Some(interval),
            },
            next: from,
            from,
            until: probe.until.map_or(plan.end, |until| Instant::START + until),
            what: probe.what.clone(),
        })
    });
    probes.collect()
}

/// `samples` and what the probes of `scenario` see of our own senders, of which `own` has every change.
pub fn with_own(
    mut samples: FlowSamples,
    scenario: &Scenario,
    plan: &Plan,
    own: &[(usize, Vec<SenderSample>)],
) -> FlowSamples {
    for probe in probes(scenario, plan, true) {
        for (flow, changes) in own.iter().filter(|(flow, _)| probe.flows.get(*flow) == Some(&true))
        {
            match probe.interval {
                None => {
                    let within = |at| probe.from <= at && at <= probe.until;
                    let seen = changes.iter().filter(|sample| within(sample.at));
                    seen.for_each(|sample| push(&mut samples, &probe, *flow, sample));
                }
                Some(interval) => {
                    let mut at = probe.from;
                    while at <= probe.until {
                        let before = changes.partition_point(|sample| sample.at <= at);
                        if let Some(sample) = before.checked_sub(1).map(|n| changes[n]) {
                            push(&mut samples, &probe, *flow, &SenderSample { at, ..sample });
                        }
                        at += interval;
                    }
                }
            }
        }
    }
    samples.in_order()
}

/// The window, the threshold and the round-trip time of the kernel as a sample, in which nothing else is known.
fn sample(at: Instant, [cwnd, ssthresh, srtt_us]: [u32; 3]) -> SenderSample {
    let threshold = if ssthresh == TcpInfo::NO_THRESHOLD { f64::NAN } else { f64::from(ssthresh) };
    SenderSample {
        at,
        cwnd_segments: f64::from(cwnd),
        ssthresh_segments: threshold,
        srtt_s: if srtt_us == 0 { f64::NAN } else { f64::from(srtt_us) / 1e6 },
        in_flight_segments: f64::NAN,
        acked: 0,
        sent: 0,
        retransmitted: 0,
        resent_at: None,
    }
}

/// Finds the events of a kernel's sender between two looks.
fn note_events(
    now: Instant,
    flow: usize,
    before: Option<&TcpInfo>,
    info: &TcpInfo,
    (watch, counted): &mut (EventWatch, SenderState),
    rows: &mut Vec<FlowEventRow>,
) {
    *counted = sender_state(counted, before.map_or(0, |before| before.ca_state), info);
    let mut kinds = Vec::new();
    watch.see(*counted, |kind| kinds.push(kind));
    let flow = u32::try_from(flow).expect("fewer than 2^32 flows");
    rows.extend(kinds.into_iter().map(|kind| watch.row(now, flow, kind)));
}

/// The events of the kernel's senders and of our `own`, as far as they lie within the probes of their flows.
pub fn events_with_own(
    kernel: &[FlowEventRow],
    scenario: &Scenario,
    plan: &Plan,
    own: &[(usize, Vec<FlowEventRow>)],
) -> Vec<FlowEventRow> {
    let probes = probes(scenario, plan, true);
    let all = kernel.iter().chain(own.iter().flat_map(|(_, rows)| rows));
    let mut rows: Vec<FlowEventRow> = all.filter(|row| is_seen(&probes, row)).copied().collect();
    rows.sort_by_key(|row| (row.time_ns, row.flow));
    rows
}

/// True if a probe looks at the flow of an event, and then.
fn is_seen(probes: &[FlowProbe], row: &FlowEventRow) -> bool {
    let at = Instant::START + Duration::from_nanos(row.time_ns);
    let of = |probe: &FlowProbe| probe.flows.get(row.flow as usize) == Some(&true);
    probes.iter().any(|probe| of(probe) && probe.from <= at && at <= probe.until)
}

/// The variables of our own senders' laws that probes of `scenario` record, of which `own` has every change; of the kernel's
/// nothing is known.
pub fn laws_of_own(scenario: &Scenario, plan: &Plan, own: &[LawRow]) -> Vec<LawRow> {
    let time = |at: Instant| at.since(Instant::START).as_nanos();
    let mut rows = Vec::new();
    for probe in probes(scenario, plan, true).iter().filter(|probe| probe.what.contains(&What::Law))
    {
        let seen = own.iter().filter(|row| probe.flows.get(row.flow as usize) == Some(&true));
        let Some(interval) = probe.interval else {
            let within = time(probe.from)..=time(probe.until);
            rows.extend(seen.filter(|row| within.contains(&row.time_ns)));
            continue;
        };
        let mut changes = seen.peekable();
        let mut last: BTreeMap<(u32, &str), LawRow> = BTreeMap::new();
        let mut at = probe.from;
        while at <= probe.until {
            while let Some(row) = changes.next_if(|row| row.time_ns <= time(at)) {
                last.insert((row.flow, row.variable), *row);
            }
            rows.extend(last.values().map(|row| LawRow { time_ns: time(at), ..*row }));
            at += interval;
        }
    }
    rows.sort_by_key(|row| (row.time_ns, row.flow));
    rows
}

fn push(samples: &mut FlowSamples, probe: &FlowProbe, flow: usize, sample: &SenderSample) {
    if !probe.has_columns() {
        return;
    }
    let wanted = |what, value: f64| if probe.wants(what) { value } else { f64::NAN };
    samples.time_ns.push(sample.at.as_nanos());
    samples.flow.push(u32::try_from(flow).expect("fewer than 2^32 flows"));
    samples.cwnd_segments.push(wanted(What::Cwnd, sample.cwnd_segments));
    samples.ssthresh_segments.push(wanted(What::Ssthresh, sample.ssthresh_segments));
    samples.srtt_s.push(wanted(What::Srtt, sample.srtt_s));
    samples.in_flight_segments.push(wanted(What::InFlight, sample.in_flight_segments));
    // A player's buffer is not looked at live.
    samples.playout_s.push(f64::NAN);
    samples.acked_bytes.push(sample.acked);
    let short = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    samples.outstanding_bytes.push(short(sample.sent.saturating_sub(sample.acked)));
    samples.segments_retransmitted.push(short(sample.retransmitted));
    samples.resent_at_bytes.push(sample.resent_at.map_or(f64::NAN, |at| at as f64));
}
