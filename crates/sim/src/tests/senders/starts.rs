//! Slow starts over whole paths: 50 Mbit/s and 100 ms, a bandwidth-delay product of 417 packets.

use super::run;
use crate::records::LinkRow;

fn scenario(start: &str, buffer: &str) -> String {
    format!(
        r#"{{
            "duration": "10 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{
                    "rate": "50 Mbit/s", "delay": "48 ms",
                    "queue": {{"kind": "droptail", "limit": "{buffer}"}}
                }},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{{"name": "f", "variant": "newreno+rack+iw10+{start}"}}],
            "measure": [{{"name": "early", "from": "0 s", "for": "3 s"}}],
            "probe": [{{"flow": "f", "what": ["cwnd"], "every": "change"}}]
        }}"#
    )
}

/// The packets dropped, the goodput of the first 3 s in Mbit/s, and the largest window in segments.
fn start(start: &str, buffer: &str) -> (u64, f64, f64) {
    let run = run(&scenario(start, buffer));
    let early = run.flows.iter().find(|flow| flow.measure == "early").unwrap();
    let is_bottleneck = |link: &&LinkRow| link.link == "bottleneck" && link.direction == "forward";
    let link = run.links.iter().find(|link| link.measure == "run" && is_bottleneck(link)).unwrap();
    let most = run.flow_samples.cwnd_segments.iter().copied().fold(0.0, f64::max);
    (link.dropped_packets, early.goodput_bps / 1e6, most)
}

#[test]
fn search_ends_before_a_deep_buffer_is_full() {
    // 4 bandwidth-delay products of buffer: 2084 packets fit.
    let (standard, _, _) = start("standard", "4 BDP");
    let (hystart, _, _) = start("hystart", "4 BDP");
    let (search, goodput, most) = start("search", "4 BDP");
    assert!(standard > 900 && hystart == 0 && search == 0, "{standard} {hystart} {search}");
    assert!(goodput > 33.0 && (1000.0..2084.0).contains(&most), "{goodput} {most}");
    // In a buffer of one product the loss comes first: nothing is missing of what was sent before.
    assert_eq!(start("search", "1 BDP").0, start("standard", "1 BDP").0);
}

#[test]
fn rapid_start_is_faster_and_falls_back_to_what_the_path_holds() {
    let (abc, plain, _) = start("abc", "1 BDP");
    let (lost, goodput, most) = start("rapidstart", "1 BDP");
    assert!(goodput > plain + 2.0, "{plain} {goodput}");
    assert!(lost > abc && most > 1900.0, "{abc} {lost} {most}");
}
