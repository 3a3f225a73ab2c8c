//! The parts of a sender's name that a law in the kernel takes beside its growth, as `bpf/idle.h` reads them.

use ackclock_laws::idle::IdleChoice;
use ackclock_laws::start::{SynLossChoice, WindowChoice};
use ackclock_laws::words::Choice as _;
use ackclock_units::{Duration, Mss};

/// The first window, in segments, of Linux.
const FIRST_WINDOW: u32 = 10;

/// `struct parts` of `bpf/idle.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// 0 if silence costs nothing, 1 to 3 for RFC 2861 by its three timeouts, 4 for RFC 7661.
    pub idle: u32,
    /// RFC 2861's timeout, if the name gives one.
    pub rto_us: u32,
    /// 0 if the answer to a lost SYN is the kernel's, 1 for a window and a threshold, 2 if each loss halves both.
    pub syn: u32,
    /// The first window.
    pub initial: u32,
    /// The window after a lost SYN; 0 for the first one.
    pub syn_window: u32,
    /// The threshold after it; 0 for none.
    pub syn_ssthresh: u32,
}

impl Default for Parts {
    fn default() -> Self {
        Self { idle: 0, rto_us: 0, syn: 0, initial: FIRST_WINDOW, syn_window: 0, syn_ssthresh: 0 }
    }
}

impl Parts {
    /// The settings of the words behind a law's in a name; `None` if one of them is no part that a law takes.
    pub(crate) fn read<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut parts = Self::default();
        for word in words {
            if let Some(window) = WindowChoice::parse(word) {
                // In whole segments, whatever these are.
                let mss = Mss::default();
                let segments = window.window(mss).whole_segments(mss);
                parts.initial = u32::try_from(segments).ok()?;
            } else if IdleChoice::parse(word).is_some() {
                (parts.idle, parts.rto_us) = match word {
                    "cwv" | "cwv(rto=clamped)" => (1, 0),
                    "cwv(rto=unclamped)" => (2, 0),
                    "newcwv" => (4, 0),
                    other => {
                        let rto = other.strip_prefix("cwv(rto=")?.strip_suffix(')')?;
                        let rto = rto.parse::<Duration>().ok()?;
                        let us = u32::try_from(rto.as_nanos() / 1000).ok();
                        (3, us.filter(|us| *us > 0)?)
                    }
                };
            } else {
                let settings = match SynLossChoice::parse(word)? {
                    SynLossChoice::Rfc6928 => (0, 0, 0),
                    SynLossChoice::Rfc5681 => (1, 1, 0),
                    SynLossChoice::Ns2 => (1, 0, 2),
                    SynLossChoice::Tsl { window, ssthresh } => (1, window, ssthresh),
                    SynLossChoice::TslHalf { window, ssthresh } => (2, window, ssthresh),
                };
                (parts.syn, parts.syn_window, parts.syn_ssthresh) = settings;
            }
        }
        Some(parts)
    }

    /// The settings in the order of the structure.
    pub const fn words(self) -> [u32; 6] {
        [self.idle, self.rto_us, self.syn, self.initial, self.syn_window, self.syn_ssthresh]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Option<[u32; 6]> {
        Parts::read(words.split('+')).map(Parts::words)
    }

    #[test]
    fn the_words_of_a_name_become_settings() {
        assert_eq!(read("cwv"), Some([1, 0, 0, 10, 0, 0]));
        assert_eq!(read("iw3+cwv(rto=500ms)"), Some([3, 500_000, 0, 3, 0, 0]));
        assert_eq!(read("newcwv+tsl(3,16)"), Some([4, 0, 1, 10, 3, 16]));
        assert_eq!(read("tsl(half,2,64)+iw4"), Some([0, 0, 2, 4, 2, 64]));
        assert_eq!(read("synloss(rfc5681)"), Some([0, 0, 1, 10, 1, 0]));
        assert_eq!(read("prr"), None);
        assert_eq!(read("noidle"), None);
    }
}
