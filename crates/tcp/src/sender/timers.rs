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
        self.due().min(self.paced_at).min(self.alarm_from)
    }

    /// When a timer of the sender's is due, or earlier.
    #[inline]
    pub(crate) fn due(&self) -> Instant {
        self.timer.min(self.alarm)
    }

    /// The recovery may have set its timer.
    #[inline]
    pub(super) fn note_alarm(&mut self) {
        if !self.recovery.has_timer() {
            return;
        }
        self.alarm = self.recovery.timer().unwrap_or(Instant::NEVER);
    }

    /// Lets the timers expire whose time has come.
    pub(crate) fn on_timer(&mut self, now: Instant) {
        self.settle_alarm();
        if self.alarm <= now {
            self.on_alarm(now);
        }
        if self.timer <= now {
            self.on_rto(now);
        }
    }

    fn on_alarm(&mut self, now: Instant) {
        self.note_limits();
        match self.recovery.on_alarm(now, self.growth.cwnd(), &mut self.space) {
            Alarm::None => {}
            Alarm::LossFound => {
                if self.states.are_linux() {
                    self.on_loss_found(now, false);
                } else {
                    self.on_congestion(now, Signal::Loss, self.rwnd);
                }
                self.timer = now + self.rtt.rto();
            }
            Alarm::Probe => self.timer = now + self.rtt.rto(),
            Alarm::CountFrom(sent_at) => {
                // A tick later at the earliest.
                let tick = self.rtt.config().granularity;
                self.timer = (sent_at + self.rtt.rto()).max(now + tick);
            }
        }
        self.note_alarm();
        self.read_journal(now);
    }

    fn on_rto(&mut self, now: Instant) {
        self.timer = Instant::NEVER;
        if self.space.una >= self.space.max {
            self.on_persist_timer(now);
            return;
        }
        if !self.patience.lasts(now, self.consecutive_timeouts > 0, self.rtt.config()) {
            return;
        }
        self.note_limits();
        self.stats.timeouts += 1;
        self.consecutive_timeouts += 1;
        self.rtt.back_off();
        self.timed = None;
        self.on_congestion(now, self.timeout_signal(), self.rwnd);
        if self.states.are_linux() {
            self.enter_loss(now);
        }
        self.recovery.on_timeout(now, &mut self.space);
        self.note_alarm();
        // RFC 6298 §5.6, also if the pacer holds the retransmission back: an ACK may show meanwhile
        // that there is none to send.
        self.timer = now + self.patience.at_most(now, self.rtt.rto());
        self.note_timeout(now);
    }

    /// The receiver has dropped what it had SACKed: the timer expires after half a round trip, and 10 ms at least
    /// (Linux's `tcp_check_sack_reneging`).
    #[cold]
    pub(super) fn hurry(&mut self, now: Instant) {
        let half = self.rtt.srtt().unwrap_or_default() / 2;
        self.timer = now + half.max(Duration::from_millis(10));
    }

    /// Recovery's timer counts from `now`. It is set when nothing more goes out, as what goes out sets it again.
    #[inline]
    pub(super) fn arm_recovery(&mut self, now: Instant) {
        if self.recovery.has_timer() {
            self.alarm_from = now;
        }
    }

    /// Sets recovery's timer if that is left to do.
    #[inline]
    pub(crate) fn settle_alarm(&mut self) {
        let now = self.alarm_from;
        if now == Instant::NEVER {
            return;
        }
        self.alarm_from = Instant::NEVER;
        let rto = self.rtt.rto();
        let clocks = Clocks { now, srtt: self.rtt.srtt(), rto_at: self.timer.if_ever(), rto };
        self.recovery.arm(&clocks);
        if let Some(at) = self.recovery.moved_timeout() {
            self.timer = at;
        }
        self.alarm = self.recovery.timer().unwrap_or(Instant::NEVER);
    }
}
