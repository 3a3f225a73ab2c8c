//! The set-up of the fast engine: elided and shared links, and the clock.

use crate::fast::elision::{Elsewhere, elided};
use crate::fast::lookahead::{Lookahead, lookahead};
use crate::fast::network::clock_for;
use crate::fast::wheel::Wheel;
use crate::layout::topology::Layout;
use crate::measures::probe::Probes;
use crate::scenario::{CrossTraffic, Scenario};
use crate::traffic::likely_line_rtt;

/// Returns for each link whether it takes packets ahead of time, empty if none may; and how hosts and links are
/// advanced in windows, `None` if they are not.
pub(super) fn find_elided(
    scenario: &Scenario,
    layout: &Layout,
    probes: &Probes,
) -> (Vec<bool>, Option<Lookahead>) {
    // What a change of the path would do to packets ahead of the clock nobody could tell.
    if !scenario.events.is_empty() {
        return (Vec::new(), None);
    }
    let counted = scenario.measures.iter().flat_map(|measure| &measure.crossings);
    let counted = counted.filter_map(|link| layout.link(link)).flat_map(|wire| [wire, wire + 1]);
    let elsewhere = Elsewhere {
        crossed: &crossed(scenario, layout),
        watched: &probes.wires_seen_on_change().chain(counted).collect::<Vec<_>>(),
        probed: &probes.flows_seen_on_change(),
    };
    let elided = elided(layout, &elsewhere);
    let lookahead = lookahead(scenario, layout, &elsewhere);
    (elided, lookahead)
}

/// Returns for each link whether it carries the packets of several flows.
pub(super) fn shared(layout: &Layout) -> Vec<bool> {
    let mut flows = vec![0_u32; layout.wires.len()];
    let dynamic = layout.class_paths.iter().flat_map(|paths| [paths, paths]);
    for wire in layout.paths.iter().chain(dynamic).flatten().flatten() {
        flows[*wire] += 1;
    }
    flows.iter().map(|flows| *flows > 1).collect()
}

/// The links that cross-traffic enters at.
fn crossed(scenario: &Scenario, layout: &Layout) -> Vec<usize> {
    let wire = |spec: &CrossTraffic| layout.wire(&spec.link, spec.direction);
    scenario.cross_traffic.iter().filter_map(wire).collect()
}

/// A clock for the links of `layout`.
pub(super) fn clock(scenario: &Scenario, layout: &Layout) -> Wheel {
    // A flow is no faster than the slowest link on its way; links that many flows share carry
    // their sum, up to their own rate.
    let mut carried = vec![0_u64; layout.wires.len()];
    let classes = layout.class_paths.iter().flatten();
    for there in layout.paths.iter().map(|[there, _]| there).chain(classes) {
        let slowest = there.iter().map(|w| layout.wires[*w].config.rate.as_bps()).min();
        for wire in there {
            carried[*wire] += slowest.unwrap_or(0);
        }
    }
    let busiest = layout
        .wires
        .iter()
        .zip(carried)
        .map(|(wire, carried)| carried.min(wire.config.rate.as_bps()))
        .max()
        .unwrap_or(1);
    // A delay and a full queue of a bandwidth-delay product: what a packet's arrival is ahead by.
    let classes = scenario.traffic.iter().enumerate();
    let longest = (0..layout.paths.len())
        .map(|flow| layout.base_rtt(flow))
        .chain(classes.map(|(n, spec)| layout.class_rtt(n) + likely_line_rtt(&spec.access)))
        .max();
    clock_for(busiest, longest.unwrap_or_default() * 2)
}
