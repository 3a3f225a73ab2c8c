use super::law::{
    Ack, Bytes, Congestion, Growth, Proposal, RecoveryEnd, SlowStartStep, check_law, register_law,
};
use super::*;

const PATH: &str = r#"
duration = "5 s"

[topology]
kind = "path"
rate = "10 Mbit/s"
rtt = "40 ms"

[[flow]]
name = "a"
variant = "VARIANT"
"#;

/// A window that is so many segments, whatever happens.
#[derive(Debug)]
struct Fixed {
    segments: u64,
    cwnd: Bytes,
}

impl Growth for Fixed {
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}
    fn rebase(&mut self, proposal: &Proposal) {
        self.cwnd = proposal.mss.times(self.segments);
    }
    fn cwnd(&self) -> Bytes {
        self.cwnd
    }
    fn ssthresh(&self) -> Option<Bytes> {
        Some(Bytes::ZERO)
    }
}

fn fixed(segments: u64) -> impl Fn() -> Box<dyn Growth> + Send + Sync + 'static {
    move || Box::new(Fixed { segments, cwnd: Bytes::ZERO })
}

fn path(variant: &str) -> Simulation<'static> {
    Simulation::from_toml(&PATH.replace("VARIANT", variant))
}

#[test]
fn a_law_runs_and_an_observer_sees_its_packets() {
    let mut seen = 0;
    let run = path("facadea")
        .law("facadea", fixed(10))
        .observe(&["bottleneck"], |sent| {
            seen += u64::from(matches!(sent.packet, Sent::Segment(it) if it.from_client));
            ControlFlow::Continue(())
        })
        .run()
        .unwrap();
    // 10 segments of 1460 bytes each 40 ms and the time that they take, less the handshake.
    assert!((2.7e6..2.92e6).contains(&run.flows[0].goodput_bps), "{}", run.flows[0].goodput_bps);
    assert_eq!(seen, run.links[0].delivered_packets);
}

#[test]
fn what_cannot_be_used_is_one_line() {
    let said = path("nobody").run().unwrap_err().to_string();
    assert!(said.contains("unknown part `nobody`"), "{said}");
    let said = path("reno").law("reno", fixed(1)).run().unwrap_err().to_string();
    assert!(said.starts_with("law `reno`: `reno` is a word"), "{said}");
    let see = |_: &Transmission| ControlFlow::Continue(());
    let said = path("reno").observe(&["link"], see).run().unwrap_err().to_string();
    assert_eq!(said, "observe: found link, expected links of: bottleneck");
    let see = |_: &Transmission| ControlFlow::Break(());
    assert_eq!(path("reno").observe(&["bottleneck"], see).run(), Err(Error::Stopped));
}

#[test]
fn a_law_that_fails_ends_the_run() {
    let run = path("facadeb").law("facadeb", fixed(0)).run();
    let said = run.unwrap_err().to_string();
    // The segment of 1500 bytes without 40 bytes of headers.
    assert!(
        said.starts_with("law `facadeb`, on_established at ")
            && said.ends_with("cwnd is 0 bytes; expected at least a segment, which is 1460 bytes"),
        "{said}"
    );
}

#[test]
fn a_law_is_checked() {
    register_law("facadec", fixed(10)).unwrap();
    assert!(check_law("facadec", 5, 1).unwrap().events > 100);
    register_law("facaded", fixed(0)).unwrap();
    let broken = check_law("facaded", 5, 1).unwrap_err();
    assert_eq!(broken.rule, "a window and a rate that a sender can have");
}

/// First in, first out; or a queue that keeps what it is given.
#[derive(Clone, Debug, Default)]
struct Line {
    keeps: bool,
    waiting: std::collections::VecDeque<queue::Waiting>,
}

impl queue::Queueing for Line {
    fn offer(
        &mut self,
        now: law::Instant,
        packet: queue::Packet,
        room: &queue::Room,
        _: &mut queue::Log,
    ) -> queue::Admission {
        if !room.fits {
            return queue::Admission::Refused(queue::Reason::Full);
        }
        self.waiting.push_back(queue::Waiting { packet, came: now });
        queue::Admission::Taken
    }

    fn next(&mut self, _: law::Instant, _: &mut queue::Log) -> Option<queue::Waiting> {
        if self.keeps { None } else { self.waiting.pop_front() }
    }

    fn pop_last(&mut self) -> Option<queue::Packet> {
        self.waiting.pop_back().map(|waiting| waiting.packet)
    }
}

#[test]
fn a_queue_of_ones_own_stands_in_front_of_a_link() {
    let house = path("cubic").run().unwrap();
    let own = path("cubic").queue("bottleneck", |_, _| Line::default()).run().unwrap();
    assert_eq!(format!("{:?}", house.flows), format!("{:?}", own.flows));
    let keeps = |_, _| Line { keeps: true, ..Line::default() };
    let said = path("cubic").queue("bottleneck", keeps).run().unwrap_err().to_string();
    // The SYN, which is the first packet, finds the link idle.
    assert_eq!(said, "queue: at 0.000000 s: it gave none of 1 packets that wait");
    let said = path("cubic").queue("link", |_, _| Line::default()).run().unwrap_err().to_string();
    assert_eq!(said, "queue of `link`: expected a link of: bottleneck");
}

/// An end that does one thing wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    does: &'static str,
    sent: bool,
}

impl Transport for Wrong {
    fn open(&mut self, _: law::Instant) {}

    fn receive(&mut self, _: law::Instant, _: transport::Datagram) {}

    fn wake(&mut self, _: law::Instant) {}

    fn transmit(&mut self, _: law::Instant) -> Option<transport::Datagram> {
        let size = match self.does {
            "floods" => 10,
            "is large" if !std::mem::replace(&mut self.sent, true) => 1473,
            "delivers" if !std::mem::replace(&mut self.sent, true) => 5,
            _ => return None,
        };
        Some(transport::Datagram { payload: vec![0; size], ecn: transport::Ecn::NotEct })
    }

    fn wake_at(&mut self) -> Option<law::Instant> {
        (self.does == "wakes").then_some(law::Instant::START)
    }

    fn state(&self) -> transport::TransportState {
        // The sender has sent by then; of the receiver it is not asked.
        let delivered = if self.does == "delivers" && !self.sent { 6 } else { 0 };
        let delivered = Bytes::new(delivered);
        transport::TransportState { delivered, ..transport::TransportState::default() }
    }
}

#[test]
fn a_transport_that_breaks_a_rule_ends_the_run() {
    let said = |does| {
        let wrong = Wrong { does, sent: false };
        let run = path("reno").transport("a", "wrong", move |_| (wrong, wrong)).run();
        run.unwrap_err().to_string()
    };
    let at = "transport: flow `a` at 0.000000 s";
    assert_eq!(said("floods"), format!("{at}: datagrams without end at one moment"));
    assert_eq!(said("wakes"), format!("{at}: wake-ups without end at one moment"));
    let large = "a datagram has a payload of 1473 B, expected at most 1472 B";
    assert_eq!(said("is large"), format!("{at}: {large}"));
    // 33 bytes at 10 Mbit/s, and half of 40 ms.
    let early = "transport: flow `a` at 0.020026 s: 6 B are delivered, of 5 B that have arrived";
    assert_eq!(said("delivers"), early);
}
