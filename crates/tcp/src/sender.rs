//! The sending half of a connection: sequence space, window, retransmission timer, and the four
//! choices.

mod allowance;
mod backlog;
mod flight;
mod hold;
mod jump;
mod law;
mod leap;
mod marks;
mod modelled;
mod outlying;
mod output;
mod pacing;
mod states;
mod timers;
mod usage;

use ackclock_packet::{Range, SackBlocks, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::clock::timestamp_clock;
use crate::config::{Config, LossReduces, Nagle};
use crate::event::{
    Congestion, Established, Handshake, RecoveryEnd, RttSample, Signal, SlowStartStep,
};
use crate::growth::{AnyGrowth, Growth};
use crate::idle::Idle;
use crate::recovery::{self, AckSeen, Outcome, Recovery, SendSpace, SentSegment, Tally};
use crate::rtt::RttEstimator;
use crate::start::Start;
use allowance::Allowance;
use backlog::Backlog;
use flight::Flight;
use law::Law;
use modelled::BeforeAck;
pub use output::{Follows, Stretch};
use states::Taken;

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

/// The sending half of a connection: what waits to be sent, what was sent and may be lost, and what may be sent.
#[derive(Debug)]
// In the order of use, as the end point's: the first lines are nearly all that a receiver of data touches.
#[repr(C)]
pub struct Sender {
    backlog: Backlog,
    flight: Flight,
    stats: SenderStats,
    allowance: Allowance,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        let mut sender = Self {
            backlog: Backlog::new(config),
            flight: Flight::new(config),
            stats: SenderStats::default(),
            allowance: Allowance::new(config),
        };
        sender.introduce();
        sender
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this sender. Field by field: a sender made elsewhere
    /// and copied here took more time than anything else in the opening of a connection.
    pub(crate) fn reset(&mut self, config: &Config) {
        self.backlog.reset(config);
        self.flight.reset(config);
        self.stats = SenderStats::default();
        self.allowance.reset(config);
        self.introduce();
    }

    /// Replaces the growth law by a user's own; before the handshake.
    pub fn set_growth(&mut self, growth: Box<dyn Growth>) {
        self.allowance.growth = Law::new(AnyGrowth::Other(growth));
        self.introduce();
    }

    /// The congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.allowance.growth.cwnd()
    }

    /// The slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.allowance.growth.ssthresh()
    }

    /// Whether the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.allowance.growth.in_slow_start()
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.flight.rtt.srtt()
    }

    /// The retransmission timeout, backed off as it is.
    pub fn rto(&self) -> Duration {
        self.flight.rtt.rto()
    }

    /// The window in force: cwnd, or less of it while a repair is paced by what it delivers.
    pub fn window(&self) -> Bytes {
        self.flight.recovery.window(self.allowance.growth.cwnd())
    }

    /// What recovery counts, in segments.
    pub fn tally(&self) -> Tally {
        self.flight.recovery.tally(&self.flight.space, self.backlog.mss)
    }

    /// Whether losses are being repaired, but for those of a timeout.
    pub fn in_recovery(&self) -> bool {
        self.flight.recovery.in_recovery()
    }

    /// The round-trip time and the timeout that follows from it.
    pub const fn rtt(&self) -> &RttEstimator {
        &self.flight.rtt
    }

    /// The peer's window.
    pub const fn peer_window(&self) -> Bytes {
        self.backlog.rwnd
    }

    /// Timeouts in a row.
    pub const fn consecutive_timeouts(&self) -> u32 {
        self.flight.consecutive_timeouts
    }

    /// Data acknowledged cumulatively since the connection began.
    pub fn acked(&self) -> Bytes {
        self.flight.space.una.min(self.backlog.end).since(Seq::FIRST_BYTE)
    }

    /// Data that the application gave and that was never sent.
    pub fn unsent(&self) -> Bytes {
        self.backlog.end.since(self.flight.space.max)
    }

    /// Data believed to be in the network.
    pub fn in_flight(&self) -> Bytes {
        self.flight.recovery.in_flight(&self.flight.space)
    }

    /// Payload bytes of a full segment, as agreed.
    pub const fn mss(&self) -> Mss {
        self.backlog.mss
    }

    /// Leaves so much of the next segments to options (RFC 6691 §3).
    #[inline]
    pub(crate) const fn leave_room(&mut self, bytes: u8) {
        self.backlog.room_taken = bytes;
    }

    /// The payload of a full segment at this moment.
    #[inline]
    fn full_payload(&self) -> Bytes {
        Bytes::new(
            self.backlog
                .mss
                .bytes()
                .get()
                .saturating_sub(u64::from(self.backlog.room_taken))
                .max(1),
        )
    }

    /// What was counted so far.
    pub const fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Whether everything that the application gave, and the FIN if it closed, is acknowledged.
    pub fn all_acked(&self) -> bool {
        self.flight.space.una >= self.final_seq()
    }

    /// Whether the FIN is acknowledged.
    pub fn fin_acked(&self) -> bool {
        self.backlog.closed && self.all_acked()
    }

    /// The number after the last that there is to send.
    fn final_seq(&self) -> Seq {
        if self.backlog.closed { self.backlog.end + Bytes::new(1) } else { self.backlog.end }
    }

    /// The peer does not send SACKs.
    pub(crate) fn do_without_sack(&mut self) {
        self.settle_alarm();
        self.flight.recovery.do_without_sack();
        self.note_alarm();
    }

    pub(crate) fn write(&mut self, volume: Bytes, then: Then) {
        self.note_limits();
        self.backlog.end = self.backlog.end + volume;
        self.backlog.hold.on_write(then, self.backlog.end);
    }

    pub(crate) const fn set_cork(&mut self, cork: bool) {
        self.backlog.hold.set_cork(cork);
    }

    pub(crate) const fn close(&mut self) {
        self.backlog.closed = true;
    }

    /// Whether the application has closed, so that a FIN follows what it gave.
    pub const fn is_closed(&self) -> bool {
        self.backlog.closed
    }

    /// Whether `ack` acknowledges something that was sent, or repeats the last acknowledgment.
    #[inline]
    pub(crate) fn accepts(&mut self, now: Instant, ack: Seq) -> bool {
        (self.flight.space.una..=self.flight.space.max).contains(&ack)
            || self.accepts_probe(now, ack)
    }

    /// Whether nothing is to be learnt from an ACK that repeats the last one with this `window`: nothing
    /// is under way, as at an end that only receives.
    #[inline]
    pub(crate) fn rests_at(&self, ack: Seq, window: Bytes) -> bool {
        ack == self.flight.space.una
            && ack == self.flight.space.max
            && window == self.backlog.rwnd
            && window <= self.backlog.hold.largest_window()
            && self.flight.timer == Instant::NEVER
            && !self.backlog.hold.more()
    }

    /// Whether `ack` acknowledges more than any before.
    #[inline]
    pub(crate) fn advances_to(&self, ack: Seq) -> bool {
        ack > self.flight.space.una
    }

    /// Whether `ack` acknowledges something that was never sent.
    pub(crate) fn is_ahead(&self, ack: Seq) -> bool {
        ack > self.flight.space.max
    }

    /// Whether `ack` is older than anything that the largest window of the peer let be under way.
    pub(crate) fn is_ancient(&self, ack: Seq) -> bool {
        ack + self.backlog.hold.largest_window() < self.flight.space.una
    }

    /// The number that a segment without data carries.
    pub(crate) const fn next_seq(&self) -> Seq {
        self.flight.space.max
    }

    pub(crate) const fn set_rwnd(&mut self, rwnd: Bytes) {
        self.backlog.rwnd = rwnd;
    }

    pub(crate) const fn rwnd(&self) -> Bytes {
        self.backlog.rwnd
    }

    pub(crate) const fn set_nagle(&mut self, nagle: Nagle) {
        self.backlog.hold.set_nagle(nagle);
    }

    pub(crate) const fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.flight.patience.set_user_timeout(timeout);
    }

    /// Whether the peer has not answered for so long that the connection is to end.
    #[inline]
    pub(crate) const fn gave_up(&self) -> bool {
        self.flight.patience.gone()
    }

    /// The peer has what lies before `seq`: it came with the SYN (RFC 7413). Before the handshake is done.
    pub(crate) const fn begin_at(&mut self, seq: Seq) {
        self.flight.space = SendSpace { una: seq, nxt: seq, max: seq };
    }

    /// A round-trip time that was measured outside.
    pub(crate) fn measure(&mut self, rtt: Duration) {
        self.flight.rtt.on_sample(rtt, self.flight.space.una, self.flight.space.nxt);
    }

    /// The handshake is done. `rtt` is its round-trip time, unless one of its segments was sent
    /// again; with `three_seconds` the timeout is at least as long.
    pub(crate) fn on_established(
        &mut self,
        handshake: Handshake,
        rtt: Option<Duration>,
        three_seconds: bool,
    ) {
        self.backlog.mss = handshake.mss;
        if let Some(rtt) = rtt {
            self.flight.rtt.on_sample(rtt, self.flight.space.una, self.flight.space.nxt);
        }
        if three_seconds {
            self.flight.rtt.after_syn_timeout();
        }
        let proposal = self.allowance.start.on_established(&handshake);
        self.allowance.initial_window = proposal.cwnd.unwrap_or_else(|| self.backlog.mss.bytes());
        self.allowance.growth.rebase(&proposal);
        self.allowance.growth.on_established(&Established {
            srtt: self.flight.rtt.srtt(),
            seed: self.allowance.seed,
        });
        self.begin_pacing();
    }

    /// An acceptable ACK.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Instant, arrived: &Arrived<'_>) {
        let before =
            if self.allowance.modelled.is_some() { self.before_ack(now, arrived) } else { None };
        self.take_ack(now, arrived, before.as_ref());
        if let Some(before) = before {
            self.after_ack(now, &before);
        }
    }

    #[inline]
    fn take_ack(&mut self, now: Instant, arrived: &Arrived<'_>, before: Option<&BeforeAck>) {
        let newly_acked = arrived.ack.since(self.flight.space.una);
        if self.backlog.hold.on_ack(arrived.window) {
            self.bound_mss();
        }
        if newly_acked > Bytes::ZERO {
            self.backlog.rwnd = arrived.window;
            let in_flight_before =
                before.map_or_else(|| self.in_flight(), |before| before.in_flight);
            self.on_new_data(now, arrived, newly_acked, in_flight_before);
            return;
        }
        let unchanged = arrived.window == self.backlog.rwnd;
        self.backlog.rwnd = arrived.window;
        if self.flight.space.una == self.flight.space.max && self.flight.timer != Instant::NEVER {
            self.on_probe_answered(now);
        }
        let duplicate = arrived.pure && unchanged && self.flight.space.max > self.flight.space.una;
        if duplicate || !arrived.sack.is_empty() {
            self.on_no_new_data(now, arrived, duplicate);
        } else if self.allowance.states.are_linux() {
            self.on_bare_echo(now);
        }
    }

    /// An ACK of `ack`, which is below SND.UNA as another one overtook it: what it acknowledges selectively still
    /// counts, and a duplicate that it reports even if nothing is under way any more (Linux's `tcp_ack`, `old_ack`).
    pub(crate) fn on_old_ack(&mut self, now: Instant, old: Seq, sack: &[Range]) {
        let reports_duplicate = recovery::reports_duplicate(sack, old);
        // A block that ends below SND.UNA by now would seem to report a duplicate.
        let fresh = sack.iter().all(|block| block.end > self.flight.space.una);
        let mut left = SackBlocks::default();
        let sack = if reports_duplicate || fresh {
            sack
        } else {
            sack.iter()
                .filter(|block| block.end > self.flight.space.una)
                .for_each(|block| left.push(*block));
            left.as_slice()
        };
        let under_way = self.flight.space.max > self.flight.space.una;
        if sack.is_empty() || !(under_way || reports_duplicate) {
            return;
        }
        let (ack, window) = (self.flight.space.una, self.backlog.rwnd);
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
        if self.allowance.states.are_linux() {
            self.respond(now, &Taken { newly_acked: Bytes::ZERO, rtt, in_flight_before, outcome });
            if found {
                self.flight.timed = None;
                self.flight.timer = now + self.flight.rtt.rto();
            }
            return;
        }
        match outcome {
            Outcome::LossFound => {
                self.on_congestion(now, Signal::Loss, self.backlog.rwnd);
                // The retransmission that follows is timed afresh.
                self.flight.timed = None;
                self.flight.timer = now + self.flight.rtt.rto();
            }
            Outcome::Spurious => self.on_spurious(now),
            Outcome::None if self.flight.recovery.grows_on_sack() => {
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
        let echoed = !self.allowance.states.are_linux() && self.take_echo(arrived.ack);
        self.flight.space.una = arrived.ack;
        // After a go-back, an ACK may cover what was not yet sent again.
        self.flight.space.nxt = self.flight.space.nxt.max(arrived.ack);
        self.flight.consecutive_timeouts = 0;
        let outcome = self.recover(now, false, newly_acked, arrived);
        let rtt = self.sample(now, arrived.ack).or_else(|| self.echoed_rtt(now, arrived));
        if let Some(rtt) = rtt {
            self.on_rtt(now, rtt);
        }
        let taken = Taken { newly_acked, rtt, in_flight_before, outcome };
        let restart_timer = if self.allowance.states.are_linux() {
            self.respond(now, &taken)
        } else {
            self.answer(now, &taken, echoed)
        };
        if self.flight.space.una == self.flight.space.max {
            self.flight.timer = Instant::NEVER;
            self.flight.all_acked_at = now;
        } else if self.flight.recovery.hurries() {
            self.hurry(now);
        } else if restart_timer {
            self.flight.timer = now + self.flight.rtt.rto();
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
                let grows = self.allowance.idle.may_grow(
                    &ack,
                    self.allowance.growth.cwnd(),
                    self.allowance.growth.in_slow_start(),
                );
                let newly_delivered = if grows { ack.newly_delivered } else { Bytes::ZERO };
                let at_most = self.at_most_after_repair(at_most);
                let end =
                    RecoveryEnd { now, in_flight, newly_delivered, at_most, mss: self.backlog.mss };
                self.allowance.growth.on_recovery_end(&end);
            }
            Outcome::PartlyRepaired { restart_timer } => return restart_timer,
            Outcome::LossFound => self.on_congestion(now, Signal::Loss, self.backlog.rwnd),
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
        if !self.allowance.heeds_acks {
            return;
        }
        let mut ack = self.ack_event(now, newly_acked, rtt, in_flight_before);
        let (cwnd, in_slow_start) =
            (self.allowance.growth.cwnd(), self.allowance.growth.in_slow_start());
        let mut step = in_slow_start
            .then(|| self.allowance.start.on_ack(&ack, cwnd, self.allowance.growth.ssthresh()));
        ack.may_grow = self.allowance.idle.may_grow(&ack, cwnd, in_slow_start);
        if !ack.may_grow && !self.allowance.growth.grows_unused() {
            // The slow-start law follows the delay on every ACK, and may find the end on any.
            let Some(found) = step.filter(|step| step.exit) else { return };
            step = Some(SlowStartStep { exit: found.exit, ..SlowStartStep::grow(Bytes::ZERO) });
        }
        self.allowance.growth.on_ack(&ack, step);
        if step.is_some() && !self.allowance.growth.in_slow_start() {
            self.allowance.avoidance_from = Some(self.flight.space.nxt);
        }
    }

    fn on_spurious(&mut self, now: Instant) {
        self.stats.spurious += 1;
        self.flight.consecutive_timeouts = 0;
        if self.allowance.marks.bars_undo() {
            // The mark was no mistake: the window is what the reduction left.
            let in_flight = self.in_flight();
            self.allowance.growth.on_recovery_end(&RecoveryEnd {
                now,
                in_flight,
                newly_delivered: Bytes::ZERO,
                at_most: None,
                mss: self.backlog.mss,
            });
            return;
        }
        self.allowance.growth.on_spurious();
        if self.allowance.growth.in_slow_start() {
            self.allowance.avoidance_from = None;
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
            min_rtt: self.flight.rtt.min(),
            srtt: self.flight.rtt.srtt(),
            duplicate,
            newly_acked,
            mss: self.backlog.mss,
            cwnd: self.allowance.growth.cwnd(),
            echo: arrived.echo,
            sack: arrived.sack,
        };
        self.flight.recovery.on_ack(&seen, &mut self.flight.space)
    }

    /// The round-trip time that an ACK measured: of every segment if recovery keeps their times,
    /// otherwise of one at a time.
    #[inline]
    fn sample(&mut self, now: Instant, ack: Seq) -> Option<Duration> {
        if self.flight.recovery.times_segments() {
            return self.flight.recovery.rtt_from().map(|sent| now.since(sent));
        }
        let (_, sent) = self.flight.timed.filter(|(timed, _)| ack >= *timed)?;
        self.flight.timed = None;
        Some(now.since(sent))
    }

    /// The round-trip time by the timestamp that an ACK of new data echoes (RFC 7323 §4.1), where the
    /// clock of segments says nothing because all that is acknowledged was sent again: without it a
    /// long repair would keep the timeout backed off. It counts milliseconds, one at least.
    fn echoed_rtt(&self, now: Instant, arrived: &Arrived<'_>) -> Option<Duration> {
        let echo = arrived
            .echo
            .filter(|_| self.flight.timed.is_none() || self.flight.recovery.times_segments())?;
        let elapsed = timestamp_clock(now).wrapping_sub(echo);
        // More is an echo of what was never sent.
        (elapsed < u32::MAX / 2).then(|| Duration::from_millis(u64::from(elapsed.max(1))))
    }

    #[inline]
    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        self.flight.rtt.on_sample(rtt, self.flight.space.una, self.flight.space.nxt);
        self.allowance.growth.on_rtt(&RttSample { now, rtt });
        self.stats.rtt_samples += 1;
        self.stats.srtt_sum_ns += u128::from(self.flight.rtt.srtt().unwrap_or_default().as_nanos());
        self.stats.rto_sum_ns += u128::from(self.flight.rtt.rto().as_nanos());
    }

    fn on_congestion(&mut self, now: Instant, signal: Signal, rwnd: Bytes) {
        if !self.allowance.states.are_linux()
            && self.allowance.marks.has_paid_for(signal, self.flight.space.una)
        {
            self.allowance.marks.bar_undo();
            return;
        }
        self.stats.congestion_events += 1;
        self.allowance.marks.on_reduced(signal, self.flight.space.max);
        if self.allowance.avoidance_from.is_none_or(|from| self.flight.space.una < from) {
            self.stats.congestion_events_in_slow_start += 1;
        }
        let timeout = matches!(signal, Signal::Timeout { .. });
        let used = if timeout { None } else { self.reduce_from_used(now) };
        let reduce_from = used.unwrap_or_else(|| match self.allowance.loss_reduces {
            // Go-back-N has moved SND.NXT back already: what was in flight is up to SND.MAX.
            // DEVIATION(rfc5681 §3.1): never more than the window. During a long repair without
            // SACK the inflated window sends new data for every segment that leaves, so that all
            // of it counts as FlightSize although it has long arrived; a timeout then would raise
            // ssthresh to many times what the path holds.
            LossReduces::FlightSize => {
                self.flight.space.max.since(self.flight.space.una).min(self.allowance.growth.cwnd())
            }
            LossReduces::Cwnd => self.allowance.growth.cwnd().min(rwnd),
        });
        self.allowance.growth.on_congestion(&Congestion {
            now,
            signal,
            reduce_from,
            mss: self.backlog.mss,
        });
        self.allowance.reduced_to = self.allowance.growth.cwnd();
        self.allowance.again_at_loss = self.stats.retransmitted_bytes;
        // A law that halves goes straight on to avoidance, with everything still unacknowledged.
        self.allowance.avoidance_from =
            (!self.allowance.growth.in_slow_start()).then_some(self.flight.space.una);
    }
}

#[cfg(test)]
mod tests;
