//! Units as people write them by habit or in other tools, and the unit here that they mean.

/// The prefix of `unit` and the rest: `Mbps` is `M` and `bps`. A small `m` is taken for `M`: nobody means a thousandth.
fn prefixed(unit: &str) -> (usize, &str) {
    for (n, letters) in [(1, "kK"), (2, "mM"), (3, "gG"), (4, "tT")] {
        if let Some(rest) = unit.strip_prefix(|c| letters.contains(c)) {
            return (n, rest);
        }
    }
    (0, unit)
}

/// The number of bits of `word`, which is `b`, `bit`, `bits`, `B`, `byte`, `bytes` or, for bytes of 1024, `iB`.
fn bits(word: &str) -> Option<(f64, bool)> {
    match word {
        "b" => Some((1.0, false)),
        "B" => Some((8.0, false)),
        "iB" => Some((8.0, true)),
        word => match &*word.to_lowercase() {
            "bit" | "bits" => Some((1.0, false)),
            "byte" | "bytes" => Some((8.0, false)),
            _ => None,
        },
    }
}

/// 1024 to this power over 1000 to this power.
fn binary(power: usize) -> f64 {
    [1.0, 1.024, 1.048_576, 1.073_741_824, 1.099_511_627_776][power]
}

pub(super) fn rate(unit: &str) -> Option<(&'static str, f64)> {
    let (power, rest) = prefixed(unit);
    let each = ["/sec", "/second", "psec", "/s", "ps"];
    let rest = each.iter().find_map(|each| rest.strip_suffix(each)).unwrap_or(rest);
    let (bits, is_binary) = match rest.trim() {
        // `10M`: tools for traffic read it as megabits.
        "" if power > 0 => (1.0, false),
        word => bits(word)?,
    };
    let unit = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"][power];
    Some((unit, bits * if is_binary { binary(power) } else { 1.0 }))
}

pub(super) fn volume(unit: &str) -> Option<(&'static str, f64)> {
    let (power, rest) = prefixed(unit);
    let plain = ["B", "kB", "MB", "GB", "TB"][power];
    Some(match rest {
        "" if power > 0 => (plain, 1.0),
        // `64 kb` is a volume where one is wanted: bits have their word in full.
        "b" => (plain, 1.0),
        "i" | "ib" | "iB" if power == 1 => ("KiB", 1.0),
        "i" | "ib" | "iB" if power == 2 => ("MiB", 1.0),
        "i" | "ib" | "iB" if power == 3 => ("GiB", 1.0),
        word => (plain, bits(word)?.0 / 8.0),
    })
}

pub(super) fn time(unit: &str) -> Option<(&'static str, f64)> {
    Some(match &*unit.to_lowercase() {
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => ("ns", 1.0),
        // The Greek letter, beside the sign of the micrometre.
        "us" | "usec" | "usecs" | "\u{3bc}s" | "microsecond" | "microseconds" => ("us", 1.0),
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "millis" => ("ms", 1.0),
        "s" | "sec" | "secs" | "second" | "seconds" => ("s", 1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => ("min", 1.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => ("h", 1.0),
        "d" | "day" | "days" => ("h", 24.0),
        _ => return None,
    })
}

pub(super) fn packet_rate(unit: &str) -> Option<(&'static str, f64)> {
    let (power, rest) = prefixed(unit);
    let each = [1.0, 1e3, 1e6, 1e9, 1e12][power];
    let known = ["pps", "p/s", "pkt/s", "pkts/s", "packet/s", "packets/s", "packet/sec"];
    known.contains(&&*rest.to_lowercase()).then_some(("packet/s", each))
}

pub(super) fn frequency(unit: &str) -> Option<(&'static str, f64)> {
    Some(match &*unit.to_lowercase() {
        "/sec" | "/second" | "per s" | "per second" | "1/s" | "hz" => ("/s", 1.0),
        "khz" => ("/s", 1e3),
        "/minute" | "per min" | "per minute" => ("/min", 1.0),
        "/hour" | "per h" | "per hour" => ("/h", 1.0),
        _ => return None,
    })
}

pub(super) fn percent(unit: &str) -> Option<(&'static str, f64)> {
    match &*unit.to_lowercase() {
        "percent" | "per cent" | "pct" => Some(("%", 1.0)),
        "\u{2030}" | "permille" | "per mille" => Some(("%", 0.1)),
        "ppm" => Some(("%", 1e-4)),
        _ => None,
    }
}

/// A number whose decimals come after a comma, as `number` and the rest in `unit`: with a point. A comma before three
/// digits separates thousands.
pub(super) fn with_point(number: &str, unit: &str) -> Option<String> {
    let rest = unit.strip_prefix(',')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (decimals, unit) = rest.split_at(digits);
    let point = match digits {
        0 => return None,
        3 => "",
        _ => ".",
    };
    Some(format!("{number}{point}{decimals} {}", unit.trim()))
}

/// A quantity as it is written, with six decimals at most.
pub(super) fn written(value: f64, unit: &str) -> String {
    let number = format!("{value:.6}");
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}
