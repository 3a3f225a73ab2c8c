//! SACK-based recovery: RFC 6675 §5, and with it the choice of [`Prr`] (RFC 9937) for how much goes
//! out during the repair.
//!
//! DEVIATION(rfc6675 §5.1): after a timeout the SACK information is kept, and everything else is sent
//! again as slow start allows. RFC 2018 §8 would have it forgotten, in case the receiver reneges;
//! no receiver here does.

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant, Mss};

use super::{AckSeen, DUP_THRESH, Outcome, Prr, Recovery, SendSpace, SentSegment};
use crate::scoreboard::{Scoreboard, Told};

/// What is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing.
    Open,
    /// What was lost before `recover` (RFC 6675's `RecoveryPoint`).
    Recovery,
    /// Everything before `recover`, after a timeout; the window grows meanwhile.
    AfterTimeout,
}

/// SACK-based recovery.
#[derive(Clone, Debug)]
pub struct Sack {
    board: Scoreboard,
    phase: Phase,
    recover: Seq,
    duplicates: u32,
    /// The fast retransmit has not gone out yet: it does whatever the pipe holds.
    first: bool,
    /// The one rescue retransmission of the episode has not gone out (§4 `NextSeg` rule 4).
    may_rescue: bool,
    mss: Mss,
    prr: Option<Prr>,
    rtt_from: Option<Instant>,
    newly_delivered: Bytes,
}

impl Sack {
    /// Recovery by pipe alone, or by proportional rate reduction.
    pub fn new(prr: Option<Prr>) -> Self {
        Self {
            board: Scoreboard::default(),
            phase: Phase::Open,
            recover: Seq::default(),
            duplicates: 0,
            first: false,
            may_rescue: false,
            mss: Mss::default(),
            prr,
            rtt_from: None,
            newly_delivered: Bytes::ZERO,
        }
    }

    fn has_room(&self, cwnd: Bytes, len: Bytes) -> bool {
        match &self.prr {
            Some(prr) if self.phase == Phase::Recovery => len <= prr.budget(),
            _ => self.board.pipe() + len <= cwnd,
        }
    }

    fn enter(&mut self, ack: &AckSeen<'_>, told: &Told, send: &SendSpace) -> Outcome {
        self.board.first_is_lost();
        self.phase = Phase::Recovery;
        self.recover = send.max;
        self.first = true;
        self.may_rescue = true;
        if let Some(prr) = &mut self.prr {
            // RFC 9937 §6: what was in flight before this ACK, less what was SACKed before it.
            let outstanding = send.max.since(send.una) + ack.newly_acked + told.newly_sacked;
            prr.begin(outstanding.saturating_sub(self.board.sacked()));
        }
        Outcome::LossFound
    }
}

impl Recovery for Sack {
    #[inline]
    fn on_sent(&mut self, sent: &SentSegment) {
        if sent.again {
            self.board.on_resent(sent.start, sent.now);
        } else {
            self.board.on_sent(sent.start, sent.len, sent.now);
        }
        if self.phase == Phase::Recovery
            && let Some(prr) = &mut self.prr
        {
            prr.on_sent(sent.len);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        self.mss = ack.mss;
        let mut told = Told { now: ack.now, min_rtt: ack.min_rtt, ..Told::default() };
        if !ack.duplicate {
            self.board.on_cumulative_ack(send.una, &mut told);
        }
        self.board.on_sack(ack.sack, &mut told);
        self.rtt_from = told.rtt_from;
        self.newly_delivered = told.delivered(ack.newly_acked);
        if self.phase != Phase::Open && send.una >= self.recover {
            let was = std::mem::replace(&mut self.phase, Phase::Open);
            self.duplicates = 0;
            if was == Phase::Recovery {
                return Outcome::Repaired { at_most: None };
            }
        }
        let outcome = match self.phase {
            Phase::Open => {
                if !ack.duplicate {
                    self.duplicates = 0;
                } else if told.newly_sacked > Bytes::ZERO || ack.sack.is_empty() {
                    self.duplicates += 1;
                }
                if self.board.is_first_lost() || self.duplicates >= DUP_THRESH {
                    self.enter(ack, &told, send)
                } else {
                    return Outcome::None;
                }
            }
            Phase::Recovery if ack.duplicate => Outcome::None,
            Phase::Recovery => Outcome::PartlyRepaired { restart_timer: true },
            Phase::AfterTimeout => return Outcome::None,
        };
        if let Some(prr) = &mut self.prr {
            prr.on_ack(self.newly_delivered, !ack.duplicate && told.newly_lost == Bytes::ZERO);
        }
        outcome
    }

    fn on_timeout(&mut self, send: &mut SendSpace) {
        self.board.all_is_lost();
        self.phase = Phase::AfterTimeout;
        self.recover = send.max;
        self.duplicates = 0;
        self.first = false;
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
        self.has_room(cwnd, len)
    }

    #[inline]
    fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.phase == Phase::Open {
            return None;
        }
        if let Some(prr) = &mut self.prr
            && self.phase == Phase::Recovery
        {
            prr.settle(cwnd, self.board.pipe(), self.mss);
        }
        let hole = self.board.next_lost()?;
        let goes = std::mem::take(&mut self.first) || self.has_room(cwnd, hole.len());
        goes.then_some(hole)
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

    fn last_resort(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.phase != Phase::Recovery || self.board.next_lost().is_some() {
            return None;
        }
        let doubtful = self.board.next_doubtful();
        let range = match doubtful {
            Some(range) => range,
            None => self.board.last_unsacked().filter(|_| std::mem::take(&mut self.may_rescue))?,
        };
        self.has_room(cwnd, range.len()).then_some(range)
    }
}
