use super::*;
use crate::records::LinkRow;

const TRANSFER: &str = r#", "variant": "newreno+sack", "app": {"kind": "bulk", "size": "300 kB"}"#;

fn link<'r>(run: &'r Run, name: &str, direction: &str) -> &'r LinkRow {
    run.links.iter().find(|row| row.link == name && row.direction == direction).unwrap()
}

#[test]
fn what_leaves_an_impaired_link_enters_the_next() {
    let all = r#", "loss": 0.02, "reorder": {"share": 0.1, "delay": "7 ms"}, "duplicate": 0.05, "corrupt": 0.03"#;
    let fair = format!(r#"{all}, "queue": {{"kind": "fair", "limit": "20 packet"}}"#);
    for (bottleneck, seed) in [(all, 1), (all, 2), (&fair, 1), (&fair, 2)] {
        let text = one_flow(TRANSFER, bottleneck, &format!(r#", "seed": {seed}"#));
        let run = run(&text.replace("30 s", "900 s"));
        let flow = &run.flows[0];
        assert_eq!(flow.delivered_bytes, 300_000, "{flow:?}");
        assert!(flow.completed_s.is_some(), "{flow:?}");
        let mut discarded = 0;
        for (direction, next) in [("forward", "access-right-f"), ("reverse", "access-left-f")] {
            let link = |name| link(&run, name, direction);
            let bottleneck = link("bottleneck");
            assert!(bottleneck.lost_packets > 0 && bottleneck.duplicated_packets > 0);
            assert!(bottleneck.reordered_packets > 0 && bottleneck.corrupted_packets > 0);
            // Minutes after the last packet nothing is under way.
            assert_eq!(
                link(next).offered_packets,
                bottleneck.delivered_packets - bottleneck.lost_packets
                    + bottleneck.duplicated_packets
            );
            discarded += bottleneck.corrupted_packets;
        }
        // A flipped bit is noticed by the host alone: the link behind carries the packet on.
        assert_eq!(flow.checksum_errors, discarded);
    }
}

#[test]
fn a_packet_in_two_arrives_twice() {
    let bottleneck =
        r#", "queue": {"kind": "droptail"}, "duplicate": 1, "reverse": {"duplicate": 0}"#;
    let run = run(&one_flow(TRANSFER, bottleneck, ""));
    let link = |name, direction| link(&run, name, direction);
    let sent = link("access-left-f", "forward").delivered_packets;
    assert_eq!(link("bottleneck", "forward").delivered_packets, sent);
    assert_eq!(link("access-right-f", "forward").delivered_packets, 2 * sent);
    assert_eq!(link("bottleneck", "reverse").duplicated_packets, 0);
    assert_eq!((run.flows[0].delivered_bytes, run.flows[0].timeouts), (300_000, 0));
}

#[test]
fn nothing_gets_through_if_every_packet_is_corrupted() {
    let run = run(&one_flow(TRANSFER, r#", "corrupt": 1, "reverse": {"corrupt": 0}"#, ""));
    let flow = &run.flows[0];
    // SYNs at 0, 1, 3, 7 and 15 s; the sixth would be sent at 31 s.
    assert_eq!((flow.checksum_errors, flow.delivered_bytes), (5, 0));
    assert_eq!(flow.established_s, None);
    assert_eq!(link(&run, "access-right-f", "forward").delivered_packets, 5);
    assert_eq!(link(&run, "access-right-f", "reverse").offered_packets, 0);
}

#[test]
fn three_packets_must_overtake_one_before_it_is_sent_again() {
    // 50 segments of 1 ms each fill a path of 41 ms and wait at the bottleneck, a millisecond apart,
    // without overflowing its 26 places. A packet that is 2.5 ms late is overtaken by at most two,
    // one that is 3.5 ms late by three: the third duplicate ACK.
    let retransmitted = |delay: &str| {
        let reorder = format!(r#", "reorder": {{"share": 0.01, "delay": "{delay}"}}"#);
        let reorder =
            format!(r#"{reorder}, "reverse": {{"reorder": {{"share": 0, "delay": "0 s"}}}}"#);
        let text = one_flow(r#", "variant": "reno""#, &reorder, "")
            .replace(r#""960 B","#, r#""960 B", "receive_window": "48000 B","#);
        let run = run(&text);
        let bottleneck = link(&run, "bottleneck", "forward");
        assert_eq!((bottleneck.dropped_packets, bottleneck.lost_packets), (0, 0));
        assert!(bottleneck.reordered_packets > 50, "{bottleneck:?}");
        assert_eq!(link(&run, "bottleneck", "reverse").reordered_packets, 0);
        run.flows[0].segments_retransmitted
    };
    assert_eq!(retransmitted("2.5 ms"), 0);
    assert!(retransmitted("3.5 ms") > 50);
}

#[test]
fn an_impairment_of_zero_is_none() {
    let zero =
        r#", "loss": 0.01, "reorder": {"share": 0, "delay": "5 ms"}, "duplicate": 0, "corrupt": 0"#;
    let text = |bottleneck| one_flow(TRANSFER, bottleneck, "");
    assert_eq!(run(&text(zero)), run(&text(r#", "loss": 0.01"#)));
}

#[test]
fn what_cannot_befall_a_packet_is_refused_by_key() {
    let refused = |bottleneck: &str| {
        simulate(&scenario(&one_flow(TRANSFER, bottleneck, ""))).unwrap_err().to_string()
    };
    for (keys, message) in [
        (r#""duplicate": 2"#, "duplicate: 2 is not a probability"),
        (r#""corrupt": -0.1"#, "corrupt: -0.1 is not a probability"),
        (r#""reorder": {"share": 7, "delay": "1 ms"}"#, "reorder.share: 7 is not a probability"),
        (r#""reorder": {"share": 0.1, "delay": "0 s"}"#, "reorder.delay: expected more than 0 s"),
        (r#""reverse": {"corrupt": 3}"#, "reverse.corrupt: 3 is not a probability"),
        (
            r#""reverse": {"reorder": {"share": 0.1, "delay": "0 s"}}"#,
            "reverse.reorder.delay: expected more than 0 s",
        ),
    ] {
        let found = refused(&format!(", {keys}"));
        assert!(found.starts_with(&format!("topology.bottleneck.{message}")), "{found}");
    }
}
