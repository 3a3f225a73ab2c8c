//! The data that waits to be sent: the buffer, Nagle's algorithm and its kin, and the peer's window with its probes.

mod window;

use std::collections::VecDeque;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant, Mss};

use super::output::{DataRange, Follows};
use crate::config::{Config, Nagle, WindowProbe};
use crate::recovery::SendSpace;
pub(super) use window::WindowStall;

/// The application's word on what will follow a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteHint {
    /// Nothing that it knows of.
    Silence,
    /// More, soon (`MSG_MORE`).
    More,
    /// Another record, which shares no segment with this one (`MSG_EOR`).
    Record,
}

/// The wait of a segment that is not full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShortWait {
    /// Not at all.
    No,
    /// Until more data or an ACK comes (Nagle).
    Nagle,
    /// The wait lasts until then, or as long as for an ACK that is lost (cork).
    Cork,
}

/// The data that the application gave, and how it is cut into segments.
#[derive(Debug)]
// Fields that every segment needs come last.
#[repr(C)]
pub(super) struct Backlog {
    /// The byte of new data that a probe carried: the number after it, when it left last, and
    /// whether it left more than once.
    probed: Option<(Seq, Instant, bool)>,
    /// Doublings of the interval between probes.
    backoff: u32,
    /// The length of a full segment as agreed, if segments are shorter while the peer's windows are small.
    agreed_mss: Option<Mss>,
    halves_small_windows: bool,
    nagle: Nagle,
    /// Nothing but full segments goes out (`TCP_CORK`).
    cork: bool,
    /// The application said that more is to come (`MSG_MORE`), and nothing has happened since.
    more: bool,
    probe: WindowProbe,
    /// The time to wait for the window is over.
    overdue: bool,
    /// The numbers after records that end where the application said, ascending.
    records: VecDeque<Seq>,
    /// The largest window that the peer ever offered, as an estimate of its buffer.
    largest_window: Bytes,
    /// The number from which a segment is pushed although more follows: half of the largest window behind the last
    /// that was, so that the peer hears of it before its buffer is full (Linux's `forced_push`).
    push_at: Seq,
    /// The number after the last segment that was not full.
    short_end: Seq,
    /// The number after the last byte that the application gave.
    end: Seq,
    /// The receiver's window.
    rwnd: Bytes,
    mss: Mss,
    /// Bytes of a full segment that options beside the payload take now.
    room_taken: u8,
    /// A FIN follows `end`, as the application closed.
    closed: bool,
    /// The FIN goes out in the segment of the last byte.
    joins: bool,
}

impl Backlog {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            probed: None,
            backoff: 0,
            agreed_mss: None,
            halves_small_windows: config.halves_small_windows,
            nagle: config.nagle,
            cork: false,
            more: false,
            probe: config.window_probe,
            overdue: false,
            records: VecDeque::new(),
            largest_window: Bytes::ZERO,
            push_at: Seq::new(u64::MAX),
            short_end: Seq::FIRST_BYTE,
            end: Seq::FIRST_BYTE,
            rwnd: Bytes::ZERO,
            mss: config.mss,
            room_taken: 0,
            closed: false,
            joins: !config.lone_fin,
        }
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let Self {
            probed,
            backoff,
            agreed_mss,
            halves_small_windows,
            nagle,
            cork,
            more,
            probe,
            overdue,
            records,
            largest_window,
            push_at,
            short_end,
            end,
            rwnd,
            mss,
            room_taken,
            closed,
            joins,
        } = self;
        *probed = None;
        *backoff = 0;
        *agreed_mss = None;
        *halves_small_windows = config.halves_small_windows;
        *nagle = config.nagle;
        *cork = false;
        *more = false;
        *probe = config.window_probe;
        *overdue = false;
        records.clear();
        *largest_window = Bytes::ZERO;
        *push_at = Seq::new(u64::MAX);
        *short_end = Seq::FIRST_BYTE;
        *end = Seq::FIRST_BYTE;
        *rwnd = Bytes::ZERO;
        *mss = config.mss;
        *room_taken = 0;
        *closed = false;
        *joins = !config.lone_fin;
    }

    pub(super) fn write(&mut self, volume: Bytes, hint: WriteHint) {
        self.end = self.end + volume;
        self.more = hint == WriteHint::More;
        if hint == WriteHint::Record {
            self.records.push_back(self.end);
        }
    }

    pub(super) const fn set_nagle(&mut self, nagle: Nagle) {
        self.nagle = nagle;
        // As on Linux, TCP_NODELAY also lets go what was kept.
        if matches!(nagle, Nagle::Off) {
            self.more = false;
            self.cork = false;
        }
    }

    pub(super) const fn set_cork(&mut self, cork: bool) {
        self.cork = cork;
        self.more = false;
    }

    pub(super) const fn close(&mut self) {
        self.closed = true;
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// True if the application gave nothing and did not close.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.end == Seq::FIRST_BYTE && !self.closed
    }

    /// The number after the last byte that the application gave.
    pub(super) const fn end(&self) -> Seq {
        self.end
    }

    /// The number after the last that there is to send, a FIN's included.
    #[inline]
    pub(super) fn final_seq(&self) -> Seq {
        if self.closed { self.end + Bytes::new(1) } else { self.end }
    }

    pub(super) const fn rwnd(&self) -> Bytes {
        self.rwnd
    }

    pub(super) const fn set_rwnd(&mut self, rwnd: Bytes) {
        self.rwnd = rwnd;
    }

    pub(super) const fn mss(&self) -> Mss {
        self.mss
    }

    pub(super) const fn set_mss(&mut self, mss: Mss) {
        self.mss = mss;
    }

    #[inline]
    pub(super) const fn leave_room(&mut self, bytes: u8) {
        self.room_taken = bytes;
    }

    /// True if options beside the payload shorten full segments now.
    #[inline]
    pub(super) const fn is_shortened(&self) -> bool {
        self.room_taken > 0
    }

    /// The payload of a full segment at this moment.
    #[inline]
    pub(super) fn full_payload(&self) -> Bytes {
        Bytes::new(self.mss.bytes().get().saturating_sub(u64::from(self.room_taken)).max(1))
    }

    /// True if a full segment's data waits from `seq` on, and no record cuts it.
    #[inline]
    pub(super) fn has_full_segment(&self, seq: Seq) -> bool {
        self.end.since(seq) >= self.full_payload() && self.records.is_empty()
    }

    /// True if the application said that more is to come.
    #[inline]
    pub(super) const fn expects_more(&self) -> bool {
        self.more
    }

    pub(super) const fn largest_window(&self) -> Bytes {
        self.largest_window
    }

    /// A segment of at most `most` at `seq`, or what there is before `limit`.
    #[inline]
    pub(super) fn data_at(
        &mut self,
        seq: Seq,
        limit: Seq,
        most: Bytes,
        send: &SendSpace,
    ) -> Option<DataRange> {
        let data = self.end.since(seq).min(limit.since(seq));
        let len = self.within_record(seq, data.min(most), send.una);
        let fin = self.closed
            && seq + len == self.end
            && limit > self.end
            && (self.joins || self.fin_is_due(seq, len, send));
        let new = seq >= send.max;
        let push = len > Bytes::ZERO
            && (seq + len == self.end
                || (new && seq + len > self.push_at)
                || self.ends_record(seq + len));
        (len > Bytes::ZERO || fin).then_some(DataRange {
            seq,
            len,
            fin,
            push,
            new,
            follows: Follows::Perhaps,
        })
    }

    /// The part of `len` from `seq` that is in one record.
    #[inline]
    fn within_record(&mut self, seq: Seq, len: Bytes, una: Seq) -> Bytes {
        if self.records.is_empty() { len } else { self.cut_at_record(seq, len, una) }
    }

    #[cold]
    fn cut_at_record(&mut self, seq: Seq, len: Bytes, una: Seq) -> Bytes {
        while self.records.front().is_some_and(|end| *end <= una) {
            self.records.pop_front();
        }
        let next = self.records.partition_point(|end| *end <= seq);
        self.records.get(next).map_or(len, |end| len.min(end.since(seq)))
    }

    fn ends_record(&self, end: Seq) -> bool {
        !self.records.is_empty() && self.records.binary_search(&end).is_ok()
    }

    /// `data` has gone out, up to `end`.
    #[inline]
    pub(super) fn on_sent(&mut self, data: &DataRange, end: Seq) {
        if data.len < self.full_payload() {
            self.short_end = end;
        }
        if end > self.push_at {
            self.push_at = end + self.largest_window / 2;
        }
    }

    /// True if the FIN behind `len` of data at `seq` has nothing to wait with: there is none, or it would have waited
    /// by itself when it was written.
    #[cold]
    fn fin_is_due(&self, seq: Seq, len: Bytes, send: &SendSpace) -> bool {
        let holds = self.cork || self.more || self.nagle_waits(send);
        len == Bytes::ZERO
            || (holds
                && len < self.full_payload()
                && seq >= send.max
                && !self.ends_record(seq + len))
    }

    /// Data has to wait, so that the FIN behind it joins it.
    pub(super) const fn join_fin(&mut self) {
        self.joins = true;
    }

    fn nagle_waits(&self, send: &SendSpace) -> bool {
        match self.nagle {
            Nagle::Off => false,
            Nagle::On => send.una < send.max,
            Nagle::Minshall => send.una < self.short_end,
        }
    }

    /// The wait of a segment that is not full for more data, or for an ACK (RFC 9293 §3.7.4). A
    /// FIN waits for nothing.
    pub(super) fn waits_for_more(&mut self, data: &DataRange, send: &SendSpace) -> ShortWait {
        if data.fin || data.seq < send.max || self.ends_record(data.seq + data.len) {
            return ShortWait::No;
        }
        if self.cork || self.more {
            let overdue = std::mem::take(&mut self.overdue);
            return if overdue { ShortWait::No } else { ShortWait::Cork };
        }
        if self.nagle_waits(send) { ShortWait::Nagle } else { ShortWait::No }
    }

    /// The full segment of a connection that agreed on `mss`, whose peer's first window is `window`.
    pub(super) fn first_mss(&mut self, mss: Mss, window: Bytes) -> Mss {
        if !self.halves_small_windows {
            return mss;
        }
        self.agreed_mss = Some(mss);
        self.largest_window = self.largest_window.max(window);
        self.push_at = Seq::FIRST_BYTE + self.largest_window / 2;
        self.mss = self.bounded_mss(mss);
        self.mss
    }

    /// The peer has offered a larger window than ever.
    #[cold]
    fn bound_mss(&mut self) {
        if let Some(agreed) = self.agreed_mss {
            self.mss = self.bounded_mss(agreed);
        }
    }

    /// `mss`, or half of the largest window if that is less: two segments fit, so that ACKs keep coming. A window of
    /// 536 bytes or less is filled by one segment (Linux's `tcp_bound_to_half_wnd`).
    fn bounded_mss(&self, mss: Mss) -> Mss {
        // RFC 791's least datagram of 68 bytes, less the headers without options.
        const LEAST: u64 = 48;
        let largest = self.largest_window.get();
        let most = if largest > 536 { largest / 2 } else { largest };
        if most == 0 {
            return mss;
        }
        let most = u16::try_from(most.max(LEAST)).ok().and_then(Mss::new);
        most.map_or(mss, |most| mss.min(most))
    }

    /// An ACK that advertises `window`.
    #[inline]
    pub(super) fn on_ack(&mut self, window: Bytes) {
        self.more = false;
        if window > self.largest_window {
            self.largest_window = window;
            self.bound_mss();
        }
    }
}
