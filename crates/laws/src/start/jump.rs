//! Jumps past slow start: what a sender does to begin with more than its first window, in place of
//! doubling its way up.

use ackclock_packet::QuickStartRate;
use ackclock_units::{Duration, Rate};

use crate::words::{Choice, Row, Slot, whole_number};

/// A jump past slow start, as a name spells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JumpChoice {
    /// None.
    #[default]
    None,
    /// The routers are asked for a rate (RFC 4782).
    QuickStart(QuickStartJump),
    /// All that there is to send goes out in the first round trip (Jump Start).
    JumpStart,
    /// An earlier connection's knowledge of the path is used again (Careful Resume, RFC 9959).
    Resume(ResumeJump),
}

/// The path as an earlier connection knew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumeJump {
    /// `saved_cwnd`, in segments: what was under way in a round trip.
    pub saved_cwnd: u32,
    /// `saved_rtt`: the least round-trip time then.
    pub saved_rtt: Duration,
}

/// The largest saved window: 1.5 GB, more than a peer can advertise (RFC 7323 §2.3).
const LARGEST_SAVED: u32 = 1_000_000;

/// The use of Quick-Start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickStartJump {
    /// The rate to ask for.
    pub rate: QuickStartRate,
    /// True if the slow-start threshold becomes the approved window, so that congestion avoidance
    /// follows; otherwise it stays (RFC 4782 §4.4 leaves it open).
    pub ssthresh_approved: bool,
    /// True if slow start goes on after the jump as it would without one, where RFC 4782 §4.4 asks
    /// for a limited one (RFC 3742).
    pub unlimited: bool,
}

impl Choice for JumpChoice {
    const SLOT: Slot = Slot::Jump;

    const FORMS: &'static [(&'static str, &'static str)] = &[
        (
            "quickstart(RATE)",
            "asks the routers for that rate, 80kbps to 1310.72Mbps, rounded down to 40kbps * 2^N",
        ),
        (
            "quickstart(RATE,approved)",
            "the same, and the slow-start threshold becomes the approved window",
        ),
        (
            "quickstart(RATE,unlimited)",
            "the same without limited slow start afterwards; also `approved,unlimited`",
        ),
        (
            "resume(CWND,RTT)",
            "the same, of a saved window of CWND segments (2 to 1000000) and a saved round-trip time",
        ),
    ];

    fn rows() -> &'static [Row<Self>] {
        const RATE: QuickStartRate = QuickStartRate::EXAMPLE;
        const SAVED_RTT: Duration = Duration::from_millis(100);
        const ROWS: &[Row<JumpChoice>] = &[
            Row {
                word: "quickstart",
                argument: Some("5.12Mbps"),
                choice: JumpChoice::QuickStart(QuickStartJump {
                    rate: RATE,
                    ssthresh_approved: false,
                    unlimited: false,
                }),
                help: "asks the routers for a rate (RFC 4782); `approved` behind it sets ssthresh, too",
            },
            Row {
                word: "jumpstart",
                argument: None,
                choice: JumpChoice::JumpStart,
                help: "paces all that there is to send over the first round trip (Jump Start, Liu et al. 2007)",
            },
            Row {
                word: "resume",
                argument: Some("1000,100ms"),
                choice: JumpChoice::Resume(ResumeJump { saved_cwnd: 1000, saved_rtt: SAVED_RTT }),
                help: "jumps to half of the window that an earlier connection had (Careful Resume, RFC 9959)",
            },
        ];
        ROWS
    }

    fn read(word: &str, argument: Option<&str>) -> Option<Self> {
        match word {
            "quickstart" => {
                let (rate, ssthresh_approved, unlimited) = match argument?.split_once(',') {
                    None => (argument?, false, false),
                    Some((rate, "approved")) => (rate, true, false),
                    Some((rate, "unlimited")) => (rate, false, true),
                    Some((rate, "approved,unlimited")) => (rate, true, true),
                    Some(_) => return None,
                };
                let rate: Rate = rate.parse().ok()?;
                let rate = QuickStartRate::at_most(rate);
                let jump = QuickStartJump { rate, ssthresh_approved, unlimited };
                (rate > QuickStartRate::NONE).then_some(Self::QuickStart(jump))
            }
            "resume" => {
                let (cwnd, rtt) = argument?.split_once(',')?;
                // Half of it is a segment at least.
                let saved_cwnd = whole_number(cwnd, 2, LARGEST_SAVED)?;
                let saved_rtt: Duration = rtt.parse().ok()?;
                let jump = ResumeJump { saved_cwnd, saved_rtt };
                (saved_rtt > Duration::ZERO).then_some(Self::Resume(jump))
            }
            _ => None,
        }
    }

    fn expected(word: &str) -> Option<&'static str> {
        match word {
            "quickstart" => Some(
                "a rate from 80 kbit/s such as `5.12Mbps`, and behind it nothing, `approved`, `unlimited` \
                 or `approved,unlimited`",
            ),
            "resume" => Some(
                "the saved window in segments, 2 to 1000000, and the saved round-trip time, as in \
                 `1000,100ms`",
            ),
            _ => None,
        }
    }

    fn spell(self) -> Option<String> {
        match self {
            Self::None | Self::JumpStart => None,
            Self::Resume(ResumeJump { saved_cwnd, saved_rtt }) => {
                Some(format!("resume({saved_cwnd},{})", saved_rtt.to_string().replace(' ', "")))
            }
            Self::QuickStart(QuickStartJump { rate, ssthresh_approved, unlimited }) => {
                let rule = if ssthresh_approved { ",approved" } else { "" };
                let after = if unlimited { ",unlimited" } else { "" };
                Some(format!("quickstart({}{rule}{after})", spelled(rate)))
            }
        }
    }
}

/// A rate without a blank: `81.92Mbps`, `80kbps`.
fn spelled(rate: QuickStartRate) -> String {
    let bps = rate.rate().map_or(0, Rate::as_bps);
    if bps < 1_000_000 {
        return format!("{}kbps", bps / 1000);
    }
    let thousandths = bps / 1000;
    let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    format!("{}Mbps", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_is_read_as_it_is_spelled() {
        for code in 1..=15 {
            let rate = QuickStartRate::from_code(code).unwrap();
            assert_eq!(QuickStartRate::at_most(spelled(rate).parse().unwrap()), rate);
        }
        let spell = |code| spelled(QuickStartRate::from_code(code).unwrap());
        // 40 kbit/s times 2, 16, 32, 2048 and 32768.
        assert_eq!(
            [1, 4, 5, 11, 15].map(spell),
            ["80kbps", "640kbps", "1.28Mbps", "81.92Mbps", "1310.72Mbps"]
        );
    }
}
