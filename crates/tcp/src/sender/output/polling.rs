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
        if self.end == Seq::FIRST_BYTE && !self.closed {
            // The application only receives, as one end of most connections does.
            return None;
        }
        if self.paces && self.holds_back(now) {
            self.end_burst(now);
            return None;
        }
        let mut stretch = self.next_stretch(now);
        if let Some(stretch) = &mut stretch {
            // A window probe is no use of the window.
            self.sent_in_burst |= stretch.len > Bytes::ZERO;
            if AHEAD && self.stops_here(now) {
                stretch.follows = Follows::Nothing;
            }
        } else {
            if self.paces {
                self.pacer.end_quantum();
            }
            self.end_burst(now);
        }
        stretch
    }

    /// Whether it is plain after a segment that none follows now: then the burst is over, as if the sender had been
    /// asked once more.
    #[inline]
    fn stops_here(&mut self, now: Instant) -> bool {
        if self.paces {
            if self.pacer.may_send(now) {
                return false;
            }
            self.hold_back();
        } else {
            let full_segment = self.end.since(self.space.nxt) >= self.full_payload();
            if !full_segment || self.hold.has_records() || !self.recovery.is_open() {
                return false;
            }
            if self.recovery.allows(self.growth.cwnd(), self.mss.bytes(), &self.space) {
                return false;
            }
            self.limited_by = Limit::Cwnd;
        }
        self.end_burst(now);
        true
    }

    /// Nothing more goes out for now.
    #[inline]
    fn end_burst(&mut self, now: Instant) {
        self.settle_alarm();
        if std::mem::take(&mut self.sent_in_burst) {
            self.propose_after_burst(now);
        }
    }

    #[inline]
    fn next_stretch(&mut self, now: Instant) -> Option<Stretch> {
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
        let mut stretch = self.stretch_at(self.space.nxt, last, self.full_payload())?;
        if !self.recovery.allows(self.growth.cwnd(), stretch.len, &self.space) {
            self.limited_by = Limit::Cwnd;
            return None;
        }
        let ahead = (self.space.nxt + stretch.len).since(self.space.una);
        if ahead > self.rwnd {
            self.limited_by = Limit::ReceiveWindow;
            if self.space.in_flight() > Bytes::ZERO {
                let range = self.recovery.last_resort(self.growth.cwnd())?;
                return self.send_again(now, range);
            }
            if stretch.seq < self.space.max {
                // The peer had room for it when it went out, whole segments or not.
                stretch = self.stretch_at(stretch.seq, self.space.max, self.full_payload())?;
            } else {
                match self.against_window(now, stretch)? {
                    Against::Part(part) => stretch = part,
                    Against::Probe(probe) => return Some(probe),
                }
            }
        } else if stretch.len < self.full_payload()
            && self.waits_for_more(now, &stretch)
            && !self.recovery.probe_is_due()
        {
            self.limited_by = Limit::Application;
            let range = self.recovery.last_resort(self.growth.cwnd())?;
            return self.send_again(now, range);
        }
        self.space.nxt = stretch.seq + stretch.len + Bytes::new(u64::from(stretch.fin));
        self.on_sent(now, &stretch);
        Some(stretch)
    }

    fn send_again(&mut self, now: Instant, range: Range) -> Option<Stretch> {
        let limit = range.end.min(self.space.max);
        let stretch = self.stretch_at(range.start, limit, self.full_payload())?;
        if self.room_taken > 0 {
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
            && let Some(rest) = self.recovery.cut(stretch.seq, len)
            && let Some(modelled) = &mut self.modelled
        {
            modelled.cut(rest);
        }
    }

    /// A segment of at most `most` at `seq`, or what there is before `limit`.
    #[inline]
    fn stretch_at(&mut self, seq: Seq, limit: Seq, most: Bytes) -> Option<Stretch> {
        let data = self.end.since(seq).min(limit.since(seq));
        let len = self.hold.within_record(seq, data.min(most), self.space.una);
        let fin = self.closed && seq + len == self.end && limit > self.end;
        let push = len > Bytes::ZERO && (seq + len == self.end || self.hold.ends_record(seq + len));
        let new = seq >= self.space.max;
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
        let again = stretch.seq < self.space.max;
        // Linux looks at what is in flight, and so begins anew after a timeout, too (tcp_event_data_sent).
        if self.space.una == self.space.max
            || (self.states.are_linux() && self.in_flight() == Bytes::ZERO)
        {
            let nxt = self.space.max;
            let last_send = self.last_send.if_ever();
            self.growth.on_send_start(&SendStart { now, last_send, nxt });
        }
        self.recovery.on_sent(&SentSegment { now, start: stretch.seq, len, again });
        self.stats.segments_sent += 1;
        if again {
            self.stats.segments_retransmitted += 1;
            self.stats.retransmitted_bytes += len.get();
            // Karn: once any of it is sent again, the timed segment says nothing.
            if self.timed.is_some_and(|(timed, _)| stretch.seq < timed) {
                self.timed = None;
            }
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.space.max = self.space.max.max(end);
        if stretch.len < self.full_payload() {
            self.hold.on_short_segment(end);
        }
        self.last_send = now;
        if self.paces || self.modelled.is_some() {
            self.track_and_pace(now, Range { start: stretch.seq, end }, stretch.len, again);
        }
        if self.timer == Instant::NEVER {
            self.timer = now + self.rtt.rto();
        }
        self.arm_recovery(now);
    }

    /// What most senders have no part in.
    fn track_and_pace(&mut self, now: Instant, range: Range, payload: Bytes, again: bool) {
        if self.modelled.is_some() {
            self.track_sent(now, range, again);
        }
        if self.paces {
            self.pace(now, payload);
        }
    }
}
