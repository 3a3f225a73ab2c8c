//! Linux's rules for a window that is not used: `tcp_cwnd_validate`, `tcp_is_cwnd_limited`,
//! `tcp_cwnd_application_limited` and `tcp_cwnd_restart` of Linux 6. They follow RFC 2861 where they
//! reduce the window, and RFC 7661 in spirit where they do not let it grow.
//!
//! The window grows only while it is full, and in slow start while it is less than twice what was
//! out. With `restart`, silence halves it once a timeout, down to the first window, and so does, half
//! way, a timeout in which it was never full and no ACK came that might have raised it; ssthresh
//! remembers three quarters of it.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant};

use super::contract::{Idle, Rule, Usage};
use crate::event::{Ack, Limit, Proposal, Why};
use crate::words::{Described, Word};

/// Linux's rules.
#[derive(Clone, Copy, Debug)]
pub struct LinuxIdle {
    restart: bool,
    /// True if the window was full in the round that ends at `round`.
    full: bool,
    /// The most that was out in it.
    most_out: Bytes,
    round: Seq,
    /// The most that was out since `full_at`.
    used: Bytes,
    /// When the window was last full, was last changed here, or could last have been raised.
    full_at: Option<Instant>,
}

impl LinuxIdle {
    /// With `restart`, the window loses its worth.
    pub const fn new(restart: bool) -> Self {
        Self {
            restart,
            full: false,
            most_out: Bytes::ZERO,
            round: Seq::FIRST_BYTE,
            used: Bytes::ZERO,
            full_at: None,
        }
    }

    fn is_limited(&self, cwnd: Bytes, in_slow_start: bool) -> bool {
        self.full || (in_slow_start && cwnd < self.most_out * 2)
    }

    fn propose(&mut self, usage: &Usage, cwnd: Bytes) -> Proposal {
        self.used = Bytes::ZERO;
        self.full_at = Some(usage.now);
        Proposal {
            cwnd: Some(cwnd),
            // Without a threshold there is none to raise.
            ssthresh: usage.ssthresh.map(|ssthresh| ssthresh.max(three_quarters(usage))),
            mss: usage.mss,
            why: Why::Idle,
        }
    }
}

/// `tcp_current_ssthresh`: half and a quarter, each rounded down to whole segments.
fn three_quarters(usage: &Usage) -> Bytes {
    let cwnd = usage.cwnd.whole_segments(usage.mss);
    usage.mss.times((cwnd >> 1) + (cwnd >> 2))
}

/// A jiffy, as `tcp_jiffies32` counts at 1000 Hz.
const JIFFY: u64 = 1_000_000;

/// Whole jiffies between two moments, of which each falls into one.
fn jiffies_between(from: Instant, to: Instant) -> u64 {
    (to.as_nanos() / JIFFY).saturating_sub(from.as_nanos() / JIFFY)
}

/// The effect of silence on the window (`tcp_slow_start_after_idle`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterIdle {
    /// It halves the window once an RTO.
    Restart,
    /// It costs nothing.
    Keep,
}

impl Described for LinuxIdle {
    type Settings = AfterIdle;

    const WORDS: &'static [Word<AfterIdle>] = &[
        Word::alone(
            "linuxidle",
            AfterIdle::Restart,
            "only a full window grows; silence halves it once an RTO (Linux, after RFC 2861)",
        ),
        Word::with(
            "linuxidle",
            "norestart",
            AfterIdle::Keep,
            "only a full window grows; silence costs nothing (tcp_slow_start_after_idle=0)",
        ),
    ];
}

impl Rule for LinuxIdle {
    const WITHOUT_RESTART: &'static str = "linuxidle(norestart)";

    fn make(settings: AfterIdle) -> Self {
        Self::new(settings == AfterIdle::Restart)
    }
}

impl Idle for LinuxIdle {
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        let idle = jiffies_between(usage.last_send?, usage.now);
        let rto = usage.rto.as_nanos().div_ceil(JIFFY).max(1);
        // Linux looks when the application writes, not when the segment leaves: what waited for the
        // peer's window was not idle.
        let waited = usage.limited_by != Limit::Application;
        if !self.restart || waited || idle <= rto {
            return None;
        }
        let least = usage.initial_window.min(usage.cwnd);
        // One for each whole timeout that leaves something of the silence (tcp_cwnd_restart).
        let halvings = (idle - 1) / rto;
        let (cwnd, least) = (usage.cwnd.whole_segments(usage.mss), least.whole_segments(usage.mss));
        let cwnd = (0..halvings.min(64))
            .fold(cwnd, |cwnd, _| if cwnd > least { cwnd >> 1 } else { cwnd })
            .max(least.max(1));
        Some(self.propose(usage, usage.mss.times(cwnd)))
    }

    fn looks_after_bursts(&self) -> bool {
        true
    }

    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        let full =
            usage.limited_by == Limit::Cwnd || usage.in_flight + usage.mss.bytes() > usage.cwnd;
        if usage.una >= self.round || full || (!self.full && usage.outstanding > self.most_out) {
            self.full = full;
            self.most_out = usage.outstanding;
            self.round = usage.nxt;
        }
        if self.is_limited(usage.cwnd, usage.in_slow_start) {
            self.used = Bytes::ZERO;
            self.full_at = Some(usage.now);
            return None;
        }
        self.used = self.used.max(usage.outstanding);
        let since = usage.now.since(*self.full_at.get_or_insert(usage.now));
        if !self.restart || since < usage.rto || !usage.undisturbed {
            return None;
        }
        let used = self.used.max(usage.initial_window);
        let cwnd = if used < usage.cwnd {
            // In whole segments; what is out may end with a part of one.
            let used = used.get().div_ceil(usage.mss.bytes().get());
            usage.mss.times((usage.cwnd.whole_segments(usage.mss) + used) >> 1)
        } else {
            usage.cwnd
        };
        if cwnd == usage.cwnd {
            self.used = Bytes::ZERO;
            self.full_at = Some(usage.now);
            return None;
        }
        Some(self.propose(usage, cwnd))
    }

    #[inline]
    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, in_slow_start: bool) -> bool {
        // tcp_cong_avoid sets snd_cwnd_stamp whether the law then raises the window or not.
        if self.full_at.is_some() {
            self.full_at = Some(ack.now);
        }
        self.is_limited(cwnd, in_slow_start)
    }
}
