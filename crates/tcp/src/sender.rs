//! The sending half of a connection: sequence space, window, retransmission timer, and the four
//! choices.

mod allowance;
mod arrived;
mod backlog;
mod flight;
mod give_up;
mod jump;
mod outlying;
mod output;
mod reason;
pub(crate) mod replay;
mod stats;
pub(crate) mod story;
mod timers;
mod unaided;

use ackclock_laws::event::{CaState, Feedback, Handshake, Signal};
use ackclock_laws::growth::{AnyGrowth, Growth};
use ackclock_packet::{Range, SackBlocks, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use crate::config::{Config, Nagle};
use crate::recovery::{self, Outcome, Recovery, Tally};
use crate::rtt::RttEstimator;
use allowance::{Allowance, BeforeAck, Taken, View};
use backlog::Backlog;
use flight::Flight;
pub use output::{DataRange, Follows};
pub use reason::{Reason, Reasons, Sending};
pub use stats::SenderStats;

pub(crate) use arrived::Arrived;
pub(crate) use backlog::WriteHint;
pub use jump::JumpPhase;
pub(crate) use unaided::UnaidedJump;

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
        sender.allowance.introduce(&mut sender.flight);
        sender
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this sender. Field by field: a sender made elsewhere
    /// and copied here took more time than anything else in the opening of a connection.
    pub(crate) fn reset(&mut self, config: &Config) {
        self.backlog.reset(config);
        self.flight.reset(config);
        self.stats = SenderStats::default();
        self.allowance.reset(config);
        self.allowance.introduce(&mut self.flight);
    }

    /// Replaces the growth law by a user's own; before the handshake.
    pub fn set_growth(&mut self, growth: Box<dyn Growth>) {
        self.allowance.set_growth(AnyGrowth::Other(growth));
        self.allowance.introduce(&mut self.flight);
    }

    /// The growth law.
    pub const fn growth(&self) -> &AnyGrowth {
        self.allowance.growth()
    }

    /// The congestion window.
    pub const fn cwnd(&self) -> Bytes {
        self.allowance.cwnd()
    }

    /// The slow-start threshold.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.allowance.ssthresh()
    }

    /// True while the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.allowance.in_slow_start()
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.flight.srtt()
    }

    /// The retransmission timeout, backed off as it is.
    pub fn rto(&self) -> Duration {
        self.flight.rto()
    }

    /// The window in force: cwnd, or less of it while a repair is paced by what it delivers.
    pub fn window(&self) -> Bytes {
        self.flight.recovery().window(self.allowance.cwnd())
    }

    /// The counts of recovery, in segments.
    pub fn tally(&self) -> Tally {
        self.flight.tally(self.mss())
    }

    /// True while losses are being repaired, but for those of a timeout.
    pub fn in_recovery(&self) -> bool {
        self.flight.recovery().in_recovery()
    }

    /// True while the window comes down after a mark, or as the law asked for it (Linux's CWR).
    pub fn comes_down(&self) -> bool {
        self.allowance.state() == CaState::Cwr
    }

    /// The round-trip time and the timeout that follows from it.
    pub const fn rtt(&self) -> &RttEstimator {
        self.flight.rtt()
    }

    /// The peer's window.
    pub const fn peer_window(&self) -> Bytes {
        self.backlog.rwnd()
    }

    /// Timeouts in a row.
    pub const fn consecutive_timeouts(&self) -> u32 {
        self.flight.consecutive_timeouts()
    }

    /// Data acknowledged cumulatively since the connection began.
    pub fn acked(&self) -> Bytes {
        self.flight.una().min(self.backlog.end()).since(Seq::FIRST_BYTE)
    }

    /// Data sent since the connection began, retransmissions not counted.
    pub fn sent(&self) -> Bytes {
        self.flight.max().min(self.backlog.end()).since(Seq::FIRST_BYTE)
    }

    /// Data that the application gave and that was never sent.
    pub fn unsent(&self) -> Bytes {
        self.backlog.end().since(self.flight.max())
    }

    /// Data believed to be in the network.
    pub fn in_flight(&self) -> Bytes {
        self.flight.in_flight()
    }

    /// Payload bytes of a full segment, as agreed.
    pub const fn mss(&self) -> Mss {
        self.backlog.mss()
    }

    /// Leaves so much of the next segments to options (RFC 6691 §3).
    #[inline]
    pub(crate) const fn leave_room(&mut self, bytes: u8) {
        self.backlog.leave_room(bytes);
    }

    /// The counters since the sender was made.
    pub const fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// True if everything that the application gave, and the FIN if it closed, is acknowledged.
    pub fn all_acked(&self) -> bool {
        self.flight.una() >= self.backlog.final_seq()
    }

    /// True if the FIN is acknowledged.
    pub fn fin_acked(&self) -> bool {
        self.backlog.is_closed() && self.all_acked()
    }

    /// The peer does not send SACKs.
    pub(crate) fn do_without_sack(&mut self) {
        self.flight.settle_alarm();
        self.flight.do_without_sack();
        self.flight.note_alarm();
    }

    pub(crate) fn write(&mut self, volume: Bytes, hint: WriteHint) {
        self.allowance.note_limits(&self.backlog, &mut self.flight);
        self.backlog.write(volume, hint);
    }

    pub(crate) const fn set_cork(&mut self, cork: bool) {
        self.backlog.set_cork(cork);
    }

    pub(crate) const fn close(&mut self) {
        self.backlog.close();
    }

    /// True if the application has closed, so that a FIN follows what it gave.
    pub const fn is_closed(&self) -> bool {
        self.backlog.is_closed()
    }

    /// True if `ack` acknowledges something that was sent, or repeats the last acknowledgment.
    #[inline]
    pub(crate) fn accepts(&mut self, now: Instant, ack: Seq) -> bool {
        (self.flight.una()..=self.flight.max()).contains(&ack) || self.accepts_probe(now, ack)
    }

    /// True if nothing is to be learnt from an ACK that repeats the last one with this `window`: nothing
    /// is under way, as at an end that only receives.
    #[inline]
    pub(crate) fn rests_at(&self, ack: Seq, window: Bytes) -> bool {
        ack == self.flight.una()
            && ack == self.flight.max()
            && window == self.backlog.rwnd()
            && window <= self.backlog.largest_window()
            && !self.flight.timer_runs()
            && !self.backlog.expects_more()
    }

    /// True if `ack` acknowledges more than any before.
    #[inline]
    pub(crate) fn advances_to(&self, ack: Seq) -> bool {
        ack > self.flight.una()
    }

    /// True if `ack` acknowledges something that was never sent.
    pub(crate) fn is_ahead(&self, ack: Seq) -> bool {
        ack > self.flight.max()
    }

    /// True if `ack` is older than anything that the largest window of the peer let be under way.
    pub(crate) fn is_ancient(&self, ack: Seq) -> bool {
        ack + self.backlog.largest_window() < self.flight.una()
    }

    /// The number that a segment without data carries.
    pub(crate) const fn next_seq(&self) -> Seq {
        self.flight.max()
    }

    pub(crate) const fn set_rwnd(&mut self, rwnd: Bytes) {
        self.backlog.set_rwnd(rwnd);
    }

    pub(crate) const fn rwnd(&self) -> Bytes {
        self.backlog.rwnd()
    }

    pub(crate) const fn set_nagle(&mut self, nagle: Nagle) {
        self.backlog.set_nagle(nagle);
    }

    pub(crate) const fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.flight.set_user_timeout(timeout);
    }

    /// The application asks for no more than `rate`, from the next segment on.
    pub(crate) fn pace_at_most(&mut self, rate: Option<Rate>) {
        self.allowance.pace_at_most(rate, &mut self.flight);
    }

    /// True if the peer has not answered for so long that the connection is to end.
    #[inline]
    pub(crate) const fn gave_up(&self) -> bool {
        self.flight.gave_up()
    }

    /// The peer has what lies before `seq`: it came with the SYN (RFC 7413). Before the handshake is done.
    pub(crate) const fn begin_at(&mut self, seq: Seq) {
        self.flight.begin_at(seq);
    }

    /// A round-trip time that was measured outside.
    pub(crate) fn measure(&mut self, rtt: Duration) {
        self.flight.on_rtt(rtt);
    }

    /// The full segment of a connection that agreed on `mss`, whose peer's first window is `window`.
    pub(crate) fn first_mss(&mut self, mss: Mss, window: Bytes) -> Mss {
        self.backlog.first_mss(mss, window)
    }

    /// The handshake is done. `rtt` is its round-trip time, unless one of its segments was sent
    /// again; with `three_seconds` the timeout is at least as long.
    pub(crate) fn on_established(
        &mut self,
        handshake: Handshake,
        rtt: Option<Duration>,
        three_seconds: bool,
    ) {
        self.backlog.set_mss(handshake.mss);
        self.flight.on_established(handshake.mss);
        if let Some(rtt) = rtt {
            self.flight.on_rtt(rtt);
        }
        if three_seconds {
            self.flight.after_syn_timeout();
        }
        self.allowance.on_established(&handshake, self.flight.srtt());
    }

    /// Routers have said something.
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback) {
        self.allowance.on_feedback(feedback);
    }

    /// The ACK that comes next echoes a mark of congestion.
    pub(crate) fn on_ecn_echo(&mut self, now: Instant, ack: Seq) {
        let Self { backlog, flight, stats, allowance } = self;
        allowance.on_ecn_echo(View { now, backlog, flight }, ack, stats);
    }

    /// True if the segment of new data that goes out now is to say that the window was reduced.
    pub(crate) const fn takes_reduced(&mut self) -> bool {
        self.allowance.takes_reduced()
    }

    /// An acceptable ACK.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Instant, arrived: &Arrived<'_>) {
        let before = if self.allowance.models_path() {
            self.allowance.before_ack(now, arrived, (&self.backlog, &mut self.flight))
        } else {
            None
        };
        self.take_ack(now, arrived, before.as_ref());
        if let Some(before) = before {
            self.allowance.after_ack(now, &before, (&self.backlog, &mut self.flight));
        }
    }

    #[inline]
    fn take_ack(&mut self, now: Instant, arrived: &Arrived<'_>, before: Option<&BeforeAck>) {
        let newly_acked = arrived.ack.since(self.flight.una());
        self.backlog.on_ack(arrived.window);
        if newly_acked > Bytes::ZERO {
            self.backlog.set_rwnd(arrived.window);
            let in_flight_before =
                before.map_or_else(|| self.in_flight(), |before| before.in_flight);
            self.on_new_data(now, arrived, newly_acked, in_flight_before);
            return;
        }
        let unchanged = arrived.window == self.backlog.rwnd();
        self.backlog.set_rwnd(arrived.window);
        let empty = self.flight.is_empty();
        if empty && self.flight.timer_runs() {
            self.on_probe_answered(now);
        }
        let duplicate = arrived.pure && unchanged && !empty;
        if duplicate || !arrived.sack.is_empty() {
            self.on_no_new_data(now, arrived, duplicate);
        } else if self.allowance.has_linux_states() {
            let Self { backlog, flight, stats, allowance } = self;
            allowance.on_bare_echo(View { now, backlog, flight }, stats);
            allowance.steer(flight, false);
        }
    }

    /// An ACK of `ack`, which is below SND.UNA as another one overtook it: what it acknowledges selectively still
    /// counts, and a duplicate that it reports even if nothing is under way any more (Linux's `tcp_ack`, `old_ack`).
    pub(crate) fn on_old_ack(&mut self, now: Instant, old: Seq, sack: &[Range]) {
        let reports_duplicate = recovery::reports_duplicate(sack, old);
        let una = self.flight.una();
        // A block that ends below SND.UNA by now would seem to report a duplicate.
        let fresh = sack.iter().all(|block| block.end > una);
        let mut left = SackBlocks::default();
        let sack = if reports_duplicate || fresh {
            sack
        } else {
            sack.iter().filter(|block| block.end > una).for_each(|block| left.push(*block));
            left.as_slice()
        };
        if sack.is_empty() || (self.flight.is_empty() && !reports_duplicate) {
            return;
        }
        let window = self.backlog.rwnd();
        let arrived = Arrived { ack: una, window, pure: false, echo: None, stamp: 0, sack };
        self.on_no_new_data(now, &arrived, false);
        // The next ACK may take it off the scoreboard.
        self.allowance.read_journal(now, &mut self.flight);
    }

    fn on_no_new_data(&mut self, now: Instant, arrived: &Arrived<'_>, duplicate: bool) {
        self.flight.settle_alarm();
        let in_flight_before = self.in_flight();
        let outcome = self.recover(now, duplicate, Bytes::ZERO, arrived);
        self.flight.note_alarm();
        let rtt = self.flight.sample(now, arrived.ack);
        if let Some(rtt) = rtt {
            self.on_rtt(now, rtt);
        }
        let taken = Taken { newly_acked: Bytes::ZERO, rtt, in_flight_before, outcome };
        let Self { backlog, flight, stats, allowance } = self;
        let view = View { now, backlog, flight };
        if allowance.hears_acks() {
            allowance.tell_of_ack(view, &taken, arrived);
        }
        if allowance.has_linux_states() {
            allowance.respond(view, &taken, stats);
        } else {
            match outcome {
                Outcome::LossFound => allowance.on_congestion(view, Signal::Loss, stats),
                Outcome::Spurious => allowance.on_spurious(view, stats),
                Outcome::None if flight.recovery().grows_on_sack() => allowance.grow(view, &taken),
                _ => {}
            }
        }
        allowance.follow_repair(view, &taken, stats);
        allowance.steer(flight, false);
        if outcome == Outcome::LossFound {
            flight.time_repair(now);
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
        let linux = self.allowance.has_linux_states();
        let echoed = !linux && self.allowance.take_echo(&self.flight, arrived.ack);
        self.flight.on_progress(arrived.ack);
        let outcome = self.recover(now, false, newly_acked, arrived);
        let rtt = self.flight.sample(now, arrived.ack);
        let rtt = rtt.or_else(|| self.flight.echoed_rtt(now, arrived));
        if let Some(rtt) = rtt {
            self.on_rtt(now, rtt);
        }
        let taken = Taken { newly_acked, rtt, in_flight_before, outcome };
        let Self { backlog, flight, stats, allowance } = self;
        let view = View { now, backlog, flight };
        if allowance.hears_acks() {
            allowance.tell_of_ack(view, &taken, arrived);
        }
        let restarts = if linux {
            allowance.respond(view, &taken, stats)
        } else {
            allowance.answer(view, &taken, echoed, stats)
        };
        if matches!(outcome, Outcome::PartlyRepaired { .. } | Outcome::LossFound) {
            allowance.follow_repair(view, &taken, stats);
        }
        allowance.steer(flight, true);
        flight.set_timer_after_progress(now, restarts);
    }

    #[inline]
    fn recover(
        &mut self,
        now: Instant,
        duplicate: bool,
        newly_acked: Bytes,
        arrived: &Arrived<'_>,
    ) -> Outcome {
        let window = (self.backlog.mss(), self.allowance.cwnd());
        let outcome = self.flight.recover(now, duplicate, newly_acked, arrived, window);
        if outcome == Outcome::Spurious {
            self.flight.forget_timeouts();
        }
        outcome
    }

    #[inline]
    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        self.flight.on_rtt(rtt);
        self.allowance.on_rtt(now, rtt);
        self.stats.rtt_samples += 1;
        self.stats.srtt_sum_ns += u128::from(self.flight.srtt().unwrap_or_default().as_nanos());
        self.stats.rto_sum_ns += u128::from(self.flight.rto().as_nanos());
    }
}

#[cfg(test)]
mod tests;
