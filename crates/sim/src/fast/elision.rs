//! Event elision: links that take a packet as soon as the link before them has sent it.
//!
//! A FIFO link knows when a packet will reach its end as soon as it takes the packet. If nothing else
//! leads to the link that comes next, that link too can be asked at once, with the time at which
//! the packet will come: no event is needed in between. On a dumbbell four events are left of six.
//!
//! Results stay the same to the last bit. Packets come to an elided link in the order in which they left the one
//! before, so that only the order of *simultaneous events* could change, and it matters only between hosts whose
//! packets meet again in a queue. Events of one instant go by class and then by the order in which they were put on the
//! clock. Without elision, an arrival at a host is put there when the packet comes to the last link; with it, when the
//! packet comes to the last queue where paths join. For two hosts whose packets go through one and the same link before
//! their last links (or share the last one) the two orders are that link's own: it sends one packet after another. So
//! links are elided only if that holds for all hosts that share a queue on the way out, and every path is: links at
//! hosts, perhaps one queue where such links join, and elided links.

use ackclock_units::Rate;

use crate::layout::topology::{Layout, Wire};

/// At more than this a packet of 40 bytes takes no whole nanosecond, and two could leave at once.
const FASTEST: Rate = Rate::from_bps(320_000_000_000);

/// Links and flows at which more happens than that packets pass.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere<'a> {
    /// Links that cross-traffic enters at.
    pub crossed: &'a [usize],
    /// Links of which a probe records every arrival.
    pub watched: &'a [usize],
    /// Flows of which a probe records every change.
    pub probed: &'a [usize],
}

/// The inputs of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    None,
    /// Hosts.
    Hosts,
    /// One link.
    Link(usize),
    /// Several links.
    Links,
    /// Links and hosts.
    Both,
}

impl Input {
    const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, any) | (any, Self::None) => any,
            (Self::Hosts, Self::Hosts) => Self::Hosts,
            (Self::Hosts | Self::Both, _) | (_, Self::Hosts | Self::Both) => Self::Both,
            (Self::Link(a), Self::Link(b)) if a == b => self,
            _ => Self::Links,
        }
    }
}

/// For each link whether it is elided with the one before it; empty if none may be.
pub fn elided(layout: &Layout, elsewhere: &Elsewhere<'_>) -> Vec<bool> {
    find(layout, elsewhere, |_| false).unwrap_or_default()
}

/// The same where links at which departures are events are allowed if they are `free` to send in any order. They are not
/// elided: nothing can be counted there ahead of time.
pub fn find(
    layout: &Layout,
    elsewhere: &Elsewhere<'_>,
    free: impl Fn(usize) -> bool,
) -> Option<Vec<bool>> {
    let wires = &layout.wires;
    if wires.iter().any(Wire::waits_for_others) {
        // Such a link is woken when no packet comes or leaves.
        return None;
    }
    let crossed = marked(wires.len(), elsewhere.crossed);
    let watched = marked(wires.len(), elsewhere.watched);
    let mut inputs = vec![Input::None; wires.len()];
    // Whether it is only ever the second link of a path.
    let mut second = vec![true; wires.len()];
    for path in layout.paths.iter().chain(&layout.class_paths).flatten() {
        for (at, wire) in path.iter().enumerate() {
            let input = if at == 0 { Input::Hosts } else { Input::Link(path[at - 1]) };
            inputs[*wire] = inputs[*wire].with(input);
            second[*wire] &= at == 1;
        }
    }
    let mut elided = vec![false; wires.len()];
    for (n, wire) in wires.iter().enumerate() {
        let fifo = wire.config.discipline.knows_departures();
        let orderly =
            (fifo || free(n)) && wire.varies_by().is_none() && wire.config.rate <= FASTEST;
        let routed = wire.is_routed();
        let fast = wire.config.mark.is_none() && !routed && !crossed[n] && !watched[n];
        match inputs[n] {
            Input::None => continue,
            Input::Hosts => {}
            Input::Link(_) if fast && fifo => elided[n] = true,
            Input::Link(_) | Input::Links if second[n] => {}
            _ => return None,
        }
        if !orderly {
            return None;
        }
    }
    hosts_keep_their_order(layout, elsewhere, &inputs, &elided).then_some(elided)
}

/// For each of `n` whether it is among `some`.
fn marked(n: usize, some: &[usize]) -> Vec<bool> {
    let mut marked = vec![false; n];
    for at in some {
        marked[*at] = true;
    }
    marked
}

/// True if simultaneous arrivals at hosts stay in their order wherever it matters.
fn hosts_keep_their_order(
    layout: &Layout,
    elsewhere: &Elsewhere<'_>,
    inputs: &[Input],
    elided: &[bool],
) -> bool {
    // The link whose own order decides: of the last two on a host's way in.
    let decides = |way_in: &[usize]| {
        way_in.last().map(|last| match inputs[*last] {
            Input::Link(before) if elided[*last] => (before, true),
            _ => (*last, false),
        })
    };
    let watched = marked(layout.wires.len(), elsewhere.watched);
    let probed = marked(layout.paths.len(), elsewhere.probed);
    let mut by_wire = vec![None; layout.wires.len()];
    let mut by_watched = None;
    let mut by_probed = None;
    // The hosts that share a queue must all have the same link decide.
    let agrees = |known: &mut Option<(usize, bool)>, host: Option<(usize, bool)>| {
        let first = *known.get_or_insert(host.expect("a path has links"));
        Some(first) == host
    };
    for (flow, [there, back]) in layout.paths.iter().chain(&layout.class_paths).enumerate() {
        for (way_out, way_in) in [(there, back), (back, there)] {
            let host = decides(way_in);
            if !way_out.iter().all(|wire| agrees(&mut by_wire[*wire], host)) {
                return false;
            }
            // Records of one moment are in the order of events.
            let seen = way_out.iter().any(|wire| watched[*wire]);
            if elsewhere.watched.len() > 1 && seen && !agrees(&mut by_watched, host) {
                return false;
            }
        }
        let seen = elsewhere.probed.len() > 1 && probed.get(flow) == Some(&true);
        if seen && !agrees(&mut by_probed, decides(back)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
