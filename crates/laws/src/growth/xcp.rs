//! XCP's sender: D. Katabi, M. Handley and C. Rohrs, "Congestion Control for High Bandwidth-Delay
//! Product Networks", SIGCOMM 2002, §3.2: the window grows and shrinks by what the routers say.

use ackclock_units::{Bytes, Mss};

use super::contract::{About, Growth, Law, Routers};
use crate::event::{Ack, Congestion, Feedback, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{ANY, Described, Slot, Word};

/// The window is the routers' but for losses, which are answered as standard TCP does (§3.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Xcp {
    mss: Mss,
    /// In bytes; feedback comes in parts of a segment.
    cwnd: f64,
    ssthresh: Option<Bytes>,
    undo: Option<(f64, Option<Bytes>)>,
}

impl Described for Xcp {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "xcp",
        (),
        "a window that grows and shrinks by what routers say (XCP, Katabi et al. 2002)",
    )];
}

impl Law for Xcp {
    const ABOUT: About = About {
        source: "Katabi et al. 2002, \"Congestion Control for High Bandwidth-Delay Product Networks\"",
        defaults: &[(ANY, "standard"), (ANY, "noidle")],
        owns: &[
            (Slot::SlowStart, "routers say how fast it begins"),
            (Slot::Jump, "routers say how fast it begins"),
        ],
        routers: Some(Routers::Throughput),
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Xcp {
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        let half = (congestion.reduce_from / 2).max(congestion.mss.times(2));
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some((self.cwnd, self.ssthresh));
            self.ssthresh = Some(half);
        }
        let left = match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => half,
            Signal::Timeout { .. } => congestion.mss.bytes(),
        };
        self.cwnd = self.cwnd.min(left.get() as f64);
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.cwnd = self.cwnd.min(at_most.get() as f64).max(end.mss.bytes().get() as f64);
        }
    }

    fn on_spurious(&mut self) {
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.zip(ssthresh).map(|(now, then)| now.max(then));
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.get() as f64;
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive window, rounded down to whole bytes"
    )]
    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd as u64).max(self.mss.bytes())
    }

    /// Half of the flight at the last loss: nothing but a repair asks for it.
    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| ssthresh.max(self.mss.times(2)))
    }

    fn in_slow_start(&self) -> bool {
        false
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        let Feedback::Throughput { delta, srtt } = *feedback else { return };
        // Equation 1, with throughputs: cwnd ← max(cwnd + H, s).
        let least = self.mss.bytes().get() as f64;
        self.cwnd = (self.cwnd + delta * srtt.as_secs_f64()).max(least);
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::{Duration, Instant};

    use super::*;
    use crate::event::Why;

    fn law() -> Xcp {
        let mut law = Xcp::default();
        let mss = Mss::new(1000).unwrap();
        let cwnd = Some(Bytes::new(10_000));
        law.rebase(&Proposal { cwnd, ssthresh: None, mss, why: Why::Established });
        law
    }

    fn feedback(delta: f64) -> Feedback {
        Feedback::Throughput { delta, srtt: Duration::from_millis(100) }
    }

    #[test]
    fn the_window_moves_by_what_the_routers_say() {
        // 20 kB/s more over a round trip of 100 ms are 2000 bytes; parts of a byte add up.
        let mut law = law();
        law.on_feedback(&feedback(20_000.0));
        assert_eq!(law.cwnd(), Bytes::new(12_000));
        law.on_feedback(&feedback(-5_005.0));
        law.on_feedback(&feedback(-5_005.0));
        assert_eq!(law.cwnd(), Bytes::new(10_999));
        // Never below a segment.
        law.on_feedback(&feedback(-1e6));
        assert_eq!(law.cwnd(), Bytes::new(1000));
        assert!(!law.in_slow_start());
    }

    #[test]
    fn a_loss_halves_it() {
        let mut law = law();
        let congestion = |signal, reduce_from| Congestion {
            now: Instant::START,
            signal,
            reduce_from: Bytes::new(reduce_from),
            mss: Mss::new(1000).unwrap(),
        };
        law.on_congestion(&congestion(Signal::Loss, 9_000));
        assert_eq!((law.cwnd(), law.ssthresh()), (Bytes::new(4_500), Some(Bytes::new(4_500))));
        law.on_congestion(&congestion(Signal::Timeout { consecutive: 1 }, 4_000));
        assert_eq!((law.cwnd(), law.ssthresh()), (Bytes::new(1_000), Some(Bytes::new(2_000))));
        law.on_spurious();
        assert_eq!(law.cwnd(), Bytes::new(4_500));
    }
}
