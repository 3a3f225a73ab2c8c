//! Background flows over whole paths: 20 Mbit/s, and packets of 1500 bytes.

use super::{Run, run};
use crate::records::LinkRow;

/// Flows of (variant, start in seconds, settings) over a path with so much delay one way, in milliseconds.
fn scenario(flows: &[(&str, u32, &str)], delay: u32, buffer: &str, seconds: u32) -> String {
    let flows: Vec<String> = flows
        .iter()
        .enumerate()
        .map(|(n, (variant, start, more))| {
            format!(r#"{{"name": "f{n}", "variant": "{variant}", "start": "{start} s"{more}}}"#)
        })
        .collect();
    let flows = flows.join(", ");
    format!(
        r#"{{
            "duration": "{seconds} s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{
                    "rate": "20 Mbit/s", "delay": "{delay} ms",
                    "queue": {{"kind": "droptail", "limit": "{buffer}"}}
                }},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{flows}],
            "measure": [{{"name": "late", "from": "20 s"}}],
            "probe": [{{"flow": "f0", "what": ["cwnd"], "every": "change"}}]
        }}"#
    )
}

fn late_link(run: &Run) -> &LinkRow {
    run.links
        .iter()
        .find(|l| l.measure == "late" && l.link == "bottleneck" && l.direction == "forward")
        .unwrap()
}

/// Goodputs after 20 s, in Mbit/s.
fn late(run: &Run) -> Vec<f64> {
    run.flows.iter().filter(|f| f.measure == "late").map(|f| f.goodput_bps / 1e6).collect()
}

const LEDBAT: &str = r#", "tcp": {"rledbat": "ledbat"}"#;
const LEDBATPP: &str = r#", "tcp": {"rledbat": "ledbatpp"}"#;

#[test]
fn an_empty_path_is_filled_with_a_short_queue() {
    // 40 ms without a queue. LEDBAT keeps at most 100 ms, LEDBAT++ 60 and less during slowdowns, of a buffer of 160.
    for (variant, more, least, target) in [
        ("ledbat", "", 0.99, 100.0),
        ("ledbatpp", "", 0.93, 60.0),
        ("cubic", LEDBAT, 0.99, 100.0),
        ("cubic", LEDBATPP, 0.99, 60.0),
    ] {
        let run = run(&scenario(&[(variant, 0, more)], 18, "4 BDP", 60));
        let link = late_link(&run);
        assert!(link.utilisation > least, "{variant} {more} {link:?}");
        assert_eq!(link.dropped_packets, 0, "{variant} {more}");
        let delay = 1e3 * link.queue_delay_mean_s.unwrap();
        assert!((0.85 * target..1.02 * target).contains(&delay), "{variant} {more} {delay}");
    }
}

#[test]
fn a_background_flow_leaves_the_path_to_cubic() {
    // CUBIC fills a buffer of 160 ms. LEDBAT, whose decrease is linear, has a twentieth; LEDBAT++ next to nothing.
    for (variant, more, most) in
        [("ledbat", "", 0.08), ("ledbatpp", "", 0.02), ("newreno+sack", LEDBATPP, 0.02)]
    {
        let flows = [(variant, 0, more), ("cubic", 5, "")];
        let rates = late(&run(&scenario(&flows, 18, "4 BDP", 60)));
        let share = rates[0] / (rates[0] + rates[1]);
        assert!(share < most, "{variant} {more} {rates:?}");
        assert!(rates[1] > 17.0, "{variant} {more} {rates:?}");
    }
}

#[test]
fn a_buffer_of_less_than_the_target_makes_ledbat_an_ordinary_flow() {
    // 80 ms of buffer: the queue never reaches 100 ms, and losses are all that it hears of CUBIC.
    let rates = late(&run(&scenario(&[("ledbat", 0, ""), ("cubic", 5, "")], 18, "2 BDP", 60)));
    assert!(rates[0] > 4.0, "{rates:?}");
}

#[test]
fn slowdowns_take_a_tenth_of_the_time() {
    // 1.2 Mbit/s and 137 ms hold 14 segments, 20 with 60 ms of queue: F is 1, and a slowdown lasts two round trips, one for
    // the ACK that ends them, and three or four to come back: 6 or 7 * 0.137 s. The next comes nine of these after it.
    let text = scenario(&[("ledbatpp", 0, "")], 66, "4 BDP", 60)
        .replace("20 Mbit/s", "1.2 Mbit/s")
        .replace("1 ms", "1.25 ms");
    let run = run(&text);
    let samples = &run.flow_samples;
    let mut begins = Vec::new();
    let mut small = true;
    for (time, cwnd) in samples.time_ns.iter().zip(&samples.cwnd_segments) {
        if *cwnd <= 2.01 && !small {
            begins.push(*time as f64 / 1e9);
        }
        small = *cwnd <= 2.01;
    }
    let after_the_first = begins.iter().filter(|at| **at < begins[0] + 40.0).count() - 1;
    assert!((4..=5).contains(&after_the_first), "{begins:?}");
    assert!(late_link(&run).utilisation > 0.9);
}

#[test]
fn a_late_ledbat_takes_the_queue_of_the_first_for_the_path() {
    // The newcomer sees the target of the first as its base; LEDBAT++'s slowdowns show it the path.
    let two =
        |variant| late(&run(&scenario(&[(variant, 0, ""), (variant, 5, "")], 18, "8 BDP", 120)));
    let rates = two("ledbat");
    assert!(rates[1] > 2.0 * rates[0], "{rates:?}");
    let rates = two("ledbatpp");
    assert!(rates[1] < 2.0 * rates[0], "{rates:?}");
}
