use proptest::prelude::*;

use super::*;
use crate::queue::{
    CakeConfig, CoDelConfig, CoDelLaw, CobaltConfig, CobaltLaw, DropEnd, DropTailConfig, DrrConfig,
    FairConfig, FqCoDelConfig, FqCobaltConfig, FqPieConfig, Limit, PieConfig, PrioConfig,
    RedConfig, SfqConfig,
};
use crate::{PacketId, PacketKind, PeriodicLoss, QueueUnit};

/// A link whose losses are drawn from `losses`.
fn link_of(config: &LinkConfig, losses: Stream) -> Link {
    Link::new(LinkParts::new(*config, losses))
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
        Verdict::Placed { starts, departs, .. } => (starts, departs + Duration::from_millis(10)),
        other => panic!("{other:?}"),
    };
    // The first is sent at once: 1 ms + 10 ms. The second comes at 0.4 ms and starts at 1 ms.
    let first = link.offer(at_micros(0), packet(0, 0));
    let second = link.offer(at_micros(400), packet(1, 0));
    assert_eq!(arrival(first), (at_micros(0), at_micros(11_000)));
    assert_eq!(arrival(second), (at_micros(1_000), at_micros(12_000)));
    assert_eq!(link.wire.free_at, at_micros(2_000));
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
    assert!(matches!(link.offer(at_micros(1_000), packet(2, 0)), Verdict::Placed { .. }));
}

#[test]
fn a_fair_link_gives_each_class_its_share() {
    // Class 0 offers two packets a millisecond, class 1 one every two milliseconds, to a link that
    // sends one a millisecond: class 1 asks for less than half and gets all of it.
    let mut link =
        link_of(&config(Discipline::Fair(FairConfig::default()), 10_000), Stream::new(1, "link"));
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
                lost.extend(departure.fate.is_lost().then_some(id));
            }
            Verdict::Placed { fate: Fate::LOST, .. } => lost.push(id),
            Verdict::Placed { fate, .. } => assert_eq!(fate, Fate::INTACT),
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

/// Every discipline, by number; those with marks ask for them.
fn discipline(n: usize) -> Discipline {
    let law = CoDelLaw {
        target: Duration::from_micros(500),
        interval: Duration::from_millis(3),
        ..CoDelLaw::default()
    };
    let cobalt = CobaltLaw {
        target: law.target,
        interval: law.interval,
        increase: 0.1,
        ..CobaltLaw::default()
    };
    match n {
        0 => Discipline::FIFO,
        1 => Discipline::Fair(FairConfig::default()),
        2 => Discipline::Red(RedConfig {
            min_th: Limit::packets(2),
            max_th: Limit::packets(5),
            weight: 0.2,
            ecn: true,
            ..RedConfig::default()
        }),
        3 => Discipline::CoDel(CoDelConfig { law, ecn: true, ..CoDelConfig::default() }),
        4 => {
            Discipline::FqCoDel(FqCoDelConfig { law, queues: Some(3), ..FqCoDelConfig::default() })
        }
        6 => Discipline::DropTail(DropTailConfig {
            drop: DropEnd::Head,
            ..DropTailConfig::default()
        }),
        7 => Discipline::Cobalt(CobaltConfig { law: cobalt, ..CobaltConfig::default() }),
        8 => Discipline::FqCobalt(FqCobaltConfig {
            law: cobalt,
            queues: Some(3),
            ..FqCobaltConfig::default()
        }),
        9 => Discipline::Drr(DrrConfig::default()),
        10 => Discipline::Sfq(SfqConfig { depth: 5, divisor: 3, ..SfqConfig::default() }),
        11 => Discipline::Prio(PrioConfig { limit: Limit::packets(8), ..PrioConfig::default() }),
        12 => Discipline::FqPie(FqPieConfig {
            target: Duration::from_millis(1),
            update: Duration::from_millis(1),
            burst: Duration::from_millis(2),
            ecn: true,
            beta: 100.0,
            mark_below: 1.0,
            ..FqPieConfig::default()
        }),
        13 => Discipline::Cake(CakeConfig {
            bandwidth: Some(Rate::from_bps(6_000_000)),
            rtt: law.interval,
            ingress: true,
            ..CakeConfig::default()
        }),
        14 => Discipline::Cake(CakeConfig { rtt: law.interval, ..CakeConfig::default() }),
        _ => Discipline::Pie(PieConfig {
            target: Duration::from_millis(1),
            update: Duration::from_millis(1),
            burst: Duration::from_millis(2),
            packet_size: Bytes::new(100),
            ecn: true,
            beta: 100.0,
            mark_below: 1.0,
            ..PieConfig::default()
        }),
    }
}

/// An event at a link.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Packet { size: u32, class: u32, ecn: bool },
    Limit(u64),
    Rate(u64),
}

fn happenings() -> impl Strategy<Value = Vec<(u64, Happening)>> {
    let happening = prop_oneof![
        60 => (40_u32..1500, 0_u32..4, any::<bool>())
            .prop_map(|(size, class, ecn)| Happening::Packet { size, class, ecn }),
        1 => (1_u64..20).prop_map(Happening::Limit),
        1 => (0_u64..20).prop_map(|mbps| Happening::Rate(mbps * 1_000_000)),
    ];
    prop::collection::vec((0_u64..2_000, happening), 1..300)
}

/// The fate of each packet, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fates {
    departed: Vec<(u32, Instant)>,
    dropped: Vec<u32>,
    marked: Vec<u32>,
}

impl Fates {
    fn take_effects(&mut self, link: &mut Link) {
        while let Some(effect) = link.take_effect() {
            match effect {
                Effect::Dropped(packet, _) => self.dropped.push(packet.id.get()),
                Effect::Marked(packet) => {
                    assert!(packet.asks_for_ecn(), "{packet:?}");
                    self.marked.push(packet.id.get());
                }
            }
        }
    }
}

/// Plays `happenings` on a link whose discipline is scheduled; the counters are checked after each.
fn play(
    which: usize,
    unit: QueueUnit,
    amount: u64,
    happenings: &[(u64, Happening)],
) -> Result<(Fates, Counters), TestCaseError> {
    let discipline = discipline(which);
    let limit = |amount| QueueLimit {
        amount: if unit == QueueUnit::Bytes { amount * 1500 } else { amount },
        unit,
    };
    let config =
        LinkConfig { limit: limit(amount), counts_in_service: false, ..config(discipline, 1) };
    let mut link = Link::new(LinkParts {
        queue: Stream::new(7, "queue"),
        ..LinkParts::new(config, Stream::new(1, "link"))
    });
    let source = link.add_source();
    let (mut fates, mut now, mut wake) = (Fates::default(), Instant::START, None);
    let mut most = amount;
    for (id, (gap, happening)) in (0_u32..).zip(happenings) {
        now += Duration::from_micros(*gap);
        while let Some(at) = wake.filter(|at| *at <= now) {
            let departure = link.depart(at).unwrap();
            fates.departed.push((departure.packet.id.get(), at));
            fates.take_effects(&mut link);
            wake = departure.wake;
        }
        match *happening {
            Happening::Packet { size, class, ecn } => {
                let cross = (class == 3).then_some(source);
                let id = PacketId::new(id);
                let packet = Packet { id, size, class, kind: PacketKind::new(cross, true, ecn) };
                match link.offer(now, packet) {
                    Verdict::Waits { wake: at } => wake = at.or(wake),
                    Verdict::Dropped => fates.dropped.push(id.get()),
                    placed @ Verdict::Placed { .. } => panic!("{placed:?}"),
                }
            }
            Happening::Limit(amount) => {
                most = amount;
                link.change(
                    now,
                    &LinkChange { limit: Some(limit(amount)), ..LinkChange::default() },
                );
            }
            Happening::Rate(bps) => {
                let rate = (bps > 0).then_some(Rate::from_bps(bps));
                wake = link.change(now, &LinkChange { rate: Some(rate), ..LinkChange::default() });
            }
        }
        fates.take_effects(&mut link);
        let counters = link.counters(now);
        prop_assert!(counters.conserved(), "{counters:?}");
        let waiting = match unit {
            QueueUnit::Packets => counters.queued.packets.saturating_sub(1),
            QueueUnit::Bytes => counters.queued.bytes.saturating_sub(u64::from(link.in_service())),
        };
        prop_assert!(waiting <= limit(most).amount, "{waiting} of {most}");
        prop_assert!(counters.busy <= now.since(Instant::START));
    }
    let counters = link.counters(now);
    // Each packet has left once, or was dropped once, or waits.
    let mut seen: Vec<u32> = fates.departed.iter().map(|(id, _)| *id).collect();
    seen.extend(&fates.dropped);
    let total = seen.len() as u64;
    seen.sort_unstable();
    seen.dedup();
    prop_assert_eq!(seen.len() as u64, total);
    prop_assert_eq!(total + counters.queued.packets, counters.offered.packets);
    prop_assert_eq!(fates.departed.len() as u64, counters.delivered.packets);
    prop_assert_eq!(fates.dropped.len() as u64, counters.dropped.packets);
    prop_assert_eq!(fates.marked.len() as u64, counters.marked.packets);
    prop_assert!(counters.dropped_early.packets <= counters.dropped.packets);
    Ok((fates, counters))
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
    /// Conservation with disciplines that drop and mark by themselves, while the limit and the rate change.
    #[test]
    fn what_a_discipline_drops_is_accounted_for(
        which in 1_usize..16,
        in_bytes: bool,
        amount in 1_u64..20,
        happenings in happenings(),
    ) {
        let unit = if in_bytes { QueueUnit::Bytes } else { QueueUnit::Packets };
        let first = play(which, unit, amount, &happenings)?;
        prop_assert_eq!(first, play(which, unit, amount, &happenings)?);
    }
}

#[test]
fn every_discipline_drops_and_marks_by_itself() {
    // Two packets come while one leaves; half of them ask for ECN.
    let load: Vec<(u64, Happening)> = (0..3_000)
        .map(|n| (500, Happening::Packet { size: 1000, class: n % 3, ecn: n % 2 == 0 }))
        .collect();
    for which in [2, 3, 4, 5, 7, 8, 12, 14] {
        let (fates, counters) = play(which, QueueUnit::Packets, 1000, &load).unwrap();
        assert!(counters.dropped_early.packets > 100, "{which}: {counters:?}");
        assert_eq!(counters.dropped_early, counters.dropped, "{which}");
        assert!(fates.marked.len() > 10, "{which}: {counters:?}");
    }
    for which in 0..2 {
        let discipline = discipline(which);
        assert!(!discipline.marks());
    }
}

#[test]
fn a_smaller_limit_drops_the_last() {
    for which in [1, 2, 3, 5] {
        let discipline = discipline(which);
        let mut link = link_of(&config(discipline, 100), Stream::new(1, "link"));
        (0..5).for_each(|id| {
            link.offer(at_micros(0), packet(id, 0));
        });
        // One is being sent and counts: two of the four that wait remain.
        link.set_limit(QueueLimit { amount: 3, unit: QueueUnit::Packets });
        let mut fates = Fates::default();
        fates.take_effects(&mut link);
        fates.dropped.sort_unstable();
        assert_eq!(fates.dropped, [3, 4], "{which}");
        let counters = link.counters(at_micros(0));
        assert!(counters.conserved() && counters.dropped.packets == 2, "{counters:?}");
        assert_eq!(counters.dropped_early.packets, 0);
    }
}

#[test]
fn a_change_drops_from_the_tail_and_leaves_alone_what_is_on_its_way() {
    // 1000 B at 8 Mbit/s: 1 ms. Six packets at 0: one in service, five wait.
    let config =
        LinkConfig { counts_in_service: false, ..config(Discipline::RESCHEDULED_FIFO, 10) };
    let mut link = link_of(&config, Stream::new(1, "link"));
    for id in 0..6 {
        let verdict = link.offer(at_micros(0), packet(id, 0));
        assert!(matches!(verdict, Verdict::Waits { wake } if wake.is_some() == (id == 0)));
    }
    // At 1 ms packet 0 leaves, to arrive at 11 ms. At 1.5 ms the link becomes 0.8 Mbit/s (10 ms a
    // packet) with 3 ms of delay and room for two.
    let first = link.depart(at_micros(1_000)).unwrap();
    assert_eq!((first.packet.id.get(), first.fate), (0, Fate::INTACT));
    let arrival = |at| Arrival { at: at_micros(at), corrupted: false };
    assert_eq!(link.arrivals(at_micros(1_000), first.fate), (arrival(11_000), None));
    // Half of packet 1 is left: 4000 bits, 5 ms at the new rate.
    assert_eq!(
        link.set_rate(at_micros(1_500), Some(Rate::from_bps(800_000))),
        Some(at_micros(6_500))
    );
    assert!(link.depart(at_micros(2_000)).is_none());
    let delay = Some(Duration::from_millis(3));
    link.change(at_micros(1_500), &LinkChange { delay, ..LinkChange::default() });
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
    // 1 takes the new way: 6.5 + 3 ms. 2 takes 10 ms.
    let second = link.depart(at_micros(6_500)).unwrap();
    assert_eq!((second.packet.id.get(), second.fate), (1, Fate::INTACT));
    assert_eq!(link.arrivals(at_micros(6_500), second.fate), (arrival(9_500), None));
    assert_eq!(second.wake, Some(at_micros(16_500)));
    let third = link.depart(at_micros(16_500)).unwrap();
    assert_eq!((third.packet.id.get(), third.started), (2, at_micros(6_500)));
}

#[test]
fn a_packet_interrupted_by_a_rate_of_zero_is_sent_on_when_the_rate_comes_back() {
    // 1000 B at 8 Mbit/s: 1 ms. Of packet 0 a quarter is left when the rate falls to zero at 0.75 ms; at 10 ms it comes
    // back as 4 Mbit/s: 2000 bits take 0.5 ms, packet 1 takes 2 ms. Packet 2 comes meanwhile.
    let mut link = link_of(&config(Discipline::RESCHEDULED_FIFO, 10), Stream::new(1, "link"));
    link.offer(at_micros(0), packet(0, 0));
    link.offer(at_micros(0), packet(1, 0));
    assert_eq!(link.set_rate(at_micros(750), None), None);
    assert!(link.depart(at_micros(1_000)).is_none());
    assert!(matches!(link.offer(at_micros(5_000), packet(2, 0)), Verdict::Waits { wake: None }));
    assert_eq!(link.counters(at_micros(9_000)).busy, Duration::from_micros(750));
    let resumed = link.set_rate(at_micros(10_000), Some(Rate::from_bps(4_000_000)));
    assert_eq!(resumed, Some(at_micros(10_500)));
    let wakes: Vec<_> =
        [10_500, 12_500, 14_500].map(|at| link.depart(at_micros(at)).unwrap().wake).into();
    assert_eq!(wakes, [Some(at_micros(12_500)), Some(at_micros(14_500)), None]);
    // 0.75 + 0.5 + 2 + 2 ms.
    assert_eq!(link.counters(at_micros(20_000)).busy, Duration::from_micros(5_250));
}

#[test]
fn a_link_of_rate_zero_begins_when_it_has_a_rate() {
    // Idle at 8 Mbit/s, then zero; a packet comes, and another change to zero changes nothing.
    let mut link = link_of(&config(Discipline::RESCHEDULED_FIFO, 10), Stream::new(1, "link"));
    assert_eq!(link.set_rate(at_micros(100), None), None);
    assert!(matches!(link.offer(at_micros(200), packet(0, 0)), Verdict::Waits { wake: None }));
    assert_eq!(link.set_rate(at_micros(300), None), None);
    let began = link.set_rate(at_micros(5_000), Some(Rate::from_bps(8_000_000)));
    assert_eq!(began, Some(at_micros(6_000)));
    let left = link.depart(at_micros(6_000)).unwrap();
    assert_eq!((left.started, left.wake), (at_micros(5_000), None));
}

#[test]
fn a_link_may_begin_to_lose() {
    let mut link = link_of(&config(Discipline::RESCHEDULED_FIFO, 10), Stream::new(1, "link"));
    link.offer(at_micros(0), packet(0, 0));
    assert_eq!(link.depart(at_micros(1_000)).unwrap().fate, Fate::INTACT);
    let loss = Some((Loss::Random(1.0), Stream::new(1, "loss")));
    link.change(at_micros(1_500), &LinkChange { loss, ..LinkChange::default() });
    link.offer(at_micros(2_000), packet(1, 0));
    assert_eq!(link.depart(at_micros(3_000)).unwrap().fate, Fate::LOST);
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
                found.push((departure.packet.id.get(), at));
                *wake = departure.wake;
            }
        };
        for (id, (wait, size)) in (0..).zip(comes) {
            now += Duration::from_micros(wait);
            leave(&mut line, &mut wake, now);
            let packet = Packet { size, ..packet(id, 0) };
            match (fifo.offer(now, packet), line.offer(now, packet)) {
                (Verdict::Placed { departs, .. }, Verdict::Waits { wake: woken }) => {
                    expected.push((id, departs));
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
