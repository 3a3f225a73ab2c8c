//! The expiry of the sender's timers.

use ackclock_laws::event::Signal;
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant};

use super::{Sender, View};
use crate::recovery::Alarm;

impl Sender {
    /// When the sender is to be asked again; `NEVER` if nothing waits.
    #[inline]
    pub(crate) fn wake(&self) -> Instant {
        self.flight.wake()
    }

    /// When a timer of the sender's is due, or earlier.
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.flight.due()
    }

    /// Sets recovery's timer if that is left to do.
    #[inline]
    pub(crate) fn settle_alarm(&mut self) {
        self.flight.settle_alarm();
    }

    /// Lets the timers expire whose time has come.
    pub(crate) fn on_timer(&mut self, now: Instant) {
        self.flight.settle_alarm();
        if self.flight.alarm_expired(now) {
            self.on_alarm(now);
        }
        if self.flight.timer_expired(now) {
            self.on_rto(now);
        }
    }

    fn on_alarm(&mut self, now: Instant) {
        self.allowance.note_limits(&self.backlog, &mut self.flight);
        match self.flight.on_alarm(now, self.allowance.cwnd()) {
            Alarm::None => {}
            Alarm::LossFound => {
                let Self { backlog, flight, stats, allowance } = self;
                let view = View { now, backlog, flight };
                if allowance.has_linux_states() {
                    allowance.on_loss_found(view, false, stats);
                } else {
                    allowance.on_congestion(view, Signal::Loss, stats);
                }
                flight.start_timer(now);
            }
            Alarm::Probe => self.flight.start_timer(now),
            Alarm::CountFrom(sent_at) => self.flight.count_timer_from(sent_at, now),
        }
        self.flight.note_alarm();
        self.allowance.read_journal(now, &mut self.flight);
    }

    fn on_rto(&mut self, now: Instant) {
        self.flight.stop_timer();
        if self.flight.una() >= self.flight.max() {
            self.on_persist_timer(now);
            return;
        }
        if !self.flight.survives_timeout(now) {
            return;
        }
        let Self { backlog, flight, stats, allowance } = self;
        allowance.note_limits(backlog, flight);
        stats.timeouts += 1;
        flight.on_timeout();
        let signal = allowance.timeout_signal(flight);
        let view = View { now, backlog, flight };
        allowance.on_congestion(view, signal, stats);
        if allowance.has_linux_states() {
            allowance.enter_loss(view);
        }
        flight.begin_timeout_recovery(now);
        allowance.note_timeout(now, flight);
    }

    /// The timer expired while nothing was under way.
    fn on_persist_timer(&mut self, now: Instant) {
        let closed = self.backlog.rwnd() == Bytes::ZERO;
        let again = self.backlog.probe_backoff() > 0;
        if !closed || self.flight.survives_probe(now, again) {
            self.backlog.set_overdue();
        }
    }

    /// The peer spoke while nothing was under way and its window was waited for.
    #[cold]
    pub(super) fn on_probe_answered(&mut self, now: Instant) {
        self.flight.on_answer(now);
        if self.backlog.rwnd() > Bytes::ZERO {
            self.flight.stop_timer();
            self.backlog.end_probes();
        } else if self.backlog.probe_backoff() > 0 {
            self.wait_for_window(now);
        }
    }

    /// The timer waits for the interval between probes of the peer's window.
    pub(super) fn wait_for_window(&mut self, now: Instant) {
        let interval = self.flight.probe_interval(now, self.backlog.probe_backoff());
        self.flight.wait_for(now, interval);
    }

    /// True if `ack` acknowledges the byte of a probe; it is then as if it had been sent like any
    /// other.
    #[cold]
    pub(super) fn accepts_probe(&mut self, now: Instant, ack: Seq) -> bool {
        let Some(segment) = self.backlog.take_probe(ack, self.flight.space()) else { return false };
        self.flight.on_probe_accepted(now, &segment);
        self.allowance.track_probe(&self.flight);
        self.stats.segments_sent += 1;
        true
    }
}
