//! Web traffic as PackMime-HTTP has it.

use super::{run, scenario};
use crate::records::{Connections, Run};

/// 2000 connections or so at 100 a second, into a link of 10 Mbit/s that holds 20 packets.
fn web(variant: &str, more: &str) -> Run {
    run(&format!(
        r#"{{
            "duration": "20 s", "seed": 7,
            "topology": {{"kind": "graph", "link": [{{
                "name": "bottleneck", "from": "servers", "to": "clients", "rate": "10 Mbit/s",
                "delay": "0 ms", "queue": {{"kind": "droptail", "limit": "20 packet"}}
            }}]}},
            "traffic": [{{
                "name": "web", "variant": {variant}, "profile": "ns2", "from": "clients",
                "to": "servers", "arrivals": {{"kind": "packmime", "rate": "100 /s"}},
                "app": {{"kind": "packmime"}} {more}
            }}]
        }}"#
    ))
}

/// The plan of a connection, by its number: opening, delays, and the sizes of its objects as far as both runs have got.
fn plans(run: &Run) -> Vec<(u64, u64, Vec<u64>)> {
    let rows = &run.connections;
    let mut plans: Vec<_> = (0..rows.len()).map(|_| (0, 0, Vec::new())).collect();
    for i in 0..rows.len() {
        let plan = &mut plans[rows.connection[i] as usize];
        (plan.0, plan.1) = (rows.opened_ns[i], rows.base_rtt_ns[i]);
    }
    for (connection, bytes) in run.objects.connection.iter().zip(&run.objects.bytes) {
        plans[*connection as usize].2.push(*bytes);
    }
    plans
}

#[test]
fn another_variant_meets_the_same_connections() {
    let standard = web(r#""newreno+sack+tsl(1,2)""#, "");
    let mix =
        r#"[{"variant": "newreno+sack+tsl(1,2)", "weight": 1}, {"variant": "cubic", "weight": 1}]"#;
    for other in [r#""newreno+sack+tsl(3,1000)""#, r#""bbr""#, mix] {
        let other = web(other, "");
        assert_ne!(standard.connections.closed_ns, other.connections.closed_ns);
        let (mine, its) = (plans(&standard), plans(&other));
        assert_eq!(mine.len(), its.len());
        assert!(mine.len() > 1500, "{}", mine.len());
        for (mine, its) in mine.iter().zip(&its) {
            assert_eq!((mine.0, mine.1), (its.0, its.1));
            let both = mine.2.len().min(its.2.len());
            assert_eq!(mine.2[..both], its.2[..both]);
        }
    }
}

#[test]
fn lost_syn_acks_are_told_from_late_ones() {
    let run = web(r#""newreno+sack""#, "");
    let rows = &run.connections;
    let mut late = 0;
    for i in 0..rows.len() {
        let (lost, again) = (rows.lost_synack[i], rows.synack_retransmits[i]);
        // Under ns-2's habits the timer alone sends again: for each loss, and for a round trip (with what
        // waits) beyond a second. The run may end before the timer.
        if rows.closed_ns[i] != Connections::NOT_YET {
            assert!(again >= lost, "{i}");
        }
        if lost == 0 && again > 0 {
            late += 1;
            // The queue is empty within 20·1.2 ms.
            assert!(rows.base_rtt_ns[i] > 970_000_000, "{i}: {}", rows.base_rtt_ns[i]);
        }
    }
    // 1.2 % of round trips exceed a second: 24 of 2000, with a memory.
    assert!((5..80).contains(&late), "{late}");
    let lost = rows.lost_synack.iter().filter(|lost| **lost > 0).count();
    assert!(lost > 20, "{lost}");
}

#[test]
fn a_middlebox_takes_the_share_that_it_is_told() {
    let run = web(r#""newreno+sack""#, r#", "access": {"server": {"syn_loss": 0.2}}"#);
    let rows = &run.connections;
    let syns: u64 = rows.lost_syn.iter().map(|n| u64::from(*n)).sum();
    let sent: u64 = rows.syn_retransmits.iter().map(|n| u64::from(*n) + 1).sum();
    // Of about 2700 SYNs (2000/0.8²·0.84) a fifth; the queue drops SYN-ACKs besides, but no SYN.
    let share = syns as f64 / sent as f64;
    assert!((share - 0.2).abs() < 0.035, "{syns} of {sent}");
}

#[test]
fn a_delay_box_shortens_what_follows_a_fin() {
    // A box at each end. The ACK of a FIN, and what is repaired behind one, have no delay: connections close
    // sooner in the mean.
    let sound = web(r#""newreno+sack""#, "");
    let boxes = r#", "access": {"client": {"delaybox": true}, "server": {"delaybox": true}}"#;
    let boxed = web(r#""newreno+sack""#, boxes);
    let mean = |run: &Run| {
        let rows = &run.connections;
        let closed = rows.closed_ns.iter().zip(&rows.opened_ns);
        let closed = closed.filter(|(closed, _)| **closed != Connections::NOT_YET);
        let times: Vec<u64> = closed.map(|(closed, opened)| closed - opened).collect();
        times.iter().sum::<u64>() as f64 / times.len() as f64
    };
    assert!(mean(&boxed) < mean(&sound), "{} and {}", mean(&boxed), mean(&sound));
}

#[test]
fn feedback_takes_the_start_that_the_server_s_syn_acks_call_for() {
    let feedback = r#"{"calm": "newreno+sack+tsl(3,16)", "congested": "newreno+sack+tsl(1,2)",
                       "threshold": 0.06}"#;
    let calm = web(feedback, "");
    let share = |run: &Run| {
        let rows = &run.connections;
        let at = rows.variants.iter().position(|name| name.contains("tsl(1,2)")).unwrap();
        rows.variant.iter().filter(|variant| **variant as usize == at).count() as f64
            / rows.len() as f64
    };
    // At 100 a second the queue of 20 loses a few SYN-ACKs in a hundred at times; with a fifth taken
    // besides the share is above 0.06 nearly always, once 0.2·(1 − 0.99^n) is, n = 36, and once the first
    // hundred have had the second that it takes to know: 136 of 2000 do not count, nor do those at the
    // end whose SYN has not arrived.
    let taken = web(feedback, r#", "access": {"server": {"syn_loss": 0.2}}"#);
    assert!(share(&taken) > 0.85, "{}", share(&taken));
    assert!(share(&calm) < share(&taken) - 0.2, "{}", share(&calm));
}

#[test]
fn what_packmime_cannot_have_is_refused_by_its_key() {
    let refused = |class: &str| {
        let text = format!(
            r#"{{"duration": "1 s", "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "10 Mbit/s", "delay": "1 ms"}},
                "access": {{"rate": "1 Gbit/s", "delay": "0 ms"}}}},
                "traffic": [{{"name": "web", {class}}}]}}"#
        );
        scenario(&text).check().unwrap_err().to_string()
    };
    let said = refused(
        r#""variant": "newreno", "arrivals": {"kind": "list", "at": ["0 s"]}, "app": {"kind": "packmime"}"#,
    );
    assert!(said.starts_with("traffic[0].app.rate: missing"), "{said}");
    let said = refused(
        r#""variant": "newreno", "arrivals": {"kind": "packmime", "rate": "9 /s"},
           "app": {"kind": "packmime"}, "access": {"client": {"delay": "5 ms"}}"#,
    );
    assert!(said.starts_with("traffic[0].access.client.delay: `packmime` draws"), "{said}");
    let said = refused(
        r#""variant": {"calm": "newreno", "congested": "reno", "threshold": 2},
           "arrivals": {"kind": "packmime", "rate": "9 /s"}, "app": {"kind": "packmime"}"#,
    );
    assert!(said.starts_with("traffic[0].variant.threshold: expected a share"), "{said}");
}
