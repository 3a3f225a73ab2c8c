//! The common part of Linux's congestion-control modules: a window in whole packets, with `tcp_slow_start`, `tcp_cong_avoid_ai`
//! and `tcp_reno_undo_cwnd` of `net/ipv4/tcp_cong.c`, and the entry into reductions and their end in `tcp_input.c` (Linux
//! 6.18). A module is one file beside this one, `..._linux.rs`.
//!
//! Written from what the kernel does, event by event: see `crates/tcp/tests/data/linux-laws`.

use std::fmt::Debug;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::contract::{Delays, Growth, Wants};
use super::variables::{Value, Variable};
use crate::event::{
    Ack, Acked, Congestion, Established, MarkReport, Proposal, RecoveryEnd, RttSample, SendStart,
    Signal, SlowStartStep, StateChange, Why,
};

/// The window and the threshold that an undo gives back.
#[derive(Clone, Copy, Debug)]
struct Prior {
    cwnd: u64,
    ssthresh: Option<u64>,
}

/// A window in whole packets. The names of the fields are the kernel's.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub(super) mss: Mss,
    /// `snd_cwnd` and `snd_ssthresh`; no threshold is `TCP_INFINITE_SSTHRESH`.
    pub(super) cwnd: u64,
    pub(super) ssthresh: Option<u64>,
    /// `snd_cwnd_cnt`: packets acknowledged in avoidance that have not yet bought one.
    pub(super) cwnd_cnt: u64,
    /// The acknowledged part of a segment that is not yet complete. Linux counts packets; this
    /// sender's are full but for the last of a write.
    partial: Bytes,
    /// The window at the last reduction.
    pub(super) prior_cwnd: u64,
    prior: Option<Prior>,
    /// A reduction has begun, and its end will set the window to the threshold.
    reducing: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            mss: Mss::default(),
            cwnd: 1,
            ssthresh: None,
            cwnd_cnt: 0,
            partial: Bytes::ZERO,
            prior_cwnd: 0,
            prior: None,
            reducing: false,
        }
    }
}

impl Window {
    fn agree_on(&mut self, mss: Mss) {
        if mss != self.mss {
            self.mss = mss;
            // A part of a large segment may be many small ones.
            self.partial = Bytes::ZERO;
        }
    }

    /// Turns `bytes` acknowledged into whole segments; what is left over counts next time.
    fn whole_segments(&mut self, bytes: Bytes) -> u64 {
        let mss = self.mss;
        self.partial += bytes;
        let segments = self.partial.whole_segments(mss);
        self.partial -= mss.times(segments);
        segments
    }

    /// True if the window is in slow start.
    pub(super) fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }

    /// `tcp_slow_start`: the rest of `acked` beyond the threshold.
    pub(super) fn slow_start(&mut self, acked: u64) -> u64 {
        let room = self.ssthresh.map_or(u64::MAX, |ssthresh| ssthresh.saturating_sub(self.cwnd));
        let taken = acked.min(room);
        self.cwnd += taken;
        acked - taken
    }

    /// `tcp_cong_avoid_ai`: a packet for each `cost` of them acknowledged.
    pub(super) fn avoid(&mut self, cost: u64, acked: u64) {
        // A credit saved up while a packet cost more buys one, not many.
        if self.cwnd_cnt >= cost {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        self.cwnd += self.cwnd_cnt / cost;
        self.cwnd_cnt %= cost;
    }

    /// `tcp_reno_cong_avoid`.
    pub(super) fn grow_as_reno(&mut self, step: &Step) {
        if !step.limited {
            return;
        }
        let acked = if self.in_slow_start() { self.slow_start(step.acked) } else { step.acked };
        if acked > 0 {
            self.avoid(self.cwnd, acked);
        }
    }

    /// Three quarters of the window, as the kernel divides.
    const fn three_quarters(&self) -> u64 {
        (self.cwnd >> 1) + (self.cwnd >> 2)
    }

    /// `tcp_current_ssthresh`, in no reduction.
    pub(super) fn current_ssthresh(&self) -> Option<u64> {
        self.ssthresh.map(|ssthresh| ssthresh.max(self.three_quarters()))
    }

    /// `tcp_reno_ssthresh`: of the window, whatever of it is in flight.
    pub(super) fn half(&self) -> u64 {
        (self.cwnd / 2).max(2)
    }

    /// `tcp_init_cwnd_reduction`, and the same of `tcp_enter_loss`.
    fn begin_reduction(&mut self) {
        self.prior = Some(Prior { cwnd: self.cwnd, ssthresh: self.current_ssthresh() });
        self.prior_cwnd = self.cwnd;
    }

    /// `tcp_end_cwnd_reduction`.
    fn end_reduction(&mut self) {
        if std::mem::take(&mut self.reducing)
            && let Some(ssthresh) = self.ssthresh
        {
            self.cwnd = ssthresh;
        }
    }

    /// `tcp_undo_cwnd_reduction`.
    fn undo(&mut self) {
        self.reducing = false;
        if let Some(prior) = self.prior.take() {
            self.cwnd = self.cwnd.max(prior.cwnd);
            self.ssthresh = prior.ssthresh.and_then(|prior| Some(self.ssthresh?.max(prior)));
        }
    }
}

/// An ACK on which the window may grow (`cong_avoid`).
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// When.
    pub(super) now: Instant,
    /// Packets delivered that slow start did not take.
    pub(super) acked: u64,
    /// True if some of them bought slow start's growth.
    pub(super) slow_start: bool,
    /// SND.UNA and SND.NXT.
    pub(super) una: Seq,
    pub(super) nxt: Seq,
    /// `tcp_is_cwnd_limited`.
    pub(super) limited: bool,
}

/// `HZ`: the clock's ticks a second. Distributions build with 250 or with 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks(u32);

impl Ticks {
    /// A kernel built with so many.
    pub const PER_SECOND_1000: Self = Self(1000);
    /// See [`PER_SECOND_1000`](Self::PER_SECOND_1000).
    pub const PER_SECOND_250: Self = Self(250);

    /// `HZ`.
    pub(super) fn hz(self) -> u64 {
        self.0.into()
    }

    /// `tcp_jiffies32`, without its wrap.
    pub(super) fn at(self, now: Instant) -> u64 {
        now.as_nanos() / (1_000_000_000 / self.hz())
    }

    /// `usecs_to_jiffies`, which rounds up.
    pub(super) fn of_micros(self, micros: u64) -> u64 {
        micros.div_ceil(1_000_000 / self.hz())
    }
}

impl Default for Ticks {
    fn default() -> Self {
        Self::PER_SECOND_1000
    }
}

/// A congestion-control module of the kernel's (`struct tcp_congestion_ops`): its differences from Reno.
pub trait Module: Debug + Default + Send {
    /// True if the module judges by itself what an ACK is worth, in slow start and in a window that is not full.
    const WHOLE_GROWTH: bool = false;
    /// True if the module is told of states and of transmissions with nothing in flight.
    const HEEDS_STATES: bool = false;
    /// True if the module is told of marks.
    const MEASURES_MARKS: bool = false;
    /// True if the module is told of every ACK.
    const HEARS_ACKS: bool = false;

    /// `init`.
    fn on_established(&mut self, _: &mut Window, _: &Established) {}

    /// `pkts_acked` and then `in_ack_event`, with the packets that SND.UNA moved by.
    fn on_acked(&mut self, _: &mut Window, _: &Acked, _packets: u64) {}

    /// True if the module calls `tcp_enter_cwr`.
    fn asks_to_reduce(&mut self) -> bool {
        false
    }

    /// `CA_EVENT_COMPLETE_CWR`: a reduction is over.
    fn on_complete(&mut self, _: &mut Window) {}

    /// `undo_cwnd`.
    fn on_undo(&mut self) {}

    /// `cong_avoid`, without the slow start that is a [`Start`](crate::start::Start)'s here, but for a module of
    /// [`WHOLE_GROWTH`](Self::WHOLE_GROWTH).
    fn grow(&mut self, window: &mut Window, step: &Step);

    /// `ssthresh`.
    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        window.half()
    }

    /// A timeout, also one that reduces no more: `set_state` with the state Loss.
    fn on_timeout(&mut self) {}

    /// `set_state`, of a module that [`HEEDS_STATES`](Self::HEEDS_STATES).
    fn on_state(&mut self, _: &mut Window, _: &StateChange) {}

    /// `pkts_acked`, of an ACK that measured the round-trip time.
    fn on_rtt(&mut self, _: &RttSample) {}

    /// `CA_EVENT_TX_START`.
    fn on_send_start(&mut self, _: &SendStart) {}

    /// Silence, or a window that was not in use, reduces the window after this. It is `CA_EVENT_CWND_RESTART` if a
    /// transmission with nothing in flight follows.
    fn on_restart(&mut self, _: &Window) {}

    /// `in_ack_event`.
    fn on_marks(&mut self, _: &MarkReport, _packets: [u64; 2]) {}

    /// The delays that the module measured, for slow start to judge.
    fn delays(&self, _: Instant) -> Delays {
        Delays::UNKNOWN
    }

    /// Those of [`Growth::variables`].
    fn variables(&self, _: &mut dyn FnMut(Variable, Value)) {}
}

/// A law of Linux's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux<M> {
    pub(super) window: Window,
    pub(crate) module: M,
}

impl<M> Linux<M> {
    /// The part that this law adds to Linux's Reno.
    pub const fn module(&self) -> &M {
        &self.module
    }
}

impl<M: Module> Growth for Linux<M> {
    fn variables(&self, give: &mut dyn FnMut(Variable, Value)) {
        self.module.variables(give);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        let Self { window, module } = self;
        window.agree_on(ack.mss);
        let acked = match slow_start {
            Some(step) if !M::WHOLE_GROWTH => {
                window.cwnd += window.whole_segments(step.increase);
                if step.exit {
                    window.ssthresh = Some(window.cwnd.max(2));
                }
                if step.left_over == Bytes::ZERO {
                    return;
                }
                window.whole_segments(step.left_over)
            }
            _ => window.whole_segments(ack.newly_delivered),
        };
        let step = Step {
            now: ack.now,
            acked,
            slow_start: slow_start.is_some_and(|step| step.increase > Bytes::ZERO),
            una: ack.una,
            nxt: ack.nxt,
            limited: ack.may_grow,
        };
        module.grow(window, &step);
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        self.module.on_rtt(sample);
    }

    fn on_send_start(&mut self, start: &SendStart) {
        self.module.on_send_start(start);
    }

    /// `tcp_init_cwnd_reduction`, `tcp_enter_loss`.
    ///
    /// Linux reduces the window, whatever of it was in flight: [`Congestion::reduce_from`] is not
    /// asked.
    fn on_congestion(&mut self, congestion: &Congestion) {
        let Self { window, module } = self;
        window.agree_on(congestion.mss);
        window.cwnd_cnt = 0;
        let again = matches!(congestion.signal, Signal::Timeout { consecutive: 2.. });
        if !again {
            window.begin_reduction();
            window.ssthresh =
                Some(module.ssthresh(window, congestion.signal, congestion.now).max(2));
        }
        window.reducing = !matches!(congestion.signal, Signal::Timeout { .. });
        if !window.reducing {
            module.on_timeout();
        }
        // DEVIATION(linux tcp_cwnd_reduction): the window is the threshold at once, and recovery says how much goes out
        // until the flight has come down to it.
        // DEVIATION(linux tcp_enter_loss): after a timeout it is one packet, where the kernel adds those that are still in
        // flight.
        window.cwnd = if window.reducing { window.ssthresh.unwrap_or(window.cwnd) } else { 1 };
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        self.window.end_reduction();
        if let Some(at_most) = end.at_most {
            let at_most = at_most.whole_segments(end.mss).max(1);
            self.window.cwnd = self.window.cwnd.min(at_most);
        }
    }

    fn on_complete(&mut self) {
        self.module.on_complete(&mut self.window);
    }

    fn on_spurious(&mut self) {
        self.window.undo();
        self.module.on_undo();
    }

    fn on_established(&mut self, established: &Established) {
        self.module.on_established(&mut self.window, established);
    }

    fn wants(&self) -> Wants {
        Wants {
            hears_acks: M::HEARS_ACKS,
            grows_unused: M::WHOLE_GROWTH,
            heeds_states: M::HEEDS_STATES,
            measures_marks: M::MEASURES_MARKS,
            ..Wants::ACKS
        }
    }

    fn on_acked(&mut self, acked: &Acked) {
        let Self { window, module } = self;
        window.agree_on(acked.mss);
        let packets = acked.newly_acked.get().div_ceil(acked.mss.bytes().get());
        module.on_acked(window, acked, packets);
    }

    fn asks_to_reduce(&mut self) -> bool {
        self.module.asks_to_reduce()
    }

    fn rebase(&mut self, proposal: &Proposal) {
        let window = &mut self.window;
        window.agree_on(proposal.mss);
        if proposal.why == Why::Idle {
            self.module.on_restart(window);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            window.ssthresh = Some(ssthresh.whole_segments(window.mss).max(2));
        }
        if let Some(cwnd) = proposal.cwnd {
            window.cwnd = cwnd.whole_segments(window.mss).max(1);
        }
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.window.mss.times(self.window.cwnd)
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.window.ssthresh.map(|ssthresh| self.window.mss.times(ssthresh))
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    fn on_state(&mut self, change: &StateChange) {
        self.module.on_state(&mut self.window, change);
    }

    fn on_marks(&mut self, report: &MarkReport) {
        let mss = self.window.mss.bytes().get();
        let packets = [report.counted, report.marked].map(|bytes| bytes.get().div_ceil(mss));
        self.module.on_marks(report, packets);
    }

    fn delays(&self, now: Instant) -> Delays {
        self.module.delays(now)
    }
}

/// The round-trip times that modules keep which are built on Vegas (`tcp_vegas_pkts_acked`), in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct VegasTimes {
    pub(super) samples: u64,
    /// The least since the last silence.
    pub(super) base: u64,
    /// The least since the module last looked.
    pub(super) least: u64,
}

impl VegasTimes {
    /// No round-trip time.
    const NONE: u64 = 0x7fff_ffff;

    pub(super) const fn forget_least(&mut self) {
        self.least = Self::NONE;
    }

    pub(super) const fn forget_base(&mut self) {
        self.base = Self::NONE;
    }

    pub(super) fn on_acked(&mut self, acked: &Acked) {
        let Some(rtt) = acked.rtt else { return };
        // The kernel adds one so that no sample is zero.
        let rtt = micros(rtt) + 1;
        self.base = self.base.min(rtt);
        self.least = self.least.min(rtt);
        self.samples += 1;
    }
}

impl Default for VegasTimes {
    fn default() -> Self {
        Self { samples: 0, base: Self::NONE, least: Self::NONE }
    }
}

/// Whole microseconds, as the kernel's samples are, and at least one.
pub(super) fn micros(rtt: Duration) -> u64 {
    (rtt.as_nanos() / 1000).max(1)
}

#[cfg(test)]
mod tests;
