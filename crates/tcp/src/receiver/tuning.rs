//! A receive buffer that grows with what is read: Linux's dynamic right-sizing.
//!
//! Two things bound the window. The *threshold* (`rcv_ssthresh`) begins small and opens by two
//! segments for each that comes, as a sender in slow start does. The *memory* (`sk_rcvbuf`) is set
//! once a round trip to hold twice of what the application read in it, and more while that grows.
//! The rules and the constants are those of Linux 6.18; they are written down nowhere else.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::config::Autotune;

/// State of a tuned buffer.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    config: Autotune,
    mss: u64,
    memory: u64,
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

/// The kernel's memory for a packet besides its bytes on the wire: a packet of 1500 bytes was
/// seen to take 2336 bytes of memory.
const OVERHEAD: u64 = 836;

impl Tuning {
    pub(super) fn new(config: Autotune, mss: Mss) -> Self {
        let mut tuning = Self {
            config,
            mss: mss.bytes().get(),
            memory: config.initial.get(),
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

    /// The handshake is done; `window` is what the SYN advertised.
    pub(super) fn on_established(&mut self, now: Instant, window: Bytes) {
        let space = self.full();
        // One segment is kept back.
        self.clamp = space.saturating_sub(self.mss).max(2 * self.mss).min(space);
        self.threshold = window.get().min(self.clamp);
        self.read_before = self.threshold.min(10 * self.mss);
        self.read_since = now;
    }

    /// The peer's full segment turned out to be `len`, on the wire `size`.
    pub(super) fn on_full_segment(&mut self, len: Bytes, size: Bytes, window: Bytes) {
        self.share = (256 * len.get() / (size.get() + OVERHEAD)).max(1);
        let old = self.clamp;
        self.clamp = self.full();
        self.threshold = if self.clamp > old {
            self.threshold.max(window.get().min(self.clamp))
        } else {
            self.threshold.min(self.clamp)
        };
        self.read_before = self.read_before.min(self.clamp);
    }

    /// A segment of `len` came and `held` waits to be read: whether the threshold moved.
    pub(super) fn grow(&mut self, len: Bytes, size: Bytes, held: Bytes) -> bool {
        let space = self.full().saturating_sub(held.get());
        let room = self.clamp.min(space).saturating_sub(self.threshold);
        let len = len.get();
        if room == 0 || len < 128 {
            return false;
        }
        let cost = ((size.get() + OVERHEAD) * self.share) >> 8;
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
            2 * len
        };
        self.threshold += room.min(increase.max(2 * len));
        true
    }

    /// The window that may be advertised while `held` waits, and whether less than half of the
    /// memory is free. `segment` is the peer's full segment; windows are multiples of `1 << shift`.
    pub(super) fn window(&self, held: Bytes, segment: Bytes, current: u64, shift: u8) -> Offer {
        let all = self.full();
        let full = self.clamp.min(all);
        let segment = segment.get().min(full);
        let mut free = all.saturating_sub(held.get());
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
        tuning.on_established(Instant::START, Bytes::new(1000));
        let window = |current| tuning.window(Bytes::ZERO, Bytes::new(1460), current, 0).window;
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

    #[test]
    fn segments_that_cost_more_memory_than_they_carry_open_the_window_by_their_own_size() {
        // Half of the memory is payload: the first window is 44 of 1460 B, of 64 KiB. A segment of 200 B in a packet of 240 B
        // takes (240 + 836) / 2 = 538 B of the share, more than it carries (Linux's `__tcp_grow_window`).
        let mut tuning = tuning();
        assert_eq!(tuning.threshold(), 44 * 1460);
        assert!(tuning.grow(Bytes::new(200), Bytes::new(240), Bytes::ZERO));
        assert_eq!(tuning.threshold(), 44 * 1460 + 2 * 200);
        // A full one takes (1500 + 836) / 2 = 1168 B, less than it carries, and opens it by two segments, as far as there is room.
        assert!(tuning.grow(Bytes::new(1460), Bytes::new(1500), Bytes::ZERO));
        assert_eq!(tuning.threshold(), 64 << 10);
        assert!(!tuning.grow(Bytes::new(1460), Bytes::new(1500), Bytes::ZERO));
    }
}
