//! The reports to a law that hears every ACK.

use ackclock_laws::event::{Acked, CaState, Stamps};
use ackclock_units::Bytes;

use super::Recorded;
use crate::data::clock::timestamp_clock;
use crate::recovery::Recovery;
use crate::sender::allowance::{Allowance, Taken, View};
use crate::sender::arrived::Arrived;

impl Allowance {
    /// True if the law hears every ACK.
    #[inline]
    pub(in crate::sender) const fn hears_acks(&self) -> bool {
        self.hearing.is_some()
    }

    /// The next ACK is one of a recorded trace.
    pub(in crate::sender) fn record(&mut self, recorded: Recorded) {
        if let Some(hearing) = &mut self.hearing {
            hearing.recorded = Some(recorded);
        }
    }

    /// Tells the law of an ACK that was taken in.
    #[cold]
    pub(in crate::sender) fn tell_of_ack(
        &mut self,
        view: View<'_>,
        taken: &Taken,
        arrived: &Arrived<'_>,
    ) {
        let Some(hearing) = &mut self.hearing else { return };
        let flight = view.flight;
        let (una, nxt) = (flight.una(), flight.max());
        let newly_delivered = flight.recovery().newly_delivered().unwrap_or(taken.newly_acked);
        let since = hearing.on_delivered(una, nxt, newly_delivered);
        let found = Recorded {
            delivered_since_sent: (taken.newly_acked > Bytes::ZERO).then_some(since),
            stamps: arrived.echo.map(|echo| {
                let now = timestamp_clock(view.now);
                let value = arrived.stamp.wrapping_add(hearing.peer_offset);
                Stamps { value, echo, now }
            }),
            drawn: None,
        };
        let Recorded { delivered_since_sent, stamps, drawn } =
            hearing.recorded.take().unwrap_or(found);
        let state = if self.states.are_linux() {
            self.states.state()
        } else if flight.recovery().in_recovery() {
            CaState::Recovery
        } else if flight.consecutive_timeouts() > 0 {
            CaState::Loss
        } else {
            CaState::Open
        };
        self.growth.on_acked(&Acked {
            now: view.now,
            newly_acked: taken.newly_acked,
            newly_delivered,
            una,
            nxt,
            rtt: taken.rtt,
            delivered_since_sent,
            sacked: flight.tally(view.mss()).sacked > 0,
            echoed: self.marks.has_echoed(),
            state,
            stamps,
            drawn,
            mss: view.mss(),
        });
    }
}
