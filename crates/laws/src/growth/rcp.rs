//! RCP's sender: N. Dukkipati, M. Kobayashi, R. Zhang-Shen and N. `McKeown`, "Processor Sharing Flows in
//! the Internet", 2005: it sends at the least rate that a router on its way offers.

use ackclock_units::{Bytes, Duration, Mss, Rate};

use super::bbr::{Rounds, pacing_rate};
use super::contract::{About, Growth, Law, Recoveries, Routers, Wants};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Delivery, Established, Feedback, Proposal, RecoveryEnd, Signal, SlowStartStep,
};
use crate::words::{ANY, Described, Slot, Word};

/// The window, in what the rate carries in a round trip: it is to be no bound, but for a path that
/// has gone silent.
const WINDOW: f64 = 2.0;
/// Segments that it is at least.
const LEAST: u64 = 4;
/// The round-trip time that the first pacing rate assumes, if none was measured.
const NOMINAL_RTT: Duration = Duration::from_secs(1);

/// The rate is the routers'; losses are repaired and change nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rcp {
    mss: Mss,
    initial: Bytes,
    srtt: Option<Duration>,
    /// The rate of payload, in bytes per second; `None` until a router has offered one.
    rate: Option<f64>,
    /// The largest of this round and of the last: a rate that falls leaves what is on its way alone.
    largest: f64,
    largest_before: f64,
    rounds: Rounds,
    /// The retransmission timer has expired, and nothing has come since.
    silent: bool,
}

impl Rcp {
    fn srtt(&self) -> Duration {
        self.srtt.filter(|srtt| *srtt > Duration::ZERO).unwrap_or(NOMINAL_RTT)
    }

    /// In bytes per second: until a router has spoken, the first window in a round trip.
    fn rate(&self) -> f64 {
        self.rate.unwrap_or_else(|| self.initial.get() as f64 / self.srtt().as_secs_f64())
    }
}

impl Described for Rcp {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "rcp",
        (),
        "paced at the rate that routers offer to every flow (RCP, Dukkipati et al. 2005)",
    )];
}

impl Law for Rcp {
    const ABOUT: About = About {
        source: "Dukkipati et al. 2005, \"Processor Sharing Flows in the Internet\"",
        defaults: &[(ANY, "standard"), (ANY, "noidle")],
        owns: &[
            (Slot::SlowStart, "routers say how fast it begins"),
            (Slot::Jump, "routers say how fast it begins"),
            (Slot::Idle, "RCP sends at the rate that routers say"),
        ],
        recoveries: Recoveries::LeavingTheWindow(
            "RCP's rate is the routers', and does not fall while losses are repaired, for which it \
             must know which segments arrived",
        ),
        routers: Some(Routers::Rate),
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Rcp {
    variables! { law =>
        "rate_bps", "the rate of payload that routers offered": law.rate.map(|rate| 8.0 * rate);
    }

    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        self.silent |= matches!(congestion.signal, Signal::Timeout { .. });
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if self.rate.is_none()
            && let Some(cwnd) = proposal.cwnd
        {
            self.initial = cwnd;
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive window, rounded down to whole bytes"
    )]
    fn cwnd(&self) -> Bytes {
        if self.silent {
            return self.mss.bytes();
        }
        if self.rate.is_none() {
            return self.initial.max(self.mss.bytes());
        }
        let rate = self.rate().max(self.largest).max(self.largest_before);
        let window = (WINDOW * rate * self.srtt().as_secs_f64()) as u64;
        Bytes::new(window).max(self.mss.times(LEAST))
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn in_slow_start(&self) -> bool {
        false
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(pacing_rate(self.rate()))
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, grows_by_acks: false, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        self.srtt = delivery.srtt.or(self.srtt);
        self.silent &= delivery.newly_delivered == Bytes::ZERO;
        let Some(sample) = delivery.sample else { return };
        self.rounds.on_delivered(sample.prior_delivered, delivery.delivered);
        if self.rounds.start {
            self.largest_before = self.largest;
            self.largest = self.rate();
        }
    }

    fn on_established(&mut self, established: &Established) {
        self.srtt = established.srtt;
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        let Feedback::Rate { bytes_per_s, .. } = *feedback else { return };
        self.rate = Some(bytes_per_s.max(1.0));
        self.largest = self.largest.max(self.rate());
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Instant;

    use super::*;
    use crate::event::Why;

    /// Established with four segments of 1000 bytes and a round trip of 100 ms.
    fn law() -> Rcp {
        let mut law = Rcp::default();
        let (mss, cwnd) = (Mss::new(1000).unwrap(), Some(Bytes::new(4000)));
        law.rebase(&Proposal { cwnd, ssthresh: None, mss, why: Why::Established });
        law.on_established(&Established { srtt: Some(Duration::from_millis(100)), seed: 0 });
        law
    }

    fn offer(law: &mut Rcp, bytes_per_s: f64) {
        law.on_feedback(&Feedback::Rate { bytes_per_s });
    }

    #[test]
    fn the_rate_is_the_routers() {
        // Before any: 4000 B in 100 ms are 40 kB/s, 320 kbit/s, and no more than that.
        let mut law = law();
        assert_eq!(law.pacing_rate(), Some(Rate::from_bps(320_000)));
        assert_eq!(law.cwnd(), Bytes::new(4_000));
        // 1 MB/s: 8 Mbit/s, and two round trips of it, 200 kB, may be under way.
        offer(&mut law, 1e6);
        assert_eq!(law.pacing_rate(), Some(Rate::from_bps(8_000_000)));
        assert_eq!(law.cwnd(), Bytes::new(200_000));
        // Less: at once in the rate, in the window not before what was sent so is through.
        offer(&mut law, 1e5);
        assert_eq!(law.pacing_rate(), Some(Rate::from_bps(800_000)));
        assert_eq!(law.cwnd(), Bytes::new(200_000));
        assert_eq!((law.ssthresh(), law.in_slow_start()), (None, false));
    }

    #[test]
    fn losses_cost_nothing_and_silence_all_but_a_segment() {
        let mut law = law();
        offer(&mut law, 1e6);
        let congestion = |signal| Congestion {
            now: Instant::START,
            signal,
            reduce_from: Bytes::new(50_000),
            mss: Mss::new(1000).unwrap(),
        };
        law.on_congestion(&congestion(Signal::Loss));
        assert_eq!(law.cwnd(), Bytes::new(200_000));
        law.on_congestion(&congestion(Signal::Timeout { consecutive: 1 }));
        assert_eq!(law.cwnd(), Bytes::new(1_000));
    }
}
