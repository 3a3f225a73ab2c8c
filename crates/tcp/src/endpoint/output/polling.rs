//! The end point as it is asked for the next segment.

use super::{ExtraOptions, Places, SegmentSink, Transmit, TransmitInfo};
use crate::endpoint::{Endpoint, Failure, State};
use crate::sender::{Follows, Reasons, Sending};
use ackclock_packet::{Flags, Options, SackBlocks, Segment};
use ackclock_units::{Bytes, Instant};

impl Endpoint {
    /// The next segment to go out at `now`, if any; timers that are due expire first.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let mut places = Places::default();
        let beside = self.transmit_into::<false>(now, &mut places)?;
        Some(places.transmit(beside))
    }

    #[inline]
    pub(crate) fn transmit_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        out: &mut impl SegmentSink,
    ) -> Option<TransmitInfo> {
        if self.state != State::Established || (self.jump.is_some() && !self.jump_sleeps_on(now)) {
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

    /// Looks at the sender, for [reasons](Reasons), before it is asked for a segment. False if a timer has ended the
    /// connection: then it is not to be asked now.
    pub fn look(&mut self, now: Instant, reasons: &mut Reasons) -> bool {
        let open = !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived | State::TimeWait
        );
        if open && self.on_timers(now).is_none() {
            return false;
        }
        reasons.before(now, &mut self.sender);
        true
    }

    /// Looks at the sender after a segment of data that it gave.
    pub fn look_after(&mut self, segment: &Segment, reasons: &mut Reasons) -> Option<Sending> {
        reasons.sent(&mut self.sender, segment.seq, Bytes::new(u64::from(segment.len)))
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
        out: &mut impl SegmentSink,
    ) -> Option<TransmitInfo> {
        if let Some(segment) = self.reset.take() {
            *out.segment() = segment;
            return Some(TransmitInfo::default());
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
            if self.jump.is_some() {
                return Some(self.poll_dressed(now)?.write(out));
            }
        }
        self.poll_segment_into::<AHEAD>(now, out)
    }

    /// A segment of data, or else an ACK that is due.
    pub(in crate::endpoint) fn poll_segment(&mut self, now: Instant) -> Option<Transmit> {
        let mut places = Places::default();
        let beside = self.poll_segment_into::<false>(now, &mut places)?;
        Some(places.transmit(beside))
    }

    /// The next segment, written into the places of `out`.
    #[inline]
    fn poll_segment_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        out: &mut impl SegmentSink,
    ) -> Option<TransmitInfo> {
        if self.marking.used()
            && let Some(segment) = self.take_early_ack()
        {
            let into = out.segment();
            *into = segment;
            self.timestamps.stamp(now, into, None);
            return Some(TransmitInfo::default());
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
        let mut beside = TransmitInfo { has_data: len > 0, is_last, ..TransmitInfo::default() };
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

    fn add_sack(&mut self, now: Instant, out: &mut impl SegmentSink) -> ExtraOptions {
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
        if near.is_some() { ExtraOptions::Blocks } else { ExtraOptions::Options }
    }

    #[inline]
    pub(in crate::endpoint) fn bare_segment(&self) -> Segment {
        Segment {
            seq: self.sender.next_seq(),
            ack: self.receiver.nxt(),
            window: self.receiver.window(),
            flags: Flags::ACK,
            ..Segment::default()
        }
    }
}
