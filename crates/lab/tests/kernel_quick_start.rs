//! Quick-Start on the kernel's own TCP: live runs, which need root, a kernel with BTF and a build with the loader. Without
//! them the tests say so and pass.
#![cfg(all(target_os = "linux", feature = "loader"))]
#![expect(clippy::print_stderr, reason = "figures of a measurement, with --nocapture")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LockResult, Mutex, MutexGuard};

use ackclock_lab::{LivePlan, Place, Run, from_json, live};
use ackclock_sim::records::QuickStartWhat;
use ackclock_tcp::QuickStartStep;

/// Two runs at a time, which mostly wait; more would make each other late.
static TURNS: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];
static NEXT: AtomicUsize = AtomicUsize::new(0);

fn turn() -> LockResult<MutexGuard<'static, ()>> {
    TURNS[NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len()].lock()
}

/// Server, two routers and client of Scharf et al.: 100 Mbit/s and 100 ms; `first` and `second` are the routers.
fn scenario(seconds: u32, first: &str, second: &str, rest: &str) -> String {
    let link = |name: &str, from: &str, to: &str, rate: &str, delay: &str, router: &str| {
        format!(
            r#"{{"name": "{name}", "from": "{from}", "to": "{to}", "rate": "{rate}", "delay": "{delay}",
                "quick_start": {router}, "reverse": {{"quick_start": "approve"}}}}"#
        )
    };
    let links = [
        link("server", "server", "r1", "1 Gbit/s", "1 ms", r#""approve""#),
        link("first", "r1", "r2", "100 Mbit/s", "24 ms", first),
        link("second", "r2", "r3", "100 Mbit/s", "24 ms", second),
        link("client", "r3", "client", "1 Gbit/s", "1 ms", r#""approve""#),
    ];
    format!(
        r#"{{"duration": "{seconds} s", "topology": {{"kind": "graph", "link": [{}]}}, {rest}}}"#,
        links.join(",")
    )
}

/// A class of downloads at these seconds, whose server asks for `rate`.
fn downloads(rate: &str, size: &str, at: &[&str]) -> String {
    let at: Vec<String> = at.iter().map(|at| format!(r#""{at} s""#)).collect();
    format!(
        r#""traffic": [{{"name": "web", "variant": "cubic+quickstart({rate})", "profile": "linux",
            "arrivals": {{"kind": "list", "at": [{}]}}, "from": "client", "to": "server",
            "app": {{"kind": "request", "request": "100 B", "response": "{size}"}},
            "tcp": {{"receive_window": "4 MB"}}}}]"#,
        at.join(",")
    )
}

/// The result of a live run, and its report; `None` where the machine has no programs to offer.
fn lived(text: &str, pcap: Option<Place>) -> Option<(Run, serde_json::Value)> {
    if let Some(why) = ackclock_kernel::needs() {
        eprintln!("skipped: {why}");
        return None;
    }
    let _turn = turn();
    let scenario = from_json(text).unwrap();
    let plan = LivePlan { pcap, ..LivePlan::default() };
    let lived = live(&scenario, &plan, || false).unwrap();
    Some((lived.run, serde_json::from_str(&lived.report).unwrap()))
}

/// Judges up to three runs: one on a busy machine may be late, three are not. The Python tests' reruns are the same.
fn judged(judge: impl Fn() + std::panic::RefUnwindSafe) {
    for left in (0..3).rev() {
        match std::panic::catch_unwind(&judge) {
            Ok(()) => return,
            Err(why) if left == 0 => std::panic::resume_unwind(why),
            Err(_) => eprintln!("another run, as this one may have been late"),
        }
    }
}

/// The window of a grant is what its rate fills in its own round trip, which is 100 ms and what the machine is late.
fn fills(grant: &serde_json::Value, rate_bps: f64) {
    let told = |key: &str| grant[key].as_f64().unwrap();
    let (window, rtt) = (told("window"), told("rtt_s"));
    // A round trip of 100 ms at 40.96 Mbit/s are 40.96e6 · 0.1 / (8 · 1500) = 341.3 packets.
    let filled = rate_bps * rtt / 12_000.0;
    assert!((window - filled).abs() <= 1.0, "{grant}: {filled}");
    assert!((0.0995..0.110).contains(&rtt), "{grant}");
}

/// The ends' steps of a run: what, asked and approved.
fn steps(run: &Run) -> Vec<(QuickStartStep, u64, u64)> {
    let steps = run.quick_start.iter().filter_map(|row| match row.step {
        QuickStartWhat::Sender(step) => Some((step, row.asked_bps, row.approved_bps)),
        _ => None,
    });
    steps.collect()
}

const ADMISSION: &str = r#"{"threshold": 1.0, "slot": "1 s", "history": 2}"#;

/// 40.96 Mbit/s and 100 ms are 40.96e6 · 0.1 / (8 · 1500) = 341.3 packets.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn the_first_window_is_what_the_rate_fills() {
    judged(|| {
        let text = scenario(3, ADMISSION, ADMISSION, &downloads("40.96Mbps", "4 MB", &["0.5"]));
        let Some((run, report)) = lived(&text, None) else { return };
        eprintln!("{:?} {}", steps(&run), report["kernel_quick_start"]);
        fills(&report["kernel_quick_start"]["grants"][0], 40.96e6);
        let rate = 40_960_000;
        let expected = [(QuickStartStep::Asked, rate, 0), (QuickStartStep::Approved, rate, rate)];
        assert_eq!(steps(&run), expected);
    });
}

/// The flow's sender opens, and asks with its SYN.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn a_sender_that_opens_asks_with_its_syn() {
    judged(|| {
        let flow = r#""flow": [{"name": "bulk", "variant": "reno+quickstart(81.92Mbps)", "profile": "linux",
            "start": "0.2 s", "from": "server", "to": "client", "tcp": {"receive_window": "4 MB"}}]"#;
        let text = scenario(2, r#"{"most": "10.24 Mbit/s"}"#, r#""approve""#, flow);
        let Some((run, report)) = lived(&text, None) else { return };
        eprintln!("{:?} {}", steps(&run), report["kernel_quick_start"]);
        let (asked, approved) = (81_920_000, 10_240_000);
        let expected =
            [(QuickStartStep::Asked, asked, 0), (QuickStartStep::Approved, asked, approved)];
        assert_eq!(steps(&run), expected);
        fills(&report["kernel_quick_start"]["grants"][0], 10.24e6);
    });
}

/// Figure 8 with a connection for each download: of 100 Mbit/s 30 are taken, then none, then all.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn the_grants_of_figure_8_are_the_papers() {
    judged(|| {
        let cross = |link: &str, rate: f64, start: &str, stop: &str| {
            format!(
                r#"{{"link": "{link}", "kind": "periodic", "rate": "{:.6} packet/s", "size": "1500 B",
                    "start": "{start} s", "stop": "{stop} s"}}"#,
                rate / 12_000.0
            )
        };
        let others = [cross("first", 30e6, "0", "5"), cross("second", 100e6, "12", "20")];
        let rest = format!(
            r#"{}, "cross_traffic": [{}]"#,
            downloads("81.92Mbps", "4 MB", &["3", "8", "15"]),
            others.join(",")
        );
        let Some((run, _)) = lived(&scenario(18, ADMISSION, ADMISSION, &rest), None) else {
            return;
        };
        let found: Vec<_> =
            steps(&run).into_iter().filter(|(step, ..)| *step != QuickStartStep::Asked).collect();
        let asked = 81_920_000;
        let expected = [
            (QuickStartStep::Approved, asked, 40_960_000),
            (QuickStartStep::Approved, asked, asked),
            (QuickStartStep::Unanswered, asked, 0),
        ];
        assert_eq!(found, expected);
    });
}

/// Three responses of 4 MB on one connection, four seconds of silence between them: the second asks with its first data,
/// and gets its window then. 40.96e6 · 0.1 / (8 · 1500) = 341.3 packets.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn data_asks_after_silence() {
    judged(|| {
        let text = scenario(11, ADMISSION, ADMISSION, &downloads("40.96Mbps", "2 MB", &["0.5"]));
        let text = text.replace(
            r#""response": "2 MB""#,
            r#""response": "2 MB", "exchanges": 2, "gap": "4 s""#,
        );
        let Some((run, report)) = lived(&text, None) else { return };
        eprintln!("{:?} {}", steps(&run), report["kernel_quick_start"]);
        let rate = 40_960_000;
        let expected = [(QuickStartStep::Asked, rate, 0), (QuickStartStep::Approved, rate, rate)];
        assert_eq!(steps(&run), [expected, expected].concat());
        for grant in report["kernel_quick_start"]["grants"].as_array().unwrap() {
            fills(grant, 40.96e6);
        }
        // 1381 packets at 40.96 Mbit/s take 0.4 s and a round trip more; from a restart window of ten and slow start 0.8 s.
        let ends = run.objects.completed_ns.iter().zip(&run.objects.requested_ns);
        let times: Vec<f64> = ends.map(|(end, start)| (end - start) as f64 * 1e-9).collect();
        eprintln!("{times:?}");
        assert!(times[1] < 0.62, "{times:?}");
    });
}

/// A threshold at the approved window ends slow start: congestion avoidance adds a segment a round trip.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn the_threshold_becomes_the_approved_window() {
    judged(|| {
        let flow = r#""flow": [{"name": "bulk", "variant": "reno+quickstart(10.24Mbps,approved)", "profile": "linux",
            "start": "0.2 s", "from": "server", "to": "client", "tcp": {"receive_window": "4 MB"}}],
            "probe": [{"flow": "bulk", "every": "50 ms"}]"#;
        let text = scenario(3, ADMISSION, ADMISSION, flow);
        let Some((run, _)) = lived(&text, None) else { return };
        let last = run.flow_samples.cwnd_segments.iter().copied().next_back().unwrap();
        // 85 segments, and 2.6 s are at most 26 round trips of 100 ms; the law itself goes on.
        assert!((100.0..=113.0).contains(&last), "{last}");
    });
}

/// A loss rate of 2 % meets some of the 682 packets at 81.92 Mbit/s: the step is told, and nothing is asked for after it.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn a_lost_packet_of_the_jump_is_told() {
    judged(|| {
        let text = scenario(12, ADMISSION, ADMISSION, &downloads("81.92Mbps", "2 MB", &["0.5"]));
        let text = text
            .replace(r#""response": "2 MB""#, r#""response": "2 MB", "exchanges": 2, "gap": "5 s""#)
            .replace(r#""name": "first","#, r#""name": "first", "loss": 0.02,"#);
        let Some((run, _)) = lived(&text, None) else { return };
        let found: Vec<_> = steps(&run).into_iter().map(|(step, ..)| step).collect();
        assert_eq!(found, [QuickStartStep::Asked, QuickStartStep::Approved, QuickStartStep::Lost]);
    });
}

/// Three routers that admit, by the kernel's programs as XDP and as tc, decide as the path's own.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn routers_in_the_kernel_decide_as_the_paths_own() {
    judged(|| {
        let text = scenario(
            3,
            r#"{"most": "20.48 Mbit/s"}"#,
            ADMISSION,
            &downloads("81.92Mbps", "1 MB", &["0.5", "0.6"]),
        );
        let mut found = Vec::new();
        for routers in [None, Some("xdp"), Some("tc")] {
            if ackclock_kernel::needs().is_some() {
                return;
            }
            let _turn = turn();
            let plan = LivePlan { routers: routers.map(str::to_owned), ..LivePlan::default() };
            let lived = live(&from_json(&text).unwrap(), &plan, || false).unwrap();
            let report: serde_json::Value = serde_json::from_str(&lived.report).unwrap();
            let rows = lived.run.quick_start.iter().filter_map(|row| match row.step {
                QuickStartWhat::Sender(_) => None,
                _ => Some((row.link, row.asked_bps, row.approved_bps)),
            });
            let mut rows: Vec<_> = rows.collect();
            // Two connections are near each other, and two routers apart.
            rows.sort_unstable();
            found.push(rows);
            let told = report["kernel_routers"].as_array().unwrap();
            let hooks: Vec<_> =
                told.iter().map(|told| told["hooks"][0].as_str().unwrap()).collect();
            match routers {
                None => assert!(hooks.is_empty()),
                Some(first) => assert_eq!(hooks, [first, "tc"]),
            }
            for told in told {
                assert_eq!((&told["requests"], &told["approved"]), (&2.into(), &2.into()));
                // 1 MB are 691 packets of 1500 bytes and some.
                assert!(told["packets"].as_u64().unwrap() > 1380, "{told}");
            }
        }
        assert_eq!(found[0].len(), 4);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    });
}

/// A router that raises 5.12 to 81.92 Mbit/s guesses eight bits of the nonce: it is believed once in 256 times. One that
/// takes no part leaves a wrong TTL difference.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn routers_that_cheat_or_take_no_part_are_found_out() {
    judged(|| {
        let at = ["0.2", "0.4", "0.6", "0.8", "1.0", "1.2"];
        let cheat = r#"{"threshold": 1.0, "cheat": "81.92 Mbit/s"}"#;
        let low = r#"{"most": "5.12 Mbit/s"}"#;
        let text = scenario(3, low, cheat, &downloads("81.92Mbps", "50 kB", &at));
        let Some((run, _)) = lived(&text, None) else { return };
        let found = steps(&run);
        let caught =
            found.iter().filter(|(step, ..)| *step == QuickStartStep::NonceMismatch).count();
        eprintln!("{caught} of {} raised rates were found out", at.len());
        assert!(caught + 1 >= at.len(), "{found:?}");
        let text =
            scenario(2, r#""approve""#, ADMISSION, &downloads("81.92Mbps", "50 kB", &["0.2"]));
        let text = text.replace(
            r#""quick_start": "approve", "reverse": {"quick_start": "approve"}},{"name": "second""#,
            r#""reverse": {"quick_start": "approve"}},{"name": "second""#,
        );
        let Some((run, _)) = lived(&text, None) else { return };
        assert_eq!(steps(&run)[1].0, QuickStartStep::TtlMismatch);
    });
}

/// tshark, of another house, reads both options by name, and finds no wrong checksum of IP.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn tshark_reads_both_options() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernel-quick-start");
    let _ = std::fs::remove_dir_all(&folder);
    let place = Place::open(&folder).unwrap();
    let text = scenario(2, ADMISSION, ADMISSION, &downloads("5.12Mbps", "200 kB", &["0.2"]));
    if lived(&text, Some(place)).is_none() {
        return;
    }
    let mut said = String::new();
    for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|end| end != "pcapng") {
            continue;
        }
        let out = Command::new("tshark")
            .args(["-V", "-o", "ip.check_checksum:TRUE", "-r"])
            .arg(&file)
            .output();
        let Ok(out) = out else {
            eprintln!("skipped: no tshark");
            return;
        };
        said.push_str(&String::from_utf8_lossy(&out.stdout));
    }
    for line in said.lines().filter(|line| line.contains("Quick-Start")) {
        eprintln!("{}", line.trim());
    }
    assert!(said.contains("IP Option - Quick-Start (8 bytes): Rate request"));
    assert!(said.contains("IP Option - Quick-Start (8 bytes): Rate report"));
    assert!(said.contains("TCP Option - Quick-Start"));
    assert!(!said.contains("Header checksum incorrect") && !said.contains("[Bad"));
}
