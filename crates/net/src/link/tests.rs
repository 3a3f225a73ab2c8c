use core::num::NonZeroU64;

use proptest::prelude::*;

use super::*;
use crate::QueueUnit;

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
    Packet { id: PacketId::new(id), size: 1000, class, source: None, data: true, ecn: false }
}

const fn at_micros(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1000)
}

#[test]
fn a_fifo_sends_one_after_another() {
    let mut link = Link::new(&config(Discipline::Fifo, 10), Stream::new(1, "link"));
    let arrival = |verdict| match verdict {
        Verdict::Arrives { starts, at } => (starts, at),
        other => panic!("{other:?}"),
    };
    // The first is sent at once: 1 ms + 10 ms. The second comes at 0.4 ms and starts at 1 ms.
    let first = link.offer(at_micros(0), packet(0, 0));
    let second = link.offer(at_micros(400), packet(1, 0));
    assert_eq!(arrival(first), (at_micros(0), at_micros(11_000)));
    assert_eq!(arrival(second), (at_micros(1_000), at_micros(12_000)));
    // At 1.5 ms one has left; the link was busy throughout; the second waited 0.6 ms.
    let counters = link.counters(at_micros(1_500));
    assert_eq!((counters.delivered.packets, counters.queued.packets), (1, 1));
    assert_eq!(counters.busy, Duration::from_micros(1_500));
    assert_eq!(counters.queue_delay, Duration::from_micros(600));
}

#[test]
fn a_departure_makes_room_for_an_arrival_at_the_same_instant() {
    let mut link = Link::new(&config(Discipline::Fifo, 1), Stream::new(1, "link"));
    link.offer(at_micros(0), packet(0, 0));
    assert_eq!(link.offer(at_micros(999), packet(1, 0)), Verdict::Dropped);
    assert!(matches!(link.offer(at_micros(1_000), packet(2, 0)), Verdict::Arrives { .. }));
}

#[test]
fn a_fair_link_gives_each_class_its_share() {
    // Class 0 offers two packets a millisecond, class 1 one every two milliseconds, to a link that
    // sends one a millisecond: class 1 asks for less than half and gets all of it.
    let mut link = Link::new(&config(Discipline::Fair, 10_000), Stream::new(1, "link"));
    let mut wake: Option<Instant> = None;
    let mut delivered = [0, 0];
    for half_millis in 0..2_000_u32 {
        let now = at_micros(u64::from(half_millis) * 500);
        while let Some(at) = wake.filter(|at| *at <= now) {
            let departure = link.depart(at).unwrap();
            delivered[departure.packet.class as usize] += 1;
            assert_eq!(
                departure.started.since(Instant::START) + Duration::from_millis(1),
                at.since(Instant::START)
            );
            wake = departure.wake;
        }
        let mut offer = |class| {
            if let Verdict::Waits { wake: Some(at) } = link.offer(now, packet(half_millis, class)) {
                wake = Some(at);
            }
        };
        offer(0);
        if half_millis % 4 == 0 {
            offer(1);
        }
    }
    assert!((498..=500).contains(&delivered[1]), "{delivered:?}");
    assert!((498..=501).contains(&delivered[0]), "{delivered:?}");
}

#[test]
fn random_loss_has_its_rate_and_is_counted() {
    let lossy = LinkConfig { loss: Loss::Random(0.1), ..config(Discipline::Fifo, u64::MAX) };
    let mut link = Link::new(&lossy, Stream::new(3, "lossy"));
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
    for discipline in [Discipline::Fifo, Discipline::Fair] {
        let mut link =
            Link::new(&LinkConfig { mark, ..config(discipline, 10) }, Stream::new(1, "link"));
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
    assert!(!Link::new(&config(Discipline::Fifo, 10), Stream::new(1, "link")).marks());
}

/// The packets that are lost of those offered, of which the flagged carry data, on a link that loses
/// number `first` and every third after it.
fn lost_of(discipline: Discipline, first: u64, data: &[bool]) -> (Vec<u32>, Counters) {
    let number = |n| NonZeroU64::new(n).unwrap();
    let loss = Loss::Periodic { period: number(3), first: number(first) };
    let config = LinkConfig { loss, ..config(discipline, 1) };
    let mut link = Link::new(&config, Stream::new(1, "periodic"));
    let mut lost = Vec::new();
    for (id, &data) in (0_u32..).zip(data) {
        let now = at_micros(u64::from(id) * 1_000);
        match link.offer(now, Packet { data, ..packet(id, 0) }) {
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
    for discipline in [Discipline::Fifo, Discipline::Fair] {
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
        let discipline = if fair { Discipline::Fair } else { Discipline::Fifo };
        let mut link = Link::new(
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
                source: (class == 3).then_some(source),
                data: class != 3,
                ecn: false,
            };
            if let Verdict::Waits { wake: Some(at) } = link.offer(now, packet) {
                wake = Some(at);
            }
            let counters = link.counters(now);
            prop_assert!(counters.conserved(), "{counters:?}");
            let held = if in_bytes { counters.queued.bytes } else { counters.queued.packets };
            let excused = if in_bytes { 1500 } else { 1 };
            prop_assert!(held <= amount + excused);
            prop_assert!(counters.busy <= now.since(Instant::START));
        }
        let sources = link.sources()[0];
        prop_assert!(sources.offered.packets >= sources.delivered.packets + sources.dropped.packets);
    }
}

#[test]
fn a_change_drops_from_the_tail_and_leaves_alone_what_is_on_its_way() {
    // 1000 B at 8 Mbit/s: 1 ms. Six packets at 0: one in service, five wait.
    let config = LinkConfig { counts_in_service: false, ..config(Discipline::Line, 10) };
    let mut link = Link::new(&config, Stream::new(1, "link"));
    for id in 0..6 {
        let verdict = link.offer(at_micros(0), packet(id, 0));
        assert!(matches!(verdict, Verdict::Waits { wake } if wake.is_some() == (id == 0)));
    }
    // At 1 ms packet 0 leaves, to arrive at 11 ms. At 1.5 ms the link becomes 0.8 Mbit/s (10 ms a
    // packet) with 3 ms of delay and room for two.
    let first = link.depart(at_micros(1_000)).unwrap();
    assert_eq!((first.packet.id.get(), first.arrives), (0, Some(at_micros(11_000))));
    link.set_rate(Rate::from_bps(800_000));
    link.set_delay(Duration::from_millis(3));
    link.set_limit(QueueLimit { amount: 2, unit: QueueUnit::Packets });
    let mut gone = Vec::new();
    while let Some(Effect::Dropped(packet, reason)) = link.take_effect() {
        assert_eq!(reason, Reason::Full);
        gone.push(packet.id.get());
    }
    // Of 2, 3, 4, 5, which wait behind 1, the last two.
    gone.sort_unstable();
    assert_eq!(gone, [4, 5]);
    let counters = link.counters(at_micros(1_500));
    assert_eq!((counters.dropped.packets, counters.queued.packets), (2, 3));
    // 1 is sent to its end at the old rate, and takes the new way: 2 + 3 ms. 2 takes 10 ms.
    let second = link.depart(at_micros(2_000)).unwrap();
    assert_eq!((second.packet.id.get(), second.arrives), (1, Some(at_micros(5_000))));
    assert_eq!(second.wake, Some(at_micros(12_000)));
    let third = link.depart(at_micros(12_000)).unwrap();
    assert_eq!((third.packet.id.get(), third.started), (2, at_micros(2_000)));
}

#[test]
fn a_link_may_begin_to_lose() {
    let mut link = Link::new(&config(Discipline::Line, 10), Stream::new(1, "link"));
    link.offer(at_micros(0), packet(0, 0));
    assert!(link.depart(at_micros(1_000)).unwrap().arrives.is_some());
    link.set_loss(Loss::Random(1.0), Stream::new(1, "loss"));
    link.offer(at_micros(2_000), packet(1, 0));
    assert!(link.depart(at_micros(3_000)).unwrap().arrives.is_none());
    assert_eq!(link.counters(at_micros(3_000)).lost.packets, 1);
}

proptest! {
    /// A line whose departures are events delivers what a FIFO does, when it does.
    #[test]
    fn a_line_is_a_fifo(
        comes in prop::collection::vec((0_u64..3_000, 40_u32..1500), 1..60),
        limit in 1_u64..8,
    ) {
        let mut fifo = Link::new(&config(Discipline::Fifo, limit), Stream::new(1, "link"));
        let mut line = Link::new(&config(Discipline::Line, limit), Stream::new(1, "link"));
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
