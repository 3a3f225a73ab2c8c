//! The sender as it is asked for the next data.

use super::{Follows, Stretch};
use crate::event::{Limit, SendStart};
use crate::recovery::{Recovery, SentSegment};
use crate::sender::Sender;
use crate::sender::hold::Against;
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant};

impl Sender {
    /// The next stretch of data that may go out now, if any; called until it says no. `AHEAD` is of a caller that does not
    /// call again where nothing [follows](Follows::Nothing): else that is never said.
    #[inline]
    pub(crate) fn poll_transmit<const AHEAD: bool>(&mut self, now: Instant) -> Option<Stretch> {
        if self.backlog.end == Seq::FIRST_BYTE && !self.backlog.closed {
            // The application only receives, as one end of most connections does.
            return None;
        }
        if self.allowance.paces && self.holds_back(now) {
            self.end_burst(now);
            return None;
        }
        let mut stretch = self.next_stretch(now);
        if let Some(stretch) = &mut stretch {
            // A window probe is no use of the window.
            self.allowance.sent_in_burst |= stretch.len > Bytes::ZERO;
            if AHEAD && self.stops_here(now) {
                stretch.follows = Follows::Nothing;
            }
        } else {
            if self.allowance.paces {
                self.allowance.pacer.end_quantum();
            }
            self.end_burst(now);
        }
        stretch
    }

    /// Whether it is plain after a segment that none follows now: then the burst is over, as if the sender had been
    /// asked once more.
    #[inline]
    fn stops_here(&mut self, now: Instant) -> bool {
        if self.allowance.paces {
            if self.allowance.pacer.may_send(now) {
                return false;
            }
            self.hold_back();
        } else {
            let full_segment = self.backlog.end.since(self.flight.space.nxt) >= self.full_payload();
            if !full_segment || self.backlog.hold.has_records() || !self.flight.recovery.is_open() {
                return false;
            }
            if self.flight.recovery.allows(
                self.allowance.growth.cwnd(),
                self.backlog.mss.bytes(),
                &self.flight.space,
            ) {
                return false;
            }
            self.allowance.limited_by = Limit::Cwnd;
        }
        self.end_burst(now);
        true
    }

    /// Nothing more goes out for now.
    #[inline]
    fn end_burst(&mut self, now: Instant) {
        self.settle_alarm();
        if std::mem::take(&mut self.allowance.sent_in_burst) {
            self.propose_after_burst(now);
        }
    }

    #[inline]
    fn next_stretch(&mut self, now: Instant) -> Option<Stretch> {
        if let Some(range) = self.flight.recovery.next_again(self.allowance.growth.cwnd()) {
            return self.send_again(now, range);
        }
        let last = self.final_seq();
        if self.flight.space.nxt >= last {
            self.allowance.limited_by = Limit::Application;
            let range = self.flight.recovery.last_resort(self.allowance.growth.cwnd())?;
            return self.send_again(now, range);
        }
        self.propose_after_idle(now);
        let mut stretch = self.stretch_at(self.flight.space.nxt, last, self.full_payload())?;
        if !self.flight.recovery.allows(
            self.allowance.growth.cwnd(),
            stretch.len,
            &self.flight.space,
        ) {
            self.allowance.limited_by = Limit::Cwnd;
            return None;
        }
        let ahead = (self.flight.space.nxt + stretch.len).since(self.flight.space.una);
        if ahead > self.backlog.rwnd {
            self.allowance.limited_by = Limit::ReceiveWindow;
            if self.flight.space.in_flight() > Bytes::ZERO {
                let range = self.flight.recovery.last_resort(self.allowance.growth.cwnd())?;
                return self.send_again(now, range);
            }
            if stretch.seq < self.flight.space.max {
                // The peer had room for it when it went out, whole segments or not.
                stretch =
                    self.stretch_at(stretch.seq, self.flight.space.max, self.full_payload())?;
            } else {
                match self.against_window(now, stretch)? {
                    Against::Part(part) => stretch = part,
                    Against::Probe(probe) => return Some(probe),
                }
            }
        } else if stretch.len < self.full_payload()
            && self.waits_for_more(now, &stretch)
            && !self.flight.recovery.probe_is_due()
        {
            self.allowance.limited_by = Limit::Application;
            let range = self.flight.recovery.last_resort(self.allowance.growth.cwnd())?;
            return self.send_again(now, range);
        }
        self.flight.space.nxt = stretch.seq + stretch.len + Bytes::new(u64::from(stretch.fin));
        self.on_sent(now, &stretch);
        Some(stretch)
    }

    fn send_again(&mut self, now: Instant, range: Range) -> Option<Stretch> {
        let limit = range.end.min(self.flight.space.max);
        let stretch = self.stretch_at(range.start, limit, self.full_payload())?;
        if self.backlog.room_taken > 0 {
            self.cut(&stretch, limit);
        }
        self.on_sent(now, &stretch);
        Some(stretch)
    }

    /// Options beside the payload leave less room than when the segment went out first (RFC 6691 §3): what is behind
    /// `stretch` up to `limit` is a segment of its own from now on.
    #[cold]
    fn cut(&mut self, stretch: &Stretch, limit: Seq) {
        let len = stretch.len + Bytes::new(u64::from(stretch.fin));
        if stretch.seq + len < limit
            && let Some(rest) = self.flight.recovery.cut(stretch.seq, len)
            && let Some(modelled) = &mut self.allowance.modelled
        {
            modelled.cut(rest);
        }
    }

    /// A segment of at most `most` at `seq`, or what there is before `limit`.
    #[inline]
    fn stretch_at(&mut self, seq: Seq, limit: Seq, most: Bytes) -> Option<Stretch> {
        let data = self.backlog.end.since(seq).min(limit.since(seq));
        let len = self.backlog.hold.within_record(seq, data.min(most), self.flight.space.una);
        let fin = self.backlog.closed && seq + len == self.backlog.end && limit > self.backlog.end;
        let push = len > Bytes::ZERO
            && (seq + len == self.backlog.end || self.backlog.hold.ends_record(seq + len));
        let new = seq >= self.flight.space.max;
        (len > Bytes::ZERO || fin).then_some(Stretch {
            seq,
            len,
            fin,
            push,
            new,
            follows: Follows::Perhaps,
        })
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, stretch: &Stretch) {
        let len = stretch.len + Bytes::new(u64::from(stretch.fin));
        let end = stretch.seq + len;
        let again = stretch.seq < self.flight.space.max;
        // Linux looks at what is in flight, and so begins anew after a timeout, too (tcp_event_data_sent).
        if self.flight.space.una == self.flight.space.max
            || (self.allowance.states.are_linux() && self.in_flight() == Bytes::ZERO)
        {
            let nxt = self.flight.space.max;
            let last_send = self.flight.last_send.if_ever();
            self.allowance.growth.on_send_start(&SendStart { now, last_send, nxt });
        }
        self.flight.recovery.on_sent(&SentSegment { now, start: stretch.seq, len, again });
        self.stats.segments_sent += 1;
        if again {
            self.stats.segments_retransmitted += 1;
            self.stats.retransmitted_bytes += len.get();
            // Karn: once any of it is sent again, the timed segment says nothing.
            if self.flight.timed.is_some_and(|(timed, _)| stretch.seq < timed) {
                self.flight.timed = None;
            }
        } else if self.flight.timed.is_none() {
            self.flight.timed = Some((end, now));
        }
        self.flight.space.max = self.flight.space.max.max(end);
        if stretch.len < self.full_payload() {
            self.backlog.hold.on_short_segment(end);
        }
        self.flight.last_send = now;
        if self.allowance.paces || self.allowance.modelled.is_some() {
            self.track_and_pace(now, Range { start: stretch.seq, end }, stretch.len, again);
        }
        if self.flight.timer == Instant::NEVER {
            self.flight.timer = now + self.flight.rtt.rto();
        }
        self.arm_recovery(now);
    }

    /// What most senders have no part in.
    fn track_and_pace(&mut self, now: Instant, range: Range, payload: Bytes, again: bool) {
        if self.allowance.modelled.is_some() {
            self.track_sent(now, range, again);
        }
        if self.allowance.paces {
            self.pace(now, payload);
        }
    }
}
