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
    pub(crate) fn pace_at_most(&mut self, rate: Option<Rate>) {
        if self.pacer.most == rate {
            return;
        }
        self.pacer.most = rate;
        self.begin_pacing();
        if !self.paces {
            self.paced_at = Instant::NEVER;
            self.pacer.at_most = false;
        }
    }

    /// Whether what there is to send has to wait; if so, the timer is set.
    #[inline]
    pub(in crate::sender) fn holds_back(&mut self, now: Instant) -> bool {
        self.pacer.waited_for = std::mem::replace(&mut self.paced_at, Instant::NEVER);
        if self.pacer.may_send(now) {
            return false;
        }
        self.hold_back();
        true
    }

    /// The pacer lets nothing out yet: the timer is set, unless an ACK has to come before.
    pub(in crate::sender) fn hold_back(&mut self) {
        let last = self.final_seq();
        if self.space.nxt >= last {
            self.limited_by = Limit::Application;
        } else {
            let ahead = (self.space.nxt + self.mss.bytes()).since(self.space.una);
            let fits = self.recovery.allows(self.growth.cwnd(), self.mss.bytes(), &self.space);
            // A rate that follows from the window holds back what the window would.
            self.limited_by = if ahead > self.rwnd {
                Limit::ReceiveWindow
            } else if !fits || (self.pacer.by_window && !self.pacer.at_most) {
                Limit::Cwnd
            } else {
                Limit::Pacing
            };
            // Then it is for an ACK to wait, if one is to come: otherwise a closed window has to be
            // probed when the pacer lets it.
            let full = (!fits || ahead > self.rwnd) && self.space.una < self.space.max;
            if full && !self.recovery.in_recovery() && !self.recovery.waits_to_resend() {
                return;
            }
        }
        if self.space.una < last {
            self.paced_at = self.pacer.next;
        }
    }

    /// A segment with `len` of payload has left.
    #[inline]
    pub(in crate::sender) fn pace(&mut self, now: Instant, len: Bytes) {
        let span = match (self.pacer.jump, self.growth.pacing_rate()) {
            (Some((rate, overhead)), _) => rate.transmission_time(len + overhead),
            (None, Some(rate)) if self.pacer.pacing != Pacing::Off => {
                self.pacer.time_for(len, rate)
            }
            (None, None) if self.pacer.pacing == Pacing::Linux => self.span_by_window(len),
            // Paced for the application's sake alone.
            _ => Duration::ZERO,
        };
        let slowest = self.pacer.most.map_or(Duration::ZERO, |most| most.transmission_time(len));
        self.pacer.at_most = slowest > span;
        let span = span.max(slowest);
        self.pacer.on_sent(now, span, len, self.mss.bytes());
    }

    /// The time for `len` at Linux's rate for laws that give none (`tcp_update_pacing_rate`).
    fn span_by_window(&self, len: Bytes) -> Duration {
        let Some(srtt) = self.rtt.srtt() else { return Duration::ZERO };
        let cwnd = self.growth.cwnd();
        let far = is_far_below(self.growth.ssthresh(), cwnd, self.mss);
        let ratio = if far { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        let window = cwnd.max(self.space.max.since(self.space.una)).get() as f64;
        Duration::from_secs_f64(srtt.as_secs_f64() * len.get() as f64 / (ratio * window))
    }
}
