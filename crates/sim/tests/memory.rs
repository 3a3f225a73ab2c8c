//! The memory of many flows; and a run in its steady state asks for no more.

#[path = "../examples/workload/mod.rs"]
mod workload;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ackclock_sim::{Scenario, simulate};

use workload::workload;

/// The system's allocator, with what a thread holds, the most that it ever held, and how often it asked.
/// A block that grows is counted as two, the old and the new, as it may have to be.
struct Counting;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    held: usize,
    most: usize,
    asked: u64,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { held: 0, most: 0, asked: 0 }) };
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Of a thread that is ending nobody asks any more.
        let _ = COUNT.try_with(|count| {
            let Count { held, most, asked } = count.get();
            let held = held + layout.size();
            count.set(Count { held, most: most.max(held), asked: asked + 1 });
        });
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        let _ = COUNT.try_with(|count| {
            let now = count.get();
            count.set(Count { held: now.held.saturating_sub(layout.size()), ..now });
        });
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// W(200, 200M), of which each flow has the share that it has in W(1000, 1G): a path that holds 8.3
/// packets of it, and a queue that holds as many.
fn small(seconds: u32, variant: &str) -> Scenario {
    let text = workload(FLOWS, 200_000_000, &seconds.to_string(), variant, "");
    Scenario::from_json(&text).unwrap()
}

const FLOWS: usize = 200;

/// The memory that a run took beyond the memory held before: bytes at its peak, requests, and packets delivered.
fn taken(scenario: &Scenario) -> (usize, u64, u64) {
    let before = COUNT.get();
    COUNT.set(Count { most: before.held, ..before });
    let run = simulate(scenario).unwrap();
    let after = COUNT.get();
    (after.most - before.held, after.asked - before.asked, run.links[0].delivered_packets)
}

/// Bytes a flow at the peak of a run.
fn bytes_a_flow(variant: &str) -> usize {
    taken(&small(5, variant)).0 / FLOWS
}

/// A flow's memory in bytes, on 64-bit machines:
///
/// | what | bytes |
/// |---|---|
/// | two hosts of 35 lines of the cache, each with what opens it, 280 | 5040 |
/// | four links of four lines, and what is rare at each, 96 | 1408 |
/// | rings of three of them, of four places of 24; of the fourth, that of the first burst of 10: 16 | 672 |
/// | delays in the queue behind the sender, 12 to 120 us: five octaves of 128, and where they are | 728 |
/// | the sender's segments: 64 places of 16, of many flows 128 after a lost retransmission | 1536 |
/// | 27 packets and ACKs on the way, 64 each, in a list that grew by a quarter while the old one was there | 3110 |
/// | what hosts send until links take it: 27 rows of 24, of 20 and, in order, of 24 | 1836 |
/// | what links send until hosts take it: twice 17 rows of 20 and, in the order of hosts, 27 of 16 | 1112 |
/// | stretches of time, 61 of 4; two hosts' routes and places in their sides, 20 each | 284 |
/// | two inboxes of 64, with a ring of four places of 16 each | 256 |
/// | events on the clock, 8 of 16, in a list that doubles | 384 |
/// | names of 20 letters: four links, with 40 for each to find them | 240 |
///
/// 16,606 in all: a turn is as long as the path and its queue, 17 packets, and longer in slow start. Of W(1000, 1G) it was 28,000 when links remembered all that was offered to them, and settings are
/// shared by all flows that have the same.
const BYTES_A_FLOW: usize = 16_606;

#[test]
fn a_flow_takes_less_than_17_kilobytes() {
    let bytes = bytes_a_flow("newreno+sack");
    assert!(bytes < BYTES_A_FLOW, "{bytes}");
}

#[test]
fn a_sender_that_keeps_time_takes_a_record_more_of_each_segment() {
    // What RACK sent again, in the order of time: 42 places of 24; few flows' rings grow at the peak.
    let bytes = bytes_a_flow("cubic");
    assert!(bytes < BYTES_A_FLOW + 42 * 24, "{bytes}");
    // BBR's records of what was delivered when each segment was sent, 48 bytes, likewise 64 places,
    // and its model.
    let bytes = bytes_a_flow("bbr");
    assert!(bytes < BYTES_A_FLOW + 42 * 24 + 64 * 48 + 2_500, "{bytes}");
}

/// A path and its queue hold 83,333 packets each, and in slow start hosts send twice that in a round trip: turns are short
/// then, or all of it would wait at once. Of each packet under way, lists that grow by a quarter or a half beside
/// the old ones: in the arena 144 bytes, on the scoreboard 60, what links sent 45; what hosts send, of half of them, 77, and 14 as it
/// comes to hosts. Half are ACKs, with SACK blocks when much is lost: another 144 of each.
#[test]
fn what_waits_in_a_turn_is_bounded() {
    let text = workload(20, 10_000_000_000, "2", "newreno+sack", "");
    let bytes = taken(&Scenario::from_json(&text).unwrap()).0;
    assert!(bytes < 2 * 83_333 * (144 + 60 + 45 + 77 + 14 + 72), "{bytes}");
}

#[test]
fn a_run_that_is_under_way_asks_for_next_to_nothing() {
    for variant in ["newreno+sack", "cubic", "bbr"] {
        let [(_, began, few), (_, went_on, many)] =
            [5, 15].map(|seconds| taken(&small(seconds, variant)));
        // Ten seconds more at 200 Mbit/s: 168,011 packets of 1488 bytes, nearly.
        let packets = many - few;
        assert!((160_000..=168_012).contains(&packets), "{packets}");
        // A ring that never held so much, or a sender's two that gave memory back as its stream became twice as long, in
        // between, and grew again by a half and a half: three requests each. No packet by itself.
        let asked = went_on.saturating_sub(began);
        let most = if variant == "bbr" { 200 * 2 * 3 } else { packets / 500 };
        assert!(asked < most, "{variant}: asked {asked} times for {packets} packets");
    }
}
