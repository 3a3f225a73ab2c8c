//! The common part of recoveries with a scoreboard: the phases of a repair, how much goes out during it,
//! and how a repair that was for nothing is noticed.
//!
//! A repair was for nothing if what seemed lost was only late. Three observations say so: an ACK
//! echoes a timestamp older than the first retransmission (Eifel, RFC 3522); DSACKs account for every
//! retransmission (RFC 3708); after a timeout, an ACK covers something that was sent once and that
//! the timeout took for lost, which F-RTO (RFC 5682 §3, with SACK) looks for by sending new data
//! before it goes on to repair.
//!
//! Without SACK each duplicate ACK counts as one segment that arrived (RFC 9937 §6), and the repair
//! goes from one partial ACK to the next as in RFC 6582.

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::contract::{AckSeen, Outcome, SendSpace, SentSegment, Tally};
use super::prr::Prr;
use crate::config::RecoveryConfig;
use crate::data::clock::timestamp_clock;
use crate::scoreboard::{AckFacts, Scoreboard};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is being repaired.
    #[default]
    Open,
    /// The data before `recover` is being repaired.
    Recovery,
    /// Everything before `recover`, after a timeout; the window grows meanwhile.
    AfterTimeout,
}

/// F-RTO (RFC 5682 §2.1 and §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frto {
    /// Not looking.
    #[default]
    Off,
    /// Step 1: the first segment went out again.
    Resent,
    /// Step 2b: new data goes out instead of what seems lost.
    Probing,
}

/// The facts that tell whether the repair was for nothing.
#[derive(Clone, Copy, Debug, Default)]
// Every ACK asks for the last alone.
#[repr(C)]
struct Undo {
    /// Retransmissions of this repair that no DSACK has accounted for; `None` while there was none.
    unaccounted: Option<u64>,
    /// When the first retransmission went out of those of which some may be under way, of whatever repair:
    /// an echo of a later time may be of any of them (Linux's `retrans_stamp`).
    first_resent_at: Option<Instant>,
    /// SND.UNA when the repair began: duplicates of data before it are none of this repair's
    /// (Linux's `undo_marker`).
    from: Seq,
    /// True if a DSACK has come.
    dsack: bool,
}

impl Undo {
    fn on_resent(&mut self, now: Instant, repairs: bool) {
        self.first_resent_at.get_or_insert(now);
        if repairs {
            *self.unaccounted.get_or_insert(0) += 1;
        }
    }

    fn on_dsack(&mut self, duplicate: Range, segments: u64) {
        if let Some(unaccounted) = &mut self.unaccounted
            && duplicate.end > self.from
        {
            *unaccounted = unaccounted.saturating_sub(segments);
            self.dsack = true;
        }
    }

    /// True if the ACK echoes a timestamp of before the first retransmission (RFC 3522 §3.2).
    fn is_echo_of_original(&self, echo: Option<u32>) -> bool {
        match (echo, self.first_resent_at) {
            // The clock wraps (RFC 7323 §5.2).
            (Some(echo), Some(first)) => echo.wrapping_sub(timestamp_clock(first)) > u32::MAX / 2,
            _ => false,
        }
    }

    fn all_accounted(&self) -> bool {
        self.dsack && self.unaccounted == Some(0)
    }
}

/// A repair, or none.
#[derive(Clone, Debug)]
// What every ACK touches comes first.
#[repr(C)]
pub(super) struct Repair {
    prr: Option<Prr>,
    undo: Undo,
    pub(super) phase: Phase,
    /// The fast retransmit has not gone out yet: it does whatever the pipe holds.
    first: bool,
    /// The window comes down without a loss (Linux's CWR), while nothing is being repaired.
    reducing: bool,
    /// The peer sends SACKs.
    pub(super) sack: bool,
    frto: Frto,
    pub(super) mss: Mss,
    duplicates: u32,
    /// The largest distance at which segments were seen reordered, in segments; at least the
    /// duplicate threshold.
    reordering: u32,
    /// The data that the last ACK showed to have arrived.
    newly_delivered: Bytes,
    /// `NEVER` if the last ACK measured nothing.
    rtt_from: Instant,
    pub(super) board: Scoreboard,
    /// The end of the repair (RFC 6675's `RecoveryPoint`).
    recover: Seq,
    /// Nothing more was acknowledged since the last timeout.
    stuck: bool,
    reorderings: u32,
    /// Segments sent again since the connection began, and how many of them were reported as
    /// duplicates.
    resent_ever: u64,
    duplicates_reported: u64,
    pub(super) config: RecoveryConfig,
}

impl Repair {
    pub(super) fn new(board: Scoreboard, prr: Option<Prr>, config: RecoveryConfig) -> Self {
        Self {
            board,
            phase: Phase::Open,
            recover: Seq::default(),
            stuck: false,
            first: false,
            reducing: false,
            mss: Mss::default(),
            prr,
            rtt_from: Instant::NEVER,
            newly_delivered: Bytes::ZERO,
            undo: Undo::default(),
            frto: Frto::Off,
            sack: true,
            duplicates: 0,
            reordering: config.reordering,
            reorderings: 0,
            resent_ever: 0,
            duplicates_reported: 0,
            config,
        }
    }

    /// Begins anew as [`new`](Self::new) does, with the board as it is.
    pub(super) fn reset(&mut self, prr: Option<Prr>, config: RecoveryConfig) {
        let Self {
            board: _,
            phase,
            recover,
            stuck,
            first,
            reducing,
            mss,
            prr: proportional,
            rtt_from,
            newly_delivered,
            undo,
            frto,
            sack,
            duplicates,
            reordering,
            reorderings,
            resent_ever,
            duplicates_reported,
            config: settings,
        } = self;
        *phase = Phase::Open;
        *recover = Seq::default();
        *stuck = false;
        *first = false;
        *reducing = false;
        *mss = Mss::default();
        *proportional = prr;
        *rtt_from = Instant::NEVER;
        *newly_delivered = Bytes::ZERO;
        *undo = Undo::default();
        *frto = Frto::Off;
        *sack = true;
        *duplicates = 0;
        *reordering = config.reordering;
        *reorderings = 0;
        *resent_ever = 0;
        *duplicates_reported = 0;
        *settings = config;
    }

    /// The growth law alone says how much goes out during a repair.
    pub(super) fn leave_to_law(&mut self, keeps_journal: bool) {
        self.prr = None;
        if keeps_journal {
            self.board.keep_journal();
        }
    }

    /// The peer does not send SACKs: duplicate ACKs say how much arrived, and nothing says what.
    pub(super) fn do_without_sack(&mut self) {
        self.sack = false;
        self.board.keep_no_journal();
    }

    #[inline]
    pub(super) fn on_sent(&mut self, sent: &SentSegment) {
        if sent.again {
            self.on_resent(sent);
        } else {
            self.board.on_sent(sent.start, sent.len, sent.now);
        }
        if self.is_proportional()
            && let Some(prr) = &mut self.prr
        {
            // Linux counts segments.
            let whole = self.config.whole_segments;
            prr.on_sent(if whole { self.mss.bytes() } else { sent.len });
        }
    }

    /// Takes in an ACK that advances and has no SACK blocks, while nothing is being repaired and
    /// nothing is amiss; false, and nothing is done, if that is not so.
    #[inline]
    pub(super) fn take_plain(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> bool {
        if self.phase != Phase::Open || self.undo.dsack || self.reducing {
            return false;
        }
        let Some(last) = self.board.on_plain_ack(send.una) else { return false };
        self.mss = ack.mss;
        self.duplicates = 0;
        self.rtt_from = last.unwrap_or(Instant::NEVER);
        self.newly_delivered = ack.newly_acked;
        true
    }

    /// Takes in what an ACK tells, and adds that to `told`; `dsack` is its first block, if that reports a duplicate.
    /// True if a retransmission was the duplicate, as far as can be known.
    #[inline]
    pub(super) fn take(
        &mut self,
        ack: &AckSeen<'_>,
        dsack: Option<Range>,
        blocks: &[Range],
        send: &SendSpace,
        told: &mut AckFacts,
    ) -> bool {
        self.mss = ack.mss;
        if ack.newly_acked > Bytes::ZERO {
            self.duplicates = 0;
            self.stuck = false;
            self.board.on_cumulative_ack(send.una, told);
        }
        let again = dsack.is_some_and(|duplicate| self.on_dsack(duplicate, told));
        let cumulative = told.last_sent_at;
        if self.sack {
            if blocks.iter().all(|block| block.end <= send.max) {
                self.board.on_sack(blocks, told);
            } else {
                self.take_possible(blocks, send, told);
            }
        } else if ack.duplicate {
            self.duplicates += 1;
            self.board.on_duplicate(self.mss.bytes(), told);
        }
        // What is acknowledged cumulatively is looked at last, as Linux does.
        told.last_sent_at = cumulative.or(told.last_sent_at);
        // Not copied as a whole, as it was just written in parts.
        self.rtt_from = told.rtt_from.unwrap_or(Instant::NEVER);
        if let Some(from) = told.reordered_from {
            self.note_reordering(from);
        }
        self.newly_delivered = told.delivered(ack.newly_acked);
        again
    }

    /// Blocks of which one reports what was never sent: that one says nothing (Linux's `tcp_is_sackblock_valid`).
    #[cold]
    fn take_possible(&mut self, blocks: &[Range], send: &SendSpace, told: &mut AckFacts) {
        for block in blocks.iter().filter(|block| block.end <= send.max) {
            self.board.on_sack(std::slice::from_ref(block), told);
        }
    }

    /// A segment that begins at `from` came after others that were sent later.
    fn note_reordering(&mut self, from: Seq) {
        self.reorderings += 1;
        let distance = self.board.highest_delivered().since(from).get();
        let segments = distance.div_ceil(self.mss.bytes().get());
        self.reordering = self.reordering.max(u32::try_from(segments).unwrap_or(u32::MAX));
    }

    /// A duplicate was reported. More of them than retransmissions come from a network that duplicates, and say
    /// nothing of this sender (RFC 3708 §3; Linux's `tcp_dsack_seen`). False if so.
    #[cold]
    fn on_dsack(&mut self, duplicate: Range, told: &mut AckFacts) -> bool {
        let segments = duplicate.len().get().div_ceil(self.mss.bytes().get());
        self.duplicates_reported += segments;
        if self.duplicates_reported > self.resent_ever {
            return false;
        }
        self.undo.on_dsack(duplicate, segments);
        if let Some(from) = self.board.repeated_after_delivery(duplicate) {
            // The segment is still on the board, so that its first copy has come out of order and the second for
            // nothing (Linux's `tcp_sacktag_one`).
            told.reordered_from = Some(told.reordered_from.map_or(from, |low| low.min(from)));
        }
        true
    }

    /// The meaning of the ACK for a repair that is under way: that it is over, or was for nothing.
    #[inline]
    pub(super) fn progress(
        &mut self,
        ack: &AckSeen<'_>,
        told: &mut AckFacts,
        send: &SendSpace,
    ) -> Option<Outcome> {
        let advanced = ack.newly_acked > Bytes::ZERO;
        if self.phase == Phase::Open {
            // The DSACK of the last retransmission comes when all is acknowledged.
            if self.undo.dsack && self.undo.all_accounted() && self.config.undo {
                self.undo = self.fresh_undo(Seq::default());
                return Some(Outcome::Spurious);
            }
            return None;
        }
        let over = send.una >= self.recover;
        let original = advanced && self.undo.is_echo_of_original(ack.echo);
        let was_late = self.config.undo && (original || self.undo.all_accounted());
        if was_late && original && !over && told.reordered_from.is_none() {
            // A late original has filled the hole, although the segment was sent again meanwhile: it was
            // reordered (Linux's `tcp_try_undo_partial`).
            let hole = Seq::new(send.una.get() - ack.newly_acked.get());
            told.reordered_from = Some(hole);
            self.note_reordering(hole);
        }
        if was_late || self.timeout_was_spurious(ack, over, told, send) {
            self.board.nothing_is_lost();
            self.close();
            self.undo = self.fresh_undo(Seq::default());
            return Some(Outcome::Spurious);
        }
        if over {
            let was = self.phase;
            self.close();
            if !self.board.awaits_retransmission() {
                // From here on an echo says nothing of the repair.
                self.undo.first_resent_at = None;
            }
            if was == Phase::Recovery {
                return Some(Outcome::Repaired { at_most: None });
            }
        }
        None
    }

    /// The facts with which a repair that begins at `from` begins.
    fn fresh_undo(&self, from: Seq) -> Undo {
        let first = self.undo.first_resent_at.filter(|_| self.board.awaits_retransmission());
        Undo { from, first_resent_at: first, ..Undo::default() }
    }

    fn close(&mut self) {
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.frto = Frto::Off;
    }

    /// F-RTO, steps 2 and 3.
    fn timeout_was_spurious(
        &mut self,
        ack: &AckSeen<'_>,
        over: bool,
        told: &AckFacts,
        send: &SendSpace,
    ) -> bool {
        if self.frto == Frto::Off || self.phase != Phase::AfterTimeout {
            return false;
        }
        if self.frto == Frto::Probing {
            // New data stood in for the repair on one ACK alone.
            self.frto = if send.max > self.recover { Frto::Resent } else { Frto::Off };
        }
        // Step 3b: of what the timeout took for lost, something sent once has arrived. Without SACK an ACK of something
        // that was sent again tells nothing: the rest may have arrived before.
        let tells = self.sack || told.rtt_from.is_some();
        if tells && told.original_end.is_some_and(|end| end <= self.recover) {
            return true;
        }
        if send.max > self.recover {
            // Step 3a: an ACK that reports a hole says that the loss was real.
            if told.newly_sacked > Bytes::ZERO || ack.duplicate {
                self.frto = Frto::Off;
            }
        } else if self.frto == Frto::Resent && ack.newly_acked > Bytes::ZERO && !over {
            self.frto = Frto::Probing;
        }
        false
    }

    /// Losses were found while the window was `cwnd`, and `outstanding` had not been acknowledged
    /// before what showed them.
    pub(super) fn enter(&mut self, outstanding: Bytes, cwnd: Bytes, send: &SendSpace) {
        self.phase = Phase::Recovery;
        // A loss in CWR costs no more: the count goes on, and it ends where CWR would have (Linux's `tcp_enter_recovery`).
        let goes_on = std::mem::take(&mut self.reducing) && send.una <= self.recover;
        if !goes_on {
            self.recover = send.max;
        }
        self.first = !goes_on || self.prr.is_none();
        self.undo = self.fresh_undo(send.una);
        self.frto = Frto::Off;
        let out_before = self.board.resent_segments();
        if out_before > 0 {
            // A retransmission of before may still be reported as a duplicate.
            self.undo.unaccounted = Some(out_before);
        }
        if let Some(prr) = self.prr.as_mut().filter(|_| !goes_on) {
            // RFC 9937 §6: what was in flight before this ACK, less what was SACKed before it.
            let flight = outstanding.saturating_sub(self.board.sacked());
            // Linux still counts from the window, as RFC 6937 §3 allowed.
            prr.begin(if self.config.whole_segments { cwnd } else { flight });
        }
    }

    /// The window comes down from `prior` to what the law says from now on, without a loss, until `max` is acknowledged.
    /// The last ACK counts if `advanced` says whether it moved SND.UNA; else all of `prior` may be used until the next one.
    pub(super) fn begin_reduction(&mut self, prior: Bytes, max: Seq, advanced: Option<bool>) {
        if self.phase != Phase::Open {
            return;
        }
        (self.reducing, self.recover) = (true, max);
        if let Some(prr) = &mut self.prr {
            prr.begin(prior);
            prr.grant(prior.saturating_sub(self.board.pipe()));
        }
        if let Some(advanced) = advanced {
            self.deliver(advanced);
        }
    }

    /// The window is what the law says.
    pub(super) const fn end_reduction(&mut self) {
        self.reducing = false;
    }

    /// True if PRR says how much goes out, where there is one.
    #[inline]
    const fn is_proportional(&self) -> bool {
        matches!(self.phase, Phase::Recovery) || self.reducing
    }

    /// The third duplicate ACK, or a partial one, where the peer sends no SACKs.
    pub(super) fn finds_loss_by_duplicates(&mut self, advanced: bool) -> bool {
        if self.sack {
            return false;
        }
        let lost = match self.phase {
            Phase::Open => self.duplicates >= self.config.reordering,
            Phase::Recovery => advanced,
            Phase::AfterTimeout => false,
        };
        if lost {
            self.board.first_is_lost();
        }
        lost
    }

    /// The deliveries of the ACK go to PRR; `safe` as RFC 9937 §6 has it.
    #[inline]
    pub(super) fn deliver(&mut self, safe: bool) {
        if self.is_proportional()
            && let Some(prr) = &mut self.prr
            && self.newly_delivered > Bytes::ZERO
        {
            prr.on_ack(self.newly_delivered, safe);
        }
    }

    /// A timer of recovery's own found the loss: nothing was delivered, and the fast retransmit goes
    /// out.
    pub(super) fn on_alarm(&mut self) {
        if let Some(prr) = &mut self.prr {
            // Linux takes the expiry for a delivery.
            let delivered = if self.config.whole_segments { self.mss.bytes() } else { Bytes::ZERO };
            prr.on_ack(delivered, false);
        }
    }

    /// A timeout; true if the receiver has reneged, so that all that it had SACKed counts as lost.
    ///
    /// The first segment cannot be SACKed at a receiver that has kept it: the cumulative ACK would cover it.
    /// RFC 2018 §8 then demands that all SACKs are forgotten and this segment is sent again (Linux:
    /// `tcp_timeout_mark_lost`).
    pub(super) fn on_timeout(&mut self, send: &SendSpace) -> bool {
        let reneged = self.board.forget_sacks_if_reneged();
        // RFC 5682 §2.1 and §3.1, step 1: neither in a fast recovery nor in the repair of another timeout. Linux does look
        // after timeouts in a row.
        let again = self.phase == Phase::AfterTimeout && self.stuck;
        let looks = self.phase == Phase::Open || (again && self.config.forward_rto_again);
        self.frto =
            if looks && self.config.forward_rto && !reneged { Frto::Resent } else { Frto::Off };
        if self.phase != Phase::AfterTimeout {
            self.undo = self.fresh_undo(send.una);
        }
        self.phase = Phase::AfterTimeout;
        self.reducing = false;
        self.stuck = true;
        self.recover = send.max;
        self.duplicates = 0;
        // RFC 6298 §5.4: what is under way and not yet lost by time may fill more than the window of
        // one segment, and without this retransmission no timer would run.
        self.first = true;
        reneged
    }

    /// True if the receiver has reneged and the timeout that repairs it is to come soon.
    #[inline]
    pub(super) fn hurries(&self) -> bool {
        self.board.has_reneged() && self.config.hurries_after_reneging
    }

    /// True if nothing is being repaired.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// True if there is room for `len`, new or sent again. Linux's window counts segments, a FIN alone as one.
    #[inline]
    pub(super) fn has_room(&self, cwnd: Bytes, len: Bytes) -> bool {
        let len = if self.config.whole_segments { self.mss.bytes() } else { len };
        match &self.prr {
            Some(prr) if self.is_proportional() => len <= prr.budget(),
            _ if self.config.whole_segments => {
                self.mss.times(self.board.pipe_segments() + 1) <= cwnd
            }
            _ => self.board.pipe() + len <= cwnd,
        }
    }

    #[inline(never)]
    fn on_resent(&mut self, sent: &SentSegment) {
        self.board.on_resent(sent.start, sent.now);
        self.resent_ever += 1;
        self.undo.on_resent(sent.now, self.phase != Phase::Open);
    }

    #[inline]
    pub(super) fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.phase == Phase::Open && !self.reducing { None } else { self.next_of_repair(cwnd) }
    }

    fn next_of_repair(&mut self, cwnd: Bytes) -> Option<Range> {
        self.settle(cwnd);
        if self.phase == Phase::Open || self.frto == Frto::Probing {
            return None;
        }
        let hole = self.board.next_lost()?;
        let goes = std::mem::take(&mut self.first) || self.has_room(cwnd, hole.len());
        goes.then_some(hole)
    }

    /// There is no new data with which F-RTO could probe: the repair goes on (§2.1 step 2b).
    pub(super) fn nothing_new(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.frto != Frto::Probing
            || self.board.last().is_none_or(|last| last.end > self.recover)
        {
            return None;
        }
        self.frto = Frto::Off;
        self.next_again(cwnd)
    }

    fn settle(&mut self, cwnd: Bytes) {
        if self.is_proportional()
            && let Some(prr) = &mut self.prr
        {
            prr.settle(cwnd, self.board.pipe(), self.mss, self.config.whole_segments);
        }
    }

    /// The window as PRR has it (RFC 9937 §6: `cwnd = inflight + SndCnt`).
    pub(super) fn window(&self, cwnd: Bytes) -> Bytes {
        match &self.prr {
            Some(prr) if self.is_proportional() => {
                // As the next segment would find it.
                let mut prr = *prr;
                let pipe = self.board.pipe();
                prr.settle(cwnd, pipe, self.mss, self.config.whole_segments);
                pipe + prr.budget()
            }
            _ => cwnd,
        }
    }

    #[inline]
    pub(super) const fn rtt_from(&self) -> Option<Instant> {
        self.rtt_from.if_ever()
    }

    #[inline]
    pub(super) const fn newly_delivered(&self) -> Bytes {
        self.newly_delivered
    }

    pub(super) fn tally(&self) -> Tally {
        Tally {
            unacked: self.board.len() as u64,
            sacked: self.board.sacked_segments(),
            lost: self.board.lost_segments(),
            resent: self.board.resent_segments(),
            reordering: self.reordering,
            reorderings: self.reorderings,
            after_timeout: self.phase == Phase::AfterTimeout,
        }
    }

    /// True if segments come so far reordered that SACKs, too, let the window grow.
    pub(super) const fn grows_on_sack(&self) -> bool {
        self.config.grow_on_sack && self.reordering > self.config.reordering
    }

    /// The wait beyond the moment that a timer would be for.
    pub(super) const fn slack(&self) -> Duration {
        self.config.timer_slack
    }

    /// The moment at which a timer expires that is set for `wait`.
    ///
    /// Linux counts in ticks. It rounds the wait up, and the wheel of its timers adds a tick so that none is early; from 63
    /// ticks on the wheel has steps of 8, from 504 on of 64 (`calc_wheel_index` of `kernel/time/timer.c`).
    pub(super) fn expiry(&self, now: Instant, wait: Duration) -> Instant {
        let tick = self.config.timer_tick.as_nanos();
        if tick == 0 {
            return now + wait;
        }
        let ticks = wait.as_nanos().div_ceil(tick);
        let mut step = 1;
        while ticks >= 63 * step {
            step *= 8;
        }
        let expires = ((now.as_nanos() / tick + ticks) / step + 1) * step;
        Instant::START + Duration::from_nanos(expires * tick)
    }
}
