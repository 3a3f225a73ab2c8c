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
    assert!(message::<Rate>("10 mbit/s").contains("did you mean `Mbit/s`?"));
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
