//! The order of simultaneous events: `docs/decisions/0002-order-of-simultaneous-events.md`.

/// Classes of events, in the order in which events of one instant are handled. The order is part of
/// the results, because it decides drops: a departure makes room before an arrival needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A packet leaves a link whose departures are events.
    Departure,
    /// The path changes.
    Change,
    /// A packet arrives at the end of a link.
    Arrival,
    /// A timer of an end point or its application is due.
    Timer,
    /// A connection of a traffic class opens.
    Opening,
    /// A cross-traffic source sends.
    Cross,
    /// A measured window begins or ends.
    Measure,
    /// A probe records.
    Probe,
}
