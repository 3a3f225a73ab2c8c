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
        let scenario: crate::Scenario = serde_json::from_str(&text).unwrap();
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
}
