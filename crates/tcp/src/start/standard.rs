//! Standard slow start: RFC 5681 §3.1 equation 2.

use ackclock_units::Bytes;

use super::contract::SlowStart;
use crate::event::{Ack, SlowStartStep};

/// cwnd += min(N, SMSS) for an ACK of N new bytes.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl SlowStart for Standard {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: Bytes, _: Option<Bytes>) -> SlowStartStep {
        SlowStartStep::grow(ack.newly_acked.min(ack.mss.bytes()))
    }
}
