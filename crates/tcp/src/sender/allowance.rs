//! The part that says what may be sent: the growth law, the start, the idle rule, the pacer, and the answers to marks
//! and losses.

mod hearing;
mod jump;
mod law;
mod marks;
mod modelled;
mod pacing;
mod states;
mod usage;

use ackclock_laws::event::{
    Congestion, Established, Feedback, Handshake, Limit, Proposal, RecoveryEnd, RttSample,
    SendStart, Signal, SlowStartStep,
};
use ackclock_laws::growth::AnyGrowth;
use ackclock_laws::idle::{AnyIdle, Idle};
use ackclock_laws::start::{AnyStart, Start};
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::backlog::Backlog;
use super::flight::Flight;
use super::stats::SenderStats;
use crate::config::{Config, LossReduces};
use crate::recovery::Outcome;
use hearing::Hearing;
pub(super) use hearing::Recorded;
use law::Law;
use marks::Marks;
pub(super) use modelled::BeforeAck;
use modelled::Modelled;
use pacing::Pacer;
use states::States;

/// The rest of the sender at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) now: Instant,
    pub(super) backlog: &'a Backlog,
    pub(super) flight: &'a Flight,
}

/// An ACK that was taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) newly_acked: Bytes,
    pub(super) rtt: Option<Duration>,
    pub(super) in_flight_before: Bytes,
    pub(super) outcome: Outcome,
}

/// The congestion window and all that sets it.
#[derive(Debug)]
// In the order of use.
#[repr(C)]
pub(super) struct Allowance {
    limited_by: Limit,
    /// Something was sent since the sender was last asked and said no.
    sent_in_burst: bool,
    /// The idle rule wants to know of that.
    looks_after_bursts: bool,
    /// The law or the idle rule wants to know of ACKs that repair nothing.
    wants_acks: bool,
    loss_reduces: LossReduces,
    /// Segments are paced.
    paces: bool,
    /// The needs of a law that models the path; `None` with any other.
    modelled: Option<Box<Modelled>>,
    /// The needs of a law that hears every ACK; `None` with any other.
    hearing: Option<Box<Hearing>>,
    idle: AnyIdle,
    marks: Marks,
    states: States,
    growth: Law,
    /// SND.NXT when slow start last ended: what lies before it was sent during slow start. `None`
    /// while slow start lasts.
    avoidance_from: Option<Seq>,
    pacer: Pacer,
    /// The window that the last reduction left, and the bytes that had been sent again by then.
    reduced_to: Bytes,
    again_at_loss: u64,
    start: AnyStart,
    initial_window: Bytes,
    seed: u64,
}

impl View<'_> {
    #[inline]
    fn mss(&self) -> Mss {
        self.backlog.mss()
    }

    #[inline]
    fn in_flight(&self) -> Bytes {
        self.flight.in_flight()
    }
}

impl Allowance {
    pub(super) fn new(config: &Config) -> Self {
        let parts = config.parts;
        let idle = AnyIdle::new(parts.idle);
        Self {
            limited_by: Limit::Application,
            sent_in_burst: false,
            looks_after_bursts: idle.looks_after_bursts(),
            wants_acks: true,
            loss_reduces: config.loss_reduces,
            paces: false,
            modelled: None,
            hearing: None,
            idle,
            marks: Marks::new(config.ecn),
            states: States::new(config.states),
            growth: Law::new(AnyGrowth::new(parts.growth)),
            avoidance_from: None,
            pacer: Pacer::new(config.pacing),
            reduced_to: Bytes::ZERO,
            again_at_loss: 0,
            start: AnyStart::new(parts.window, parts.syn_loss, parts.slow_start),
            initial_window: Bytes::ZERO,
            seed: config.seed,
        }
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let parts = config.parts;
        let Self {
            limited_by,
            sent_in_burst,
            looks_after_bursts,
            wants_acks: _,
            loss_reduces,
            paces,
            modelled: _,
            hearing: _,
            idle,
            marks,
            states,
            growth,
            avoidance_from,
            pacer,
            reduced_to,
            again_at_loss,
            start,
            initial_window,
            seed,
        } = self;
        *limited_by = Limit::Application;
        *sent_in_burst = false;
        *loss_reduces = config.loss_reduces;
        *paces = false;
        *idle = AnyIdle::new(parts.idle);
        *looks_after_bursts = idle.looks_after_bursts();
        *marks = Marks::new(config.ecn);
        *states = States::new(config.states);
        growth.reset(parts.growth);
        *avoidance_from = None;
        *pacer = Pacer::new(config.pacing);
        *reduced_to = Bytes::ZERO;
        *again_at_loss = 0;
        start.reset(parts.window, parts.syn_loss, parts.slow_start);
        *initial_window = Bytes::ZERO;
        *seed = config.seed;
    }

    /// The growth law becomes `law`.
    pub(super) fn set_growth(&mut self, law: AnyGrowth) {
        self.growth = Law::new(law);
    }

    pub(super) const fn growth(&self) -> &AnyGrowth {
        self.growth.inner()
    }

    #[inline]
    pub(super) const fn cwnd(&self) -> Bytes {
        self.growth.cwnd()
    }

    #[inline]
    pub(super) fn ssthresh(&self) -> Option<Bytes> {
        self.growth.ssthresh()
    }

    #[inline]
    pub(super) fn in_slow_start(&self) -> bool {
        self.growth.in_slow_start()
    }

    /// The first window of the connection.
    pub(super) const fn initial_window(&self) -> Bytes {
        self.initial_window
    }

    /// The limit that kept the sender from sending more when it was asked last.
    pub(super) const fn limited_by(&self) -> Limit {
        self.limited_by
    }

    /// `limit` is what keeps the sender from sending more.
    #[inline]
    pub(super) const fn limit(&mut self, limit: Limit) {
        self.limited_by = limit;
    }

    /// True if the states are Linux's.
    #[inline]
    pub(super) const fn has_linux_states(&self) -> bool {
        self.states.are_linux()
    }

    /// The handshake is done.
    pub(super) fn on_established(&mut self, handshake: &Handshake, srtt: Option<Duration>) {
        let proposal = self.start.on_established(handshake);
        self.initial_window = proposal.cwnd.unwrap_or_else(|| handshake.mss.bytes());
        self.growth.rebase(&proposal);
        self.growth.on_established(&Established { srtt, seed: self.seed });
        self.begin_pacing();
    }

    /// Routers have said something.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback) {
        self.growth.on_feedback(feedback);
    }

    #[inline]
    pub(super) fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        self.growth.on_rtt(&RttSample { now, rtt });
    }

    /// Data goes out where nothing was under way.
    #[inline]
    pub(super) fn on_send_start(&mut self, start: &SendStart) {
        self.growth.on_send_start(start);
    }

    /// The consequences of an ACK of new data by the RFCs. Answers whether the retransmission timer starts anew.
    #[inline]
    pub(super) fn answer(
        &mut self,
        view: View<'_>,
        taken: &Taken,
        echoed: bool,
        stats: &mut SenderStats,
    ) -> bool {
        match taken.outcome {
            // RFC 3168 §6.1.2: an echo lets the window grow by nothing.
            Outcome::None if echoed => {}
            Outcome::None => {
                self.grow(view, taken);
                if self.hears_acks() {
                    self.reduce_if_asked(view, stats);
                }
            }
            Outcome::Repaired { at_most } => {
                let in_flight = view.in_flight();
                let ack = self.ack_event(view, taken);
                let grows =
                    self.idle.may_grow(&ack, self.growth.cwnd(), self.growth.in_slow_start());
                let newly_delivered = if grows { ack.newly_delivered } else { Bytes::ZERO };
                let at_most = self.at_most_after_repair(view, at_most, stats);
                let (now, mss) = (view.now, view.mss());
                let end = RecoveryEnd { now, in_flight, newly_delivered, at_most, mss };
                self.growth.on_recovery_end(&end);
                self.growth.on_complete();
                self.settle_first_repair(mss);
            }
            Outcome::PartlyRepaired { restart_timer } => return restart_timer,
            Outcome::LossFound => self.on_congestion(view, Signal::Loss, stats),
            Outcome::Spurious => self.on_spurious(view, stats),
        }
        true
    }

    /// An ACK lets the window grow, if the idle rule agrees.
    #[inline]
    pub(super) fn grow(&mut self, view: View<'_>, taken: &Taken) {
        if !self.wants_acks {
            return;
        }
        let mut ack = self.ack_event(view, taken);
        let (cwnd, in_slow_start) = (self.growth.cwnd(), self.growth.in_slow_start());
        let mut step = in_slow_start.then(|| self.start.on_ack(&ack, cwnd, self.growth.ssthresh()));
        ack.may_grow = self.idle.may_grow(&ack, cwnd, in_slow_start);
        if !ack.may_grow && !self.growth.wants().grows_unused {
            // The slow-start law follows the delay on every ACK, and may find the end on any.
            let Some(found) = step.filter(|step| step.exit) else { return };
            step = Some(SlowStartStep { exit: found.exit, ..SlowStartStep::grow(Bytes::ZERO) });
        }
        self.growth.on_ack(&ack, step);
        if step.is_some() && !self.growth.in_slow_start() {
            self.avoidance_from = Some(view.flight.nxt());
        }
    }

    /// The last reduction answered no loss: it is taken back.
    pub(super) fn on_spurious(&mut self, view: View<'_>, stats: &mut SenderStats) {
        stats.spurious += 1;
        if self.marks.bars_undo() {
            // The mark was no mistake: the window is what the reduction left.
            self.growth.on_recovery_end(&RecoveryEnd {
                now: view.now,
                in_flight: view.in_flight(),
                newly_delivered: Bytes::ZERO,
                at_most: None,
                mss: view.mss(),
            });
            return;
        }
        self.growth.on_spurious();
        if self.growth.in_slow_start() {
            self.avoidance_from = None;
        }
    }

    /// A loss, a mark or a timeout reduces the window.
    pub(super) fn on_congestion(
        &mut self,
        view: View<'_>,
        signal: Signal,
        stats: &mut SenderStats,
    ) {
        let View { now, backlog, flight } = view;
        if !self.states.are_linux() && self.marks.has_paid_for(signal, flight.una()) {
            self.marks.bar_undo();
            return;
        }
        stats.congestion_events += 1;
        if matches!(signal, Signal::Ecn { .. }) {
            stats.ecn_reductions += 1;
        }
        self.marks.on_reduced(signal, flight.max());
        if self.avoidance_from.is_none_or(|from| flight.una() < from) {
            stats.congestion_events_in_slow_start += 1;
        }
        let timeout = matches!(signal, Signal::Timeout { .. });
        let used = if timeout { None } else { self.reduce_from_used(view) };
        let reduce_from = used.unwrap_or_else(|| match self.loss_reduces {
            // Go-back-N has moved SND.NXT back already: what was in flight is up to SND.MAX.
            // DEVIATION(rfc5681 §3.1): never more than the window. During a long repair without
            // SACK the inflated window sends new data for every segment that leaves, so that all
            // of it counts as FlightSize although it has long arrived; a timeout then would raise
            // ssthresh to many times what the path holds.
            LossReduces::FlightSize => flight.outstanding().min(self.growth.cwnd()),
            LossReduces::Cwnd => self.growth.cwnd().min(backlog.rwnd()),
        });
        self.growth.on_congestion(&Congestion { now, signal, reduce_from, mss: view.mss() });
        self.reduced_to = self.growth.cwnd();
        self.again_at_loss = stats.retransmitted_bytes;
        // A law that halves goes straight on to avoidance, with everything still unacknowledged.
        self.avoidance_from = (!self.growth.in_slow_start()).then_some(flight.una());
    }

    fn take_proposal(&mut self, proposal: Option<Proposal>) {
        if let Some(proposal) = proposal {
            self.growth.rebase(&proposal);
            if self.growth.in_slow_start() {
                self.avoidance_from = None;
            }
        }
    }
}

impl Allowance {
    /// Another idle rule in the place of the one that was chosen.
    pub(super) fn set_idle(&mut self, idle: AnyIdle) {
        self.idle = idle;
    }

    /// Somebody else says what the window is.
    pub(super) fn rebase(&mut self, proposal: &Proposal) {
        self.growth.rebase(proposal);
    }
}
