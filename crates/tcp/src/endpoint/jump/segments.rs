//! The end point with a jump: every segment that comes or goes.

use super::{Jump, MOST_OPTIONS, OPTION, segments};
use crate::endpoint::quick_start::QuickStartEvent;
use crate::endpoint::{Endpoint, Transmit};
use crate::sender::{JumpPhase, UnaidedJump};
use ackclock_packet::{Flags, IpMeta, Options, SackBlocks, Segment};
use ackclock_units::{Bytes, Instant, Rate};

impl Endpoint {
    /// The application asks the routers for `rate` (RFC 4782), rounded down to one that they know:
    /// with the SYN or SYN-ACK if that has not gone out, or else with the next data. Ignored after
    /// an answer that was a lie, and after the loss of what an approved rate let out.
    pub fn request_quick_start(&mut self, rate: Rate) {
        let config = &self.config;
        let jump = self.jump.get_or_insert_with(|| Box::new(Jump::new(config)));
        jump.unaided_alone = false;
        jump.quick_start.want(rate);
        jump.asleep = false;
    }

    /// The phase of a jump that asks nobody: Jump Start's or Careful Resume's.
    /// [`Normal`](JumpPhase::Normal) if there is none, or if it is over.
    pub fn jump_phase(&self) -> JumpPhase {
        let unaided = self.jump.as_ref().and_then(|jump| jump.unaided.as_ref());
        unaided.map_or(JumpPhase::Normal, UnaidedJump::phase)
    }

    /// Lets a jump that asks nobody go on; `sending` says that segments are about to leave.
    fn advance_unaided(&mut self, now: Instant, sending: bool) {
        let Some(jump) = &mut self.jump else { return };
        let Some(unaided) = &mut jump.unaided else { return };
        unaided.look(now, &mut self.sender);
        if sending {
            unaided.before_send(now, &mut self.sender);
        }
        if unaided.phase() == JumpPhase::Normal {
            jump.unaided = None;
            if jump.unaided_alone {
                // The short way through the end point from now on.
                self.jump = None;
            }
        }
    }

    /// The outcomes of this end's Quick-Start requests.
    pub fn quick_start_log(&self) -> &[QuickStartEvent] {
        self.jump.as_ref().map_or(&[], |jump| jump.quick_start.log())
    }

    /// True if a segment with `options` means nothing to this end's jump.
    // A call where there is a jump, and nothing in the way where there is none.
    #[inline(never)]
    pub(in crate::endpoint) fn jump_sleeps(&self, options: Option<&Options>) -> bool {
        let said = |options: &Options| {
            options.quick_start.is_some() || options.quick_start_response.is_some()
        };
        self.jump.as_ref().is_none_or(|jump| jump.asleep) && !options.is_some_and(said)
    }

    /// True if the next segment of an open connection means nothing to this end's jump: it does not end
    /// a silence either.
    #[inline(never)]
    pub(in crate::endpoint) fn jump_sleeps_on(&self, now: Instant) -> bool {
        self.jump.as_ref().is_none_or(|jump| jump.asleep)
            && !(self.sender.unsent() > self.sender.initial_window() && self.sender.is_idle(now))
    }

    /// Before a segment of an end with a jump is taken in.
    pub(in crate::endpoint) fn before_segment(&mut self, segment: &Segment) {
        if let Some(jump) = &mut self.jump
            && segment.flags.contains(Flags::ACK)
            && self.established_at.is_some()
        {
            jump.before_ack(segment.ack, &mut self.sender);
        }
    }

    /// After it.
    pub(in crate::endpoint) fn after_segment(
        &mut self,
        now: Instant,
        ip: IpMeta,
        options: Option<&Options>,
    ) {
        let overhead = self.overhead();
        let Some(jump) = &mut self.jump else { return };
        if let Some(option) = options.and_then(|options| options.quick_start)
            && jump.quick_start.take_option(option, ip.ttl)
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
        let Some(jump) = &mut self.jump else { return };
        jump.look(now, &mut self.sender);
        if jump.unaided.is_some() {
            self.advance_unaided(now, false);
        }
        let Some(jump) = &mut self.jump else { return };
        if jump.quick_start.is_due(self.sender.una()) {
            let response = options.and_then(|options| options.quick_start_response);
            if let Some(grant) = jump.quick_start.take_response(now, response) {
                jump.take_off(now, grant, overhead, &mut self.sender);
            }
        }
        jump.rest();
    }

    /// The options that a SYN or SYN-ACK carries besides its own.
    pub(in crate::endpoint) fn dress_syn(
        &mut self,
        now: Instant,
        first: bool,
        options: &mut Options,
    ) {
        if let Some(jump) = &mut self.jump {
            jump.quick_start.dress_syn(now, first, self.sender.unsent(), options);
        }
    }

    /// The next segment of an open connection with a jump, timers having expired.
    pub(in crate::endpoint) fn poll_jump(&mut self, now: Instant) -> Option<Transmit> {
        if self.jump.as_ref().is_some_and(|jump| jump.unaided.is_some()) {
            self.advance_unaided(now, true);
        }
        let Some(jump) = &mut self.jump else { return self.poll_segment(now) };
        jump.look(now, &mut self.sender);
        let quick_start = &jump.quick_start;
        let (srtt, unsent) = (self.sender.srtt(), self.sender.unsent());
        let idle = self.sender.is_idle(now) && unsent > self.sender.initial_window();
        let ask = if unsent > Bytes::ZERO && jump.phase == JumpPhase::Normal {
            quick_start.next_rate(idle, unsent, srtt)
        } else {
            None
        };
        let in_ip = u16::from(ask.is_some() || quick_start.has_report());
        let in_tcp = u16::from(quick_start.has_response());
        if in_ip + in_tcp == 0 {
            jump.rest();
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
        let Some(jump) = &mut self.jump else { return Some(transmit) };
        let segment = &mut transmit.segment;
        let mut options = transmit.options.unwrap_or_default();
        let data = segment.len > 0;
        jump.quick_start.dress(now, data, ask, segment.end(), &mut options);
        jump.rest();
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
