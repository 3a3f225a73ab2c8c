//! Differences between our end point and the kernel that are meant, each with its reason.

use ackclock_script::duel::Case;
use ackclock_script::{Difference, TimedPacket};
use ackclock_units::{Duration, Instant};
use serde::Deserialize;

/// The list.
const LIST: &str = include_str!("meant.toml");

/// An entry of the list of differences that are meant.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meant {
    #[serde(default)]
    meant: Vec<Rule>,
}

/// Which differences are meant. A pattern that is left out fits everything; `*` stands for any text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// A state of the grid, or `random`.
    state: Option<String>,
    /// A segment of the grid.
    segment: Option<String>,
    /// The fields that differ, as a difference tells them.
    differs: Option<String>,
    /// Our end point's packet in packetdrill's notation, without its time; or `nothing`.
    sim: Option<String>,
    /// The kernel's.
    live: Option<String>,
    /// By how many milliseconds the kernel's packet is the earlier one, at most.
    live_earlier_ms: Option<u64>,
    /// By how many it is the later one, at most.
    live_later_ms: Option<u64>,
    /// Why.
    reason: String,
}

impl Meant {
    /// Reads the list.
    pub(super) fn read() -> Result<Self, String> {
        toml::from_str(LIST).map_err(|error| format!("meant.toml: {error}"))
    }

    /// Why `difference` is meant, if it is.
    pub(super) fn reason(&self, case: &Case, difference: &Difference) -> Option<&str> {
        let shown = |answer: &Option<TimedPacket>| {
            answer.as_ref().map_or("nothing".to_owned(), |answer| answer.packet.to_string())
        };
        let (sim, live) = (shown(&difference.one), shown(&difference.other));
        let differs = difference.fields.join(", ");
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| fits(pattern, text))
        };
        // Of packets that are not both there, none is earlier.
        let at = |answer: &Option<TimedPacket>| answer.as_ref().map(|answer| answer.at);
        let (sim_at, live_at) = (at(&difference.one), at(&difference.other));
        let before = |first: Option<Instant>, last: Option<Instant>, most: Option<u64>| {
            most.is_none_or(|ms| match (first, last) {
                (Some(first), Some(last)) if first < last => {
                    last.since(first) <= Duration::from_millis(ms)
                }
                _ => false,
            })
        };
        self.meant
            .iter()
            .find(|rule| {
                fits(&rule.state, &case.state)
                    && fits(&rule.segment, &case.segment)
                    && fits(&rule.differs, &differs)
                    && fits(&rule.sim, &sim)
                    && fits(&rule.live, &live)
                    && before(live_at, sim_at, rule.live_earlier_ms)
                    && before(sim_at, live_at, rule.live_later_ms)
            })
            .map(|rule| rule.reason.as_str())
    }
}

/// True if `text` matches `pattern`, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, rest)) => {
            let Some(text) = text.strip_prefix(before) else { return false };
            let mut places = (0..=text.len()).filter(|n| text.is_char_boundary(*n));
            places.any(|n| fits(rest, &text[n..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_every_rule_has_a_reason() {
        for rule in Meant::read().unwrap().meant {
            assert!(rule.reason.len() > 20, "{rule:?}");
        }
    }

    #[test]
    fn stars_stand_for_any_text() {
        assert!(fits("> R*", "> R 0:0(0)"));
        assert!(fits("*ack 1*", "> . 1:1(0) ack 1 win 3"));
        assert!(fits("nothing", "nothing"));
        assert!(!fits("> R*", "nothing"));
        assert!(!fits("> R", "> R 0"));
    }
}
