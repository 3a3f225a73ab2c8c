//! Scenario to run to records.
//!
//! [`simulate`] is a pure function of (scenario, seed): the same bytes on any machine, on one
//! thread or many, in debug and release.
//!
//! ```
//! let scenario: ackclock_sim::Scenario = serde_json::from_str(r#"{
//!     "duration": "10 s",
//!     "topology": {
//!         "kind": "dumbbell",
//!         "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms"},
//!         "access": {"rate": "100 Mbit/s", "delay": "1 ms"}
//!     },
//!     "flow": [{"name": "bulk", "variant": "newreno"}]
//! }"#).unwrap();
//! let run = ackclock_sim::simulate(&scenario).unwrap();
//! assert!(run.flows[0].goodput_bps > 8e6);
//! ```

mod acks;
mod browsing;
pub mod budget;
mod changes;
mod check;
mod choice;
mod class;
mod cross;
mod entry;
mod error;
mod events;
mod fast;
mod headers;
mod host;
mod links;
mod measure;
mod meter;
mod objects;
mod observe;
mod outages;
pub mod paths;
pub mod plan;
mod probe;
pub mod records;
mod reference;
pub mod scenario;
mod setup;
mod state;
mod stepped;
#[cfg(test)]
mod tests;
mod topology;
mod traffic;
mod utilisation;
mod visitors;

pub use acks::{AckCounts, Acks};
pub use budget::{Budget, Estimate};
pub use class::Class;
pub use entry::{
    Engine, simulate, simulate_into, simulate_metered, simulate_observed, simulate_visited,
};
pub use error::ScenarioError;
pub use meter::Meter;
pub use objects::ObjectLog;
pub use observe::{
    Given, Names, Observer, Reason, Sending, Sent, SentDatagram, SentSegment, Transmission,
};
pub use records::{Collector, MOST_ROWS_HELD, Run};
pub use scenario::Scenario;
pub use stepped::Stepped;
pub use utilisation::{LoadSearch, Steps};
pub use visitors::{
    DATAGRAM_HEADERS, Datagram, Ends, FlowSetup, OwnTransport, QueueOf, Transport, TransportFailed,
    TransportState, Visitors,
};
