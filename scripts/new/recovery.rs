//! Probe: TODO the document, and what it says, by section.

use ackclock_laws::words::{Described, Word};
use ackclock_packet::Range;
use ackclock_units::{Bytes, Instant};

use super::contract::{
    About, AckSeen, DuplicateAcks, Outcome, Recovery, Repairing, SendSpace, first_segment, within,
};
use crate::config::RecoveryConfig;

/// The first segment again after the third duplicate ACK; the next ACK of new data ends the repair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    duplicates: DuplicateAcks,
    repairing: bool,
    again: Option<Range>,
}

impl Described for Probe {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone("probe", (), "TODO one line of help")];
}

impl Repairing for Probe {
    fn about((): ()) -> About {
        About::PLAIN
    }

    fn make((): (), config: RecoveryConfig) -> Self {
        Self { duplicates: DuplicateAcks::new(config), ..Self::default() }
    }
}

impl Recovery for Probe {
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        if ack.duplicate {
            if self.repairing || !self.duplicates.on_duplicate(send) {
                return Outcome::None;
            }
            self.repairing = true;
            self.again = Some(first_segment(send, ack.mss));
            return Outcome::LossFound;
        }
        self.duplicates.on_new_data();
        if !self.repairing {
            return Outcome::None;
        }
        (self.repairing, self.again) = (false, None);
        Outcome::Repaired { at_most: None }
    }

    fn on_timeout(&mut self, _: Instant, send: &mut SendSpace) {
        self.duplicates.on_timeout(send);
        (self.repairing, self.again) = (false, None);
        send.nxt = send.una;
    }

    fn in_recovery(&self) -> bool {
        self.repairing
    }

    fn allows(&self, cwnd: Bytes, len: Bytes, send: &SendSpace) -> bool {
        within(cwnd, len, send)
    }

    fn next_again(&mut self, _: Bytes) -> Option<Range> {
        self.again.take()
    }
}

#[cfg(test)]
mod tests {
    use ackclock_packet::Seq;
    use ackclock_units::{Duration, Mss};

    use super::*;
    use crate::config::{Config, Profile};
    use crate::variant::Variant;

    #[test]
    fn probe_sends_the_first_segment_again_at_the_third_duplicate() {
        let parts = "newreno".parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap();
        let mut probe = Probe::make((), Config::new(parts, Profile::Rfc).recovery);
        // TODO the new recovery's arithmetic. Five segments of 1000 bytes are out, from number 1.
        let mut send = SendSpace { una: Seq::new(1), nxt: Seq::new(5001), max: Seq::new(5001) };
        let mut ack = |probe: &mut Probe, newly_acked: u64| {
            let seen = AckSeen {
                now: Instant::START,
                min_rtt: Duration::from_millis(20),
                srtt: None,
                duplicate: newly_acked == 0,
                newly_acked: Bytes::new(newly_acked),
                mss: Mss::new(1000).unwrap(),
                cwnd: Bytes::new(5000),
                echo: None,
                sack: &[],
            };
            send.una = send.una + seen.newly_acked;
            probe.on_ack(&seen, &mut send)
        };
        assert_eq!(
            [0; 3].map(|_| ack(&mut probe, 0)),
            [Outcome::None, Outcome::None, Outcome::LossFound]
        );
        let first = Range { start: Seq::new(1), end: Seq::new(1001) };
        assert_eq!([0; 2].map(|_| probe.next_again(Bytes::new(5000))), [Some(first), None]);
        assert_eq!(ack(&mut probe, 5000), Outcome::Repaired { at_most: None });
        assert!(!probe.in_recovery());
    }
}
