//! The receiving half of a connection: what has arrived, and when to say so.

mod acks;
mod peer_segment;
mod rledbat;
mod sack;
mod tuning;

use std::collections::VecDeque;

use ackclock_packet::{Flags, Range, Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::config::Config;
use crate::data::clock::timestamp_clock;
use crate::rtt::RttEstimator;
use acks::{AckRule, Verdict};
use peer_segment::PeerSegment;
use rledbat::Rledbat;
use sack::Recent;
use tuning::{Offer, Packet, Tuning};

/// The receiving half of a connection.
#[derive(Debug)]
// What every segment touches comes last: see the end point.
#[repr(C)]
pub struct Receiver {
    /// The ranges that arrived last, most recent first (RFC 2018 §4).
    recent: [Recent; 4],
    peer_segment: PeerSegment,
    /// Data in `ahead`.
    ahead_len: Bytes,
    rule: AckRule,
    /// The window that keeps the peer a background flow; `None` with most receivers.
    rledbat: Option<Box<Rledbat>>,
    /// The data that arrived a second time and is still to be reported (RFC 2883).
    duplicate: Option<Range>,
    /// The number of the peer's FIN, once it is known.
    fin: Option<Seq>,
    buffer: Buffer,
    /// Ranges that arrived ahead of `nxt`, ascending and apart.
    ahead: VecDeque<Range>,
    /// RCV.NXT: the next number expected.
    nxt: Seq,
    /// The number after the last byte that the application has read.
    read: Seq,
    /// RCV.NXT when the last ACK was sent.
    acked: Seq,
    /// When a waiting ACK is due; `NEVER` if none waits.
    ack_timer: Instant,
    /// The right edge of the window that was last advertised.
    advertised: Seq,
    /// Segments received since the last ACK.
    unacked: u32,
    /// The payload of each segment of which the packet at hand is made; 0 if it is one segment.
    joined: u32,
    /// True if the peer understands SACK.
    sack: bool,
    /// True if the rule or the buffer learns from what comes.
    adapts: bool,
    /// An ACK is due at once.
    ack_now: bool,
    /// The window scale shift of this end (RFC 7323 §2).
    shift: u8,
}

/// The place where data waits for the application.
#[derive(Clone, Debug)]
enum Buffer {
    /// A buffer of one size.
    Fixed {
        size: Bytes,
        /// The least by which the right edge moves, min(MSS, size / 2), so that no silly windows
        /// are offered (RFC 9293 §3.8.6.2.2).
        step: Bytes,
    },
    /// Growing.
    Tuned(Box<Tuning>),
}

impl Buffer {
    fn fixed(size: Bytes, mss: Mss) -> Self {
        Self::Fixed { size, step: mss.bytes().min(size / 2) }
    }

    fn of(config: &Config) -> Self {
        match config.autotune {
            None => Self::fixed(config.receive_window, config.mss),
            Some(autotune) => Self::Tuned(Box::new(Tuning::new(autotune, config.mss))),
        }
    }
}

impl Receiver {
    /// True if something is learnt from what comes.
    fn learns(config: &Config, rule: &AckRule) -> bool {
        config.autotune.is_some() || config.rledbat.is_some() || matches!(rule, AckRule::Quick(_))
    }

    fn background(config: &Config) -> Option<Box<Rledbat>> {
        config.rledbat.map(|law| Box::new(Rledbat::new(law, config.mss.bytes())))
    }

    pub(crate) fn new(config: &Config) -> Self {
        let rule = AckRule::of(config);
        Self {
            nxt: Seq::FIRST_BYTE,
            read: Seq::FIRST_BYTE,
            ahead: VecDeque::new(),
            sack: false,
            recent: [Recent::NONE; 4],
            duplicate: None,
            fin: None,
            buffer: Buffer::of(config),
            ahead_len: Bytes::ZERO,
            shift: 0,
            adapts: Self::learns(config, &rule),
            rule,
            rledbat: Self::background(config),
            peer_segment: PeerSegment::default(),
            unacked: 0,
            joined: 0,
            acked: Seq::FIRST_BYTE,
            ack_now: false,
            ack_timer: Instant::NEVER,
            advertised: Seq::FIRST_BYTE,
        }
    }

    /// Begins anew as [`new`](Self::new) does, in the memory of this one.
    pub(crate) fn reset(&mut self, config: &Config) {
        let Self {
            nxt,
            read,
            ahead,
            sack,
            recent,
            duplicate,
            fin,
            buffer,
            ahead_len,
            shift,
            rule,
            rledbat,
            adapts,
            peer_segment,
            unacked,
            joined,
            acked,
            ack_now,
            ack_timer,
            advertised,
        } = self;
        *nxt = Seq::FIRST_BYTE;
        *read = Seq::FIRST_BYTE;
        ahead.clear();
        *sack = false;
        *recent = [Recent::NONE; 4];
        *duplicate = None;
        *fin = None;
        *buffer = Buffer::of(config);
        *ahead_len = Bytes::ZERO;
        *shift = 0;
        *rule = AckRule::of(config);
        *rledbat = Self::background(config);
        *adapts = Self::learns(config, rule);
        *peer_segment = PeerSegment::default();
        *unacked = 0;
        *joined = 0;
        *acked = Seq::FIRST_BYTE;
        *ack_now = false;
        *ack_timer = Instant::NEVER;
        *advertised = Seq::FIRST_BYTE;
    }

    /// The shift that this end offers: the least that lets the window field carry the whole buffer.
    pub(crate) fn offered_shift(&self) -> u8 {
        let size = match &self.buffer {
            Buffer::Fixed { size, .. } => size.get(),
            Buffer::Tuned(tuning) => tuning.most(),
        };
        let bits = u64::BITS - size.leading_zeros();
        // RFC 7323 §2.3: at most 14.
        u8::try_from(bits.saturating_sub(u16::BITS).min(14)).unwrap_or(14)
    }

    /// The window of a SYN, before its field cuts it to 65,535 bytes; `options` is what every
    /// segment will carry of them.
    pub(crate) fn first_window(&self, options: u8) -> Bytes {
        let window = match &self.buffer {
            Buffer::Fixed { size, .. } => *size,
            Buffer::Tuned(tuning) => Bytes::new(tuning.first_window(u64::from(options))),
        };
        let own = self.rledbat.as_ref().map_or(u64::MAX, |rledbat| rledbat.window());
        window.min(Bytes::new(own))
    }

    /// A SYN offers the first window.
    pub(crate) fn on_syn_sent(&mut self, options: u8) {
        self.acknowledge();
        let window = match &self.buffer {
            Buffer::Fixed { .. } => self.first_window(options).min(Bytes::new(0xffff)),
            // What the field cannot carry is taken for offered all the same, as Linux does.
            Buffer::Tuned(_) => self.first_window(options),
        };
        self.advertised = self.advertised.max(self.nxt + window);
    }

    /// The handshake is done: segments carry at most `mss` and `options` each, and windows are shifted by `shift`.
    pub(crate) fn on_established(&mut self, now: Instant, mss: Mss, options: u8, shift: u8) {
        self.shift = shift;
        match &mut self.buffer {
            Buffer::Fixed { size, .. } => self.buffer = Buffer::fixed(*size, mss),
            Buffer::Tuned(tuning) => {
                let window = self.advertised.since(Seq::FIRST_BYTE);
                tuning.on_established(now, window, u64::from(options));
            }
        }
        self.peer_segment = PeerSegment::expecting(mss);
        if let Some(rledbat) = &mut self.rledbat {
            rledbat.on_established(mss.bytes());
        }
        if let AckRule::Quick(quick) = &mut self.rule {
            quick.on_established(now);
        }
    }

    pub(crate) const fn permit_sack(&mut self) {
        self.sack = true;
    }

    /// The peer's full segment, as its segments have shown it so far.
    pub const fn peer_segment(&self) -> Bytes {
        self.peer_segment.get()
    }

    /// The size to which the window may open in slow start's manner (Linux's `rcv_ssthresh`), and what the
    /// application read in the last round trip (`rcv_space`); of a buffer of a fixed size, all of
    /// it, and `None`.
    pub fn growth(&self) -> (Bytes, Option<Bytes>) {
        match &self.buffer {
            Buffer::Fixed { size, .. } => (*size, None),
            Buffer::Tuned(tuning) => {
                (Bytes::new(tuning.threshold()), Some(Bytes::new(tuning.space())))
            }
        }
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

    /// True if everything up to and including the peer's FIN has arrived.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// The application takes up to `volume`.
    #[inline]
    pub(crate) fn read(&mut self, now: Instant, volume: Bytes) -> Bytes {
        let taken = volume.min(self.readable());
        if taken > Bytes::ZERO {
            self.read = self.read + taken;
            let left = self.advertised.since(self.nxt);
            match &self.buffer {
                // The peer may be waiting for room for a segment.
                Buffer::Fixed { step, .. } if !self.adapts => {
                    if left < *step {
                        self.offer_after_read(left + Bytes::new(1));
                    }
                }
                _ => self.adapt_to_read(now, taken, left),
            }
        }
        taken
    }

    fn adapt_to_read(&mut self, now: Instant, taken: Bytes, left: Bytes) {
        let unacked = self.nxt.since(self.acked);
        let held = self.held();
        if let AckRule::Quick(quick) = &self.rule {
            self.ack_now |= quick.on_read(unacked, self.peer_segment.get(), self.readable());
        }
        match &mut self.buffer {
            Buffer::Fixed { step, .. } => {
                if left < *step {
                    self.offer_after_read(left + Bytes::new(1));
                }
            }
            Buffer::Tuned(tuning) => {
                tuning.release(held, held + taken);
                let ahead = self.ahead.back().map_or(Bytes::ZERO, |last| last.end.since(self.nxt));
                // Linux measures with each packet of a read, of which the first decides.
                let first =
                    Seq::new(self.read.get() - taken.get()) + taken.min(self.peer_segment.get());
                tuning.on_read(now, first, self.nxt, ahead);
                // Linux tells of a window once it is worth twice what the peer knows of.
                if 2 * left.get() <= tuning.clamp() {
                    self.offer_after_read((left * 2).max(Bytes::new(1)));
                }
            }
        }
    }

    /// Tells the peer of the window if it is `least` by now.
    fn offer_after_read(&mut self, least: Bytes) {
        if !self.ack_now && !self.finished() {
            self.ack_now = Bytes::new(u64::from(self.window())) >= least;
        }
    }

    /// The window to advertise, as the peer will understand it after scaling.
    #[inline]
    pub(crate) fn window(&self) -> u32 {
        let free = match &self.buffer {
            Buffer::Fixed { size, step } => {
                let edge = self.read + *size;
                let moves = edge.since(self.advertised) >= *step;
                (if moves { edge } else { self.advertised }).since(self.nxt).get()
            }
            Buffer::Tuned(tuning) => {
                let left = self.advertised.since(self.nxt).get();
                let offered = self.offer(tuning).window;
                // Never back (RFC 9293 §3.8.6).
                if offered < left { left.next_multiple_of(1 << self.shift) } else { offered }
            }
        };
        let free = if self.adapts { self.bound(free) } else { free };
        let field = (free >> self.shift).min(0xffff);
        // At most 65,535 << 14 < 2^30.
        u32::try_from(field << self.shift).unwrap_or(u32::MAX)
    }

    /// The window of `free`, at most RLWND, unless more has been offered (RFC 9840 §4.1.1).
    fn bound(&self, free: u64) -> u64 {
        let Some(rledbat) = &self.rledbat else { return free };
        let left = self.advertised.since(self.nxt).get();
        free.min(rledbat.window().max(left).next_multiple_of(1 << self.shift))
    }

    fn offer(&self, tuning: &Tuning) -> Offer {
        let last = self.advertised.since(self.acked).get();
        tuning.window(self.peer_segment.get(), last, self.shift)
    }

    /// Data that takes up the buffer.
    fn held(&self) -> Bytes {
        self.readable() + self.ahead_len
    }

    /// The right edge of the window. It never moves back (RFC 9293 §3.8.6).
    #[inline]
    fn right_edge(&self) -> Seq {
        self.advertised.max(self.nxt)
    }

    /// True if `len` of payload from `seq` is new and wholly within the window, and no FIN is known: the
    /// ordinary segment, of which nothing is cut off and by which the peer does not finish.
    #[inline]
    pub(crate) fn expects(&self, seq: Seq, len: Bytes) -> bool {
        seq >= self.nxt && seq + len <= self.right_edge() && self.fin.is_none()
    }

    /// The part of an acceptable segment that is within the window and not behind the peer's FIN, if that
    /// is less than all of it (RFC 9293 §3.10.7.4: "SEG.SEQ is adjusted, and other portions are discarded").
    ///
    /// A FIN takes no room and may lie on the right edge.
    pub(crate) fn cut(&self, segment: &Segment, at_window: bool) -> Option<Segment> {
        let window = if at_window { self.right_edge() } else { Seq::new(u64::MAX) };
        let right = self.fin.map_or(window, |fin| fin.min(window));
        let end = segment.seq + segment.payload();
        let repeats_fin = self.fin.is_none_or(|fin| fin == end);
        if end <= right && (repeats_fin || !segment.flags.contains(Flags::FIN)) {
            return None;
        }
        let len = u32::try_from(right.since(segment.seq).get()).unwrap_or(u32::MAX);
        let flags = segment.flags.without(Flags::FIN | Flags::PSH);
        Some(Segment { len: len.min(segment.len), flags, ..*segment })
    }

    /// True if `len` of payload from `seq` reaches beyond the window.
    pub(crate) fn is_beyond(&self, seq: Seq, len: Bytes) -> bool {
        seq + len > self.right_edge()
    }

    /// True if `seq` is in the window, or RCV.NXT.
    pub(crate) fn is_within(&self, seq: Seq) -> bool {
        seq == self.nxt || (seq > self.nxt && seq < self.right_edge())
    }

    /// True if `seq_len` numbers from `seq` touch the window (RFC 9293 §3.10.7.4).
    pub(crate) fn acceptable(&self, seq: Seq, seq_len: Bytes) -> bool {
        let right = self.right_edge();
        let end = seq + seq_len;
        if seq_len == Bytes::ZERO {
            seq <= right && seq >= self.nxt
        } else {
            seq < right && end > self.nxt
        }
    }

    /// Payload, and perhaps a FIN, of an acceptable segment. `rtt` is what the other half knows.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, segment: &Segment, rtt: &RttEstimator) {
        let (seq, len) = (segment.seq, segment.payload());
        let fin = segment.flags.contains(Flags::FIN);
        let end = seq + len + Bytes::new(u64::from(fin));
        if fin {
            self.fin = Some(seq + len);
        }
        if self.adapts
            && let Some(rledbat) = &mut self.rledbat
        {
            rledbat.on_data(now, segment);
        }
        if seq > self.nxt {
            let new = Range { start: seq, end };
            let at = self.place_ahead(seq);
            self.note_overlap(at, new);
            let before = self.ahead_len;
            let joined = self.keep_ahead(at, new);
            self.remember(joined);
            // RFC 5681 §4.2: a duplicate ACK at once.
            self.ack_now |= !self.adapt_to_gap(now, segment, rtt, self.ahead_len > before);
            return;
        }
        if end <= self.nxt {
            self.on_repeated(seq, end);
            self.ack_now = true;
            return;
        }
        let repeats = seq < self.nxt;
        if fin {
            self.drop_ahead();
        }
        let filled_gap = !self.ahead.is_empty();
        if repeats {
            self.duplicate = Some(Range { start: seq, end: self.nxt });
        } else if filled_gap {
            self.note_overlap(0, Range { start: self.nxt, end });
        }
        self.nxt = end;
        while let Some(first) = self.ahead.front()
            && first.start <= self.nxt
        {
            self.nxt = self.nxt.max(first.end);
            self.ahead_len -= first.len();
            self.ahead.pop_front();
        }
        if filled_gap {
            if let Some(fin) = self.fin
                && self.nxt > fin
            {
                self.nxt = fin + Bytes::new(1);
                self.drop_ahead();
            } else if self.ahead.is_empty() {
                self.recent = [Recent::NONE; 4];
            }
        }
        self.unacked += if self.joined == 0 { 1 } else { segment.len.div_ceil(self.joined) };
        if self.adapts {
            self.adapt(now, segment, rtt);
        }
        match &mut self.rule {
            // A duplicate is reported by the ACK of its own segment (RFC 2883 §4).
            AckRule::Delayed(delay)
                if !filled_gap && !fin && !repeats && self.unacked < delay.every =>
            {
                if self.ack_timer == Instant::NEVER {
                    self.ack_timer = now + delay.timeout;
                }
            }
            AckRule::Quick(_) if !filled_gap => self.decide(now, fin, rtt),
            _ => self.ack_now = true,
        }
    }

    /// Payload of the peer's SYN, as far as the window holds it, which the SYN-ACK acknowledges; how much it is.
    #[cold]
    pub(crate) fn on_syn_data(&mut self, len: Bytes) -> Bytes {
        let taken = len.min(self.right_edge().since(self.nxt));
        self.nxt = self.nxt + taken;
        taken
    }

    /// Nothing can be ahead of the peer's FIN that was not sent by somebody else, or in error (Linux's `tcp_fin`).
    fn drop_ahead(&mut self) {
        if !self.ahead.is_empty() {
            let (left, before) = (self.readable(), self.held());
            if let Buffer::Tuned(tuning) = &mut self.buffer {
                tuning.release(left, before);
            }
            self.ahead.clear();
            self.ahead_len = Bytes::ZERO;
            self.recent = [Recent::NONE; 4];
            self.duplicate = None;
        }
    }

    /// The network marked a segment: the peer's window may be so small that it waits for each ACK.
    pub(crate) fn on_mark(&mut self) {
        self.alert();
    }

    /// True if data that came in order is not acknowledged yet.
    pub(crate) fn ack_waits(&self) -> bool {
        self.nxt > self.acked
    }

    /// A tuned buffer and Linux's rule learn from data in order.
    fn adapt(&mut self, now: Instant, segment: &Segment, rtt: &RttEstimator) {
        let len = segment.payload();
        if len == Bytes::ZERO {
            return;
        }
        let window = self.advertised.since(self.acked);
        let single = self.single(len);
        let full_segment_moved = self.peer_segment.measure(single, segment.flags);
        let packet = Packet::of(segment, self.joined > 0);
        if let Buffer::Tuned(tuning) = &mut self.buffer {
            tuning.hold(packet, true);
            if full_segment_moved {
                tuning.on_full_segment(packet, window);
            }
            if segment.timestamps {
                if len >= self.peer_segment.get() {
                    let ticks = timestamp_clock(now).wrapping_sub(segment.ts_ecr);
                    let ago = Duration::from_millis(u64::from(ticks).max(1));
                    tuning.time_by_echo(segment.ts_ecr, ago, self.read >= segment.seq);
                }
            } else {
                tuning.time_by_window(now, self.nxt, window);
            }
        }
        let small = single < self.peer_segment.get();
        if let AckRule::Quick(quick) = &mut self.rule {
            let push = segment.flags.contains(Flags::PSH);
            quick.on_data(now, small, push, self.peer_segment.quick_window(window), rtt);
        }
        self.grow(packet);
    }

    /// They learn from data out of order, of which something is `new` or nothing; true if its ACK waits.
    fn adapt_to_gap(
        &mut self,
        now: Instant,
        segment: &Segment,
        rtt: &RttEstimator,
        new: bool,
    ) -> bool {
        if !self.adapts {
            return false;
        }
        let single = self.single(segment.payload());
        let window = self.advertised.since(self.acked);
        let packet = Packet::of(segment, self.joined > 0);
        if single > Bytes::ZERO
            && self.peer_segment.measure(single, segment.flags)
            && let Buffer::Tuned(tuning) = &mut self.buffer
        {
            tuning.on_full_segment(packet, window);
        }
        if self.sack {
            self.grow(packet);
        }
        if let (Buffer::Tuned(tuning), true) = (&mut self.buffer, new) {
            tuning.hold(packet, false);
        }
        let mut shortest = rtt.srtt();
        if let (Buffer::Tuned(tuning), Some(last)) = (&mut self.buffer, self.ahead.back()) {
            tuning.on_gap(last.end.since(self.nxt));
            shortest = [shortest, tuning.rtt()].into_iter().flatten().min();
        }
        let AckRule::Quick(quick) = &mut self.rule else { return false };
        if !self.sack || self.duplicate.is_some() {
            return false;
        }
        match quick.on_gap(now, self.nxt, self.ack_timer.if_ever(), shortest.unwrap_or_default()) {
            Verdict::Now => false,
            Verdict::By(at) => {
                self.ack_timer = at;
                true
            }
        }
    }

    fn grow(&mut self, packet: Packet) {
        let full = self.peer_segment.get();
        if let Buffer::Tuned(tuning) = &mut self.buffer
            && tuning.grow(packet, full)
            && let AckRule::Quick(quick) = &mut self.rule
        {
            quick.on_growth();
        }
    }

    /// The next packet is made of segments with `size` of payload each; 0 of a packet that is one segment.
    pub(crate) const fn expect_joined(&mut self, size: u32) {
        self.joined = size;
    }

    /// The payload of a full segment in a packet with `len` of payload.
    fn single(&self, len: Bytes) -> Bytes {
        if self.joined == 0 { len } else { len.min(Bytes::new(u64::from(self.joined))) }
    }

    /// Something is amiss, so that the peer should hear of each segment.
    fn alert(&mut self) {
        let window = self.advertised.since(self.acked);
        if let AckRule::Quick(quick) = &mut self.rule {
            quick.alert(self.peer_segment.quick_window(window));
        }
    }

    /// Linux's choice between an ACK now and later.
    fn decide(&mut self, now: Instant, fin: bool, rtt: &RttEstimator) {
        let offered = match &self.buffer {
            Buffer::Fixed { .. } => u64::from(self.window()),
            Buffer::Tuned(tuning) => self.offer(tuning).window,
        };
        let opens = offered >= self.advertised.since(self.acked).get();
        let unacked = self.nxt.since(self.acked);
        let AckRule::Quick(quick) = &mut self.rule else { return };
        if fin {
            quick.on_fin();
        }
        match quick.verdict(
            now,
            unacked,
            self.peer_segment.get(),
            opens,
            self.ack_timer.if_ever(),
            rtt,
        ) {
            Verdict::Now => self.ack_now = true,
            Verdict::By(at) => self.ack_timer = at,
        }
    }

    /// An ACK at once, whatever the rule for waiting says.
    pub(crate) const fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    pub(crate) const fn ack_due(&self) -> bool {
        self.ack_now
    }

    /// When a waiting ACK is due; `NEVER` if none waits.
    #[inline]
    pub(crate) const fn due(&self) -> Instant {
        self.ack_timer
    }

    pub(crate) fn on_timer(&mut self, now: Instant, rtt: &RttEstimator) {
        if self.ack_timer <= now {
            self.ack_now = true;
            self.ack_timer = Instant::NEVER;
            if let AckRule::Quick(quick) = &mut self.rule {
                quick.on_timer(rtt);
            }
        }
    }

    /// A segment carries the acknowledgment out.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self, window: u32) {
        self.acknowledge();
        self.advertised = self.advertised.max(self.nxt + Bytes::new(u64::from(window)));
    }

    #[inline]
    fn acknowledge(&mut self) {
        if self.adapts {
            self.adapt_to_ack();
        }
        self.ack_now = false;
        self.ack_timer = Instant::NEVER;
        self.unacked = 0;
        self.acked = self.nxt;
        self.duplicate = None;
    }

    fn adapt_to_ack(&mut self) {
        let short = match &self.buffer {
            Buffer::Fixed { .. } => false,
            Buffer::Tuned(tuning) => self.offer(tuning).short,
        };
        if let AckRule::Quick(quick) = &mut self.rule {
            if short {
                quick.on_shortage();
            }
            quick.on_ack_sent();
        }
    }

    /// Data of this end went out.
    #[inline]
    pub(crate) fn on_data_sent(&mut self, now: Instant) {
        if let AckRule::Quick(quick) = &mut self.rule {
            quick.on_data_sent(now);
        }
    }

    /// `TCP_QUICKACK`: the next ACKs go out at once, or wait for data to carry them.
    pub(crate) fn set_quick_ack(&mut self, quick_ack: bool) {
        if let AckRule::Quick(quick) = &mut self.rule {
            quick.set_interactive(!quick_ack);
        }
        self.ack_now |= quick_ack && self.ack_waits();
    }
}

#[cfg(test)]
mod tests;
