//! Quick-Start routers of the kernel's at the path's devices, in the place of those that the path has in Rust.
//!
//! A packet meets devices where it enters the path, and where it leaves. The first router of a way stands where packets
//! enter: as XDP at the path's device, as tc at the host's. Those behind it stand as tc where packets leave, in their order.
//! Routers in one word (`approve`, `deny`) keep no rates, and stay the path's.

use std::io;
use std::sync::Arc;

use ackclock_net::path::{Decided, Router};
use ackclock_net::{Decision, QuickStartConfig};
use ackclock_sim::ScenarioError;
use ackclock_sim::run::plan::Plan;
use ackclock_units::Rate;

use crate::base::addresses::flow_of;
use crate::base::beside::Beside;
use crate::base::options::{End, KernelRouters, RouterHook};
use crate::machine::net_ns::NetNs;
use crate::ports::port::Port;
use crate::results::report::RouterReport;
use crate::timing::clock::Clock;

/// A router, and its devices.
#[derive(Debug)]
pub struct Placed {
    /// The wire behind it.
    pub wire: usize,
    config: QuickStartConfig,
    /// The state of its random numbers.
    random: [u64; 4],
}

/// A router at a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The wire behind the router.
    pub wire: usize,
    /// The entry of the file.
    pub entry: usize,
    /// The host whose device it is: 0 the sender's, 1 the receiver's.
    pub side: usize,
    /// The hook.
    pub hook: RouterHook,
    /// True if it is for what the host sends.
    pub enters: bool,
}

/// Takes the routers that admit out of `plan`; `first` is the hook of those at the entrance. Each of `ways` is of an entry.
///
/// # Errors
/// The key that has no such router, or has one that can stand at no device.
pub fn take(
    plan: &mut Plan,
    ways: &[(usize, [Vec<usize>; 2])],
    keys: &[String],
    ends: &[[End; 2]],
    first: RouterHook,
) -> Result<(Vec<Placed>, Vec<At>), ScenarioError> {
    if plan.changes.iter().any(|planned| !planned.change.routes.is_empty()) {
        let message = "routers in the kernel stand at devices, expected routes that stay";
        return Err(ScenarioError::new("event", message));
    }
    let mut places: Vec<At> = Vec::new();
    for (entry, ways) in ways {
        for (side, way) in ways.iter().enumerate() {
            let admits = |wire: &&usize| {
                plan.wires[**wire].router.as_ref().is_some_and(|router| router.tells)
            };
            // A way's first link is the host's own.
            for (n, wire) in way.iter().skip(1).filter(admits).enumerate() {
                let (wire, entry) = (*wire, *entry);
                let at = if n == 0 {
                    At { wire, entry, side, hook: first, enters: true }
                } else {
                    At { wire, entry, side: 1 - side, hook: RouterHook::Tc, enters: false }
                };
                if !places.contains(&at) {
                    places.push(at);
                }
            }
        }
    }
    if places.is_empty() {
        let message = "no packet meets a router with an admission, expected `quick_start = { ... }` of a link \
                       that is no host's own";
        return Err(ScenarioError::new("routers", message));
    }
    for at in &places {
        if ends[at.entry].contains(&End::Own) {
            let message = "routers in the kernel stand at devices, which our own end points have not, \
                           expected `kernel`";
            return Err(ScenarioError::new(&format!("{}.endpoint", keys[at.entry]), message));
        }
    }
    let mut placed = Vec::new();
    for (wire, planned) in plan.wires.iter_mut().enumerate() {
        if !places.iter().any(|at| at.wire == wire) {
            continue;
        }
        if let Some(Router { quick_start, tells, .. }) = &mut planned.router
            && let Some(router) = quick_start.take()
        {
            *tells = false;
            placed.push(Placed { wire, config: *router.config(), random: router.random().state() });
        }
    }
    Ok((placed, places))
}

/// The kernel's routers of a run, and their places; none of a run that has only the path's own.
#[derive(Debug, Default)]
pub struct InKernel {
    /// The routers.
    pub routers: Option<Arc<dyn KernelRouters>>,
    /// Each, and where it stands.
    pub placed: (Vec<Placed>, Vec<At>),
}

impl InKernel {
    /// Loads the routers, and attaches them to the ends of the devices' pairs: those of the path are in `middle`, those of
    /// a host are in the namespace that `host` says.
    ///
    /// # Errors
    /// The kernel's words against it.
    pub fn attach<'a>(
        &self,
        middle: &NetNs,
        host: impl Fn(usize, usize) -> Option<&'a NetNs>,
        ports: &[Box<dyn Port>],
    ) -> io::Result<()> {
        let Some(routers) = &self.routers else { return Ok(()) };
        let (placed, places) = &self.placed;
        for Placed { wire, config, random } in placed {
            routers.add(*wire, config, *random).map_err(io::Error::other)?;
        }
        for at in places {
            let port = &ports[2 * at.entry + at.side];
            let (namespace, device) = if at.enters && at.hook == RouterHook::Tc {
                (host(at.entry, at.side), port.device())
            } else {
                (Some(middle), port.far_device())
            };
            if let (Some(namespace), Some(device)) = (namespace, device) {
                let attach = || routers.attach(at.wire, device, at.hook).map_err(io::Error::other);
                namespace.within(attach)?;
            }
        }
        Ok(())
    }

    /// Begins their first slots.
    ///
    /// # Errors
    /// The kernel's words against it.
    pub fn start(&self, clock: Clock) -> io::Result<()> {
        let Some(routers) = &self.routers else { return Ok(()) };
        routers.start(clock.origin_ns()).map_err(io::Error::other)
    }

    /// The cross-traffic that they are to be told, of a path with so many wires.
    pub fn beside(&self, wires: usize) -> Option<Beside> {
        let own: Vec<_> = self.placed.0.iter().map(|placed| placed.wire).collect();
        self.routers.as_ref().map(|routers| Beside::new(Arc::clone(routers), &own, wires))
    }

    /// The decisions, as those of the path's own routers.
    pub fn decided(&self, clock: Clock, connections: usize) -> Vec<Decided> {
        let told = self.routers.as_ref().map_or_else(Vec::new, |routers| routers.decisions());
        let decided = told.iter().filter_map(|told| {
            let (flow, _) = flow_of(told.source).filter(|(flow, _)| *flow < connections)?;
            Some(Decided {
                at: clock.of(told.time_ns),
                link: told.wire,
                flow: u32::try_from(flow).ok()?,
                decision: Decision {
                    asked: told.asked,
                    approved: told.approved,
                    measured: Rate::from_bps(told.measured_bps),
                    reserved: Rate::from_bps(told.reserved_bps),
                    delete: told.deleted,
                },
            })
        });
        decided.collect()
    }

    /// The report of each router.
    pub fn reports(&self, plan: &Plan) -> Vec<RouterReport> {
        let Some(routers) = &self.routers else { return Vec::new() };
        let (placed, places) = &self.placed;
        let (object, hash) = routers.object();
        let of = placed.iter().map(|Placed { wire, .. }| {
            let own = places.iter().filter(|at| at.wire == *wire);
            let mut hooks: Vec<_> = own.map(|at| at.hook.as_str()).collect();
            hooks.sort_unstable();
            hooks.dedup();
            RouterReport {
                link: plan.wires[*wire].link.clone(),
                direction: plan.wires[*wire].direction,
                hooks,
                object: object.clone(),
                hash: hash.clone(),
                totals: routers.counts(*wire),
            }
        });
        of.collect()
    }
}

#[cfg(test)]
mod tests;
