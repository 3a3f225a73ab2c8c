//! Standard slow start: RFC 5681 §3.1 equation 2.

use ackclock_units::Bytes;

use super::contract::{Law, SlowStart};
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// cwnd += min(N, SMSS) for an ACK of N new bytes.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl Described for Standard {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::alone("standard", (), "one segment per ACK (RFC 5681 §3.1)")];
}

impl Law for Standard {
    const COUNTS_ACKS: bool = true;

    fn make((): ()) -> Self {
        Self
    }
}

impl SlowStart for Standard {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: Bytes, _: Option<Bytes>) -> SlowStartStep {
        SlowStartStep::grow(ack.newly_acked.min(ack.mss.bytes()))
    }
}
