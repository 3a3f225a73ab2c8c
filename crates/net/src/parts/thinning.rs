//! Thinning of ACKs in front of a link: of the pure ACKs of a flow every n-th passes.

use std::collections::{BTreeMap, VecDeque};

use ackclock_units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ack::Ack;
use crate::check::{Refusal, check_time, refuse};
use crate::packet::Packet;
use crate::parts::contract::Part;

/// Thinning of ACKs in front of a link's queue. Of the pure ACKs of a flow that say nothing but a higher number every n-th
/// passes; data and all that tells the sender something else, as SACK blocks, duplicates or another ECN echo, pass.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AckThinningSpec")]
pub struct AckThinning {
    /// The number of ACKs of which the last passes.
    pub every: u32,
    /// The longest time that the newest ACK is held; default: ACKs that do not pass are dropped as they come, and the last
    /// of a transfer may be among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Duration>,
    /// True if pure ACKs with SACK blocks, duplicates and other ECN echoes are thinned, too.
    pub all: bool,
}

impl Default for AckThinning {
    fn default() -> Self {
        Self { every: 4, within: None, all: false }
    }
}

impl Part for AckThinning {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        if self.every < 2 {
            return refuse("every", "expected at least 2; with 1 every ACK passes");
        }
        self.within.map_or(Ok(()), |within| check_time("within", within))
    }

    fn waits_for_others(&self) -> bool {
        true
    }
}

/// A packet and the fields that a filter of ACKs reads.
pub type Noted = (Packet, Option<Ack>);

/// An ACK that is held, as its flow's newest.
#[derive(Clone, Copy, Debug)]
struct HeldAck {
    noted: Noted,
    until: Instant,
}

/// The ACKs of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// The number and the ECN echo of the last one.
    last: Option<(u32, u16)>,
    /// Those that were thinned since one passed.
    thinned: u32,
    held: Option<HeldAck>,
}

/// The treatment of a packet that comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thinned {
    /// The held ACK that is dropped for it.
    pub drops: Option<Packet>,
    /// The held ACK that goes on ahead of it.
    pub releases: Option<Noted>,
    /// True if the packet itself goes on.
    pub passes: bool,
    /// True if it is held; false if it is dropped unless it goes on.
    pub is_held: bool,
    /// When the link is to be woken for it.
    pub wake: Option<Instant>,
}

/// Thinning in use.
#[derive(Clone, Debug)]
pub struct Thinning {
    config: AckThinning,
    flows: BTreeMap<u32, Flow>,
    /// When ACKs are released, and whose they are; those that have passed meanwhile stand there, too.
    due: VecDeque<(Instant, u32)>,
    held: u64,
}

impl Thinning {
    /// Thinning by checked settings.
    pub const fn new(config: AckThinning) -> Self {
        Self { config, flows: BTreeMap::new(), due: VecDeque::new(), held: 0 }
    }

    /// The number of ACKs that are held.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// A packet comes that acknowledges so much.
    pub fn comes(&mut self, now: Instant, packet: Packet, ack: Option<Ack>) -> Thinned {
        let AckThinning { every, within, all } = self.config;
        let flow = self.flows.entry(packet.class).or_default();
        let thin = packet.is_flows()
            && ack.is_some_and(|ack| {
                ack.is_pure && flow.last.is_some_and(|last| all || ack.only_advances(last))
            });
        if let Some(ack) = ack.filter(|_| packet.is_flows()) {
            flow.last = Some((ack.number, ack.ecn));
        }
        let before = flow.held.take();
        self.held -= u64::from(before.is_some());
        let mut thinned = Thinned::default();
        if !thin {
            flow.thinned = 0;
            return Thinned { releases: before.map(|held| held.noted), passes: true, ..thinned };
        }
        thinned.drops = before.map(|held| held.noted.0);
        flow.thinned += 1;
        if flow.thinned >= every {
            flow.thinned = 0;
            thinned.passes = true;
        } else if let Some(within) = within {
            let until = before.map_or(now + within, |held| held.until);
            flow.held = Some(HeldAck { noted: (packet, ack), until });
            self.held += 1;
            thinned.is_held = true;
            if before.is_none() {
                self.due.push_back((until, packet.class));
                thinned.wake = Some(until);
            }
        }
        thinned
    }

    /// An ACK that has been held for as long as it may be by `now`.
    pub fn release(&mut self, now: Instant) -> Option<Noted> {
        while let Some((until, class)) = self.due.front().copied().filter(|(at, _)| *at <= now) {
            self.due.pop_front();
            let flow = self.flows.get_mut(&class)?;
            if let Some(held) = flow.held.filter(|held| held.until == until) {
                (flow.held, flow.thinned) = (None, 0);
                self.held -= 1;
                return Some(held.noted);
            }
        }
        None
    }
}
