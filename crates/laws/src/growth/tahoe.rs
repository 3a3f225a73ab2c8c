//! Tahoe, as E. Altman et al., "Performance Modeling of TCP/IP in a Wide-Area Network" (1997) §2
//! states it: equations 7 and 8.

use ackclock_units::{Bytes, Mss};

use super::contract::{About, Growth, Law, Model, Recoveries, Wants, whole_bytes};
use crate::Profile;
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{ANY, Described, Word};

/// Tahoe: W + 1 an ACK below the threshold, W + 1/floor(W) above it; any loss sets the threshold
/// to half of W and W to one segment.
#[derive(Clone, Copy, Debug)]
pub struct Tahoe {
    counting: Counting,
    /// W in segments: a real number, as in equation 7. On a path that repeats itself exactly, whether
    /// W reaches a whole number on the floor(W)th ACK or on the next decides which packets meet a
    /// full queue: with exact fractions case 7 of the paper's Table 1 carries 12 % less. The paper's
    /// simulator kept W in floating point too.
    w: f64,
    w_th: Option<f64>,
    mss: Mss,
    /// Acknowledged bytes that have not yet bought a segment.
    acked: Bytes,
}

/// The unit in which congestion avoidance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// 1/floor(W) segments an ACK (equation 7).
    Acks,
    /// One segment a window of bytes acknowledged (RFC 5681 §3.1).
    Bytes,
}

impl Tahoe {
    /// Growing by 1/floor(W) segments an ACK (equation 7).
    pub fn counting_acks() -> Self {
        Self {
            counting: Counting::Acks,
            w: 1.0,
            w_th: None,
            mss: Mss::default(),
            acked: Bytes::ZERO,
        }
    }

    /// Growing by one segment a window of bytes acknowledged (RFC 5681 §3.1).
    pub fn counting_bytes() -> Self {
        Self { counting: Counting::Bytes, ..Self::counting_acks() }
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        bytes.segments(self.mss)
    }

    fn bytes(&self, segments: f64) -> Bytes {
        whole_bytes(segments, self.mss)
    }

    fn avoid(&mut self, ack: &Ack) {
        match self.counting {
            Counting::Acks => self.w += 1.0 / self.w.floor(),
            Counting::Bytes => {
                self.acked += ack.newly_acked;
                let window = self.cwnd();
                if self.acked >= window {
                    self.acked -= window;
                    self.w += 1.0;
                }
            }
        }
    }
}

impl Described for Tahoe {
    type Settings = Counting;

    const WORDS: &'static [Word<Counting>] = &[
        Word::alone(
            "tahoe",
            Counting::Acks,
            "1/floor(W) segments per ACK in congestion avoidance; window of one segment after a loss",
        ),
        Word::with(
            "tahoe",
            "bytes",
            Counting::Bytes,
            "Tahoe, growing by one segment per window of bytes acknowledged (RFC 5681 §3.1)",
        ),
    ];
}

impl Law for Tahoe {
    const ABOUT: About = About {
        model: Some(Model::Tahoe),
        source: "Altman et al. 1997, \"Performance Modeling of TCP/IP in a Wide-Area Network\"",
        defaults: &[
            (ANY, "gobackn"),
            (&[Profile::Rfc], "rfc3390"),
            (&[Profile::Linux], "rfc5681"),
            // The kernel's scoreboard says what is lost, and nothing else is sent again.
            (&[Profile::Linux], "rack"),
        ],
        recoveries: Recoveries::OrLeavingTheWindow(
            "gobackn",
            "Tahoe's window falls to one segment at a loss, and slow start repairs it: no other \
             window may come between",
        ),
        ..About::PLAIN
    };

    fn make(settings: Counting) -> Self {
        match settings {
            Counting::Acks => Self::counting_acks(),
            Counting::Bytes => Self::counting_bytes(),
        }
    }
}

impl Growth for Tahoe {
    fn wants(&self) -> Wants {
        Wants { grows_in_repair: true, ..Wants::ACKS }
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        match slow_start {
            Some(step) => {
                self.w += self.segments(step.increase);
                if step.exit {
                    self.w_th = Some(self.w);
                }
            }
            None => self.avoid(ack),
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let repeated = matches!(congestion.signal, Signal::Timeout { consecutive: 2.. });
        if !repeated {
            // The floor of two segments is RFC 5681's (equation 4); the paper's W stays above it.
            self.w_th = Some((self.segments(congestion.reduce_from) / 2.0).max(2.0));
        }
        self.w = match (congestion.signal, self.w_th) {
            // RFC 3168 §6.1.2: nothing is lost, so that there is no slow start.
            (Signal::Ecn { .. }, Some(w_th)) => w_th,
            _ => 1.0,
        };
        self.acked = Bytes::ZERO;
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.w = self.segments(cwnd).max(1.0);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.w_th = Some(self.segments(ssthresh));
        }
    }

    fn cwnd(&self) -> Bytes {
        self.bytes(self.w)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.w_th.map(|w_th| self.bytes(w_th))
    }

    fn in_slow_start(&self) -> bool {
        self.w_th.is_none_or(|w_th| self.w < w_th)
    }
}
