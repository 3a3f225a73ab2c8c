//! The sender as it keeps the pacer's times.

use super::{AVOIDANCE_RATIO, SLOW_START_RATIO};
use crate::config::Pacing;
use crate::event::Limit;
use crate::recovery::Recovery;
use crate::sender::Sender;
use crate::start::is_far_below;
use ackclock_units::{Bytes, Duration, Instant, Rate};

impl Sender {
    /// The window is known: pacing begins if there is to be any.
    pub(in crate::sender) fn begin_pacing(&mut self) {
        self.allowance.pacer.by_window = self.allowance.growth.pacing_rate().is_none();
        self.allowance.paces = match self.allowance.pacer.pacing {
            Pacing::Off => false,
            Pacing::Law => !self.allowance.pacer.by_window,
            Pacing::Linux => true,
        } || self.allowance.pacer.most.is_some()
            || self.allowance.pacer.jump.is_some();
        if !self.allowance.paces {
            self.allowance.pacer.end_quantum();
        }
    }

    /// The application asks for no more than `rate`, from the next segment on.
    pub(crate) fn pace_at_most(&mut self, rate: Option<Rate>) {
        if self.allowance.pacer.most == rate {
            return;
        }
        self.allowance.pacer.most = rate;
        self.begin_pacing();
        if !self.allowance.paces {
            self.flight.paced_at = Instant::NEVER;
            self.allowance.pacer.at_most = false;
        }
    }

    /// Whether what there is to send has to wait; if so, the timer is set.
    #[inline]
    pub(in crate::sender) fn holds_back(&mut self, now: Instant) -> bool {
        self.allowance.pacer.waited_for =
            std::mem::replace(&mut self.flight.paced_at, Instant::NEVER);
        if self.allowance.pacer.may_send(now) {
            return false;
        }
        self.hold_back();
        true
    }

    /// The pacer lets nothing out yet: the timer is set, unless an ACK has to come before.
    pub(in crate::sender) fn hold_back(&mut self) {
        let last = self.final_seq();
        if self.flight.space.nxt >= last {
            self.allowance.limited_by = Limit::Application;
        } else {
            let ahead =
                (self.flight.space.nxt + self.backlog.mss.bytes()).since(self.flight.space.una);
            let fits = self.flight.recovery.allows(
                self.allowance.growth.cwnd(),
                self.backlog.mss.bytes(),
                &self.flight.space,
            );
            // A rate that follows from the window holds back what the window would.
            self.allowance.limited_by = if ahead > self.backlog.rwnd {
                Limit::ReceiveWindow
            } else if !fits || (self.allowance.pacer.by_window && !self.allowance.pacer.at_most) {
                Limit::Cwnd
            } else {
                Limit::Pacing
            };
            // Then it is for an ACK to wait, if one is to come: otherwise a closed window has to be
            // probed when the pacer lets it.
            let full = (!fits || ahead > self.backlog.rwnd)
                && self.flight.space.una < self.flight.space.max;
            if full
                && !self.flight.recovery.in_recovery()
                && !self.flight.recovery.waits_to_resend()
            {
                return;
            }
        }
        if self.flight.space.una < last {
            self.flight.paced_at = self.allowance.pacer.next;
        }
    }

    /// A segment with `len` of payload has left.
    #[inline]
    pub(in crate::sender) fn pace(&mut self, now: Instant, len: Bytes) {
        let span = match (self.allowance.pacer.jump, self.allowance.growth.pacing_rate()) {
            (Some((rate, overhead)), _) => rate.transmission_time(len + overhead),
            (None, Some(rate)) if self.allowance.pacer.pacing != Pacing::Off => {
                self.allowance.pacer.time_for(len, rate)
            }
            (None, None) if self.allowance.pacer.pacing == Pacing::Linux => {
                self.span_by_window(len)
            }
            // Paced for the application's sake alone.
            _ => Duration::ZERO,
        };
        let slowest =
            self.allowance.pacer.most.map_or(Duration::ZERO, |most| most.transmission_time(len));
        self.allowance.pacer.at_most = slowest > span;
        let span = span.max(slowest);
        self.allowance.pacer.on_sent(now, span, len, self.backlog.mss.bytes());
    }

    /// The time for `len` at Linux's rate for laws that give none (`tcp_update_pacing_rate`).
    fn span_by_window(&self, len: Bytes) -> Duration {
        let Some(srtt) = self.flight.rtt.srtt() else { return Duration::ZERO };
        let cwnd = self.allowance.growth.cwnd();
        let far = is_far_below(self.allowance.growth.ssthresh(), cwnd, self.backlog.mss);
        let ratio = if far { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let window = cwnd.max(self.flight.space.max.since(self.flight.space.una)).get() as f64;
        Duration::from_secs_f64(srtt.as_secs_f64() * len.get() as f64 / (ratio * window))
    }
}
