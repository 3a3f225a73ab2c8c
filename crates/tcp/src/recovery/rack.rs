//! RACK-TLP: RFC 8985 (February 2021), with proportional rate reduction (RFC 9937) for how much goes
//! out.
//!
//! A segment is lost when one that was sent sufficiently later has been delivered; the tail of a
//! flight, after which nothing is sent, is probed.
//!
//! DEVIATION(rfc8985 §6.2): `min_rtt` is the least of the connection, not of a window of time; the
//! paths here do not become shorter.

use ackclock_laws::words::{Described, Word};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::contract::{
    About, AckSeen, Alarm, Clocks, Outcome, Recovery, Repairing, SendSpace, SentSegment, Tally,
    split_dsack,
};
use super::prr::Prr;
use super::repair::{Phase, Repair};
use crate::config::RecoveryConfig;
use crate::scoreboard::{AckFacts, Change, Delivered, Scoreboard};

/// The longest that a receiver delays an ACK, `TLP.max_ack_delay` (§7.2): Linux's minimum RTO.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// The probe timeout before the first round-trip time (§7.2).
const FIRST_PROBE: Duration = Duration::from_secs(1);
/// Recoveries without a DSACK after which the reordering window is narrow again (§6.2 step 4,
/// `RACK.reo_wnd_persist`).
const REO_WND_PERSIST: u32 = 16;

/// The timer that was last set, where [one serves](RecoveryConfig::one_timer) for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SetBy {
    /// An ACK of new data.
    #[default]
    Ack,
    /// New data that went out after it.
    NewData,
    /// The first segment went out again.
    First,
    /// A probe went out.
    Probe,
}

/// A tail loss probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// SND.NXT when it was sent, `TLP.end_seq`.
    end: Seq,
    /// True if it was sent before: `TLP.is_retrans`.
    again: bool,
}

/// RACK-TLP.
#[derive(Clone, Debug)]
// What every ACK touches comes last.
#[repr(C)]
pub struct Rack {
    dsack_round: Option<Seq>,
    /// `RACK.reo_wnd_mult` and its two counters: the round in which a DSACK widened it last, and the
    /// recoveries that it lasts.
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    /// SND.MAX when a probe's repair last cost window: other losses of that flight cost no more (RFC
    /// 3168 §6.1.2 says once a window).
    paid_until: Seq,
    reordering_seen: bool,
    probe_due: bool,
    set_by: SetBy,
    probe: Option<Probe>,
    /// When the retransmission timer is to expire; `NEVER` if that stays as it is.
    timeout_at: Instant,
    /// When a repair proved to be for nothing.
    undone_at: Instant,
    /// When something not yet lost will be.
    reorder_at: Instant,
    /// When a probe is due.
    probe_at: Instant,
    /// `RACK.segment`, before all others if there is none, and the round-trip time of it.
    newest: Delivered,
    rtt: Duration,
    min_rtt: Duration,
    srtt: Duration,
    pub(super) repair: Repair,
}

impl Rack {
    /// Before anything is sent.
    pub fn new(config: RecoveryConfig) -> Self {
        Self {
            repair: Repair::new(Scoreboard::by_time(), Some(Prr::default()), config),
            newest: Delivered::default(),
            rtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            srtt: Duration::ZERO,
            reordering_seen: false,
            reo_wnd_mult: 1,
            dsack_round: None,
            reo_wnd_persist: REO_WND_PERSIST,
            reorder_at: Instant::NEVER,
            probe_at: Instant::NEVER,
            probe_due: false,
            set_by: SetBy::default(),
            timeout_at: Instant::NEVER,
            undone_at: Instant::NEVER,
            probe: None,
            paid_until: Seq::default(),
        }
    }

    /// The reordering window (§6.2 step 4).
    fn reo_wnd(&self) -> Duration {
        let settled = self.repair.phase != Phase::Open
            || self.repair.board.sacked_segments() >= u64::from(self.repair.config.reordering);
        if !self.reordering_seen && settled {
            return Duration::ZERO;
        }
        (self.min_rtt * u64::from(self.reo_wnd_mult) / 4).min(self.srtt)
    }

    fn find_lost(&mut self, now: Instant) -> Bytes {
        if self.counts_duplicates() {
            self.reorder_at = Instant::NEVER;
            return Bytes::ZERO;
        }
        let mut lost = Bytes::ZERO;
        let wait = self.rtt + self.reo_wnd();
        let at = self.repair.board.find_lost_by_time(self.newest, wait, now, &mut lost);
        let expiry = |at: Instant| self.repair.expiry(now, at.since(now) + self.repair.slack());
        self.reorder_at = at.map_or(Instant::NEVER, expiry);
        if at.is_some() && self.repair.config.one_timer {
            self.probe_at = Instant::NEVER;
        }
        lost
    }

    /// Sets the timer for what is late after a repair that was for nothing; it expires at once for what is lost already.
    #[cold]
    fn await_lost(&mut self, now: Instant) {
        let wait = self.rtt + self.reo_wnd();
        let looks = !self.counts_duplicates();
        let deadlines = looks.then(|| self.repair.board.deadlines(self.newest, wait)).flatten();
        self.undone_at = now;
        self.reorder_at = match deadlines {
            None => Instant::NEVER,
            Some((first, _)) if first <= now => now,
            Some((first, _)) => self.repair.expiry(now, first.since(now) + self.repair.slack()),
        };
    }

    /// Sets the one timer as Linux's `tcp_set_xmit_timer`, `tcp_schedule_loss_probe` and `tcp_rearm_rto` do.
    fn arm_one(&mut self, clocks: &Clocks) {
        let set_by = std::mem::take(&mut self.set_by);
        let awaited = std::mem::replace(&mut self.probe_at, Instant::NEVER) != Instant::NEVER;
        let now = clocks.now;
        let Some(first) = self.repair.board.first_sent_at() else { return };
        let from_first = (first + clocks.rto).max(now);
        match set_by {
            // The timeout counts from the probe.
            SetBy::Probe => return,
            SetBy::First => {
                self.timeout_at = now + clocks.rto;
                return;
            }
            SetBy::Ack | SetBy::NewData => {}
        }
        if self.reorder_at != Instant::NEVER && !(set_by == SetBy::NewData && self.may_probe()) {
            self.timeout_at = from_first.max(self.reorder_at);
            return;
        }
        if !self.may_probe() {
            if awaited {
                self.timeout_at = from_first;
            }
            return;
        }
        self.reorder_at = Instant::NEVER;
        let wait = self.probe_wait(clocks);
        let wait = match set_by {
            SetBy::NewData if from_first > now => wait.min(from_first.since(now)),
            SetBy::NewData => wait,
            _ => wait.min(clocks.rto),
        };
        self.probe_at = self.repair.expiry(now, wait);
        // No timeout comes before the probe.
        self.timeout_at = clocks.rto_at.unwrap_or(now).max(self.probe_at);
    }

    /// In no recovery, with nothing SACKed.
    fn may_probe(&self) -> bool {
        let board = &self.repair.board;
        self.repair.phase == Phase::Open
            && !board.is_empty()
            && board.sacked_segments() == 0
            && self.repair.config.tail_loss_probe
            && self.repair.sack
    }

    fn probe_wait(&self, clocks: &Clocks) -> Duration {
        let wait = clocks.srtt.map_or(FIRST_PROBE, |srtt| srtt * 2);
        if self.repair.board.len() == 1 {
            wait + MAX_ACK_DELAY
        } else if clocks.srtt.is_some() {
            wait + self.repair.slack()
        } else {
            wait
        }
    }

    /// Without SACK Linux finds losses by duplicate ACKs alone (`tcp_identify_packet_loss`).
    const fn counts_duplicates(&self) -> bool {
        !self.repair.sack && self.repair.config.one_timer
    }

    /// True if a repair is over that found a loss in what was sent after its beginning: that one has yet to cost something,
    /// although it may have been sent again (Linux's `tcp_time_to_recover`).
    const fn loss_is_left(&self, was_repairing: bool) -> bool {
        let over = was_repairing && matches!(self.repair.phase, Phase::Open);
        over && self.repair.config.one_timer && self.repair.board.lost_segments() > 0
    }

    /// Takes in what a DSACK says. That a probe came twice tells nothing of reordering (Linux's `tcp_dsack_seen`).
    fn on_dsack(&mut self, duplicate: Range, send: &SendSpace) {
        let of_probe = self.probe.is_some_and(|probe| probe.again && probe.end == duplicate.end);
        let too_soon = self.repair.config.widens_after_reordering && !self.reordering_seen;
        if of_probe || too_soon {
            return;
        }
        if self.dsack_round.is_none_or(|round| send.una >= round) {
            self.dsack_round = Some(send.nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        }
    }

    /// True if this ACK shows that the probe repaired a loss (§7.4.2).
    fn probe_found_loss(&mut self, dsack: bool, send: &SendSpace) -> bool {
        let Some(probe) = self.probe.filter(|probe| send.una >= probe.end) else { return false };
        self.probe = None;
        probe.again && !dsack
    }

    /// The answer to an ACK by which nothing is amiss: as to any, but quicker.
    #[inline]
    fn go_on(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> Outcome {
        if let Some(at) = self.repair.rtt_from() {
            self.rtt = ack.now.since(at);
            let delivered = Delivered { at, end: self.repair.board.highest_delivered() };
            self.newest = self.newest.max(delivered);
        }
        if self.repair.board.begins_after(self.newest) || self.repair.config.one_timer {
            self.reorder_at = Instant::NEVER;
            return Outcome::None;
        }
        // Something that was sent before what was delivered is late.
        if self.find_lost(ack.now) == Bytes::ZERO {
            return Outcome::None;
        }
        let outcome = self.on_loss(send.max.since(send.una) + ack.newly_acked, ack.cwnd, send);
        self.repair.deliver(false);
        outcome
    }

    /// Losses were found while nothing was being repaired.
    fn on_loss(&mut self, outstanding: Bytes, cwnd: Bytes, send: &SendSpace) -> Outcome {
        self.enter(outstanding, cwnd, send);
        if send.una < self.paid_until {
            Outcome::PartlyRepaired { restart_timer: true }
        } else {
            Outcome::LossFound
        }
    }

    fn enter(&mut self, outstanding: Bytes, cwnd: Bytes, send: &SendSpace) {
        self.repair.enter(outstanding, cwnd, send);
        self.probe = None;
    }

    /// One timer has expired, and the next is the one for retransmission.
    fn count_from_first(&self) -> Alarm {
        match self.repair.board.first_sent_at() {
            Some(at) if self.repair.config.one_timer => Alarm::CountFrom(at),
            _ => Alarm::None,
        }
    }

    fn take_times(&mut self, ack: &AckSeen<'_>) {
        self.min_rtt = ack.min_rtt;
        self.srtt = ack.srtt.unwrap_or(ack.min_rtt);
    }

    /// Takes in any ACK.
    pub(super) fn on_any(&mut self, ack: &AckSeen<'_>, send: &SendSpace) -> Outcome {
        self.take_times(ack);
        let (dsack, blocks) = split_dsack(ack.sack, send.una);
        let disorder = self.repair.board.sacked_segments() > 0;
        let mut told = AckFacts::at(ack.now, ack.min_rtt);
        let again = self.repair.take(ack, dsack, blocks, send, &mut told);
        if let Some(duplicate) = dsack.filter(|_| again) {
            self.on_dsack(duplicate, send);
        }
        // §6.2 step 2: RACK.rtt is of every segment in turn, whether or not it is the newest.
        if let Some(sent_at) = told.last_sent_at {
            self.rtt = ack.now.since(sent_at);
        }
        if let Some(newest) = told.newest {
            self.newest = self.newest.max(newest);
        }
        let repairing = self.repair.phase != Phase::Open;
        let ended = self.repair.progress(ack, &mut told, send);
        self.reordering_seen |= told.reordered_from.is_some();
        let advanced = ack.newly_acked > Bytes::ZERO;
        match ended {
            Some(Outcome::Spurious) => {
                self.repair.deliver(advanced);
                if repairing {
                    self.await_lost(ack.now);
                }
                if self.repair.config.widens_after_reordering && dsack.is_some() {
                    // A repair that DSACKs have taken back is none to narrow the window for (`tcp_try_undo_dsack`).
                    self.reo_wnd_persist = (self.reo_wnd_persist + 1).min(REO_WND_PERSIST);
                }
                return Outcome::Spurious;
            }
            Some(Outcome::Repaired { .. }) => {
                self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
                if self.reo_wnd_persist == 0 {
                    self.reo_wnd_mult = 1;
                }
            }
            _ => {}
        }
        let dubious = repairing || disorder || dsack.is_some() || told.newly_sacked > Bytes::ZERO;
        let more = if dubious || !advanced || !self.repair.config.one_timer {
            self.find_lost(ack.now) > Bytes::ZERO
        } else {
            // Linux looks for losses if an ACK is dubious (`tcp_ack_is_dubious`).
            self.reorder_at = Instant::NEVER;
            false
        };
        let more =
            self.repair.finds_loss_by_duplicates(advanced) || more || self.loss_is_left(repairing);
        let open = self.repair.phase == Phase::Open;
        let by_probe = open && self.probe_found_loss(dsack.is_some(), send);
        let outcome = match self.repair.phase {
            Phase::Open if more => {
                let outstanding = send.max.since(send.una) + ack.newly_acked + told.newly_sacked;
                self.on_loss(outstanding, ack.cwnd, send)
            }
            Phase::Open if ended.is_some() => return Outcome::Repaired { at_most: None },
            Phase::Open if by_probe => {
                self.paid_until = send.max;
                return Outcome::LossFound;
            }
            Phase::AfterTimeout => return Outcome::None,
            Phase::Open => Outcome::None,
            Phase::Recovery if !advanced => Outcome::None,
            Phase::Recovery => Outcome::PartlyRepaired { restart_timer: true },
        };
        self.repair.deliver(advanced && !more);
        outcome
    }
}

impl Described for Rack {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "rack",
        (),
        "losses by time, tail loss probes (RFC 8985), proportional rate reduction",
    )];
}

impl Repairing for Rack {
    fn about((): ()) -> About {
        About { needs_sack: true, leaves_window: true, without_time: "prr" }
    }

    fn make((): (), config: RecoveryConfig) -> Self {
        Self::new(config)
    }
}

impl Recovery for Rack {
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
    fn moved_timeout(&mut self) -> Option<Instant> {
        std::mem::replace(&mut self.timeout_at, Instant::NEVER).if_ever()
    }

    #[inline]
    fn on_sent(&mut self, sent: &SentSegment) {
        self.repair.on_sent(sent);
        if std::mem::take(&mut self.probe_due) {
            let end = self.repair.board.last().map_or(sent.start, |last| last.end);
            self.probe = Some(Probe { end, again: sent.again });
            self.set_by = SetBy::Probe;
        } else if !sent.again {
            if self.set_by == SetBy::Ack {
                self.set_by = SetBy::NewData;
            }
        } else if self.in_recovery() && self.repair.board.begins_at(sent.start) {
            self.set_by = SetBy::First;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        if ack.sack.is_empty()
            && ack.newly_acked > Bytes::ZERO
            && self.probe.is_none()
            && self.repair.take_plain(ack, send)
        {
            self.take_times(ack);
            return self.go_on(ack, send);
        }
        self.on_any(ack, send)
    }

    fn on_timeout(&mut self, now: Instant, send: &mut SendSpace) {
        if self.repair.on_timeout(send) {
            self.repair.board.all_is_lost();
        } else {
            let wait = self.rtt + self.reo_wnd();
            self.repair.board.on_timeout_by_time(wait, now);
        }
        self.reorder_at = Instant::NEVER;
        self.probe_at = Instant::NEVER;
        self.probe_due = false;
        self.probe = None;
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
        self.probe_due || self.repair.has_room(cwnd, len)
    }

    #[inline]
    fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        self.repair.next_again(cwnd)
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

    /// Without new data, a probe is the last segment sent (§7.3).
    fn last_resort(&mut self, cwnd: Bytes) -> Option<Range> {
        if self.probe_due { self.repair.board.last() } else { self.repair.nothing_new(cwnd) }
    }

    fn probe_is_due(&self) -> bool {
        self.probe_due
    }

    #[inline]
    fn rtt_from(&self) -> Option<Instant> {
        self.repair.rtt_from()
    }

    #[inline]
    fn times_segments(&self) -> bool {
        true
    }

    /// Schedules a probe (§7.2): in no recovery, with nothing SACKed, one a tail.
    #[inline]
    fn arm(&mut self, clocks: &Clocks) {
        if self.repair.config.one_timer {
            self.arm_one(clocks);
            return;
        }
        if self.probe.is_some() || !self.may_probe() {
            self.probe_at = Instant::NEVER;
            return;
        }
        let at = clocks.now + self.probe_wait(clocks);
        self.probe_at = clocks.rto_at.map_or(at, |rto_at| at.min(rto_at));
    }

    #[inline]
    fn timer(&self) -> Option<Instant> {
        self.reorder_at.min(self.probe_at).if_ever()
    }

    fn on_alarm(&mut self, now: Instant, cwnd: Bytes, send: &mut SendSpace) -> Alarm {
        if self.reorder_at <= now {
            let outstanding = send.max.since(send.una);
            let wait = self.rtt + self.reo_wnd();
            if let Some((_, last)) = self.repair.board.deadlines(self.newest, wait)
                && last > now
                && self.reorder_at < last + self.repair.slack()
            {
                // The timer is for the last of what is late (§6.2 step 5), of which an ACK, that sets it, need not know.
                self.reorder_at = last + self.repair.slack();
                return Alarm::None;
            }
            if self.find_lost(now) > Bytes::ZERO && self.repair.phase == Phase::Open {
                self.enter(outstanding, cwnd, send);
                if self.undone_at == now {
                    // The ACK that took the last repair back begins this one.
                    self.repair.deliver(false);
                } else {
                    self.repair.on_alarm();
                }
                return if send.una < self.paid_until { Alarm::None } else { Alarm::LossFound };
            }
            return self.count_from_first();
        }
        self.probe_at = Instant::NEVER;
        if self.probe.is_some() {
            return self.count_from_first();
        }
        self.probe_due = true;
        Alarm::Probe
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
