//! Packets that leave in frames, on hand-worked lists.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use serde_json::{Value, json};

use crate::parts::loss::Loss;
use crate::{
    Ack, AckThinning, AggregationConfig, Discipline, Installed, Link, LinkConfig, LinkParts,
    Packet, PacketId, PacketKind, Part, QueueLimit, Thinning, Verdict,
};

/// A link of 8 Mbit/s, at which a byte takes a microsecond, behind drop-tail.
fn link(aggregation: Option<Value>, thinning: Option<Value>) -> Link {
    let config = LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::ZERO,
        discipline: Discipline::RESCHEDULED_FIFO,
        limit: QueueLimit::UNLIMITED,
        counts_in_service: false,
        mark: None,
        loss: Loss::NONE,
    };
    let aggregation = aggregation.map(|settings| {
        let config: AggregationConfig = serde_json::from_value(settings).unwrap();
        config.check(Rate::from_bps(1_000_000)).unwrap();
        config.aggregation(Stream::new(1, "aggregation"))
    });
    let thinning = thinning.map(|settings| {
        let config: AckThinning = serde_json::from_value(settings).unwrap();
        config.check(Rate::from_bps(1_000_000)).unwrap();
        Thinning::new(config)
    });
    let installed = Installed { aggregation, thinning, ..Installed::default() };
    Link::new(LinkParts { installed, ..LinkParts::new(config, Stream::new(1, "link")) })
}

fn at(us: u64) -> Instant {
    Instant::START + Duration::from_micros(us)
}

/// The packets of a list, each of (when it comes in us, bytes, ACK): which leave, and when in us.
fn departures(link: &mut Link, coming: &[(u64, u32, Option<Ack>)]) -> Vec<(u64, u32)> {
    let mut wakes: Vec<Instant> = Vec::new();
    let mut left = Vec::new();
    let mut run_to = |link: &mut Link, wakes: &mut Vec<Instant>, until: Instant| {
        while let Some(next) = wakes.iter().copied().filter(|wake| *wake <= until).min() {
            wakes.remove(wakes.iter().position(|wake| *wake == next).unwrap());
            if let Some(departure) = link.depart(next) {
                left.push((next.as_nanos() / 1000, departure.packet.id.get()));
                wakes.extend(departure.wake);
            }
            if link.has_alarms() {
                wakes.extend(link.wake(next));
            }
            while link.take_effect().is_some() {}
        }
    };
    for (n, (comes, size, ack)) in (0..).zip(coming) {
        // Departures come before arrivals at one instant.
        run_to(link, &mut wakes, at(*comes));
        let kind = PacketKind::flow(ack.is_none());
        let packet = Packet { id: PacketId::new(n), size: *size, class: 0, kind };
        if link.filters_acks() {
            link.note_ack(*ack);
        }
        if let Verdict::Waits { wake } = link.offer(at(*comes), packet) {
            wakes.extend(wake);
        }
        while link.take_effect().is_some() {}
    }
    run_to(link, &mut wakes, Instant::from_nanos(1 << 40));
    left
}

fn data(coming: &[(u64, u32)]) -> Vec<(u64, u32, Option<Ack>)> {
    coming.iter().map(|(comes, size)| (*comes, *size, None)).collect()
}

/// Pure ACKs of these numbers, 50 B each, so many microseconds apart.
fn acks(apart: u64, numbers: &[u32]) -> Vec<(u64, u32, Option<Ack>)> {
    let ack = |number: &u32| Some(Ack { is_pure: true, number: *number, ..Ack::default() });
    (0..).zip(numbers).map(|(n, number)| (n * apart, 50, ack(number))).collect()
}

#[test]
fn packets_are_held_until_enough_have_come_or_the_first_has_waited() {
    // Three make a frame: the third comes at 2000 us, and three of 100 B take 100 us each. The fourth comes alone at
    // 3000, and leaves 10 ms later.
    let hold = json!({"kind": "hold", "packets": 3, "time": "10 ms"});
    let coming = data(&[(0, 100), (1000, 100), (2000, 100), (3000, 100)]);
    let left = departures(&mut link(Some(hold), None), &coming);
    assert_eq!(left, [(2100, 0), (2200, 1), (2300, 2), (13_100, 3)]);
    // By time alone: 4 ms after the first, 4000 us, all that wait leave. The one at 4050, while they are sent, waits anew,
    // until 8050.
    let hold = json!({"kind": "hold", "time": "4 ms"});
    let coming = data(&[(0, 100), (3999, 100), (4050, 100)]);
    let left = departures(&mut link(Some(hold), None), &coming);
    assert_eq!(left, [(4100, 0), (4200, 1), (8150, 2)]);
}

#[test]
fn a_frame_of_a_wireless_lan_has_what_waits_as_it_begins() {
    // Packets of 1000 B take 1000 us. The first wins the medium after 100 to 300 us, at T; those at 10 and 20 us are with it,
    // and all three leave at T + 3000. The one at 2000 wins the medium for itself after that.
    let ampdu = json!({"kind": "ampdu", "access": "200 us"});
    let coming = data(&[(0, 1000), (10, 1000), (20, 1000), (2000, 1000)]);
    let left = departures(&mut link(Some(ampdu), None), &coming);
    let whole = left[0].0;
    assert!((3100..=3300).contains(&whole), "{left:?}");
    assert_eq!(left[..3], [(whole, 0), (whole, 1), (whole, 2)]);
    let alone = left[3].0 - whole;
    assert!(left[3].1 == 3 && (1100..=1300).contains(&alone), "{left:?}");
}

#[test]
fn a_frame_of_a_wireless_lan_has_bounds() {
    let sizes = |settings: Value| {
        let coming = data(&[(0, 1000); 7]);
        let left = departures(&mut link(Some(settings), None), &coming);
        assert_eq!(left.iter().map(|(_, id)| *id).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        let frames = left.chunk_by(|(a, _), (b, _)| a == b);
        frames.map(<[(u64, u32)]>::len).collect::<Vec<_>>()
    };
    // Seven packets of 1000 B and 1 ms: by number, by bytes, by time on the air.
    assert_eq!(sizes(json!({"kind": "ampdu", "packets": 3})), [3, 3, 1]);
    assert_eq!(sizes(json!({"kind": "ampdu", "volume": "2999 B"})), [2, 2, 2, 1]);
    assert_eq!(sizes(json!({"kind": "ampdu", "airtime": "4 ms"})), [4, 3]);
    // A packet that is larger than a frame is one by itself.
    assert_eq!(sizes(json!({"kind": "ampdu", "volume": "10 B"})), [1; 7]);
}

#[test]
fn a_packet_waits_for_its_request_and_its_grant() {
    // Intervals of 2 ms. The packet at 500 us asks at 2000, with the one at 1900; their grant comes 4 ms later, at 6000.
    // The one at 2100 is too late for that request. It asks as the grant begins, and has its own at 10,000.
    let grants = json!({"kind": "grants"});
    let coming = data(&[(500, 100), (1900, 100), (2100, 100)]);
    let left = departures(&mut link(Some(grants), None), &coming);
    assert_eq!(left, [(6100, 0), (6200, 1), (10_100, 2)]);
    // A delay of 3 ms ends between two intervals: the grant begins at the next, 6000.
    let grants = json!({"kind": "grants", "delay": "3 ms"});
    assert_eq!(departures(&mut link(Some(grants), None), &data(&[(500, 100)])), [(6100, 0)]);
    // 250 B a grant: two packets of 100, and what is left asks again.
    let grants = json!({"kind": "grants", "volume": "250 B"});
    let left = departures(&mut link(Some(grants), None), &data(&[(0, 100), (0, 100), (0, 100)]));
    assert_eq!(left, [(4100, 0), (4200, 1), (8100, 2)]);
}

#[test]
fn every_nth_ack_passes() {
    // The first of a flow tells the most, and passes; of the next six every third.
    let thinning = || link(None, Some(json!({"every": 3})));
    let numbers: Vec<u32> = (1..=8).map(|n| n * 1000).collect();
    let ids = |left: Vec<(u64, u32)>| left.into_iter().map(|(_, id)| id).collect::<Vec<_>>();
    assert_eq!(ids(departures(&mut thinning(), &acks(1000, &numbers))), [0, 3, 6]);
    // Duplicates pass, each of them, and the count begins anew.
    let left =
        departures(&mut thinning(), &acks(1000, &[1000, 2000, 2000, 2000, 3000, 4000, 5000]));
    assert_eq!(ids(left), [0, 2, 3, 6]);
    let mut coming = acks(1000, &numbers);
    // SACK blocks and another echo of ECN say something new; the echo's end does, too.
    let blocks = coming[1].2.as_mut().unwrap();
    (blocks.sack[0], blocks.blocks) = ([9000, 9500], 1);
    coming[3].2.as_mut().unwrap().ecn = 0x40;
    // Data is never thinned.
    coming[6] = (6000, 1500, None);
    assert_eq!(ids(departures(&mut thinning(), &coming)), [0, 1, 3, 4, 6]);
    let mut all = link(None, Some(json!({"every": 3, "all": true})));
    assert_eq!(ids(departures(&mut all, &acks(1000, &[1000; 7]))), [0, 3, 6]);
}

#[test]
fn the_newest_ack_is_held_no_longer_than_said() {
    // Every fourth, or after 2.5 ms: the ACKs of 1, 2 and 3 ms are one, held since 1 ms, which passes at 3.5 ms. 4 and 5 ms
    // are one, which goes on ahead of the data at 5.5 ms; each takes 50 us.
    let thinning = json!({"every": 4, "within": "2.5 ms"});
    let mut coming = acks(1000, &[1000, 2000, 3000, 4000, 5000, 6000]);
    coming.push((5500, 1500, None));
    let mut link = link(None, Some(thinning));
    let left = departures(&mut link, &coming);
    assert_eq!(left, [(50, 0), (3550, 3), (5550, 5), (7050, 6)]);
    let counters = link.counters(at(9000));
    assert_eq!(
        [counters.offered, counters.delivered, counters.dropped_early, counters.queued]
            .map(|volume| volume.packets),
        [7, 4, 3, 0]
    );
}

#[test]
fn impossible_settings_are_refused() {
    let refused = |settings: Value| {
        let config: AggregationConfig = serde_json::from_value(settings).unwrap();
        config.check(Rate::from_bps(1_000_000)).unwrap_err().0
    };
    assert_eq!(refused(json!({"kind": "hold", "packets": 1})), "packets");
    assert_eq!(refused(json!({"kind": "hold", "time": "0 s"})), "time");
    assert_eq!(refused(json!({"kind": "ampdu", "packets": 0})), "packets");
    assert_eq!(refused(json!({"kind": "ampdu", "volume": "0 B"})), "volume");
    assert_eq!(refused(json!({"kind": "grants", "interval": "0 s"})), "interval");
    assert_eq!(refused(json!({"kind": "grants", "volume": "0 B"})), "volume");
    assert_eq!(
        AckThinning { every: 1, ..AckThinning::default() }
            .check(Rate::from_bps(1_000_000))
            .unwrap_err()
            .0,
        "every"
    );
}
