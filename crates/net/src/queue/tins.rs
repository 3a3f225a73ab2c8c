//! Classes of packets by their DSCP, as CAKE sorts them into tins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::header::Dscp;

/// The classes into which packets are sorted by their DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Diffserv {
    /// One class for all.
    Besteffort,
    /// Three: bulk (CS1, LE), best effort, voice (EF, VA, CS6, CS7, 4).
    #[default]
    Diffserv3,
    /// Four: bulk (CS1, LE), best effort, video (AF2x, AF3x, AF4x, CS2, CS3, 4), voice (EF, VA, CS4 to CS7).
    Diffserv4,
    /// Eight, from LE to CS6 and CS7.
    Diffserv8,
    /// Eight, the upper three bits of the DSCP.
    Precedence,
}

impl Diffserv {
    /// The number of tins.
    pub const fn tins(self) -> usize {
        match self {
            Self::Besteffort => 1,
            Self::Diffserv3 => 3,
            Self::Diffserv4 => 4,
            Self::Diffserv8 | Self::Precedence => 8,
        }
    }

    /// The tin of a codepoint.
    pub const fn tin(self, dscp: Dscp) -> usize {
        let number = dscp.get();
        match self {
            Self::Besteffort => 0,
            Self::Precedence => (number >> 3) as usize,
            Self::Diffserv3 => match number {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            Self::Diffserv4 => match number {
                1 | 8 => 1,
                4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                _ => 0,
            },
            Self::Diffserv8 => match number {
                1 => 0,
                2 | 8 | 10 | 12 | 14 => 1,
                24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
                4 | 18 | 20 | 22 => 4,
                16 => 5,
                32 | 40 | 44 | 46 => 6,
                48 | 56 => 7,
                _ => 2,
            },
        }
    }

    /// The tins, the one that goes first first.
    pub const fn by_priority(self) -> &'static [usize] {
        match self {
            Self::Besteffort => &[0],
            Self::Diffserv3 => &[2, 0, 1],
            Self::Diffserv4 => &[3, 2, 0, 1],
            Self::Diffserv8 | Self::Precedence => &[7, 6, 5, 4, 3, 2, 1, 0],
        }
    }

    /// The share of each tin in a rate, and its weight where there is none: CAKE's.
    pub fn shares(self) -> Vec<(f64, u32)> {
        match self {
            Self::Besteffort => vec![(1.0, 65_535)],
            Self::Diffserv3 => vec![(1.0, 1024), (1.0 / 16.0, 64), (1.0 / 4.0, 256)],
            Self::Diffserv4 => {
                vec![(1.0, 1024), (1.0 / 16.0, 64), (1.0 / 2.0, 512), (1.0 / 4.0, 256)]
            }
            Self::Diffserv8 | Self::Precedence => {
                // Each tin has 7/8 of the one before.
                let tins = std::iter::successors(Some((1.0, 256)), |(share, weight)| {
                    Some((share * 7.0 / 8.0, weight * 7 / 8))
                });
                tins.take(8).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_have_tins() {
        let tins = |by: Diffserv, names: &str| -> Vec<usize> {
            names.split(' ').map(|name| by.tin(name.parse().unwrap())).collect()
        };
        let names = "DF LE CS1 AF11 CS2 AF21 AF41 CS4 CS5 VA EF CS6 CS7 4";
        assert_eq!(tins(Diffserv::Besteffort, names), [0; 14]);
        assert_eq!(tins(Diffserv::Diffserv3, names), [0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2]);
        assert_eq!(tins(Diffserv::Diffserv4, names), [0, 1, 1, 0, 2, 2, 2, 3, 3, 3, 3, 3, 3, 2]);
        assert_eq!(tins(Diffserv::Diffserv8, names), [2, 0, 1, 1, 5, 4, 3, 6, 6, 6, 6, 7, 7, 4]);
        assert_eq!(tins(Diffserv::Precedence, names), [0, 0, 1, 1, 2, 2, 4, 4, 5, 5, 5, 6, 7, 0]);
    }

    #[test]
    fn every_tin_has_a_share_and_a_priority() {
        for by in [
            Diffserv::Besteffort,
            Diffserv::Diffserv3,
            Diffserv::Diffserv4,
            Diffserv::Diffserv8,
            Diffserv::Precedence,
        ] {
            assert_eq!(by.shares().len(), by.tins());
            let mut order = by.by_priority().to_vec();
            order.sort_unstable();
            assert_eq!(order, (0..by.tins()).collect::<Vec<_>>());
        }
        // 256, 224, 196, 171 (171.5), 149 (149.6), 130 (130.4), 113 (113.8), 98 (98.9).
        let weights: Vec<u32> =
            Diffserv::Precedence.shares().iter().map(|(_, weight)| *weight).collect();
        assert_eq!(weights, [256, 224, 196, 171, 149, 130, 113, 98]);
    }
}
