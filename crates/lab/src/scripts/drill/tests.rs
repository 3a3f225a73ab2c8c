use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::scratch::Scratch;

/// A handshake and a segment.
const GOOD: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 1000) = 1000
+0 > P. 1:1001(1000) ack 1
";

/// The data comes at 0.1 s and with an acknowledgment of 1.
fn bad() -> String {
    GOOD.replace("1:1001(1000) ack 1", "1:1001(1000) ack 2")
}

fn plan(paths: &[&Path]) -> DrillPlan {
    DrillPlan {
        paths: paths.iter().map(|path| path.to_path_buf()).collect(),
        profile: "rfc".to_owned(),
        ..DrillPlan::default()
    }
}

fn drilled(plan: &DrillPlan) -> Drilled {
    drill(plan, || false).unwrap()
}

fn refused(plan: &DrillPlan) -> String {
    match drill(plan, || false) {
        Err(SweepError::Input(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The names of the scripts that were run, without the folder.
fn names(drilled: &Drilled, folder: &Path) -> Vec<String> {
    let short = |outcome: &Outcome| {
        let path = Path::new(&outcome.file).strip_prefix(folder).unwrap();
        path.display().to_string()
    };
    drilled.outcomes.iter().map(short).collect()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn folders_are_searched_and_paths_keep_their_order() {
    let folder = Scratch::new("drill-order");
    for name in ["b/2.pkt", "b/10.pkt", "b/a/x.pkt", "a.pkt", "b/readme.md", "b/old.pkt~"] {
        write(&folder, name, GOOD);
    }
    let named = write(&folder, "script.txt", GOOD);
    let result = drilled(&plan(&[&named, &folder]));
    // Of a folder by name, character by character; a file that is named needs no ending.
    assert_eq!(
        names(&result, &folder),
        ["script.txt", "a.pkt", "b/10.pkt", "b/2.pkt", "b/a/x.pkt"]
    );
    assert_eq!(result.passed(), 5);
}

#[test]
fn a_link_that_leads_back_up_ends() {
    let folder = Scratch::new("drill-link");
    let path = write(&folder, "in/a.pkt", GOOD);
    symlink(&*folder, folder.join("in/up")).unwrap();
    symlink(&path, folder.join("in/b.pkt")).unwrap();
    // A folder with a script's name is a folder.
    write(&folder, "c.pkt/d.pkt", GOOD);
    symlink(folder.join("c.pkt"), folder.join("in/e.pkt")).unwrap();
    let result = drilled(&plan(&[&folder]));
    assert_eq!(names(&result, &folder), ["c.pkt/d.pkt", "in/a.pkt", "in/b.pkt"]);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = Scratch::new("drill-threads");
    for n in 0..40 {
        write(&folder, &format!("{n:02}.pkt"), if n % 3 == 0 { GOOD } else { "0 close(9) = 0" });
    }
    let with = |threads| drilled(&DrillPlan { threads: Some(threads), ..plan(&[&folder]) });
    let one = with(1);
    // 0, 3, ..., 39.
    assert_eq!(one.passed(), 14);
    assert!(one == with(2) && one == with(7));
    assert_eq!(
        refused(&DrillPlan { threads: Some(0), ..plan(&[&folder]) }),
        "threads: expected a whole number from 1 to 1024"
    );
}

#[test]
fn what_is_not_there_or_no_text_is_told_in_one_line() {
    let folder = Scratch::new("drill-unreadable");
    let at = |name: &str| folder.join(name).display().to_string();
    let expected = "expected a packetdrill script or a folder of such (*.pkt)";
    assert_eq!(refused(&plan(&[])), format!("no path, {expected}"));
    assert_eq!(
        refused(&plan(&[&folder.join("none.pkt")])),
        format!("{}: no such file, {expected}", at("none.pkt"))
    );
    write(&folder, "empty/readme.md", "");
    assert_eq!(
        refused(&plan(&[&folder.join("empty")])),
        format!("{}: is a folder without scripts, {expected}", at("empty"))
    );
    // `é` in Latin-1, behind a line end and the three bytes `// `.
    fs::write(folder.join("latin.pkt"), b"\n// \xe9").unwrap();
    write(&folder, "good.pkt", GOOD);
    assert_eq!(
        refused(&plan(&[&folder])),
        format!("{}:2: byte 5 is not UTF-8 text, {expected}", at("latin.pkt"))
    );
    assert!(refused(&plan(&[Path::new("/dev/zero")])).contains("is larger than 16 MiB"));
}

#[test]
fn an_unknown_profile_or_setting_is_told_with_the_nearest() {
    let file = Path::new("never/read.pkt");
    let with = |profile: &str, settings: &[(&str, &str)]| {
        let overrides = settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        refused(&DrillPlan { profile: profile.to_owned(), overrides, ..plan(&[file]) })
    };
    assert_eq!(
        with("linus", &[]),
        "profile: `linus` is not a profile: `rfc`, `linux` or `ns2` (did you mean `linux`?)"
    );
    assert_eq!(
        with("rfc", &[("tcp_sak", "1")]),
        "unknown setting `tcp_sak` (did you mean `tcp_sack`?)"
    );
    assert_eq!(
        with("rfc", &[("zzz", "1")]),
        "unknown setting `zzz`, expected one such as `tcp_sack`, `variant`, `initial_window` or `min_rto`"
    );
    assert!(with("rfc", &[("net.ipv4.tcp_sak", "1")]).contains("`tcp_sack`"));
    assert!(with("rfc", &[("tcp_sack", "2")]).starts_with("`tcp_sack` is a number from 0 to 1"));
    assert_eq!(
        with("linux", &[("tcp_ecn", "3")]),
        "`tcp_ecn=3` is not supported: there is no accurate ECN here, only 0, 1 and 2"
    );
    assert!(with("rfc", &[("variant", "rno")]).contains("did you mean `reno`?"));
    // Each is known, but Tahoe has no fast recovery.
    assert!(with("rfc", &[("variant", "tahoe+partialack")]).contains("Tahoe"));
}

#[test]
fn overrides_come_last_and_those_that_set_nothing_are_noted() {
    let folder = Scratch::new("drill-set");
    // Two segments go out at once, unless the window is one.
    let script = GOOD
        .replace("1000) = 1000", "2000) = 2000")
        .replace("+0 > P. 1:1001(1000) ack 1\n", "+0 > . 1:2001(2000) ack 1\n");
    write(&folder, "a.pkt", &format!("--initial_window=2\n{script}"));
    let with = |name: &str, value: &str| {
        let overrides = vec![(name.to_owned(), value.to_owned())];
        drilled(&DrillPlan { overrides, ..plan(&[&folder]) })
    };
    assert_eq!(with("initial_window", "2").passed(), 1);
    assert_eq!(with("initial_window", "1").passed(), 0);
    let result = with("net.ipv4.tcp_wmem", "1 2 3");
    assert_eq!(result.passed(), 1);
    assert_eq!(result.notes, ["`tcp_wmem=1 2 3` means nothing: memory is not limited"]);
    assert!(!result.tap(Comments::default()).contains('#'));
    assert!(
        result
            .tap(Comments { notes: true, packets: false })
            .ends_with("# `tcp_wmem=1 2 3` means nothing: memory is not limited\n")
    );
    let passed_over = with("tcp_moderate_rcvbuf", "0").notes;
    let expected = "`tcp_moderate_rcvbuf=0` is passed over: ";
    assert!(passed_over[0].starts_with(expected), "{passed_over:?}");
}

#[test]
fn a_panic_fails_its_script_alone() {
    let files: Vec<(String, String)> =
        ["a", "b", "c"].map(|name| (format!("{name}.pkt"), GOOD.to_owned())).to_vec();
    let run = |file: &str, text: &str| {
        assert!(file != "b.pkt", "a slip of mind");
        ackclock_script::drill(file, text, &Settings::default())
    };
    let outcomes = each(&files, Some(2), &|| false, run).unwrap();
    assert!(outcomes[0].result.is_ok() && outcomes[2].result.is_ok());
    assert_eq!(
        outcomes[1].result.as_ref().unwrap_err().to_string(),
        "b.pkt:1:1: internal error: a slip of mind; please report it with this script"
    );
}

#[test]
fn nothing_begins_after_a_cancellation() {
    let files: Vec<(String, String)> =
        (0..50).map(|n| (format!("{n}.pkt"), String::new())).collect();
    let begun = AtomicUsize::new(0);
    let cancelled = || begun.load(Ordering::Relaxed) >= 3;
    let run = |file: &str, text: &str| {
        begun.fetch_add(1, Ordering::Relaxed);
        ackclock_script::drill(file, text, &Settings::default())
    };
    assert_eq!(each(&files, Some(2), &cancelled, run), Err(SweepError::Cancelled));
    // The other thread may have asked just before.
    assert!(begun.into_inner() <= 4);
}

#[test]
fn outcomes_as_json() {
    let folder = Scratch::new("drill-json");
    let good = write(&folder, "good.pkt", &format!("`sysctl -q net.ipv4.tcp_wmem=1`\n{GOOD}"));
    let bad = write(&folder, "bad.pkt", &bad());
    let json: serde_json::Value =
        serde_json::from_str(&drilled(&plan(&[&good, &bad])).to_json()).unwrap();
    let packets = [
        "0.000000 < S 0:0(0) win 65535 <mss 1000>",
        "0.000000 > S. 0:0(0) ack 1 win 65535 <mss 1460>",
        "0.100000 < . 1:1(0) ack 1 win 65535",
        "0.100000 > P. 1:1001(1000) ack 1 win 65535",
    ];
    assert_eq!(
        json,
        serde_json::json!({
            "passed": 1,
            "failed": 1,
            "again": 0,
            "differences": [],
            "notes": [],
            "scripts": [
                {
                    "file": good.display().to_string(),
                    "on": "sim",
                    "passed": true,
                    "failure": null,
                    // In: SYN and ACK. Out: SYN-ACK and data. The data goes out at 0.1 s.
                    "report": {
                        "packets_in": 2, "packets_out": 2, "assertions": 0, "took_s": 0.1,
                        "notes": ["1:2: `tcp_wmem=1` means nothing: memory is not limited"],
                    },
                    "packets": packets,
                },
                {
                    "file": bad.display().to_string(),
                    "on": "sim",
                    "passed": false,
                    "failure": {
                        "line": 9, "column": 1,
                        "message": "this packet differs in ack",
                        "expected": "0.100000 > P. 1:1001(1000) ack 2",
                        "actual": "0.100000 > P. 1:1001(1000) ack 1 win 65535",
                    },
                    "report": null,
                    "packets": packets,
                },
            ],
        })
    );
}

#[test]
fn packets_are_told_and_captured_up_to_a_failure() {
    let folder = Scratch::new("drill-packets");
    let good = write(&folder, "a/hello.pkt", GOOD);
    let bad = write(&folder, "b/hello.pkt", &bad());
    let pcap = folder.join("pcap");
    let plan = DrillPlan { pcap: Some(Place::open(&pcap).unwrap()), ..plan(&[&good, &bad]) };
    let drilled = drilled(&plan);
    let packets = |n: usize| -> Vec<String> {
        drilled.outcomes[n].trace.packets.iter().map(|(_, passed)| passed.to_string()).collect()
    };
    assert_eq!(
        packets(0),
        [
            "0.000000 < S 0:0(0) win 65535 <mss 1000>",
            "0.000000 > S. 0:0(0) ack 1 win 65535 <mss 1460>",
            "0.100000 < . 1:1(0) ack 1 win 65535",
            "0.100000 > P. 1:1001(1000) ack 1 win 65535",
        ]
    );
    // The packet that differs is the last one that was seen.
    assert_eq!(packets(1), packets(0));
    let tap = drilled.tap(Comments { packets: true, ..Comments::default() });
    assert!(tap.contains("ok 1 - "), "{tap}");
    assert_eq!(tap.matches("#   0.100000 > P. 1:1001(1000) ack 1").count(), 2, "{tap}");
    let names: Vec<_> =
        drilled.captures.iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["hello.pcapng", "hello~2.pcapng"]);
    let bytes = fs::read(&drilled.captures[0]).unwrap();
    // The magic number of a section header block (draft-ietf-opsawg-pcapng section 4.1).
    assert_eq!(bytes[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
}
