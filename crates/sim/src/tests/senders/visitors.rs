//! Transports and queues of visitors.

use std::collections::VecDeque;

use ackclock_net::Packet;
use ackclock_net::queue::{Admission, Log, Queueing, Room, Waiting};
use ackclock_packet::Ecn;
use ackclock_units::{Bytes, Instant};

use crate::hosts::visitors::{
    Datagram, FlowSetup, OwnTransport, QueueOf, Transport, TransportState, Visitors,
};
use crate::records::Outcome;
use crate::scenario::Direction;
use crate::{Meter, Run, Scenario, ScenarioError, simulate, simulate_visited};

/// 8 Mbit/s are a byte a microsecond.
fn scenario(flows: &str) -> Scenario {
    let text = format!(
        r#"{{
            "duration": "1 s",
            "topology": {{"kind": "path", "rate": "8 Mbit/s", "rtt": "40 ms", "buffer": "10 packet"}},
            "flow": [{flows}]
        }}"#
    );
    Scenario::from_json(&text).unwrap()
}

/// One datagram at a time: the next goes when an answer has come, or after a second.
#[derive(Debug, Default)]
struct StopAndWait {
    sends: bool,
    left: Option<u64>,
    due: VecDeque<usize>,
    sent_at: Option<Instant>,
    last_rtt: Option<ackclock_units::Duration>,
    state: TransportState,
    marks: u64,
}

impl StopAndWait {
    fn send(&mut self) {
        if self.left != Some(0) {
            self.due.push_back(972);
            self.left = self.left.map(|left| left - 1);
        }
    }
}

impl Transport for StopAndWait {
    fn open(&mut self, _: Instant) {
        assert!(self.sends, "the first end opens");
        self.send();
    }

    fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.marks += u64::from(datagram.ecn == Ecn::Ce);
        if !self.sends {
            self.state.delivered += Bytes::new(datagram.payload.len() as u64);
            self.due.push_back(0);
            return;
        }
        self.state.established = true;
        let rtt = now.since(self.sent_at.take().unwrap());
        self.last_rtt = Some(rtt);
        self.state.srtt = Some(rtt);
        self.state.acked += Bytes::new(972);
        self.state.completed = self.left == Some(0);
        self.state.closed = self.state.completed;
        self.send();
    }

    fn wake(&mut self, _: Instant) {
        self.state.timeouts += 1;
        self.state.lost_packets += 1;
        self.due.push_back(972);
    }

    fn transmit(&mut self, now: Instant) -> Option<Datagram> {
        let size = self.due.pop_front()?;
        if self.sends {
            self.sent_at = Some(now);
        }
        Some(Datagram { payload: vec![7; size], ecn: Ecn::Ect0 })
    }

    fn wake_at(&mut self) -> Option<Instant> {
        self.sent_at.map(|at| at + ackclock_units::Duration::from_millis(200))
    }

    fn state(&self) -> TransportState {
        TransportState { cwnd: Some(Bytes::new(972)), ..self.state }
    }
}

fn own(flow: &str) -> OwnTransport<'static> {
    OwnTransport {
        flow: flow.to_owned(),
        variant: "stop-and-wait".to_owned(),
        make: Box::new(|setup: &FlowSetup| {
            assert_eq!(setup.largest_payload, 1472);
            let left = setup.volume.map(|volume| volume.get() / 972);
            let sender = StopAndWait { sends: true, left, ..StopAndWait::default() };
            [Box::new(sender), Box::new(StopAndWait::default())]
        }),
    }
}

fn run(scenario: &Scenario, visitors: Visitors<'_>) -> Result<Run, ScenarioError> {
    simulate_visited(scenario, visitors, None, &Meter::default()).map(Option::unwrap)
}

fn with_transport(scenario: &Scenario) -> Result<Run, ScenarioError> {
    run(scenario, Visitors { transports: vec![own("own")], ..Visitors::default() })
}

#[test]
fn a_transport_of_ones_own_sends_over_the_links() {
    let scenario = scenario(r#"{"name": "own", "variant": "reno", "app": {"kind": "bulk"}}"#);
    let run = with_transport(&scenario).unwrap();
    let flow = &run.flows[0];
    // A round trip: 1000 bytes there, 28 back, 40 ms of delay: 41.028 ms. The first arrives at 21 ms, so that 24 do
    // within a second: 21 + 23 * 41.028 = 964.6 ms.
    assert_eq!((flow.arrived_packets, flow.arrived_bytes), (24, 24_000));
    assert_eq!(flow.delivered_bytes, 24 * 972);
    assert_eq!((&*flow.variant, flow.outcome), ("stop-and-wait", Some(Outcome::Open)));
    let ms = |seconds: Option<f64>| seconds.map(|seconds| (seconds * 1e6).round() / 1e3);
    // The answer to the first arrives at 41.028 ms; the way back of the echo is counted from the first link's start.
    assert_eq!(ms(flow.established_s), Some(41.028));
    assert_eq!((ms(flow.srtt_mean_s), ms(flow.path_rtt_mean_s)), (Some(41.028), Some(41.028)));
    assert_eq!((flow.rto_mean_s, flow.timeouts, flow.completed_s), (None, 0, None));
}

#[test]
fn a_volume_ends_and_the_flow_is_closed_at_one_end() {
    let scenario = scenario(
        r#"{"name": "own", "variant": "reno", "app": {"kind": "bulk", "size": "4860 B"}}"#,
    );
    let run = with_transport(&scenario).unwrap();
    let flow = &run.flows[0];
    // Five datagrams of 972 bytes, the last answered after five round trips.
    assert_eq!(flow.delivered_bytes, 4860);
    assert!((flow.completed_s.unwrap() - 5.0 * 0.041_028).abs() < 1e-9);
}

#[test]
fn a_datagram_that_is_lost_is_sent_again_by_the_timer() {
    let mut scenario = scenario(r#"{"name": "own", "variant": "reno"}"#);
    let lossy = r#"{
        "kind": "path", "rate": "8 Mbit/s", "rtt": "40 ms",
        "loss": {"every": 1000, "first": 2}
    }"#;
    scenario.topology = serde_json::from_str(lossy).unwrap();
    let run = with_transport(&scenario).unwrap();
    assert_eq!((run.flows[0].timeouts, run.flows[0].segments_retransmitted), (1, 1));
}

#[test]
fn a_transport_of_ones_own_shares_a_link_with_tcp() {
    let scenario =
        scenario(r#"{"name": "own", "variant": "reno"}, {"name": "tcp", "variant": "cubic"}"#);
    let run = with_transport(&scenario).unwrap();
    let [own, tcp] = run.flows.as_slice() else { panic!("two flows") };
    assert!(own.arrived_packets > 5 && tcp.goodput_bps > 4e6, "{own:?} {tcp:?}");
    let link = &run.links[0];
    assert!(own.arrived_packets + tcp.arrived_packets <= link.delivered_packets);
}

#[test]
fn probes_see_what_a_transport_says() {
    let mut scenario = scenario(r#"{"name": "own", "variant": "reno"}"#);
    scenario.probes = serde_json::from_str(r#"[{"flow": "own", "every": "100 ms"}]"#).unwrap();
    let run = with_transport(&scenario).unwrap();
    let samples = &run.flow_samples;
    // The window is a datagram's payload, in segments of 1460 bytes; by 100 ms two answers have come.
    assert!((samples.cwnd_segments[1] - 972.0 / 1460.0).abs() < 1e-9);
    assert_eq!(samples.acked_bytes[1], 2 * 972);
    assert!(samples.ssthresh_segments[1].is_nan());
}

#[test]
fn a_visitor_for_nobody_is_refused() {
    let tcp = scenario(r#"{"name": "tcp", "variant": "reno"}"#);
    let error = with_transport(&tcp).unwrap_err().to_string();
    assert!(error.contains("transport of `own`: expected a flow of: tcp"), "{error}");
    let paced = scenario(
        r#"{"name": "own", "variant": "reno", "app": {"kind": "cbr", "rate": "1 Mbit/s", "message": "1000 B"}}"#,
    );
    let error = with_transport(&paced).unwrap_err().to_string();
    assert!(error.contains("flow[0].app: found `cbr`, expected `bulk`"), "{error}");
    let queue = QueueOf {
        link: "nowhere".to_owned(),
        direction: Direction::Forward,
        make: Box::new(|_, _| Box::new(Stack::default())),
    };
    let visitors = Visitors { queues: vec![queue], ..Visitors::default() };
    let error = run(&tcp, visitors).unwrap_err().to_string();
    assert!(error.contains("queue of `nowhere`: expected a link of: bottleneck"), "{error}");
}

/// First in, first out, like the package's own; or the other way round.
#[derive(Clone, Debug, Default)]
struct Stack {
    lifo: bool,
    waiting: VecDeque<Waiting>,
}

impl Queueing for Stack {
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(ackclock_net::queue::Reason::Full);
        }
        self.waiting.push_back(Waiting { packet, came: now });
        Admission::Taken
    }

    fn next(&mut self, _: Instant, _: &mut Log) -> Option<Waiting> {
        if self.lifo { self.waiting.pop_back() } else { self.waiting.pop_front() }
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.waiting.pop_back().map(|waiting| waiting.packet)
    }
}

fn behind(lifo: bool) -> Visitors<'static> {
    let queue = QueueOf {
        link: "bottleneck".to_owned(),
        direction: Direction::Forward,
        make: Box::new(move |_, _| Box::new(Stack { lifo, ..Stack::default() })),
    };
    Visitors { queues: vec![queue], ..Visitors::default() }
}

#[test]
fn a_queue_of_ones_own_that_is_drop_tail_leaves_the_same_tables() {
    let scenario = scenario(
        r#"{"name": "a", "variant": "cubic"}, {"name": "b", "variant": "reno", "start": "0.1 s"}"#,
    );
    let [house, own] = [simulate(&scenario).unwrap(), run(&scenario, behind(false)).unwrap()];
    assert_eq!(format!("{:?}", house.flows), format!("{:?}", own.flows));
    // Delays are counted as a packet begins to be sent, and of the package's own as it takes its place.
    let counts = |run: &Run| {
        let rows = run.links.iter();
        rows.map(|row| (row.offered_packets, row.delivered_packets, row.dropped_packets)).collect()
    };
    let [house, own]: [Vec<_>; 2] = [counts(&house), counts(&own)];
    assert_eq!(house, own);
    // The other order reorders segments, and TCP notices.
    let turned = run(&scenario, behind(true)).unwrap();
    assert_ne!(counts(&turned), own);
}
