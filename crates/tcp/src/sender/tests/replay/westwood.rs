//! Westwood+ of the papers beside Linux's module: the window that each leaves after the same ACKs.

use super::*;

/// The windows around a loss, in segments: the sender's and the kernel's.
#[derive(Clone, Copy, Debug)]
struct Loss {
    before: [f64; 2],
    after: [f64; 2],
}

/// The losses of a trace. After each of them the sender takes the kernel's window over, so that both meet the next alike.
fn losses(scenario: &str) -> Vec<Loss> {
    let file =
        format!("{}/tests/data/linux-laws/westwood.{scenario}.csv.gz", env!("CARGO_MANIFEST_DIR"));
    let rows = Trace::read(&gzip::unpack(&std::fs::read(file).unwrap())).rows;
    let mss = Mss::new(MSS).unwrap();
    let mut replay = Replay::new("westwood", Profile::Linux, &rows[0]);
    let mut losses = Vec::new();
    let mut found = None;
    for (n, row) in rows.iter().enumerate() {
        let before = replay.sender.cwnd().segments(mss);
        replay.step(row, rows.get(n + 1));
        let left = replay.sender.ssthresh().map(|ssthresh| ssthresh.segments(mss));
        match row.kind {
            Kind::EnterRecovery => found = Some(([before, row.cwnd as f64], left.unwrap())),
            // The kernel's module measures until the repair ends.
            Kind::ExitRecovery => {
                let (before, ours) = found.take().unwrap();
                losses.push(Loss { before, after: [ours, row.ssthresh.unwrap() as f64] });
                replay.take_over_both(row.cwnd, row.ssthresh);
            }
            _ => {}
        }
    }
    losses
}

/// The sender's window less the kernel's.
fn excess([ours, kernels]: [f64; 2]) -> f64 {
    ours - kernels
}

#[test]
fn westwood_leaves_a_little_more_than_the_kernels_two_filters_do() {
    let losses = losses("b_p1e-3");
    assert_eq!(losses.len(), 19);
    assert!(losses.iter().all(|loss| excess(loss.before).abs() <= 1.0), "{losses:?}");
    // At the first loss the window has risen by a segment a round trip from 20 to 49. A mean of weight 1/8 is then 7 round
    // trips behind, at 42 at most; two of them one after the other 14 behind, at 35 at most.
    let first = losses[0].after;
    assert!((40.0..42.0).contains(&first[0]) && (31.0..35.0).contains(&first[1]), "{first:?}");
    for loss in &losses[1..] {
        assert!((1.0..5.0).contains(&excess(loss.after)), "{loss:?}");
    }
}

#[test]
fn westwood_leaves_what_the_path_carries_as_the_kernels_does() {
    // The path holds six segments without a queue. The kernel's sample lacks the ACK that ends it, and it rounds down: five.
    let losses = losses("c_queue6_stretch4");
    assert_eq!(losses.len(), 10);
    for loss in &losses {
        assert!(excess(loss.before).abs() <= 1.0, "{loss:?}");
        assert!(
            (5.99..=6.0).contains(&loss.after[0]) && (4.0..=5.0).contains(&loss.after[1]),
            "{loss:?}"
        );
    }
}
