//! Congestion window validation: RFC 2861 §3.1 and §3.2, in bytes.
//!
//! Silence halves the window once for every whole RTO, down to one segment; a window that was not full
//! for an RTO falls half way to what of it was used. Both leave three quarters of the window before in
//! ssthresh. Only a full window grows.

use ackclock_units::{Bytes, Duration, Instant};

use super::contract::{Idle, Rule, Usage};
use crate::event::{Ack, Limit, Proposal, Why};
use crate::words::{Described, Word};

/// Which RTO the rule counts. RFC 2861 says "the RTO" and was written when it was at least 1 s; how
/// often the window is halved depends on nothing so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CwvRto {
    /// The retransmission timeout.
    Clamped,
    /// The timeout by the round-trip times alone, without the timer's minimum.
    Unclamped,
    /// Always so long.
    Fixed(Duration),
}

/// RFC 2861's rules.
#[derive(Clone, Copy, Debug)]
pub struct Cwv {
    rto: CwvRto,
    /// When silence was last paid for: it must not be paid for twice if what ends it has to wait.
    paid: Instant,
    /// `T_prev`: when the window was last full, or last changed here.
    full_at: Option<Instant>,
    /// `W_used`: the most that was outstanding since then.
    used: Bytes,
}

impl Cwv {
    /// The rules, counting the given timeout.
    pub const fn new(rto: CwvRto) -> Self {
        Self { rto, paid: Instant::START, full_at: None, used: Bytes::ZERO }
    }

    fn rto(&self, usage: &Usage) -> Duration {
        let rto = match self.rto {
            CwvRto::Clamped => usage.rto,
            CwvRto::Unclamped => usage.unclamped_rto,
            CwvRto::Fixed(rto) => rto,
        };
        rto.max(Duration::from_nanos(1))
    }

    fn propose(&mut self, usage: &Usage, cwnd: Bytes) -> Proposal {
        self.full_at = Some(usage.now);
        self.used = Bytes::ZERO;
        Proposal {
            cwnd: Some(cwnd),
            // Without a threshold there is none to raise.
            ssthresh: usage.ssthresh.map(|ssthresh| ssthresh.max(usage.cwnd * 3 / 4)),
            mss: usage.mss,
            why: Why::Idle,
        }
    }
}

impl Described for Cwv {
    type Settings = CwvRto;

    const WORDS: &'static [Word<CwvRto>] = &[
        Word::alone(
            "cwv",
            CwvRto::Clamped,
            "only a full window grows; silence halves it once an RTO, down to a segment (RFC 2861)",
        ),
        Word::with(
            "cwv",
            "rto=unclamped",
            CwvRto::Unclamped,
            "the same, with an RTO that has no minimum",
        ),
        Word::with(
            "cwv",
            "rto=500ms",
            CwvRto::Fixed(Duration::from_millis(500)),
            "the same, counting a fixed time, of any length",
        ),
    ];

    fn read(_: &str, argument: &str) -> Option<CwvRto> {
        match argument.strip_prefix("rto=")? {
            "clamped" => Some(CwvRto::Clamped),
            time => time.parse().ok().filter(|rto| *rto > Duration::ZERO).map(CwvRto::Fixed),
        }
    }

    fn expected(word: &str) -> Option<&'static str> {
        (word == "cwv").then_some("nothing, `rto=unclamped`, or a time such as `rto=500ms`")
    }

    fn spell(rto: CwvRto) -> Option<String> {
        let CwvRto::Fixed(rto) = rto else { return None };
        Some(format!("cwv(rto={})", rto.to_string().replace(' ', "")))
    }
}

impl Rule for Cwv {
    fn make(rto: CwvRto) -> Self {
        Self::new(rto)
    }
}

impl Idle for Cwv {
    // The RFC looks after the send that ends the silence; one segment may leave in either case, and
    // no window is less.
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        // A sender that waits for an ACK is not idle, however long the way and short a fixed timeout.
        if usage.limited_by != Limit::Application {
            return None;
        }
        let idle = usage.now.since(usage.last_send?.max(self.paid));
        let halvings = idle.as_nanos() / self.rto(usage).as_nanos();
        if halvings == 0 {
            return None;
        }
        self.paid = usage.now;
        let cwnd = (0..halvings.min(64))
            .fold(usage.cwnd, |cwnd, _| (cwnd.min(usage.peer_window) / 2).max(usage.mss.bytes()));
        Some(self.propose(usage, cwnd))
    }

    fn looks_after_bursts(&self) -> bool {
        true
    }

    // The RFC looks after each segment; between the segments of a burst the window is not full and
    // there is more to send, and then it does nothing.
    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        let window = usage.cwnd.min(usage.peer_window);
        let full =
            usage.limited_by != Limit::Application || usage.in_flight + usage.mss.bytes() > window;
        let since = usage.now.since(*self.full_at.get_or_insert(usage.now));
        if full {
            self.full_at = Some(usage.now);
            self.used = Bytes::ZERO;
            return None;
        }
        self.used = self.used.max(usage.outstanding);
        if since < self.rto(usage) {
            return None;
        }
        // More than the window may be outstanding where it was reduced or segments are lost.
        let cwnd = ((window + self.used.min(window)) / 2).max(usage.mss.bytes());
        Some(self.propose(usage, cwnd))
    }

    #[inline]
    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, _: bool) -> bool {
        ack.limited_by == Limit::ReceiveWindow || ack.in_flight_before + ack.mss.bytes() > cwnd
    }
}
