//! TCP-LP as Linux has it (`tcp_lp.c`): one-way delays from timestamps, in ticks of a millisecond. The paper: A. Kuzmanovic
//! and E. W. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003.
//!
//! Without timestamps it goes by round-trip times.
//!
//! The arithmetic is the module's, in 32 bits without a sign, with the consequences that it has there: a peer whose clock
//! seems to run at more than 1000 Hz makes every delay nearly 2^32.

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window, micros};
use super::variables::variables;
use crate::event::{Acked, Signal, Stamps};
use crate::words::{ANY, Described, Slot, Word};

/// `TCP_TS_HZ`, `LP_RESOL`: the ticks of this end's timestamps, and of delays.
const HZ: u32 = 1000;
/// The part of the range of delays, in percent, at which others are taken to be there.
const THRESHOLD: u32 = 15;
/// The ages of an echo that an inference takes.
const INFERENCE: u32 = 3;

/// The rate of the peer's clock of timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LpClock {
    /// The module's estimate.
    Estimated,
    /// 1000 Hz.
    Millisecond,
}

/// TCP-LP.
#[derive(Clone, Copy, Debug)]
pub struct Lp {
    clock: LpClock,
    /// The peer's timestamp and its echo on the ACK before; and the rate, in Hz, zero for none.
    reference: [u32; 2],
    remote_hz: u32,
    /// Eight times the smoothed delay.
    smoothed: u32,
    /// The least delay, the second largest, and the largest.
    least: u32,
    second: u32,
    largest: u32,
    /// The time of the last reduction, zero for none; and for how long no other one is like the first.
    last_drop: u32,
    inference: u32,
    within_inference: bool,
}

impl Default for Lp {
    fn default() -> Self {
        Self {
            clock: LpClock::Estimated,
            reference: [0; 2],
            remote_hz: 0,
            smoothed: 0,
            least: u32::MAX,
            second: 0,
            largest: 0,
            last_drop: 0,
            inference: 0,
            within_inference: false,
        }
    }
}

impl Lp {
    /// `tcp_lp_remote_hz_estimator`.
    fn estimate(&mut self, stamps: Stamps) {
        let [value, echo] = std::mem::replace(&mut self.reference, [stamps.value, stamps.echo]);
        if value == 0 || echo == 0 || stamps.value == value || stamps.echo == echo {
            return;
        }
        let ticks = HZ.wrapping_mul(stamps.value.wrapping_sub(value));
        let sample = ticks / stamps.echo.wrapping_sub(echo);
        let old = u64::from(self.remote_hz);
        let mean =
            if old > 0 { ((old << 6) - old + u64::from(sample)) >> 6 } else { sample.into() };
        self.remote_hz = u32::try_from(mean).unwrap_or(u32::MAX);
    }

    /// `tcp_lp_owd_calculator`: the one-way delay, and the clocks' difference.
    fn delay(&mut self, stamps: Stamps) -> Option<u32> {
        self.estimate(stamps);
        let hz = match self.clock {
            LpClock::Estimated => self.remote_hz,
            LpClock::Millisecond => HZ,
        };
        let scale = HZ.checked_div(hz)?;
        let delay = stamps.value.wrapping_mul(scale).wrapping_sub(stamps.echo);
        (delay > 0).then_some(delay)
    }

    /// Takes the delay of an ACK; answers the age of its echo, and the time, in milliseconds.
    fn look(&mut self, acked: &Acked) -> Option<(u32, u32)> {
        if let Some(stamps) = acked.stamps {
            if acked.rtt.is_some()
                && let Some(delay) = self.delay(stamps)
            {
                self.sample(delay);
            }
            return Some((stamps.now.wrapping_sub(stamps.echo), stamps.now));
        }
        // DEVIATION(linux tcp_lp_pkts_acked): the module does without one-way delays then, and is Reno.
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let rtt = micros(acked.rtt?);
        self.sample(small(rtt).min(u32::MAX >> 3));
        Some((small(rtt.div_ceil(1000)), small(acked.now.as_nanos() / 1_000_000)))
    }

    /// `tcp_lp_rtt_sample`.
    fn sample(&mut self, delay: u32) {
        self.least = self.least.min(delay);
        if delay > self.second {
            if delay > self.largest {
                self.second = if self.largest == 0 { delay } else { self.largest };
                self.largest = delay;
            } else {
                self.second = delay;
            }
        }
        self.smoothed = if self.smoothed == 0 {
            delay.wrapping_shl(3)
        } else {
            self.smoothed.wrapping_sub(self.smoothed >> 3).wrapping_add(delay)
        };
    }
}

/// TCP-LP in Linux.
pub type LpLinux = Linux<Lp>;

impl Described for LpLinux {
    type Settings = LpClock;

    const WORDS: &'static [Word<LpClock>] = &[
        Word::with("lp", "linux", LpClock::Estimated, "TCP-LP as Linux has it"),
        Word::with(
            "lp",
            "ms",
            LpClock::Millisecond,
            "Linux's, with a peer whose timestamps are known to be milliseconds",
        ),
    ];
}

impl Law for LpLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "Linux's TCP-LP stops slow start while it infers")],
        // A reduction of its own during a repair is forgotten when that ends.
        resettles: true,
        ..About::linux("tcp_lp.c of Linux 6.18", &["lp"])
    };

    fn make(clock: LpClock) -> Self {
        Self { module: Lp { clock, ..Lp::default() }, ..Self::default() }
    }
}

impl Module for Lp {
    variables! { law =>
        "remote_hz", "the estimated clock of the peer's timestamps": law.remote_hz;
        "within_inference", "1 in the inference phase after a sign of congestion": law.within_inference;
    }

    const WHOLE_GROWTH: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_acked(&mut self, window: &mut Window, acked: &Acked, _: u64) {
        let Some((age, now)) = self.look(acked) else { return };
        if age.cast_signed() > 0 {
            self.inference = INFERENCE.wrapping_mul(age);
        }
        let since = now.wrapping_sub(self.last_drop);
        self.within_inference = self.last_drop != 0 && since < self.inference;
        let range = self.second.wrapping_sub(self.least).wrapping_mul(THRESHOLD) / 100;
        if self.smoothed >> 3 < self.least.wrapping_add(range) {
            return;
        }
        self.least = self.smoothed >> 3;
        self.second = self.smoothed >> 2;
        self.largest = self.second;
        window.cwnd = if self.within_inference { 1 } else { (window.cwnd >> 1).max(1) };
        self.last_drop = now;
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if !self.within_inference {
            window.grow_as_reno(step);
        }
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        window.half()
    }
}
