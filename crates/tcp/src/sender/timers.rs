//! The sender's timers: its own for retransmission, and recovery's.

use ackclock_units::{Duration, Instant};

use super::Sender;
use crate::event::Signal;
use crate::recovery::{Alarm, Clocks, Recovery};

impl Sender {
    /// When the sender is to be asked again: a timer is due, its own or recovery's, or a segment may
    /// leave; `NEVER` if none waits.
    #[inline]
    pub(crate) fn wake(&self) -> Instant {
        // Where recovery's timer has yet to be set, asking for segments sets it.
        self.due().min(self.flight.paced_at).min(self.flight.alarm_from)
    }

    /// When a timer of the sender's is due, or earlier.
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.flight.timer.min(self.flight.alarm)
    }

    /// The recovery may have set its timer.
    #[inline]
    pub(super) fn note_alarm(&mut self) {
        if !self.flight.recovery.has_timer() {
            return;
        }
        self.flight.alarm = self.flight.recovery.timer().unwrap_or(Instant::NEVER);
    }

    /// Lets the timers expire whose time has come.
    pub(crate) fn on_timer(&mut self, now: Instant) {
        self.settle_alarm();
        if self.flight.alarm <= now {
            self.on_alarm(now);
        }
        if self.flight.timer <= now {
            self.on_rto(now);
        }
    }

    fn on_alarm(&mut self, now: Instant) {
        self.note_limits();
        match self.flight.recovery.on_alarm(
            now,
            self.allowance.growth.cwnd(),
            &mut self.flight.space,
        ) {
            Alarm::None => {}
            Alarm::LossFound => {
                if self.allowance.states.are_linux() {
                    self.on_loss_found(now, false);
                } else {
                    self.on_congestion(now, Signal::Loss, self.backlog.rwnd);
                }
                self.flight.timer = now + self.flight.rtt.rto();
            }
            Alarm::Probe => self.flight.timer = now + self.flight.rtt.rto(),
            Alarm::CountFrom(sent_at) => {
                // A tick later at the earliest.
                let tick = self.flight.rtt.config().granularity;
                self.flight.timer = (sent_at + self.flight.rtt.rto()).max(now + tick);
            }
        }
        self.note_alarm();
        self.read_journal(now);
    }

    fn on_rto(&mut self, now: Instant) {
        self.flight.timer = Instant::NEVER;
        if self.flight.space.una >= self.flight.space.max {
            self.on_persist_timer(now);
            return;
        }
        if !self.flight.patience.lasts(
            now,
            self.flight.consecutive_timeouts > 0,
            self.flight.rtt.config(),
        ) {
            return;
        }
        self.note_limits();
        self.stats.timeouts += 1;
        self.flight.consecutive_timeouts += 1;
        self.flight.rtt.back_off();
        self.flight.timed = None;
        self.on_congestion(now, self.timeout_signal(), self.backlog.rwnd);
        if self.allowance.states.are_linux() {
            self.enter_loss(now);
        }
        self.flight.recovery.on_timeout(now, &mut self.flight.space);
        self.note_alarm();
        // RFC 6298 §5.6, also if the pacer holds the retransmission back: an ACK may show meanwhile
        // that there is none to send.
        self.flight.timer = now + self.flight.patience.at_most(now, self.flight.rtt.rto());
        self.note_timeout(now);
    }

    /// The receiver has dropped what it had SACKed: the timer expires after half a round trip, and 10 ms at least
    /// (Linux's `tcp_check_sack_reneging`).
    #[cold]
    pub(super) fn hurry(&mut self, now: Instant) {
        let half = self.flight.rtt.srtt().unwrap_or_default() / 2;
        self.flight.timer = now + half.max(Duration::from_millis(10));
    }

    /// Recovery's timer counts from `now`. It is set when nothing more goes out, as what goes out sets it again.
    #[inline]
    pub(super) fn arm_recovery(&mut self, now: Instant) {
        if self.flight.recovery.has_timer() {
            self.flight.alarm_from = now;
        }
    }

    /// Sets recovery's timer if that is left to do.
    #[inline]
    pub(crate) fn settle_alarm(&mut self) {
        let now = self.flight.alarm_from;
        if now == Instant::NEVER {
            return;
        }
        self.flight.alarm_from = Instant::NEVER;
        let rto = self.flight.rtt.rto();
        let clocks =
            Clocks { now, srtt: self.flight.rtt.srtt(), rto_at: self.flight.timer.if_ever(), rto };
        self.flight.recovery.arm(&clocks);
        if let Some(at) = self.flight.recovery.moved_timeout() {
            self.flight.timer = at;
        }
        self.flight.alarm = self.flight.recovery.timer().unwrap_or(Instant::NEVER);
    }
}
