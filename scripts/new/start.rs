//! Probe: TODO the document, and what it says, by section.

use ackclock_units::Bytes;

use super::contract::{Law, SlowStart};
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// Half of what an ACK acknowledges: the window grows by half of itself each round.
#[derive(Clone, Copy, Debug)]
pub struct Probe;

impl Described for Probe {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone("probe", (), "TODO one line of help")];
}

impl Law for Probe {
    fn make((): ()) -> Self {
        Self
    }
}

impl SlowStart for Probe {
    fn on_ack(&mut self, ack: &Ack, _: Bytes, _: Option<Bytes>) -> SlowStartStep {
        SlowStartStep::grow(ack.newly_acked / 2)
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Duration;

    use super::super::tests::Path;
    use super::*;

    #[test]
    fn probe_adds_half_of_the_window_each_round() {
        // TODO the new law's arithmetic. Ten segments of 1000 bytes, and half of each: 15,000 bytes.
        let mut path = Path::new(Probe, 10);
        path.round(Duration::from_millis(100));
        assert_eq!(path.cwnd, Bytes::new(15_000));
        assert_eq!(path.exit_at, None);
    }
}
