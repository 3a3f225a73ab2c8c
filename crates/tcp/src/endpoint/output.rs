//! What goes out: segments, with what stands beside them.

use ackclock_packet::{Flags, IpMeta, NearBlocks, Options, SackBlocks, Segment};
use ackclock_units::Instant;

use super::{Endpoint, Failure, State};
use crate::sender::Follows;

/// What goes out: a segment, what it asks of the network, and options if it has any.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// What it asks of the network.
    pub ip: IpMeta,
    /// Options that most segments lack.
    pub options: Option<Options>,
}

impl Transmit {
    fn write(self, out: &mut impl Outlet) -> Beside {
        let Self { segment, ip, options } = self;
        *out.segment() = segment;
        let written = match options {
            Some(options) => {
                *out.options() = options;
                Written::Options
            }
            None => Written::Nothing,
        };
        Beside { ip, has_data: segment.len > 0, written, is_last: false }
    }
}

/// Where what goes out is written: each part of it into its place, as what was just written in parts cannot be copied as
/// a whole before all of it, and what was written before it, has reached the cache.
pub trait Outlet {
    /// The place of the segment.
    fn segment(&mut self) -> &mut Segment;
    /// The place of its SACK blocks, if it has no other [options](Self::options) (timestamps are the segment's own).
    fn blocks(&mut self) -> &mut NearBlocks;
    /// The place of its options, if it has others.
    fn options(&mut self) -> &mut Options;
}

/// What stands beside a segment that has been written into its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Written {
    /// Nothing, as beside most.
    #[default]
    Nothing,
    /// [SACK blocks](Outlet::blocks), near what the segment acknowledges.
    Blocks,
    /// [Options](Outlet::options).
    Options,
}

/// What is told of a segment that has been written into its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// What it asks of the network.
    pub ip: IpMeta,
    /// Whether it carries data.
    pub has_data: bool,
    /// What was written beside it.
    pub written: Written,
    /// Nothing follows it at this moment, so that there is no need to ask.
    pub is_last: bool,
}

/// Places of one segment's parts.
#[derive(Default)]
pub(super) struct Places {
    pub(super) segment: Segment,
    pub(super) blocks: NearBlocks,
    pub(super) options: Options,
}

impl Places {
    pub(super) fn transmit(self, beside: Beside) -> Transmit {
        let options = match beside.written {
            Written::Nothing => None,
            Written::Blocks => {
                Some(Options { sack: self.blocks.near(self.segment.ack), ..Options::default() })
            }
            Written::Options => Some(self.options),
        };
        Transmit { segment: self.segment, ip: beside.ip, options }
    }
}

impl Outlet for Places {
    fn segment(&mut self) -> &mut Segment {
        &mut self.segment
    }

    fn blocks(&mut self) -> &mut NearBlocks {
        &mut self.blocks
    }

    fn options(&mut self) -> &mut Options {
        &mut self.options
    }
}

impl Endpoint {
    /// The next segment to go out at `now`, if any; timers that are due expire first.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let mut places = Places::default();
        let beside = self.transmit_into::<false>(now, &mut places)?;
        Some(places.transmit(beside))
    }

    /// The same, unless the segment before [was the last](Beside::is_last), and the segment and what stands beside it are
    /// written into the places of `out`.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, out: &mut impl Outlet) -> Option<Beside> {
        self.transmit_into::<true>(now, out)
    }

    #[inline]
    fn transmit_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        out: &mut impl Outlet,
    ) -> Option<Beside> {
        if self.state != State::Established || (self.jumping.is_some() && !self.jump_sleeps_on(now))
        {
            return self.transmit_slowly_into::<AHEAD>(now, out);
        }
        self.on_timers(now)?;
        self.poll_segment_into::<AHEAD>(now, out)
    }

    /// Timers of an open connection; `None` if one of them ended it.
    #[inline]
    fn on_timers(&mut self, now: Instant) -> Option<()> {
        if self.sender.due().min(self.receiver.due()) > now {
            return Some(());
        }
        self.expire(now)
    }

    #[inline(never)]
    fn expire(&mut self, now: Instant) -> Option<()> {
        self.sender.on_timer(now);
        self.receiver.on_timer(now, self.sender.rtt());
        if self.sender.gave_up() {
            self.fail(Failure::TimedOut);
            return None;
        }
        Some(())
    }

    /// Lets the timers expire that are due at `now`, while the layer below takes no segment: use it
    /// in place of [`poll_transmit`](Self::poll_transmit) for as long.
    pub fn expire_timers(&mut self, now: Instant) {
        if self.state == State::Established {
            self.sender.settle_alarm();
            self.on_timers(now);
        }
    }

    #[inline(never)]
    fn transmit_slowly_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        out: &mut impl Outlet,
    ) -> Option<Beside> {
        if let Some(segment) = self.reset.take() {
            *out.segment() = segment;
            return Some(Beside::default());
        }
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent => return Some(self.poll_syn(now)?.write(out)),
            State::SynReceived => {
                let opening = self.poll_syn(now).or_else(|| self.poll_answer(now));
                if let Some(transmit) = opening {
                    return Some(transmit.write(out));
                }
                if !self.opens_fast() {
                    return None;
                }
            }
            _ => {}
        }
        if self.time_wait_until.is_some_and(|until| until <= now) {
            self.state = State::Closed;
            return None;
        }
        if self.state == State::TimeWait {
            self.receiver.on_timer(now, self.sender.rtt());
        } else {
            self.on_timers(now)?;
            if self.jumping.is_some() {
                return Some(self.poll_dressed(now)?.write(out));
            }
        }
        self.poll_segment_into::<AHEAD>(now, out)
    }

    /// A segment of data, or else an ACK that is due.
    pub(super) fn poll_segment(&mut self, now: Instant) -> Option<Transmit> {
        let mut places = Places::default();
        let beside = self.poll_segment_into::<false>(now, &mut places)?;
        Some(places.transmit(beside))
    }

    /// The same, written into the places of `out`.
    #[inline]
    fn poll_segment_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        out: &mut impl Outlet,
    ) -> Option<Beside> {
        if self.marking.used()
            && let Some(segment) = self.take_early_ack()
        {
            let into = out.segment();
            *into = segment;
            self.timestamps.stamp(now, into, None);
            return Some(Beside::default());
        }
        let room = if self.receiver.has_sack() { self.room_for_sack() } else { 0 };
        self.sender.leave_room(room);
        let stretch = self.sender.poll_transmit::<AHEAD>(now);
        if stretch.is_none() && !self.receiver.ack_due() {
            return None;
        }
        let mut seq = self.sender.next_seq();
        let mut len = 0;
        let mut flags = Flags::ACK;
        if let Some(stretch) = &stretch {
            seq = stretch.seq;
            // A stretch is at most an MSS, which is 16 bits wide.
            len = u32::try_from(stretch.len.get()).unwrap_or(u32::MAX);
            if stretch.push {
                flags = flags | Flags::PSH;
            }
            if stretch.fin {
                flags = flags | Flags::FIN;
            }
            if len > 0 {
                self.receiver.on_data_sent(now);
            }
        }
        let (ack, window) = (self.receiver.nxt(), self.receiver.window());
        let into = out.segment();
        *into = Segment { seq, ack, len, window, flags, ..Segment::default() };
        // Where the sender has no more, the ACK that was due is this.
        let is_last = stretch.as_ref().is_none_or(|stretch| stretch.follows == Follows::Nothing);
        let mut beside = Beside { has_data: len > 0, is_last, ..Beside::default() };
        if self.marking.used() {
            beside.ip.ecn = self.mark(into, stretch.as_ref());
        }
        self.timestamps.last_ack_sent = ack;
        if self.receiver.has_sack() {
            beside.written = self.add_sack(now, out);
            return Some(beside);
        }
        self.receiver.on_ack_sent(window);
        if self.timestamps.used {
            self.timestamps.stamp(now, into, None);
        }
        Some(beside)
    }

    /// The next segment is so much shorter than a full one as its SACK blocks take (RFC 6691 §3).
    #[cold]
    fn room_for_sack(&self) -> u8 {
        let timestamps = self.timestamps.used;
        let count = self.receiver.blocks_to_report(timestamps);
        SackBlocks::wire_len(count, timestamps) - SackBlocks::wire_len(0, timestamps)
    }

    fn add_sack(&mut self, now: Instant, out: &mut impl Outlet) -> Written {
        let timestamps = self.timestamps.used;
        let near = self.receiver.report(timestamps, out.blocks());
        let count = near.unwrap_or_else(|| {
            let sack = self.receiver.report_far(timestamps);
            *out.options() = Options { sack, ..Options::default() };
            sack.count()
        });
        let segment = out.segment();
        self.receiver.on_ack_sent(segment.window);
        self.timestamps.stamp_beside(now, segment, SackBlocks::wire_len(count, timestamps));
        if near.is_some() { Written::Blocks } else { Written::Options }
    }

    #[inline]
    pub(super) fn bare_segment(&self) -> Segment {
        Segment {
            seq: self.sender.next_seq(),
            ack: self.receiver.nxt(),
            window: self.receiver.window(),
            flags: Flags::ACK,
            ..Segment::default()
        }
    }
}
