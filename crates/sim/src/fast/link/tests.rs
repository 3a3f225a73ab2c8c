use proptest::prelude::*;

use ackclock_net::queue::FairConfig;
use ackclock_net::{Discipline, LinkConfig, Loss, PacketId, PacketKind, PeriodicLoss, QueueUnit};
use ackclock_units::random::Stream;

use super::*;

/// A link whose losses are drawn from `losses`.
fn link_of(config: &LinkConfig, losses: Stream) -> Link {
    Link::new(LinkParts::new(*config, losses))
}

/// The plain link, the oracle of the fast one.
fn plain_link(config: &LinkConfig) -> ackclock_net::Link {
    ackclock_net::Link::new(LinkParts::new(*config, Stream::new(1, "link")))
}

fn config(discipline: Discipline, limit: u64) -> LinkConfig {
    LinkConfig {
        // 1000 bytes take 1 ms.
        rate: Rate::from_bps(8_000_000),
        delay: Duration::from_millis(10),
        discipline,
        limit: QueueLimit { amount: limit, unit: QueueUnit::Packets },
        counts_in_service: true,
        mark: None,
        loss: Loss::NONE,
    }
}

fn packet(id: u32, class: u32) -> Packet {
    Packet { id: PacketId::new(id), size: 1000, class, kind: PacketKind::flow(true) }
}

const fn at_micros(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1000)
}

#[test]
fn a_fifo_sends_one_after_another() {
    let mut link = link_of(&config(Discipline::FIFO, 10), Stream::new(1, "link"));
    let arrival = |verdict| match verdict {
        Verdict::Arrives { starts, at } => (starts, at),
        other => panic!("{other:?}"),
    };
    // The first is sent at once: 1 ms + 10 ms. The second comes at 0.4 ms and starts at 1 ms.
    let first = link.offer(at_micros(0), packet(0, 0));
    let second = link.offer(at_micros(400), packet(1, 0));
    assert_eq!(arrival(first), (at_micros(0), at_micros(11_000)));
    assert_eq!(arrival(second), (at_micros(1_000), at_micros(12_000)));
    assert_eq!(link.busy_until(), at_micros(2_000));
    // At 1.5 ms one has left; the link was busy throughout; the second waited 0.6 ms.
    let counters = link.counters(at_micros(1_500));
    assert_eq!((counters.delivered.packets, counters.queued.packets), (1, 1));
    assert_eq!(counters.busy, Duration::from_micros(1_500));
    assert_eq!(counters.queue_delay_ns, 600_000);
}

#[test]
fn a_departure_makes_room_for_an_arrival_at_the_same_instant() {
    let mut link = link_of(&config(Discipline::FIFO, 1), Stream::new(1, "link"));
    link.offer(at_micros(0), packet(0, 0));
    assert_eq!(link.offer(at_micros(999), packet(1, 0)), Verdict::Dropped);
    assert!(matches!(link.offer(at_micros(1_000), packet(2, 0)), Verdict::Arrives { .. }));
}

#[test]
fn random_loss_has_its_rate_and_is_counted() {
    let lossy = LinkConfig { loss: Loss::Random(0.1), ..config(Discipline::FIFO, u64::MAX) };
    let mut link = link_of(&lossy, Stream::new(3, "lossy"));
    for id in 0..10_000 {
        link.offer(at_micros(u64::from(id) * 1_000), packet(id, 0));
    }
    let counters = link.counters(Instant::from_nanos(u64::MAX / 2));
    // 1000 expected; standard deviation sqrt(10000 * 0.1 * 0.9) = 30.
    assert!(counters.lost.packets.abs_diff(1000) < 120, "{:?}", counters.lost);
    assert_eq!(counters.delivered.packets, 10_000);
}

#[test]
fn a_link_marks_what_finds_two_packets() {
    // A millisecond a packet; the packet being sent counts, as it does against the limit.
    let mark = Some(QueueLimit { amount: 2, unit: QueueUnit::Packets });
    for discipline in [Discipline::FIFO, Discipline::Fair(FairConfig::default())] {
        let mut link =
            link_of(&LinkConfig { mark, ..config(discipline, 10) }, Stream::new(1, "link"));
        assert!(link.marks());
        let mut wake = None;
        for (id, (micros, expected)) in
            // Three come at 0; at 2 ms the second leaves and one is held, then two, then three.
            (0..).zip([
                (0, false),
                (0, false),
                (0, true),
                (2_000, false),
                (2_500, true),
                (2_500, true),
            ])
        {
            let now = at_micros(micros);
            while let Some(at) = wake.filter(|at| *at <= now) {
                wake = link.depart(at).unwrap().wake;
            }
            assert_eq!(link.is_marking(now), expected, "{discipline:?} {id}");
            match link.offer(now, packet(id, 0)) {
                Verdict::Waits { wake: Some(at) } => wake = Some(at),
                verdict => assert_ne!(verdict, Verdict::Dropped),
            }
        }
        link.count_marked(1000);
        let counters = link.counters(at_micros(2_500));
        assert_eq!((counters.marked.packets, counters.marked.bytes), (1, 1000));
        assert!(counters.conserved(), "{counters:?}");
    }
    assert!(!link_of(&config(Discipline::FIFO, 10), Stream::new(1, "link")).marks());
}

/// The packets that are lost of those offered, of which the flagged carry data, on a link that loses
/// number `first` and every third after it.
fn lost_of(discipline: Discipline, first: u64, data: &[bool]) -> (Vec<u32>, Counters) {
    let loss = Loss::Periodic(PeriodicLoss { every: 3, first: Some(first) });
    let config = LinkConfig { loss, ..config(discipline, 1) };
    let mut link = link_of(&config, Stream::new(1, "periodic"));
    let mut lost = Vec::new();
    for (id, &data) in (0_u32..).zip(data) {
        let now = at_micros(u64::from(id) * 1_000);
        match link.offer(now, Packet { kind: PacketKind::flow(data), ..packet(id, 0) }) {
            Verdict::Waits { wake } => {
                let departure = link.depart(wake.unwrap()).unwrap();
                lost.extend(departure.arrives.is_none().then_some(id));
            }
            Verdict::Lost => lost.push(id),
            Verdict::Arrives { .. } => {}
            Verdict::Impaired { .. } => panic!("nothing impairs the link"),
            Verdict::Dropped => panic!("the queue has room"),
        }
    }
    (lost, link.counters(at_micros(1_000_000)))
}

#[test]
fn every_third_data_packet_is_lost_and_no_other() {
    for discipline in [Discipline::FIFO, Discipline::Fair(FairConfig::default())] {
        let (lost, counters) = lost_of(discipline, 3, &[true; 10]);
        assert_eq!(lost, [2, 5, 8]);
        assert_eq!((counters.lost.packets, counters.delivered.packets), (3, 10));
        // Packets 0, 2, 4, 5, 8, 9 carry data: the third and the sixth of them.
        let data = [true, false, true, false, true, true, false, false, true, true, false];
        let (lost, _) = lost_of(discipline, 3, &data);
        assert_eq!(lost, [4, 9]);
        // The first of them, and the fourth.
        let (lost, _) = lost_of(discipline, 1, &data);
        assert_eq!(lost, [0, 5]);
        let (lost, _) = lost_of(discipline, 5, &[true; 10]);
        assert_eq!(lost, [4, 7]);
    }
}

proptest! {
    /// Offered = delivered + dropped + queued after every step, whatever comes, on every kind of
    /// queue and limit.
    #[test]
    fn nothing_is_made_or_lost(
        fair: bool,
        counts_in_service: bool,
        in_bytes: bool,
        limit in 1_u64..20,
        offers in prop::collection::vec((0_u64..3_000, 40_u32..1500, 0_u32..4), 1..200),
    ) {
        let unit = if in_bytes { QueueUnit::Bytes } else { QueueUnit::Packets };
        let amount = if in_bytes { limit * 1000 } else { limit };
        let discipline = if fair { Discipline::Fair(FairConfig::default()) } else { Discipline::FIFO };
        let mut link = link_of(
            &LinkConfig {
                limit: QueueLimit { amount, unit },
                counts_in_service,
                ..config(discipline, 1)
            },
            Stream::new(1, "link"),
        );
        let source = link.add_source();
        let mut now = Instant::START;
        let mut wake: Option<Instant> = None;
        for (id, (gap, size, class)) in (0_u32..).zip(offers) {
            now += Duration::from_micros(gap);
            while let Some(at) = wake.filter(|at| *at <= now) {
                wake = link.depart(at).and_then(|departure| departure.wake);
            }
            let packet = Packet {
                id: PacketId::new(id),
                size,
                class,
                kind: PacketKind::new((class == 3).then_some(source), class != 3, false),
            };
            if let Verdict::Waits { wake: Some(at) } = link.offer(now, packet) {
                wake = Some(at);
            }
            let counters = link.counters(now);
            prop_assert!(counters.conserved(), "{counters:?}");
            prop_assert_eq!(counters.offered.packets, u64::from(id) + 1);
            let held = if in_bytes { counters.queued.bytes } else { counters.queued.packets };
            let excused = if in_bytes { 1500 } else { 1 };
            prop_assert!(held <= amount + excused);
            prop_assert!(counters.busy <= now.since(Instant::START));
        }
        let sources = link.sources()[0];
        prop_assert!(sources.offered.packets >= sources.delivered.packets + sources.dropped.packets);
    }
    /// Offered ahead of the clock or in time, packets fare alike, and whoever reads the counters
    /// sees only what has come by then; of a link of which nobody asks before a moment, from then on.
    #[test]
    fn offered_ahead_or_in_time_is_the_same(
        asked in 0_u64..200_000,
        in_bytes: bool,
        limit in 1_u64..10,
        lossy: bool,
        offers in prop::collection::vec((0_u64..2_000, 40_u32..1500, 0_u64..6_000), 1..200),
    ) {
        let unit = if in_bytes { QueueUnit::Bytes } else { QueueUnit::Packets };
        let amount = if in_bytes { limit * 1000 } else { limit };
        let loss = if lossy { Loss::Random(0.2) } else { Loss::NONE };
        let config = LinkConfig {
            limit: QueueLimit { amount, unit },
            loss,
            ..config(Discipline::FIFO, 1)
        };
        let mut in_time = plain_link(&config);
        let [mut ahead, mut forgetful] = [0; 2].map(|_| link_of(&config, Stream::new(1, "link")));
        let asked = at_micros(asked);
        forgetful.nobody_asks_before(asked);
        let mut comes = Instant::START;
        let mut clock = Instant::START;
        let mut late = (0_u32..).zip(offers.iter().scan(Instant::START, |at, (gap, size, _)| {
            *at += Duration::from_micros(*gap);
            Some((*at, *size))
        })).peekable();
        for (id, (gap, size, lead)) in (0_u32..).zip(&offers) {
            comes += Duration::from_micros(*gap);
            let earliest = Instant::from_nanos(comes.as_nanos().saturating_sub(lead * 1_000));
            clock = clock.max(earliest);
            ahead.offer_ahead(comes, Packet { size: *size, ..packet(id, 0) }, clock);
            // Packets of one moment are taken in only once the other links were offered them.
            let has_come = |(n, (at, _)): &(u32, (Instant, u32))| *n <= id && *at <= clock;
            while let Some((_, (at, size))) = late.next_if(has_come) {
                in_time.offer(at, Packet { size, ..packet(id, 0) });
            }
            forgetful.offer_ahead(comes, Packet { size: *size, ..packet(id, 0) }, clock);
            let counters = in_time.counters(clock);
            let true_delays = in_time.delays().clone();
            let none = DelayHistogram::default();
            for (link, since) in [(&mut ahead, Instant::START), (&mut forgetful, asked)] {
                if clock < since {
                    continue;
                }
                prop_assert_eq!(link.counters(clock), counters);
                let delays = link.delays(clock);
                prop_assert_eq!(delays.count(), true_delays.count());
                for q in [0.01, 0.5, 0.99] {
                    prop_assert_eq!(
                        delays.quantile_since(&none, q),
                        true_delays.quantile_since(&none, q)
                    );
                }
            }
        }
    }
}

#[test]
fn a_link_may_begin_to_lose() {
    let mut link = link_of(&config(Discipline::FIFO, 10), Stream::new(1, "link"));
    let arrives = |verdict| matches!(verdict, Verdict::Arrives { .. });
    assert!(arrives(link.offer(at_micros(0), packet(0, 0))));
    link.set_loss(Loss::Random(1.0), Stream::new(1, "loss"));
    assert_eq!(link.offer(at_micros(2_000), packet(1, 0)), Verdict::Lost);
    assert_eq!(link.counters(at_micros(3_000)).lost.packets, 1);
}

proptest! {
    /// A line whose departures are events delivers what a FIFO does, when it does.
    #[test]
    fn a_line_is_a_fifo(
        comes in prop::collection::vec((0_u64..3_000, 40_u32..1500), 1..60),
        limit in 1_u64..8,
    ) {
        let mut fifo = link_of(&config(Discipline::FIFO, limit), Stream::new(1, "link"));
        let mut line = link_of(&config(Discipline::RESCHEDULED_FIFO, limit), Stream::new(1, "link"));
        let (mut now, mut wake) = (Instant::START, None);
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut leave = |line: &mut Link, wake: &mut Option<Instant>, until: Instant| {
            while let Some(at) = wake.filter(|at| *at <= until) {
                let departure = line.depart(at).unwrap();
                found.push((departure.packet.id.get(), departure.arrives.unwrap()));
                *wake = departure.wake;
            }
        };
        for (id, (wait, size)) in (0..).zip(comes) {
            now += Duration::from_micros(wait);
            leave(&mut line, &mut wake, now);
            let packet = Packet { size, ..packet(id, 0) };
            match (fifo.offer(now, packet), line.offer(now, packet)) {
                (Verdict::Arrives { at, .. }, Verdict::Waits { wake: woken }) => {
                    expected.push((id, at));
                    wake = woken.or(wake);
                }
                (Verdict::Dropped, Verdict::Dropped) => {}
                other => prop_assert!(false, "{other:?}"),
            }
        }
        leave(&mut line, &mut wake, Instant::NEVER);
        prop_assert_eq!(found, expected);
    }
}

proptest! {
    /// Packets without a record come when they would otherwise, and are counted as they would be.
    #[test]
    fn the_fast_path_changes_nothing(
        // How long after the one before, in nanoseconds, a packet of which size; and whether somebody looks, or it
        // goes the long way.
        packets in prop::collection::vec(
            (
                prop::sample::select(vec![
                    0_u64, 6_553, 6_554, 16_383, 16_384, 32_000, 80_000, 79_999, 160_000, 266_666, 266_667,
                    5_000_000, 20_000_000_000,
                ]),
                prop::sample::select(vec![100_u32, 100, 100, 100, 40, 1500]),
                0_u8..12,
                // How far the clock is behind it.
                prop::sample::select(vec![0_u64, 0, 0, 0, 10_000, 300_000, 5_000_000]),
            ),
            1..120,
        ),
        limit in prop::sample::select(vec![1_u64, 2, 3, 7, 1000]),
        counts_in_service: bool,
        // A byte takes 800 ns, or two thirds of a nanosecond more than a whole number, or 163.84 ns, so that 100 take a
        // whole number and 40 do not, or so long that 1500 of them take more nanoseconds than 32 bits hold.
        bps in prop::sample::select(vec![10_000_000_u64, 3_000_000, 48_828_125, 1_000]),
    ) {
        let limit = QueueLimit { amount: limit, unit: QueueUnit::Packets };
        let config = LinkConfig {
            rate: Rate::from_bps(bps),
            limit,
            counts_in_service,
            ..config(Discipline::FIFO, 1)
        };
        let mut plain = link_of(&config, Stream::new(1, "link"));
        let mut fast = link_of(&config, Stream::new(1, "link"));
        let (mut now, mut clock) = (Instant::START, Instant::START);
        for (n, (after, size, look, behind)) in (0..).zip(packets) {
            now += Duration::from_nanos(after);
            clock = clock.max(Instant::from_nanos(now.as_nanos().saturating_sub(behind)));
            let packet = Packet { size, ..packet(n, 0) };
            let expected = match plain.offer_ahead(now, packet, clock) {
                Verdict::Arrives { starts, at } => Some((starts, at)),
                verdict => { prop_assert_eq!(verdict, Verdict::Dropped); None }
            };
            let found = if look == 1 { None } else {
                let found = if now <= clock { fast.try_fast_path(now, size) } else { None };
                found.or_else(|| fast.admit(now, size, clock))
            };
            let found = found.or_else(|| {
                // Some are refused without a verdict.
                if n % 2 == 0 && now <= clock && fast.refuse_at_once(now, size) {
                    return None;
                }
                match fast.offer_ahead(now, packet, clock) {
                    Verdict::Arrives { starts, at } => Some((starts, at)),
                    _ => None,
                }
            });
            prop_assert_eq!(found, expected);
            prop_assert_eq!(fast.busy_until(), plain.busy_until());
            if look == 0 {
                clock += Duration::from_nanos(after / 2);
                prop_assert_eq!(fast.counters(clock), plain.counters(clock));
                now = now.max(clock);
            }
        }
        prop_assert_eq!(fast.counters(now), plain.counters(now));
        for q in [0.01, 0.3, 0.5, 0.9, 1.0] {
            let none = DelayHistogram::default();
            let quantile = |link: &mut Link| link.delays(now).quantile_since(&none, q);
            prop_assert_eq!(quantile(&mut fast), quantile(&mut plain));
        }
    }
}

#[test]
fn the_fast_path_touches_one_line() {
    assert_eq!((size_of::<FastFifo>(), size_of::<Link>() % 64), (64, 0));
}

#[test]
fn packets_of_other_sizes_take_the_fast_path_when_those_before_have_left() {
    let mut link = link_of(
        &LinkConfig { rate: Rate::from_bps(10_000_000), ..config(Discipline::FIFO, 10) },
        Stream::new(1, "link"),
    );
    // At 800 ns a byte, 80 us and then 32 us.
    assert_eq!(link.admit(at_micros(0), 100, at_micros(0)).map(|(at, _)| at), Some(at_micros(0)));
    assert_eq!(link.try_fast_path(at_micros(79), 40), None);
    assert_eq!(link.try_fast_path(at_micros(80), 40).map(|(at, _)| at), Some(at_micros(80)));
    assert_eq!(link.try_fast_path(at_micros(112), 100).map(|(at, _)| at), Some(at_micros(112)));
    assert_eq!(link.counters(at_micros(191)).delivered, Volume { packets: 2, bytes: 140 });
    let counted = link.counters(at_micros(192));
    assert_eq!(counted.delivered, Volume { packets: 3, bytes: 240 });
    assert_eq!(counted.busy, Duration::from_micros(80 + 32 + 80));
}

#[test]
fn a_long_queue_of_one_size_enters_the_fast_path_again() {
    // A packet of another size comes first, so that all take the slow path; 1400 of 100 B come at once, of which a thousand
    // are sent after one another in 80 us each.
    let mut link = link_of(
        &LinkConfig { rate: Rate::from_bps(10_000_000), ..config(Discipline::FIFO, 10_000) },
        Stream::new(1, "link"),
    );
    let pass = |link: &mut Link, size| {
        let now = at_micros(0);
        let fast = link.try_fast_path(now, size);
        (fast.is_some(), fast.or_else(|| link.admit(now, size, now)))
    };
    link.offer(at_micros(0), Packet { size: 40, ..packet(0, 0) });
    link.offer(at_micros(0), Packet { size: 100, ..packet(1, 0) });
    let ways: Vec<bool> = (2..1400).map(|_| pass(&mut link, 100).0).collect();
    // The first is not of their size, and stands in their way as long as it is there.
    assert!(ways.iter().all(|fast| !fast));
    let counted = link.counters(at_micros(0));
    assert_eq!((counted.offered.packets, counted.queued.packets), (1400, 1400));
    // 32 us for the first, then 80 us each.
    let later = at_micros(32 + 80 * 100);
    assert_eq!(link.counters(later).delivered.packets, 101);
    let (mut last, mut fast) = (None, 0);
    for _ in 0..1100 {
        let passed = link.try_fast_path(later, 100);
        fast += usize::from(passed.is_some());
        last = passed.or_else(|| link.admit(later, 100, later));
    }
    // From packet 2048 on.
    assert_eq!(fast, 2500 - 2048);
    let starts = at_micros(32 + 80 * 2498);
    assert_eq!(last.map(|(starts, _)| starts), Some(starts));
    let counted = link.counters(later);
    assert_eq!((counted.offered.packets, counted.delivered.packets), (2500, 101));
    assert_eq!(link.counters(starts).delivered.packets, 2499);
}

#[test]
fn a_queue_in_which_sizes_change_keeps_records() {
    let mut link = link_of(
        &LinkConfig { rate: Rate::from_bps(10_000_000), ..config(Discipline::FIFO, 10_000) },
        Stream::new(1, "link"),
    );
    // All at once: two of 40 B, so that the first leaves its trace and the others wait, then 2100 of 100 B, of which
    // packets 1024 and 2048 are looked at.
    let now = at_micros(0);
    link.offer(now, Packet { size: 100, ..packet(0, 0) });
    let sizes = [40, 40].into_iter().chain([100; 2100]);
    let fast = sizes
        .filter(|size| {
            let fast = link.try_fast_path(now, *size).is_some();
            fast || link.admit(now, *size, now).is_none()
        })
        .count();
    assert_eq!(fast, 0);
    let counted = link.counters(at_micros(80 + 32));
    assert_eq!((counted.offered.packets, counted.delivered.packets), (2103, 2));
    assert_eq!(counted.delivered.bytes, 140);
}
