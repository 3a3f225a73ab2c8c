//! The links of a run, whichever engine moves their packets.

use ackclock_net::{AccessLine, Counters, DelayHistogram, Header, Packet, SourceCounters};
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

/// The links and paths of a run, to be set up and used by hosts and sources.
pub trait Network: Links {
    /// Adds a cross-traffic source to a link; returns its number there.
    fn add_source(&mut self, wire: usize) -> u16;
    /// Tells the queue of a link of the header that the packets of `class` have there.
    fn describe(&mut self, wire: usize, class: u32, header: Header);
    /// A cross-traffic packet comes to a link.
    fn offer_cross(&mut self, now: Instant, wire: u32, packet: Packet);
    /// Packets of each of `flows` flows are counted at these links.
    fn count_crossings(&mut self, wires: &[usize], flows: usize);
    /// Each arrival at these links is told.
    fn watch(&mut self, wires: &[usize]);
    /// Adds the four private lines of a connection, which [`reset_lines`](crate::traffic::Class::reset_lines) sets up;
    /// returns the number of the first.
    fn add_lines(&mut self) -> u32;
    /// The four private lines that begin with this one.
    fn lines_from(&mut self, first: u32) -> &mut [AccessLine; 4];
    /// Adds the two paths of a connection over these wires, from its client to the server, which is the next host, and
    /// back, between private lines if there are any; returns where each begins.
    fn add_paths(&mut self, wires: &[Vec<usize>; 2], lines: Option<u32>, client: u32) -> [u32; 2];
    /// True if packets of a dynamic connection with this flow number are in the network.
    fn carries(&self, flow: u32) -> bool;
}
