use super::*;

fn message<T: FromStr<Err = ParseError> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().unwrap_err().to_string()
}

#[test]
fn durations_read_in_every_unit() {
    assert_eq!("30 ms".parse(), Ok(Duration::from_nanos(30_000_000)));
    assert_eq!("0.05 s".parse(), Ok(Duration::from_nanos(50_000_000)));
    assert_eq!("2.5us".parse(), Ok(Duration::from_nanos(2_500)));
    assert_eq!("2 min".parse(), Ok(Duration::from_nanos(120_000_000_000)));
    assert_eq!("1e-3 s".parse(), Ok(Duration::from_nanos(1_000_000)));
}

#[test]
fn rates_read_in_the_spellings_people_use() {
    for text in ["10 Mbit/s", "10Mbit/s", "10 Mb/s", "10 Mbps", "10_000 kbit/s", "0.01 Gbit/s"] {
        assert_eq!(text.parse(), Ok(Rate::from_bps(10_000_000)), "{text}");
    }
    assert_eq!("81.92Mbps".parse(), Ok(Rate::from_bps(81_920_000)));
}

#[test]
fn every_quantity_reads_back_what_it_prints() {
    for nanos in [0, 1, 999, 1_000, 1_500_000, 30_000_000, 1_000_000_007, 90_000_000_000] {
        let duration = Duration::from_nanos(nanos);
        assert_eq!(duration.to_string().parse(), Ok(duration));
    }
    for bps in [1, 999, 64_000, 1_382_400, 81_920_000, 10_000_000_000] {
        let rate = Rate::from_bps(bps);
        assert_eq!(rate.to_string().parse(), Ok(rate));
    }
    for (text, hertz) in [("10_000 /s", 10_000.0), ("30/min", 0.5), ("2 Hz", 2.0)] {
        let frequency = Frequency::from_hz(hertz).unwrap();
        assert_eq!(text.parse(), Ok(frequency));
        assert_eq!(frequency.to_string().parse(), Ok(frequency));
    }
    assert_eq!(Duration::from_nanos(1_250_000).to_string(), "1.25 ms");
    assert_eq!(Rate::from_bps(10_000_000).to_string(), "10 Mbit/s");
}

#[test]
fn errors_say_what_was_expected_and_the_nearest_unit() {
    assert_eq!(
        message::<Duration>("-1 ms"),
        "`-1 ms` is not a duration such as \"30 ms\" (it must not be negative)"
    );
    assert!(message::<Duration>("30").contains("the unit is missing"));
    assert!(message::<Rate>("10 mbit/s").starts_with("`10 mbit/s`: write \"10 Mbit/s\""));
    assert!(message::<Rate>("10 ms").contains("unknown unit `ms`"));
    assert!(message::<Rate>("0 bit/s").contains("at least 1 bit/s"));
    assert!(message::<Bytes>("1.5 B").contains("whole number of bytes"));
    assert!(message::<Mss>("0 B").contains("from 1 B to 65535 B"));
    assert!(message::<PacketRate>("0 packet/s").contains("above zero"));
    assert!(message::<Frequency>("0 /s").contains("above zero"));
    for rubbish in ["", "ms", "e", "1e", "..", "1 ms ms", "∞ s", "NaN s", "1e999 s"] {
        assert!(rubbish.parse::<Duration>().is_err(), "{rubbish}");
    }
}

#[test]
fn a_unit_by_habit_is_told_with_the_text_to_write() {
    let rate = |text| message::<Rate>(text);
    let time = |text| message::<Duration>(text);
    let volume = |text| message::<Bytes>(text);
    for (said, meant) in [
        // A byte has eight bits: 10 megabytes are 80 megabits.
        (rate("10 MB/s"), "80 Mbit/s"),
        (rate("1.5 MBps"), "12 Mbit/s"),
        // 20 * 1,048,576 * 8 = 167,772,160.
        (rate("20 MiB/s"), "167.77216 Mbit/s"),
        (rate("20 Mbit"), "20 Mbit/s"),
        (rate("20M"), "20 Mbit/s"),
        (rate("20 MBit/s"), "20 Mbit/s"),
        (rate("20 Mbit/sec"), "20 Mbit/s"),
        (rate("20 mbps"), "20 Mbit/s"),
        (rate("20,5 Mbit/s"), "20.5 Mbit/s"),
        (rate("1,000 kbit/s"), "1000 kbit/s"),
        (time("30 sec"), "30 s"),
        (time("30 seconds"), "30 s"),
        (time("18 msec"), "18 ms"),
        (time("18 Ms"), "18 ms"),
        (time("18 \u{3bc}s"), "18 us"),
        (time("2 days"), "48 h"),
        (volume("64 KB"), "64 kB"),
        (volume("64k"), "64 kB"),
        (volume("5 Mbit"), "0.625 MB"),
        (volume("1 mib"), "1 MiB"),
        (message::<PacketRate>("2 kpps"), "2000 packet/s"),
        (message::<Percent>("1 percent"), "1 %"),
        (message::<Mss>("1460 bytes"), "1460 B"),
    ] {
        assert!(said.contains(&format!("`: write \"{meant}\" (expected a")), "{said}, for {meant}");
    }
    // Milliseconds are no rate, and the other way round.
    assert!(rate("10 ms").contains("unknown unit `ms`"));
    assert!(time("10 Mbit/s").contains("unknown unit `Mbit/s`"));
    assert!(message::<Percent>("0.5").contains("stands without quotes"));
    assert!(message::<Percent>("101 %").contains("more than 100 %"));
}

#[test]
fn a_share_is_a_number_or_in_percent() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Link {
        #[serde(deserialize_with = "crate::share::read")]
        loss: f64,
    }
    let read = |text: &str| serde_json::from_str::<Link>(text).map(|link| link.loss);
    for text in ["0.01", "\"1 %\"", "\"1%\""] {
        let read = read(&format!("{{\"loss\": {text}}}")).unwrap();
        assert_eq!(read.to_bits(), 0.01_f64.to_bits(), "{text}");
    }
    assert_eq!(read("{\"loss\": 1}").unwrap().to_bits(), 1_f64.to_bits());
    // To the bit: 0.7 / 100 is another number.
    assert_eq!("0.7 %".parse::<Percent>().unwrap().share().to_bits(), 0.007_f64.to_bits());
    assert_eq!("7e-1 %".parse::<Percent>().unwrap().to_string(), "0.7 %");
    assert!(read("{\"loss\": \"x\"}").unwrap_err().to_string().contains("a share such as"));
}
