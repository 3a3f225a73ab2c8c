use super::*;
use crate::queue::fixtures::{ROOM, full, millis, next, packet, told};

fn own_lines() -> FqCoDel {
    let config = FqCoDelConfig { classify: Classify::Flow, ..FqCoDelConfig::default() };
    FqCoDel::new(config, Stream::new(1, "queue"))
}

fn push(queue: &mut FqCoDel, ids: std::ops::Range<u32>, size: u32, class: u32) {
    for id in ids {
        queue.offer(millis(0), packet(id, size, class), &ROOM, &mut Log::default());
    }
}

fn sent(queue: &mut FqCoDel) -> Option<u32> {
    let (sent, dropped, marked) = next(queue, millis(0));
    assert!(dropped.is_empty() && marked.is_empty());
    sent
}

#[test]
fn a_flow_that_begins_goes_before_those_that_stand() {
    let mut queue = own_lines();
    push(&mut queue, 0..10, 1514, 0);
    push(&mut queue, 10..20, 1514, 1);
    // A quantum each as new flows, then turns.
    for expected in [0, 10, 1, 11] {
        assert_eq!(sent(&mut queue), Some(expected));
    }
    // Two packets of 500 B fit into a new flow's quantum and leave at once, one after the other.
    push(&mut queue, 20..22, 500, 2);
    for expected in [20, 21, 2, 12] {
        assert_eq!(sent(&mut queue), Some(expected));
    }
}

#[test]
fn a_new_flow_beyond_its_quantum_waits_its_turn() {
    let mut queue = own_lines();
    push(&mut queue, 0..10, 1514, 0);
    for expected in [0, 1] {
        assert_eq!(sent(&mut queue), Some(expected));
    }
    push(&mut queue, 10..20, 1514, 1);
    // One quantum at once; then it goes to the end of the old ones. Flow 0, which stands there with
    // nothing left of its quantum, gets another and goes behind it.
    for expected in [10, 11, 2, 12, 3] {
        assert_eq!(sent(&mut queue), Some(expected));
    }
}

#[test]
fn a_flow_that_sends_little_cannot_starve_the_others() {
    let mut queue = own_lines();
    push(&mut queue, 0..10, 1514, 0);
    assert_eq!((sent(&mut queue), sent(&mut queue)), (Some(0), Some(1)));
    push(&mut queue, 10..11, 1514, 1);
    assert_eq!(sent(&mut queue), Some(10));
    // Its queue is empty and has gone to the old ones, so that what comes now is not new.
    assert_eq!(sent(&mut queue), Some(2));
    push(&mut queue, 11..12, 1514, 1);
    assert_eq!((sent(&mut queue), sent(&mut queue)), (Some(11), Some(3)));
    // Once a pass through the old ones finds it empty, it is new again.
    assert_eq!(sent(&mut queue), Some(4));
    push(&mut queue, 12..13, 1514, 1);
    assert_eq!((sent(&mut queue), sent(&mut queue)), (Some(12), Some(5)));
}

#[test]
fn flows_share_by_bytes() {
    let mut queue = own_lines();
    push(&mut queue, 0..1000, 1514, 0);
    push(&mut queue, 1000..4000, 500, 1);
    let mut bytes = [0_i64; 2];
    for _ in 0..1600 {
        let id = sent(&mut queue).unwrap();
        bytes[usize::from(id >= 1000)] += if id < 1000 { 1514 } else { 500 };
        // Deficit round robin: never further apart than a quantum and a packet each.
        assert!((bytes[0] - bytes[1]).abs() <= 2 * 1514, "{bytes:?}");
    }
    assert!(bytes[0] > 500_000, "{bytes:?}");
}

/// The packets that are dropped when packet number `id`, of class 1, comes to a buffer of `limit` packets.
fn overflow(queue: &mut FqCoDel, limit: u64, id: u32) -> Vec<u32> {
    let mut log = Log::default();
    queue.offer(millis(0), packet(id, 1000, 1), &full(limit), &mut log);
    told(&mut log).0
}

#[test]
fn the_fattest_flow_loses_half_from_its_head() {
    let mut queue = own_lines();
    push(&mut queue, 0..20, 1000, 1);
    push(&mut queue, 100..180, 1000, 0);
    // 80 packets in class 0: 40 of them.
    assert_eq!(overflow(&mut queue, 100, 20), (100..140).collect::<Vec<_>>());
    assert_eq!((queue.held.packets, queue.held.bytes), (61, 61_000));
}

#[test]
fn no_more_than_a_batch_is_dropped_at_once() {
    let mut queue = own_lines();
    push(&mut queue, 100..300, 1000, 0);
    assert_eq!(overflow(&mut queue, 200, 0), (100..164).collect::<Vec<_>>());
    // By bytes, a batch of one may not be enough: 8000 of 8500 B are held, and 1000 come.
    let config =
        FqCoDelConfig { drop_batch: 1, classify: Classify::Flow, ..FqCoDelConfig::default() };
    let mut queue = FqCoDel::new(config, Stream::new(1, "queue"));
    push(&mut queue, 0..20, 400, 0);
    let room = Room {
        fits: false,
        limit: crate::queue::QueueLimit { amount: 8_500, unit: crate::queue::QueueUnit::Bytes },
    };
    let mut log = Log::default();
    queue.offer(millis(0), packet(20, 1000, 1), &room, &mut log);
    assert_eq!(told(&mut log).0, [0, 1]);
}

#[test]
fn each_flow_has_a_delay_of_its_own() {
    let mut queue = own_lines();
    push(&mut queue, 0..300, 1000, 0);
    let mut dropped = Vec::new();
    for at in 0..200 {
        // Class 1 sends a packet every 10 ms, which never waits behind class 0.
        if at % 10 == 5 {
            let id = 1000 + at;
            let few = packet(id, 100, 1);
            queue.offer(millis(u64::from(at)), few, &ROOM, &mut Log::default());
            assert_eq!(next(&mut queue, millis(u64::from(at))).0, Some(id));
        }
        dropped.extend(next(&mut queue, millis(u64::from(at))).1);
    }
    // One of class 0 leaves a millisecond: above the target at 5 ms, dropped at 105.
    assert_eq!(dropped, [105]);
}

#[test]
fn a_hash_spreads_flows_over_the_queues() {
    let filled = |classes: u32| {
        let mut hit = vec![0_u32; 1024];
        (0..classes)
            .for_each(|class| hit[bucket(class, 0x1234_5678_9abc_def0, 1024) as usize] += 1);
        hit.iter().filter(|hits| **hits > 0).count()
    };
    // Of 1024 boxes n balls fill 1024 (1 - (1 - 1/1024)^n): 95.3 with 100, standard deviation 2.1;
    // 1016 with 5000 (8 empty, standard deviation 2.7).
    assert!((87..=100).contains(&filled(100)), "{}", filled(100));
    assert!((1005..=1024).contains(&filled(5000)), "{}", filled(5000));
}

#[test]
fn flows_that_meet_in_a_queue_share_it() {
    let config = FqCoDelConfig { queues: Some(1), ..FqCoDelConfig::default() };
    let mut queue = FqCoDel::new(config, Stream::new(1, "queue"));
    push(&mut queue, 0..3, 1514, 0);
    push(&mut queue, 3..4, 100, 1);
    for expected in 0..4 {
        assert_eq!(sent(&mut queue), Some(expected));
    }
}

#[test]
fn the_fattest_flow_gives_up_its_last() {
    let mut queue = own_lines();
    push(&mut queue, 0..2, 1000, 0);
    push(&mut queue, 2..5, 500, 1);
    let last = |queue: &mut FqCoDel| queue.pop_last().map(|packet| packet.id.get());
    // 2000 B against 1500 B; then 1000 against 1500.
    assert_eq!((last(&mut queue), last(&mut queue)), (Some(1), Some(4)));
    assert_eq!((queue.held.packets, queue.held.bytes), (3, 2000));
}
