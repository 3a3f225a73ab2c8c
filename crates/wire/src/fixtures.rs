//! Fixtures of several modules' tests: a connection, and arbitrary packets.

use core::net::{Ipv4Addr, Ipv6Addr};

use ackclock_packet::{
    AccurateEcn, Cookie, Ecn, FastOpen, Flags, IpMeta, QuickStart, QuickStartNonce, QuickStartRate,
    QuickStartResponse,
};
use ackclock_units::Mss;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::{Addresses, Direction, Headers, SackEdges, TcpOptions, Timestamps, Tuple};

pub const V4: Addresses =
    Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };

pub const V6: Addresses = Addresses::V6 {
    source: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1),
    destination: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2),
};

/// From port 40000 to port 80, its numbers from `0x1000_0000`, the other side's from `0x2000_0000`,
/// windows shifted by 7.
pub const fn direction(addresses: Addresses) -> Direction {
    let tuple = Tuple { addresses, source_port: 40_000, destination_port: 80 };
    Direction::new(tuple, 0x1000_0000, 0x2000_0000).with_window_shift(7)
}

pub fn rates() -> impl Strategy<Value = QuickStartRate> {
    (0..=15_u8).prop_map(|code| QuickStartRate::from_code(code).unwrap())
}

pub fn nonces() -> impl Strategy<Value = QuickStartNonce> {
    any::<u32>().prop_map(QuickStartNonce::new)
}

pub fn quick_starts() -> impl Strategy<Value = QuickStart> {
    (any::<bool>(), rates(), any::<u8>(), nonces()).prop_map(|(report, rate, ttl, nonce)| {
        if report {
            QuickStart::Report { rate, nonce }
        } else {
            QuickStart::Request { rate, ttl, nonce }
        }
    })
}

pub fn responses() -> impl Strategy<Value = QuickStartResponse> {
    (rates(), any::<u8>(), nonces()).prop_map(|(rate, ttl_diff, nonce)| QuickStartResponse {
        rate,
        ttl_diff,
        nonce,
    })
}

pub fn addresses() -> impl Strategy<Value = Addresses> {
    prop_oneof![
        (any::<u32>(), any::<u32>()).prop_map(|(source, destination)| Addresses::V4 {
            source: source.into(),
            destination: destination.into(),
        }),
        (any::<u128>(), any::<u128>()).prop_map(|(source, destination)| Addresses::V6 {
            source: source.into(),
            destination: destination.into(),
        }),
    ]
}

pub fn tuples() -> impl Strategy<Value = Tuple> {
    (addresses(), any::<u16>(), any::<u16>()).prop_map(
        |(addresses, source_port, destination_port)| Tuple {
            addresses,
            source_port,
            destination_port,
        },
    )
}

pub fn flags() -> impl Strategy<Value = Flags> {
    vec(any::<bool>(), ALL_FLAGS.len()).prop_map(|set| {
        ALL_FLAGS
            .iter()
            .zip(set)
            .fold(Flags::NONE, |flags, (&flag, set)| if set { flags | flag } else { flags })
    })
}

pub fn ip_metas() -> impl Strategy<Value = IpMeta> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    (ecn, any::<u8>()).prop_map(|(ecn, ttl)| IpMeta { ecn, ttl })
}

pub fn segment_sizes() -> impl Strategy<Value = Mss> {
    (1..=u16::MAX).prop_map(|bytes| Mss::new(bytes).unwrap())
}

/// Any options, whether they fit into a header or not.
pub fn all_options() -> impl Strategy<Value = TcpOptions> {
    (
        option::of(segment_sizes()),
        option::of(any::<u8>()),
        any::<bool>(),
        vec(any::<(u32, u32)>(), 0..=4),
        option::of(any::<(u32, u32)>()),
        option::of(responses()),
        option::of((vec(any::<u8>(), 0..=17), any::<bool>())),
        option::of((any::<bool>(), vec(0_u32..1 << 24, 0..=3))),
    )
        .prop_map(
            |(
                mss,
                window_scale,
                sack_permitted,
                blocks,
                timestamps,
                quick_start,
                cookie,
                accurate,
            )| {
                let mut sack = SackEdges::default();
                for (left, right) in blocks {
                    sack.push(left, right);
                }
                TcpOptions {
                    mss,
                    window_scale,
                    sack_permitted,
                    sack,
                    timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                    quick_start,
                    fast_open: cookie.map(|(bytes, experimental)| FastOpen {
                        cookie: Cookie::new(&bytes),
                        experimental,
                    }),
                    accurate_ecn: accurate
                        .and_then(|(first, counters)| AccurateEcn::new(first, &counters)),
                }
            },
        )
}

/// Options that fit: of those that do not, the SACK blocks and Fast Open are left out, and then they do.
pub fn options() -> impl Strategy<Value = TcpOptions> {
    all_options().prop_map(|options| {
        if options.len() <= 40 {
            options
        } else {
            TcpOptions { sack: SackEdges::default(), fast_open: None, ..options }
        }
    })
}

pub fn headers() -> impl Strategy<Value = Headers> {
    let numbers = any::<(u32, u32, u16)>();
    (tuples(), ip_metas(), option::of(quick_starts()), numbers, flags(), options()).prop_map(
        |(tuple, ip, quick_start, (seq, ack, window), flags, options)| Headers {
            tuple,
            ip,
            quick_start,
            seq,
            ack: if flags.contains(Flags::ACK) { ack } else { 0 },
            flags,
            window,
            options,
        },
    )
}

const ALL_FLAGS: [Flags; 8] =
    [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR, Flags::AE];
