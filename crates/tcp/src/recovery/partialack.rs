//! NewReno: RFC 6582 §3.2, with the "impatient" timer of step 3 (restarted by the first partial ACK
//! alone) and the first of the two windows that step 3 allows after a full ACK.

use ackclock_laws::words::{Described, Word};
use ackclock_packet::Range;
use ackclock_units::{Bytes, Instant, Mss};

use super::contract::{
    About, AckSeen, DUP_THRESH, DuplicateAcks, Outcome, Recovery, Repairing, SendSpace,
    first_segment, within,
};
use crate::config::RecoveryConfig;

/// One episode of repair.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// The bytes that duplicate ACKs added to the window.
    inflated: Bytes,
    /// The bytes that partial ACKs took from it.
    deflated: Bytes,
    partial_acks: u32,
}

/// Fast recovery that stays until everything sent before the loss is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartialAck {
    duplicates: DuplicateAcks,
    episode: Option<Episode>,
    retransmit: Option<Range>,
    mss: Mss,
}

impl PartialAck {
    /// Before anything is sent.
    pub fn new(config: RecoveryConfig) -> Self {
        Self { duplicates: DuplicateAcks::new(config), ..Self::default() }
    }
}

impl Described for PartialAck {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "partialack",
        (),
        "fast recovery that stays until all is repaired (RFC 6582)",
    )];
}

impl Repairing for PartialAck {
    fn about((): ()) -> About {
        About::PLAIN
    }

    fn make((): (), config: RecoveryConfig) -> Self {
        Self::new(config)
    }
}

impl Recovery for PartialAck {
    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        self.mss = ack.mss;
        if ack.duplicate {
            if let Some(episode) = &mut self.episode {
                episode.inflated += ack.mss.bytes();
                return Outcome::None;
            }
            if !self.duplicates.on_duplicate(send) {
                return Outcome::None;
            }
            self.duplicates.begin_episode(send);
            self.episode = Some(Episode {
                inflated: ack.mss.times(u64::from(DUP_THRESH)),
                deflated: Bytes::ZERO,
                partial_acks: 0,
            });
            self.retransmit = Some(first_segment(send, ack.mss));
            return Outcome::LossFound;
        }
        self.duplicates.on_new_data();
        let Some(episode) = &mut self.episode else { return Outcome::None };
        if send.una >= self.duplicates.recover {
            self.episode = None;
            self.retransmit = None;
            // Step 3, full acknowledgments, option 1.
            let flight = send.in_flight().max(ack.mss.bytes());
            return Outcome::Repaired { at_most: Some(flight + ack.mss.bytes()) };
        }
        // Step 3, partial acknowledgments: take off what was acknowledged; if that was a segment or
        // more, add one back.
        episode.deflated += ack.newly_acked;
        if ack.newly_acked >= ack.mss.bytes() {
            episode.inflated += ack.mss.bytes();
        }
        episode.partial_acks += 1;
        self.retransmit = Some(first_segment(send, ack.mss));
        Outcome::PartlyRepaired { restart_timer: episode.partial_acks == 1 }
    }

    fn on_timeout(&mut self, _: Instant, send: &mut SendSpace) {
        self.duplicates.on_timeout(send);
        self.episode = None;
        self.retransmit = None;
        send.nxt = send.una;
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        self.episode.is_some()
    }

    #[inline]
    fn allows(&self, cwnd: Bytes, len: Bytes, send: &SendSpace) -> bool {
        let window = match &self.episode {
            None => cwnd + self.duplicates.beyond(self.mss),
            Some(episode) => (cwnd + episode.inflated).saturating_sub(episode.deflated),
        };
        within(window, len, send)
    }

    fn next_again(&mut self, _: Bytes) -> Option<Range> {
        self.retransmit.take()
    }
}
