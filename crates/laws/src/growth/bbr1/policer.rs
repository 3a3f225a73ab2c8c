//! Token-bucket policers: the long-term bandwidth of Linux's `tcp_bbr.c`.
//!
//! Between two losses a policer lets its token rate through on average, however fast the bottleneck
//! is. Two intervals of at least four rounds, both with a fifth of the data lost and with nearly the
//! same rate, are taken for one; then the flow sends at that rate for 48 rounds.

use ackclock_units::{Bytes, Instant};

/// The fewest rounds of an interval; after four times as many it is given up.
const LEAST_ROUNDS: u32 = 4;
/// Losses per delivery from which an interval is lossy: 50/256.
const LOSS_RATIO: f64 = 50.0 / 256.0;
/// Two rates are one if they differ by an eighth or by 4 kbit/s.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_DIFFERENCE: f64 = 4000.0 / 8.0;
/// Rounds for which a policer is believed in.
const BELIEVED_ROUNDS: u32 = 48;

/// The connection at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// When data was last delivered.
    pub at: Instant,
    /// Data delivered, and lost, since the connection began.
    pub delivered: Bytes,
    /// Data found lost since the connection began.
    pub lost: Bytes,
}

/// The facts of an ACK, or of a timeout.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one ACK")]
pub struct PolicerSample {
    /// The connection now.
    pub reading: Reading,
    /// True if something was found lost.
    pub has_loss: bool,
    /// True if a round began.
    pub round_start: bool,
    /// True if the application limits the flow.
    pub is_app_limited: bool,
    /// True if the flow is probing for bandwidth.
    pub probes_bandwidth: bool,
}

/// The belief about a policer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Belief {
    /// Nothing yet, or nothing any more.
    #[default]
    Nothing,
    /// One lossy interval had this rate.
    Suspicion(f64),
    /// There is a policer of this rate.
    Policer(f64),
}

/// The detector.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policer {
    belief: Belief,
    is_sampling: bool,
    begin: Reading,
    rounds: u32,
}

impl Policer {
    /// The rate at which a policer lets data through, in bytes per second, if there is one.
    pub const fn rate(&self) -> Option<f64> {
        match self.belief {
            Belief::Policer(rate) => Some(rate),
            Belief::Nothing | Belief::Suspicion(_) => None,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self, reading: Reading) {
        *self = Self { begin: reading, ..Self::default() };
    }

    /// Takes in what was seen; true if a policer is no longer believed in.
    pub fn update(&mut self, seen: &PolicerSample) -> bool {
        if self.rate().is_some() {
            if seen.probes_bandwidth && seen.round_start {
                self.rounds += 1;
                if self.rounds >= BELIEVED_ROUNDS {
                    self.reset(seen.reading);
                    return true;
                }
            }
            return false;
        }
        // The first loss means that the tokens are used up; what went before was the bucket.
        if !self.is_sampling {
            if !seen.has_loss {
                return false;
            }
            self.begin(seen.reading);
            self.is_sampling = true;
        }
        if seen.is_app_limited {
            self.reset(seen.reading);
            return false;
        }
        self.rounds += u32::from(seen.round_start);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(seen.reading);
        } else if seen.has_loss {
            // An interval ends with a loss too, when the tokens are used up again.
            self.consider(seen.reading);
        }
        false
    }

    fn begin(&mut self, reading: Reading) {
        self.begin = reading;
        self.rounds = 0;
    }

    fn consider(&mut self, now: Reading) {
        let delivered = (now.delivered - self.begin.delivered).get() as f64;
        let lost = (now.lost - self.begin.lost).get() as f64;
        let span = now.at.since(self.begin.at).as_secs_f64();
        if delivered <= 0.0 || lost < LOSS_RATIO * delivered || span < 1e-3 {
            return;
        }
        let rate = delivered / span;
        if let Belief::Suspicion(before) = self.belief {
            let difference = (rate - before).abs();
            if difference <= SAME_RATIO * before || difference <= SAME_DIFFERENCE {
                self.belief = Belief::Policer(f64::midpoint(rate, before));
                self.rounds = 0;
                return;
            }
        }
        self.belief = Belief::Suspicion(rate);
        self.begin(now);
    }
}
