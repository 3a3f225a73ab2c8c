//! A jump past slow start, from its grant to its end: a window paced over one round trip, validated
//! by the first ACK, taken back if it lost anything.
//!
//! All of it is in a box that connections without a jump do not have. Those with one take the slow way
//! through [`Endpoint::handle`] and [`Endpoint::poll_transmit`] while something is under way, which is a
//! round trip or two: otherwise the jump *sleeps*, until an option comes, silence ends, or the application
//! asks.

use ackclock_packet::{Flags, IpMeta, Options, QuickStartRate, SackBlocks, Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant, Rate};

use super::feedback::Exchange;
use super::quick_start::{Grant, QuickStart, QuickStartEvent, QuickStartStep};
use super::{Endpoint, Transmit};
use crate::config::Config;
use crate::sender::{Leap, LeapPhase, Sender};

/// Where a jump stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No window was granted, or all is over.
    Grounded,
    /// What goes out is paced, until the first of it is acknowledged.
    Flying,
    /// What went out then is not all acknowledged.
    Landing,
    /// Some of it was lost, and the window is as if there had been no jump.
    Repairing,
}

/// An end's jump past slow start.
#[derive(Debug)]
pub(super) struct Jumping {
    pub(super) quick_start: QuickStart,
    /// A jump that asks nobody, until it is over.
    leap: Option<Leap>,
    /// Nobody asks for anything here.
    leap_alone: bool,
    /// What routers say of every packet.
    pub(super) exchange: Option<Exchange>,
    phase: Phase,
    /// Nothing is under way.
    asleep: bool,
    /// The numbers that were sent in the jump.
    from: Seq,
    until: Seq,
    /// The window without the jump.
    fallback: Bytes,
    granted_at: Instant,
    /// How long the grant holds while nothing is sent.
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

impl Jumping {
    /// What `config` asks for; `None` if it is nothing.
    pub(super) fn of(config: &Config) -> Option<Box<Self>> {
        let leap = Leap::of(config);
        let exchange = Exchange::of(config);
        let leap_alone = !QuickStart::takes_part(config) && exchange.is_none();
        (leap.is_some() || !leap_alone)
            .then(|| Box::new(Self { leap, leap_alone, exchange, ..Self::new(config) }))
    }

    pub(super) fn new(config: &Config) -> Self {
        Self {
            quick_start: QuickStart::new(config),
            leap: None,
            leap_alone: false,
            exchange: None,
            phase: Phase::Grounded,
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
        let alone = self.leap.is_none() && self.exchange.is_none();
        self.asleep = alone && self.phase == Phase::Grounded && self.quick_start.is_quiet();
    }

    /// A rate was approved (RFC 4782 §4.4): the window is what it carries in a round trip.
    fn take_off(&mut self, now: Instant, grant: Grant, overhead: Bytes, sender: &mut Sender) {
        let window = sender.mss().times(segments(grant.rate, grant.rtt, overhead, sender));
        let cwnd = sender.cwnd();
        if window <= cwnd {
            self.quick_start.on_outcome(now, QuickStartStep::NotNeeded, grant.code);
            return;
        }
        self.phase = Phase::Flying;
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
        if self.phase == Phase::Flying && ack > self.from && ack <= sender.next_seq() {
            self.until = sender.next_seq();
            let used = self.until.since(sender.una());
            sender.land(used.max(self.fallback));
            self.phase = Phase::Landing;
        }
    }

    /// An ACK was taken in, or a timer has expired.
    fn look(&mut self, now: Instant, sender: &mut Sender) {
        let events = sender.stats().congestion_events;
        match self.phase {
            Phase::Grounded => {}
            Phase::Flying | Phase::Landing if events > self.congestion_events => {
                if self.phase == Phase::Flying {
                    self.until = sender.next_seq();
                    sender.land(self.fallback);
                }
                self.phase = Phase::Repairing;
                self.congestion_events = events;
                // §4.6: as if there had been no Quick-Start, and no threshold above half of what
                // came through of it.
                sender.fall_back(self.fallback, self.half(sender.arrived_from(self.from), sender));
                self.quick_start.on_outcome(now, QuickStartStep::Lost, self.code);
            }
            Phase::Flying => {
                if sender.next_seq() == self.from && now > self.granted_at + self.holds {
                    sender.land(self.fallback);
                    self.phase = Phase::Grounded;
                    self.quick_start.on_outcome(now, QuickStartStep::Expired, self.code);
                }
            }
            Phase::Landing => {
                if sender.una() >= self.until {
                    self.phase = Phase::Grounded;
                }
            }
            Phase::Repairing => {
                if sender.una() >= self.until && !sender.in_recovery() {
                    self.phase = Phase::Grounded;
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

impl Endpoint {
    /// The application asks the routers for `rate` (RFC 4782), rounded down to one that they know:
    /// with the SYN or SYN-ACK if that has not gone out, or else with the next data. Ignored after
    /// an answer that was a lie, and after the loss of what an approved rate let out.
    pub fn request_quick_start(&mut self, rate: Rate) {
        let config = &self.config;
        let jumping = self.jumping.get_or_insert_with(|| Box::new(Jumping::new(config)));
        jumping.leap_alone = false;
        jumping.quick_start.want(rate);
        jumping.asleep = false;
    }

    /// Where a jump stands that asks nobody: Jump Start's or Careful Resume's.
    /// [`Normal`](LeapPhase::Normal) if there is none, or if it is over.
    pub fn leap_phase(&self) -> LeapPhase {
        let leap = self.jumping.as_ref().and_then(|jumping| jumping.leap.as_ref());
        leap.map_or(LeapPhase::Normal, Leap::phase)
    }

    /// Lets a jump that asks nobody go on; `sending` says that segments are about to leave.
    fn advance_leap(&mut self, now: Instant, sending: bool) {
        let Some(jumping) = &mut self.jumping else { return };
        let Some(leap) = &mut jumping.leap else { return };
        leap.look(now, &mut self.sender);
        if sending {
            leap.before_send(now, &mut self.sender);
        }
        if leap.phase() == LeapPhase::Normal {
            jumping.leap = None;
            if jumping.leap_alone {
                // The short way through the end point from now on.
                self.jumping = None;
            }
        }
    }

    /// What came of this end's Quick-Start requests.
    pub fn quick_start_log(&self) -> &[QuickStartEvent] {
        self.jumping.as_ref().map_or(&[], |jumping| jumping.quick_start.log())
    }

    /// Whether a segment with `options` means nothing to this end's jump.
    // A call where there is a jump, and nothing in the way where there is none.
    #[inline(never)]
    pub(super) fn jump_sleeps(&self, options: Option<&Options>) -> bool {
        let said = |options: &Options| {
            options.quick_start.is_some() || options.quick_start_response.is_some()
        };
        self.jumping.as_ref().is_none_or(|jumping| jumping.asleep) && !options.is_some_and(said)
    }

    /// Whether the next segment of an open connection means nothing to this end's jump: it does not end
    /// a silence either.
    #[inline(never)]
    pub(super) fn jump_sleeps_on(&self, now: Instant) -> bool {
        self.jumping.as_ref().is_none_or(|jumping| jumping.asleep)
            && !(self.sender.unsent() > self.sender.initial_window() && self.sender.is_idle(now))
    }

    /// Before a segment of an end with a jump is taken in.
    pub(super) fn before_segment(&mut self, segment: &Segment) {
        if let Some(jumping) = &mut self.jumping
            && segment.flags.contains(Flags::ACK)
            && self.established_at.is_some()
        {
            jumping.before_ack(segment.ack, &mut self.sender);
        }
    }

    /// After it.
    pub(super) fn after_segment(&mut self, now: Instant, ip: IpMeta, options: Option<&Options>) {
        let overhead = self.overhead();
        let Some(jumping) = &mut self.jumping else { return };
        if let Some(option) = options.and_then(|options| options.quick_start)
            && jumping.quick_start.take_option(option, ip.ttl)
            && self.established_at.is_some()
        {
            self.receiver.demand_ack();
        }
        if let Some(header) = options.and_then(|options| options.congestion) {
            self.take_feedback(header);
        }
        if self.established_at.is_none() {
            return;
        }
        let Some(jumping) = &mut self.jumping else { return };
        jumping.look(now, &mut self.sender);
        if jumping.leap.is_some() {
            self.advance_leap(now, false);
        }
        let Some(jumping) = &mut self.jumping else { return };
        if jumping.quick_start.is_due(self.sender.una()) {
            let response = options.and_then(|options| options.quick_start_response);
            if let Some(grant) = jumping.quick_start.take_response(now, response) {
                jumping.take_off(now, grant, overhead, &mut self.sender);
            }
        }
        jumping.rest();
    }

    /// The options that a SYN or SYN-ACK carries besides its own.
    pub(super) fn dress_syn(&mut self, now: Instant, first: bool, options: &mut Options) {
        if let Some(jumping) = &mut self.jumping {
            jumping.quick_start.dress_syn(now, first, self.sender.unsent(), options);
        }
    }

    /// The next segment of an open connection with a jump, timers having expired.
    pub(super) fn poll_jumping(&mut self, now: Instant) -> Option<Transmit> {
        if self.jumping.as_ref().is_some_and(|jumping| jumping.leap.is_some()) {
            self.advance_leap(now, true);
        }
        let Some(jumping) = &mut self.jumping else { return self.poll_segment(now) };
        jumping.look(now, &mut self.sender);
        let quick_start = &jumping.quick_start;
        let (srtt, unsent) = (self.sender.srtt(), self.sender.unsent());
        let idle = self.sender.is_idle(now) && unsent > self.sender.initial_window();
        let ask = if unsent > Bytes::ZERO && jumping.phase == Phase::Grounded {
            quick_start.next_rate(idle, unsent, srtt)
        } else {
            None
        };
        let in_ip = u16::from(ask.is_some() || quick_start.has_report());
        let in_tcp = u16::from(quick_start.has_response());
        if in_ip + in_tcp == 0 {
            jumping.rest();
            return self.poll_segment(now);
        }
        // RFC 6691 §3: options shorten the payload, in the IP header too.
        let mss = self.sender.shorten_segments((in_ip + in_tcp) * u16::from(OPTION));
        let transmit = self.poll_segment(now);
        self.sender.set_mss(mss);
        let mut transmit = transmit?;
        // After silence the window has come down by now. What fills less than it is not worth asking.
        let overhead = self.overhead();
        let ask = ask.filter(|rate| {
            let window = rate
                .rate()
                .zip(srtt)
                .map(|(rate, srtt)| mss.times(segments(rate, srtt, overhead, &self.sender)));
            window.is_none_or(|window| window > self.sender.cwnd())
        });
        let Some(jumping) = &mut self.jumping else { return Some(transmit) };
        let segment = &mut transmit.segment;
        let mut options = transmit.options.unwrap_or_default();
        let data = segment.len > 0;
        jumping.quick_start.dress(now, data, ask, segment.end(), &mut options);
        jumping.rest();
        if options.quick_start_response.is_some() {
            make_room(&mut options, self.timestamps.used);
        }
        segment.options_len = if self.timestamps.used {
            options.wire_len_with_timestamps()
        } else {
            options.wire_len()
        };
        transmit.options = (options != Options::default()).then_some(options);
        Some(transmit)
    }
}

/// Leaves as many SACK blocks as the Response has room for beside it.
fn make_room(options: &mut Options, timestamps: bool) {
    let of_ip = if options.quick_start.is_some() { OPTION } else { 0 };
    loop {
        let len = if timestamps { options.wire_len_with_timestamps() } else { options.wire_len() };
        let blocks = options.sack.as_slice();
        if len - of_ip <= MOST_OPTIONS || blocks.is_empty() {
            return;
        }
        let mut fewer = SackBlocks::default();
        for block in &blocks[..blocks.len() - 1] {
            fewer.push(*block);
        }
        options.sack = fewer;
    }
}
