use std::collections::VecDeque;

use ackclock_packet::Seq;
use proptest::prelude::*;

use super::*;

#[test]
fn a_ring_that_was_long_once_becomes_short_when_the_stream_is_twice_as_long() {
    let mut ring = Ring::default();
    let segment = |n: u64| Range { start: Seq::new(1000 * n), end: Seq::new(1000 * n + 1000) };
    let mut capacities = Vec::new();
    for n in 0..2200 {
        ring.push_range(n, segment(n));
        // 200 at a time, and then 20.
        while ring.len() > if n < 300 { 200 } else { 20 } {
            ring.pop_front();
        }
        // 2^18, 2^19, 2^20 and 2^21 bytes are in the segments 262, 524, 1048 and 2097.
        if [261, 262, 523, 524, 1048, 2097].contains(&n) {
            capacities.push(ring.capacity());
        }
        assert!(ring.iter().is_sorted() && *ring.back().unwrap() == n);
    }
    // 2^23 bytes are in the segment 8388, before which 200 were there at once.
    for n in 8000..8400 {
        ring.push_range(n, segment(n));
        while ring.len() > if n < 8300 { 200 } else { 20 } {
            ring.pop_front();
        }
    }
    assert!(ring.capacity() >= 200, "{}", ring.capacity());
    let [long, used, unasked, short, again, last] = capacities.try_into().unwrap();
    assert!(long >= 200 && used == long && unasked == long, "{long} {used} {unasked}");
    // The 21 that were there and as many again, and four.
    assert!((21..=46).contains(&short), "{short}");
    assert!(again == short && last == short, "{again} {last}");
}

#[test]
fn a_ring_keeps_its_order_and_is_a_third_empty_at_most() {
    let mut ring = Ring::default();
    for n in 0..1000 {
        ring.push(n);
        // So that what is there wraps around its end.
        if n % 3 == 0 {
            ring.pop_front();
        }
        assert!(ring.capacity() <= (n + 1) * 3 / 2 + 4, "{n}");
    }
    assert!(ring.iter().is_sorted());
    assert!(ring.capacity() <= ring.len() * 3 / 2 + 4);
}

#[test]
fn a_ring_that_was_long_once_goes_round_in_few_of_its_slots_and_asks_for_no_memory() {
    let mut ring = Ring::default();
    for n in 0..200_u64 {
        ring.push(n);
    }
    let (slots, capacity) = (ring.slots.as_ptr(), ring.capacity());
    let mut touched = vec![0_u64; capacity];
    for (n, more) in (200..2000_u64).zip((0..5).cycle()) {
        ring.push(n);
        // From 20 to 24 at a time.
        while ring.len() > 20 + more {
            ring.pop_front();
        }
        touched[ring.slot(ring.len - 1)] = n;
    }
    assert_eq!((ring.slots.as_ptr(), ring.capacity()), (slots, capacity));
    // The longest is 24, and of a ring of that length and of one of 20 a quarter more and four are 34 and 29 slots; where
    // these are too few, a quarter of them and four again.
    let of_late = touched.iter().filter(|n| **n >= 1500).count();
    assert!((25..=44).contains(&of_late), "{of_late} of {capacity}");
}

#[test]
fn the_next_slots_are_those_that_the_next_entries_take() {
    let mut ring = Ring::default();
    for n in 0..7 {
        ring.push(n);
    }
    ring.pop_front();
    // There were 4 slots and then 1 + 4 more; two are left behind the last entry.
    let next = ring.next_slots(3).as_ptr_range();
    for n in 0..2 {
        ring.push(n);
        assert!(next.contains(&std::ptr::from_ref(ring.back().unwrap())), "{n}");
    }
    assert!(Ring::<u32>::default().next_slots(3).is_empty());
}

#[derive(Clone, Debug)]
enum Step {
    Push(u16),
    Pop(u16),
    Change(u16),
    Long,
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u16..20).prop_map(Step::Push),
        6 => (1_u16..30).prop_map(Step::Pop),
        3 => any::<u16>().prop_map(Step::Change),
        1 => Just(Step::Long),
        1 => Just(Step::Clear),
    ]
}

proptest! {
    /// It is a queue, whatever its slots are: against the standard library's.
    #[test]
    fn a_ring_is_a_queue(steps in prop::collection::vec(step(), 1..120)) {
        let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
        let mut next = 0_u32;
        for step in steps {
            match step {
                Step::Push(many) => for _ in 0..many {
                    ring.push(next);
                    queue.push_back(next);
                    next += 1;
                },
                Step::Pop(many) => for _ in 0..many {
                    prop_assert_eq!(ring.pop_front(), queue.pop_front());
                },
                Step::Change(at) if !queue.is_empty() => {
                    let at = usize::from(at) % queue.len();
                    for (a, b) in ring.iter_mut_from(at).zip(queue.range_mut(at..)) {
                        *a += 1;
                        *b += 1;
                    }
                    ring[at] += 1;
                    queue[at] += 1;
                    *ring.front_mut().unwrap() += 1;
                    queue[0] += 1;
                }
                // As if the stream had become twice as long.
                Step::Long => ring.give_back(),
                Step::Clear => {
                    ring.clear();
                    queue.clear();
                }
                Step::Change(_) => {}
            }
            prop_assert_eq!(ring.len(), queue.len());
            prop_assert_eq!(ring.is_empty(), queue.is_empty());
            prop_assert_eq!((ring.front(), ring.back()), (queue.front(), queue.back()));
            prop_assert!(ring.iter().eq(queue.iter()));
            for at in [0, 1, queue.len() / 2, queue.len(), queue.len() + 1] {
                prop_assert_eq!(ring.get(at), queue.get(at));
                prop_assert_eq!(ring.get_mut(at), queue.get_mut(at));
                prop_assert!(ring.iter_from(at).eq(queue.iter().skip(at)));
            }
            prop_assert!(ring.span as usize <= ring.capacity() && ring.len <= ring.span);
        }
    }

    #[test]
    fn a_number_in_order_is_found(first in 0_usize..60, more in 0_usize..60, at in 0_u32..130) {
        let mut ring = Ring::default();
        for n in 0..60 + more {
            ring.push(narrow(n));
            if n < first {
                ring.pop_front();
            }
        }
        let numbers: Vec<u32> = ring.iter().copied().collect();
        prop_assert_eq!(
            ring.partition_point(|n| *n < at),
            numbers.iter().filter(|n| **n < at).count()
        );
    }
}
