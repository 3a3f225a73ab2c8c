//! A receive buffer that grows with what is read: Linux's dynamic right-sizing.
//!
//! Two things bound the window. The *threshold* (`rcv_ssthresh`) begins small and opens by two
//! segments for each that comes, as a sender in slow start does. The *memory* (`sk_rcvbuf`) is set
//! once a round trip to hold twice of what the application read in it, and more while that grows.
//! The rules and the constants are those of Linux 6.18; they are written down nowhere else.

use ackclock_packet::{Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::config::Autotune;

/// State of a tuned buffer.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    config: Autotune,
    /// The payload of a full segment of this end's (`advmss`).
    mss: u64,
    memory: u64,
    /// The memory of what waits to be read (`sk_rmem_alloc`), and the room behind the last packet in its buffer.
    held: u64,
    tail_room: u64,
    /// The payload in 256 bytes of memory.
    share: u64,
    /// The most that the memory can back (`window_clamp`).
    clamp: u64,
    threshold: u64,
    /// The volume read in the round trip before (`rcvq_space.space`).
    read_before: u64,
    read_from: Seq,
    read_since: Instant,
    rtt: Option<Duration>,
    /// Without timestamps: a round trip ends when this arrives, and began then.
    round: Option<(Seq, Instant)>,
    last_echo: u32,
}

/// Half of the memory, until a full segment has shown what it takes.
const FIRST_SHARE: u64 = 128;

/// A packet with data, as it lies in the memory of a kernel to which a TUN device gave it (`truesize`; measured with
/// `SO_MEMINFO` on Linux 6.18).
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    len: u64,
    /// Its record and its first buffer, whose size is one of the allocator's.
    head: u64,
    /// Pages with what the first buffer does not hold.
    pages: u64,
    /// Room for more in the first buffer.
    room: u64,
    /// The first buffer has no data.
    bare: bool,
}

impl Packet {
    /// A segment, or several that are `joined` in one packet.
    pub(super) const fn of(segment: &Segment, joined: bool) -> Self {
        const PAGE: u64 = 4096;
        const RECORD: u64 = 256;
        /// The buffer of small packets (`skb_small_head_cache`).
        const SMALL: u64 = 576;
        /// Bytes in front of a packet, and the account behind it (`skb_shared_info`).
        const FRONT: u64 = 64;
        const ACCOUNT: u64 = 320;
        let (size, len) = (segment.wire_size().get(), segment.len as u64);
        if FRONT + size < PAGE {
            let needed = (FRONT + size).next_multiple_of(64) + ACCOUNT;
            let buffer = if needed <= SMALL { SMALL } else { needed.next_power_of_two() };
            let room = buffer - ACCOUNT - FRONT - size;
            return Self { len, head: RECORD + buffer, pages: 0, room, bare: false };
        }
        if joined {
            let pages = len.next_multiple_of(PAGE);
            return Self { len, head: RECORD + SMALL, pages, room: 0, bare: true };
        }
        let pages = (size - (PAGE - ACCOUNT - FRONT)).next_multiple_of(PAGE);
        Self { len, head: RECORD + PAGE, pages, room: 0, bare: false }
    }
}

impl Tuning {
    pub(super) fn new(config: Autotune, mss: Mss) -> Self {
        let mut tuning = Self {
            config,
            mss: mss.bytes().get(),
            memory: config.initial.get(),
            held: 0,
            tail_room: 0,
            share: FIRST_SHARE,
            clamp: u64::MAX,
            threshold: 0,
            read_before: 0,
            read_from: Seq::FIRST_BYTE,
            read_since: Instant::START,
            rtt: None,
            round: None,
            last_echo: 0,
        };
        tuning.threshold = tuning.first_window(0);
        tuning
    }

    const fn full(&self) -> u64 {
        (self.memory * self.share) >> 8
    }

    /// The payload that the free memory backs.
    const fn free(&self) -> u64 {
        (self.memory.saturating_sub(self.held) * self.share) >> 8
    }

    /// A packet waits to be read. If it `follows` the last one, its data may go to that one's buffers
    /// (`tcp_try_coalesce`).
    pub(super) const fn hold(&mut self, packet: Packet, follows: bool) {
        if follows && packet.len <= self.tail_room {
            self.tail_room -= packet.len;
            return;
        }
        let moves_pages = follows && packet.bare && self.held > 0;
        self.held += packet.pages + if moves_pages { 0 } else { packet.head };
        if follows {
            self.tail_room = packet.room;
        }
    }

    /// The application has taken some of the data, so that `left` of `before` waits.
    pub(super) fn release(&mut self, left: Bytes, before: Bytes) {
        if left == Bytes::ZERO {
            (self.held, self.tail_room) = (0, 0);
        } else {
            self.held = self.held * left.get() / before.get();
        }
    }

    /// The largest window that may ever be, from which the scale shift follows.
    pub(super) const fn most(&self) -> u64 {
        // A buffer that does not grow is cut to its window at once; one that may is not.
        if self.config.most.get() <= self.config.initial.get() {
            self.full()
        } else {
            self.config.most.get()
        }
    }

    /// The window of the SYN: whole segments, each without the `options` of every segment.
    pub(super) const fn first_window(&self, options: u64) -> u64 {
        let (space, options) = (self.full(), if options < self.mss { options } else { 0 });
        let segment = self.mss - options;
        if space > segment { space - space % segment } else { space }
    }

    /// The handshake is done; `window` is what the SYN advertised, and each segment carries `options`.
    pub(super) fn on_established(&mut self, now: Instant, window: Bytes, options: u64) {
        self.mss = self.mss.saturating_sub(options).max(1);
        let space = self.full();
        // One segment is kept back.
        self.clamp = space.saturating_sub(self.mss).max(2 * self.mss).min(space);
        self.threshold = window.get().min(self.clamp);
        self.read_before = self.threshold.min(10 * self.mss);
        self.read_since = now;
    }

    /// The peer's full segment turned out to be of another length than was thought.
    pub(super) fn on_full_segment(&mut self, packet: Packet, window: Bytes) {
        let share = (256 * packet.len / (packet.head + packet.pages)).max(1);
        if std::mem::replace(&mut self.share, share) == share {
            return;
        }
        let clamp = self.full();
        let old = std::mem::replace(&mut self.clamp, clamp);
        self.threshold = if self.clamp > old {
            self.threshold.max(window.get().min(self.clamp))
        } else {
            self.threshold.min(self.clamp)
        };
        self.read_before = self.read_before.min(self.clamp);
    }

    /// A packet came, and the peer's full segment is `segment`: whether the threshold moved.
    pub(super) fn grow(&mut self, packet: Packet, segment: Bytes) -> bool {
        let room = self.clamp.min(self.free()).saturating_sub(self.threshold);
        let len = packet.len;
        if room == 0 || len < 128 {
            return false;
        }
        let memory = packet.pages + if packet.bare { 0 } else { packet.head };
        let cost = (memory * self.share) >> 8;
        // A segment that takes more memory than its share lets the window grow only while the
        // memory is far from used up.
        let increase = if cost <= len {
            2 * self.mss
        } else {
            let mut cost = cost / 2;
            let mut window = ((self.config.most.get() * self.share) >> 8) / 2;
            while cost > len && self.threshold <= window {
                cost /= 2;
                window /= 2;
            }
            if self.threshold > window {
                return false;
            }
            2 * segment.get()
        };
        self.threshold += room.min(increase.max(2 * len));
        true
    }

    /// The window that may be advertised, and whether less than half of the memory is free.
    /// `segment` is the peer's full segment; windows are multiples of `1 << shift`.
    pub(super) fn window(&self, segment: Bytes, current: u64, shift: u8) -> Offer {
        let all = self.full();
        let full = self.clamp.min(all);
        let segment = segment.get().min(full);
        let mut free = self.free();
        let short = free < full / 2;
        if short {
            free = free >> shift << shift;
            // Silly windows are not offered (RFC 9293 §3.8.6.2.2).
            if free < all / 16 || free < segment {
                return Offer { window: 0, short };
            }
        }
        free = free.min(self.threshold);
        let window = if shift > 0 {
            free.next_multiple_of(1 << shift)
        } else if current + segment <= free || current > free {
            free - free % segment.max(1)
        } else if segment == full && free > current + full / 2 {
            // The buffer holds no more than a segment: a part of it has to do, or a window that has
            // become small would stay so.
            free
        } else {
            current
        };
        Offer { window, short }
    }

    pub(super) const fn clamp(&self) -> u64 {
        self.clamp
    }

    pub(super) const fn threshold(&self) -> u64 {
        self.threshold
    }

    pub(super) const fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// The worth of the last round trip's reads.
    pub(super) const fn space(&self) -> u64 {
        self.read_before
    }

    /// In-order data came, up to `nxt`: without timestamps a round trip is what a whole window
    /// takes, which is too long when the peer does not fill it, so that the least counts.
    pub(super) fn time_by_window(&mut self, now: Instant, nxt: Seq, window: Bytes) {
        match self.round {
            Some((end, _)) if nxt < end => return,
            Some((_, began)) => {
                let sample = now.since(began).max(Duration::from_micros(1));
                self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
            }
            None => {}
        }
        self.round = Some((nxt + window, now));
    }

    /// A full segment echoed this end's timestamp `echo`, which was sent `ago`; `idle` says that
    /// nothing waits to be read.
    pub(super) fn time_by_echo(&mut self, echo: u32, ago: Duration, idle: bool) {
        if echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        match self.rtt {
            Some(rtt) if ago >= rtt => {
                if idle {
                    self.rtt = Some((rtt * 7 + ago) / 8);
                }
            }
            _ => self.rtt = Some(ago),
        }
    }

    /// The application has read up to `read`, of the data up to `nxt`; `ahead` is how far beyond
    /// data has come.
    pub(super) fn on_read(&mut self, now: Instant, read: Seq, nxt: Seq, ahead: Bytes) {
        let Some(rtt) = self.rtt else { return };
        if now.since(self.read_since) < rtt {
            return;
        }
        let unread = nxt.since(read);
        let volume = read.since(self.read_from).get().saturating_sub(unread.get());
        if volume > self.read_before {
            let before = std::mem::replace(&mut self.read_before, volume);
            self.enlarge(before, ahead);
        }
        self.read_from = read;
        self.read_since = now;
    }

    /// Data came out of order, so far `ahead`: the hole may take a while, and what comes meanwhile
    /// needs room.
    pub(super) fn on_gap(&mut self, ahead: Bytes) {
        self.enlarge(self.read_before, ahead);
    }

    fn enlarge(&mut self, before: u64, ahead: Bytes) {
        // Measurements are a round trip late, and the sender may double its rate in each.
        let mut window = 2 * self.read_before;
        let growth =
            u128::from(window) * u128::from(self.read_before - before) / u128::from(before.max(1));
        window = window.saturating_add(u64::try_from(2 * growth).unwrap_or(u64::MAX));
        window = window.saturating_add(ahead.get());
        let memory = (u128::from(window) * 256 / u128::from(self.share))
            .min(u128::from(self.config.most.get()));
        let memory = u64::try_from(memory).unwrap_or(u64::MAX);
        if memory > self.memory {
            self.memory = memory;
            self.clamp = self.full();
        }
    }
}

/// A window, and what to know about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) window: u64,
    /// Less than half of the memory is free.
    pub(super) short: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_became_small_opens_again_in_a_buffer_of_one_segment() {
        // 2000 bytes of memory, half of it payload.
        let memory = Bytes::new(2000);
        let config = Autotune { initial: memory, most: memory };
        let mut tuning = Tuning::new(config, Mss::new(1460).unwrap());
        tuning.on_established(Instant::START, Bytes::new(1000), 0);
        let window = |current| tuning.window(Bytes::new(1460), current, 0).window;
        assert_eq!(window(1000), 1000);
        assert_eq!(window(1), 1000);
        // Less than half of the buffer more is not worth an update.
        assert_eq!(window(600), 600);
    }

    fn tuning() -> Tuning {
        let config = Autotune { initial: Bytes::new(128 << 10), most: Bytes::new(32 << 20) };
        Tuning::new(config, Mss::new(1460).unwrap())
    }

    #[test]
    fn a_longer_round_trip_counts_an_eighth() {
        // Linux's `tcp_rcv_rtt_update`: 7/8 of 80 ms and 1/8 of 160 ms are 90 ms.
        let mut tuning = tuning();
        tuning.time_by_echo(1, Duration::from_millis(80), true);
        tuning.time_by_echo(2, Duration::from_millis(160), true);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(90)));
        // While something waits to be read only a shorter one counts, and an echo counts once.
        tuning.time_by_echo(3, Duration::from_millis(170), false);
        tuning.time_by_echo(3, Duration::from_millis(10), true);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(90)));
        tuning.time_by_echo(4, Duration::from_millis(40), false);
        assert_eq!(tuning.rtt(), Some(Duration::from_millis(40)));
    }

    fn packet(len: u32, joined: bool) -> Packet {
        // 52 bytes of headers, with timestamps.
        Packet::of(&Segment { len, options_len: 12, ..Segment::default() }, joined)
    }

    #[test]
    fn packets_take_the_memory_that_the_kernel_was_seen_to_give_them() {
        // Linux 6.18, SO_MEMINFO behind one packet from a TUN device with so much payload: (payload, memory).
        for (len, memory) in [
            (1, 832),
            (100, 832),
            (188, 1280),
            (552, 1280),
            (600, 2304),
            (1448, 2304),
            (1612, 2304),
            (1613, 4352),
            (3597, 4352),
            (3900, 8448),
            (4044, 8448),
            (8948, 12544),
            (20_000, 20_736),
        ] {
            let packet = packet(len, false);
            assert_eq!(packet.head + packet.pages, memory, "{len}");
        }
        // Segments of 1000 bytes in one packet.
        for (len, memory) in [(2000, 4352), (5000, 9024), (9000, 13_120), (40_000, 41_792)] {
            let packet = packet(len, true);
            assert_eq!(packet.head + packet.pages, memory, "{len}");
        }
    }

    #[test]
    fn data_that_follows_goes_to_buffers_that_are_there() {
        let mut tuning = tuning();
        // 200 bytes leave 1024 - 320 - 64 - 252 = 388 in their buffer of 1024, enough for 200 more. So the kernel had
        // 1280 bytes after two, 2560 after four and 3840 after six.
        for memory in [1280, 1280, 2560, 2560, 3840, 3840] {
            tuning.hold(packet(200, false), true);
            assert_eq!(tuning.held, memory);
        }
        tuning.release(Bytes::ZERO, Bytes::new(1200));
        // Pages of 16 KiB are moved, and the head of 832 bytes is not.
        for memory in [17_216, 33_600, 49_984] {
            tuning.hold(packet(14_480, true), true);
            assert_eq!(tuning.held, memory);
        }
    }

    /// The thresholds (`tcpi_rcv_ssthresh`) of Linux 6.18 behind each of some packets that were read at once, or not.
    #[test]
    fn the_threshold_opens_as_the_kernels() {
        let opened = || {
            let mut tuning = tuning();
            let first = Bytes::new(tuning.first_window(12));
            // 45 segments of 1448 bytes.
            assert_eq!(first.get(), 65_160);
            tuning.on_established(Instant::START, first, 12);
            // 65536 less one segment.
            assert_eq!(tuning.threshold(), 64_088);
            tuning
        };
        let window = Bytes::new(65_160);
        let full = Bytes::new(1448);
        for reads in [true, false] {
            let mut tuning = opened();
            let mut seen = Vec::new();
            for n in 0..7 {
                tuning.hold(packet(1448, false), true);
                if n == 0 {
                    tuning.on_full_segment(packet(1448, false), window);
                }
                tuning.grow(packet(1448, false), full);
                seen.push(tuning.threshold());
                if reads {
                    tuning.release(Bytes::ZERO, full);
                }
            }
            // Two segments each, up to 160/256 of the memory that is free: (131072 - 2304) x 5 / 8, or of four unread
            // packets (131072 - 9216) x 5 / 8.
            let kernels = if reads {
                [68_056, 70_952, 73_848, 76_744, 79_640, 80_480, 80_480]
            } else {
                [68_056, 70_952, 73_848, 76_160, 76_160, 76_160, 76_160]
            };
            assert_eq!(seen, kernels);
        }
        // 200 bytes that cost 1280 x 160 / 256 = 800 of the share open the window by two of the peer's full segments
        // (`__tcp_grow_window`), up to (131072 - 1280) x 5 / 8.
        let mut tuning = opened();
        tuning.on_full_segment(packet(1448, false), window);
        tuning.grow(packet(1448, false), full);
        for kernels in [70_952, 73_848, 76_744, 79_640, 81_120, 81_120] {
            tuning.hold(packet(200, false), true);
            tuning.grow(packet(200, false), full);
            assert_eq!(tuning.threshold(), kernels);
            tuning.release(Bytes::ZERO, Bytes::new(200));
        }
        // Packets of several segments open it by twice what they carry.
        for (len, kernels) in [(2896, 70_952), (5792, 76_744), (14_480, 94_120)] {
            let mut tuning = opened();
            tuning.hold(packet(len, true), true);
            tuning.on_full_segment(packet(len, true), window);
            tuning.grow(packet(len, true), full);
            assert_eq!(tuning.threshold(), kernels);
        }
    }
}
