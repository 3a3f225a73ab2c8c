//! Go-back-N: after a loss, everything from the lost segment is sent again as the window opens.
//!
//! This is 4.3BSD Tahoe's repair after a timeout, used after the third duplicate ACK as well, which
//! is how Altman et al. (1997) §2 describe Tahoe ("a new cycle begins"). One fast retransmit a
//! window: until SND.UNA passes what was sent when the loss was found, duplicate ACKs are ignored.

use ackclock_laws::words::{Described, Word};
use ackclock_packet::Range;
use ackclock_units::{Bytes, Instant};

use super::contract::{
    About, AckSeen, DuplicateAcks, Outcome, Recovery, Repairing, SendSpace, within,
};
use crate::config::RecoveryConfig;

/// Resend everything from the lost segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct GoBackN {
    duplicates: DuplicateAcks,
}

impl Described for GoBackN {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::alone("gobackn", (), "resend everything from the lost segment")];
}

impl Repairing for GoBackN {
    fn about((): ()) -> About {
        About::PLAIN
    }

    fn make((): (), _: RecoveryConfig) -> Self {
        Self::default()
    }
}

impl Recovery for GoBackN {
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        if !ack.duplicate {
            self.duplicates.on_new_data();
            return Outcome::None;
        }
        if !self.duplicates.on_duplicate(send) {
            return Outcome::None;
        }
        self.duplicates.begin_episode(send);
        send.nxt = send.una;
        Outcome::LossFound
    }

    fn on_timeout(&mut self, _: Instant, send: &mut SendSpace) {
        self.duplicates.on_timeout(send);
        send.nxt = send.una;
    }

    fn in_recovery(&self) -> bool {
        false
    }

    fn allows(&self, cwnd: Bytes, len: Bytes, send: &SendSpace) -> bool {
        within(cwnd, len, send)
    }

    fn next_again(&mut self, _: Bytes) -> Option<Range> {
        None
    }
}
