//! The sending half of a connection: sequence space, window, retransmission timer, and the four
//! choices.

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::config::{Config, LossReduces};
use crate::event::{Ack, Congestion, Handshake, Limit, RecoveryEnd, Signal};
use crate::growth::{AnyGrowth, Growth};
use crate::idle::{AnyIdle, BeforeSend, Idle};
use crate::recovery::{
    AckSeen, Alarm, AnyRecovery, Clocks, Outcome, Recovery, RecoveryChoice, SendSpace, SentSegment,
};
use crate::rtt::RttEstimator;
use crate::start::{AnyStart, Start};

/// What a sender counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window, timeouts included.
    pub congestion_events: u64,
    /// Those whose first lost segment was sent during slow start, whatever the window did between
    /// the loss and its detection a round trip later.
    pub congestion_events_in_slow_start: u64,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// The sum of srtt after each of them, in nanoseconds.
    pub srtt_sum_ns: u64,
    /// The sum of the retransmission timeout after each of them, in nanoseconds.
    pub rto_sum_ns: u64,
}

/// A stretch of data that is to go out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first number.
    pub seq: Seq,
    /// Its payload.
    pub len: Bytes,
    /// Whether the FIN follows the payload.
    pub fin: bool,
}

/// The sending half of a connection.
#[derive(Debug)]
pub struct Sender {
    space: SendSpace,
    /// The number after the last byte that the application gave.
    end: Seq,
    /// Whether the application closed: a FIN follows `end`.
    closed: bool,
    mss: Mss,
    /// The receiver's window.
    rwnd: Bytes,
    limited_by: Limit,
    /// When the retransmission timer expires.
    timer: Option<Instant>,
    /// Timeouts in a row.
    consecutive_timeouts: u32,
    /// The segment being timed, by the number after it, and when it left (one at a time; RFC 6298
    /// §3 asks for at least one sample a round trip).
    timed: Option<(Seq, Instant)>,
    last_send: Option<Instant>,
    rtt: RttEstimator,
    growth: AnyGrowth,
    recovery: AnyRecovery,
    start: AnyStart,
    idle: AnyIdle,
    loss_reduces: LossReduces,
    initial_window: Bytes,
    /// SND.NXT when slow start last ended: what lies before it was sent during slow start. `None`
    /// while slow start lasts.
    avoidance_from: Option<Seq>,
    stats: SenderStats,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let parts = config.parts;
        let space = SendSpace { una: Seq::FIRST_BYTE, nxt: Seq::FIRST_BYTE, max: Seq::FIRST_BYTE };
        Self {
            space,
            end: Seq::FIRST_BYTE,
            closed: false,
            mss: config.mss,
            rwnd: Bytes::ZERO,
            limited_by: Limit::Application,
            timer: None,
            consecutive_timeouts: 0,
            timed: None,
            last_send: None,
            rtt: RttEstimator::new(config.rto),
            growth: AnyGrowth::new(parts.growth),
            recovery: AnyRecovery::new(parts.recovery),
            start: AnyStart::new(parts.window, parts.slow_start),
            idle: AnyIdle::new(parts.idle),
            loss_reduces: config.loss_reduces,
            initial_window: Bytes::ZERO,
            avoidance_from: None,
            stats: SenderStats::default(),
        }
    }

    /// Replaces the growth law by a user's own; before the handshake.
    pub fn set_growth(&mut self, growth: Box<dyn Growth>) {
        self.growth = AnyGrowth::Other(growth);
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

    /// Data believed to be in the network.
    pub fn in_flight(&self) -> Bytes {
        self.recovery.in_flight(&self.space)
    }

    /// Payload bytes of a full segment, as agreed.
    pub const fn mss(&self) -> Mss {
        self.mss
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

    /// The peer does not send SACKs: a recovery that needs them gives way to RFC 6582's.
    pub(crate) fn do_without_sack(&mut self) {
        self.recovery = AnyRecovery::new(RecoveryChoice::PartialAck);
    }

    pub(crate) fn write(&mut self, volume: Bytes) {
        self.end = self.end + volume;
    }

    pub(crate) const fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether `ack` acknowledges something that was sent, or repeats the last acknowledgment.
    #[inline]
    pub(crate) fn accepts(&self, ack: Seq) -> bool {
        (self.space.una..=self.space.max).contains(&ack)
    }

    /// Whether `ack` acknowledges something that was never sent.
    pub(crate) fn is_ahead(&self, ack: Seq) -> bool {
        ack > self.space.max
    }

    /// The number that a segment without data carries.
    pub(crate) const fn next_seq(&self) -> Seq {
        self.space.max
    }

    pub(crate) const fn set_rwnd(&mut self, rwnd: Bytes) {
        self.rwnd = rwnd;
    }

    /// When a timer of the sender's is due: its own, or recovery's.
    #[inline]
    pub(crate) fn timer(&self) -> Option<Instant> {
        match (self.timer, self.recovery.timer()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The handshake is done. `rtt` is its round-trip time, unless one of its segments was sent
    /// again.
    pub(crate) fn on_established(&mut self, handshake: Handshake, rtt: Option<Duration>) {
        self.mss = handshake.mss;
        if let Some(rtt) = rtt {
            self.rtt.on_sample(rtt);
        }
        if handshake.retransmissions > 0 {
            self.rtt.after_syn_timeout();
        }
        let proposal = self.start.on_established(&handshake);
        self.initial_window = proposal.cwnd.unwrap_or_else(|| self.mss.bytes());
        self.growth.rebase(&proposal);
    }

    /// An acceptable ACK for `ack`, with its SACK blocks. `pure` says that the segment carried
    /// nothing else, as a duplicate ACK must (RFC 5681 §2).
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        ack: Seq,
        window: Bytes,
        pure: bool,
        sack: &[Range],
    ) {
        let newly_acked = ack.since(self.space.una);
        if newly_acked > Bytes::ZERO {
            self.rwnd = window;
            self.on_new_data(now, ack, newly_acked, sack);
            return;
        }
        let unchanged = window == self.rwnd;
        self.rwnd = window;
        if !(pure && unchanged && self.space.max > self.space.una) && sack.is_empty() {
            return;
        }
        let outcome = self.recover(now, true, newly_acked, sack);
        if let Some(rtt) = self.sample(now, ack) {
            self.on_rtt(rtt);
        }
        if outcome == Outcome::LossFound {
            self.on_congestion(now, Signal::Loss, self.rwnd);
            // The retransmission that follows is timed afresh.
            self.timed = None;
            self.timer = Some(now + self.rtt.rto());
        }
    }

    #[inline]
    fn on_new_data(&mut self, now: Instant, ack: Seq, newly_acked: Bytes, sack: &[Range]) {
        let in_flight_before = self.in_flight();
        self.space.una = ack;
        // After a go-back, an ACK may cover what was not yet sent again.
        self.space.nxt = self.space.nxt.max(ack);
        self.consecutive_timeouts = 0;
        let outcome = self.recover(now, false, newly_acked, sack);
        let rtt = self.sample(now, ack);
        if let Some(rtt) = rtt {
            self.on_rtt(rtt);
        }
        let in_flight = self.in_flight();
        let mut restart_timer = true;
        match outcome {
            Outcome::None => {
                let ack = Ack {
                    now,
                    newly_acked,
                    una: self.space.una,
                    nxt: self.space.nxt,
                    rtt,
                    srtt: self.rtt.srtt(),
                    in_flight_before,
                    in_flight,
                    limited_by: self.limited_by,
                    in_recovery: self.recovery.in_recovery(),
                    mss: self.mss,
                };
                if self.idle.may_grow(&ack) {
                    let step = self
                        .growth
                        .in_slow_start()
                        .then(|| self.start.on_ack(&ack, self.growth.cwnd()));
                    self.growth.on_ack(&ack, step);
                    if step.is_some() && !self.growth.in_slow_start() {
                        self.avoidance_from = Some(self.space.nxt);
                    }
                }
            }
            Outcome::Repaired { at_most } => {
                let end = RecoveryEnd { now, in_flight, at_most, mss: self.mss };
                self.growth.on_recovery_end(&end);
            }
            Outcome::PartlyRepaired { restart_timer: restart } => restart_timer = restart,
            Outcome::LossFound => self.on_congestion(now, Signal::Loss, self.rwnd),
        }
        if self.space.una == self.space.max {
            self.timer = None;
        } else if restart_timer {
            self.timer = Some(now + self.rtt.rto());
        }
        self.arm_recovery(now);
    }

    #[inline]
    fn recover(
        &mut self,
        now: Instant,
        duplicate: bool,
        newly_acked: Bytes,
        sack: &[Range],
    ) -> Outcome {
        let seen = AckSeen {
            now,
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            duplicate,
            newly_acked,
            mss: self.mss,
            sack,
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

    #[inline]
    fn on_rtt(&mut self, rtt: Duration) {
        self.rtt.on_sample(rtt);
        self.stats.rtt_samples += 1;
        self.stats.srtt_sum_ns += self.rtt.srtt().unwrap_or_default().as_nanos();
        self.stats.rto_sum_ns += self.rtt.rto().as_nanos();
    }

    fn on_congestion(&mut self, now: Instant, signal: Signal, rwnd: Bytes) {
        self.stats.congestion_events += 1;
        if self.avoidance_from.is_none_or(|from| self.space.una < from) {
            self.stats.congestion_events_in_slow_start += 1;
        }
        let reduce_from = match self.loss_reduces {
            // Go-back-N has moved SND.NXT back already: what was in flight is up to SND.MAX.
            // DEVIATION(rfc5681 §3.1): never more than the window. During a long repair without
            // SACK the inflated window sends new data for every segment that leaves, so that all
            // of it counts as FlightSize although it has long arrived; a timeout then would raise
            // ssthresh to many times what the path holds.
            LossReduces::FlightSize => self.space.max.since(self.space.una).min(self.growth.cwnd()),
            LossReduces::Cwnd => self.growth.cwnd().min(rwnd),
        };
        self.growth.on_congestion(&Congestion { now, signal, reduce_from, mss: self.mss });
        // A law that halves goes straight on to avoidance, with everything still unacknowledged.
        self.avoidance_from = (!self.growth.in_slow_start()).then_some(self.space.una);
    }

    /// Lets the timers expire whose time has come.
    #[inline]
    pub(crate) fn on_timer(&mut self, now: Instant) {
        if self.recovery.timer().is_some_and(|at| at <= now) {
            self.on_alarm(now);
        }
        if self.timer.is_some_and(|at| at <= now) {
            self.on_rto(now);
        }
    }

    fn on_alarm(&mut self, now: Instant) {
        match self.recovery.on_alarm(now, &mut self.space) {
            Alarm::None => {}
            Alarm::LossFound => {
                self.on_congestion(now, Signal::Loss, self.rwnd);
                self.timer = Some(now + self.rtt.rto());
            }
            Alarm::Probe => self.timer = Some(now + self.rtt.rto()),
        }
    }

    fn on_rto(&mut self, now: Instant) {
        self.timer = None;
        if self.space.una >= self.space.max {
            return;
        }
        self.stats.timeouts += 1;
        self.consecutive_timeouts += 1;
        self.rtt.back_off();
        self.timed = None;
        let signal = Signal::Timeout { consecutive: self.consecutive_timeouts };
        self.on_congestion(now, signal, self.rwnd);
        self.recovery.on_timeout(&mut self.space);
    }

    /// The next stretch of data that may go out now, if any; called until it says no.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Stretch> {
        if let Some(range) = self.recovery.next_again(self.growth.cwnd()) {
            return self.send_again(now, range);
        }
        let last = self.final_seq();
        if self.space.nxt >= last {
            self.limited_by = Limit::Application;
            let range = self.recovery.last_resort(self.growth.cwnd())?;
            return self.send_again(now, range);
        }
        self.propose_after_idle(now);
        let mut stretch = self.stretch_at(self.space.nxt, last)?;
        if !self.recovery.allows(self.growth.cwnd(), stretch.len, &self.space) {
            self.limited_by = Limit::Cwnd;
            return None;
        }
        let ahead = (self.space.nxt + stretch.len).since(self.space.una);
        if ahead > self.rwnd {
            self.limited_by = Limit::ReceiveWindow;
            // A part of a segment is sent only when nothing else is under way, or a receiver with
            // less than a segment of buffer would never see any (RFC 9293 §3.8.6.2.1).
            if self.space.in_flight() > Bytes::ZERO || self.rwnd == Bytes::ZERO {
                let range = self.recovery.last_resort(self.growth.cwnd())?;
                return self.send_again(now, range);
            }
            stretch = Stretch { len: self.rwnd, fin: false, ..stretch };
        }
        self.space.nxt = stretch.seq + stretch.len + Bytes::new(u64::from(stretch.fin));
        self.on_sent(now, &stretch);
        Some(stretch)
    }

    fn send_again(&mut self, now: Instant, range: Range) -> Option<Stretch> {
        let stretch = self.stretch_at(range.start, range.end.min(self.space.max))?;
        self.on_sent(now, &stretch);
        Some(stretch)
    }

    /// A full segment at `seq`, or what there is before `limit`.
    #[inline]
    fn stretch_at(&self, seq: Seq, limit: Seq) -> Option<Stretch> {
        let data = self.end.since(seq).min(limit.since(seq));
        let len = data.min(self.mss.bytes());
        let fin = self.closed && seq + len == self.end && limit > self.end;
        (len > Bytes::ZERO || fin).then_some(Stretch { seq, len, fin })
    }

    fn propose_after_idle(&mut self, now: Instant) {
        if self.space.una != self.space.max {
            return;
        }
        let send = BeforeSend {
            now,
            last_send: self.last_send,
            rto: self.rtt.rto(),
            cwnd: self.growth.cwnd(),
            initial_window: self.initial_window,
            mss: self.mss,
        };
        if let Some(proposal) = self.idle.before_send(&send) {
            self.growth.rebase(&proposal);
            if self.growth.in_slow_start() {
                self.avoidance_from = None;
            }
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, stretch: &Stretch) {
        let len = stretch.len + Bytes::new(u64::from(stretch.fin));
        let end = stretch.seq + len;
        let again = stretch.seq < self.space.max;
        self.recovery.on_sent(&SentSegment { now, start: stretch.seq, len, again });
        self.stats.segments_sent += 1;
        if again {
            self.stats.segments_retransmitted += 1;
            // Karn: once any of it is sent again, the timed segment says nothing.
            if self.timed.is_some_and(|(timed, _)| stretch.seq < timed) {
                self.timed = None;
            }
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.space.max = self.space.max.max(end);
        self.last_send = Some(now);
        if self.timer.is_none() {
            self.timer = Some(now + self.rtt.rto());
        }
        self.arm_recovery(now);
    }

    #[inline]
    fn arm_recovery(&mut self, now: Instant) {
        let clocks = Clocks { now, srtt: self.rtt.srtt(), rto_at: self.timer };
        self.recovery.arm(&clocks);
    }
}
