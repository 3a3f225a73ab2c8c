//! The cost of a lost SYN or SYN-ACK at the beginning of data.

use ackclock_units::Bytes;

use super::initial_window::LARGEST_INITIAL_WINDOW;
use crate::event::Handshake;
use crate::words::{Choice, Row, Slot, whole_number};

/// An answer to a lost SYN or SYN-ACK, as a name spells it. An end knows of a loss by its own timer,
/// and sends again: the server when the SYN-ACK was lost, the client when either was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynLossChoice {
    /// RFC 5681 §3.1: one segment. It does not speak of ssthresh.
    Rfc5681,
    /// RFC 6928 §2: one segment, unless it was sent again only once or the timeout was spurious.
    Rfc6928,
    /// ns-2's `FullTcp`: the window stays, ssthresh is two segments.
    Ns2,
    /// TSL (Tambuwal and Muhammed, IRJET 5(4), 2018): a window and a threshold, in segments.
    Tsl {
        /// The first window.
        window: u32,
        /// The slow-start threshold.
        ssthresh: u32,
    },
    /// TSL as its section 1 has it: for each loss both are halved, down to so many segments.
    TslHalf {
        /// The least window.
        window: u32,
        /// The least threshold.
        ssthresh: u32,
    },
}

/// The largest threshold of `tsl`: no window has more segments of 16 kB (RFC 7323 §2.3).
const LARGEST_THRESHOLD: u32 = 65_535;

impl Choice for SynLossChoice {
    const SLOT: Slot = Slot::SynLoss;

    const FORMS: &'static [(&'static str, &'static str)] = &[
        (
            "tsl(IW,SSTHRESH)",
            "after a lost SYN or SYN-ACK a window of IW and a threshold of SSTHRESH segments (TSL)",
        ),
        (
            "tsl(half,IW,SSTHRESH)",
            "both halved for each lost SYN or SYN-ACK, down to so many segments (TSL)",
        ),
    ];

    fn rows() -> &'static [Row<Self>] {
        const fn row(
            argument: &'static str,
            choice: SynLossChoice,
            help: &'static str,
        ) -> Row<SynLossChoice> {
            Row { word: "synloss", argument: Some(argument), choice, help }
        }
        const ROWS: &[Row<SynLossChoice>] = &[
            row(
                "rfc5681",
                SynLossChoice::Rfc5681,
                "a window of one segment after a lost SYN or SYN-ACK (RFC 5681 §3.1)",
            ),
            row(
                "rfc6928",
                SynLossChoice::Rfc6928,
                "the same, but only after two, and not after a spurious timeout (RFC 6928 §2, Linux)",
            ),
            row(
                "ns2",
                SynLossChoice::Ns2,
                "the whole window, and a threshold of two segments (ns-2's FullTcp)",
            ),
        ];
        ROWS
    }

    fn read(word: &str, argument: Option<&str>) -> Option<Self> {
        let argument = argument.filter(|_| word == "tsl")?;
        let (half, numbers) = match argument.strip_prefix("half,") {
            Some(rest) => (true, rest),
            None => (false, argument),
        };
        let (window, ssthresh) = numbers.split_once(',')?;
        let window = whole_number(window, 1, LARGEST_INITIAL_WINDOW)?;
        let ssthresh = whole_number(ssthresh, 2, LARGEST_THRESHOLD)?;
        Some(if half { Self::TslHalf { window, ssthresh } } else { Self::Tsl { window, ssthresh } })
    }

    fn expected(word: &str) -> Option<&'static str> {
        let expected = "`IW,SSTHRESH` or `half,IW,SSTHRESH` in segments, 1 to 1000 and 2 to 65535";
        (word == "tsl").then_some(expected)
    }

    fn spell(self) -> Option<String> {
        match self {
            Self::Rfc5681 | Self::Rfc6928 | Self::Ns2 => None,
            Self::Tsl { window, ssthresh } => Some(format!("tsl({window},{ssthresh})")),
            Self::TslHalf { window, ssthresh } => Some(format!("tsl(half,{window},{ssthresh})")),
        }
    }
}

impl SynLossChoice {
    /// The window and threshold with which data begins, if that would be `window` and no threshold
    /// without losses.
    pub fn after(self, window: Bytes, handshake: &Handshake) -> (Bytes, Option<Bytes>) {
        let mss = handshake.mss;
        let segments = |n: u32| mss.times(u64::from(n));
        let forgiven = handshake.forgiven.unwrap_or(match self {
            Self::Rfc6928 => 1,
            _ => 0,
        });
        let losses = handshake.retransmissions().saturating_sub(forgiven);
        if losses == 0 {
            return (window, None);
        }
        match self {
            Self::Rfc6928 if handshake.spurious => (window, None),
            Self::Rfc5681 | Self::Rfc6928 => (mss.bytes(), None),
            Self::Ns2 => (window, Some(segments(2))),
            Self::Tsl { window, ssthresh } => (segments(window), Some(segments(ssthresh))),
            Self::TslHalf { window: least, ssthresh: least_ssthresh } => {
                // RFC 5681 §3.1: a threshold that nothing has set is as good as the largest window that
                // the peer can advertise.
                let halved = |volume: Bytes, least: Bytes| {
                    let left = volume.get().checked_shr(losses).unwrap_or(0);
                    Bytes::new(left / mss.bytes().get() * mss.bytes().get()).max(least)
                };
                let ssthresh = halved(handshake.largest_rwnd, segments(least_ssthresh));
                // Never more than without losses.
                (halved(window, segments(least).min(window)), Some(ssthresh))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Mss;

    use super::*;

    fn handshake(syns: u32, syn_acks: u32) -> Handshake {
        Handshake {
            syn_retransmissions: syns,
            syn_ack_retransmissions: syn_acks,
            largest_rwnd: Bytes::new(65_535 << 4),
            ..Handshake::clean(Mss::new(1000).unwrap())
        }
    }

    fn after(choice: SynLossChoice, handshake: &Handshake) -> (u64, Option<u64>) {
        let (window, ssthresh) = choice.after(Bytes::new(3000), handshake);
        (window.get(), ssthresh.map(Bytes::get))
    }

    #[test]
    fn each_rule_answers_one_loss_and_two() {
        use SynLossChoice::*;
        for (choice, one, two) in [
            // RFC 5681 §3.1: "the initial window … MUST be 1 segment".
            (Rfc5681, (1000, None), (1000, None)),
            // RFC 6928 §2: not "unless there was more than one SYN/SYN-ACK retransmission".
            (Rfc6928, (3000, None), (1000, None)),
            // ns-2.35: the configured window, and half of a window of one, at least two.
            (Ns2, (3000, Some(2000)), (3000, Some(2000))),
            (Tsl { window: 1, ssthresh: 2 }, (1000, Some(2000)), (1000, Some(2000))),
            (Tsl { window: 3, ssthresh: 16 }, (3000, Some(16_000)), (3000, Some(16_000))),
        ] {
            assert_eq!(after(choice, &handshake(0, 0)), (3000, None), "{choice:?}");
            for (loss, losses) in [((1, 0), (2, 0)), ((0, 1), (0, 2)), ((0, 1), (1, 1))] {
                assert_eq!(after(choice, &handshake(loss.0, loss.1)), one, "{choice:?}");
                assert_eq!(after(choice, &handshake(losses.0, losses.1)), two, "{choice:?}");
            }
        }
    }

    #[test]
    fn halving_halves_for_each_loss_down_to_the_least() {
        // Windows of 3000/2 = 1500 and 750 bytes are one whole segment and none. 65,535·2^4 =
        // 1,048,560 bytes; half is 524 segments, a quarter 262, and after 15 losses 31.998 bytes.
        let low = SynLossChoice::TslHalf { window: 1, ssthresh: 2 };
        assert_eq!(after(low, &handshake(0, 1)), (1000, Some(524_000)));
        assert_eq!(after(low, &handshake(0, 2)), (1000, Some(262_000)));
        assert_eq!(after(low, &handshake(0, 15)), (1000, Some(2000)));
        assert_eq!(after(low, &handshake(200, 200)), (1000, Some(2000)));
        let high = SynLossChoice::TslHalf { window: 2, ssthresh: 300 };
        assert_eq!(after(high, &handshake(0, 1)), (2000, Some(524_000)));
        assert_eq!(after(high, &handshake(0, 2)), (2000, Some(300_000)));
        // The least window is no reason to begin with more than without a loss.
        let wide = SynLossChoice::TslHalf { window: 10, ssthresh: 2 };
        assert_eq!(after(wide, &handshake(0, 1)), (3000, Some(524_000)));
    }

    #[test]
    fn what_is_forgiven_does_not_count() {
        let one = Handshake { forgiven: Some(1), ..handshake(0, 1) };
        assert_eq!(after(SynLossChoice::Rfc5681, &one), (3000, None));
        assert_eq!(after(SynLossChoice::Tsl { window: 1, ssthresh: 2 }, &one), (3000, None));
        let none = Handshake { forgiven: Some(0), ..handshake(0, 1) };
        assert_eq!(after(SynLossChoice::Rfc6928, &none), (1000, None));
    }

    #[test]
    fn a_timeout_that_timestamps_show_to_be_spurious_costs_nothing_under_rfc_6928() {
        let late = Handshake { spurious: true, ..handshake(0, 2) };
        assert_eq!(after(SynLossChoice::Rfc6928, &late), (3000, None));
        assert_eq!(after(SynLossChoice::Rfc5681, &late), (1000, None));
    }
}
