//! A case: two ends with all their settings, what their applications do, and the path between.

use std::fmt;
use std::sync::LazyLock;

use ackclock_tcp::config::{Autotune, DelayedAck, EcnConfig, EcnMode, Nagle, Pacing, WindowProbe};
use ackclock_tcp::variant::{REGISTRY, Slot};
use ackclock_tcp::{Config, Profile, Variant};
use ackclock_units::{Bytes, Duration, Mss};
use proptest::prelude::*;

/// The most that one side sends, in bytes.
pub const MOST: u32 = 200_000;

/// The MSS of a jumbo frame.
const LARGEST_MSS: u32 = 9_000;

/// The severity of the path.
#[derive(Clone, Copy, Debug)]
pub enum Hostility {
    /// A fifth is lost; reordering, duplicates and damage abound.
    Hostile,
    /// Everything, but rarely.
    Shaky,
    /// A clean path with queues that drop nothing.
    None,
}

/// Everything that a run depends on.
#[derive(Clone, Debug)]
pub struct Case {
    pub ends: [End; 2],
    /// From the first end to the second, and back.
    pub ways: [Way; 2],
    /// True if both ends open the connection, at about the same time, false if the first does
    /// alone.
    pub simultaneous: bool,
    pub ipv6: bool,
    /// The initial sequence number of each end.
    pub isns: [u32; 2],
    /// The seed of what is lost, late, doubled and damaged.
    pub seed: u64,
}

/// One end: its settings, and what its application does.
#[derive(Clone, Debug)]
pub struct End {
    pub sender: Sender,
    pub mss: u16,
    pub receive_window: u32,
    pub autotune: Option<Autotune>,
    pub window_scaling: bool,
    pub timestamps: bool,
    pub sack: bool,
    pub delayed_ack: Option<DelayedAck>,
    pub nagle: Nagle,
    pub window_probe: WindowProbe,
    pub pacing: Pacing,
    pub ecn: EcnMode,
    pub opens_at: Duration,
    /// The writes: the time after the connection is open, and the volume.
    pub writes: Vec<(Duration, u32)>,
    /// The time after the last write at which the application closes.
    pub closes_after: Duration,
    /// The interval at which the application reads, and the most that it reads at once; `None`:
    /// all, at once.
    pub reads: Option<(Duration, u32)>,
}

impl End {
    /// The settings of the end point, whose law draws from `seed`.
    pub fn config(&self, seed: u64) -> Config {
        let Sender { name, profile } = &self.sender;
        let parts = name.parse::<Variant>().unwrap().resolve(*profile).unwrap();
        let profiles = Config::new(parts, *profile);
        Config {
            mss: Mss::new(self.mss).unwrap(),
            receive_window: Bytes::new(u64::from(self.receive_window)),
            autotune: self.autotune,
            window_scaling: self.window_scaling,
            timestamps: self.timestamps,
            sack: self.sack,
            delayed_ack: self.delayed_ack,
            nagle: self.nagle,
            window_probe: self.window_probe,
            pacing: self.pacing,
            ecn: EcnConfig { mode: self.ecn, ..profiles.ecn },
            seed,
            ..profiles
        }
    }

    /// Bytes that it sends in all.
    pub fn total(&self) -> u32 {
        self.writes.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// A sender by its name, under a profile.
#[derive(Clone)]
pub struct Sender {
    pub name: String,
    pub profile: Profile,
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} under {:?}", self.name, self.profile)
    }
}

/// One direction of the path.
#[derive(Clone, Debug)]
pub struct Way {
    pub rate_bps: u64,
    pub delay: Duration,
    pub queue_packets: u64,
    /// The queue from which packets are marked instead of dropped.
    pub mark_packets: Option<u64>,
    pub loss: f64,
    pub late_share: f64,
    pub late_by: Duration,
    pub doubled: f64,
    pub damaged: f64,
}

/// Every sender that the registry can spell, the plainest first.
static SENDERS: LazyLock<Vec<Sender>> = LazyLock::new(|| {
    let words = |slot: Slot| {
        REGISTRY.iter().filter(move |entry| entry.choice.slot() == slot).map(|entry| {
            entry.argument.map_or_else(|| entry.word.to_owned(), |a| format!("{}({a})", entry.word))
        })
    };
    let or_default = |slot| {
        let some = words(slot).map(|word| format!("+{word}"));
        std::iter::once(String::new()).chain(some).collect::<Vec<_>>()
    };
    let mut windows = or_default(Slot::Window);
    windows.extend(["+iw1".into(), "+iw2".into(), "+iw10".into()]);
    let mut senders = Vec::new();
    for (_, profile) in Profile::ALL {
        for growth in words(Slot::Growth) {
            for recovery in or_default(Slot::Recovery) {
                for slow_start in or_default(Slot::SlowStart) {
                    for idle in or_default(Slot::Idle) {
                        for window in &windows {
                            let name = format!("{growth}{recovery}{slow_start}{idle}{window}");
                            senders.push(Sender { name, profile });
                        }
                    }
                }
            }
        }
    }
    senders.retain(|sender| {
        let variant: Variant = sender.name.parse().expect("words of the registry");
        let parts = variant.resolve(sender.profile);
        // What routers tell RCP and XCP has no form in bytes.
        parts.is_ok_and(|parts| parts.growth.about().routers.is_none())
    });
    senders
});

/// A number from `low` to `high`, of each octave as likely as of any other.
fn log_uniform(low: u32, high: u32) -> impl Strategy<Value = u32> {
    (low.ilog2()..=high.ilog2(), any::<u32>()).prop_map(move |(octave, bits)| {
        let first = 1 << octave;
        (first + bits % first).clamp(low, high)
    })
}

fn micros(low: u32, high: u32) -> impl Strategy<Value = Duration> {
    log_uniform(low, high).prop_map(|micros| Duration::from_micros(micros.into()))
}

fn sender() -> impl Strategy<Value = Sender> {
    (0..SENDERS.len()).prop_map(|n| SENDERS[n].clone())
}

fn writes() -> impl Strategy<Value = Vec<(Duration, u32)>> {
    prop::collection::vec((micros(1, 5_000_000), log_uniform(1, MOST)), 0..=3).prop_map(
        |mut writes| {
            writes.sort_by_key(|(at, _)| *at);
            let mut rest = MOST;
            writes.retain_mut(|(_, bytes)| {
                *bytes = (*bytes).min(rest);
                rest -= *bytes;
                *bytes > 0
            });
            writes
        },
    )
}

/// The setting of delayed ACKs at the other end.
fn delayed_ack() -> impl Strategy<Value = Option<DelayedAck>> {
    let delayed = (1_u32..=4, micros(1_000, 500_000), any::<bool>());
    prop::option::of(delayed.prop_map(|(every, timeout, quick)| DelayedAck {
        every,
        timeout,
        quick,
    }))
}

/// Linux's buffers: those that grow, and those of one size, for four segments and what the kernel keeps
/// of each at least. In less, a window may stay as small as it once became, on Linux too.
fn autotune() -> impl Strategy<Value = Option<Autotune>> {
    let least = 4 * (LARGEST_MSS + 900);
    let fixed = log_uniform(least, 1_000_000).prop_map(|bytes| {
        let bytes = Bytes::new(bytes.into());
        Some(Autotune { initial: bytes, most: bytes })
    });
    prop_oneof![3 => Just(None), 1 => Just(Some(Autotune::LINUX)), 1 => fixed]
}

/// A reader in steps, who takes ten minutes at most for all there can be.
fn reads() -> impl Strategy<Value = (Duration, u32)> {
    (micros(100, 1_000_000), log_uniform(1, MOST)).prop_map(|(every, bytes)| {
        let least = u64::from(MOST) * every.as_nanos() / Duration::from_secs(600).as_nanos();
        (every, bytes.max(u32::try_from(least).expect("of a second")))
    })
}

fn end() -> impl Strategy<Value = End> {
    use Nagle::{Minshall, Off, On};
    use Pacing::{Law, Linux, Off as Unpaced};
    use WindowProbe::{NewByte, OldNumber};
    let lengths = (log_uniform(60, LARGEST_MSS), log_uniform(60, 4_000_000), autotune());
    let offers = [any::<bool>(), any::<bool>(), any::<bool>()];
    let habits = (
        delayed_ack(),
        prop::sample::select(&[Off, On, Minshall][..]),
        prop::sample::select(&[NewByte, OldNumber][..]),
        prop::sample::select(&[Unpaced, Law, Linux][..]),
        prop::sample::select(&[EcnMode::Off, EcnMode::Passive, EcnMode::On][..]),
    );
    let reads = prop::option::of(reads());
    let app = (micros(1, 1_000_000), writes(), micros(1, 5_000_000), reads);
    (sender(), lengths, offers, habits, app).prop_map(|(sender, lengths, offers, habits, app)| {
        let (mss, receive_window, autotune) = lengths;
        let [window_scaling, timestamps, sack] = offers;
        let (delayed_ack, nagle, window_probe, pacing, ecn) = habits;
        let (opens_at, writes, closes_after, reads) = app;
        End {
            sender,
            mss: u16::try_from(mss).expect("at most 9000"),
            // One segment at least.
            receive_window: receive_window.max(mss),
            autotune,
            window_scaling,
            timestamps,
            sack,
            delayed_ack,
            nagle,
            window_probe,
            pacing,
            ecn,
            opens_at,
            writes,
            closes_after,
            reads,
        }
    })
}

fn way(hostility: Hostility) -> impl Strategy<Value = Way> {
    let (loss, late, doubled, damaged) = match hostility {
        Hostility::Hostile => (0.2, 0.3, 0.2, 0.1),
        Hostility::Shaky => (0.01, 0.05, 0.02, 0.01),
        Hostility::None => (0.0, 0.0, 0.0, 0.0),
    };
    let share = |most: f64| (0.0..=1.0_f64).prop_map(move |x| most * x);
    let line = (log_uniform(64_000, 1_000_000_000), micros(1, 150_000));
    let queue = (log_uniform(2, 1_000), prop::option::of(log_uniform(1, 100)));
    let harm = (share(late), micros(10, 500_000), share(doubled), share(damaged));
    (line, queue, harm).prop_map(move |((rate, delay), (queue, mark), harm)| {
        let (late_share, late_by, doubled, damaged) = harm;
        Way {
            rate_bps: rate.into(),
            delay,
            queue_packets: if loss > 0.0 { queue.into() } else { u64::MAX },
            mark_packets: mark.map(u64::from),
            loss,
            late_share,
            late_by,
            doubled,
            damaged,
        }
    })
}

/// All cases of this hostility.
pub fn cases(hostility: Hostility) -> impl Strategy<Value = Case> {
    (
        [end(), end()],
        [way(hostility), way(hostility)],
        prop::bool::weighted(0.1),
        any::<bool>(),
        // Every other one wraps while the data is sent.
        prop::array::uniform2(prop_oneof![any::<u32>(), (u32::MAX - MOST)..=u32::MAX]),
        any::<u64>().no_shrink(),
    )
        .prop_map(|(ends, ways, simultaneous, ipv6, isns, seed)| Case {
            ends,
            ways,
            simultaneous,
            ipv6,
            isns,
            seed,
        })
}
