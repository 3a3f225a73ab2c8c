//! The receiving half of a connection: what has arrived, and when to say so.

use std::collections::VecDeque;

use ackclock_packet::{Range, SackBlocks, Seq};
use ackclock_units::{Bytes, Instant};

use crate::config::{Config, DelayedAck};

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receiver {
    /// RCV.NXT: the next number expected.
    nxt: Seq,
    /// The number after the last byte that the application has read.
    read: Seq,
    /// Ranges that arrived ahead of `nxt`, ascending and apart.
    ahead: VecDeque<Range>,
    /// Whether the peer understands SACK.
    sack: bool,
    /// A number in each of the ranges that arrived last, most recent first (RFC 2018 §4).
    recent: [Seq; 3],
    /// What arrived a second time and is still to be reported (RFC 2883).
    duplicate: Option<Range>,
    /// The number of the peer's FIN, once it is known.
    fin: Option<Seq>,
    buffer: Bytes,
    /// The window scale shift of this end (RFC 7323 §2).
    shift: u8,
    delayed_ack: Option<DelayedAck>,
    /// Segments received since the last ACK.
    unacked: u32,
    /// An ACK is due at once.
    ack_now: bool,
    /// When a waiting ACK is due.
    ack_timer: Option<Instant>,
    /// The right edge of the window that was last advertised.
    advertised: Seq,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            nxt: Seq::FIRST_BYTE,
            read: Seq::FIRST_BYTE,
            ahead: VecDeque::new(),
            sack: false,
            recent: [Seq::default(); 3],
            duplicate: None,
            fin: None,
            buffer: config.receive_window,
            shift: 0,
            delayed_ack: config.delayed_ack,
            unacked: 0,
            ack_now: false,
            ack_timer: None,
            advertised: Seq::FIRST_BYTE,
        }
    }

    /// The shift that this end offers: the least that lets the window field carry the whole buffer.
    pub(crate) fn offered_shift(&self) -> u8 {
        // RFC 7323 §2.3: at most 14.
        (0..14).find(|shift| self.buffer.get() >> shift <= 0xffff).unwrap_or(14)
    }

    pub(crate) const fn set_shift(&mut self, shift: u8) {
        self.shift = shift;
    }

    pub(crate) const fn permit_sack(&mut self) {
        self.sack = true;
    }

    /// The SACK blocks of the next ACK; `None` if there is nothing to report.
    #[inline]
    pub(crate) fn sack_blocks(&self) -> Option<SackBlocks> {
        if !self.sack || (self.ahead.is_empty() && self.duplicate.is_none()) {
            return None;
        }
        let mut blocks = SackBlocks::default();
        if let Some(duplicate) = self.duplicate {
            blocks.push(duplicate);
        }
        let mut reported = [Seq::default(); 3];
        for (n, seq) in self.recent.iter().enumerate() {
            let after = self.ahead.partition_point(|range| range.start <= *seq);
            let Some(range) = after.checked_sub(1).map(|at| self.ahead[at]) else { continue };
            if *seq < range.end && !reported[..n].contains(&range.start) {
                reported[n] = range.start;
                blocks.push(range);
            }
        }
        Some(blocks)
    }

    pub(crate) const fn nxt(&self) -> Seq {
        self.nxt
    }

    /// Data in order that the application has not read.
    pub(crate) fn readable(&self) -> Bytes {
        self.data_end().since(self.read)
    }

    fn data_end(&self) -> Seq {
        match self.fin {
            Some(fin) if self.nxt > fin => fin,
            _ => self.nxt,
        }
    }

    /// Data received in order since the connection began.
    pub(crate) fn received(&self) -> Bytes {
        self.data_end().since(Seq::FIRST_BYTE)
    }

    /// Whether everything up to and including the peer's FIN has arrived.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    pub(crate) fn read(&mut self, volume: Bytes) -> Bytes {
        let taken = volume.min(self.readable());
        self.read = self.read + taken;
        taken
    }

    /// The window to advertise, as the peer will understand it after scaling.
    #[inline]
    pub(crate) fn window(&self) -> u32 {
        let free = (self.read + self.buffer).since(self.nxt).get();
        let field = (free >> self.shift).min(0xffff);
        // At most 65,535 << 14 < 2^30.
        u32::try_from(field << self.shift).unwrap_or(u32::MAX)
    }

    /// Whether `seq_len` numbers from `seq` touch the window (RFC 9293 §3.10.7.4).
    pub(crate) fn acceptable(&self, seq: Seq, seq_len: Bytes) -> bool {
        let right = self.advertised.max(self.nxt);
        let end = seq + seq_len;
        if seq_len == Bytes::ZERO {
            seq <= right && seq >= self.nxt
        } else {
            seq < right && end > self.nxt
        }
    }

    /// Payload, and perhaps a FIN, of an acceptable segment.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, seq: Seq, len: Bytes, fin: bool) {
        let end = seq + len + Bytes::new(u64::from(fin));
        if fin {
            self.fin = Some(seq + len);
        }
        if seq > self.nxt {
            let new = Range { start: seq, end };
            if self.ahead.iter().any(|held| held.start <= seq && end <= held.end) {
                self.duplicate = Some(new);
            }
            let joined = self.keep_ahead(new);
            self.remember(seq, joined);
            // RFC 5681 §4.2: a duplicate ACK at once.
            self.ack_now = true;
            return;
        }
        if end <= self.nxt {
            self.duplicate = Some(Range { start: seq, end });
            self.ack_now = true;
            return;
        }
        self.nxt = end;
        let filled_gap = !self.ahead.is_empty();
        while let Some(first) = self.ahead.front()
            && first.start <= self.nxt
        {
            self.nxt = self.nxt.max(first.end);
            self.ahead.pop_front();
        }
        self.unacked += 1;
        match self.delayed_ack {
            Some(delay) if !filled_gap && !fin && self.unacked < delay.every => {
                if self.ack_timer.is_none() {
                    self.ack_timer = Some(now + delay.timeout);
                }
            }
            _ => self.ack_now = true,
        }
    }

    /// Joins `new` to the ranges held; returns the range that it is now in. Arrivals come mostly in order, so that the search goes from
    /// the back.
    fn keep_ahead(&mut self, new: Range) -> Range {
        let mut at = self.ahead.len();
        while at > 0 && self.ahead[at - 1].start > new.start {
            at -= 1;
        }
        // `at` is the first range that starts after `new`.
        let mut joined = new;
        let mut from = at;
        if at > 0 && self.ahead[at - 1].end >= new.start {
            from = at - 1;
            joined.start = self.ahead[from].start;
            joined.end = joined.end.max(self.ahead[from].end);
        }
        let mut to = at;
        while to < self.ahead.len() && self.ahead[to].start <= joined.end {
            joined.end = joined.end.max(self.ahead[to].end);
            to += 1;
        }
        if from == to {
            self.ahead.insert(from, joined);
        } else {
            self.ahead[from] = joined;
            self.ahead.drain(from + 1..to);
        }
        joined
    }

    /// `seq`, in the range `joined`, arrived last; one number a range is remembered.
    fn remember(&mut self, seq: Seq, joined: Range) {
        let others = |old: &&Seq| !(joined.start <= **old && **old < joined.end);
        let mut kept = self.recent.iter().filter(others).copied();
        self.recent = [seq, kept.next().unwrap_or_default(), kept.next().unwrap_or_default()];
    }

    /// An ACK at once, whatever the rule for waiting says.
    pub(crate) const fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    pub(crate) const fn ack_due(&self) -> bool {
        self.ack_now
    }

    pub(crate) const fn timer(&self) -> Option<Instant> {
        self.ack_timer
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        if self.ack_timer.is_some_and(|at| at <= now) {
            self.ack_now = true;
        }
    }

    /// A segment carries the acknowledgment out.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self, window: u32) {
        self.ack_now = false;
        self.ack_timer = None;
        self.unacked = 0;
        self.duplicate = None;
        self.advertised = self.advertised.max(self.nxt + Bytes::new(u64::from(window)));
    }
}

#[cfg(test)]
mod tests;
