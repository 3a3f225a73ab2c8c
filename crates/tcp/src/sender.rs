//! The sending half of a connection: sequence space, window, retransmission timer, and the four
//! choices.

mod hold;
mod jump;
mod law;
mod leap;
mod marks;
mod modelled;
mod outlying;
mod output;
mod pacing;
mod renewal;
mod states;
mod timers;
mod usage;

use ackclock_packet::{Range, SackBlocks, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::clock::timestamp_clock;
use crate::config::{Config, LossReduces, Nagle};
use crate::event::{
    Congestion, Established, Handshake, Limit, RecoveryEnd, RttSample, Signal, SlowStartStep,
};
use crate::growth::{AnyGrowth, Growth};
use crate::idle::{AnyIdle, Idle};
use crate::recovery::{
    self, AckSeen, AnyRecovery, Outcome, Recovery, SendSpace, SentSegment, Tally,
};
use crate::rtt::RttEstimator;
use crate::start::{AnyStart, Start};
use hold::{Hold, Patience};
use law::Law;
use marks::Marks;
use modelled::{BeforeAck, Modelled};
pub use output::{Follows, Stretch};
use pacing::Pacer;
use states::{States, Taken};

pub(crate) use hold::Then;
pub(crate) use leap::Leap;
pub use leap::LeapPhase;

/// What a sender counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// What every segment counts comes last: see the sender.
#[repr(C)]
pub struct SenderStats {
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window, timeouts included.
    pub congestion_events: u64,
    /// Reductions that were taken back because nothing had been lost.
    pub spurious: u64,
    /// Those whose first lost segment was sent during slow start, whatever the window did between
    /// the loss and its detection a round trip later.
    pub congestion_events_in_slow_start: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// The sum of srtt after each of them, in nanoseconds.
    pub srtt_sum_ns: u128,
    /// The sum of the retransmission timeout after each of them, in nanoseconds.
    pub rto_sum_ns: u128,
}

/// An ACK that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived<'a> {
    /// What it acknowledges.
    pub(crate) ack: Seq,
    /// The window that it advertises.
    pub(crate) window: Bytes,
    /// Whether the segment carried nothing else, as a duplicate ACK must (RFC 5681 §2).
    pub(crate) pure: bool,
    /// The timestamp that it echoes, if there is one.
    pub(crate) echo: Option<u32>,
    /// Its SACK blocks.
    pub(crate) sack: &'a [Range],
}

/// The sending half of a connection.
#[derive(Debug)]
// In the order of use, as the end point's: the first lines are nearly all that a receiver of data touches.
#[repr(C)]
pub struct Sender {
    /// What waits although the congestion window has room: for the application, the peer's window,
    /// or ever.
    hold: Hold,
    space: SendSpace,
    /// The number after the last byte that the application gave.
    end: Seq,
    /// When the retransmission timer expires, and recovery's own; `NEVER` while they do not run.
    timer: Instant,
    alarm: Instant,
    /// From when recovery's timer is to count, where it has not been set since; else `NEVER`. An ACK sets it, and
    /// each segment that is sent for it does.
    alarm_from: Instant,
    /// The receiver's window.
    rwnd: Bytes,
    /// When to look again whether a segment may leave, `NEVER` unless the pacer holds something back.
    paced_at: Instant,
    mss: Mss,
    /// What options beside the payload take of a full segment now.
    room_taken: u8,
    /// Whether the application closed: a FIN follows `end`.
    closed: bool,
    limited_by: Limit,
    /// Something was sent since the sender was last asked and said no, and whether the idle rule then
    /// wants to know.
    sent_in_burst: bool,
    looks_after_bursts: bool,
    /// Whether the law or the idle rule wants to know of ACKs that repair nothing.
    heeds_acks: bool,
    loss_reduces: LossReduces,
    /// Whether segments are paced.
    paces: bool,
    /// What a law that models the path asks for; `None` with any other.
    modelled: Option<Box<Modelled>>,
    /// `NEVER` until something was sent, and until all of it was acknowledged.
    last_send: Instant,
    all_acked_at: Instant,
    /// The segment being timed, by the number after it, and when it left (one at a time; RFC 6298
    /// §3 asks for at least one sample a round trip).
    timed: Option<(Seq, Instant)>,
    /// Timeouts in a row.
    consecutive_timeouts: u32,
    idle: AnyIdle,
    recovery: AnyRecovery,
    stats: SenderStats,
    rtt: RttEstimator,
    marks: Marks,
    states: States,
    growth: Law,
    /// SND.NXT when slow start last ended: what lies before it was sent during slow start. `None`
    /// while slow start lasts.
    avoidance_from: Option<Seq>,
    pacer: Pacer,
    patience: Patience,
    /// What the last reduction left of the window, and the bytes that had been sent again by then.
    reduced_to: Bytes,
    again_at_loss: u64,
    start: AnyStart,
    initial_window: Bytes,
    seed: u64,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let parts = config.parts;
        let idle = AnyIdle::new(parts.idle);
        let mut sender = Self {
            space: SendSpace::UNUSED,
            end: Seq::FIRST_BYTE,
            closed: false,
            mss: config.mss,
            room_taken: 0,
            rwnd: Bytes::ZERO,
            limited_by: Limit::Application,
            sent_in_burst: false,
            timer: Instant::NEVER,
            alarm: Instant::NEVER,
            alarm_from: Instant::NEVER,
            paces: false,
            paced_at: Instant::NEVER,
            consecutive_timeouts: 0,
            timed: None,
            last_send: Instant::NEVER,
            all_acked_at: Instant::NEVER,
            reduced_to: Bytes::ZERO,
            again_at_loss: 0,
            rtt: RttEstimator::new(config.rto),
            growth: Law::new(AnyGrowth::new(parts.growth)),
            recovery: AnyRecovery::new(parts.recovery, config.recovery),
            start: AnyStart::new(parts.window, parts.syn_loss, parts.slow_start),
            looks_after_bursts: idle.looks_after_bursts(),
            heeds_acks: true,
            idle,
            loss_reduces: config.loss_reduces,
            initial_window: Bytes::ZERO,
            avoidance_from: None,
            hold: Hold::new(config),
            patience: Patience::new(config),
            marks: Marks::new(config.ecn),
            states: States::new(config.states),
            stats: SenderStats::default(),
            modelled: None,
            pacer: Pacer::new(config.pacing),
            seed: config.seed,
        };
        sender.introduce();
        sender
    }

    /// Replaces the growth law by a user's own; before the handshake.
    pub fn set_growth(&mut self, growth: Box<dyn Growth>) {
        self.growth = Law::new(AnyGrowth::Other(growth));
        self.introduce();
    }

    /// The congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.growth.cwnd()
    }

    /// The slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.growth.ssthresh()
    }

    /// Whether the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.growth.in_slow_start()
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// The retransmission timeout, backed off as it is.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// The window in force: cwnd, or less of it while a repair is paced by what it delivers.
    pub fn window(&self) -> Bytes {
        self.recovery.window(self.growth.cwnd())
    }

    /// What recovery counts, in segments.
    pub fn tally(&self) -> Tally {
        self.recovery.tally(&self.space, self.mss)
    }

    /// Whether losses are being repaired, but for those of a timeout.
    pub fn in_recovery(&self) -> bool {
        self.recovery.in_recovery()
    }

    /// The round-trip time and the timeout that follows from it.
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The peer's window.
    pub const fn peer_window(&self) -> Bytes {
        self.rwnd
    }

    /// Timeouts in a row.
    pub const fn consecutive_timeouts(&self) -> u32 {
        self.consecutive_timeouts
    }

    /// Data acknowledged cumulatively since the connection began.
    pub fn acked(&self) -> Bytes {
        self.space.una.min(self.end).since(Seq::FIRST_BYTE)
    }

    /// Data that the application gave and that was never sent.
    pub fn unsent(&self) -> Bytes {
        self.end.since(self.space.max)
    }

    /// Data believed to be in the network.
    pub fn in_flight(&self) -> Bytes {
        self.recovery.in_flight(&self.space)
    }

    /// Payload bytes of a full segment, as agreed.
    pub const fn mss(&self) -> Mss {
        self.mss
    }

    /// Leaves so much of the next segments to options (RFC 6691 §3).
    #[inline]
    pub(crate) const fn leave_room(&mut self, bytes: u8) {
        self.room_taken = bytes;
    }

    /// The payload of a full segment at this moment.
    #[inline]
    fn full_payload(&self) -> Bytes {
        Bytes::new(self.mss.bytes().get().saturating_sub(u64::from(self.room_taken)).max(1))
    }

    /// What was counted so far.
    pub const fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Whether everything that the application gave, and the FIN if it closed, is acknowledged.
    pub fn all_acked(&self) -> bool {
        self.space.una >= self.final_seq()
    }

    /// Whether the FIN is acknowledged.
    pub fn fin_acked(&self) -> bool {
        self.closed && self.all_acked()
    }

    /// The number after the last that there is to send.
    fn final_seq(&self) -> Seq {
        if self.closed { self.end + Bytes::new(1) } else { self.end }
    }

    /// The peer does not send SACKs.
    pub(crate) fn do_without_sack(&mut self) {
        self.settle_alarm();
        self.recovery.do_without_sack();
        self.note_alarm();
    }

    pub(crate) fn write(&mut self, volume: Bytes, then: Then) {
        self.note_limits();
        self.end = self.end + volume;
        self.hold.on_write(then, self.end);
    }

    pub(crate) const fn set_cork(&mut self, cork: bool) {
        self.hold.set_cork(cork);
    }

    pub(crate) const fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the application has closed, so that a FIN follows what it gave.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether `ack` acknowledges something that was sent, or repeats the last acknowledgment.
    #[inline]
    pub(crate) fn accepts(&mut self, now: Instant, ack: Seq) -> bool {
        (self.space.una..=self.space.max).contains(&ack) || self.accepts_probe(now, ack)
    }

    /// Whether nothing is to be learnt from an ACK that repeats the last one with this `window`: nothing
    /// is under way, as at an end that only receives.
    #[inline]
    pub(crate) fn rests_at(&self, ack: Seq, window: Bytes) -> bool {
        ack == self.space.una
            && ack == self.space.max
            && window == self.rwnd
            && window <= self.hold.largest_window()
            && self.timer == Instant::NEVER
            && !self.hold.more()
    }

    /// Whether `ack` acknowledges more than any before.
    #[inline]
    pub(crate) fn advances_to(&self, ack: Seq) -> bool {
        ack > self.space.una
    }

    /// Whether `ack` acknowledges something that was never sent.
    pub(crate) fn is_ahead(&self, ack: Seq) -> bool {
        ack > self.space.max
    }

    /// Whether `ack` is older than anything that the largest window of the peer let be under way.
    pub(crate) fn is_ancient(&self, ack: Seq) -> bool {
        ack + self.hold.largest_window() < self.space.una
    }

    /// The number that a segment without data carries.
    pub(crate) const fn next_seq(&self) -> Seq {
        self.space.max
    }

    pub(crate) const fn set_rwnd(&mut self, rwnd: Bytes) {
        self.rwnd = rwnd;
    }

    pub(crate) const fn rwnd(&self) -> Bytes {
        self.rwnd
    }

    pub(crate) const fn set_nagle(&mut self, nagle: Nagle) {
        self.hold.set_nagle(nagle);
    }

    pub(crate) const fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.patience.set_user_timeout(timeout);
    }

    /// Whether the peer has not answered for so long that the connection is to end.
    #[inline]
    pub(crate) const fn gave_up(&self) -> bool {
        self.patience.gone()
    }

    /// The peer has what lies before `seq`: it came with the SYN (RFC 7413). Before the handshake is done.
    pub(crate) const fn begin_at(&mut self, seq: Seq) {
        self.space = SendSpace { una: seq, nxt: seq, max: seq };
    }

    /// A round-trip time that was measured outside.
    pub(crate) fn measure(&mut self, rtt: Duration) {
        self.rtt.on_sample(rtt, self.space.una, self.space.nxt);
    }

    /// The handshake is done. `rtt` is its round-trip time, unless one of its segments was sent
    /// again; with `three_seconds` the timeout is at least as long.
    pub(crate) fn on_established(
        &mut self,
        handshake: Handshake,
        rtt: Option<Duration>,
        three_seconds: bool,
    ) {
        self.mss = handshake.mss;
        if let Some(rtt) = rtt {
            self.rtt.on_sample(rtt, self.space.una, self.space.nxt);
        }
        if three_seconds {
            self.rtt.after_syn_timeout();
        }
        let proposal = self.start.on_established(&handshake);
        self.initial_window = proposal.cwnd.unwrap_or_else(|| self.mss.bytes());
        self.growth.rebase(&proposal);
        self.growth.on_established(&Established { srtt: self.rtt.srtt(), seed: self.seed });
        self.begin_pacing();
    }

    /// An acceptable ACK.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Instant, arrived: &Arrived<'_>) {
        let before = if self.modelled.is_some() { self.before_ack(now, arrived) } else { None };
        self.take_ack(now, arrived, before.as_ref());
        if let Some(before) = before {
            self.after_ack(now, &before);
        }
    }

    #[inline]
    fn take_ack(&mut self, now: Instant, arrived: &Arrived<'_>, before: Option<&BeforeAck>) {
        let newly_acked = arrived.ack.since(self.space.una);
        if self.hold.on_ack(arrived.window) {
            self.bound_mss();
        }
        if newly_acked > Bytes::ZERO {
            self.rwnd = arrived.window;
            let in_flight_before =
                before.map_or_else(|| self.in_flight(), |before| before.in_flight);
            self.on_new_data(now, arrived, newly_acked, in_flight_before);
            return;
        }
        let unchanged = arrived.window == self.rwnd;
        self.rwnd = arrived.window;
        if self.space.una == self.space.max && self.timer != Instant::NEVER {
            self.on_probe_answered(now);
        }
        let duplicate = arrived.pure && unchanged && self.space.max > self.space.una;
        if duplicate || !arrived.sack.is_empty() {
            self.on_no_new_data(now, arrived, duplicate);
        } else if self.states.are_linux() {
            self.on_bare_echo(now);
        }
    }

    /// An ACK of `ack`, which is below SND.UNA as another one overtook it: what it acknowledges selectively still
    /// counts, and a duplicate that it reports even if nothing is under way any more (Linux's `tcp_ack`, `old_ack`).
    pub(crate) fn on_old_ack(&mut self, now: Instant, old: Seq, sack: &[Range]) {
        let reports_duplicate = recovery::reports_duplicate(sack, old);
        // A block that ends below SND.UNA by now would seem to report a duplicate.
        let fresh = sack.iter().all(|block| block.end > self.space.una);
        let mut left = SackBlocks::default();
        let sack = if reports_duplicate || fresh {
            sack
        } else {
            sack.iter()
                .filter(|block| block.end > self.space.una)
                .for_each(|block| left.push(*block));
            left.as_slice()
        };
        let under_way = self.space.max > self.space.una;
        if sack.is_empty() || !(under_way || reports_duplicate) {
            return;
        }
        let (ack, window) = (self.space.una, self.rwnd);
        let arrived = Arrived { ack, window, pure: false, echo: None, sack };
        self.on_no_new_data(now, &arrived, false);
        // The next ACK may take it off the scoreboard.
        self.read_journal(now);
    }

    fn on_no_new_data(&mut self, now: Instant, arrived: &Arrived<'_>, duplicate: bool) {
        self.settle_alarm();
        let in_flight_before = self.in_flight();
        let outcome = self.recover(now, duplicate, Bytes::ZERO, arrived);
        self.note_alarm();
        let rtt = self.sample(now, arrived.ack);
        if let Some(rtt) = rtt {
            self.on_rtt(now, rtt);
        }
        let found = outcome == Outcome::LossFound;
        if self.states.are_linux() {
            self.respond(now, &Taken { newly_acked: Bytes::ZERO, rtt, in_flight_before, outcome });
            if found {
                self.timed = None;
                self.timer = now + self.rtt.rto();
            }
            return;
        }
        match outcome {
            Outcome::LossFound => {
                self.on_congestion(now, Signal::Loss, self.rwnd);
                // The retransmission that follows is timed afresh.
                self.timed = None;
                self.timer = now + self.rtt.rto();
            }
            Outcome::Spurious => self.on_spurious(now),
            Outcome::None if self.recovery.grows_on_sack() => {
                self.grow(now, Bytes::ZERO, rtt, in_flight_before);
            }
            _ => {}
        }
    }

    #[inline]
    fn on_new_data(
        &mut self,
        now: Instant,
        arrived: &Arrived<'_>,
        newly_acked: Bytes,
        in_flight_before: Bytes,
    ) {
        let echoed = !self.states.are_linux() && self.take_echo(arrived.ack);
        self.space.una = arrived.ack;
        // After a go-back, an ACK may cover what was not yet sent again.
        self.space.nxt = self.space.nxt.max(arrived.ack);
        self.consecutive_timeouts = 0;
        let outcome = self.recover(now, false, newly_acked, arrived);
        let rtt = self.sample(now, arrived.ack).or_else(|| self.echoed_rtt(now, arrived));
        if let Some(rtt) = rtt {
            self.on_rtt(now, rtt);
        }
        let taken = Taken { newly_acked, rtt, in_flight_before, outcome };
        let restart_timer = if self.states.are_linux() {
            self.respond(now, &taken)
        } else {
            self.answer(now, &taken, echoed)
        };
        if self.space.una == self.space.max {
            self.timer = Instant::NEVER;
            self.all_acked_at = now;
        } else if self.recovery.hurries() {
            self.hurry(now);
        } else if restart_timer {
            self.timer = now + self.rtt.rto();
        }
        self.arm_recovery(now);
    }

    /// The consequences of an ACK of new data by the RFCs. Answers whether the retransmission timer starts anew.
    #[inline]
    fn answer(&mut self, now: Instant, taken: &Taken, echoed: bool) -> bool {
        let Taken { newly_acked, rtt, in_flight_before, outcome } = *taken;
        match outcome {
            // RFC 3168 §6.1.2: an echo lets the window grow by nothing.
            Outcome::None if echoed => {}
            Outcome::None => self.grow(now, newly_acked, rtt, in_flight_before),
            Outcome::Repaired { at_most } => {
                let in_flight = self.in_flight();
                let ack = self.ack_event(now, newly_acked, rtt, in_flight_before);
                let grows =
                    self.idle.may_grow(&ack, self.growth.cwnd(), self.growth.in_slow_start());
                let newly_delivered = if grows { ack.newly_delivered } else { Bytes::ZERO };
                let at_most = self.at_most_after_repair(at_most);
                let end = RecoveryEnd { now, in_flight, newly_delivered, at_most, mss: self.mss };
                self.growth.on_recovery_end(&end);
            }
            Outcome::PartlyRepaired { restart_timer } => return restart_timer,
            Outcome::LossFound => self.on_congestion(now, Signal::Loss, self.rwnd),
            Outcome::Spurious => self.on_spurious(now),
        }
        true
    }

    #[inline]
    fn grow(
        &mut self,
        now: Instant,
        newly_acked: Bytes,
        rtt: Option<Duration>,
        in_flight_before: Bytes,
    ) {
        if !self.heeds_acks {
            return;
        }
        let mut ack = self.ack_event(now, newly_acked, rtt, in_flight_before);
        let (cwnd, in_slow_start) = (self.growth.cwnd(), self.growth.in_slow_start());
        let mut step = in_slow_start.then(|| self.start.on_ack(&ack, cwnd, self.growth.ssthresh()));
        ack.may_grow = self.idle.may_grow(&ack, cwnd, in_slow_start);
        if !ack.may_grow && !self.growth.grows_unused() {
            // The slow-start law follows the delay on every ACK, and may find the end on any.
            let Some(found) = step.filter(|step| step.exit) else { return };
            step = Some(SlowStartStep { exit: found.exit, ..SlowStartStep::grow(Bytes::ZERO) });
        }
        self.growth.on_ack(&ack, step);
        if step.is_some() && !self.growth.in_slow_start() {
            self.avoidance_from = Some(self.space.nxt);
        }
    }

    fn on_spurious(&mut self, now: Instant) {
        self.stats.spurious += 1;
        self.consecutive_timeouts = 0;
        if self.marks.bars_undo() {
            // The mark was no mistake: the window is what the reduction left.
            let in_flight = self.in_flight();
            self.growth.on_recovery_end(&RecoveryEnd {
                now,
                in_flight,
                newly_delivered: Bytes::ZERO,
                at_most: None,
                mss: self.mss,
            });
            return;
        }
        self.growth.on_spurious();
        if self.growth.in_slow_start() {
            self.avoidance_from = None;
        }
    }

    #[inline]
    fn recover(
        &mut self,
        now: Instant,
        duplicate: bool,
        newly_acked: Bytes,
        arrived: &Arrived<'_>,
    ) -> Outcome {
        let seen = AckSeen {
            now,
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            duplicate,
            newly_acked,
            mss: self.mss,
            cwnd: self.growth.cwnd(),
            echo: arrived.echo,
            sack: arrived.sack,
        };
        self.recovery.on_ack(&seen, &mut self.space)
    }

    /// The round-trip time that an ACK measured: of every segment if recovery keeps their times,
    /// otherwise of one at a time.
    #[inline]
    fn sample(&mut self, now: Instant, ack: Seq) -> Option<Duration> {
        if self.recovery.times_segments() {
            return self.recovery.rtt_from().map(|sent| now.since(sent));
        }
        let (_, sent) = self.timed.filter(|(timed, _)| ack >= *timed)?;
        self.timed = None;
        Some(now.since(sent))
    }

    /// The round-trip time by the timestamp that an ACK of new data echoes (RFC 7323 §4.1), where the
    /// clock of segments says nothing because all that is acknowledged was sent again: without it a
    /// long repair would keep the timeout backed off. It counts milliseconds, one at least.
    fn echoed_rtt(&self, now: Instant, arrived: &Arrived<'_>) -> Option<Duration> {
        let echo =
            arrived.echo.filter(|_| self.timed.is_none() || self.recovery.times_segments())?;
        let elapsed = timestamp_clock(now).wrapping_sub(echo);
        // More is an echo of what was never sent.
        (elapsed < u32::MAX / 2).then(|| Duration::from_millis(u64::from(elapsed.max(1))))
    }

    #[inline]
    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        self.rtt.on_sample(rtt, self.space.una, self.space.nxt);
        self.growth.on_rtt(&RttSample { now, rtt });
        self.stats.rtt_samples += 1;
        self.stats.srtt_sum_ns += u128::from(self.rtt.srtt().unwrap_or_default().as_nanos());
        self.stats.rto_sum_ns += u128::from(self.rtt.rto().as_nanos());
    }

    fn on_congestion(&mut self, now: Instant, signal: Signal, rwnd: Bytes) {
        if !self.states.are_linux() && self.marks.has_paid_for(signal, self.space.una) {
            self.marks.bar_undo();
            return;
        }
        self.stats.congestion_events += 1;
        self.marks.on_reduced(signal, self.space.max);
        if self.avoidance_from.is_none_or(|from| self.space.una < from) {
            self.stats.congestion_events_in_slow_start += 1;
        }
        let timeout = matches!(signal, Signal::Timeout { .. });
        let used = if timeout { None } else { self.reduce_from_used(now) };
        let reduce_from = used.unwrap_or_else(|| match self.loss_reduces {
            // Go-back-N has moved SND.NXT back already: what was in flight is up to SND.MAX.
            // DEVIATION(rfc5681 §3.1): never more than the window. During a long repair without
            // SACK the inflated window sends new data for every segment that leaves, so that all
            // of it counts as FlightSize although it has long arrived; a timeout then would raise
            // ssthresh to many times what the path holds.
            LossReduces::FlightSize => self.space.max.since(self.space.una).min(self.growth.cwnd()),
            LossReduces::Cwnd => self.growth.cwnd().min(rwnd),
        });
        self.growth.on_congestion(&Congestion { now, signal, reduce_from, mss: self.mss });
        self.reduced_to = self.growth.cwnd();
        self.again_at_loss = self.stats.retransmitted_bytes;
        // A law that halves goes straight on to avoidance, with everything still unacknowledged.
        self.avoidance_from = (!self.growth.in_slow_start()).then_some(self.space.una);
    }
}

#[cfg(test)]
mod tests;
