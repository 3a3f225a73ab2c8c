//! The headers that packets of each class have at each link, as far as disciplines read them.

use ackclock_net::{Dscp, Header};

use crate::layout::changes::path_changes;
use crate::layout::topology::{Layout, flow_entries, flow_names};
use crate::scenario::{Scenario, Topology};

/// The hosts of a scenario: nodes of a graph, or otherwise two for each entry of the file.
struct Hosts<'s> {
    nodes: Option<Vec<&'s str>>,
}

impl<'s> Hosts<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        let Topology::Graph { links } = &scenario.topology else { return Self { nodes: None } };
        let mut nodes: Vec<&str> =
            links.iter().flat_map(|link| [link.from.as_str(), link.to.as_str()]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self { nodes: Some(nodes) }
    }

    /// The hosts of entry number `entry`, counted over flows, cross-traffic and traffic classes.
    fn of(&self, entry: usize, ends: [Option<&String>; 2]) -> [u32; 2] {
        let place = |end: usize| {
            let named = self
                .nodes
                .as_ref()
                .zip(ends[end])
                .and_then(|(nodes, name)| nodes.binary_search(&name.as_str()).ok());
            let nodes = self.nodes.as_ref().map_or(0, Vec::len);
            u32::try_from(named.unwrap_or(nodes + 2 * entry + end)).unwrap_or(u32::MAX)
        };
        [place(0), place(1)]
    }
}

/// Tells the header of one class at each link of its ways there and back.
fn tell_ways(
    layout: &Layout,
    ways: &[Vec<usize>; 2],
    (dscp, hosts): (Option<Dscp>, [u32; 2]),
    tell: &mut impl FnMut(usize, Header),
) {
    let [from, to] = hosts;
    for (way, hosts) in ways.iter().zip([[from, to], [to, from]]) {
        let mut dscp = dscp.unwrap_or_default();
        for wire in way {
            tell(*wire, Header { dscp, hosts });
            if layout.wires[*wire].config.discipline.washes() {
                dscp = Dscp::default();
            }
        }
    }
}

/// Tells the headers of flows and of cross-traffic: wire, class, header. Class numbers are those of flows, `count` spelled
/// out, then those of sources.
pub fn tell_headers(
    scenario: &Scenario,
    layout: &Layout,
    mut tell: impl FnMut(usize, u32, Header),
) {
    let hosts = Hosts::new(scenario);
    let entries = flow_entries(scenario);
    let names = flow_names(scenario, &entries);
    let class = |n: usize| u32::try_from(n).expect("fewer than 2^32 classes");
    let of_flow = |n: usize| {
        let flow = &scenario.flows[entries[n]];
        (flow.dscp, hosts.of(entries[n], [flow.from.as_ref(), flow.to.as_ref()]))
    };
    // Ways that flows take later first, so that those of the start win where the two disagree.
    for change in path_changes(scenario, &entries, &names, layout) {
        for (flow, ways) in &change.routes {
            let mut tell = |wire, header| tell(wire, class(*flow), header);
            tell_ways(layout, ways, of_flow(*flow), &mut tell);
        }
    }
    for (n, ways) in layout.paths.iter().enumerate() {
        tell_ways(layout, ways, of_flow(n), &mut |wire, header| tell(wire, class(n), header));
    }
    for (n, source) in scenario.cross_traffic.iter().enumerate() {
        let hosts = hosts.of(scenario.flows.len() + n, [None, None]);
        let header = Header { dscp: source.dscp.unwrap_or_default(), hosts };
        if let Some(wire) = layout.wire(&source.link, source.direction) {
            tell(wire, class(entries.len() + n), header);
        }
    }
}

/// The headers of connections of traffic class number `n`, by wire.
pub fn class_headers(scenario: &Scenario, layout: &Layout, n: usize) -> Vec<(usize, Header)> {
    let class = &scenario.traffic[n];
    let entry = scenario.flows.len() + scenario.cross_traffic.len() + n;
    let hosts = Hosts::new(scenario).of(entry, [class.from.as_ref(), class.to.as_ref()]);
    let mut told = Vec::new();
    let mut tell = |wire, header| told.push((wire, header));
    tell_ways(layout, &layout.class_paths[n], (class.dscp, hosts), &mut tell);
    told
}
