//! Videos over whole paths: a base round trip of 40 ms.

use super::{Run, run};
use crate::records::VideoRow;

fn scenario(rate: &str, app: &str) -> String {
    format!(
        r#"{{
            "duration": "100 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "{rate}", "delay": "18 ms"}},
                "access": {{"rate": "1 Gbit/s", "delay": "1 ms"}}
            }},
            "flow": [{{
                "name": "v", "variant": "newreno+sack", "start": "1 s",
                "app": {{"kind": "video", {app}}}
            }}]
        }}"#
    )
}

/// A video over a queue that never overflows, so that arrivals have the link's rate.
fn deep(rate: &str, app: &str) -> String {
    let delay = r#""delay": "18 ms""#;
    let queue = r#""queue": {"kind": "droptail", "limit": "10000 packet"}"#;
    scenario(rate, app).replace(delay, &format!("{delay}, {queue}"))
}

fn video(run: &Run) -> &VideoRow {
    let [row] = &*run.videos else { panic!("one video") };
    assert_eq!(row.shown + row.discarded, row.pictures);
    row
}

#[test]
fn a_video_on_a_fast_path_is_shown_whole() {
    // 100 pictures of 10 kB at 30 a second: 2.4 Mbit/s of 50. Play waits for 60 kB. The handshake
    // takes 40 ms, the request 20 ms, the first window of four segments 20 ms; then slow start: 4, 8
    // with an ACK of each segment pair 6, 9, ... segments a round trip, 60 kB are 41 segments. Windows
    // of 4, 6, 9, 13 are 32, so that the fifth brings the rest: 80 + 4 * 40 = 240 ms, and a
    // few ms for the link and for ACKs that wait.
    let pictures = vec!["10000"; 100].join(",");
    let run =
        run(&scenario("50 Mbit/s", &format!(r#""pictures": [{pictures}], "start": "60 kB""#)));
    let row = video(&run);
    assert_eq!((row.shown, row.late, row.underflows), (100, 0, 0));
    assert_eq!(row.taken_bytes, 1_000_000);
    let startup = row.startup_s.unwrap();
    assert!((0.2..0.3).contains(&startup), "{startup}");
    // No more than another window of ten came with the byte that made it 60 kB.
    let at_start = row.start_bytes.unwrap();
    assert!((60_000..75_000).contains(&at_start), "{at_start}");
    // 100 pictures of a thirtieth of a second.
    let finished = row.finished_s.unwrap();
    assert!((finished - 1.0 - startup - 100.0 / 30.0).abs() < 1e-4, "{finished} {startup}");
    // The server's one object is the file.
    assert_eq!(run.objects.bytes, [1_000_000]);
    assert_eq!(run.flows[0].delivered_bytes, 1_000_000);
}

#[test]
fn a_video_on_a_slow_path_stands_still_as_long_as_it_must() {
    // 300 pictures of 16 kB, 10 s, are 4.8 MB. 2 Mbit/s carry 1460/1500 of that as data: 19.73 s.
    // At the usual speed play lasts 10 s and the time that it stood still. It ends at the
    // earliest when the last byte is there, and later by no more than the buffer's 656 kB, 1.4 s.
    let pictures = vec!["16000"; 300].join(",");
    let app = format!(r#""pictures": [{pictures}], "catch_up": 1.0"#);
    let run = run(&scenario("2 Mbit/s", &app));
    let row = video(&run);
    assert!(row.underflows > 0 && row.late > 0 && row.discarded > 0, "{row:?}");
    let play = row.finished_s.unwrap() - 1.0 - row.startup_s.unwrap();
    assert!((play - 10.0 - row.stall_s).abs() < 1e-4, "{row:?}");
    let end = row.finished_s.unwrap() - 1.0;
    assert!((19.73..19.73 + 2.5).contains(&end), "{end}");
}

#[test]
fn what_the_player_has_no_room_for_waits_in_the_connection() {
    // 50 Mbit/s would bring 1.8 MB at once; the buffer of 100 kB and a receive window of 64 kB
    // hold it back to the 2.4 Mbit/s of the video, so that a second before the end of its 6 s at
    // most 164 kB of what is to come are there.
    let pictures = vec!["10000"; 180].join(",");
    let text = scenario("50 Mbit/s", &format!(r#""pictures": [{pictures}], "buffer": "100 kB""#))
        .replace(r#""app""#, r#""tcp": {"receive_window": "64 kB"}, "app""#)
        .replace("100 s", "6.3 s");
    let run = run(&text);
    let [row] = &*run.videos else { panic!("one video") };
    assert_eq!((row.discarded, row.underflows, row.finished_s), (0, 0, None));
    assert!(row.taken_bytes <= 10_000 * row.shown + 100_000, "{row:?}");
    assert!(run.flows[0].delivered_bytes <= 10_000 * row.shown + 164_000, "{:?}", run.flows[0]);
    assert!(row.shown > 140 && row.shown < 160, "{row:?}");
}

#[test]
fn a_drawn_video_is_the_same_for_every_sender() {
    let app = r#""size": "2 MB", "length": "10 s", "buffer": "500 kB""#;
    let text = scenario("20 Mbit/s", app);
    let a = run(&text);
    let b = run(&text.replace("newreno+sack", "cubic"));
    assert_eq!(video(&a).pictures, 300);
    assert_eq!(run(&text), a);
    assert_eq!(video(&a).shown, video(&b).shown);
    assert_eq!(a.objects.bytes, [2_000_000]);
}

#[test]
fn an_impossible_video_is_refused_by_its_key() {
    let error = |app: &str| {
        let text = scenario("2 Mbit/s", app);
        let scenario = crate::Scenario::from_json(&text).unwrap();
        scenario.check().unwrap_err().to_string()
    };
    assert!(error(r#""picture_rate": 25.0"#).starts_with("flow[0].app.pictures: missing"));
    assert!(error(r#""size": "1 MB""#).starts_with("flow[0].app.pictures: missing"));
    assert!(error(r#""pictures": [5], "size": "1 MB""#).starts_with("flow[0].app.size: "));
    assert!(error(r#""pictures": [5, 0]"#).contains("at least 1 B in every picture"));
    assert!(error(r#""pictures": [700000]"#).starts_with("flow[0].app.buffer: "));
    assert!(error(r#""pictures": [5], "start": "1 MB""#).starts_with("flow[0].app.buffer: "));
    assert!(error(r#""pictures": [5], "catch_up": 0.5"#).starts_with("flow[0].app.catch_up: "));
    assert!(error(r#""pictures": [5], "picture_rate": 0.0"#).contains("app.picture_rate"));
    assert!(error(r#""pictures": [5], "resize": "600 kB""#).starts_with("flow[0].app.resize: "));
    let vlc = r#""pictures": [5], "player": "vlc", "#;
    for key in
        [r#""start": "1 kB""#, r#""group": "I""#, r#""buffer": "1 MB""#, r#""catch_up": 2.0"#]
    {
        let word = key.split('"').nth(1).unwrap();
        let expected = format!("flow[0].app.{word}: `player = \"vlc\"` has its own");
        assert_eq!(error(&format!("{vlc}{key}")), expected);
    }
    assert!(
        error(r#""pictures": [5], "group": "BI""#).starts_with("flow[0].app.group: expected an I")
    );
    assert!(error(r#""pictures": [5], "pace": 0.9"#).starts_with("flow[0].app.pace: "));
}

#[test]
fn a_buffer_that_follows_the_path_waits_once_for_all() {
    // 300 pictures of 16 kB, 10 s, are 4.8 MB; 2 Mbit/s carry 243.3 kB/s of data: 19.73 s. Whoever
    // begins with B bytes in hand and 480 kB/s to show needs B >= 4.8 MB - 10 s * 243.3 kB/s = 2.37
    // MB, which take 9.73 s, a tenth of a second of slow start before them. What was measured in the
    // first second is a tenth less; eight seconds later it is forgotten.
    let pictures = vec!["16000"; 300].join(",");
    let app = format!(r#""pictures": [{pictures}], "catch_up": 1.0, "resize": "4 MB""#);
    let run = run(&deep("2 Mbit/s", &app));
    let row = video(&run);
    assert_eq!((row.underflows, row.late), (0, 0), "{row:?}");
    assert!(row.discarded <= 1, "{row:?}");
    assert!((9.8..10.9).contains(&row.startup_s.unwrap()), "{row:?}");
    let buffer = row.buffer_bytes.unwrap();
    assert!((2_360_000..2_800_000).contains(&buffer), "{row:?}");
}

#[test]
fn a_bound_on_the_buffer_shares_the_wait_out() {
    // With 1 MB at most play begins after 4.1 s and stops again; together it waits no less.
    let pictures = vec!["16000"; 300].join(",");
    let app = format!(r#""pictures": [{pictures}], "catch_up": 1.0, "resize": "1 MB""#);
    let run = run(&deep("2 Mbit/s", &app));
    let row = video(&run);
    assert!(row.underflows > 0, "{row:?}");
    assert!((row.startup_s.unwrap() - 4.3).abs() < 0.4, "{row:?}");
    assert_eq!(row.buffer_bytes, Some(1_000_000));
    assert!(row.startup_s.unwrap() + row.stall_s > 9.3, "{row:?}");
}

#[test]
fn a_server_that_paces_sends_no_faster_than_the_film_needs() {
    // 300 pictures of 10 kB in 10 s. With r bytes missing and T left of the 10 s the bound is 1.2 r/T, so
    // that r falls as T^1.2 does: the last byte comes near the end of the 10 s. Unpaced 5 Mbit/s carry
    // 608 kB/s, 3 MB in 4.9 s.
    let pictures = vec!["10000"; 300].join(",");
    let of = |pace: &str| {
        let app = format!(r#""pictures": [{pictures}], "start": "100 kB"{pace}"#);
        let run = run(&deep("5 Mbit/s", &app));
        assert_eq!((video(&run).shown, video(&run).late), (300, 0));
        run.objects.completed_ns[0] as f64 / 1e9 - 1.0
    };
    let (free, paced) = (of(""), of(r#", "pace": 1.2"#));
    assert!((free - 5.0).abs() < 0.3, "{free}");
    assert!((9.0..10.0).contains(&paced), "{paced}");
}

#[test]
fn segments_are_chosen_asked_for_and_played() {
    // A ladder of 0.5, 1 and 3 Mbit/s, segments of 2 s, ten of them, over 2 Mbit/s and 40 ms. What is
    // left of 2 Mbit/s after headers is 1.95; a segment of 0.5 Mbit/s, 125 kB, takes 0.51 s. The first
    // also takes the handshake and slow start, 0.2 s: 1.4 Mbit/s, of which 1.2 are trusted, so that all
    // others are of 1 Mbit/s.
    let text = deep("2 Mbit/s", "").replace(
        r#"{"kind": "video", }"#,
        r#"{"kind": "dash", "rates": ["500 kbit/s", "1 Mbit/s", "3 Mbit/s"], "segment": "2 s",
            "length": "20 s", "buffer": "10 s"}"#,
    );
    let run = run(&text);
    let row = video(&run);
    assert_eq!((row.pictures, row.shown, row.underflows), (600, 600, 0));
    assert_eq!((row.switches, row.mean_rate_bps), (Some(1), Some(950_000.0)));
    assert_eq!(run.objects.bytes[..1], [125_000]);
    assert_eq!(run.objects.bytes[1..], [250_000; 9]);
    assert_eq!((row.taken_bytes, run.flows[0].delivered_bytes), (2_375_000, 2_375_000));
    // Two segments, 375 kB, before play begins: 1.54 s at the link's rate, and up to eight round
    // trips of 40 ms.
    let startup = row.startup_s.unwrap();
    assert!((1.54..1.9).contains(&startup), "{startup}");
    let finished = row.finished_s.unwrap();
    assert!((finished - 1.0 - startup - 20.0).abs() < 1e-6, "{finished} {startup}");
}

#[test]
fn segments_at_one_rate_beyond_the_path_stop_play_as_long_as_they_must() {
    // 10 s at 4 Mbit/s are 5 MB; 2 Mbit/s carry 243.3 kB/s: 20.55 s at least, of which 10 are play.
    let text = deep("2 Mbit/s", "").replace(
        r#"{"kind": "video", }"#,
        r#"{"kind": "dash", "rates": ["4 Mbit/s"], "segment": "2 s", "length": "10 s",
            "start": "2 s", "buffer": "4 s"}"#,
    );
    let run = run(&text);
    let row = video(&run);
    assert_eq!((row.shown, row.discarded, row.switches), (300, 0, Some(0)));
    // Every segment takes 4.1 s, lasts 2, and is waited for.
    assert_eq!((row.underflows, row.late), (4, 240));
    let waited = row.startup_s.unwrap() + row.stall_s;
    // The last one plays after the last byte came.
    assert!((20.55 + 2.0 - 10.0..13.5).contains(&waited), "{waited}");
}

#[test]
fn impossible_segments_are_refused_by_their_key() {
    let error = |app: &str| {
        let app = format!(r#"{{"kind": "dash", {app}}}"#);
        let text = scenario("2 Mbit/s", "").replace(r#"{"kind": "video", }"#, &app);
        let scenario = crate::Scenario::from_json(&text).unwrap();
        scenario.check().unwrap_err().to_string()
    };
    let some = r#""rates": ["1 Mbit/s", "2 Mbit/s"]"#;
    assert!(error(some).starts_with("flow[0].app.length: missing"));
    assert!(error(&format!(r#"{some}, "length": "10 s""#)).contains("whole segments"));
    assert!(error(r#""rates": [], "length": "8 s""#).starts_with("flow[0].app.rates: "));
    assert!(
        error(&format!(r#"{some}, "pictures": [1, 2, 3]"#)).starts_with("flow[0].app.pictures: ")
    );
    assert!(
        error(&format!(r#"{some}, "length": "8 s", "buffer": "6 s""#))
            .starts_with("flow[0].app.buffer: ")
    );
    assert!(
        error(&format!(r#"{some}, "length": "8 s", "segment": "0 s""#))
            .starts_with("flow[0].app.segment: ")
    );
}

#[test]
fn a_probe_sees_what_the_player_holds() {
    // 10 kB every thirtieth of a second: with at most 100 kB there are ten pictures, 333 ms, once
    // the buffer is full, and one less while a picture is on its way into it.
    let pictures = vec!["10000"; 180].join(",");
    let app = format!(r#""pictures": [{pictures}], "buffer": "100 kB""#);
    let text = scenario("50 Mbit/s", &app).replace(
        r#""duration""#,
        r#""probe": [{"flow": "v", "what": ["playout"], "every": "100 ms", "from": "2 s", "until": "5 s"}],
            "duration""#,
    );
    let run = run(&text);
    let seen = &run.flow_samples.playout_s;
    assert_eq!(seen.len(), 31);
    assert!(seen.iter().all(|held| (0.29..0.34).contains(held)), "{seen:?}");
}

#[test]
fn vlc_fills_a_second_and_a_quarter_and_never_hurries() {
    // 300 pictures of 10 kB at 30 a second, 2.4 Mbit/s, over 4 Mbit/s: nothing is late. Slice 5 ends with picture
    // floor(37.5) + 2: 40 pictures, 400 kB, take 274 segments of 3 ms and the start of the connection.
    let pictures = vec!["10000"; 300].join(",");
    let app = format!(r#""pictures": [{pictures}], "player": "vlc""#);
    let fast = run(&deep("4 Mbit/s", &app));
    let row = video(&fast);
    assert_eq!((row.shown, row.late, row.underflows), (300, 0, 0));
    let startup = row.startup_s.unwrap();
    assert!((0.82..1.1).contains(&startup), "{startup}");
    // 10 s of play after it; the run began the flow at 1 s.
    let finished = row.finished_s.unwrap();
    assert!((finished - 1.0 - startup - 10.0).abs() < 1e-4, "{finished}");
    // Over 2 Mbit/s the file takes 12.3 s, and play 10: it stands still for as long as it lacks, less the
    // filling, and what is late is discarded or thrown away.
    let slow = run(&deep("2 Mbit/s", &app));
    let [row] = &*slow.videos else { panic!("one video") };
    assert!(row.underflows >= 1, "{}", row.underflows);
    assert!(row.discarded > 0 && row.shown + row.discarded < 300, "{}", row.shown);
    let shift = row.finished_s.unwrap() - 1.0 - row.startup_s.unwrap() - 10.0;
    assert!((shift - row.stall_s).abs() < 1e-4, "{shift} {}", row.stall_s);
}
