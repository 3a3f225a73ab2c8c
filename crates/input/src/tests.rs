use std::fs::{self, File};

use ackclock_net::{Corrupt, Duplicate};
use ackclock_sim::scenario::Topology;
use ackclock_units::Duration;
use proptest::prelude::*;

use ackclock_sim::Scenario;
use serde_json::Value;

use super::fault::MAX_MESSAGE_CHARS;
use super::*;

const GOOD: &str = r#"title = "Two flows"
duration = "10 s"
seed = 7

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "1 BDP" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flow]]
name = "a"
variant = "newreno+iw10"
start = { uniform = ["0 s", "1 s"] }

[flow.tcp]
mss = "1448 B"
delayed_ack = { every = 2, timeout = "100 ms" }

[[flow]]
name = "b"
variant = "reno"
start = "1 s"
tcp = { delayed_ack = "off" }
app = { kind = "bulk", size = "1 MB" }

[[cross_traffic]]
link = "bottleneck"
kind = "poisson"
rate = "100 packet/s"
size = "576 B"

[[probe]]
flow = "a"
every = "change"
"#;

fn from_text(file: &str, text: &str, is_json: bool) -> Result<Scenario, BadInput> {
    Ok(super::from_text(file, text, is_json, Folder::here())?.1)
}

/// The error of `GOOD` with `old` replaced by `new`.
fn error_with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    error(&GOOD.replacen(old, new, 1))
}

fn error(text: &str) -> String {
    from_text("s.toml", text, false).unwrap_err().to_string()
}

#[test]
fn a_good_scenario_is_read() {
    let scenario = from_text("s.toml", GOOD, false).unwrap();
    assert_eq!((scenario.seed, scenario.flows.len()), (7, 2));
}

#[test]
fn a_scenario_survives_its_json() {
    let scenario = from_text("s.toml", GOOD, false).unwrap();
    let json = to_json(&scenario);
    assert_eq!(to_json(&from_json(&json).unwrap()), json);
    assert_eq!(to_json(&from_text("s.json", &json, true).unwrap()), json);
}

#[test]
fn a_flow_without_a_name_is_named_by_its_place() {
    let scenario = from_text("s.toml", &GOOD.replace("name = \"b\"\n", ""), false).unwrap();
    assert_eq!(scenario.flows[1].name, "flow-2");
    let text = error_with("name = \"b\"", "name = \"\"");
    assert!(text.starts_with("s.toml:20: flow[1].name: "), "{text}");
}

#[test]
fn a_path_is_a_rate_a_round_trip_and_a_buffer() {
    let text = "duration = \"10 s\"\n[topology]\nkind = \"path\"\nrate = \"20 Mbit/s\"\nrtt = \"41 ms\"\n\
                buffer = \"50 ms\"\nloss = \"1 %\"\n[[flow]]\nvariant = \"cubic\"\n";
    let scenario = from_text("s.toml", text, false).unwrap();
    let Topology::Path(path) = &scenario.topology else { panic!("a path") };
    let link = path.link();
    // 41 ms are 20.5 ms each way.
    assert_eq!(link.delay, Duration::from_micros(20_500));
    assert_eq!(to_json(&from_json(&to_json(&scenario)).unwrap()), to_json(&scenario));
    let said = |old: &str, new: &str| error(&text.replacen(old, new, 1));
    assert_eq!(
        said("buffer = \"50 ms\"", "buffer = \"1 BDP\"\nqueue = { kind = \"codel\" }"),
        "s.toml:6: topology.buffer: expected either `buffer` or `queue`"
    );
    assert_eq!(
        said("variant", "from = \"a\"\nvariant"),
        "s.toml:9: flow[0].from: only a graph's flows have nodes; leave this key out"
    );
}

#[test]
fn an_unknown_key_gets_the_nearest_word() {
    assert_eq!(
        error_with("duration", "durration"),
        "s.toml:2: durration: unknown key; did you mean `duration`? Known: `cross_traffic`, `duration`, `event`, \
         `flow`, `linux`, `measure`, `probe`, `seed`, `title`, `topology`, `traffic`"
    );
    assert_eq!(
        error_with("rate = \"10 Mbit/s\"", "rte = \"10 Mbit/s\""),
        "s.toml:7: topology.bottleneck.rte: unknown key; did you mean `rate`? Known: `ack_thinning`, `aggregation`, \
         `channel`, `corrupt`, `delay`, `duplicate`, `jitter`, `loss`, `outage`, `queue`, `quick_start`, `rate`, `rcp`, \
         `reorder`, `reverse`, `xcp`"
    );
    assert_eq!(
        error_with("mss =", "colour ="),
        "s.toml:16: flow[0].tcp.colour: unknown key, expected one of `abe`, `answer_repeated_syn`, \
             `clock_granularity`, `data_retries`, `delayed_ack`, `ecn`, `ecn_echo`, `handshake_tick`, `initial_rto`, `initial_window`, \
             `loss_reduces`, `lost_syns_forgiven`, `max_rto`, `min_rto`, `mss`, `nagle`, \
             `pacing`, `quick_start`, `receive_autotune`, `receive_window`, `rledbat`, `sack`, `syn_ack_retries`, \
             `syn_retries`, `three_seconds_after_lost_syn`, `timestamps`, `window_scaling`"
    );
}

#[test]
fn an_impairment_is_read_both_ways() {
    let impaired = GOOD.replace(
        "delay = \"1 ms\" }",
        "delay = \"1 ms\", reorder = { share = 0.5, delay = \"2 ms\" }, duplicate = 1, \
         reverse = { corrupt = 0.5, duplicate = 0 } }",
    );
    let scenario = from_text("s.toml", &impaired, false).unwrap();
    let Topology::Dumbbell { access, .. } = &scenario.topology else { panic!("a dumbbell") };
    let reorder = access.reorder.as_ref().unwrap();
    assert_eq!((reorder.share, reorder.delay), (0.5, Duration::from_millis(2)));
    assert_eq!((access.duplicate.0, access.corrupt.0), (1.0, 0.0));
    let reverse = access.reverse.as_ref().unwrap();
    assert_eq!(
        (&reverse.reorder, reverse.duplicate, reverse.corrupt),
        (&None, Some(Duplicate(0.0)), Some(Corrupt(0.5)))
    );
    let json = to_json(&scenario);
    assert_eq!(to_json(&from_json(&json).unwrap()), json);
    // As netem has it, without a delay.
    assert_eq!(
        error_with("delay = \"1 ms\" }", "delay = \"1 ms\", reorder = 0.5 }"),
        "s.toml:8: topology.access.reorder: found the number 0.5; write `reorder = { share = 0.5, delay = \"30 ms\" }`"
    );
}

#[test]
fn a_key_of_another_queue_is_refused() {
    let queue = "{ kind = \"droptail\", limit = \"1 BDP\" }";
    assert_eq!(
        error_with(queue, "{ kind = \"codel\", target = \"5 ms\", mark = \"3 packet\" }"),
        "s.toml:7: topology.bottleneck.queue.mark: unknown key; `mark` is a key of the kind `droptail`. Known: \
         `ce_threshold`, `ecn`, `interval`, `kind`, `limit`, `rules`, `target`"
    );
    assert_eq!(
        error_with(queue, "{ kind = \"codel\", target = \"5\" }"),
        "s.toml:7: topology.bottleneck.queue.target: `5` is not a duration such as \"30 ms\" \
         (the unit is missing: one of ns, us, µs, ms, s, min, h)"
    );
    assert_eq!(
        error_with(queue, "{ kind = \"fqcodel\" }"),
        "s.toml:7: topology.bottleneck.queue.kind: unknown word `fqcodel`; did you mean \
         `fq_codel`? Known: `droptail`, `fair`, `red`, `codel`, `fq_codel`, `pie`, `policer`, `cobalt`, `fq_cobalt`, \
         `drr`, `sfq`, `prio`, `fq_pie`, `cake`"
    );
}

#[test]
fn an_unknown_key_is_found_inside_every_kind_of_enum() {
    assert_eq!(
        error_with("access =", "acess ="),
        "s.toml:8: topology.acess: unknown key; did you mean `access`? Known: `access`, `access_right`, \
         `bottleneck`, `kind`"
    );
    assert_eq!(
        error_with("uniform", "unifrom"),
        "s.toml:13: flow[0].start.unifrom: unknown key; did you mean `uniform`? Known: `uniform`"
    );
    assert_eq!(
        error_with("{ every = 2, timeout", "{ evry = 2, timeout"),
        "s.toml:17: flow[0].tcp.delayed_ack.evry: unknown key; did you mean `every`? Known: `every`, \
         `quick`, `timeout`"
    );
    assert_eq!(
        error_with("size = \"1 MB\"", "volume = \"1 MB\""),
        "s.toml:24: flow[1].app.volume: unknown key; did you mean `size`? Known: `kind`, `size`"
    );
}

#[test]
fn a_wrong_unit_is_told_with_the_right_ones() {
    assert_eq!(
        error_with("10 Mbit/s", "10 mbit/s"),
        "s.toml:7: topology.bottleneck.rate: `10 mbit/s`: write \"10 Mbit/s\" (expected a \
         rate such as \"10 Mbit/s\")"
    );
    assert_eq!(
        error_with("\"1 s\"] }", "\"1 kg\"] }"),
        "s.toml:13: flow[0].start.uniform[1]: `1 kg` is not a duration such as \"30 ms\" (unknown \
         unit `kg`, expected one of ns, us, µs, ms, s, min, h)"
    );
    assert_eq!(
        error_with("timeout = \"100 ms\"", "timeout = \"100\""),
        "s.toml:17: flow[0].tcp.delayed_ack.timeout: `100` is not a duration such as \"30 ms\" (the \
         unit is missing: one of ns, us, µs, ms, s, min, h)"
    );
}

#[test]
fn a_negative_rate_is_refused() {
    assert_eq!(
        error_with("10 Mbit/s", "-10 Mbit/s"),
        "s.toml:7: topology.bottleneck.rate: `-10 Mbit/s` is not a rate such as \"10 Mbit/s\" (it \
         must not be negative)"
    );
    assert_eq!(
        error_with("100 packet/s", "-1 packet/s"),
        "s.toml:29: cross_traffic[0].rate: `-1 packet/s` is not a packet rate such as \"100 \
         packet/s\" (it must not be negative)"
    );
}

#[test]
fn a_seed_must_be_a_whole_number() {
    let expected = "expected a whole number from 0 to 18446744073709551615";
    for (written, found) in [
        ("\"abc\"", "the text \"abc\""),
        ("-1", "the number -1"),
        ("1.5", "the number 1.5"),
        ("true", "true"),
        ("[7]", "a list"),
    ] {
        assert_eq!(
            error_with("seed = 7", &format!("seed = {written}")),
            format!("s.toml:3: seed: found {found}, {expected}")
        );
    }
    assert_eq!(
        error_with("seed = 7", "seed = \"7\""),
        "s.toml:3: seed: found the text \"7\"; write `seed = 7`, without quotes"
    );
    assert_eq!(
        error_with("seed = 7", "seed = 99999999999999999999"),
        "s.toml:3: seed: the number 99999999999999999999 is too large"
    );
    assert_eq!(
        error_with("seed = 7", "seed = nan"),
        "s.toml:3: seed: found nan, expected a finite number"
    );
    assert_eq!(
        error_with("seed = 7", "seed = 2026-11-21"),
        "s.toml:3: seed: found a date; times are durations since the run began, such as \"30 ms\""
    );
    let largest = GOOD.replace("seed = 7", "seed = 18446744073709551615");
    assert_eq!(from_text("s.toml", &largest, false).unwrap().seed, u64::MAX);
}

#[test]
fn words_that_have_no_tag_are_told_as_words() {
    let found = error_with("mss = \"1448 B\"", "ecn = true");
    assert!(found.contains("ecn: found true, expected "), "{found}");
    assert!(!found.contains("``"), "{found}");
}

#[test]
fn a_time_in_a_list_of_milliseconds_is_told_in_milliseconds() {
    let list = |delay| {
        format!("delay = \"20 ms\", jitter = {{ kind = \"trace\", delays_ms = [{delay}] }}")
    };
    // 5 ms are 5 of the list's numbers.
    let found = error_with("delay = \"20 ms\"", &list("\"5 ms\""));
    assert!(found.ends_with("found the text \"5 ms\"; write 5"), "{found}");
    let found = error_with("delay = \"20 ms\"", &list("1e300"));
    assert!(found.contains("1e300 at place 1, expected 0 to 1,000,000 ms"), "{found}");
}

#[test]
fn a_missing_key_is_told_at_the_table_that_lacks_it() {
    assert_eq!(
        error_with("duration = \"10 s\"\n", ""),
        "s.toml:1: duration: missing, expected text such as \"30 ms\""
    );
    assert_eq!(
        error_with("variant = \"reno\"\n", ""),
        "s.toml:19: flow[1].variant: missing, expected text such as \"newreno+iw10\""
    );
    assert_eq!(
        error_with("kind = \"dumbbell\"\n", ""),
        "s.toml:5: topology.kind: missing, expected one of `dumbbell`, `path`, `graph`"
    );
    assert_eq!(
        error_with("access = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n", ""),
        "s.toml:5: topology.access: missing, expected a table with `rate`"
    );
    assert_eq!(
        error_with("{ kind = \"bulk\", size = \"1 MB\" }", "{}"),
        "s.toml:24: flow[1].app.kind: missing, expected one of `bulk`, `cbr`, `onoff`, `bursts`, \
         `frames`, `video`, `dash`, `program`, `iperf3`"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_the_right_one() {
    assert_eq!(
        error_with("\"10 s\"", "10"),
        "s.toml:2: duration: found the number 10, which has no unit; write it as in \"30 ms\""
    );
    assert_eq!(
        error_with("start = \"1 s\"", "start = 1"),
        "s.toml:22: flow[1].start: found the number 1, which has no unit; write it as in \"30 ms\""
    );
    assert_eq!(
        error_with("start = \"1 s\"", "start = true"),
        "s.toml:22: flow[1].start: found true, expected text such as \"30 ms\" or a table with one of \
         `uniform`, `exponential`, `pareto`, `weibull`, `lognormal`, `values`, `quantiles`"
    );
    assert_eq!(
        error_with("delayed_ack = \"off\"", "delayed_ack = false"),
        "s.toml:23: flow[1].tcp.delayed_ack: found false, expected `off` or a table with `timeout`"
    );
    assert_eq!(
        error_with("app = { kind = \"bulk\", size = \"1 MB\" }", "app = \"bulk\""),
        "s.toml:24: flow[1].app: found the text \"bulk\"; write `app = { kind = \"bulk\" }`"
    );
    assert_eq!(
        error_with("[[flow]]\nname = \"a\"", "[flow]\nname = \"a\""),
        "s.toml:10: write `[[flow]]`, with two brackets: there may be several `flow`"
    );
    assert_eq!(
        error_with("[[probe]]", "[probe]"),
        "s.toml:32: probe: found a table; write `[[probe]]`, with two brackets: there may be several"
    );
    assert_eq!(
        error_with("[topology]", "[[topology]]"),
        "s.toml:5: topology: found a list; write `[topology]`, with one bracket: there is only one"
    );
    assert_eq!(
        error_with("[\"0 s\", \"1 s\"]", "[\"0 s\"]"),
        "s.toml:13: flow[0].start.uniform: a list of 1, expected a list of 2"
    );
}

#[test]
fn an_unknown_word_gets_the_nearest() {
    assert_eq!(
        error_with("\"dumbbell\"", "\"dumbell\""),
        "s.toml:6: topology.kind: unknown word `dumbell`; did you mean `dumbbell`? Known: `dumbbell`, `path`, \
         `graph`"
    );
    assert_eq!(
        error_with("\"poisson\"", "\"Poisson\""),
        "s.toml:28: cross_traffic[0].kind: unknown word `Poisson`; did you mean `poisson`? Known: \
         `periodic`, `poisson`"
    );
    assert_eq!(
        error_with("\"off\"", "\"never\""),
        "s.toml:23: flow[1].tcp.delayed_ack: unknown word `never`, expected `off`"
    );
    assert_eq!(
        error_with("\"droptail\"", "3"),
        "s.toml:7: topology.bottleneck.queue.kind: found the number 3, expected one of \
         `droptail`, `fair`, `red`, `codel`, `fq_codel`, `pie`, `policer`, `cobalt`, `fq_cobalt`, \
         `drr`, `sfq`, `prio`, `fq_pie`, `cake`"
    );
}

#[test]
fn an_unknown_variant_gets_the_nearest() {
    let text = error_with("\"reno\"", "\"newrenoo\"");
    assert!(
        text.starts_with(
            "s.toml:21: flow[1].variant: unknown part `newrenoo` in `newrenoo`; did you mean `newreno`? Known: tahoe, "
        ),
        "{text}"
    );
}

#[test]
fn what_reads_well_and_cannot_be_run_is_told_in_place() {
    assert_eq!(
        error_with("variant = \"reno\"", "variant = \"tahoe+partialack\""),
        "s.toml:21: flow[1].variant: `tahoe` does not go with `partialack`: Tahoe's window falls to \
         one segment at a loss, and slow start repairs it: no other window may come between"
    );
    let no_flows: String = GOOD.split("[[").next().unwrap().to_owned();
    let text = error(&no_flows);
    assert!(text.starts_with("s.toml:1: flow: a scenario needs at least one "), "{text}");
}

#[test]
fn a_name_that_names_nothing_gets_the_nearest() {
    let text = error_with("link = \"bottleneck\"", "link = \"botleneck\"");
    assert!(
        text.starts_with(
            "s.toml:27: cross_traffic[0].link: unknown link `botleneck`; did you mean `bottleneck`? Known: `bottleneck`, "
        ),
        "{text}"
    );
}

#[test]
fn toml_syntax_is_told_with_its_line() {
    assert_eq!(
        error("duration = \"10 s\nseed = 1\n"),
        "s.toml:1: TOML syntax: invalid basic string, expected `\"`"
    );
    assert_eq!(error("seed = 1\nseed = 2\n"), "s.toml:2: TOML syntax: duplicate key");
    assert_eq!(
        error("a = 1\n= 2\n"),
        "s.toml:2: TOML syntax: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"
    );
}

#[test]
fn an_empty_file_lacks_everything() {
    assert_eq!(error(""), "s.toml:1: duration: missing, expected text such as \"30 ms\"");
}

#[test]
fn control_characters_are_never_echoed() {
    let text = error_with("\"10 s\"", "\"\\u001b[31m10 s\\n\\u202e\"");
    assert_eq!(
        text,
        "s.toml:2: duration: `\\u{1b}[31m10 s\\n\\u{202e}` is not a duration such as \"30 ms\""
    );
    assert_eq!(
        error("\"a\\u001b\\n b\" = 1"),
        "s.toml:1: \"a\\u{1b}\\n b\": unknown key, expected one of `cross_traffic`, `duration`, \
         `event`, `flow`, `linux`, `measure`, `probe`, `seed`, `title`, `topology`, `traffic`"
    );
    let in_file = from_text("s\n\u{7}.toml", "", false).unwrap_err().to_string();
    assert!(in_file.starts_with("s\\n\\u{7}.toml:1: "), "{in_file}");
}

#[test]
fn long_texts_are_not_echoed() {
    let text = error_with("10 s", &"x".repeat(100_000));
    assert_eq!(text, "s.toml:2: duration: a text of 100000 characters, expected at most 500");
    let text = error_with("seed = 7", &format!("seed = \"{}\"", "x".repeat(100)));
    assert!(text.contains(&format!("\"{}…\"", "x".repeat(60))), "{text}");
    let key = "k".repeat(100_000);
    assert!(error(&format!("{key} = 1")).chars().count() <= 1001);
}

#[test]
fn json_files_are_told_by_line_too() {
    let json = "{\n  \"duration\": \"10 s\",\n  \"topology\": {\n    \"kind\": \"ring\"\n  }\n}";
    assert_eq!(
        from_text("s.json", json, true).unwrap_err().to_string(),
        "s.json:4: topology.kind: unknown word `ring`, expected one of `dumbbell`, `path`, `graph`"
    );
    assert_eq!(
        from_text("s.json", "{\n  \"duration\": }", true).unwrap_err().to_string(),
        "s.json:2: JSON syntax: expected value, column 15"
    );
    assert_eq!(
        from_text("s.json", "{\"seed\": 1,\n \"seed\": 2}", true).unwrap_err().to_string(),
        "s.json:2: seed: the key stands there twice"
    );
    let inner = "{\"flow\": [{}, {\"app\": {\"a b\": 1,\n \"a b\": 2}}]}";
    assert_eq!(
        from_text("s.json", inner, true).unwrap_err().to_string(),
        "s.json:2: flow[1].app.\"a b\": the key stands there twice"
    );
    assert_eq!(
        from_text("s.json", "", true).unwrap_err().to_string(),
        "s.json:1: JSON syntax: EOF while parsing a value, column 0"
    );
    let deep = "[".repeat(100_000);
    assert_eq!(
        from_text("s.json", &deep, true).unwrap_err().to_string(),
        "s.json:1: JSON syntax: recursion limit exceeded, column 128"
    );
}

#[test]
fn json_text_is_told_by_key() {
    assert_eq!(
        from_json("{\"duration\": \"10 s\", \"topology\": 3}").unwrap_err().to_string(),
        "topology: found the number 3; expected a table with `kind`, one of `dumbbell`, `path`, `graph`"
    );
    assert_eq!(
        from_json("3").unwrap_err().to_string(),
        "found the number 3, expected a table with `duration`"
    );
    assert_eq!(
        from_json("{\"duration\": null, \"topology\": 3}").unwrap_err().to_string(),
        "duration: found nothing, expected text such as \"30 ms\""
    );
}

#[test]
fn null_stands_for_what_may_be_left_out() {
    let scenario = from_text("s.toml", GOOD, false).unwrap();
    let mut json: Value = serde_json::from_str(&to_json(&scenario)).unwrap();
    json["flow"][0]["tcp"]["delayed_ack"] = Value::Null;
    json["topology"]["access_right"] = Value::Null;
    assert!(from_json(&json.to_string()).unwrap().flows[0].tcp.delayed_ack.is_none());
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let scratch = scratch::Scratch::new();
    let folder = scratch.path();
    let message = |name: &str| {
        let text = load(&folder.join(name)).unwrap_err().to_string();
        text.replace(&folder.display().to_string(), "DIR")
    };
    let expected = "expected a scenario file (.toml or .json)";
    assert_eq!(message("none.toml"), format!("DIR/none.toml: no such file, {expected}"));
    fs::create_dir(folder.join("sub.toml")).unwrap();
    assert_eq!(message("sub.toml"), format!("DIR/sub.toml: is a folder, {expected}"));
    fs::write(folder.join("bytes.toml"), b"a = 1\nb = \xff\xfe\x00").unwrap();
    assert_eq!(
        message("bytes.toml"),
        format!("DIR/bytes.toml:2: byte 11 is not UTF-8 text, {expected}")
    );
    fs::write(folder.join("nul.toml"), b"\x00\x01\x02").unwrap();
    assert!(message("nul.toml").starts_with("DIR/nul.toml:1: TOML syntax: "));
    let huge = File::create(folder.join("huge.toml")).unwrap();
    huge.set_len(MAX_FILE_BYTES + 1).unwrap();
    assert_eq!(message("huge.toml"), format!("DIR/huge.toml: is larger than 16 MiB, {expected}"));
    fs::write(folder.join("good.toml"), GOOD).unwrap();
    assert_eq!(load(&folder.join("good.toml")).unwrap().seed, 7);
}

/// Keys that were spelt out each with the table that they are in took 100 GB here, and a comparison of each with the words
/// of a loss 50 microseconds.
#[test]
fn many_keys_take_no_more_than_their_text() {
    let (name, many) = ("a".repeat(1_000_000), 100_000);
    let entries = |equals: &str, between: &str, quote: &str| {
        let entry = |n: usize| format!("{quote}k{n}{quote}{equals}1");
        (0..many).map(entry).collect::<Vec<_>>().join(between)
    };
    let toml = format!("[{name}]\n{}\n", entries("=", "\n", ""));
    let json = format!("{{\"{name}\": {{{}}}}}", entries(":", ",\n", "\""));
    let deep =
        format!("{{\"x\": {}{}{}}}", "[".repeat(100), "[1],\n".repeat(many) + "0", "]".repeat(100));
    for (text, is_json) in [(&toml, false), (&json, true), (&deep, true)] {
        let said = from_text("s", text, is_json).unwrap_err().to_string();
        assert!(said.starts_with("s:1: ") && said.contains("unknown key"), "{said}");
    }
    let loss = format!("loss = {{ {} }}", entries("=", ",", ""));
    assert!(
        error_with("delay = \"20 ms\"", &format!("delay = \"20 ms\", {loss}")).contains("loss.k0")
    );
}

#[test]
fn every_text_that_is_not_free_has_its_reader() {
    let schema = schema_of::<Scenario>();
    let texts: Vec<&String> = schema["$defs"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, schema)| schema.get("examples").is_some())
        .map(|(name, _)| name)
        .collect();
    let readers: Vec<&str> = schema::READERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(texts, readers);
}

proptest! {
    #[test]
    fn whatever_is_written_the_answer_is_one_line(
        at in 0..GOOD.len(),
        cut in 0_usize..40,
        text in prop_oneof![
            ".{0,6}",
            "[\\[\\]{}=\"'.,#\n0-9a-z_-]{0,8}",
            Just("-1".to_owned()),
            Just("1e400".to_owned()),
            Just("\u{1b}]0;\u{7}".to_owned()),
        ],
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, text.bytes());
        let text = String::from_utf8_lossy(&bytes);
        for is_json in [false, true] {
            if let Err(error) = from_text("s", &text, is_json) {
                let error = error.to_string();
                prop_assert!(error.starts_with("s:"), "{error}");
                prop_assert!(!error.contains(|c: char| c.is_control()), "{error:?}");
                prop_assert!(error.chars().count() <= MAX_MESSAGE_CHARS + 1);
            }
        }
    }
}
