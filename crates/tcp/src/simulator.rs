//! The calls of an end point that only the simulator uses: segments written into their places, and memory to fetch in
//! time.

use ackclock_units::Instant;

use crate::endpoint::Endpoint;
pub use crate::endpoint::{ExtraOptions, SegmentSink, TransmitInfo};
pub use ackclock_laws::data::cache::Place;

/// The simulator's calls, which save copies and waits for memory.
pub trait Simulated {
    /// The next segment as [`poll_transmit`](Endpoint::poll_transmit) gives it, unless the segment before
    /// [was the last](TransmitInfo::is_last); the segment and what stands beside it are written into the places of `out`.
    fn poll_transmit_into(
        &mut self,
        now: Instant,
        out: &mut impl SegmentSink,
    ) -> Option<TransmitInfo>;

    /// The moment of [`poll_at`](Endpoint::poll_at), and [`Instant::NEVER`] if there is none.
    fn wakes_at(&self) -> Instant;

    /// The memory that the sender's own points to, and the part of that which only a law that models the path touches.
    fn each_outlying(&self, see: impl FnMut(Place));

    /// The memory that that points to.
    fn each_farther(&self, see: impl FnMut(Place));

    /// The memory that the receiver's own points to.
    fn each_outlying_of_receiver(&self, see: impl FnMut(Place));
}

impl Simulated for Endpoint {
    #[inline]
    fn poll_transmit_into(
        &mut self,
        now: Instant,
        out: &mut impl SegmentSink,
    ) -> Option<TransmitInfo> {
        self.transmit_into::<true>(now, out)
    }

    #[inline]
    fn wakes_at(&self) -> Instant {
        self.wake()
    }

    #[inline]
    fn each_outlying(&self, see: impl FnMut(Place)) {
        self.sender().each_outlying(see);
    }

    #[inline]
    fn each_farther(&self, see: impl FnMut(Place)) {
        self.sender().each_farther(see);
    }

    #[inline]
    fn each_outlying_of_receiver(&self, mut see: impl FnMut(Place)) {
        if let Some(place) = self.receiver().farthest() {
            see(place);
        }
    }
}
