//! Probes: what is recorded over time, at every change or at an interval.

use ackclock_app::AnyApp;
use ackclock_units::{Bytes, Duration, Instant};

use crate::hosts::host::Host;
use crate::hosts::visitors::Visiting;
use crate::layout::links::Links;
use crate::layout::topology::Layout;
use crate::records::{
    EventWatch, FlowSamples, LawWatch, LinkSamples, Run, SenderState, record_all,
};
use crate::scenario::{Every, Probe, Scenario, What};

#[derive(Clone, Debug)]
enum Subject {
    Flows(Vec<usize>),
    Wire(usize),
}

#[derive(Clone, Debug)]
struct Active {
    subject: Subject,
    wanted: Wanted,
    interval: Option<Duration>,
    from: Instant,
    until: Instant,
    /// The values that were recorded last of each flow, to see a change; empty where changes do not matter.
    last: Vec<FlowValues>,
    /// Those of its law's variables.
    laws: Vec<LawWatch>,
}

impl Active {
    fn records_at(&self, now: Instant) -> bool {
        self.from <= now && now <= self.until
    }
}

/// The values of a flow probe, in whole units so that equality means no change: the window, the threshold and the data
/// in flight in bytes, the round-trip time in nanoseconds; `NONE` if a value is not recorded or does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlowValues {
    cwnd: u64,
    ssthresh: u64,
    srtt_ns: u64,
    in_flight: u64,
    playout_ns: u64,
}

const NONE: u64 = u64::MAX;

impl FlowValues {
    const NOTHING: Self =
        Self { cwnd: NONE, ssthresh: NONE, srtt_ns: NONE, in_flight: NONE, playout_ns: NONE };
}

/// Which values of a flow a probe records.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "a set of six")]
struct Wanted {
    cwnd: bool,
    ssthresh: bool,
    srtt: bool,
    in_flight: bool,
    playout: bool,
    law: bool,
}

impl Wanted {
    /// All that every flow has if nothing is named.
    fn new(named: &[What]) -> Self {
        let wants = |what| named.is_empty() || named.contains(&what);
        Self {
            cwnd: wants(What::Cwnd),
            ssthresh: wants(What::Ssthresh),
            srtt: wants(What::Srtt),
            in_flight: wants(What::InFlight),
            playout: named.contains(&What::Playout),
            law: named.contains(&What::Law),
        }
    }

    /// True if it records a column of `flow_samples`.
    const fn has_columns(self) -> bool {
        self.cwnd || self.ssthresh || self.srtt || self.in_flight || self.playout
    }
}

/// Every probe of a scenario.
#[derive(Debug)]
pub struct Probes {
    active: Vec<Active>,
    /// By flow: the probes that see its every change.
    seeing: Vec<Vec<u32>>,
    /// By flow: the spans of all probes of it, in which its events are recorded.
    spans: Vec<Vec<[Instant; 2]>>,
    /// By flow: its events are found here.
    events: Vec<EventWatch>,
}

impl Probes {
    /// The probes of a checked scenario.
    pub fn new(scenario: &Scenario, entries: &[usize], names: &[String], layout: &Layout) -> Self {
        let end = Instant::START + scenario.duration;
        let active = |probe: &Probe| {
            let subject = match (&probe.flow, &probe.link) {
                (Some(flow), _) => Subject::Flows(
                    (0..names.len())
                        .filter(|n| names[*n] == *flow || scenario.flows[entries[*n]].name == *flow)
                        .collect(),
                ),
                (None, link) => Subject::Wire(
                    link.as_ref()
                        .and_then(|link| layout.wire(link, probe.direction))
                        .expect("the check found the link"),
                ),
            };
            let wanted = Wanted::new(&probe.what);
            Active {
                subject,
                wanted,
                interval: match probe.every {
                    Every::Change => None,
                    Every::Interval(interval) => Some(interval),
                },
                from: Instant::START + probe.from,
                until: probe.until.map_or(end, |until| Instant::START + until),
                last: match probe.every {
                    Every::Change => vec![FlowValues::NOTHING; names.len()],
                    Every::Interval(_) => Vec::new(),
                },
                laws: match probe.every {
                    Every::Change if wanted.law => vec![LawWatch::default(); names.len()],
                    _ => Vec::new(),
                },
            }
        };
        let active: Vec<Active> = scenario.probes.iter().map(active).collect();
        let mut seeing = vec![Vec::new(); names.len()];
        let mut spans = vec![Vec::new(); names.len()];
        for (n, probe) in (0..).zip(&active) {
            let Subject::Flows(flows) = &probe.subject else { continue };
            for flow in flows {
                spans[*flow].push([probe.from, probe.until]);
                if probe.interval.is_none() {
                    seeing[*flow].push(n);
                }
            }
        }
        Self { active, seeing, spans, events: vec![EventWatch::default(); names.len()] }
    }

    /// When each probe with an interval first records: (probe, when).
    pub fn first_moments(&self) -> Vec<(u32, Instant)> {
        (0_u32..)
            .zip(&self.active)
            .filter(|(_, probe)| probe.interval.is_some())
            .map(|(n, probe)| (n, probe.from))
            .collect()
    }

    fn on_change(&self) -> impl Iterator<Item = &Active> {
        self.active.iter().filter(|probe| probe.interval.is_none())
    }

    /// The flows of which a probe wants to see every change.
    pub fn flows_seen_on_change(&self) -> Vec<usize> {
        self.on_change()
            .flat_map(|probe| match &probe.subject {
                Subject::Flows(flows) => flows.clone(),
                Subject::Wire(_) => Vec::new(),
            })
            .collect()
    }

    /// The flows that a probe looks at, at every change or at times of its own: their events are recorded.
    pub fn flows_seen(&self) -> impl Iterator<Item = usize> {
        let flows = self.spans.iter().enumerate();
        flows.filter(|(_, spans)| !spans.is_empty()).map(|(flow, _)| flow)
    }

    /// The links of which a probe wants to see every arrival.
    pub fn wires_seen_on_change(&self) -> impl Iterator<Item = usize> {
        self.on_change().filter_map(|probe| match probe.subject {
            Subject::Flows(_) => None,
            Subject::Wire(wire) => Some(wire),
        })
    }

    /// True if a probe looks at this link at times of its own.
    pub fn looks_at(&self, wire: usize) -> bool {
        self.active.iter().any(|probe| {
            probe.interval.is_some() && matches!(probe.subject, Subject::Wire(seen) if seen == wire)
        })
    }

    /// A probe's interval is over: it records. Returns when it does so next.
    pub fn on_moment(
        &mut self,
        n: u32,
        now: Instant,
        network: &mut impl Links,
        hosts: &[Host],
        run: &mut Run,
    ) -> Option<Instant> {
        let probe = &self.active[n as usize];
        match &probe.subject {
            Subject::Flows(flows) => {
                for flow in flows {
                    let host = &hosts[2 * flow];
                    if probe.wanted.has_columns() {
                        let values = values(probe.wanted, now, &hosts[2 * flow..]);
                        record_flow(&mut run.flow_samples, now, *flow, &values, host);
                    }
                    if probe.wanted.law && host.visiting.is_none() {
                        let law = host.endpoint.sender().growth();
                        record_all(now, *flow, law, &mut run.law_samples);
                    }
                }
            }
            Subject::Wire(wire) => record_wire(&mut run.link_samples, now, *wire, network),
        }
        probe.interval.map(|interval| now + interval).filter(|next| *next <= probe.until)
    }

    /// Something happened at the sender of `flow`.
    pub fn on_flow_change(&mut self, flow: usize, now: Instant, hosts: &[Host], run: &mut Run) {
        self.note_events(flow, now, &hosts[2 * flow], run);
        for n in &self.seeing[flow] {
            let probe = &mut self.active[*n as usize];
            if !probe.records_at(now) {
                continue;
            }
            let values = values(probe.wanted, now, &hosts[2 * flow..]);
            if probe.last[flow] != values {
                probe.last[flow] = values;
                record_flow(&mut run.flow_samples, now, flow, &values, &hosts[2 * flow]);
            }
            if let Some(watch) = probe.laws.get_mut(flow)
                && hosts[2 * flow].visiting.is_none()
            {
                let law = hosts[2 * flow].endpoint.sender().growth();
                watch.record_changes(now, flow, law, &mut run.law_samples);
            }
        }
    }

    fn note_events(&mut self, flow: usize, now: Instant, host: &Host, run: &mut Run) {
        if host.visiting.is_some() {
            // Nothing is known of the repairs of a visitor's transport.
            return;
        }
        let watch = &mut self.events[flow];
        let mut kinds = [None; 8];
        let mut count = 0;
        watch.see(SenderState::of(host.endpoint.sender()), |kind| {
            kinds[count] = Some(kind);
            count += 1;
        });
        let within = |[from, until]: &[Instant; 2]| *from <= now && now <= *until;
        if count > 0 && self.spans[flow].iter().any(within) {
            let number = u32::try_from(flow).expect("the check bounds the number of flows");
            let rows = kinds.into_iter().flatten().map(|kind| watch.row(now, number, kind));
            run.flow_events.extend(rows);
        }
    }

    /// A packet arrived at a link.
    pub fn on_wire_change(
        &mut self,
        wire: usize,
        now: Instant,
        network: &mut impl Links,
        run: &mut Run,
    ) {
        for probe in &self.active {
            let sees = matches!(probe.subject, Subject::Wire(seen) if seen == wire);
            if probe.interval.is_none() && sees && probe.records_at(now) {
                record_wire(&mut run.link_samples, now, wire, network);
            }
        }
    }
}

#[inline]
fn values(wanted: Wanted, now: Instant, ends: &[Host]) -> FlowValues {
    if let Some(own) = &ends[0].visiting {
        return visiting_values(wanted, own);
    }
    let sender = ends[0].endpoint.sender();
    let mut values = FlowValues::NOTHING;
    if wanted.cwnd {
        values.cwnd = sender.cwnd().get();
    }
    if wanted.ssthresh {
        values.ssthresh = sender.ssthresh().map_or(NONE, Bytes::get);
    }
    if wanted.srtt {
        values.srtt_ns = sender.srtt().map_or(NONE, Duration::as_nanos);
    }
    if wanted.in_flight {
        values.in_flight = sender.in_flight().get();
    }
    if wanted.playout {
        let held = match &ends[1].app {
            AnyApp::VideoClient(client) => Some(client.player().playable()),
            AnyApp::DashClient(client) => Some(client.buffered(now)),
            _ => None,
        };
        values.playout_ns = held.map_or(NONE, Duration::as_nanos);
    }
    values
}

/// The values of a visitor's sender, as far as it tells them.
fn visiting_values(wanted: Wanted, own: &Visiting) -> FlowValues {
    let bytes =
        |wanted: bool, value: Option<Bytes>| value.filter(|_| wanted).map_or(NONE, Bytes::get);
    let srtt = own.state.srtt.filter(|_| wanted.srtt);
    FlowValues {
        cwnd: bytes(wanted.cwnd, own.state.cwnd),
        ssthresh: bytes(wanted.ssthresh, own.state.ssthresh),
        in_flight: bytes(wanted.in_flight, own.state.in_flight),
        srtt_ns: srtt.map_or(NONE, Duration::as_nanos),
        ..FlowValues::NOTHING
    }
}

fn record_flow(
    samples: &mut FlowSamples,
    now: Instant,
    flow: usize,
    values: &FlowValues,
    host: &Host,
) {
    let mss = f64::from(host.endpoint.sender().mss().get());
    let segments = |bytes| if bytes == NONE { f64::NAN } else { bytes as f64 / mss };
    samples.time_ns.push(now.as_nanos());
    samples.flow.push(u32::try_from(flow).expect("the check bounds the number of flows"));
    samples.cwnd_segments.push(segments(values.cwnd));
    samples.ssthresh_segments.push(segments(values.ssthresh));
    let seconds = |nanos| if nanos == NONE { f64::NAN } else { nanos as f64 / 1e9 };
    samples.srtt_s.push(seconds(values.srtt_ns));
    samples.in_flight_segments.push(segments(values.in_flight));
    samples.playout_s.push(seconds(values.playout_ns));
    let (sender, stats) = (host.endpoint.sender(), host.stats());
    let (acked, outstanding) = match &host.visiting {
        None => (sender.acked(), sender.sent().saturating_sub(sender.acked())),
        Some(own) => (own.state.acked, own.state.in_flight.unwrap_or_default()),
    };
    let short = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    samples.acked_bytes.push(acked.get());
    samples.outstanding_bytes.push(short(outstanding.get()));
    samples.segments_retransmitted.push(short(stats.segments_retransmitted));
    let resent = stats.segments_retransmitted > 0;
    samples.resent_at_bytes.push(if resent { stats.resent_at as f64 } else { f64::NAN });
}

fn record_wire(samples: &mut LinkSamples, now: Instant, wire: usize, network: &mut impl Links) {
    samples.record(now, wire, &network.counters(wire, now));
}
