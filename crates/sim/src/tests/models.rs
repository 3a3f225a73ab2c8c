//! Laws that follow the delay over whole paths: Copa, C4 and TCP-LP.

use super::{Run, run};
use crate::records::LinkRow;

/// Flows of these variants, each 2 s after the one before, over so many Mbit/s and 40 ms.
fn scenario(variants: &[&str], rate: u32, buffer: &str) -> String {
    let flows: Vec<String> = variants
        .iter()
        .enumerate()
        .map(|(n, variant)| {
            let start = 2 * n;
            format!(r#"{{"name": "f{n}", "variant": "{variant}", "start": "{start} s"}}"#)
        })
        .collect();
    let flows = flows.join(", ");
    format!(
        r#"{{
            "duration": "60 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{
                    "rate": "{rate} Mbit/s", "delay": "18 ms",
                    "queue": {{"kind": "droptail", "limit": "{buffer}"}}
                }},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{flows}],
            "measure": [{{"name": "late", "from": "20 s"}}]
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

/// The packets that wait in the mean after 20 s, at two of them a millisecond for each 24 Mbit/s.
fn waiting(link: &LinkRow, rate: u32) -> f64 {
    2.0 * f64::from(rate) / 24.0 * 1e3 * link.queue_delay_mean_s.unwrap()
}

#[test]
fn copa_has_two_packets_waiting_for_each_flow() {
    for flows in [1, 4] {
        let run = run(&scenario(&vec!["copa(default)"; flows], 24, "4 BDP"));
        let link = late_link(&run);
        assert!(link.utilisation > 0.99, "{flows} {link:?}");
        assert_eq!(link.dropped_packets, 0);
        let each = waiting(link, 24) / flows as f64;
        assert!((1.8..2.5).contains(&each), "{flows} {each}");
        let rates = late(&run);
        assert!(
            rates.iter().all(|rate| (rate * flows as f64 / 23.3 - 1.0).abs() < 0.05),
            "{rates:?}"
        );
    }
}

#[test]
fn copa_does_not_compete_with_itself_where_a_packet_is_short() {
    // 0.125 ms a packet: between two flows, and between four, the queue is seen nearly empty.
    for flows in [2, 4] {
        let run = run(&scenario(&vec!["copa"; flows], 96, "4 BDP"));
        let link = late_link(&run);
        assert!(link.utilisation > 0.99, "{flows} {link:?}");
        assert!(link.queue_delay_mean_s.unwrap() < 0.003, "{flows} {link:?}");
    }
}

#[test]
fn copa_competes_with_a_flow_that_fills_the_buffer() {
    let share = |variant| {
        let rates = late(&run(&scenario(&[variant, "cubic"], 24, "4 BDP")));
        rates[0] / (rates[0] + rates[1])
    };
    let (both, default) = (share("copa"), share("copa(default)"));
    assert!((0.25..0.6).contains(&both), "{both}");
    assert!(default < 0.06, "{default}");
}

#[test]
fn c4_fills_the_path_and_shares_it_with_itself() {
    for (flows, rate) in [(1, 24), (2, 96)] {
        let run = run(&scenario(&vec!["c4"; flows], rate, "4 BDP"));
        let link = late_link(&run);
        assert!(link.utilisation > 0.98, "{flows} {link:?}");
        assert_eq!(link.dropped_packets, 0, "{flows}");
        let rates = late(&run);
        assert!(
            rates.iter().all(|rate| rate / rates[0] < 1.2 && rates[0] / rate < 1.2),
            "{rates:?}"
        );
    }
}

#[test]
fn c4_has_more_than_cubic() {
    // It takes up to 6 % of loss for none of its own.
    let rates = late(&run(&scenario(&["c4", "cubic"], 24, "4 BDP")));
    assert!(rates[0] > 2.0 * rates[1] && rates[1] > 2.0, "{rates:?}");
}

#[test]
fn lp_leaves_the_path_to_cubic() {
    let rates = late(&run(&scenario(&["lp", "cubic"], 24, "4 BDP")));
    assert!(rates[0] < 0.01 * rates[1], "{rates:?}");
    // Alone a halving at 24 ms of queue, 15 % of the buffer, empties the path of 40 ms for a short while.
    for more in ["", r#", "tcp": {"delayed_ack": "off"}"#] {
        let text = scenario(&["lp"], 24, "4 BDP").replace("\"0 s\"", &format!("\"0 s\"{more}"));
        let run = run(&text);
        let link = late_link(&run);
        assert!(link.utilisation > 0.95 && link.dropped_packets == 0, "{more} {link:?}");
    }
}
