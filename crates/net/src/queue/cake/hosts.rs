//! Hosts and flows, as CAKE tells them apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fairness of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// None: one queue for all.
    Flowblind,
    /// Between hosts that send.
    Srchost,
    /// Between hosts that receive.
    Dsthost,
    /// Between pairs of hosts.
    Hosts,
    /// Between flows.
    Flows,
    /// Between hosts that send, and between the flows of each.
    DualSrchost,
    /// Between hosts that receive, and between the flows of each.
    DualDsthost,
    /// Between hosts in both directions, and between the flows of each.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// True if the hosts that send have shares, and if those that receive have.
    pub const fn shares(self) -> [bool; 2] {
        match self {
            Self::DualSrchost => [true, false],
            Self::DualDsthost => [false, true],
            Self::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }
}

/// The hash that leads a packet of `class` between `hosts` to its flow queue: the finaliser of `SplitMix64`.
pub fn hash(isolation: Isolation, class: u32, [from, to]: [u32; 2], salt: u64) -> u32 {
    let key = match isolation {
        Isolation::Flowblind => 0,
        Isolation::Srchost => u64::from(from),
        Isolation::Dsthost => u64::from(to),
        Isolation::Hosts => u64::from(from) << 32 | u64::from(to),
        _ => u64::from(class),
    };
    let mut z = key ^ salt;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    u32::try_from(z >> 32).expect("half of 64 bits")
}

/// Flows of each host that are busy.
#[derive(Clone, Debug, Default)]
pub struct Busy(Vec<u32>);

impl Busy {
    /// Notes that a flow of `host` begins to be busy.
    pub fn begin(&mut self, host: u32) {
        let host = host as usize;
        if self.0.len() <= host {
            self.0.resize(host + 1, 0);
        }
        self.0[host] += 1;
    }

    /// Notes that a flow of `host` is busy no more.
    pub fn end(&mut self, host: u32) {
        if let Some(flows) = self.0.get_mut(host as usize) {
            *flows = flows.saturating_sub(1);
        }
    }

    /// The number of busy flows of `host`.
    pub fn flows(&self, host: u32) -> u32 {
        self.0.get(host as usize).copied().unwrap_or(0)
    }
}
