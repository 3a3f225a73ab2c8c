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
