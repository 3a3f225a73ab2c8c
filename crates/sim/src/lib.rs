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

pub mod checks;
mod entry;
mod error;
mod fast;
mod hosts;
mod layout;
mod measures;
pub mod records;
mod reference;
pub mod run;
pub mod scenario;
mod stepped;
#[cfg(test)]
mod tests;
mod traffic;

pub use checks::budget::{Budget, Estimate};
pub use entry::{
    Engine, simulate, simulate_into, simulate_metered, simulate_observed, simulate_visited,
};
pub use error::ScenarioError;
pub use hosts::objects::ObjectLog;
pub use hosts::visitors::{
    DATAGRAM_HEADERS, Datagram, Ends, FlowSetup, OwnTransport, QueueOf, Transport, TransportFailed,
    TransportState, Visitors,
};
pub use measures::meter::Meter;
pub use measures::observe::{
    Given, Names, Observer, Reason, Sending, Sent, SentDatagram, SentSegment, Transmission,
};
pub use records::acks::{AckCounts, Acks};
pub use records::{Collector, MOST_ROWS_HELD, Run};
pub use run::class::Class;
pub use scenario::Scenario;
pub use stepped::Stepped;
pub use traffic::utilisation::{LoadSearch, Steps};
