//! A growth law that stays at home: an additive increase of two segments a round trip, and a reduction to 0.7, beside
//! CUBIC on one link.
//!
//! Run it in this folder: cargo run --release

use ackclock::Simulation;
use ackclock::law::{
    Ack, Bytes, Congestion, Growth, Proposal, RecoveryEnd, Signal, SlowStartStep, check_law,
};

#[derive(Debug, Default)]
struct TwoSegments {
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    /// Acknowledged data that has not yet added a segment.
    acked: Bytes,
}

impl Growth for TwoSegments {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        if let Some(step) = slow_start {
            self.cwnd += step.increase;
            return;
        }
        self.acked += ack.newly_acked;
        if self.acked >= self.cwnd / 2 {
            self.acked = Bytes::ZERO;
            self.cwnd += ack.mss.bytes();
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let left = (congestion.reduce_from * 7 / 10).max(congestion.mss.times(2));
        self.ssthresh = Some(left);
        self.cwnd = match congestion.signal {
            Signal::Timeout { .. } => congestion.mss.bytes(),
            Signal::Loss | Signal::Ecn { .. } => left,
        };
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn rebase(&mut self, proposal: &Proposal) {
        self.cwnd = proposal.cwnd.unwrap_or(self.cwnd);
        self.ssthresh = proposal.ssthresh.or(self.ssthresh);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
    }
}

const SCENARIO: &str = r#"
    duration = "60 s"

    [topology]
    kind = "path"
    rate = "20 Mbit/s"
    rtt = "40 ms"

    [[flow]]
    name = "mine"
    variant = "twosegments"

    [[flow]]
    name = "cubic"
    variant = "cubic"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let simulation =
        Simulation::from_toml(SCENARIO).law("twosegments", || Box::new(TwoSegments::default()));
    for flow in &simulation.run()?.flows {
        println!("{:6} {:6.2} Mbit/s", flow.flow, flow.goodput_bps / 1e6);
    }
    match check_law("twosegments", 100, 1) {
        Ok(kept) => println!("it kept the rules in {} stories", kept.stories),
        Err(broken) => println!("it breaks a rule: {}: {}", broken.rule, broken.what),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_runs_beside_cubic_and_keeps_the_rules() {
        let simulation =
            Simulation::from_toml(SCENARIO).law("twosegments", || Box::new(TwoSegments::default()));
        let run = simulation.run().unwrap();
        let names: Vec<&str> = run.flows.iter().map(|flow| &*flow.flow).collect();
        assert_eq!(names, ["mine", "cubic"]);
        check_law("twosegments", 100, 1).unwrap();
    }
}
