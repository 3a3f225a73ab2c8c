//! Probes: what is recorded over time, at every change or at an interval.

use ackclock_units::{Duration, Instant};

use crate::engine::Host;
use crate::network::Network;
use crate::records::{FlowSamples, LinkSamples, Run};
use crate::scenario::{Every, Probe, Scenario, What};
use crate::topology::Layout;

#[derive(Clone, Debug)]
enum Subject {
    Flows(Vec<usize>),
    Wire(usize),
}

#[derive(Clone, Debug)]
struct Active {
    subject: Subject,
    what: Vec<What>,
    interval: Option<Duration>,
    from: Instant,
    until: Instant,
    /// What was recorded last of each flow, to see a change.
    last: Vec<FlowValues>,
}

impl Active {
    fn records_at(&self, now: Instant) -> bool {
        self.from <= now && now <= self.until
    }

    fn wants(&self, what: What) -> bool {
        self.what.is_empty() || self.what.contains(&what)
    }
}

/// What a flow probe sees, in whole units so that equality means no change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FlowValues {
    cwnd: Option<u64>,
    ssthresh: Option<u64>,
    srtt_ns: Option<u64>,
    in_flight: Option<u64>,
}

/// Every probe of a scenario.
#[derive(Debug)]
pub struct Probes {
    probes: Vec<Active>,
}

impl Probes {
    /// The probes of a checked scenario.
    pub fn new(scenario: &Scenario, entries: &[usize], names: &[String], layout: &Layout) -> Self {
        let end = Instant::START + scenario.duration.0;
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
            Active {
                subject,
                what: probe.what.clone(),
                interval: match probe.every.0 {
                    Every::Change => None,
                    Every::Interval(interval) => Some(interval),
                },
                from: Instant::START + probe.from.0,
                until: probe.until.map_or(end, |until| Instant::START + until.0),
                last: vec![FlowValues::default(); names.len()],
            }
        };
        Self { probes: scenario.probes.iter().map(active).collect() }
    }

    /// When each probe with an interval first records: (probe, when).
    pub fn first_moments(&self) -> Vec<(u32, Instant)> {
        (0_u32..)
            .zip(&self.probes)
            .filter(|(_, probe)| probe.interval.is_some())
            .map(|(n, probe)| (n, probe.from))
            .collect()
    }

    fn on_change(&self) -> impl Iterator<Item = &Active> {
        self.probes.iter().filter(|probe| probe.interval.is_none())
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

    /// The links of which a probe wants to see every arrival.
    pub fn wires_seen_on_change(&self) -> impl Iterator<Item = usize> {
        self.on_change().filter_map(|probe| match probe.subject {
            Subject::Flows(_) => None,
            Subject::Wire(wire) => Some(wire),
        })
    }

    /// A probe's interval is over: it records. Returns when it does so next.
    pub fn on_moment(
        &mut self,
        n: u32,
        now: Instant,
        network: &mut Network,
        hosts: &[Host],
        run: &mut Run,
    ) -> Option<Instant> {
        let probe = &self.probes[n as usize];
        match &probe.subject {
            Subject::Flows(flows) => {
                for flow in flows {
                    let values = values(probe, &hosts[2 * flow]);
                    record_flow(&mut run.flow_samples, now, *flow, &values, &hosts[2 * flow]);
                }
            }
            Subject::Wire(wire) => record_wire(&mut run.link_samples, now, *wire, network),
        }
        probe.interval.map(|interval| now + interval).filter(|next| *next <= probe.until)
    }

    /// Something happened at the sender of `flow`.
    pub fn on_flow_change(&mut self, flow: usize, now: Instant, hosts: &[Host], run: &mut Run) {
        for probe in &mut self.probes {
            let sees = matches!(&probe.subject, Subject::Flows(flows) if flows.contains(&flow));
            if probe.interval.is_some() || !sees || !probe.records_at(now) {
                continue;
            }
            let values = values(probe, &hosts[2 * flow]);
            if probe.last[flow] != values {
                probe.last[flow] = values;
                record_flow(&mut run.flow_samples, now, flow, &values, &hosts[2 * flow]);
            }
        }
    }

    /// A packet arrived at a link.
    pub fn on_wire_change(
        &mut self,
        wire: usize,
        now: Instant,
        network: &mut Network,
        run: &mut Run,
    ) {
        for probe in &self.probes {
            let sees = matches!(probe.subject, Subject::Wire(seen) if seen == wire);
            if probe.interval.is_none() && sees && probe.records_at(now) {
                record_wire(&mut run.link_samples, now, wire, network);
            }
        }
    }
}

fn values(probe: &Active, host: &Host) -> FlowValues {
    let sender = host.endpoint.sender();
    FlowValues {
        cwnd: probe.wants(What::Cwnd).then(|| sender.cwnd().get()),
        ssthresh: sender
            .ssthresh()
            .map(ackclock_units::Bytes::get)
            .filter(|_| probe.wants(What::Ssthresh)),
        srtt_ns: sender.srtt().map(Duration::as_nanos).filter(|_| probe.wants(What::Srtt)),
        in_flight: probe.wants(What::InFlight).then(|| sender.in_flight().get()),
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
    let segments = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| bytes as f64 / mss);
    samples.time_ns.push(now.as_nanos());
    samples.flow.push(u32::try_from(flow).expect("the check bounds the number of flows"));
    samples.cwnd_segments.push(segments(values.cwnd));
    samples.ssthresh_segments.push(segments(values.ssthresh));
    samples.srtt_s.push(values.srtt_ns.map_or(f64::NAN, |nanos| nanos as f64 / 1e9));
    samples.in_flight_segments.push(segments(values.in_flight));
}

fn record_wire(samples: &mut LinkSamples, now: Instant, wire: usize, network: &mut Network) {
    let counters = network.links[wire].counters(now);
    samples.time_ns.push(now.as_nanos());
    samples.link.push(u32::try_from(wire).expect("fewer than 2^32 links"));
    samples.queue_packets.push(counters.queued.packets);
    samples.queue_bytes.push(counters.queued.bytes);
    samples.delivered_cross_packets.push(counters.delivered_cross.packets);
    samples
        .delivered_flow_packets
        .push(counters.delivered.packets - counters.delivered_cross.packets);
    samples.dropped_packets.push(counters.dropped.packets);
}
