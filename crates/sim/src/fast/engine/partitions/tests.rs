use serde_json::json;

use super::*;

/// Twenty flows that fill a queue of one bandwidth-delay product, over a path of 102 ms there and back.
fn engine() -> Engine<'static> {
    let scenario = json!({
        "duration": "8 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "20 Mbit/s", "delay": "49 ms",
                "queue": {"kind": "droptail", "limit": "1 BDP"}},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "f", "count": 20, "variant": "newreno+sack"}],
    });
    Engine::unwatched(&crate::Scenario::from_json(&scenario.to_string()).unwrap())
}

#[test]
fn a_window_is_as_long_as_the_queue() {
    let many = |bottlenecks: bool| {
        let mut engine = engine();
        let mut lookahead = engine.lookahead.take().unwrap();
        if !bottlenecks {
            lookahead.partitions.iter_mut().for_each(|partition| partition.bottlenecks.clear());
        }
        engine.run_with_lookahead(&lookahead)
    };
    // 8 s at 102 ms a window are 78.
    let always = many(false);
    assert!((78..=85).contains(&always), "{always}");
    // With the queue, which is half full at least when slow start is over, a window is 150 to 200 ms.
    let queued = many(true);
    assert!((40..=60).contains(&queued), "{queued}");
}

#[test]
fn hosts_are_served_there_and_back() {
    let mut engine = engine();
    let lookahead = engine.lookahead.take().unwrap();
    engine.begin_lookahead(&lookahead);
    // Connections open at the same time at all senders, and nobody serves them.
    let mut served = || {
        let mut batches = Vec::new();
        engine.network.batch(Instant::from_nanos(1), &mut batches);
        batches.iter().map(|batch| batch.host).collect::<Vec<_>>()
    };
    let (there, back) = (served(), served());
    assert_eq!(there.len(), 20);
    assert!(there.iter().eq(back.iter().rev()), "{there:?} {back:?}");
}
