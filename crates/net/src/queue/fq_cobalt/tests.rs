use super::*;
use crate::queue::fixtures::{ROOM, asking_for_ecn, full, millis, next, packet, told};

fn queue_of(quantum: u64) -> FqCobalt {
    let config = FqCobaltConfig {
        classify: Classify::Flow,
        quantum: Bytes::new(quantum),
        ..FqCobaltConfig::default()
    };
    FqCobalt::check(&config).unwrap();
    FqCobalt::make(&config, Rate::from_bps(10_000_000), Stream::new(1, "queue"))
}

fn push(queue: &mut FqCobalt, ids: std::ops::Range<u32>, size: u32, class: u32) {
    for id in ids {
        let packet = asking_for_ecn(packet(id, size, class));
        queue.offer(millis(0), packet, &ROOM, &mut Log::default());
    }
}

/// ns-3's test of deficits: a quantum of 90, packets of 120 B. The first flow has 90, and -30 after a packet. It gets
/// another 90 and goes behind the second, which goes from 90 to -30; then 60 to -60, and so on.
#[test]
fn deficits_are_those_of_ns_3() {
    let mut queue = queue_of(90);
    let deficits = |queue: &FqCobalt| (queue.turns.deficit(0), queue.turns.deficit(1));
    push(&mut queue, 0..3, 120, 0);
    assert_eq!(queue.turns.deficit(0), 90);
    assert_eq!(next(&mut queue, millis(0)).0, Some(0));
    assert_eq!(queue.turns.deficit(0), -30);
    push(&mut queue, 10..12, 120, 1);
    let mut seen = Vec::new();
    for expected in [10, 1, 11, 2] {
        assert_eq!(next(&mut queue, millis(0)).0, Some(expected));
        seen.push(deficits(&queue));
    }
    assert_eq!(seen, [(60, -30), (-60, 60), (30, -60), (-90, 30)]);
}

/// ns-3's test of marks: five flows of 20 packets of 120 B, of which three ask for ECN, a quantum of 1514 B, 60 departures
/// each 110 ms. A turn of 1514 B is 13 packets. The first of a flow begins its schedule, and each that follows is due, as
/// 110 ms are more than any gap: 12 marks in a turn. The first flow's second turn has its last 7. ns-3 then sends 4 of the
/// second flow, (19, 16, 12, 0, 0); it drops the last packet of a queue, too, which Linux never does, so that the fourth and
/// the fifth flow send one packet more here, and the second flow two fewer.
#[test]
fn flows_are_marked_as_in_ns_3_but_for_last_packets() {
    let mut queue = queue_of(1514);
    for class in 0..5 {
        for id in 100 * class..100 * class + 20 {
            let packet = packet(id, 120, class);
            let packet = if class < 3 { asking_for_ecn(packet) } else { packet };
            queue.offer(millis(0), packet, &ROOM, &mut Log::default());
        }
    }
    let mut marks = [0; 5];
    for k in 1..=60 {
        for id in next(&mut queue, millis(110 * k)).2 {
            marks[id as usize / 100] += 1;
        }
    }
    assert_eq!(marks, [19, 16 - 2, 12, 0, 0]);
}

#[test]
fn the_longest_flow_loses_its_head_and_its_blue_rises() {
    let mut queue = queue_of(1514);
    push(&mut queue, 0..3, 1000, 0);
    push(&mut queue, 10..15, 1000, 1);
    let mut log = Log::default();
    queue.offer(millis(10), packet(3, 1000, 0), &full(8), &mut log);
    assert_eq!(told(&mut log).0, [10]);
    assert_eq!((queue.held.packets, queue.held.bytes), (8, 8000));
    assert!(
        queue.queues[0].control.is_at_rest(millis(1000))
            && !queue.queues[1].control.is_at_rest(millis(1000))
    );
}
