//! A jump past slow start, from its grant to its end: a window paced over one round trip, validated
//! by the first ACK, taken back if it lost anything.
//!
//! All of it is in a box that connections without a jump do not have. Those with one take the slow way
//! through [`Endpoint::handle`] and [`Endpoint::poll_transmit`] while something is under way, which is a
//! round trip or two: otherwise the jump *sleeps*, until an option comes, silence ends, or the application
//! asks.

mod segments;

use ackclock_packet::{QuickStartRate, Seq};
use ackclock_units::{Bytes, Duration, Instant, Rate};

use super::feedback::Exchange;
use super::quick_start::{Grant, QuickStart, QuickStartStep};
use crate::config::Config;
use crate::sender::{JumpPhase, Sender, UnaidedJump};

/// An end's jump past slow start.
#[derive(Debug)]
pub(super) struct Jump {
    pub(super) quick_start: QuickStart,
    /// A jump that asks nobody, until it is over.
    unaided: Option<UnaidedJump>,
    /// Nobody asks for anything here.
    unaided_alone: bool,
    /// The options of every packet in which routers report.
    pub(super) exchange: Option<Exchange>,
    /// `Normal` before a window is granted, too: another may be asked for.
    phase: JumpPhase,
    /// Nothing is under way.
    asleep: bool,
    /// The numbers that were sent in the jump.
    from: Seq,
    until: Seq,
    /// The window without the jump.
    fallback: Bytes,
    granted_at: Instant,
    /// The time that the grant holds while nothing is sent.
    holds: Duration,
    code: QuickStartRate,
    /// The sender's counters when they were last looked at, or fell back.
    congestion_events: u64,
    again: u64,
}

/// Options in the headers of a TCP segment, in bytes (RFC 9293 §3.1).
const MOST_OPTIONS: u8 = 40;
/// A Quick-Start option in the IP or the TCP header.
const OPTION: u8 = 8;
/// RFC 4782 §4.4: an approval holds for a round trip, at most 3 s.
const LONGEST_GRANT: Duration = Duration::from_secs(3);

impl Jump {
    /// The jump that `config` asks for; `None` if it is none.
    pub(super) fn of(config: &Config) -> Option<Box<Self>> {
        let unaided = UnaidedJump::of(config);
        let exchange = Exchange::of(config);
        let unaided_alone = !QuickStart::takes_part(config) && exchange.is_none();
        (unaided.is_some() || !unaided_alone)
            .then(|| Box::new(Self { unaided, unaided_alone, exchange, ..Self::new(config) }))
    }

    pub(super) fn new(config: &Config) -> Self {
        Self {
            quick_start: QuickStart::new(config),
            unaided: None,
            unaided_alone: false,
            exchange: None,
            phase: JumpPhase::Normal,
            asleep: false,
            from: Seq::FIRST_BYTE,
            until: Seq::FIRST_BYTE,
            fallback: Bytes::ZERO,
            granted_at: Instant::START,
            holds: Duration::ZERO,
            code: QuickStartRate::NONE,
            congestion_events: 0,
            again: 0,
        }
    }

    /// A call has done what it had to: whether there will be more.
    fn rest(&mut self) {
        let alone = self.unaided.is_none() && self.exchange.is_none();
        self.asleep = alone && self.phase == JumpPhase::Normal && self.quick_start.is_quiet();
    }

    /// A rate was approved (RFC 4782 §4.4): the window is what it carries in a round trip.
    fn take_off(&mut self, now: Instant, grant: Grant, overhead: Bytes, sender: &mut Sender) {
        let window = sender.mss().times(segments(grant.rate, grant.rtt, overhead, sender));
        let cwnd = sender.cwnd();
        if window <= cwnd {
            self.quick_start.on_outcome(now, QuickStartStep::NotNeeded, grant.code);
            return;
        }
        self.phase = JumpPhase::Unvalidated;
        self.from = sender.next_seq();
        self.until = self.from;
        self.fallback = cwnd;
        self.granted_at = now;
        self.holds = grant.rtt.min(LONGEST_GRANT);
        self.code = grant.code;
        self.congestion_events = sender.stats().congestion_events;
        self.again = sender.stats().retransmitted_bytes;
        let ssthresh = self.quick_start.ssthresh_approved().then_some(window);
        sender.jump(window, ssthresh, grant.rate, overhead);
    }

    /// An ACK of `ack` is about to be taken in: the first of a Quick-Start packet ends the pacing, and
    /// leaves of the window what was used.
    fn before_ack(&mut self, ack: Seq, sender: &mut Sender) {
        if self.phase == JumpPhase::Unvalidated && ack > self.from && ack <= sender.next_seq() {
            self.until = sender.next_seq();
            let used = self.until.since(sender.una());
            self.land(used.max(self.fallback), sender);
            self.phase = JumpPhase::Validating;
        }
    }

    /// An ACK was taken in, or a timer has expired.
    fn look(&mut self, now: Instant, sender: &mut Sender) {
        let events = sender.stats().congestion_events;
        match self.phase {
            JumpPhase::Reconnaissance | JumpPhase::Normal => {}
            JumpPhase::Unvalidated | JumpPhase::Validating if events > self.congestion_events => {
                if self.phase == JumpPhase::Unvalidated {
                    self.until = sender.next_seq();
                    self.land(self.fallback, sender);
                }
                self.phase = JumpPhase::SafeRetreat;
                self.congestion_events = events;
                // §4.6: as if there had been no Quick-Start, and no threshold above half of what
                // came through of it.
                sender.fall_back(self.fallback, self.half(sender.arrived_from(self.from), sender));
                self.quick_start.on_outcome(now, QuickStartStep::Lost, self.code);
            }
            JumpPhase::Unvalidated => {
                if sender.next_seq() == self.from && now > self.granted_at + self.holds {
                    self.land(self.fallback, sender);
                    self.phase = JumpPhase::Normal;
                    self.quick_start.on_outcome(now, QuickStartStep::Expired, self.code);
                }
            }
            JumpPhase::Validating => {
                if sender.una() >= self.until {
                    self.phase = JumpPhase::Normal;
                }
            }
            JumpPhase::SafeRetreat => {
                if sender.una() >= self.until && !sender.in_recovery() {
                    self.phase = JumpPhase::Normal;
                    if events == self.congestion_events {
                        // Now it is known what came through.
                        let again = sender.stats().retransmitted_bytes - self.again;
                        let sent = self.until.since(self.from);
                        let through = sent.saturating_sub(Bytes::new(again));
                        sender.set_ssthresh(self.half(through, sender));
                    }
                }
            }
        }
    }

    /// The paced round trip is over: the window is at most `cwnd`.
    fn land(&self, cwnd: Bytes, sender: &mut Sender) {
        if self.quick_start.is_unlimited() {
            sender.land_freely(cwnd);
        } else {
            sender.land(cwnd);
        }
    }

    #[expect(clippy::unused_self, reason = "of this jump")]
    fn half(&self, volume: Bytes, sender: &Sender) -> Bytes {
        (volume / 2).max(sender.mss().times(2))
    }
}

/// Whole segments that `rate` carries in `rtt`, headers and options of `overhead` included: R·T/(MSS +
/// H) of RFC 4782 §4.4.
fn segments(rate: Rate, rtt: Duration, overhead: Bytes, sender: &Sender) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(rtt.as_nanos()) / 1_000_000_000;
    let packet = u128::from((sender.mss().bytes() + overhead).bits());
    u64::try_from(bits / packet).unwrap_or(u64::MAX)
}
