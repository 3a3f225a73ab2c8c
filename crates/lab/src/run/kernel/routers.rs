//! Quick-Start routers, which a live run has in the kernel for as long as it lasts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_kernel::{KernelError, KernelRouter, RouterBehaviour, RouterSettings};
use ackclock_live::{KernelDecision, KernelRouters, RouterHook, RouterTotals};
use ackclock_net::{Behaviour, Denial, QuickStartConfig};
use ackclock_packet::QuickStartRate;

use crate::BadInput;

/// Routers that nothing is loaded of yet, and the hook of a way's first.
type Routers = (Arc<dyn KernelRouters>, RouterHook);

/// The routers for a run that asks for them by `word`: `xdp`, `tc` or `ackclock`, which is the path's.
pub(crate) fn routers(word: Option<&str>) -> Result<Option<Routers>, BadInput> {
    let hook = match word {
        None | Some("ackclock") => return Ok(None),
        Some("xdp") => RouterHook::Xdp,
        Some("tc") => RouterHook::Tc,
        Some(other) => {
            let message =
                format!("routers: unknown word `{other}`, expected `xdp`, `tc` or `ackclock`");
            return Err(BadInput::new(message));
        }
    };
    if let Some(why) = ackclock_kernel::needs() {
        return Err(BadInput::new(format_args!("routers: {why}")));
    }
    Ok(Some((Arc::new(Loaded::default()), hook)))
}

/// The routers by their wires.
#[derive(Debug, Default)]
struct Loaded(Mutex<BTreeMap<usize, Router>>);

#[derive(Debug)]
struct Router {
    router: KernelRouter,
    beside_bytes: u64,
}

impl Loaded {
    fn all(&self) -> MutexGuard<'_, BTreeMap<usize, Router>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(error: &KernelError) -> String {
    error.to_string()
}

impl KernelRouters for Loaded {
    fn add(&self, wire: usize, config: &QuickStartConfig, random: [u64; 4]) -> Result<(), String> {
        let settings = RouterSettings {
            behaviour: match config.behaviour {
                Behaviour::Admit => RouterBehaviour::Admit,
                Behaviour::Approve => RouterBehaviour::Approve,
                Behaviour::Deny => RouterBehaviour::Deny,
                Behaviour::Cheat { to } => RouterBehaviour::Cheat(to.code()),
            },
            threshold_bps: config.threshold.as_bps(),
            slot_ns: config.slot.as_nanos(),
            history: config.history,
            samples: config.samples,
            most: config.most.code(),
            deletes: config.denial == Denial::Delete,
            // The path counts the TTL down, link by link.
            forwards: false,
            tells: true,
            has_ethernet: true,
            out: None,
            random,
        };
        let router = KernelRouter::load(&settings).map_err(|error| text(&error))?;
        self.all().insert(wire, Router { router, beside_bytes: 0 });
        Ok(())
    }

    fn attach(&self, wire: usize, device: u32, hook: RouterHook) -> Result<(), String> {
        let mut all = self.all();
        let Some(it) = all.get_mut(&wire) else { return Ok(()) };
        it.router.attach(device, hook == RouterHook::Xdp).map_err(|error| text(&error))
    }

    fn start(&self, at_ns: u64) -> Result<(), String> {
        self.all()
            .values()
            .try_for_each(|it| it.router.start(Some(at_ns)))
            .map_err(|error| text(&error))
    }

    fn carry_beside(&self, wire: usize, bytes: u64) {
        if let Some(it) = self.all().get_mut(&wire)
            && it.router.carry_beside(bytes).is_ok()
        {
            it.beside_bytes = bytes;
        }
    }

    fn decisions(&self) -> Vec<KernelDecision> {
        let rate = |code| QuickStartRate::from_code(code).unwrap_or_default();
        let all = self.all();
        let told = all.iter().flat_map(|(wire, it)| {
            let decisions = it.router.decisions().unwrap_or_default();
            decisions.into_iter().map(|told| KernelDecision {
                time_ns: told.time_ns,
                wire: *wire,
                source: told.source,
                asked: rate(told.asked),
                approved: rate(told.approved),
                measured_bps: told.load.measured_bps,
                reserved_bps: told.load.reserved_bps,
                deleted: told.deleted,
            })
        });
        let mut told: Vec<_> = told.collect();
        told.sort_by_key(|told| told.time_ns);
        told
    }

    fn counts(&self, wire: usize) -> RouterTotals {
        let all = self.all();
        let Some(it) = all.get(&wire) else { return RouterTotals::default() };
        let counts = it.router.counts().unwrap_or_default();
        RouterTotals {
            packets: counts.packets,
            bytes: counts.bytes,
            beside_bytes: it.beside_bytes,
            requests: counts.requests,
            approved: counts.approved,
            denied: counts.denied,
        }
    }

    fn object(&self) -> (String, String) {
        let all = self.all();
        let first = all.values().next();
        first.map_or_else(Default::default, |it| (it.router.object().to_owned(), it.router.hash()))
    }
}
