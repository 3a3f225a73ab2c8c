//! What goes out: segments, with what stands beside them.

use ackclock_packet::{Flags, IpMeta, Options, Segment};
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
    fn into(self, place: &mut Segment, beside: &mut Options) -> Beside {
        let Self { segment, ip, options } = self;
        *place = segment;
        if let Some(options) = options {
            *beside = options;
        }
        let has_data = segment.len > 0;
        Beside { ip, has_data, has_options: options.is_some(), is_last: false }
    }

    /// The same where all of it was written into its places.
    fn of(segment: Segment, options: Options, beside: Beside) -> Self {
        Self { segment, ip: beside.ip, options: beside.has_options.then_some(options) }
    }
}

/// What goes out with a segment that has been written into its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// What it asks of the network.
    pub ip: IpMeta,
    /// Whether it carries data.
    pub has_data: bool,
    /// Whether it has options, which most segments lack.
    pub has_options: bool,
    /// Nothing follows it at this moment, so that there is no need to ask.
    pub is_last: bool,
}

impl Endpoint {
    /// The next segment to go out at `now`, if any; timers that are due expire first.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let (mut segment, mut options) = (Segment::default(), Options::default());
        let beside = self.transmit_into::<false>(now, &mut segment, &mut options)?;
        Some(Transmit::of(segment, options, beside))
    }

    /// The same, unless the segment before [was the last](Beside::is_last), and the segment and its options, if it has
    /// any, are written `into` their places: what was just written in parts cannot be copied as a whole before all of
    /// it, and what was written before it, has reached the cache.
    #[inline]
    pub fn poll_transmit_into(
        &mut self,
        now: Instant,
        into: &mut Segment,
        options: &mut Options,
    ) -> Option<Beside> {
        self.transmit_into::<true>(now, into, options)
    }

    #[inline]
    fn transmit_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        into: &mut Segment,
        options: &mut Options,
    ) -> Option<Beside> {
        if self.state != State::Established || (self.jumping.is_some() && !self.jump_sleeps_on(now))
        {
            return self.transmit_slowly_into::<AHEAD>(now, into, options);
        }
        self.on_timers(now)?;
        self.poll_segment_into::<AHEAD>(now, into, options)
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
        into: &mut Segment,
        options: &mut Options,
    ) -> Option<Beside> {
        if let Some(segment) = self.reset.take() {
            *into = segment;
            return Some(Beside::default());
        }
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => {
                return Some(self.poll_syn(now)?.into(into, options));
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
                return Some(self.poll_dressed(now)?.into(into, options));
            }
        }
        self.poll_segment_into::<AHEAD>(now, into, options)
    }

    /// A segment of data, or else an ACK that is due.
    pub(super) fn poll_segment(&mut self, now: Instant) -> Option<Transmit> {
        let (mut segment, mut options) = (Segment::default(), Options::default());
        let beside = self.poll_segment_into::<false>(now, &mut segment, &mut options)?;
        Some(Transmit::of(segment, options, beside))
    }

    /// The same, and the segment and its options are written `into` their places.
    #[inline]
    fn poll_segment_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        into: &mut Segment,
        options: &mut Options,
    ) -> Option<Beside> {
        if self.marking.used()
            && let Some(segment) = self.take_early_ack()
        {
            *into = segment;
            self.timestamps.stamp(now, into, None);
            return Some(Beside::default());
        }
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
        *into = Segment { seq, ack, len, window, flags, ..Segment::default() };
        // Where the sender has no more, the ACK that was due is this.
        let is_last = stretch.as_ref().is_none_or(|stretch| stretch.follows == Follows::Nothing);
        let mut beside = Beside { has_data: len > 0, is_last, ..Beside::default() };
        if self.marking.used() {
            beside.ip.ecn = self.mark(into, stretch.as_ref());
        }
        self.timestamps.last_ack_sent = ack;
        if self.receiver.has_sack() {
            beside.has_options = true;
            self.add_sack(now, into, options);
            return Some(beside);
        }
        self.receiver.on_ack_sent(window);
        if self.timestamps.used {
            self.timestamps.stamp(now, into, None);
        }
        Some(beside)
    }

    #[inline(never)]
    fn add_sack(&mut self, now: Instant, segment: &mut Segment, options: &mut Options) {
        *options = Options::default();
        self.receiver.report(self.timestamps.used, &mut options.sack);
        self.receiver.on_ack_sent(segment.window);
        self.timestamps.stamp(now, segment, Some(options));
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
