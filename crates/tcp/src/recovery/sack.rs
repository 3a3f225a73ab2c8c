//! SACK-based recovery: RFC 6675 §5, and with it the choice of [`Prr`] (RFC 9937) for how much goes
//! out during the repair.
//!
//! DEVIATION(rfc2018 §8): after a timeout the SACK information is kept, and everything else is sent
//! again as slow start allows, as on Linux. It is forgotten once the segment at the left edge is SACKed,
//! which shows that the receiver has reneged.

use ackclock_laws::words::{Described, Word};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant, Mss};

use super::contract::{
    About, AckSeen, Outcome, Recovery, Repairing, SendSpace, SentSegment, Tally, split_dsack,
};
use super::prr::Prr;
use super::repair::{Phase, Repair};
use crate::config::RecoveryConfig;
use crate::scoreboard::{AckFacts, Change, Scoreboard};

/// The rule of how much goes out during a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// As the window has room for.
    None,
    /// In proportion to what is delivered.
    Proportional,
}

impl Reduction {
    fn prr(self) -> Option<Prr> {
        (self == Self::Proportional).then(Prr::default)
    }
}

/// SACK-based recovery.
#[derive(Clone, Debug)]
// What every ACK touches comes first.
#[repr(C)]
pub struct Sack {
    duplicates: u32,
    /// The one rescue retransmission of the episode has not gone out (§4 `NextSeg` rule 4).
    may_rescue: bool,
    pub(super) repair: Repair,
}

impl Sack {
    /// Recovery by pipe alone, or by proportional rate reduction.
    pub fn new(reduction: Reduction, config: RecoveryConfig) -> Self {
        Self {
            repair: Repair::new(Scoreboard::default(), reduction.prr(), config),
            duplicates: 0,
            may_rescue: false,
        }
    }

    /// The recovery of [`new`](Self::new), in the memory of this one.
    pub fn reset(&mut self, reduction: Reduction, config: RecoveryConfig) {
        let Self { repair, duplicates, may_rescue } = self;
        repair.board.reset();
        repair.reset(reduction.prr(), config);
        *duplicates = 0;
        *may_rescue = false;
    }

    /// Takes in any ACK.
    pub(super) fn on_any(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> Outcome {
        let (dsack, blocks) = split_dsack(ack.sack, send.una);
        let mut told = AckFacts::at(ack.now, ack.min_rtt);
        let _ = self.repair.take(ack, dsack, blocks, send, &mut told);
        let advanced = ack.newly_acked > Bytes::ZERO;
        if let Some(outcome) = self.repair.progress(ack, &mut told, send) {
            self.duplicates = 0;
            self.repair.deliver(advanced);
            return outcome;
        }
        let outcome = match self.repair.phase {
            Phase::Open => {
                if advanced {
                    self.duplicates = 0;
                } else if send.una < send.max
                    && (told.newly_sacked > Bytes::ZERO || blocks.is_empty())
                {
                    // With nothing outstanding an ACK is no duplicate (RFC 5681 §2), whatever its D-SACK tells.
                    self.duplicates += 1;
                }
                let by_count = self.duplicates >= self.repair.config.reordering;
                if !(self.repair.board.is_first_lost() || by_count) {
                    self.repair.deliver(advanced);
                    return Outcome::None;
                }
                self.repair.board.first_is_lost();
                self.may_rescue = true;
                let outstanding = send.max.since(send.una) + ack.newly_acked + told.newly_sacked;
                self.repair.enter(outstanding, ack.cwnd, send);
                Outcome::LossFound
            }
            Phase::Recovery if !advanced => Outcome::None,
            Phase::Recovery => {
                self.repair.finds_loss_by_duplicates(true);
                Outcome::PartlyRepaired { restart_timer: true }
            }
            Phase::AfterTimeout => return Outcome::None,
        };
        self.repair.deliver(advanced && told.newly_lost == Bytes::ZERO);
        outcome
    }
}

impl Described for Sack {
    type Settings = Reduction;

    const WORDS: &'static [Word<Reduction>] = &[
        Word::alone("sack", Reduction::None, "selective acknowledgments (RFC 6675)"),
        Word::alone(
            "prr",
            Reduction::Proportional,
            "SACK with proportional rate reduction (RFC 9937)",
        ),
    ];
}

impl Repairing for Sack {
    fn about(settings: Reduction) -> About {
        let leaves_window = settings == Reduction::None;
        About { needs_sack: true, leaves_window, ..About::PLAIN }
    }

    fn make(settings: Reduction, config: RecoveryConfig) -> Self {
        Self::new(settings, config)
    }
}

impl Recovery for Sack {
    fn on_established(&mut self, mss: Mss) {
        self.repair.mss = mss;
    }

    #[inline]
    fn board(&self) -> Option<&Scoreboard> {
        Some(&self.repair.board)
    }

    #[inline]
    fn board_mut(&mut self) -> Option<&mut Scoreboard> {
        Some(&mut self.repair.board)
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.repair.is_open()
    }

    #[inline]
    fn hurries(&self) -> bool {
        self.repair.hurries()
    }

    #[inline]
    fn has_timer(&self) -> bool {
        false
    }

    #[inline]
    fn on_sent(&mut self, sent: &SentSegment) {
        self.repair.on_sent(sent);
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        if ack.sack.is_empty() && ack.newly_acked > Bytes::ZERO && self.repair.take_plain(ack, send)
        {
            self.duplicates = 0;
            return Outcome::None;
        }
        self.on_any(ack, send)
    }

    fn on_timeout(&mut self, _: Instant, send: &mut SendSpace) {
        // The segments that a reneging receiver had SACKed are lost, too.
        let _ = self.repair.on_timeout(send);
        self.repair.board.all_is_lost();
        self.duplicates = 0;
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        self.repair.phase == Phase::Recovery
    }

    #[inline]
    fn in_flight(&self, _: &SendSpace) -> Bytes {
        self.repair.board.pipe()
    }

    #[inline]
    fn allows(&self, cwnd: Bytes, len: Bytes, _: &SendSpace) -> bool {
        self.repair.has_room(cwnd, len)
    }

    #[inline]
    fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        self.repair.next_again(cwnd)
    }

    #[inline]
    fn rtt_from(&self) -> Option<Instant> {
        self.repair.rtt_from()
    }

    #[inline]
    fn times_segments(&self) -> bool {
        true
    }

    fn leave_to_law(&mut self, keeps_journal: bool) {
        self.repair.leave_to_law(keeps_journal);
    }

    fn journal(&mut self) -> Option<&mut Vec<Change>> {
        self.repair.board.journal()
    }

    fn waits_to_resend(&mut self) -> bool {
        self.repair.board.next_lost().is_some()
    }

    fn last_resort(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.repair.phase != Phase::Recovery {
            return self.repair.nothing_new(cwnd);
        }
        let board = &mut self.repair.board;
        if board.next_lost().is_some() {
            return None;
        }
        let range = match board.next_doubtful() {
            Some(range) => range,
            None => board.last_unsacked().filter(|_| std::mem::take(&mut self.may_rescue))?,
        };
        self.repair.has_room(cwnd, range.len()).then_some(range)
    }

    fn begin_reduction(&mut self, prior: Bytes, max: Seq, advanced: Option<bool>) {
        self.repair.begin_reduction(prior, max, advanced);
    }

    fn end_reduction(&mut self) {
        self.repair.end_reduction();
    }

    #[inline]
    fn newly_delivered(&self) -> Option<Bytes> {
        Some(self.repair.newly_delivered())
    }

    fn grows_on_sack(&self) -> bool {
        self.repair.grows_on_sack()
    }

    fn window(&self, cwnd: Bytes) -> Bytes {
        self.repair.window(cwnd)
    }

    fn tally(&self, _: &SendSpace, _: Mss) -> Tally {
        self.repair.tally()
    }

    fn do_without_sack(&mut self) {
        self.repair.do_without_sack();
    }
}
