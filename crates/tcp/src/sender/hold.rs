//! What is not sent although the congestion window has room: short segments that may become longer,
//! what the peer has no room for, and the point from which nothing is sent any more.

mod waiting;

use std::collections::VecDeque;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::Stretch;
use crate::config::{Config, Nagle, RtoConfig, WindowProbe};

/// What the application says will follow a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing that it knows of.
    Silence,
    /// More, soon (`MSG_MORE`).
    More,
    /// Another record, which shares no segment with this one (`MSG_EOR`).
    Record,
}

/// The state of what waits.
#[derive(Clone, Debug)]
// What every segment asks comes last.
#[repr(C)]
pub(super) struct Hold {
    /// The byte of new data that a probe carried: the number after it, when it left last, and
    /// whether it left more than once.
    probed: Option<(Seq, Instant, bool)>,
    /// How often the interval between probes has doubled.
    backoff: u32,
    /// The length of a full segment as agreed, if segments are shorter while the peer's windows are small.
    agreed_mss: Option<Mss>,
    halves_small_windows: bool,
    nagle: Nagle,
    /// Nothing but full segments goes out (`TCP_CORK`).
    cork: bool,
    /// The application said that more is to come (`MSG_MORE`), and nothing has happened since.
    more: bool,
    probe: WindowProbe,
    /// The time to wait for the window is over.
    overdue: bool,
    /// The numbers after records that end where the application said, ascending.
    records: VecDeque<Seq>,
    /// The largest window that the peer ever offered, as an estimate of its buffer.
    largest_window: Bytes,
    /// The number after the last segment that was not full.
    short_end: Seq,
}

/// What to do against a window that has no room for a full segment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Against {
    /// Send what fits.
    Part(Stretch),
    /// Ask whether it has opened.
    Probe(Stretch),
}

/// How long a part of a segment waits for the peer's window to have room for more (RFC 9293
/// §3.8.6.2.1: 0.1 to 1 s).
const OVERRIDE: Duration = Duration::from_millis(500);

impl Hold {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            nagle: config.nagle,
            cork: false,
            more: false,
            records: VecDeque::new(),
            probe: config.window_probe,
            short_end: Seq::FIRST_BYTE,
            largest_window: Bytes::ZERO,
            overdue: false,
            backoff: 0,
            agreed_mss: None,
            halves_small_windows: config.halves_small_windows,
            probed: None,
        }
    }

    /// The same as [`new`](Self::new), in the memory of this one.
    pub(super) fn renew(&mut self, config: &Config) {
        let Self {
            nagle,
            cork,
            more,
            records,
            probe,
            short_end,
            largest_window,
            overdue,
            backoff,
            agreed_mss,
            halves_small_windows,
            probed,
        } = self;
        *nagle = config.nagle;
        *cork = false;
        *more = false;
        records.clear();
        *probe = config.window_probe;
        *short_end = Seq::FIRST_BYTE;
        *largest_window = Bytes::ZERO;
        *overdue = false;
        *backoff = 0;
        *agreed_mss = None;
        *halves_small_windows = config.halves_small_windows;
        *probed = None;
    }

    pub(super) const fn set_nagle(&mut self, nagle: Nagle) {
        self.nagle = nagle;
        // As on Linux, TCP_NODELAY also lets go what was kept.
        if matches!(nagle, Nagle::Off) {
            self.more = false;
            self.cork = false;
        }
    }

    pub(super) const fn set_cork(&mut self, cork: bool) {
        self.cork = cork;
        self.more = false;
    }

    pub(super) fn on_write(&mut self, then: Then, end: Seq) {
        self.more = then == Then::More;
        if then == Then::Record {
            self.records.push_back(end);
        }
    }

    /// What of `len` from `seq` is in one record.
    #[inline]
    pub(super) fn within_record(&mut self, seq: Seq, len: Bytes, una: Seq) -> Bytes {
        if self.records.is_empty() { len } else { self.cut_at_record(seq, len, una) }
    }

    #[cold]
    fn cut_at_record(&mut self, seq: Seq, len: Bytes, una: Seq) -> Bytes {
        while self.records.front().is_some_and(|end| *end <= una) {
            self.records.pop_front();
        }
        let next = self.records.partition_point(|end| *end <= seq);
        self.records.get(next).map_or(len, |end| len.min(end.since(seq)))
    }

    /// Whether segments end where records do.
    #[inline]
    pub(super) fn has_records(&self) -> bool {
        !self.records.is_empty()
    }

    pub(super) fn ends_record(&self, end: Seq) -> bool {
        !self.records.is_empty() && self.records.binary_search(&end).is_ok()
    }

    /// An ACK that advertises `window`; whether no larger one has come before.
    #[inline]
    pub(super) fn on_ack(&mut self, window: Bytes) -> bool {
        self.more = false;
        let larger = window > self.largest_window;
        self.largest_window = self.largest_window.max(window);
        larger
    }

    /// Whether the application said that more is to come.
    #[inline]
    pub(super) const fn more(&self) -> bool {
        self.more
    }

    pub(super) const fn largest_window(&self) -> Bytes {
        self.largest_window
    }

    pub(super) const fn on_short_segment(&mut self, end: Seq) {
        self.short_end = end;
    }
}

/// When to give up (RFC 9293 §3.8.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// As long as so many retransmissions take; never if `None`.
    retries: Option<u32>,
    user_timeout: Option<Duration>,
    /// When the first timer in a row expired.
    since: Option<Instant>,
    gone: bool,
}

impl Patience {
    pub(super) const fn new(config: &Config) -> Self {
        Self { retries: config.retries.data, user_timeout: None, since: None, gone: false }
    }

    pub(super) const fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.user_timeout = timeout;
    }

    pub(super) const fn gone(&self) -> bool {
        self.gone
    }

    /// A timer expired whose settings are `rto`, `again` if nothing was heard since the last one: whether
    /// to go on.
    pub(super) fn lasts(&mut self, now: Instant, again: bool, rto: &RtoConfig) -> bool {
        let Some(since) = self.since.filter(|_| again) else {
            self.since = Some(now);
            return true;
        };
        let by_count = || self.retries.map(|retries| time_of(retries, rto));
        let limit = self.user_timeout.or_else(by_count);
        self.gone = limit.is_some_and(|limit| now.since(since) >= limit);
        !self.gone
    }

    pub(super) const fn on_answer(&mut self, now: Instant) {
        if self.since.is_some() {
            self.since = Some(now);
        }
    }

    /// `wait`, or what is left of the user's patience.
    pub(super) fn at_most(&self, now: Instant, wait: Duration) -> Duration {
        match (self.user_timeout, self.since) {
            (Some(timeout), Some(since)) => {
                let left = (since + timeout).since(now).max(Duration::from_millis(1));
                wait.min(left)
            }
            _ => wait,
        }
    }
}

/// The time that `retries` retransmissions and the wait after the last take when the timeout is at
/// its least to begin with, doubles each time and stops growing at its largest.
fn time_of(retries: u32, rto: &RtoConfig) -> Duration {
    let least = rto.min.max(rto.granularity);
    (0..=retries).fold(Duration::ZERO, |sum, n| sum + (least * (1 << n.min(16))).min(rto.max))
}
