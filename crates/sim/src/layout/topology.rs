//! From a scenario's topology to links and the paths that flows take across them.

mod graph;

use std::borrow::Cow;

use ackclock_net::{Discipline, Install, Limit, LinkConfig};
use ackclock_units::{Duration, Rate};

use crate::error::ScenarioError;
use crate::scenario::{Direction, DumbbellSide, Flow, LinkSpec, Scenario, Topology};

use graph::Graph;

/// For each flow, `count` spelled out, the index of its entry in the file.
pub fn flow_entries(scenario: &Scenario) -> Vec<usize> {
    scenario
        .flows
        .iter()
        .enumerate()
        .flat_map(|(entry, flow)| std::iter::repeat_n(entry, flow.count as usize))
        .collect()
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The link's name.
    pub name: String,
    /// The direction.
    pub direction: Direction,
    /// Its settings.
    pub config: LinkConfig,
    /// The keys of this direction.
    pub spec: Box<LinkSpec>,
}

impl Wire {
    /// Its rate at first, if packets that wait leave at it: over a channel, in frames or behind a shaper they do not.
    pub fn constant_rate(&self) -> Option<Rate> {
        let varies = self.spec.channel.is_some()
            || self.spec.aggregation.is_some()
            || self.config.discipline.shapes();
        (!varies).then_some(self.config.rate)
    }

    /// True if packets wait there for others that come later, so that no departure is known as they come.
    pub fn waits_for_others(&self) -> bool {
        self.any(|part| part.waits_for_others())
    }

    /// True if a router in front of it reads and writes packets.
    pub fn is_routed(&self) -> bool {
        self.any(|part| part.is_router())
    }

    /// The key of the first part by which times are not those of the rate, the delay and the queue; `None` without one.
    pub fn varies_by(&self) -> Option<&'static str> {
        let mut found = None;
        self.spec.each_part(&mut |key, part| {
            found = found.or_else(|| (!part.keeps_times()).then_some(key));
        });
        found
    }

    fn any(&self, is: impl Fn(&dyn Install) -> bool) -> bool {
        let mut any = false;
        self.spec.each_part(&mut |_, part| any |= is(part));
        any
    }
}

/// The links, and each flow's way across them.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Every link, forward and reverse: link `n` has its forward direction at `2 n`.
    pub wires: Vec<Wire>,
    /// For each flow the wires from its sender to its receiver, and those back.
    pub paths: Vec<[Vec<usize>; 2]>,
    /// The paths of each traffic class, from its clients to its servers and back.
    pub class_paths: Vec<[Vec<usize>; 2]>,
    /// The nodes of a graph's links.
    ends: Vec<[String; 2]>,
}

impl Layout {
    /// Lays out `scenario`, whose flows are `flows` in all (each `count` spelled out), the index of
    /// each flow's entry in the file in `entry`.
    pub fn new(scenario: &Scenario, entries: &[usize]) -> Result<Self, ScenarioError> {
        let mut layout = Self::default();
        match &scenario.topology {
            Topology::Path(path) => layout.path(scenario, entries, &path.link()),
            Topology::Dumbbell { bottleneck, access, access_right } => {
                layout.dumbbell(scenario, entries, bottleneck, access, access_right.as_ref());
            }
            Topology::Graph { links } => {
                for link in links {
                    layout.add(&link.name, &link.link, Limit::UNLIMITED);
                    layout.ends.push([link.from.clone(), link.to.clone()]);
                }
                layout.route(scenario, entries)?;
            }
        }
        layout.resolve_queues()?;
        layout.let_change(scenario);
        Ok(layout)
    }

    fn path(&mut self, scenario: &Scenario, entries: &[usize], link: &LinkSpec) {
        self.add("bottleneck", link, Limit::Bdp(1.0));
        let (forward, reverse) = (vec![0], vec![1]);
        self.paths = vec![[forward.clone(), reverse.clone()]; entries.len()];
        for class in &scenario.traffic {
            self.class_paths.push(match class.clients() {
                DumbbellSide::Left => [forward.clone(), reverse.clone()],
                DumbbellSide::Right => [reverse.clone(), forward.clone()],
            });
        }
    }

    fn dumbbell(
        &mut self,
        scenario: &Scenario,
        entries: &[usize],
        bottleneck: &LinkSpec,
        access: &LinkSpec,
        access_right: Option<&LinkSpec>,
    ) {
        self.add("bottleneck", bottleneck, Limit::Bdp(1.0));
        for name in flow_names(scenario, entries) {
            let left = self.add(&format!("access-left-{name}"), access, Limit::UNLIMITED);
            let right = self.add(
                &format!("access-right-{name}"),
                access_right.unwrap_or(access),
                Limit::UNLIMITED,
            );
            let forward = vec![left, 0, right];
            self.paths.push([forward.clone(), back(&forward)]);
        }
        for class in &scenario.traffic {
            let name = &class.name;
            let left = self.add(&format!("access-left-{name}"), access, Limit::UNLIMITED);
            let right = access_right.unwrap_or(access);
            let right = self.add(&format!("access-right-{name}"), right, Limit::UNLIMITED);
            let forward = vec![left, 0, right];
            let reverse = back(&forward);
            self.class_paths.push(match class.clients() {
                DumbbellSide::Left => [forward, reverse],
                DumbbellSide::Right => [reverse, forward],
            });
        }
    }

    /// Adds both directions of a link; returns the number of the forward one.
    fn add(&mut self, name: &str, spec: &LinkSpec, default_limit: Limit) -> usize {
        let at = self.wires.len();
        for (direction, spec) in [
            (Direction::Forward, Cow::Borrowed(spec)),
            (Direction::Reverse, Cow::Owned(spec.back())),
        ] {
            let queue = spec.queue.unwrap_or(Discipline::fifo(default_limit));
            let mut wire = Wire {
                name: name.to_owned(),
                direction,
                config: LinkConfig {
                    rate: spec.rate,
                    delay: spec.delay,
                    discipline: queue,
                    limit: ackclock_net::QueueLimit::UNLIMITED,
                    counts_in_service: queue.limits().counts_in_service,
                    mark: None,
                    loss: spec.loss,
                },
                spec: Box::new(spec.into_owned()),
            };
            if wire.waits_for_others() {
                wire.config.discipline = wire.config.discipline.for_changes();
            }
            self.wires.push(wire);
        }
        at
    }

    fn route(&mut self, scenario: &Scenario, entries: &[usize]) -> Result<(), ScenarioError> {
        let Topology::Graph { links } = &scenario.topology else { return Ok(()) };
        let graph = Graph::new(links.iter().map(|l| (l.from.as_str(), l.to.as_str())), &self.wires);
        for entry in entries {
            let flow = &scenario.flows[*entry];
            let key = format!("flow[{entry}]");
            self.paths.push(graph.there_and_back(&key, flow.from.as_ref(), flow.to.as_ref())?);
        }
        for (n, class) in scenario.traffic.iter().enumerate() {
            let key = format!("traffic[{n}]");
            self.class_paths.push(graph.there_and_back(
                &key,
                class.from.as_ref(),
                class.to.as_ref(),
            )?);
        }
        Ok(())
    }

    fn delay_of(&self, path: &[Vec<usize>; 2]) -> Duration {
        path.iter().flatten().map(|wire| self.wires[*wire].config.delay).sum()
    }

    /// Links that change while packets wait must not have promised when those leave.
    fn let_change(&mut self, scenario: &Scenario) {
        for event in scenario.events.iter().filter(|event| event.set.is_some()) {
            let Some(wire) = event.link.as_ref().and_then(|link| self.link(link)) else { continue };
            for wire in &mut self.wires[wire..wire + 2] {
                wire.config.discipline = wire.config.discipline.for_changes();
            }
        }
    }

    /// The propagation delay of a flow's way there and back.
    pub fn base_rtt(&self, flow: usize) -> Duration {
        self.delay_of(&self.paths[flow])
    }

    /// The base round trip over the links that the connections of a traffic class share.
    pub fn class_rtt(&self, class: usize) -> Duration {
        self.delay_of(&self.class_paths[class])
    }

    /// Sets up the queues, of which the limits may be multiples of the bandwidth-delay product.
    fn resolve_queues(&mut self) -> Result<(), ScenarioError> {
        let mut longest = vec![Duration::ZERO; self.wires.len()];
        for path in self.paths.iter().chain(&self.class_paths) {
            let rtt = self.delay_of(path);
            for wire in path.iter().flatten() {
                longest[*wire] = longest[*wire].max(rtt);
            }
        }
        for (wire, rtt) in self.wires.iter_mut().zip(longest) {
            let rate = wire.config.rate;
            let limits = wire.config.discipline.limits();
            wire.config.limit = limits.limit.resolve(rate, rtt);
            wire.config.mark = limits.mark.map(|mark| mark.resolve(rate, rtt));
            wire.config.discipline = wire.config.discipline.resolve(rate, rtt).map_err(|why| {
                ScenarioError::new("topology", &format!("on link `{}` {why}", wire.name))
            })?;
        }
        Ok(())
    }

    /// The largest base round trip of a flow across `wire`, were the wires' delays `delays`.
    pub fn longest_rtt(&self, wire: usize, delays: &[Duration]) -> Duration {
        let crossing = self.paths.iter().filter(|path| path.iter().flatten().any(|w| *w == wire));
        crossing
            .map(|path| path.iter().flatten().map(|wire| delays[*wire]).sum())
            .max()
            .unwrap_or_default()
    }

    /// The forward wire of a link.
    pub fn link(&self, name: &str) -> Option<usize> {
        self.wires.iter().position(|wire| wire.name == name)
    }

    /// The wires of a graph's flow over these links from its `from` to its `to`, and those back;
    /// `None` if they do not lead there.
    pub fn via(&self, flow: &Flow, links: &[String]) -> Option<[Vec<usize>; 2]> {
        let (mut at, to) = (flow.from.as_ref()?, flow.to.as_ref()?);
        let mut there = Vec::new();
        for name in links {
            let wire = self.link(name)?;
            let [from, end] = self.ends.get(wire / 2)?;
            if from == at {
                there.push(wire);
                at = end;
            } else if end == at {
                there.push(wire + 1);
                at = from;
            } else {
                return None;
            }
        }
        (at == to && !there.is_empty()).then(|| [there.clone(), back(&there)])
    }

    /// The wire of a link in a direction.
    pub fn wire(&self, link: &str, direction: Direction) -> Option<usize> {
        self.wires.iter().position(|w| w.name == link && w.direction == direction)
    }
}

/// The same links, the other way.
fn back(path: &[usize]) -> Vec<usize> {
    path.iter().rev().map(|wire| wire ^ 1).collect()
}

/// The names of all flows, `count` spelled out; `entries` says from which entry of the file each
/// comes.
pub fn flow_names(scenario: &Scenario, entries: &[usize]) -> Vec<String> {
    let mut seen = vec![0; scenario.flows.len()];
    entries
        .iter()
        .map(|entry| {
            let flow = &scenario.flows[*entry];
            seen[*entry] += 1;
            if flow.count == 1 {
                flow.name.clone()
            } else {
                format!("{}-{}", flow.name, seen[*entry])
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
