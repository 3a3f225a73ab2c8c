//! Westwood+ as Linux has it (`tcp_westwood.c`): bytes a tick, two filters one after the other, and a window that is set
//! when the repair ends.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant, Mss};

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Ticks, Window, micros};
use super::variables::variables;
use crate::event::{Acked, CaState, SendStart, Signal};
use crate::words::{Described, Word};

/// `TCP_WESTWOOD_RTT_MIN`: the shortest time that a sample is taken over, in microseconds.
const SHORTEST_SAMPLE: u64 = 50_000;
/// `TCP_WESTWOOD_INIT_RTT`: the round-trip time before one is measured, in seconds.
const FIRST_RTT: u64 = 20;

/// Westwood+.
#[derive(Clone, Copy, Debug, Default)]
pub struct Westwood {
    ticks: Ticks,
    /// In ticks: the last sample, and the least since the last timeout.
    rtt: u64,
    rtt_min: u64,
    /// A timeout has made the least one forgotten.
    forget_rtt_min: bool,
    /// The sample under way: when it began, and the bytes acknowledged since.
    begun: u64,
    acked: u64,
    /// `bw_ns_est` and `bw_est`: the first mean of the samples, and the mean of that, in bytes a tick.
    first_mean: u64,
    bandwidth: u64,
    /// SND.UNA at the last ACK; `None` before the first one, which does not count.
    una: Option<Seq>,
    /// Bytes that duplicate ACKs were taken for, and that are still to be acknowledged.
    accounted: u64,
}

impl Westwood {
    /// `westwood_update_window`: ends the sample that has lasted long enough.
    fn sample(&mut self, now: u64) {
        let elapsed = now - self.begun;
        if elapsed <= self.rtt.max(self.ticks.of_micros(SHORTEST_SAMPLE)) {
            return;
        }
        let sample = self.acked / elapsed;
        if self.first_mean == 0 && self.bandwidth == 0 {
            (self.first_mean, self.bandwidth) = (sample, sample);
        } else {
            self.first_mean = (7 * self.first_mean + sample) >> 3;
            self.bandwidth = (7 * self.bandwidth + self.first_mean) >> 3;
        }
        (self.acked, self.begun) = (0, now);
    }

    /// `westwood_acked_count`: a duplicate counts as a segment, and the ACK that covers it later by so much less.
    fn count(&mut self, moved: u64, mss: u64) -> u64 {
        if moved == 0 {
            self.accounted += mss;
            return mss;
        }
        if moved <= mss {
            return moved;
        }
        if self.accounted >= moved {
            self.accounted -= moved;
            return mss;
        }
        moved - std::mem::take(&mut self.accounted)
    }

    /// `tcp_westwood_bw_rttmin`.
    fn fills(&self, mss: Mss) -> u64 {
        (self.bandwidth * self.rtt_min / mss.bytes().get()).max(2)
    }
}

/// Westwood+ in Linux.
pub type WestwoodLinux = Linux<Westwood>;

impl Described for WestwoodLinux {
    type Settings = Ticks;

    const WORDS: &'static [Word<Ticks>] = &[
        Word::with(
            "westwood",
            "linux",
            Ticks::PER_SECOND_1000,
            "Westwood+ as Linux has it, in whole segments and ticks of 1 ms",
        ),
        Word::with(
            "westwood",
            "linux250",
            Ticks::PER_SECOND_250,
            "the same in a kernel with ticks of 4 ms",
        ),
    ];
}

impl Law for WestwoodLinux {
    const ABOUT: About =
        About { resettles: true, ..About::linux("tcp_westwood.c of Linux 6.18", &["westwood"]) };

    fn make(ticks: Ticks) -> Self {
        let rtt = FIRST_RTT * ticks.hz();
        let module = Westwood { ticks, rtt, rtt_min: rtt, ..Westwood::default() };
        Self { module, ..Self::default() }
    }
}

impl Module for Westwood {
    variables! { law =>
        "bandwidth_bps", "the mean of the rate samples (bw_est)": 8.0 * law.ticks.hz() as f64 * law.bandwidth as f64;
        "rtt_min_s", "the least round-trip time since the last timeout": law.rtt_min as f64 / law.ticks.hz() as f64;
    }

    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_send_start(&mut self, start: &SendStart) {
        if start.last_send.is_none() {
            self.begun = self.ticks.at(start.now);
        }
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.acked > 0 {
            window.avoid(window.cwnd, step.acked);
        }
    }

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, _: u64) {
        if let Some(rtt) = acked.rtt {
            self.rtt = self.ticks.of_micros(micros(rtt));
        }
        let una = self.una.replace(acked.una).unwrap_or(acked.una);
        self.sample(self.ticks.at(acked.now));
        let moved = acked.una.since(una).get();
        // The fast path looks at no duplicates. The first ACK of a connection has moved by nothing there.
        let news = acked.newly_acked > Bytes::ZERO;
        self.acked += if news && acked.state == CaState::Open && !acked.echoed {
            moved
        } else {
            self.count(moved, acked.mss.bytes().get())
        };
        let least = if std::mem::take(&mut self.forget_rtt_min) { u64::MAX } else { self.rtt_min };
        self.rtt_min = least.min(self.rtt);
    }

    /// Half at the entry, as Reno's; `CA_EVENT_LOSS` follows a timeout and sets it anew.
    fn ssthresh(&mut self, window: &Window, signal: Signal, _: Instant) -> u64 {
        if !matches!(signal, Signal::Timeout { .. }) {
            return window.half();
        }
        self.forget_rtt_min = true;
        self.fills(window.mss)
    }

    fn on_complete(&mut self, window: &mut Window) {
        let fills = self.fills(window.mss);
        (window.cwnd, window.ssthresh) = (fills, Some(fills));
    }
}
