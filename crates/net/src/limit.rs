//! Limits of queues: as a scenario writes them, and as a link counts them.

use std::fmt;
use std::str::FromStr;

use ackclock_units::{Bytes, Duration, ParseError, Rate, written_as_text};

use crate::counters::Volume;

/// The unit of a queue's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUnit {
    /// Packets.
    Packets,
    /// Bytes on the wire.
    Bytes,
}

/// The most that a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit {
    /// The number.
    pub amount: u64,
    /// The unit.
    pub unit: QueueUnit,
}

impl QueueLimit {
    /// No limit.
    pub const UNLIMITED: Self = Self { amount: u64::MAX, unit: QueueUnit::Packets };

    /// True if a packet of `size` fits beside what is held, of which `in_service` is being sent
    /// and counts only if `counts_in_service`.
    #[inline]
    pub const fn admits(
        self,
        held: Volume,
        in_service: u32,
        counts_in_service: bool,
        size: u32,
    ) -> bool {
        // An idle link takes any packet: it does not wait.
        if held.packets == 0 {
            return !counts_in_service || self.amount > 0;
        }
        match self.unit {
            QueueUnit::Packets => held.packets - ((!counts_in_service) as u64) < self.amount,
            QueueUnit::Bytes => {
                let excused = if counts_in_service { 0 } else { in_service as u64 };
                held.bytes - excused + size as u64 <= self.amount
            }
        }
    }

    /// The packets that may be held when another comes; `None` for a limit in bytes.
    pub const fn room(self, counts_in_service: bool) -> Option<u64> {
        match self.unit {
            QueueUnit::Packets => Some(self.amount.saturating_add(!counts_in_service as u64)),
            QueueUnit::Bytes => None,
        }
    }

    /// True if more than this much is held, counted as in [`admits`](Self::admits).
    pub const fn is_exceeded(self, held: Volume, in_service: u32, counts_in_service: bool) -> bool {
        let more = Self { amount: self.amount.saturating_add(1), unit: self.unit };
        more.is_reached(held, in_service, counts_in_service) && self.amount < u64::MAX
    }

    /// True if at least this much is held, counted as in [`admits`](Self::admits).
    pub const fn is_reached(self, held: Volume, in_service: u32, counts_in_service: bool) -> bool {
        let excused = (held.packets > 0 && !counts_in_service) as u64;
        match self.unit {
            QueueUnit::Packets => held.packets - excused >= self.amount,
            QueueUnit::Bytes => held.bytes - excused * in_service as u64 >= self.amount,
        }
    }
}

/// A queue's limit, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A number of packets or bytes, or none.
    Fixed(QueueLimit),
    /// A multiple of the bandwidth-delay product.
    Bdp(f64),
    /// The bytes that the link sends in this time.
    Time(Duration),
}

impl Default for Limit {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

impl Limit {
    /// No limit.
    pub const UNLIMITED: Self = Self::Fixed(QueueLimit::UNLIMITED);

    /// A limit of `amount` packets.
    pub const fn packets(amount: u64) -> Self {
        Self::Fixed(QueueLimit { amount, unit: QueueUnit::Packets })
    }

    /// A limit of `amount` bytes.
    pub const fn bytes(amount: u64) -> Self {
        Self::Fixed(QueueLimit { amount, unit: QueueUnit::Bytes })
    }

    /// The limit of a link of `rate` whose longest base round trip is `rtt`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "floor of a positive number of packets"
    )]
    pub fn resolve(self, rate: Rate, rtt: Duration) -> QueueLimit {
        match self {
            Self::Fixed(limit) => limit,
            Self::Bdp(multiple) => {
                let bdp = (rate.volume_in(rtt).get() / 1500) as f64;
                QueueLimit { amount: ((bdp * multiple) as u64).max(1), unit: QueueUnit::Packets }
            }
            Self::Time(time) => {
                QueueLimit { amount: rate.volume_in(time).get(), unit: QueueUnit::Bytes }
            }
        }
    }

    /// The unit in which it counts.
    pub const fn unit(self) -> QueueUnit {
        match self {
            Self::Fixed(limit) => limit.unit,
            Self::Bdp(_) => QueueUnit::Packets,
            Self::Time(_) => QueueUnit::Bytes,
        }
    }

    /// True if this limit is at least the other; `None` where that depends on the link.
    pub fn is_at_least(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Fixed(one), Self::Fixed(other)) => {
                (one.unit == other.unit).then_some(one.amount >= other.amount)
            }
            (Self::Bdp(one), Self::Bdp(other)) => Some(one >= other),
            (Self::Time(one), Self::Time(other)) => Some(one >= other),
            _ => None,
        }
    }
}

const A_LIMIT: &str =
    "a limit such as \"50 packet\", \"64 kB\", \"1 BDP\", \"50 ms\" or \"unlimited\"";

/// Words for packets in other tools.
const PACKETS: [&str; 4] = ["pkts", "pkt", "pks", "p"];

impl FromStr for Limit {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError::new(text, A_LIMIT);
        if text == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        let text = text.trim();
        if let Some(number) = text.strip_suffix("BDP") {
            let multiple: f64 = number.trim().parse().map_err(|_| error())?;
            return if multiple.is_finite() && multiple > 0.0 {
                Ok(Self::Bdp(multiple))
            } else {
                Err(error().with_hint("expected a finite number above 0"))
            };
        }
        for unit in ["packets", "packet"] {
            if let Some(number) = text.strip_suffix(unit) {
                let number = number.trim();
                return number.parse().map(Self::packets).map_err(|_| not_packets(number, error()));
            }
        }
        if let Ok(time) = text.parse() {
            return Ok(Self::Time(time));
        }
        text.parse().map(|bytes: Bytes| Self::bytes(bytes.get())).map_err(|of_bytes| {
            match Self::meant(text).or(of_bytes.meant().map(str::to_owned)) {
                Some(meant) => error().or_rather(meant),
                None => match Self::reason(text) {
                    Some(reason) => error().with_hint(reason),
                    None => error(),
                },
            }
        })
    }
}

/// The error of a number of packets that is none.
fn not_packets(number: &str, error: ParseError) -> ParseError {
    let hint = match number.parse::<f64>() {
        Ok(negative) if negative < 0.0 => "it must not be negative",
        Ok(large) if large >= 9.2e18 => "it is too large",
        Ok(_) => "packets are a whole number, in digits alone",
        Err(_) => return error,
    };
    error.with_hint(hint)
}

impl Limit {
    /// The reason why a text with a known unit is no limit: as a time or as a volume.
    fn reason(text: &str) -> Option<String> {
        let errors = [text.parse::<Duration>().err(), text.parse::<Bytes>().err()];
        let hints = errors.iter().flatten().filter_map(ParseError::hint);
        hints.filter(|hint| !hint.contains("unit")).map(str::to_owned).next()
    }

    /// The text that was most likely meant by one that is no limit.
    fn meant(text: &str) -> Option<String> {
        let lower = text.to_lowercase();
        if ["none", "inf", "infinite", "infinity", "unlimited"].contains(&&*lower) {
            return Some("unlimited".to_owned());
        }
        let at = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
        let (number, unit) = (&lower[..at], lower[at..].trim());
        number.parse::<f64>().ok()?;
        match unit {
            "" => Some(format!("{number} packet")),
            "bdp" | "x bdp" | "*bdp" | "bdps" => Some(format!("{number} BDP")),
            unit if PACKETS.contains(&unit) => Some(format!("{number} packet")),
            // A unit of time or of volume, which its own type knows.
            _ => text.parse::<Duration>().err()?.meant().map(str::to_owned),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(QueueLimit::UNLIMITED) => f.write_str("unlimited"),
            Self::Fixed(QueueLimit { amount, unit: QueueUnit::Packets }) => {
                write!(f, "{amount} packet")
            }
            Self::Fixed(QueueLimit { amount, unit: QueueUnit::Bytes }) => write!(f, "{amount} B"),
            Self::Bdp(multiple) => write!(f, "{multiple} BDP"),
            Self::Time(time) => time.fmt(f),
        }
    }
}

written_as_text! {
    Limit: "Limit", "A queue's limit: packets, bytes, a multiple of the bandwidth-delay product, the time to send it at the link's `rate`, or unlimited.", "50 packet";
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn held(packets: u64) -> Volume {
        Volume { packets, bytes: packets * 100 }
    }

    #[test]
    fn limits_of_one_kind_are_compared_and_others_are_not() {
        let at_least = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| text.parse::<Limit>().unwrap());
            one.is_at_least(other)
        };
        for (more, less) in [
            ("50 packet", "20 packet"),
            ("64 kB", "32 kB"),
            ("1 BDP", "0.5 BDP"),
            ("50 ms", "20 ms"),
        ] {
            assert_eq!(at_least(more, less), Some(true));
            assert_eq!(at_least(less, more), Some(false));
            assert_eq!(at_least(less, less), Some(true));
        }
        // Both depend on the link.
        assert_eq!(at_least("1 BDP", "20 packet"), None);
        assert_eq!(at_least("50 ms", "1 BDP"), None);
    }

    #[test]
    fn a_limit_counts_what_waits_unless_told_otherwise() {
        let limit = QueueLimit { amount: 2, unit: QueueUnit::Packets };
        // One in service and one waiting: a second may wait, a third may not.
        assert!(limit.admits(held(2), 100, false, 100));
        assert!(!limit.admits(held(3), 100, false, 100));
        // Counting the one in service, two held are the limit.
        assert!(limit.admits(held(1), 100, true, 100));
        assert!(!limit.admits(held(2), 100, true, 100));
    }

    #[test]
    fn the_room_of_a_limit_in_packets_is_what_it_admits() {
        for amount in [0, 1, 2, 5, u64::MAX] {
            let limit = QueueLimit { amount, unit: QueueUnit::Packets };
            for (counts, packets) in
                [false, true].into_iter().flat_map(|c| (0..8).map(move |n| (c, n)))
            {
                let room = limit.room(counts).unwrap();
                assert_eq!(
                    packets < room,
                    limit.admits(held(packets), 100, counts, 100),
                    "{limit:?}"
                );
            }
        }
    }

    #[test]
    fn a_limit_in_bytes_counts_bytes() {
        let limit = QueueLimit { amount: 250, unit: QueueUnit::Bytes };
        // 100 in service, 100 waiting: 100 + 150 = 250 fits, 100 + 151 does not.
        assert!(limit.admits(held(2), 100, false, 150));
        assert!(!limit.admits(held(2), 100, false, 151));
        assert!(limit.admits(held(1), 100, true, 150));
        assert!(!limit.admits(held(2), 100, true, 100));
    }

    #[test]
    fn a_mark_counts_as_the_limit_does() {
        let mark = QueueLimit { amount: 2, unit: QueueUnit::Packets };
        // One in service and one waiting; then two waiting.
        assert!(!mark.is_reached(held(2), 100, false));
        assert!(mark.is_reached(held(3), 100, false));
        assert!(!mark.is_reached(held(1), 100, true));
        assert!(mark.is_reached(held(2), 100, true));
        assert!(!mark.is_reached(held(0), 0, false));
        // 199 B of 299 wait, 200 of 300: 100 are being sent.
        let mark = QueueLimit { amount: 200, unit: QueueUnit::Bytes };
        let held = |bytes| Volume { packets: 3, bytes };
        assert!(!mark.is_reached(held(299), 100, false));
        assert!(mark.is_reached(held(300), 100, false));
        assert!(!mark.is_reached(held(199), 100, true));
        assert!(mark.is_reached(held(200), 100, true));
    }

    #[test]
    fn a_limit_in_time_is_what_the_link_sends_in_it() {
        let limit: Limit = "50 ms".parse().unwrap();
        assert_eq!(limit.to_string(), "50 ms");
        // 20 Mbit/s for 50 ms are 1 Mbit, 125,000 bytes, whatever the round trip.
        let resolved = limit.resolve(Rate::from_bps(20_000_000), Duration::from_millis(7));
        assert_eq!(resolved, QueueLimit { amount: 125_000, unit: QueueUnit::Bytes });
    }

    #[test]
    fn a_limit_by_habit_is_told_with_the_text_to_write() {
        for (text, meant) in [
            ("100", "100 packet"),
            ("100 pkts", "100 packet"),
            ("100p", "100 packet"),
            ("1 bdp", "1 BDP"),
            ("64 KB", "64 kB"),
            ("64k", "64 kB"),
            ("50 msec", "50 ms"),
            ("inf", "unlimited"),
        ] {
            let said = text.parse::<Limit>().unwrap_err().to_string();
            assert!(said.starts_with(&format!("`{text}`: write \"{meant}\" (")), "{said}");
        }
        assert!(
            "much".parse::<Limit>().unwrap_err().to_string().contains("is not a limit such as")
        );
    }

    #[test]
    fn a_limit_that_cannot_be_is_told_with_the_reason() {
        for (text, reason) in [
            ("1e18 packet", "packets are a whole number, in digits alone"),
            ("1.5 packets", "packets are a whole number, in digits alone"),
            ("99999999999999999999 packet", "it is too large"),
            ("-3 packet", "it must not be negative"),
            ("0 BDP", "expected a finite number above 0"),
            ("1e18 GB", "it is too large"),
            ("1e18 s", "it is too large"),
            ("-1 ms", "it must not be negative"),
        ] {
            let said = text.parse::<Limit>().unwrap_err().to_string();
            assert!(said.ends_with(&format!(" ({reason})")), "{said}");
        }
    }

    #[test]
    fn an_idle_link_takes_a_packet_larger_than_the_limit() {
        let none = QueueLimit { amount: 0, unit: QueueUnit::Packets };
        assert!(none.admits(held(0), 0, false, 1500));
        assert!(!none.admits(held(1), 100, false, 1500));
    }
}
