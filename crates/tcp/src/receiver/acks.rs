//! When ACKs of in-order data leave.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use crate::config::{Config, DelayedAck};
use crate::rtt::RttEstimator;

/// The rule in force, with its state.
#[derive(Clone, Copy, Debug)]
pub(super) enum AckRule {
    /// An ACK for every segment.
    Each,
    /// RFC 5681 §4.2.
    Delayed(DelayedAck),
    /// Linux's.
    Quick(QuickAcks),
}

impl AckRule {
    pub(super) const fn of(config: &Config) -> Self {
        match config.delayed_ack {
            None => Self::Each,
            Some(delay) if delay.quick => {
                Self::Quick(QuickAcks::new(delay, config.compressed_acks))
            }
            Some(delay) => Self::Delayed(delay),
        }
    }
}

/// The rule's verdict on the data that has just come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// An ACK at once.
    Now,
    /// An ACK by then, if nothing carries it earlier.
    By(Instant),
}

/// Linux's delayed ACKs: a number of ACKs goes out at once (quick-ACK mode) unless the connection
/// is interactive, which it is once data of this end follows the peer's closely; else an ACK waits
/// for a second full segment, or for a time learned from the peer's rhythm.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickAcks {
    delay: DelayedAck,
    /// ACKs that still go out at once.
    left: u32,
    /// Data goes both ways in turn, so that the next segment will carry the ACK (`pingpong`).
    interactive: bool,
    /// The time that an ACK waits; zero before the first data.
    wait: Duration,
    last_data: Instant,
    /// The end of a write has arrived since the last ACK, once or more often.
    pushed: u8,
    /// Data that came has not been acknowledged.
    scheduled: bool,
    /// RCV.NXT of the duplicate ACKs last sent, and how many were sent at once.
    duplicates: (Seq, u32),
    /// Duplicate ACKs that one ACK will stand for.
    compressed: u32,
    most_compressed: u32,
}

/// `TCP_MAX_QUICKACKS`.
const MOST_QUICK: u64 = 16;

/// `tcp_comp_sack_delay_ns`.
const LONGEST_COMPRESSION: Duration = Duration::from_millis(1);

/// `TCP_DELACK_MAX`.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

impl QuickAcks {
    pub(super) const fn new(delay: DelayedAck, most_compressed: u32) -> Self {
        Self {
            delay,
            left: 0,
            interactive: false,
            wait: Duration::ZERO,
            last_data: Instant::START,
            pushed: 0,
            scheduled: false,
            duplicates: (Seq::FIRST_BYTE, 0),
            compressed: 0,
            most_compressed,
        }
    }

    pub(super) const fn on_established(&mut self, now: Instant) {
        self.last_data = now;
    }

    /// In-order data: a full segment or a `small` one, perhaps the end of a write. `window` is how
    /// many full segments half of the window last advertised holds.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        small: bool,
        push: bool,
        window: u64,
        rtt: &RttEstimator,
    ) {
        self.scheduled = true;
        if small {
            self.pushed = (self.pushed + 1).min(2);
        } else if push {
            self.pushed = self.pushed.max(1);
        }
        let gap = now.since(self.last_data);
        let least = self.delay.timeout;
        if self.wait == Duration::ZERO {
            self.quicken(window);
            self.wait = least;
        } else if gap <= least / 2 {
            self.wait = self.wait / 2 + least / 2;
        } else if gap < self.wait {
            self.wait = (self.wait / 2 + gap).min(rtt.rto());
        } else if gap > rtt.rto() {
            // The peer was silent for so long that it may be starting slowly again.
            self.quicken(window);
        }
        self.last_data = now;
    }

    /// Quick-ACK mode, for `window` segments within bounds.
    fn quicken(&mut self, window: u64) {
        let quick = if window == 0 { 2 } else { window.min(MOST_QUICK) };
        self.left = self.left.max(u32::try_from(quick).unwrap_or(u32::MAX));
    }

    /// Something is amiss: old data, or a mark of congestion.
    pub(super) fn alert(&mut self, window: u64) {
        self.quicken(window);
        self.interactive = false;
        self.wait = self.delay.timeout;
    }

    /// The window grew: the peer is to know.
    pub(super) const fn on_growth(&mut self) {
        self.left |= 1;
    }

    /// Less than half of the buffer is free: ACKs may wait for the reader.
    pub(super) const fn on_shortage(&mut self) {
        self.left = 0;
    }

    /// The peer closed first: what this end still has to say will carry the ACK.
    pub(super) const fn on_fin(&mut self) {
        self.scheduled = true;
        self.interactive = true;
    }

    /// The answer to `unacked` that came in order since the last ACK; `opens` says whether an ACK
    /// now would move the window's right edge on.
    pub(super) fn verdict(
        &self,
        now: Instant,
        unacked: Bytes,
        segment: Bytes,
        opens: bool,
        timer: Option<Instant>,
        rtt: &RttEstimator,
    ) -> Verdict {
        let full = segment.get() * u64::from(self.delay.every.max(1) - 1);
        if (unacked.get() > full && opens) || (self.left > 0 && !self.interactive) {
            return Verdict::Now;
        }
        let mut wait = self.wait;
        if wait > self.delay.timeout {
            let srtt = rtt.srtt().unwrap_or(LONGEST_WAIT);
            wait = wait.min(srtt.max(self.delay.timeout)).min(LONGEST_WAIT);
        }
        match timer {
            Some(at) if at <= now + wait / 4 => Verdict::Now,
            Some(at) => Verdict::By(at.min(now + wait)),
            None => Verdict::By(now + wait),
        }
    }

    /// Data came out of order, and the peer understands SACK: duplicate ACKs beyond the third may
    /// wait, as one with all of their SACKs says as much (`tcp_comp_sack_delay_ns`,
    /// `tcp_comp_sack_nr`, `tcp_comp_sack_rtt_percent`). `rtt` is the round-trip time.
    pub(super) fn on_gap(
        &mut self,
        now: Instant,
        nxt: Seq,
        timer: Option<Instant>,
        rtt: Duration,
    ) -> Verdict {
        self.scheduled = true;
        if self.duplicates.0 != nxt {
            self.duplicates = (nxt, 0);
        }
        if (self.left > 0 && !self.interactive) || self.compressed >= self.most_compressed {
            return Verdict::Now;
        }
        if self.duplicates.1 < 3 {
            self.duplicates.1 += 1;
            return Verdict::Now;
        }
        self.compressed += 1;
        let wait = (rtt * 33 / 100).min(LONGEST_COMPRESSION);
        match timer {
            Some(at) if self.compressed > 1 => Verdict::By(at),
            Some(at) => Verdict::By(at.min(now + wait)),
            None => Verdict::By(now + wait),
        }
    }

    /// An ACK waited in vain for something to carry it.
    pub(super) fn on_timer(&mut self, rtt: &RttEstimator) {
        if self.compressed > 0 {
            return;
        }
        if self.interactive {
            self.interactive = false;
            self.wait = self.delay.timeout;
        } else {
            self.wait = (self.wait * 2).min(rtt.rto());
        }
    }

    /// An ACK left, alone or with data.
    pub(super) const fn on_ack_sent(&mut self) {
        if self.left > 0 && self.scheduled {
            self.left -= 1;
            if self.left == 0 {
                self.wait = self.delay.timeout;
            }
        }
        self.scheduled = false;
        self.pushed = 0;
        self.compressed = 0;
    }

    /// Data of this end left: an answer, if it comes soon after the peer's.
    pub(super) fn on_data_sent(&mut self, now: Instant) {
        if now.since(self.last_data) < self.wait {
            self.interactive = true;
        }
    }

    /// The application read something of the `unacked` and left `unread`: whether to ACK now.
    pub(super) fn on_read(&self, unacked: Bytes, segment: Bytes, unread: Bytes) -> bool {
        let small_write = self.pushed == 2 || (self.pushed == 1 && !self.interactive);
        self.scheduled && (unacked > segment || (small_write && unread == Bytes::ZERO))
    }

    /// `TCP_QUICKACK`.
    pub(super) const fn set_interactive(&mut self, interactive: bool) {
        self.interactive = interactive;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Profile, Variant};

    /// The rule as Linux has it, and a round-trip time of 100 ms.
    fn linux() -> (QuickAcks, RttEstimator) {
        let parts = "reno".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
        let config = Config::new(parts, Profile::Linux);
        let mut rtt = RttEstimator::new(config.rto);
        rtt.on_sample(Duration::from_millis(100), Seq::FIRST_BYTE, Seq::FIRST_BYTE);
        (QuickAcks::new(config.delayed_ack.unwrap(), 0), rtt)
    }

    /// `tcp_event_data_recv`, ato: 40 ms (`TCP_ATO_MIN`) with the first data; half of it and 20 ms after a gap of at most 20
    /// ms; half of it and the gap after a longer gap below it, at most the RTO of 100 + 200 ms; as it was after a longer one.
    #[test]
    fn the_wait_follows_the_gaps_between_data() {
        let (mut acks, rtt) = linux();
        let mut now = Instant::START;
        for (gap_ms, wait_ms) in
            [(1000, 40), (20, 40), (21, 41), (20, 40), (39, 59), (50, 79), (20, 59), (70, 59)]
        {
            now += Duration::from_millis(gap_ms);
            acks.on_data(now, false, false, 10, &rtt);
            // Of odd numbers the kernel's jiffies lose the half.
            let wait = acks.wait.as_nanos() / 1_000_000;
            assert!(
                wait.abs_diff(wait_ms) <= 1,
                "after {gap_ms} ms: {wait} ms, expected {wait_ms}"
            );
        }
        // 280/2 + 270 = 410 is more than the RTO.
        acks.wait = Duration::from_millis(280);
        acks.on_data(now + Duration::from_millis(270), false, false, 10, &rtt);
        assert_eq!(acks.wait, Duration::from_millis(300));
    }

    /// `tcp_send_delayed_ack`: a wait beyond 40 ms is at most the smoothed round-trip time and 200 ms; a timer that ends
    /// within a quarter of the wait lets the ACK go at once, a later one stays.
    #[test]
    fn an_ack_waits_no_longer_than_a_round_trip() {
        let (mut acks, rtt) = linux();
        let now = Instant::START + Duration::from_secs(1);
        let at = |millis: u64| now + Duration::from_millis(millis);
        let segment = Bytes::new(1448);
        let verdict = |acks: &QuickAcks, timer: Option<Instant>| {
            acks.verdict(now, segment, segment, true, timer, &rtt)
        };
        for (wait_ms, due_ms) in [(40, 40), (80, 80), (150, 100), (300, 100)] {
            acks.wait = Duration::from_millis(wait_ms);
            assert_eq!(verdict(&acks, None), Verdict::By(at(due_ms)), "{wait_ms}");
        }
        acks.wait = Duration::from_millis(80);
        assert_eq!(verdict(&acks, Some(at(20))), Verdict::Now);
        assert_eq!(verdict(&acks, Some(at(21))), Verdict::By(at(21)));
        assert_eq!(verdict(&acks, Some(at(90))), Verdict::By(at(80)));
        // More than a full segment, and a window that opens.
        let more = Bytes::new(1449);
        assert_eq!(acks.verdict(now, more, segment, true, None, &rtt), Verdict::Now);
        assert_eq!(acks.verdict(now, more, segment, false, None, &rtt), Verdict::By(at(80)));
    }

    /// The delayed-ACK timer in vain doubles the wait, at most to the RTO; of an interactive connection it is 40 ms again
    /// (`tcp_delack_timer_handler`).
    #[test]
    fn a_wait_in_vain_makes_the_next_longer() {
        let (mut acks, rtt) = linux();
        acks.wait = Duration::from_millis(80);
        acks.on_timer(&rtt);
        assert_eq!(acks.wait, Duration::from_millis(160));
        acks.on_timer(&rtt);
        assert_eq!(acks.wait, Duration::from_millis(300));
        acks.set_interactive(true);
        acks.on_timer(&rtt);
        assert_eq!(acks.wait, Duration::from_millis(40));
    }

    #[test]
    fn quick_acks_are_as_many_as_half_the_window_holds_within_bounds() {
        let parts = "reno".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
        let config = Config::new(parts, Profile::Linux);
        let rtt = RttEstimator::new(config.rto);
        // tcp_incr_quickack: two if half of the window holds no segment, and sixteen at most.
        for (window, quick) in [(0, 2), (1, 1), (15, 15), (16, 16), (40, 16)] {
            let mut acks = QuickAcks::new(config.delayed_ack.unwrap(), 0);
            acks.on_data(Instant::START, false, false, window, &rtt);
            assert_eq!(acks.left, quick);
        }
    }
}
