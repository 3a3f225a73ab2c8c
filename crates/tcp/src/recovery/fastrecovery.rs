//! Fast retransmit and fast recovery: RFC 5681 §3.2, which ends at the first ACK of new data.
//!
//! Of RFC 6582 it takes `recover` after a timeout alone (step 4), without which the duplicate ACKs
//! of resent segments start false fast retransmits.

use ackclock_laws::words::{Described, Word};
use ackclock_packet::Range;
use ackclock_units::{Bytes, Instant, Mss};

use super::contract::{
    About, AckSeen, DUP_THRESH, DuplicateAcks, Outcome, Recovery, Repairing, SendSpace,
    first_segment, within,
};
use crate::config::RecoveryConfig;

/// Fast retransmit and fast recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastRecovery {
    duplicates: DuplicateAcks,
    /// The window's inflation, while in recovery (§3.2 steps 3 and 4).
    inflation: Option<Bytes>,
    retransmit: Option<Range>,
    mss: Mss,
}

impl FastRecovery {
    /// Before anything is sent.
    pub fn new(config: RecoveryConfig) -> Self {
        Self { duplicates: DuplicateAcks::new(config), ..Self::default() }
    }
}

impl Described for FastRecovery {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::alone("fastrecovery", (), "fast retransmit and fast recovery (RFC 5681 §3.2)")];
}

impl Repairing for FastRecovery {
    fn about((): ()) -> About {
        About::PLAIN
    }

    fn make((): (), config: RecoveryConfig) -> Self {
        Self::new(config)
    }
}

impl Recovery for FastRecovery {
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        self.mss = ack.mss;
        if ack.duplicate {
            if let Some(inflation) = &mut self.inflation {
                *inflation += ack.mss.bytes();
                return Outcome::None;
            }
            if !self.duplicates.on_duplicate(send) {
                return Outcome::None;
            }
            self.inflation = Some(ack.mss.times(u64::from(DUP_THRESH)));
            self.retransmit = Some(first_segment(send, ack.mss));
            return Outcome::LossFound;
        }
        self.duplicates.on_new_data();
        if self.inflation.take().is_none() {
            return Outcome::None;
        }
        self.retransmit = None;
        Outcome::Repaired { at_most: None }
    }

    fn on_timeout(&mut self, _: Instant, send: &mut SendSpace) {
        self.duplicates.on_timeout(send);
        self.inflation = None;
        self.retransmit = None;
        send.nxt = send.una;
    }

    fn ends_with_new_data(&self) -> bool {
        true
    }

    fn in_recovery(&self) -> bool {
        self.inflation.is_some()
    }

    #[inline]
    fn allows(&self, cwnd: Bytes, len: Bytes, send: &SendSpace) -> bool {
        let beyond = self.inflation.unwrap_or_else(|| self.duplicates.beyond(self.mss));
        within(cwnd + beyond, len, send)
    }

    fn next_again(&mut self, _: Bytes) -> Option<Range> {
        self.retransmit.take()
    }
}
