use super::*;
use crate::queue::fixtures::{ROOM, asking_for_ecn, full, millis, next, packet, told};
use crate::queue::{QueueLimit, QueueUnit};

const MBIT: u64 = 1_000_000;

fn cake(config: CakeConfig) -> Cake {
    Cake::check(&config).unwrap();
    Cake::make(&config, Rate::from_bps(100 * MBIT), Stream::new(1, "queue"))
}

#[expect(clippy::unnecessary_wraps, reason = "as the settings have it")]
const fn mbit(mbit: u64) -> Option<Rate> {
    Some(Rate::from_bps(mbit * MBIT))
}

fn describe(queue: &mut Cake, classes: &[(&str, [u32; 2])]) {
    for (class, (dscp, hosts)) in (0..).zip(classes) {
        queue.describe(class, Header { dscp: dscp.parse().unwrap(), hosts: *hosts });
    }
}

fn push(queue: &mut Cake, ids: std::ops::Range<u32>, size: u32, class: u32) {
    for id in ids {
        let packet = asking_for_ecn(packet(id, size, class));
        assert_eq!(queue.offer(millis(0), packet, &ROOM, &mut Log::default()), Admission::Taken);
    }
}

/// The packets that leave a link of 1 Gbit/s, and when, in microseconds.
fn sent(queue: &mut Cake, packets: usize) -> Vec<(u32, u64)> {
    let mut now = Instant::START;
    let mut all = Vec::new();
    for _ in 0..packets {
        let Some(id) = next(queue, now).0 else { break };
        all.push((id, now.as_nanos() / 1000));
        now = now.max(queue.holds_until());
    }
    all
}

/// ns-3's list of hashes for its set-associative hash, with what Linux makes of the last two: it looks from the hash's own
/// way on, and a flow that finds all eight ways used joins the flow of its own way.
#[test]
fn flows_of_a_set_take_its_ways() {
    let mut tin = Tin::new(None, 1024, Duration::from_millis(5), Duration::from_millis(100));
    let mut random = Stream::new(1, "queue");
    let mut push = |tin: &mut Tin, hash| {
        tin.push(millis(0), (packet(0, 100, 0), None), (hash, [0, 1]), &mut random);
    };
    for hash in [0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 1024] {
        push(&mut tin, hash);
    }
    // 1024 has way 0 by its hash, and finds every way used: it joins 0.
    assert_eq!(tin.lengths(0, 8), [2, 2, 1, 1, 2, 1, 1, 1]);
    push(&mut tin, 1025);
    push(&mut tin, 10);
    assert_eq!((tin.lengths(1, 1), tin.lengths(8, 4)), (vec![3], vec![0, 0, 1, 0]));
}

#[test]
fn a_set_has_another_way_for_a_flow_that_meets_one() {
    let mut tags = set::Tags::new();
    // 3 and 1027 have the same way, 3; the second takes the next free one. 7, 1031 and 2055: 7, then around to 0 and 1.
    let mut used = Vec::new();
    for (hash, place) in [(3, 3), (1027, 4), (3, 3), (1027, 4), (7, 7), (1031, 0), (2055, 1)] {
        let found = tags.place(hash, |way| used.contains(&way));
        assert_eq!(found, place, "{hash}");
        used.push(found);
    }
}

#[test]
fn lengths_are_those_of_the_link_layer() {
    let length = |layer, size| Lengths::new(layer, None, None, None).of(size);
    // 1500 + 38; 40 + 38 = 78 are less than 84.
    assert_eq!([1500, 40].map(|size| length(LinkLayer::Ethernet, size)), [1538, 84]);
    assert_eq!([1500, 40].map(|size| length(LinkLayer::Docsis, size)), [1518, 64]);
    // 1500 + 40 = 1540 B are 33 cells, 40 + 40 are two: 53 B each.
    assert_eq!([1500, 40].map(|size| length(LinkLayer::PppoeLlcsnap, size)), [1749, 106]);
    // 1530 B are 24 times 64 B, begun.
    assert_eq!(length(LinkLayer::PppoePtm, 1500), 1554);
    let own = Lengths::new(
        LinkLayer::Raw,
        Some(Bytes::new(10)),
        Some(Bytes::new(96)),
        Some(Framing::Atm),
    );
    // 50 are 96 at least: two cells.
    assert_eq!((own.of(40), own.of(100)), (106, 159));
}

/// 12 Mbit/s are 1500 B a millisecond. With 38 B of overhead a packet of 1500 B takes 1538/1500 ms.
#[test]
fn packets_leave_at_the_bandwidth() {
    let config = CakeConfig { bandwidth: mbit(12), ..CakeConfig::default() };
    let mut queue = cake(config);
    push(&mut queue, 0..4, 1500, 0);
    assert_eq!(sent(&mut queue, 9), [(0, 0), (1, 1000), (2, 2000), (3, 3000)]);
    let mut queue = cake(CakeConfig { link_layer: LinkLayer::Ethernet, ..config });
    push(&mut queue, 0..3, 1500, 0);
    assert_eq!(sent(&mut queue, 9), [(0, 0), (1, 1025), (2, 2050)]);
}

/// At 12 Mbit/s: 1514 B take 1.009 ms, of which 1.5 and 4 are less than 5 ms; the quantum is 366 B, 2^-12 s. The bulk tin of
/// diffserv3 has a sixteenth, 0.75 Mbit/s, at which a packet takes 16.149 ms: its target is 24.224 ms, its interval 100 + 24.224
/// - 5 = 119.224 ms, its quantum 300 B.
#[test]
fn a_slow_tin_has_a_larger_target() {
    let queue = cake(CakeConfig { bandwidth: mbit(12), ..CakeConfig::default() });
    let micros = |tin: usize| {
        let (target, interval, quantum) = queue.tins[tin].settings();
        // Times are cut to nanoseconds: 24.223999 ms.
        (target.as_nanos().div_ceil(1000), interval.as_nanos().div_ceil(1000), quantum)
    };
    assert_eq!(micros(0), (5000, 100_000, 366));
    assert_eq!(micros(1), (24_224, 119_224, 300));
}

#[test]
fn rtt_sets_interval_and_target() {
    let queue = cake(CakeConfig { rtt: Duration::from_millis(30), ..CakeConfig::default() });
    // regional: 30 ms and 1.5 ms; without a shaper the quantum is a full packet.
    let settings = (Duration::from_micros(1500), Duration::from_millis(30), 1514);
    assert_eq!(queue.tins[2].settings(), settings);
}

/// Voice goes first while it keeps to a quarter of the rate, and best effort has what is left; a voice tin with more to send
/// gets its quarter and not more than others leave.
#[test]
fn voice_goes_first_up_to_its_share() {
    let mut queue = cake(CakeConfig { bandwidth: mbit(12), ..CakeConfig::default() });
    describe(&mut queue, &[("DF", [0, 1]), ("EF", [2, 3])]);
    push(&mut queue, 0..40, 1500, 0);
    push(&mut queue, 100..140, 1500, 1);
    let order = sent(&mut queue, 40);
    // Voice sends at 0 and then a packet each 4 ms, at a quarter of the rate.
    let voice: Vec<u64> =
        order.iter().filter(|(id, _)| *id >= 100).map(|(_, at)| at / 1000).collect();
    assert_eq!(voice, [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
}

#[test]
fn without_a_shaper_tins_share_by_weight() {
    // 1024 to 64 for best effort and bulk: of 340 packets of 1500 B, 320 and 20.
    let mut queue = cake(CakeConfig::default());
    describe(&mut queue, &[("DF", [0, 1]), ("CS1", [2, 3])]);
    push(&mut queue, 0..1000, 1500, 0);
    push(&mut queue, 1000..2000, 1500, 1);
    let bulk =
        (0..340).filter_map(|_| next(&mut queue, millis(0)).0).filter(|id| *id >= 1000).count();
    assert!((19..=21).contains(&bulk), "{bulk}");
}

/// One host with three flows and one with one: by flows a quarter each, by hosts one half for each host.
#[test]
fn hosts_share_before_flows() {
    let share = |isolation| {
        let mut queue = cake(CakeConfig { isolation, ..CakeConfig::default() });
        describe(&mut queue, &[("DF", [0, 9]), ("DF", [0, 8]), ("DF", [0, 7]), ("DF", [1, 6])]);
        for class in 0..4 {
            push(&mut queue, 1000 * class..1000 * class + 1000, 1500, class);
        }
        let ids = (0..1200).filter_map(|_| next(&mut queue, millis(0)).0);
        ids.filter(|id| *id >= 3000).count()
    };
    assert!((295..=305).contains(&share(Isolation::Flows)), "{}", share(Isolation::Flows));
    for isolation in [Isolation::DualSrchost, Isolation::TripleIsolate] {
        assert!((590..=610).contains(&share(isolation)), "{}", share(isolation));
    }
    // Each has a host of its own to receive.
    assert!((295..=305).contains(&share(Isolation::DualDsthost)));
    // Two queues, one a host.
    assert!((590..=610).contains(&share(Isolation::Srchost)));
}

#[test]
fn the_longest_flow_loses_its_head_when_the_buffer_is_full() {
    let mut queue = cake(CakeConfig::default());
    push(&mut queue, 0..3, 1000, 0);
    push(&mut queue, 10..15, 1000, 1);
    let room = Room { limit: QueueLimit { amount: 8000, unit: QueueUnit::Bytes }, ..full(0) };
    let mut log = Log::default();
    queue.offer(millis(1), packet(3, 1000, 0), &room, &mut log);
    assert_eq!((told(&mut log).0, queue.bytes, queue.packets), (vec![10], 8000, 8));
}

/// Packets that were dropped are charged in ingress mode: after three drops the next packet leaves four packet times later.
/// The failsafe clock goes on by one and a half packet times alone.
#[test]
fn dropped_packets_are_charged_at_an_ingress() {
    let mut shaper = Shaper::new(mbit(12));
    shaper.begin(millis(10));
    shaper.charge(1500, false);
    assert_eq!(shaper.holds_until(), millis(11));
    shaper.charge(1500, true);
    // 12 ms by the first clock, 11.5 by the other.
    assert_eq!(shaper.holds_until(), Instant::from_nanos(11_500_000));
}

/// A packet of 1500 B that was dropped takes 1 ms of the first clock at 12 Mbit/s, and nothing of the failsafe one
/// (`cake_advance_shaper` in Linux's `sch_cake.c`): the one that leaves after it holds the next back until the latter's
/// 1.5 ms instead of the former's 1 ms.
fn expect_one_drop_charged(drops: impl Fn(&mut Cake, &mut Log)) {
    for (ingress, holds_us) in [(false, 1000), (true, 1500)] {
        let ack_filter = AckFilter::Conservative;
        let config =
            CakeConfig { bandwidth: mbit(12), ingress, ack_filter, ..CakeConfig::default() };
        let mut queue = cake(config);
        let mut log = Log::default();
        drops(&mut queue, &mut log);
        assert_eq!(told(&mut log).0, [0]);
        assert_eq!(next(&mut queue, millis(0)).0, Some(1));
        assert_eq!(queue.holds_until().as_nanos(), holds_us * 1000, "ingress: {ingress}");
    }
}

#[test]
fn filtered_acks_are_charged_at_an_ingress() {
    expect_one_drop_charged(|queue, log| {
        for (id, number) in [(0, 100), (1, 200), (2, 300)] {
            queue.note_ack(Some(Ack { is_pure: true, number, ..Ack::default() }));
            queue.offer(millis(0), packet(id, 1500, 0), &ROOM, log);
        }
    });
}

#[test]
fn packets_that_a_full_buffer_drops_are_charged_at_an_ingress() {
    expect_one_drop_charged(|queue, log| {
        queue.offer(millis(0), packet(0, 1500, 0), &ROOM, log);
        queue.offer(millis(0), packet(1, 1500, 0), &ROOM, log);
        let room = Room { limit: QueueLimit { amount: 3000, unit: QueueUnit::Bytes }, ..full(0) };
        queue.offer(millis(0), packet(2, 1500, 0), &room, log);
    });
}

#[test]
fn needless_acks_go_as_a_newer_one_comes() {
    let ack_filter = AckFilter::Conservative;
    let mut queue = cake(CakeConfig { ack_filter, ..CakeConfig::default() });
    let mut log = Log::default();
    for (id, number) in [(0, 100), (1, 200), (2, 300), (3, 300)] {
        queue.note_ack(Some(Ack { is_pure: true, number, ..Ack::default() }));
        queue.offer(millis(0), packet(id, 40, 0), &ROOM, &mut log);
    }
    // 300 finds 100 and 200, and costs 100; the second 300 finds 200 and a duplicate of its own, and costs none.
    assert_eq!((told(&mut log).0, queue.bytes, queue.packets), (vec![0], 120, 3));
    assert_eq!(std::iter::from_fn(|| next(&mut queue, millis(1)).0).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let key = |config: CakeConfig| Cake::check(&config).unwrap_err().0;
    assert_eq!(key(CakeConfig { rtt: Duration::ZERO, ..CakeConfig::default() }), "rtt");
    assert_eq!(key(CakeConfig { target: Some(Duration::ZERO), ..CakeConfig::default() }), "target");
    let overhead = Some(Bytes::new(257));
    assert_eq!(key(CakeConfig { overhead, ..CakeConfig::default() }), "overhead");
    assert_eq!(
        key(CakeConfig { limit: Some(Limit::packets(9)), ..CakeConfig::default() }),
        "limit"
    );
}

#[test]
fn the_buffer_follows_the_rate_and_the_round_trip() {
    let limit = |config: CakeConfig| Cake::limits(&config).limit;
    // 100 Mbit/s for 400 ms are 5 MB; 1 Mbit/s has 4 MiB, and no shaper 10,240 packets of 1514 B.
    let of = |rate| CakeConfig { bandwidth: mbit(rate), ..CakeConfig::default() };
    assert_eq!(limit(of(100)), Limit::bytes(5_000_000));
    assert_eq!(limit(of(1)), Limit::bytes(4_194_304));
    assert_eq!(limit(CakeConfig::default()), Limit::bytes(15_503_360));
    assert_eq!(limit(of(10_000)), Limit::bytes(15_503_360));
}
