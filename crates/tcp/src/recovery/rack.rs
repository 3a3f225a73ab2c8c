//! RACK-TLP: RFC 8985 (February 2021), with proportional rate reduction (RFC 9937) for how much goes
//! out.
//!
//! A segment is lost when one that was sent sufficiently later has been delivered; the tail of a
//! flight, after which nothing is sent, is probed.
//!
//! DEVIATION(rfc8985 §6.2): `min_rtt` is the least of the connection, not of a window of time; the
//! paths here do not become shorter. DEVIATION(rfc8985 §6.3): the retransmission timer loses all
//! that is not SACKed, not only what is old enough.

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::{AckSeen, Alarm, Clocks, DUP_THRESH, Outcome, Prr, Recovery, SendSpace, SentSegment};
use crate::scoreboard::{Delivered, Scoreboard, Told};

/// The longest that a receiver delays an ACK, `TLP.max_ack_delay` (§7.2): Linux's minimum RTO.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// The probe timeout before the first round-trip time (§7.2).
const FIRST_PROBE: Duration = Duration::from_secs(1);
/// Recoveries without a DSACK after which the reordering window is narrow again (§6.2 step 4,
/// `RACK.reo_wnd_persist`).
const REO_WND_PERSIST: u32 = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is being repaired.
    #[default]
    Open,
    /// What was lost before `recover`.
    Recovery,
    /// Everything before `recover`, after a timeout; the window grows meanwhile.
    AfterTimeout,
}

/// A tail loss probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// SND.NXT when it was sent, `TLP.end_seq`.
    end: Seq,
    /// Whether it was sent before: `TLP.is_retrans`.
    again: bool,
}

/// RACK-TLP.
#[derive(Clone, Debug)]
pub struct Rack {
    board: Scoreboard,
    phase: Phase,
    recover: Seq,
    mss: Mss,
    prr: Prr,
    /// The fast retransmit has not gone out yet.
    first: bool,
    /// `RACK.segment`, and the round-trip time of it.
    newest: Option<Delivered>,
    rtt: Duration,
    min_rtt: Duration,
    srtt: Duration,
    reordering_seen: bool,
    /// `RACK.reo_wnd_mult` and its two counters: the round in which a DSACK widened it last, and the
    /// recoveries that it lasts.
    reo_wnd_mult: u32,
    dsack_round: Option<Seq>,
    reo_wnd_persist: u32,
    /// When something not yet lost will be.
    reorder_at: Option<Instant>,
    /// When a probe is due.
    probe_at: Option<Instant>,
    probe_due: bool,
    probe: Option<Probe>,
    rtt_from: Option<Instant>,
    newly_delivered: Bytes,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            board: Scoreboard::by_time(),
            phase: Phase::Open,
            recover: Seq::default(),
            mss: Mss::default(),
            prr: Prr::default(),
            first: false,
            newest: None,
            rtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            srtt: Duration::ZERO,
            reordering_seen: false,
            reo_wnd_mult: 1,
            dsack_round: None,
            reo_wnd_persist: REO_WND_PERSIST,
            reorder_at: None,
            probe_at: None,
            probe_due: false,
            probe: None,
            rtt_from: None,
            newly_delivered: Bytes::ZERO,
        }
    }
}

impl Rack {
    /// The reordering window (§6.2 step 4).
    fn reo_wnd(&self) -> Duration {
        let settled =
            self.phase == Phase::Recovery || self.board.sacked_segments() >= u64::from(DUP_THRESH);
        if !self.reordering_seen && settled {
            return Duration::ZERO;
        }
        (self.min_rtt * u64::from(self.reo_wnd_mult) / 4).min(self.srtt)
    }

    fn find_lost(&mut self, now: Instant) -> Bytes {
        let mut lost = Bytes::ZERO;
        self.reorder_at = self.newest.and_then(|newest| {
            let wait = self.rtt + self.reo_wnd();
            self.board.find_lost_by_time(newest, wait, now, &mut lost)
        });
        lost
    }

    /// Takes in what a DSACK says; returns the blocks after it.
    fn take_dsack<'a>(&mut self, blocks: &'a [Range], send: &SendSpace) -> (bool, &'a [Range]) {
        let Some((first, rest)) = blocks.split_first() else { return (false, blocks) };
        // RFC 2883 §4: below the cumulative ACK, or inside the block that follows.
        let inside = rest.first().is_some_and(|b| b.start <= first.start && first.end <= b.end);
        if first.end > send.una && !inside {
            return (false, blocks);
        }
        if self.dsack_round.is_none_or(|round| send.una >= round) {
            self.dsack_round = Some(send.nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        }
        (true, rest)
    }

    /// Whether this ACK shows that the probe repaired a loss (§7.4.2).
    fn probe_found_loss(&mut self, dsack: bool, send: &SendSpace) -> bool {
        let Some(probe) = self.probe.filter(|probe| send.una >= probe.end) else { return false };
        self.probe = None;
        probe.again && !dsack
    }

    fn enter(&mut self, outstanding: Bytes, send: &SendSpace) {
        self.phase = Phase::Recovery;
        self.recover = send.max;
        self.first = true;
        self.probe = None;
        self.prr.begin(outstanding.saturating_sub(self.board.sacked()));
    }

    fn has_room(&self, cwnd: Bytes, len: Bytes) -> bool {
        match self.phase {
            Phase::Recovery => len <= self.prr.budget(),
            _ => self.board.pipe() + len <= cwnd,
        }
    }
}

impl Recovery for Rack {
    #[inline]
    fn on_sent(&mut self, sent: &SentSegment) {
        if sent.again {
            self.board.on_resent(sent.start, sent.now);
        } else {
            self.board.on_sent(sent.start, sent.len, sent.now);
        }
        if std::mem::take(&mut self.probe_due) {
            let end = self.board.last().map_or(sent.start, |last| last.end);
            self.probe = Some(Probe { end, again: sent.again });
        }
        if self.phase == Phase::Recovery {
            self.prr.on_sent(sent.len);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        self.mss = ack.mss;
        self.min_rtt = ack.min_rtt;
        self.srtt = ack.srtt.unwrap_or(ack.min_rtt);
        let mut told = Told { now: ack.now, min_rtt: ack.min_rtt, ..Told::default() };
        if !ack.duplicate {
            self.board.on_cumulative_ack(send.una, &mut told);
        }
        let (dsack, blocks) = self.take_dsack(ack.sack, send);
        self.board.on_sack(blocks, &mut told);
        self.rtt_from = told.rtt_from;
        self.newly_delivered = told.delivered(ack.newly_acked);
        self.reordering_seen |= told.reordered;
        if let Some(newest) = told.newest {
            self.rtt = ack.now.since(newest.at);
            self.newest = self.newest.max(Some(newest));
        }
        let mut repaired = false;
        if self.phase != Phase::Open && send.una >= self.recover {
            repaired = self.phase == Phase::Recovery;
            self.phase = Phase::Open;
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
        let lost = self.find_lost(ack.now);
        let outstanding = send.max.since(send.una) + ack.newly_acked + told.newly_sacked;
        let by_probe = self.phase == Phase::Open && self.probe_found_loss(dsack, send);
        let outcome = match self.phase {
            Phase::Open if lost > Bytes::ZERO => {
                self.enter(outstanding, send);
                Outcome::LossFound
            }
            Phase::Open if repaired => return Outcome::Repaired { at_most: None },
            Phase::Open if by_probe => return Outcome::LossFound,
            Phase::Open | Phase::AfterTimeout => return Outcome::None,
            Phase::Recovery if ack.duplicate => Outcome::None,
            Phase::Recovery => Outcome::PartlyRepaired { restart_timer: true },
        };
        self.prr.on_ack(self.newly_delivered, !ack.duplicate && lost == Bytes::ZERO);
        outcome
    }

    fn on_timeout(&mut self, send: &mut SendSpace) {
        self.board.all_is_lost();
        self.phase = Phase::AfterTimeout;
        self.recover = send.max;
        self.first = false;
        self.reorder_at = None;
        self.probe_at = None;
        self.probe_due = false;
        self.probe = None;
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    #[inline]
    fn in_flight(&self, _: &SendSpace) -> Bytes {
        self.board.pipe()
    }

    #[inline]
    fn allows(&self, cwnd: Bytes, len: Bytes, _: &SendSpace) -> bool {
        self.probe_due || self.has_room(cwnd, len)
    }

    #[inline]
    fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.phase == Phase::Open {
            return None;
        }
        if self.phase == Phase::Recovery {
            self.prr.settle(cwnd, self.board.pipe(), self.mss);
        }
        let hole = self.board.next_lost()?;
        let goes = std::mem::take(&mut self.first) || self.has_room(cwnd, hole.len());
        goes.then_some(hole)
    }

    /// Without new data, a probe is the last segment sent (§7.3).
    fn last_resort(&mut self, _: Bytes) -> Option<Range> {
        if self.probe_due { self.board.last() } else { None }
    }

    #[inline]
    fn rtt_from(&self) -> Option<Instant> {
        self.rtt_from
    }

    #[inline]
    fn newly_delivered(&self) -> Option<Bytes> {
        Some(self.newly_delivered)
    }

    #[inline]
    fn times_segments(&self) -> bool {
        true
    }

    /// Schedules a probe (§7.2): in no recovery, with nothing SACKed, one a tail.
    #[inline]
    fn arm(&mut self, clocks: &Clocks) {
        let probes = self.phase == Phase::Open
            && self.probe.is_none()
            && !self.board.is_empty()
            && self.board.sacked_segments() == 0;
        if !probes {
            self.probe_at = None;
            return;
        }
        let mut wait = clocks.srtt.map_or(FIRST_PROBE, |srtt| srtt * 2);
        if self.board.len() == 1 {
            wait += MAX_ACK_DELAY;
        }
        let at = clocks.now + wait;
        self.probe_at = Some(clocks.rto_at.map_or(at, |rto_at| at.min(rto_at)));
    }

    #[inline]
    fn timer(&self) -> Option<Instant> {
        match (self.reorder_at, self.probe_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn on_alarm(&mut self, now: Instant, send: &mut SendSpace) -> Alarm {
        if self.reorder_at.is_some_and(|at| at <= now) {
            let outstanding = send.max.since(send.una);
            if self.find_lost(now) > Bytes::ZERO && self.phase == Phase::Open {
                self.enter(outstanding, send);
                self.prr.on_ack(Bytes::ZERO, false);
                return Alarm::LossFound;
            }
            return Alarm::None;
        }
        self.probe_at = None;
        self.probe_due = true;
        Alarm::Probe
    }
}
