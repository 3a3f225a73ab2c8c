use ackclock_units::Rate;
use proptest::prelude::*;

use super::*;
use crate::queue::FairConfig;
use crate::{
    Counters, Discipline, Installed, Link, LinkConfig, LinkParts, Packet, PacketId, PacketKind,
    QueueLimit, Verdict,
};

const NONE: ImpairmentConfig = ImpairmentConfig {
    reorder: Reorder { share: 0.0, delay: Duration::ZERO },
    duplicate: 0.0,
    corrupt: 0.0,
    jitter: None,
};

/// 1 ms a packet of 1000 bytes, 10 ms of delay.
fn link(discipline: Discipline, loss: f64, impairments: ImpairmentConfig) -> Link {
    let config = LinkConfig {
        rate: Rate::from_bps(8_000_000),
        delay: Duration::from_millis(10),
        discipline,
        limit: QueueLimit::UNLIMITED,
        counts_in_service: false,
        mark: None,
        loss: crate::Loss::Random(loss),
    };
    let impairments = Impairments::new(impairments, |what| Stream::new(1, &format!("link {what}")));
    let installed = Installed { impairments: Some(impairments), ..Installed::default() };
    Link::new(LinkParts { installed, ..LinkParts::new(config, Stream::new(1, "link")) })
}

/// The arrivals of `packets` packets, one a millisecond, each with its number; and the counters when
/// all have left.
fn arrivals(mut link: Link, packets: u32) -> (Vec<(u32, Arrival)>, Counters) {
    let mut arrivals = Vec::new();
    let mut note = |id, (first, copy): (Arrival, Option<Arrival>)| {
        arrivals.push((id, first));
        arrivals.extend(copy.map(|copy| (id, copy)));
    };
    let mut now = Instant::START;
    for id in 0..packets {
        let packet =
            Packet { id: PacketId::new(id), size: 1000, class: 0, kind: PacketKind::flow(true) };
        match link.offer(now, packet) {
            Verdict::Placed { fate, .. } if fate.is_lost() => {}
            Verdict::Placed { departs, fate, .. } => note(id, link.arrivals(departs, fate)),
            Verdict::Waits { wake } => {
                now = wake.expect("an idle link");
                let departure = link.depart(now).expect("it sends this packet");
                if !departure.fate.is_lost() {
                    note(id, link.arrivals(now, departure.fate));
                }
                continue;
            }
            Verdict::Dropped => {}
        }
        now += Duration::from_millis(1);
    }
    (arrivals, link.counters(now))
}

#[test]
fn each_impairment_has_its_rate_and_is_counted() {
    for discipline in [Discipline::FIFO, Discipline::Fair(FairConfig::default())] {
        let config = ImpairmentConfig {
            reorder: Reorder { share: 0.1, delay: Duration::from_millis(5) },
            duplicate: 0.05,
            corrupt: 0.02,
            ..NONE
        };
        let (arrivals, counters) = arrivals(link(discipline, 0.2, config), 100_000);
        // Of 100,000 packets 80,000 are not lost, sigma 126; 4,000 are doubled, sigma 62. Of these
        // 84,000, 8,400 are late, sigma 87, and 1,680 have a bit flipped, sigma 41.
        let counted = [counters.lost, counters.duplicated, counters.reordered, counters.corrupted]
            .map(|volume| volume.packets);
        for (count, (expected, sigma)) in
            counted.into_iter().zip([(20_000, 126), (4_000, 62), (8_400, 87), (1_680, 41)])
        {
            assert!(count.abs_diff(expected) < 4 * sigma, "{count} for {expected}");
        }
        let [lost, duplicated, _, corrupted] = counted;
        assert_eq!(arrivals.len() as u64, 100_000 - lost + duplicated);
        let flipped = arrivals.iter().filter(|(_, arrival)| arrival.corrupted).count();
        assert_eq!(flipped as u64, corrupted);
        assert_eq!(counters.corrupted.bytes, 1000 * corrupted);
        assert!(counters.conserved() && counters.delivered.packets == 100_000);
    }
}

#[test]
fn packets_overtake_one_that_is_held_back() {
    let config = ImpairmentConfig {
        reorder: Reorder { share: 0.1, delay: Duration::from_micros(3_500) },
        ..NONE
    };
    for discipline in [Discipline::FIFO, Discipline::Fair(FairConfig::default())] {
        let (mut arrivals, counters) = arrivals(link(discipline, 0.0, config.clone()), 1_000);
        for (id, arrival) in &arrivals {
            // Sent to the last bit 1 ms after it came, and then 10 ms of delay.
            let in_time = Instant::from_nanos((u64::from(*id) + 11) * 1_000_000);
            let late = arrival.at.since(in_time);
            assert!([0, 3_500].map(Duration::from_micros).contains(&late), "{id} {late:?}");
        }
        arrivals.sort_by_key(|(_, arrival)| arrival.at);
        // Three packets come in the 3.5 ms by which one is late, unless they are late themselves.
        let place = |id| arrivals.iter().position(|(other, _)| *other == id).unwrap();
        let overtaken = (0..997).filter(|id| place(id + 3) < place(*id)).count();
        assert!(overtaken > 0 && overtaken as u64 <= counters.reordered.packets);
        assert!(arrivals.iter().all(|(_, arrival)| !arrival.corrupted));
    }
}

#[test]
fn one_impairment_leaves_the_draws_of_the_others() {
    let late = Reorder { share: 0.1, delay: Duration::from_millis(500) };
    let alone = ImpairmentConfig { reorder: late, ..NONE };
    let all = ImpairmentConfig { reorder: late, duplicate: 0.3, corrupt: 0.3, ..NONE };
    let first_arrivals = |config: &ImpairmentConfig| {
        let (mut arrivals, _) = arrivals(link(Discipline::FIFO, 0.1, config.clone()), 2_000);
        arrivals.dedup_by_key(|(id, _)| *id);
        arrivals
    };
    let ids = |config: &_| first_arrivals(config).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    let times = |config: &_| {
        first_arrivals(config).into_iter().map(|(_, arrival)| arrival.at).collect::<Vec<_>>()
    };
    assert_eq!(ids(&NONE), ids(&all), "the same packets are lost");
    assert_eq!(times(&alone), times(&all), "the same packets are late");
    assert_ne!(times(&NONE), times(&all));
}

#[test]
fn what_always_happens_always_happens() {
    let config = ImpairmentConfig {
        reorder: Reorder { share: 1.0, delay: Duration::from_millis(1) },
        duplicate: 1.0,
        corrupt: 1.0,
        ..NONE
    };
    let (arrivals, counters) = arrivals(link(Discipline::FIFO, 0.0, config.clone()), 10);
    assert_eq!(arrivals.len(), 20);
    assert_eq!(
        [counters.duplicated, counters.reordered, counters.corrupted].map(|v| v.packets),
        [10, 20, 20]
    );
    let (_, counters) = self::arrivals(link(Discipline::FIFO, 1.0, config), 10);
    assert_eq!(
        [counters.lost, counters.duplicated, counters.corrupted].map(|v| v.packets),
        [10, 0, 0]
    );
}

proptest! {
    /// Whatever befalls packets, those that come out are those that went in, less the lost and more
    /// by the copies; and none comes out before its time.
    #[test]
    fn what_comes_out_is_accounted_for(
        fair: bool,
        loss in 0.0..1.0_f64,
        share in 0.0..1.0_f64,
        duplicate in 0.0..1.0_f64,
        corrupt in 0.0..1.0_f64,
        millis in 1_u64..50,
    ) {
        let discipline = if fair { Discipline::Fair(FairConfig::default()) } else { Discipline::FIFO };
        let delay = Duration::from_millis(millis);
        let config = ImpairmentConfig { reorder: Reorder { share, delay }, duplicate, corrupt, ..NONE };
        let (arrivals, counters) = arrivals(link(discipline, loss, config), 200);
        prop_assert!(counters.conserved());
        let emerged = counters.delivered.packets - counters.lost.packets
            + counters.duplicated.packets;
        prop_assert_eq!(arrivals.len() as u64, emerged);
        let mut late = 0;
        for (id, arrival) in &arrivals {
            let in_time = Instant::from_nanos((u64::from(*id) + 11) * 1_000_000);
            prop_assert!(arrival.at == in_time || arrival.at == in_time + delay);
            late += u64::from(arrival.at != in_time);
        }
        prop_assert_eq!(late, counters.reordered.packets);
    }
}
