//! Reading what links have counted, whichever engine moves their packets.

use ackclock_net::{Counters, DelayHistogram, SourceCounters};
use ackclock_units::Instant;

/// The links of a run, to be read by measures, probes and observers.
pub trait Links {
    /// The number of links, each direction by itself.
    fn count(&self) -> usize;
    /// The counts of a link by `now`.
    fn counters(&mut self, wire: usize, now: Instant) -> Counters;
    /// The delays in the queue of a link by `now`.
    fn delays(&mut self, wire: usize, now: Instant) -> DelayHistogram;
    /// The counts of the cross-traffic sources of a link, as of the last call of [`counters`](Self::counters).
    fn sources(&self, wire: usize) -> &[SourceCounters];
    /// Packets offered and dropped, by flow; empty of a link where they are not counted.
    fn crossings(&self, wire: usize) -> &[[u64; 2]];
}
