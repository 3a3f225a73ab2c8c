//! Quick-Start: the rows of requests and of routers' decisions.

use ackclock_tcp::Endpoint;

use super::{Engine, index};
use crate::fast::network::Decided;
use crate::records::QuickStartRow;

impl Engine<'_> {
    /// A router has decided.
    pub(super) fn note_decision(&mut self, decided: &Decided) {
        let first = self.first_passing();
        let (flow, connection) = match decided.flow.checked_sub(first) {
            Some(slot) if self.traffic.slots.len() > slot as usize => self.traffic.owner(slot),
            _ => (decided.flow, 0),
        };
        let (at, wire) = (decided.at, decided.wire);
        let row = QuickStartRow::of_router(at, (flow, connection), wire, &decided.decision);
        self.run.quick_start.push(row);
    }

    /// The rows of an end's own requests.
    pub(super) fn note_requests(&mut self, flow: u32, connection: u32, host: usize) {
        let endpoint: &Endpoint = &self.hosts[host].endpoint;
        let log = endpoint.quick_start_log().iter();
        let row = |event| QuickStartRow::of_end((flow, connection), event);
        self.run.quick_start.extend(log.map(row));
    }

    /// The rows of the flows' requests, and all rows in the order of time.
    pub(super) fn finish_requests(&mut self) {
        for host in 0..self.lasting {
            self.note_requests(index(host / 2), 0, host);
        }
        self.run.quick_start.sort_by_key(|row| row.time_ns);
    }
}
