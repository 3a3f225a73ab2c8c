//! The parts of a run that are the same for both engines: links, routers, the hosts of flows.

use std::sync::Arc;

use ackclock_net::path::Router;
use ackclock_net::{FeedbackRouter, Installed, Link, LinkParts, QuickStartRouter, QuickStartSpec};
use ackclock_tcp::{Config, Endpoint};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Instant};

use crate::error::ScenarioError;
use crate::hosts::host::Host;
use crate::hosts::visitors::{
    DATAGRAM_HEADERS, FlowSetup, OwnTransport, QueueOf, Visiting, Visitors,
};
use crate::layout::topology::{Layout, Wire};
use crate::records::Run;
use crate::run::plan::{FlowStart, flow_starts};
use crate::scenario::Scenario;

/// The parts of each link of `layout`, with random streams of its own.
pub fn link_parts(scenario: &Scenario, layout: &Layout) -> Vec<LinkParts> {
    layout
        .wires
        .iter()
        .map(|wire| {
            let name = format!("link {} {}", wire.name, wire.direction.as_str());
            let stream = |what: &str| Stream::new(scenario.seed, &format!("{name} {what}"));
            let mut installed = Installed::default();
            let rate = wire.config.rate;
            wire.spec.each_part(&mut |_, part| part.install(&mut installed, rate, &stream));
            LinkParts {
                config: wire.config,
                losses: Stream::new(scenario.seed, &name),
                queue: stream("queue"),
                installed,
            }
        })
        .collect()
}

/// The links of `layout`, behind the queues of visitors where there are any.
///
/// # Errors
/// A queue of a link that is none.
pub fn links(
    scenario: &Scenario,
    layout: &Layout,
    visitors: &mut Visitors<'_>,
) -> Result<Vec<Link>, ScenarioError> {
    for own in &visitors.queues {
        if layout.wire(&own.link, own.direction).is_none() {
            let links: Vec<&str> = layout.wires.iter().step_by(2).map(|wire| &*wire.name).collect();
            let key = format!("queue of `{}`", own.link);
            return Err(ScenarioError::new(
                &key,
                &format!("expected a link of: {}", links.join(", ")),
            ));
        }
    }
    let parts = link_parts(scenario, layout).into_iter().zip(&layout.wires);
    let links = parts.map(|(parts, wire)| {
        let meant =
            |own: &&mut QueueOf<'_>| own.link == wire.name && own.direction == wire.direction;
        match visitors.queues.iter_mut().rev().find(meant) {
            Some(own) => Link::behind((own.make)(parts.config.rate, parts.queue.clone()), parts),
            None => Link::new(parts),
        }
    });
    Ok(links.collect())
}

/// The routers of `layout`, by the wire behind each.
pub fn routers(scenario: &Scenario, layout: &Layout) -> Vec<(usize, Router)> {
    let wires = layout.wires.iter().enumerate();
    wires.filter_map(|(n, wire)| Some((n, router(scenario, wire)?))).collect()
}

fn router(scenario: &Scenario, wire: &Wire) -> Option<Router> {
    if !wire.is_routed() {
        return None;
    }
    let rate = wire.config.rate;
    let spec = &wire.spec;
    let quick_start = spec.quick_start.as_ref().map(|spec| {
        let name = format!("router {} {}", wire.name, wire.direction.as_str());
        QuickStartRouter::new(spec.config(rate), Stream::new(scenario.seed, &name))
    });
    let rules = spec.rcp.is_some() || spec.xcp.is_some();
    let feedback = rules.then(|| FeedbackRouter::new(spec.rcp, spec.xcp, rate));
    let tells = spec.quick_start.as_ref().is_some_and(QuickStartSpec::admits);
    Some(Router { quick_start, tells, feedback })
}

/// An empty run of flows that have these names, over the links of `layout`.
pub fn named(flows: Vec<String>, layout: &Layout) -> Run {
    let name = |wire: &Wire| (wire.name.clone(), wire.direction.as_str());
    let link_names = layout.wires.iter().map(name).collect();
    Run { flow_names: flows.into(), link_names, ..Run::default() }
}

/// The hosts of flows.
#[derive(Debug, Default)]
pub struct FlowHosts {
    /// Two hosts a flow: its sender, its receiver.
    pub hosts: Vec<Host>,
    /// By flow, the sender's canonical name.
    pub variants: Vec<String>,
}

impl FlowHosts {
    /// The hosts of each flow of a checked scenario. `add_paths` lays the way from its sender to its receiver and back,
    /// and says where each begins.
    pub fn new(
        scenario: &Scenario,
        entries: &[usize],
        names: &[String],
        mut add_paths: impl FnMut(usize) -> [u32; 2],
    ) -> Result<Self, ScenarioError> {
        let mut all = Self { hosts: Vec::with_capacity(2 * names.len()), variants: Vec::new() };
        let (mut of_senders, mut of_receivers) = (Settings::default(), Settings::default());
        for (n, opening) in flow_starts(scenario, entries, names)?.into_iter().enumerate() {
            let FlowStart { mut config, variant, opens } = opening;
            let (name, spec) = (&names[n], &scenario.flows[entries[n]]);
            all.variants.push(variant);
            let stream = |what: &str| Stream::new(scenario.seed, &format!("flow {name} {what}"));
            let (sends, receives) = spec.app.apps(&stream).map_err(|(key, why)| {
                ScenarioError::new(&format!("flow[{}].app.{key}", entries[n]), &why)
            })?;
            let [there, back] = add_paths(n);
            let flow = u32::try_from(n).expect("the check bounds the number of flows");
            let sender = Host::new(sends, flow, there, of_senders.endpoint(config));
            // Only the end with the volume to send asks for its rate.
            config.quick_start.asks = false;
            let receiver = Host::new(receives, flow, back, of_receivers.endpoint(config));
            let mut ends = [sender, receiver];
            let opener = usize::from(spec.app.receiver_opens());
            ends[1 - opener].endpoint.listen();
            let active = &mut ends[opener];
            (active.unopened, active.opens, active.armed) = (true, opens, opens);
            for mut end in ends {
                end.sized = spec.app.is_sized();
                all.hosts.push(end);
            }
        }
        Ok(all)
    }

    /// Puts the ends of visitors in place of TCP's.
    ///
    /// # Errors
    /// A flow that is none, or that does not just send data.
    pub fn visit(
        &mut self,
        scenario: &Scenario,
        (entries, names): (&[usize], &[String]),
        transports: &mut [OwnTransport<'_>],
    ) -> Result<(), ScenarioError> {
        for OwnTransport { flow, variant, make } in transports {
            let mut found = false;
            for (n, name) in names.iter().enumerate() {
                let spec = &scenario.flows[entries[n]];
                if name != flow && spec.name != *flow {
                    continue;
                }
                found = true;
                let Some(volume) = spec.app.transfer() else {
                    let why = format!(
                        "found `{}`, expected `bulk`, as the flow has a transport of its own",
                        spec.app.kind()
                    );
                    return Err(ScenarioError::new(&format!("flow[{}].app", entries[n]), &why));
                };
                let mss = u32::from(self.hosts[2 * n].endpoint.sender().mss().get());
                let setup = FlowSetup {
                    name: name.clone(),
                    volume: (volume != Bytes::UNLIMITED).then_some(volume),
                    // A segment has 40 bytes of headers, a datagram 28.
                    largest_payload: mss + 40 - DATAGRAM_HEADERS,
                    seed: Stream::new(scenario.seed, &format!("flow {name} transport")).next_seed(),
                };
                let ends = make(&setup);
                for (host, end) in self.hosts[2 * n..].iter_mut().zip(ends) {
                    host.visiting = Some(Box::new(Visiting::new(end, &setup)));
                    // Its state is asked for after each event.
                    host.sized = false;
                }
                variant.clone_into(&mut self.variants[n]);
            }
            if !found {
                let (key, of) = (format!("transport of `{flow}`"), names.join(", "));
                return Err(ScenarioError::new(&key, &format!("expected a flow of: {of}")));
            }
        }
        Ok(())
    }

    /// The hosts that open connections: (when, which).
    pub fn openers(&self) -> impl Iterator<Item = (Instant, u32)> {
        let hosts = (0..).zip(&self.hosts).filter(|(_, host)| host.unopened);
        hosts.map(|(n, host)| (host.opens, n))
    }
}

/// The settings of the end point that was made last, which the next one shares if it has the same.
#[derive(Debug, Default)]
struct Settings(Option<Arc<Config>>);

impl Settings {
    fn endpoint(&mut self, config: Config) -> Endpoint {
        let seed = config.seed;
        let config = Config { seed: 0, ..config };
        let last = self.0.take().filter(|last| **last == config);
        let shared = self.0.insert(last.unwrap_or_else(|| Arc::new(config)));
        Endpoint::sharing(Arc::clone(shared), seed)
    }
}
