//! The data that was sent and may be lost: sequence numbers, recovery, round-trip times, and the timers.

mod timers;

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::arrived::Arrived;
use super::give_up::GiveUpTimer;
use crate::config::Config;
use crate::data::clock::timestamp_clock;
use crate::recovery::{
    AckSeen, Alarm, AnyRecovery, Outcome, Recovery, SendSpace, SentSegment, Tally,
};
use crate::rtt::RttEstimator;
use crate::scoreboard::{Change, Scoreboard};

/// The data under way.
#[derive(Debug)]
// In the order of use.
#[repr(C)]
pub(super) struct Flight {
    space: SendSpace,
    /// When the retransmission timer expires, and recovery's own; `NEVER` while they do not run.
    timer: Instant,
    alarm: Instant,
    /// From when recovery's timer is to count, where it has not been set since; else `NEVER`. An ACK sets it, and
    /// each segment that is sent for it does.
    alarm_from: Instant,
    /// When to look again whether a segment may leave, `NEVER` unless the pacer holds something back.
    paced_at: Instant,
    /// `NEVER` until something was sent, and until all of it was acknowledged.
    last_send: Instant,
    all_acked_at: Instant,
    /// The segment being timed, by the number after it, and when it left (one at a time; RFC 6298
    /// §3 asks for at least one sample a round trip).
    timed: Option<(Seq, Instant)>,
    /// Timeouts in a row.
    consecutive_timeouts: u32,
    recovery: AnyRecovery,
    rtt: RttEstimator,
    give_up: GiveUpTimer,
}

impl Flight {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            space: SendSpace::UNUSED,
            timer: Instant::NEVER,
            alarm: Instant::NEVER,
            alarm_from: Instant::NEVER,
            paced_at: Instant::NEVER,
            last_send: Instant::NEVER,
            all_acked_at: Instant::NEVER,
            timed: None,
            consecutive_timeouts: 0,
            recovery: AnyRecovery::new(config.parts.recovery, config.recovery),
            rtt: RttEstimator::new(config.rto),
            give_up: GiveUpTimer::new(config),
        }
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let Self {
            space,
            timer,
            alarm,
            alarm_from,
            paced_at,
            last_send,
            all_acked_at,
            timed,
            consecutive_timeouts,
            recovery,
            rtt,
            give_up,
        } = self;
        *space = SendSpace::UNUSED;
        *timer = Instant::NEVER;
        *alarm = Instant::NEVER;
        *alarm_from = Instant::NEVER;
        *paced_at = Instant::NEVER;
        *last_send = Instant::NEVER;
        *all_acked_at = Instant::NEVER;
        *timed = None;
        *consecutive_timeouts = 0;
        recovery.reset(config.parts.recovery, config.recovery);
        *rtt = RttEstimator::new(config.rto);
        *give_up = GiveUpTimer::new(config);
    }

    #[inline]
    pub(super) const fn space(&self) -> &SendSpace {
        &self.space
    }

    /// SND.UNA.
    #[inline]
    pub(super) const fn una(&self) -> Seq {
        self.space.una
    }

    /// SND.NXT.
    #[inline]
    pub(super) const fn nxt(&self) -> Seq {
        self.space.nxt
    }

    /// The largest SND.NXT there has been.
    #[inline]
    pub(super) const fn max(&self) -> Seq {
        self.space.max
    }

    /// True if all that was sent is acknowledged.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.space.una == self.space.max
    }

    /// Numbers sent and not acknowledged.
    #[inline]
    pub(super) fn outstanding(&self) -> Bytes {
        self.space.max.since(self.space.una)
    }

    /// Data believed to be in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> Bytes {
        self.recovery.in_flight(&self.space)
    }

    /// The counts of recovery, in segments.
    pub(super) fn tally(&self, mss: Mss) -> Tally {
        self.recovery.tally(&self.space, mss)
    }

    /// True if recovery and `cwnd` let `len` go out.
    #[inline]
    pub(super) fn allows(&self, cwnd: Bytes, len: Bytes) -> bool {
        self.recovery.allows(cwnd, len, &self.space)
    }

    #[inline]
    pub(super) const fn recovery(&self) -> &AnyRecovery {
        &self.recovery
    }

    /// The next segment to send again.
    #[inline]
    pub(super) fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        self.recovery.next_again(cwnd)
    }

    /// A segment to send again where there is no new data to send, although it may not be lost.
    #[inline]
    pub(super) fn last_resort(&mut self, cwnd: Bytes) -> Option<Range> {
        self.recovery.last_resort(cwnd)
    }

    pub(super) fn waits_to_resend(&mut self) -> bool {
        self.recovery.waits_to_resend()
    }

    /// A segment on the scoreboard is cut in two after `len`; the place of the second part.
    pub(super) fn cut(&mut self, seq: Seq, len: Bytes) -> Option<usize> {
        self.recovery.cut(seq, len)
    }

    /// The law alone decides what a loss costs, and how much goes out in its repair.
    pub(super) fn leave_to_law(&mut self, keeps_journal: bool) {
        self.recovery.leave_to_law(keeps_journal);
    }

    /// The window comes down from `prior`, and the last ACK counts if `advanced` says whether it moved SND.UNA.
    pub(super) fn begin_reduction(&mut self, prior: Bytes, advanced: Option<bool>) {
        self.recovery.begin_reduction(prior, self.space.max, advanced);
    }

    /// The window has come down.
    pub(super) fn end_reduction(&mut self) {
        self.recovery.end_reduction();
    }

    /// The peer does not send SACKs.
    pub(super) fn do_without_sack(&mut self) {
        self.recovery.do_without_sack();
    }

    /// The changes of the scoreboard that nobody has read yet, where recovery keeps them.
    pub(super) fn journal(&mut self) -> Option<&mut Vec<Change>> {
        self.recovery.journal()
    }

    #[inline]
    pub(super) fn board(&self) -> Option<&Scoreboard> {
        self.recovery.board()
    }

    pub(super) const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    #[inline]
    pub(super) fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    #[inline]
    pub(super) fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    pub(super) const fn consecutive_timeouts(&self) -> u32 {
        self.consecutive_timeouts
    }

    /// When something was sent last, if ever.
    #[inline]
    pub(super) fn last_send(&self) -> Option<Instant> {
        self.last_send.if_ever()
    }

    /// When all that was sent had been acknowledged last, if ever.
    pub(super) fn all_acked_at(&self) -> Option<Instant> {
        self.all_acked_at.if_ever()
    }

    /// True if nothing was ever sent.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.last_send == Instant::NEVER && self.all_acked_at == Instant::NEVER
    }

    /// The peer has what lies before `seq`: it came with the SYN (RFC 7413). Before the handshake is done.
    pub(super) const fn begin_at(&mut self, seq: Seq) {
        self.space = SendSpace { una: seq, nxt: seq, max: seq };
    }

    /// The handshake is done: a full segment has `mss`.
    pub(super) fn on_established(&mut self, mss: Mss) {
        self.recovery.on_established(mss);
    }

    /// A round-trip time.
    #[inline]
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt.on_sample(rtt, self.space.una, self.space.nxt);
    }

    /// The SYN's timer expired: a longer timeout to begin with (RFC 6298 §5.7).
    pub(super) fn after_syn_timeout(&mut self) {
        self.rtt.after_syn_timeout();
    }

    /// A segment leaves with new data, or `again`.
    #[inline]
    pub(super) fn on_sent(&mut self, segment: &SentSegment) {
        let SentSegment { now, start, len, again } = *segment;
        self.recovery.on_sent(segment);
        let end = start + len;
        if again {
            // Karn: once any of it is sent again, the timed segment says nothing.
            if self.timed.is_some_and(|(timed, _)| start < timed) {
                self.timed = None;
            }
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.space.max = self.space.max.max(end);
        self.last_send = now;
    }

    /// SND.NXT after a segment that is sent in order.
    #[inline]
    pub(super) fn advance_to(&mut self, nxt: Seq) {
        self.space.nxt = nxt;
    }

    /// The byte of a probe was acknowledged: it counts as a segment that was sent.
    pub(super) fn on_probe_accepted(&mut self, now: Instant, segment: &SentSegment) {
        self.give_up.on_answer(now);
        let end = segment.start + segment.len;
        self.space.nxt = end;
        self.space.max = end;
        self.recovery.on_sent(segment);
    }

    /// An ACK acknowledges all before `ack`, for the first time.
    #[inline]
    pub(super) fn on_progress(&mut self, ack: Seq) {
        self.space.una = ack;
        // After a go-back, an ACK may cover what was not yet sent again.
        self.space.nxt = self.space.nxt.max(ack);
        self.consecutive_timeouts = 0;
    }

    /// Recovery takes an ACK in, SND.UNA having moved.
    #[inline]
    pub(super) fn recover(
        &mut self,
        now: Instant,
        duplicate: bool,
        newly_acked: Bytes,
        arrived: &Arrived<'_>,
        (mss, cwnd): (Mss, Bytes),
    ) -> Outcome {
        let seen = AckSeen {
            now,
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            duplicate,
            newly_acked,
            mss,
            cwnd,
            echo: arrived.echo,
            sack: arrived.sack,
        };
        self.recovery.on_ack(&seen, &mut self.space)
    }

    /// The round-trip time that an ACK measured: of every segment if recovery keeps their times,
    /// otherwise of one at a time.
    #[inline]
    pub(super) fn sample(&mut self, now: Instant, ack: Seq) -> Option<Duration> {
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
    pub(super) fn echoed_rtt(&self, now: Instant, arrived: &Arrived<'_>) -> Option<Duration> {
        let echo =
            arrived.echo.filter(|_| self.timed.is_none() || self.recovery.times_segments())?;
        let elapsed = timestamp_clock(now).wrapping_sub(echo);
        // More is an echo of what was never sent.
        (elapsed < u32::MAX / 2).then(|| Duration::from_millis(u64::from(elapsed.max(1))))
    }

    /// Recovery's timer has expired.
    pub(super) fn on_alarm(&mut self, now: Instant, cwnd: Bytes) -> Alarm {
        self.recovery.on_alarm(now, cwnd, &mut self.space)
    }

    /// True if nothing was sent for a retransmission timeout and nothing is under way.
    pub(super) fn is_idle(&self, now: Instant) -> bool {
        self.is_empty() && self.last_send().is_some_and(|last| now.since(last) >= self.rtt.rto())
    }
}

impl Flight {
    /// Another recovery in the place of the one that was chosen.
    pub(super) fn set_recovery(&mut self, recovery: AnyRecovery) {
        self.recovery = recovery;
    }

    /// The retransmission timer expires at `at`.
    pub(super) fn set_timer(&mut self, at: Instant) {
        self.timer = at;
    }
}
