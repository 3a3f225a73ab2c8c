//! The sender's timers: for retransmission, recovery's own, the pacer's, and the one that gives up.

use ackclock_units::{Duration, Instant};

use super::Flight;
use crate::recovery::{Clocks, Recovery};

impl Flight {
    /// When the sender is to be asked again: a timer is due, its own or recovery's, or a segment may
    /// leave; `NEVER` if none waits.
    #[inline]
    pub(in crate::sender) fn wake(&self) -> Instant {
        // Where recovery's timer has yet to be set, asking for segments sets it.
        self.due().min(self.paced_at).min(self.alarm_from)
    }

    /// When a timer of the sender's is due, or earlier.
    #[inline]
    pub(in crate::sender) fn due(&self) -> Instant {
        self.timer.min(self.alarm)
    }

    /// True if the retransmission timer runs.
    #[inline]
    pub(in crate::sender) fn timer_runs(&self) -> bool {
        self.timer != Instant::NEVER
    }

    #[inline]
    pub(in crate::sender) fn timer_expired(&self, now: Instant) -> bool {
        self.timer <= now
    }

    #[inline]
    pub(in crate::sender) fn alarm_expired(&self, now: Instant) -> bool {
        self.alarm <= now
    }

    /// The retransmission timer starts anew.
    #[inline]
    pub(in crate::sender) fn start_timer(&mut self, now: Instant) {
        self.timer = now + self.rtt.rto();
    }

    /// The timer starts if it does not run.
    #[inline]
    pub(in crate::sender) fn ensure_timer(&mut self, now: Instant) {
        if self.timer == Instant::NEVER {
            self.start_timer(now);
        }
    }

    pub(in crate::sender) const fn stop_timer(&mut self) {
        self.timer = Instant::NEVER;
    }

    /// The timer expires after `wait`, without a back-off.
    pub(in crate::sender) fn wait_for(&mut self, now: Instant, wait: Duration) {
        self.timer = now + wait;
    }

    /// The timer expires a timeout after `sent_at`, and a tick from `now` at the earliest.
    pub(in crate::sender) fn count_timer_from(&mut self, sent_at: Instant, now: Instant) {
        let tick = self.rtt.config().granularity;
        self.timer = (sent_at + self.rtt.rto()).max(now + tick);
    }

    /// A loss was found: the retransmission that follows is timed afresh.
    #[inline]
    pub(in crate::sender) fn time_repair(&mut self, now: Instant) {
        self.timed = None;
        self.start_timer(now);
    }

    /// New data was acknowledged; `restarts` if the retransmission timer starts anew for what is left.
    #[inline]
    pub(in crate::sender) fn set_timer_after_progress(&mut self, now: Instant, restarts: bool) {
        if self.space.una == self.space.max {
            self.timer = Instant::NEVER;
            self.all_acked_at = now;
        } else if self.recovery.hurries() {
            self.hurry(now);
        } else if restarts {
            self.start_timer(now);
        }
        self.arm_recovery(now);
    }

    /// The receiver has dropped what it had SACKed: the timer expires after half a round trip, and 10 ms at least
    /// (Linux's `tcp_check_sack_reneging`).
    #[cold]
    fn hurry(&mut self, now: Instant) {
        let half = self.rtt.srtt().unwrap_or_default() / 2;
        self.timer = now + half.max(Duration::from_millis(10));
    }

    /// The retransmission timer has expired. False if the peer is given up.
    pub(in crate::sender) fn survives_timeout(&mut self, now: Instant) -> bool {
        self.give_up.lasts(now, self.consecutive_timeouts > 0, self.rtt.config())
    }

    /// A timeout is to be repaired: the RTO backs off.
    pub(in crate::sender) fn on_timeout(&mut self) {
        self.consecutive_timeouts += 1;
        self.rtt.back_off();
        self.timed = None;
    }

    /// Recovery begins after a timeout.
    pub(in crate::sender) fn begin_timeout_recovery(&mut self, now: Instant) {
        self.recovery.on_timeout(now, &mut self.space);
        self.note_alarm();
        // RFC 6298 §5.6, also if the pacer holds the retransmission back: an ACK may show meanwhile
        // that there is none to send.
        self.timer = now + self.give_up.at_most(now, self.rtt.rto());
    }

    pub(in crate::sender) const fn forget_timeouts(&mut self) {
        self.consecutive_timeouts = 0;
    }

    /// The interval between probes of the peer's window after so many doublings.
    pub(in crate::sender) fn probe_interval(&self, now: Instant, backoff: u32) -> Duration {
        self.give_up.at_most(now, self.rtt.backed_off(backoff))
    }

    /// A probe of the peer's closed window was not answered, `again` if it was not the first. False if the peer is given
    /// up.
    pub(in crate::sender) fn survives_probe(&mut self, now: Instant, again: bool) -> bool {
        self.give_up.lasts(now, again, self.rtt.config())
    }

    /// The peer answered a probe of its window.
    pub(in crate::sender) const fn on_answer(&mut self, now: Instant) {
        self.give_up.on_answer(now);
    }

    #[inline]
    pub(in crate::sender) const fn gave_up(&self) -> bool {
        self.give_up.gone()
    }

    pub(in crate::sender) const fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.give_up.set_user_timeout(timeout);
    }

    /// The pacer holds a segment back until `at`.
    #[inline]
    pub(in crate::sender) const fn set_paced_at(&mut self, at: Instant) {
        self.paced_at = at;
    }

    /// The moment that the pacer waits for, or never.
    pub(in crate::sender) const fn paced_at(&self) -> Instant {
        self.paced_at
    }

    /// The moment that the pacer waited for; it waits no longer.
    #[inline]
    pub(in crate::sender) const fn take_paced_at(&mut self) -> Instant {
        std::mem::replace(&mut self.paced_at, Instant::NEVER)
    }

    /// Recovery may have set its timer.
    #[inline]
    pub(in crate::sender) fn note_alarm(&mut self) {
        if self.recovery.has_timer() {
            self.alarm = self.recovery.timer().unwrap_or(Instant::NEVER);
        }
    }

    /// Recovery's timer counts from `now`. It is set when nothing more goes out, as what goes out sets it again.
    #[inline]
    pub(in crate::sender) fn arm_recovery(&mut self, now: Instant) {
        if self.recovery.has_timer() {
            self.alarm_from = now;
        }
    }

    /// Recovery's timer is set if that is left to do.
    #[inline]
    pub(in crate::sender) fn settle_alarm(&mut self) {
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
