//! An end point allocates nothing per segment: once its rings have the room that the path and the
//! losses take, a transfer goes on without asking for memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;

use ackclock_packet::Seq;
use ackclock_tcp::config::Autotune;
use ackclock_tcp::variant::{REGISTRY, Slot};
use ackclock_tcp::{Config, Endpoint, Profile, Transmit, Variant};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

/// The system's allocator, counting what each thread asks of it.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn asked() -> u64 {
    ASKED.with(Cell::get)
}

fn note() {
    // Of a thread that is ending nobody asks any more.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// 50 Mbit/s and a round trip of 20 ms: 86 packets of 1500 bytes fill it, 60 more may wait.
const RATE: Rate = Rate::from_bps(50_000_000);
const DELAY: Duration = Duration::from_millis(10);
const LIMIT: usize = 43 + 60;

/// One direction: packets in the order of their arrival.
struct Way {
    packets: VecDeque<(Instant, Transmit)>,
    free: Instant,
    random: Stream,
}

impl Way {
    fn new(name: &str) -> Self {
        // Room for a window's worth of ACKs on their way, and for copies.
        let packets = VecDeque::with_capacity(8 * LIMIT);
        Self { packets, free: Instant::START, random: Stream::new(1, name) }
    }

    /// A packet comes to the path, which loses it with probability `loss`; as often one is overtaken
    /// by the next, and as often one arrives twice.
    fn offer(&mut self, now: Instant, transmit: Transmit, loss: f64) {
        if self.packets.len() > LIMIT {
            return;
        }
        self.free = self.free.max(now) + RATE.transmission_time(transmit.segment.wire_size());
        if self.random.bernoulli(loss) {
            return;
        }
        let at = self.free + DELAY;
        self.packets.push_back((at, transmit));
        if self.random.bernoulli(loss) {
            self.packets.push_back((at, transmit));
        }
        let last = self.packets.len() - 1;
        if last > 0 && self.random.bernoulli(loss) {
            let earlier = self.packets[last - 1].0;
            self.packets.swap(last - 1, last);
            self.packets[last - 1].0 = earlier;
            self.packets[last].0 = at;
        }
    }
}

/// A transfer without end.
struct Transfer {
    ends: [Endpoint; 2],
    ways: [Way; 2],
    now: Instant,
    loss: f64,
    /// The number at which a loss begins, until then.
    hole: (Seq, Instant),
}

impl Transfer {
    fn new(config: Config) -> Self {
        let mut ends = [Endpoint::new(config), Endpoint::new(config)];
        ends[1].listen();
        ends[0].connect(Instant::START);
        ends[0].write(Bytes::new(1 << 50));
        Self {
            ends,
            ways: ["there", "back"].map(Way::new),
            now: Instant::START,
            loss: 0.0,
            hole: (Seq::SYN, Instant::START),
        }
    }

    /// Until so many more segments of data were sent, with this loss on the way there.
    fn send(&mut self, segments: u64, loss: f64) {
        self.loss = loss;
        let end = self.sent() + segments;
        while self.sent() < end {
            self.step();
        }
    }

    /// For so long nothing gets through of the segment that is first now.
    fn dig(&mut self, lasts: Duration) {
        let first = Seq::FIRST_BYTE + self.ends[0].sender().acked();
        self.hole = (first, self.now + lasts);
        while self.now < self.hole.1 {
            self.step();
        }
    }

    fn sent(&self) -> u64 {
        self.ends[0].sender().stats().segments_sent
    }

    fn step(&mut self) {
        for n in 0..2 {
            self.ends[n].read(self.now, Bytes::new(u64::MAX));
            while let Some(transmit) = self.ends[n].poll_transmit(self.now) {
                if n == 0 && transmit.segment.seq == self.hole.0 && self.now < self.hole.1 {
                    continue;
                }
                // ACKs are lost less often, so that timeouts stay rare.
                let loss = if n == 0 { self.loss } else { self.loss / 10.0 };
                self.ways[n].offer(self.now, transmit, loss);
            }
        }
        let arrivals = self.ways.iter().filter_map(|way| Some(way.packets.front()?.0));
        let timers = self.ends.iter().filter_map(Endpoint::poll_at);
        self.now = self.now.max(arrivals.chain(timers).min().expect("it goes on for ever"));
        for n in 0..2 {
            while let Some((_, t)) = self.ways[n].packets.pop_front_if(|(at, _)| *at <= self.now) {
                self.ends[1 - n].handle(self.now, &t.segment, t.ip, t.options.as_ref());
            }
        }
    }
}

/// The number of times that a transfer asks for memory during 10,000 segments, after a warm-up.
fn asked_by(config: Config) -> u64 {
    // While the first of many segments is missing the others stay in the rings, as many as the
    // receiver takes: that is what bounds them.
    let buffer = Bytes::new(375_000);
    let autotune = config.autotune.map(|_| Autotune { initial: buffer * 2, most: buffer * 2 });
    let mut transfer = Transfer::new(Config { receive_window: buffer, autotune, ..config });
    transfer.send(5_000, 0.0);
    for n in 0..20 {
        // Long enough to fill the receiver's window; every other time, for a timeout to find it full.
        transfer.dig(Duration::from_millis(if n % 2 == 0 { 200 } else { 2_000 }));
        transfer.send(500, 0.0);
    }
    // Many holes at once.
    transfer.send(5_000, 0.3);
    // A pattern of losses that is rarer still may make a ring grow once more.
    let mut least = u64::MAX;
    for _ in 0..8 {
        let before = asked();
        transfer.send(10_000, 0.01);
        least = least.min(asked() - before);
        if least == 0 {
            break;
        }
    }
    let stats = transfer.ends[0].sender().stats();
    assert!(stats.segments_retransmitted > 500, "{stats:?}");
    least
}

fn words(slot: Slot) -> impl Iterator<Item = String> {
    REGISTRY.iter().filter(move |entry| entry.choice.slot() == slot).map(|entry| {
        entry.argument.map_or_else(|| entry.word.to_owned(), |a| format!("{}({a})", entry.word))
    })
}

/// Tries every law of growth with its own recovery, and three laws, of loss, of time and of rate, with every recovery:
/// what a law keeps and what a recovery keeps know nothing of each other.
fn no_transfer_asks_under(profile: Profile) {
    let with_each = |growth: &'static str| {
        words(Slot::Recovery).map(move |recovery| format!("{growth}+{recovery}"))
    };
    let names =
        words(Slot::Growth).chain(["newreno", "cubic", "bbr"].into_iter().flat_map(with_each));
    let mut hungry = Vec::new();
    let mut tried = 0;
    for name in names {
        let variant: Variant = name.parse().expect("words of the registry");
        let Ok(parts) = variant.resolve(profile) else { continue };
        tried += 1;
        let asked = asked_by(Config::new(parts, profile));
        if asked > 0 {
            hungry.push(format!("{name} under {profile}: {asked}"));
        }
    }
    assert!(tried > 40, "{tried}");
    assert!(hungry.is_empty(), "{hungry:#?}");
}

// Each counts on a thread of its own.
#[test]
fn a_transfer_with_losses_asks_for_no_memory() {
    no_transfer_asks_under(Profile::Rfc);
}

#[test]
fn a_transfer_with_losses_asks_for_no_memory_with_the_habits_of_linux() {
    no_transfer_asks_under(Profile::Linux);
}

#[test]
fn the_count_counts() {
    let before = asked();
    let boxed = Box::new(std::hint::black_box(1_u64));
    assert_eq!((asked() - before, *boxed), (1, 1));
}
