//! The sender asked for the next data.

use ackclock_laws::event::{Limit, SendStart};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant};

use super::{DataRange, Follows};
use crate::recovery::{Recovery, SentSegment};
use crate::sender::backlog::{ShortWait, WindowStall};
use crate::sender::{Sender, View};

impl Sender {
    /// The next data that may go out now, if any; called until it says no. `AHEAD` is of a caller that does not
    /// call again where nothing [follows](Follows::Nothing): else that is never said.
    #[inline]
    pub(crate) fn poll_transmit<const AHEAD: bool>(&mut self, now: Instant) -> Option<DataRange> {
        if self.backlog.is_unused() {
            // The application only receives, as one end of most connections does.
            return None;
        }
        if self.allowance.paces() && self.allowance.holds_back(now, &self.backlog, &mut self.flight)
        {
            self.end_burst(now);
            return None;
        }
        let mut data = self.next_data(now);
        if let Some(data) = &mut data {
            self.allowance.note_sent(data.len);
            if AHEAD && self.stops_here(now) {
                data.follows = Follows::Nothing;
            }
        } else {
            if self.allowance.paces() {
                self.allowance.end_quantum();
            }
            self.end_burst(now);
        }
        data
    }

    /// True if it is plain after a segment that none follows now: then the burst is over, as if the sender had been
    /// asked once more.
    #[inline]
    fn stops_here(&mut self, now: Instant) -> bool {
        if self.allowance.paces() {
            if self.allowance.may_pace_out(now) {
                return false;
            }
            self.allowance.hold_back(&self.backlog, &mut self.flight);
        } else {
            if !self.backlog.has_full_segment(self.flight.nxt())
                || !self.flight.recovery().is_open()
            {
                return false;
            }
            if self.flight.allows(self.allowance.cwnd(), self.backlog.mss().bytes()) {
                return false;
            }
            self.allowance.limit(Limit::Cwnd);
        }
        self.end_burst(now);
        true
    }

    /// Nothing more goes out for now.
    #[inline]
    fn end_burst(&mut self, now: Instant) {
        self.flight.settle_alarm();
        let Self { backlog, flight, allowance, .. } = self;
        if backlog.is_closed() && flight.nxt() < backlog.end() {
            backlog.join_fin();
        }
        allowance.end_burst(View { now, backlog, flight });
    }

    #[inline]
    fn next_data(&mut self, now: Instant) -> Option<DataRange> {
        if let Some(range) = self.flight.next_again(self.allowance.cwnd()) {
            return self.send_again(now, range);
        }
        let last = self.backlog.final_seq();
        if self.flight.nxt() >= last {
            return self.send_last_resort(now, Limit::Application);
        }
        let Self { backlog, flight, stats, allowance } = self;
        allowance.propose_after_idle(View { now, backlog, flight }, stats);
        let full_payload = backlog.full_payload();
        let mut data = backlog.data_at(flight.nxt(), last, full_payload, flight.space())?;
        if !flight.allows(allowance.cwnd(), data.len) {
            allowance.limit(Limit::Cwnd);
            return None;
        }
        let ahead = (flight.nxt() + data.len).since(flight.una());
        if ahead > backlog.rwnd() {
            if flight.space().in_flight() > Bytes::ZERO {
                return self.send_last_resort(now, Limit::ReceiveWindow);
            }
            allowance.limit(Limit::ReceiveWindow);
            if data.seq < flight.max() {
                // The peer had room for it when it went out, whole segments or not.
                data = backlog.data_at(data.seq, flight.max(), full_payload, flight.space())?;
            } else {
                match backlog.stalled(data) {
                    WindowStall::Part(part) => data = part,
                    WindowStall::Probe => return Some(self.probe_window(now, data)),
                    WindowStall::Wait(_) if flight.timer_runs() => return None,
                    WindowStall::Wait(Some(wait)) => {
                        flight.wait_for(now, wait);
                        return None;
                    }
                    WindowStall::Wait(None) => {
                        self.wait_for_window(now);
                        return None;
                    }
                }
            }
        } else if data.len < full_payload
            && self.waits_for_more(now, &data)
            && !self.flight.recovery().probe_is_due()
        {
            return self.send_last_resort(now, Limit::Application);
        }
        self.flight.advance_to(data.seq + data.len + Bytes::new(u64::from(data.fin)));
        self.on_sent(now, &data);
        Some(data)
    }

    /// True if `data`, which is not a full segment, waits.
    fn waits_for_more(&mut self, now: Instant, data: &DataRange) -> bool {
        match self.backlog.waits_for_more(data, self.flight.space()) {
            ShortWait::No => false,
            ShortWait::Nagle => true,
            ShortWait::Cork => {
                self.flight.ensure_timer(now);
                true
            }
        }
    }

    /// A segment goes out again where nothing new may, as `limit` keeps it back.
    fn send_last_resort(&mut self, now: Instant, limit: Limit) -> Option<DataRange> {
        self.allowance.limit(limit);
        let range = self.flight.last_resort(self.allowance.cwnd())?;
        self.send_again(now, range)
    }

    /// Asks whether the peer's window has opened; `data` would be next.
    fn probe_window(&mut self, now: Instant, data: DataRange) -> DataRange {
        self.stats.window_probes += 1;
        let probe = self.backlog.window_probe(now, data, self.flight.una());
        self.wait_for_window(now);
        probe
    }

    fn send_again(&mut self, now: Instant, range: Range) -> Option<DataRange> {
        let limit = range.end.min(self.flight.max());
        let full_payload = self.backlog.full_payload();
        let data = self.backlog.data_at(range.start, limit, full_payload, self.flight.space())?;
        if self.backlog.is_shortened() {
            self.cut(&data, limit);
        }
        self.on_sent(now, &data);
        Some(data)
    }

    /// Options beside the payload leave less room than when the segment went out first (RFC 6691 §3): what is behind
    /// `data` up to `limit` is a segment of its own from now on.
    #[cold]
    fn cut(&mut self, data: &DataRange, limit: Seq) {
        let len = data.len + Bytes::new(u64::from(data.fin));
        if data.seq + len < limit
            && let Some(rest) = self.flight.cut(data.seq, len)
        {
            self.allowance.track_cut(rest);
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, data: &DataRange) {
        let Self { backlog, flight, stats, allowance } = self;
        let len = data.len + Bytes::new(u64::from(data.fin));
        let end = data.seq + len;
        let again = data.seq < flight.max();
        let (last_send, nxt) = (flight.last_send(), flight.max());
        let start = SendStart { now, last_send, nxt, app_limited: false };
        // Linux looks at what is in flight, and so begins anew after a timeout, too (tcp_event_data_sent).
        if !allowance.models_path()
            && (flight.is_empty()
                || (allowance.has_linux_states() && flight.in_flight() == Bytes::ZERO))
        {
            allowance.on_send_start(&start);
        }
        flight.on_sent(&SentSegment { now, start: data.seq, len, again });
        stats.segments_sent += 1;
        stats.fins_alone += u64::from(data.len == Bytes::ZERO);
        if again {
            stats.segments_retransmitted += 1;
            stats.retransmitted_bytes += len.get();
            stats.resent_at = data.seq.since(Seq::FIRST_BYTE).get();
        }
        backlog.on_sent(data, end);
        if allowance.models_path() {
            allowance.track_sent(start, Range { start: data.seq, end }, again, flight);
        }
        if allowance.paces() {
            allowance.pace(View { now, backlog, flight }, data.len);
        }
        flight.ensure_timer(now);
        flight.arm_recovery(now);
    }
}
