//! Routers in front of links; Quick-Start: who asks, and the rows that it leaves.

use ackclock_net::{FeedbackRouter, QuickStartRouter};
use ackclock_packet::QuickStartRate;
use ackclock_tcp::Endpoint;
use ackclock_units::Rate;
use ackclock_units::random::Stream;

use super::{Engine, index};
use crate::network::Decided;
use crate::records::{QuickStartRow, QuickStartWhat};
use crate::scenario::{QuickStartSpec, RcpSpec, Scenario, XcpSpec};
use crate::topology::Layout;

/// The routers of `layout`: the wire behind each, and whether it has decisions to tell.
pub(super) fn routers(
    scenario: &Scenario,
    layout: &Layout,
) -> Vec<(usize, QuickStartRouter, bool)> {
    let wires = layout.wires.iter().enumerate();
    wires
        .filter_map(|(n, wire)| {
            let spec = wire.quick_start.as_ref()?;
            let name = format!("router {} {}", wire.name, wire.direction.as_str());
            let random = Stream::new(scenario.seed, &name);
            let router = QuickStartRouter::new(spec.config(wire.config.rate), random);
            Some((n, router, matches!(**spec, QuickStartSpec::Admission(_))))
        })
        .collect()
}

/// The routers of `layout` that rule senders, by the wire behind each.
pub(super) fn feedback(layout: &Layout) -> Vec<(usize, FeedbackRouter)> {
    let wires = layout.wires.iter().enumerate();
    wires
        .filter_map(|(n, wire)| {
            let (rcp, xcp) = &**wire.feedback.as_ref()?;
            let (rcp, xcp) = (rcp.as_ref().map(RcpSpec::config), xcp.as_ref().map(XcpSpec::config));
            Some((n, FeedbackRouter::new(rcp, xcp, wire.config.rate)))
        })
        .collect()
}

fn bps(rate: QuickStartRate) -> u64 {
    rate.rate().map_or(0, Rate::as_bps)
}

impl Engine<'_> {
    /// A router has decided.
    pub(super) fn note_decision(&mut self, decided: &Decided) {
        let first = self.first_passing();
        let (flow, connection) = match decided.flow.checked_sub(first) {
            Some(slot) if self.traffic.slots.len() > slot as usize => self.traffic.owner(slot),
            _ => (decided.flow, 0),
        };
        let decision = decided.decision;
        let step = if decision.approved == QuickStartRate::NONE {
            QuickStartWhat::RouterDenied
        } else if decision.approved < decision.asked {
            QuickStartWhat::RouterLowered
        } else if decision.approved > decision.asked {
            QuickStartWhat::RouterRaised
        } else {
            QuickStartWhat::RouterApproved
        };
        self.run.quick_start.push(QuickStartRow {
            time_ns: decided.at.as_nanos(),
            flow,
            connection,
            link: Some(decided.wire),
            step,
            asked_bps: bps(decision.asked),
            approved_bps: bps(decision.approved),
            measured_bps: Some(decision.measured.as_bps()),
            reserved_bps: Some(decision.reserved.as_bps()),
        });
    }

    /// The rows of an end's own requests.
    pub(super) fn note_requests(&mut self, flow: u32, connection: u32, host: usize) {
        let endpoint: &Endpoint = &self.hosts[host].endpoint;
        self.run.quick_start.extend(endpoint.quick_start_log().iter().map(|event| QuickStartRow {
            time_ns: event.at.as_nanos(),
            flow,
            connection,
            link: None,
            step: QuickStartWhat::Sender(event.step),
            asked_bps: bps(event.asked),
            approved_bps: bps(event.approved),
            measured_bps: None,
            reserved_bps: None,
        }));
    }

    /// The rows of the flows' requests, and all rows in the order of time.
    pub(super) fn finish_requests(&mut self) {
        for host in 0..self.lasting {
            self.note_requests(index(host / 2), 0, host);
        }
        self.run.quick_start.sort_by_key(|row| row.time_ns);
    }
}
