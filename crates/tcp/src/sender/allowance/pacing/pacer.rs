//! The pacer of a sender: its rate, and what it holds back.

use ackclock_laws::event::Limit;
use ackclock_laws::start::is_far_below;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use super::{AVOIDANCE_RATIO, SLOW_START_RATIO};
use crate::config::Pacing;
use crate::recovery::Recovery;
use crate::sender::allowance::{Allowance, View};
use crate::sender::backlog::Backlog;
use crate::sender::flight::Flight;

impl Allowance {
    /// The window is known: pacing begins if there is to be any.
    pub(in crate::sender::allowance) fn begin_pacing(&mut self) {
        self.pacer.by_window = self.growth.pacing_rate().is_none();
        self.paces = match self.pacer.pacing {
            Pacing::Off => false,
            Pacing::Law => !self.pacer.by_window,
            Pacing::Linux => true,
        } || self.pacer.most.is_some()
            || self.pacer.jump.is_some();
        if !self.paces {
            self.pacer.end_quantum();
        }
    }

    /// The application asks for no more than `rate`, from the next segment on.
    pub(in crate::sender) fn pace_at_most(&mut self, rate: Option<Rate>, flight: &mut Flight) {
        if self.pacer.most == rate {
            return;
        }
        self.pacer.most = rate;
        self.begin_pacing();
        if !self.paces {
            flight.set_paced_at(Instant::NEVER);
            self.pacer.at_most = false;
        }
    }

    /// True if segments are paced.
    #[inline]
    pub(in crate::sender) const fn paces(&self) -> bool {
        self.paces
    }

    /// True while a jump past slow start is paced.
    pub(in crate::sender) const fn jumps(&self) -> bool {
        self.pacer.jump.is_some()
    }

    /// True if what there is to send has to wait; then the timer is set.
    #[inline]
    pub(in crate::sender) fn holds_back(
        &mut self,
        now: Instant,
        backlog: &Backlog,
        flight: &mut Flight,
    ) -> bool {
        self.pacer.waited_for = flight.take_paced_at();
        if self.pacer.may_send(now) {
            return false;
        }
        self.hold_back(backlog, flight);
        true
    }

    /// True if the pacer lets a segment leave.
    #[inline]
    pub(in crate::sender) fn may_pace_out(&self, now: Instant) -> bool {
        self.pacer.may_send(now)
    }

    /// Nothing more goes out for now: what is left of a quantum is lost.
    #[inline]
    pub(in crate::sender) const fn end_quantum(&mut self) {
        self.pacer.end_quantum();
    }

    /// The pacer lets nothing out yet: the timer is set, unless an ACK has to come before.
    pub(in crate::sender) fn hold_back(&mut self, backlog: &Backlog, flight: &mut Flight) {
        let last = backlog.final_seq();
        if flight.nxt() >= last {
            self.limited_by = Limit::Application;
        } else {
            let mss = backlog.mss().bytes();
            let ahead = (flight.nxt() + mss).since(flight.una());
            let fits = flight.allows(self.growth.cwnd(), mss);
            // A rate that follows from the window holds back what the window would.
            self.limited_by = if ahead > backlog.rwnd() {
                Limit::ReceiveWindow
            } else if !fits || (self.pacer.by_window && !self.pacer.at_most) {
                Limit::Cwnd
            } else {
                Limit::Pacing
            };
            // Then it is for an ACK to wait, if one is to come: otherwise a closed window has to be
            // probed when the pacer lets it.
            let full = (!fits || ahead > backlog.rwnd()) && flight.una() < flight.max();
            if full && !flight.recovery().in_recovery() && !flight.waits_to_resend() {
                return;
            }
        }
        if flight.una() < last {
            flight.set_paced_at(self.pacer.next);
        }
    }

    /// A segment with `len` of payload has left.
    #[inline]
    pub(in crate::sender) fn pace(&mut self, view: View<'_>, len: Bytes) {
        let span = match (self.pacer.jump, self.growth.pacing_rate()) {
            (Some((rate, overhead)), _) => rate.transmission_time(len + overhead),
            (None, Some(rate)) if self.pacer.pacing != Pacing::Off => {
                self.pacer.time_for(len, rate)
            }
            (None, None) if self.pacer.pacing == Pacing::Linux => self.span_by_window(view, len),
            // Paced for the application's sake alone.
            _ => Duration::ZERO,
        };
        let slowest = self.pacer.most.map_or(Duration::ZERO, |most| most.transmission_time(len));
        self.pacer.at_most = slowest > span;
        let span = span.max(slowest);
        self.pacer.on_sent(view.now, span, len, view.mss().bytes());
    }

    /// The time for `len` at Linux's rate for laws that give none (`tcp_update_pacing_rate`).
    fn span_by_window(&self, view: View<'_>, len: Bytes) -> Duration {
        let Some(srtt) = view.flight.srtt() else { return Duration::ZERO };
        let cwnd = self.growth.cwnd();
        let far = is_far_below(self.growth.ssthresh(), cwnd, view.mss());
        let ratio = if far { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let window = cwnd.max(view.flight.outstanding()).get() as f64;
        Duration::from_secs_f64(srtt.as_secs_f64() * len.get() as f64 / (ratio * window))
    }
}
