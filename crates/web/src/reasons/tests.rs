use std::collections::BTreeSet;
use std::path::Path;

use ackclock_tcp::variant::REGISTRY;
use serde_json::{Value, json};

/// A segment that a host gave to its first link.
#[derive(Clone, Debug)]
struct Row {
    time: f64,
    flow: usize,
    seq: usize,
    len: usize,
    says: String,
    rfc: Option<(u64, String)>,
    page: Option<String>,
    cwnd: f64,
}

impl Row {
    fn cites(&self, rfc: u64, section: &str) -> bool {
        self.rfc.as_ref().is_some_and(|(number, of)| *number == rfc && of == section)
    }

    fn on(&self, page: &str) -> bool {
        self.page.as_deref() == Some(page)
    }
}

/// A whole number that stands in a row.
fn whole(number: f64) -> usize {
    number.to_string().parse().unwrap()
}

/// The data that flows sent in a scenario, with the reasons; or the line that refuses it.
fn sent(scenario: &str) -> Result<Vec<Row>, String> {
    let text = json!({ "file": "scenario.toml", "text": scenario });
    let request = json!({ "do": "segments", "text": text, "from_s": 0, "until_s": 1000 });
    let answer = crate::answer(&request.to_string());
    let length = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&answer[4..4 + length]).unwrap();
    if let Some(error) = header["error"].as_str() {
        return Err(error.to_owned());
    }
    let place = |n: usize| usize::try_from(header["sends"][n].as_u64().unwrap()).unwrap();
    let behind = (4 + length).next_multiple_of(8);
    let bytes = &answer[behind + place(0)..][..place(1)];
    let numbers: Vec<f64> =
        bytes.chunks(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect();
    let width = header["send_columns"].as_array().unwrap().len();
    let rows = numbers.chunks(width).filter(|row| row[6] >= 0.0);
    Ok(rows
        .map(|row| {
            let reason = &header["reasons"][whole(row[6])];
            let rfc = reason["rfc"].as_array();
            Row {
                time: row[0],
                flow: whole(row[1]),
                seq: whole(row[3]),
                len: whole(row[4]),
                says: reason["says"].as_str().unwrap().to_owned(),
                rfc: rfc.map(|of| (of[0].as_u64().unwrap(), of[1].as_str().unwrap().to_owned())),
                page: reason["page"].as_str().map(str::to_owned),
                cwnd: row[7],
            }
        })
        .collect())
}

/// Reno's kin on 5 Mbit/s with a short queue, and a link that is off for a while.
fn lossy(variant: &str, more: &str) -> String {
    format!(
        r#"
        duration = "6 s"
        [topology]
        kind = "dumbbell"
        bottleneck = {{ rate = "5 Mbit/s", delay = "20 ms", queue = {{ kind = "droptail", limit = "12 packet" }} }}
        access = {{ rate = "100 Mbit/s", delay = "0 s" }}
        [[flow]]
        name = "a"
        variant = "{variant}"
        {more}
        [[event]]
        at = "2 s"
        link = "bottleneck"
        set = {{ loss = 1.0 }}
        [[event]]
        at = "2.5 s"
        link = "bottleneck"
        set = {{ loss = 0 }}
        "#
    )
}

fn lossless(variant: &str, more: &str) -> String {
    format!(
        r#"
        duration = "8 s"
        [topology]
        kind = "dumbbell"
        bottleneck = {{ rate = "10 Mbit/s", delay = "20 ms", queue = {{ kind = "droptail", limit = "1000 packet" }} }}
        access = {{ rate = "1 Gbit/s", delay = "0 s" }}
        [[flow]]
        name = "a"
        variant = "{variant}"
        {more}
        "#
    )
}

/// The RFCs that a line of help names.
fn named(help: &str) -> impl Iterator<Item = u64> {
    help.split("RFC ").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

/// The RFCs whose rules a sender follows: those of the lines of help of its parts, and what comes with them.
fn followed(variant: &str, profile: &str) -> BTreeSet<u64> {
    let choices = crate::choices::choices(variant, profile).unwrap();
    // TCP itself, and its timer (RFC 6298), which every sender has.
    let mut all = BTreeSet::from([9293, 6298]);
    let slots = choices["slots"].as_array().unwrap();
    let word = |slot: &str| {
        let of = slots.iter().find(|each| each["slot"] == slot).unwrap();
        of["word"].as_str().unwrap_or_default().to_owned()
    };
    let mut words = Vec::new();
    for slot in slots {
        let Some(word) = slot["word"].as_str() else { continue };
        words.push(word.to_owned());
        let rows = slot["words"].as_array().unwrap();
        let help = rows.iter().find(|row| row["word"] == word).and_then(|row| row["help"].as_str());
        // Linux's form of a law is another one than the RFC's.
        let linux = word.contains("linux") || (slot["slot"] == "growth" && profile == "linux");
        if !linux || word.contains("rfc") {
            all.extend(named(help.unwrap_or_default()));
        }
    }
    let law = word("growth");
    if ["newreno", "reno"].contains(&&*law) && profile != "linux" {
        all.insert(5681);
    }
    if law == "ledbat" || law == "reno(rfc5681)" {
        // Under `linux`, too, which has no form of LEDBAT.
        all.extend([6817, 5681]);
    }
    if law == "cubic" && profile != "linux" {
        // "CUBIC as RFC 9438 has it, which is the form of `rfc` and `ns2`".
        all.insert(9438);
    }
    match &*word("recovery") {
        // RFC 6582 is the modification of RFC 5681's recovery, and RFC 3042 goes with either.
        "partialack" => all.extend([6582, 5681, 3042]),
        "fastrecovery" => all.extend([5681, 3042]),
        // RFC 6675 finds the losses, RFC 9937 says how much goes out, and RFC 5682 looks at timeouts.
        "sack" => all.extend([6675, 5682]),
        "prr" => all.extend([6675, 9937, 5682]),
        "rack" => all.extend([8985, 9937, 5682]),
        _ => {}
    }
    if word("first window") == "iw10" {
        all.insert(6928);
    } else if word("first window") != "rfc3390" {
        // Two segments of 1460 bytes are within RFC 5681's bound.
        all.insert(5681);
    }
    if profile == "ns2" && !words.iter().any(|word| word.contains("rack")) {
        // ns-2 has no F-RTO.
        all.remove(&5682);
    }
    all
}

/// The pages of docs/algorithms.
fn pages() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms");
    let files = std::fs::read_dir(folder).unwrap();
    files
        .filter_map(|file| {
            file.unwrap().file_name().to_str()?.strip_suffix(".md").map(str::to_owned)
        })
        .collect()
}

#[test]
fn no_reason_of_any_sender_of_the_rfcs_names_one_that_it_does_not_follow() {
    expect_rfcs_that_are_followed("rfc");
}

#[test]
fn no_reason_of_any_sender_of_linux_names_an_rfc_that_it_does_not_follow() {
    expect_rfcs_that_are_followed("linux");
}

#[test]
fn no_reason_of_any_sender_of_ns2_names_an_rfc_that_it_does_not_follow() {
    expect_rfcs_that_are_followed("ns2");
}

/// Looks at every reason of every sender of this profile: its page is there, and its RFC is one that the sender follows.
fn expect_rfcs_that_are_followed(profile: &str) {
    let (pages, mut seen, mut faults) = (pages(), 0, BTreeSet::new());
    let laws = REGISTRY.iter().filter(|row| row.choice.slot().to_string() == "growth");
    let laws = laws.map(ackclock_laws::words::Row::spelled);
    let others = REGISTRY.iter().filter(|row| row.choice.slot().to_string() != "growth");
    let others = others
        .flat_map(|row| ["newreno", "cubic", "bbr"].map(|law| format!("{law}+{}", row.spelled())));
    let more = ["newreno+iw2", "newreno+iw10", "cubic+tsl(1,2)", "newreno+tsl(half,1,2)"];
    for variant in laws.chain(others).chain(more.map(str::to_owned)) {
        if crate::choices::choices(&variant, profile).is_err() {
            // A pair that is refused.
            continue;
        }
        let followed = followed(&variant, profile);
        let profile = format!("profile = \"{profile}\"");
        let bursts = format!(
            "{profile}\napp = {{ kind = \"bursts\", size = \"100 kB\", every = \"2500 ms\" }}"
        );
        for rows in [sent(&lossy(&variant, &profile)), sent(&lossy(&variant, &bursts))] {
            // RCP and XCP want routers that take part.
            let Ok(rows) = rows else { continue };
            seen += rows.len();
            for row in rows {
                let page = row.page.as_deref().unwrap_or("start");
                if !pages.contains(page) {
                    faults.insert(format!("{variant}: no page {page}"));
                }
                if let Some((rfc, section)) = &row.rfc
                    && !followed.contains(rfc)
                {
                    let says = &row.says;
                    faults.insert(format!("{variant} {profile}: RFC {rfc} §{section}: {says}"));
                }
            }
        }
    }
    assert!(seen > 30_000, "{seen}");
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
}

#[test]
fn laws_without_a_threshold_are_told_by_their_own_pages() {
    for (variant, page) in [("bbr", "bbr"), ("bbr1", "bbr1"), ("copa", "copa"), ("c4", "c4")] {
        let rows = sent(&lossy(variant, "")).unwrap();
        let of_law = rows.iter().filter(|row| row.on(page)).count();
        assert!(of_law * 10 > rows.len() * 8, "{variant}: {of_law} of {}", rows.len());
        let paced = rows.iter().filter(|row| row.says.contains("paces")).count();
        assert!(paced * 3 > rows.len(), "{variant}: {paced} of {}", rows.len());
        assert!(rows.iter().all(|row| !row.says.contains("Slow start")), "{variant}");
        assert!(rows.iter().all(|row| !row.cites(5681, "3.1")), "{variant}");
    }
}

#[test]
fn tahoe_goes_back_without_a_scoreboard_or_an_inflated_window() {
    let rows = sent(&lossy("tahoe", "")).unwrap();
    assert!(rows.iter().all(|row| !row.on("sack") && !row.on("fastrecovery")));
    assert!(rows.iter().all(|row| !row.says.contains("SACK")));
    assert!(rows.iter().all(|row| !row.says.contains("larger until the repair")));
    let back = rows.iter().filter(|row| row.says.contains("go-back-N")).count();
    assert!(back > 10, "{back}");
    // Retransmissions, and nothing else, are told as such.
    let mut highest = 0;
    for row in &rows {
        let again = row.seq + row.len <= highest;
        let told =
            ["retransmitted", "goes back", "expired"].iter().any(|word| row.says.contains(word));
        assert_eq!(again, told, "{row:?}");
        highest = highest.max(row.seq + row.len);
    }
}

#[test]
fn reno_without_sack_names_no_scoreboard() {
    let rows = sent(&lossy("reno", "")).unwrap();
    assert!(rows.iter().all(|row| !row.on("sack") && !row.says.contains("scoreboard")));
    assert!(rows.iter().any(|row| row.cites(5681, "3.2") && row.says.contains("third duplicate")));
    assert!(rows.iter().any(|row| row.on("timer") && row.cites(5681, "3.1")));
}

#[test]
fn each_recovery_tells_its_first_retransmission() {
    for (variant, rfc, section) in [
        ("newreno", 5681, "3.2"),
        ("newreno+sack", 6675, "5"),
        ("newreno+prr", 6675, "5"),
        ("newreno+rack", 8985, "6.2"),
    ] {
        // A path of one link has its queue at the sender, where segments wait.
        let path = lossy(variant, "").replace(
            r#"kind = "dumbbell"
        bottleneck = { rate = "5 Mbit/s", delay = "20 ms", queue"#,
            r#"kind = "path"
        rate = "5 Mbit/s"
        rtt = "40 ms"
        queue"#,
        );
        let path = path.replace(r#""12 packet" } }"#, r#""12 packet" }"#);
        let lines: Vec<&str> = path.lines().filter(|line| !line.contains("access =")).collect();
        let path = lines.join("\n");
        let path = path.split("[[event]]").next().unwrap().to_owned();
        for text in [lossy(variant, ""), path] {
            let rows = sent(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
            let first = rows
                .iter()
                .find(|row| rows.iter().any(|other| other.time < row.time && other.seq == row.seq));
            let first = first.unwrap_or_else(|| panic!("{variant}: nothing went out again"));
            assert!(first.cites(rfc, section), "{variant}: {first:?}");
        }
    }
}

#[test]
fn the_first_window_has_the_rule_of_its_size() {
    // RFC 3390 §1; RFC 5681 §3.1 lets three segments of 1460 bytes out, RFC 6928 §2 ten; nothing has eleven.
    for (word, rfc) in [
        ("rfc3390", Some((3390, "1"))),
        ("iw2", Some((5681, "3.1"))),
        ("iw3", Some((5681, "3.1"))),
        ("iw4", Some((6928, "2"))),
        ("iw10", Some((6928, "2"))),
        ("iw11", None),
    ] {
        let rows = sent(&lossless(&format!("newreno+{word}"), "")).unwrap();
        let expected = rfc.map(|(rfc, section)| (rfc, section.to_owned()));
        assert_eq!(rows[0].rfc, expected, "{word}: {:?}", rows[0]);
        assert!(rows[0].says.contains(word), "{:?}", rows[0]);
        let first = rows.iter().take_while(|row| row.says == rows[0].says).count();
        let size = word.strip_prefix("iw").map_or(3, |digits| digits.parse().unwrap());
        assert_eq!(first, size, "{word}");
    }
}

#[test]
fn a_jump_is_told_as_what_it_is() {
    let rows =
        sent(&lossless("newreno+jumpstart", "app = { kind = \"bulk\", size = \"58400 B\" }"));
    let rows = rows.unwrap();
    let other = rows.iter().find(|row| !row.on("jumps") || row.rfc.is_some());
    assert!(other.is_none(), "{other:?}");
    let approved = lossless("newreno+sack+quickstart(5.12Mbps)", "")
        .replace("\"20 ms\",", "\"280 ms\", quick_start = \"approve\",")
        .replace("\"0 s\"", "\"0 s\", quick_start = \"approve\"");
    let rows = sent(&approved).unwrap();
    assert!(rows[0].cites(4782, "4.4") && rows[0].on("quickstart"), "{:?}", rows[0]);
    let jumped = rows.iter().filter(|row| row.cites(4782, "4.4")).count();
    // 5.12 Mbit/s over a round trip of 560 ms are 358 kB, of which the window of a SYN-ACK, 65,535 bytes at most, lets 44
    // segments of 1460 bytes out.
    assert_eq!(jumped, 44);
    // RFC 4782 §4.4 asks for limited slow start after it.
    let after = rows.iter().find(|row| row.says.contains("Slow start")).unwrap();
    assert!(after.cites(3742, "2"), "{after:?}");
    // A denied request is no jump.
    let denied = sent(&lossless("newreno+sack+quickstart(5.12Mbps)", "")).unwrap();
    assert!(denied[0].cites(3390, "1"), "{:?}", denied[0]);
}

#[test]
fn a_lost_syn_ack_leaves_a_window_of_one() {
    let lost = |variant: &str, profile: &str, until: &str| {
        let text = lossless(variant, &format!("profile = \"{profile}\""));
        let events = format!(
            r#"
            [[event]]
            at = "10 ms"
            link = "bottleneck"
            set = {{ loss = 1.0 }}
            [[event]]
            at = "{until}"
            link = "bottleneck"
            set = {{ loss = 0 }}
            "#
        );
        sent(&(text + &events)).unwrap().remove(0)
    };
    // RFC 5681 §3.1: a window of one segment.
    let first = lost("newreno+iw10", "rfc", "500 ms");
    assert!(first.cites(5681, "3.1") && first.says.contains("one segment"), "{first:?}");
    assert!((first.cwnd - 1.0).abs() < 1e-9);
    // RFC 6928 §2: one retransmission costs nothing, two leave a window of one.
    let whole = lost("newreno+iw10+synloss(rfc6928)", "rfc", "500 ms");
    assert!(whole.cites(6928, "2") && whole.says.contains("(iw10)"), "{whole:?}");
    let twice = lost("newreno+iw10+synloss(rfc6928)", "rfc", "2500 ms");
    assert!(twice.cites(6928, "2") && twice.says.contains("one segment"), "{twice:?}");
    // TSL is of no RFC.
    let own = lost("newreno+iw10+tsl(1,2)", "rfc", "500 ms");
    assert!(own.rfc.is_none() && own.says.contains("one segment"), "{own:?}");
}

#[test]
fn all_data_of_a_window_that_began_anew_is_told_so() {
    let bursts = "app = { kind = \"bursts\", size = \"100 kB\", every = \"3 s\" }";
    for (variant, rfc) in [
        ("newreno+sack+rfc5681", Some((5681, "4.1"))),
        ("newreno+sack+cwv", Some((2861, "3.2"))),
        ("newreno+sack+linuxidle", None),
    ] {
        let rows = sent(&lossless(variant, bursts)).unwrap();
        let again: Vec<&Row> = rows.iter().filter(|row| (3.0..3.03).contains(&row.time)).collect();
        // RFC 5681 §4.1: the restart window is min(IW, cwnd), here three segments.
        if variant.ends_with("rfc5681") {
            assert_eq!(again.len(), 3, "{again:?}");
        }
        let expected = rfc.map(|(rfc, section)| (rfc, section.to_owned()));
        assert!(!again.is_empty());
        for row in again {
            assert!(row.says.contains("After silence"), "{row:?}");
            assert_eq!(row.rfc, expected, "{row:?}");
        }
    }
}

#[test]
fn what_waits_at_the_access_link_waits_for_nothing_else() {
    // 2 Mbit/s at the host: segments of a window wait there, after the ACK that let them out.
    let text = lossless("newreno+sack", "").replace("1 Gbit/s", "2 Mbit/s");
    let rows = sent(&text).unwrap();
    assert!(rows.len() > 400, "{}", rows.len());
    for row in &rows {
        let told = ["first window", "Slow start", "Congestion avoidance"];
        assert!(told.iter().any(|word| row.says.contains(word)), "{row:?}");
    }
}

#[test]
fn an_application_that_writes_late_is_told() {
    let app = "app = { kind = \"cbr\", rate = \"1 Mbit/s\", message = \"1460 B\" }";
    let rows = sent(&lossless("newreno+sack+noidle", app)).unwrap_or_else(|why| panic!("{why}"));
    let late = rows.iter().filter(|row| row.says.contains("The application gave")).count();
    assert!(late * 10 > rows.len() * 9, "{late} of {}", rows.len());
}

#[test]
fn a_timeout_is_told_once_and_what_follows_as_its_repair() {
    let rows = sent(&lossy("newreno+sack", "")).unwrap();
    let expired = rows.iter().filter(|row| row.cites(6298, "5")).count();
    let text = json!({ "file": "scenario.toml", "text": lossy("newreno+sack", "") });
    let request = json!({ "do": "run", "text": text, "watch": true }).to_string();
    assert!(!crate::answer(&request).is_empty());
    // The link is off for half a second, and the timer begins at a second: one expiry.
    assert_eq!(expired, 1);
    assert!(rows.iter().all(|row| row.flow == 0));
}
