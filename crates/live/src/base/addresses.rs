//! The addresses and ports of hosts, which say the flow and the side of each packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ackclock_sim::scenario::NetworkSpec;

/// Ports of every connection: that of the sender, or client, is an ephemeral one, that of the receiver is
/// the discard service's (RFC 863), as in captures of simulated links.
pub const SENDER_PORT: u16 = 49_152;
/// The port of the receiver, or server.
pub const RECEIVER_PORT: u16 = 9;
/// The ports of the two sides.
pub const PORTS: [u16; 2] = [SENDER_PORT, RECEIVER_PORT];

/// The networks of all senders and of all receivers.
const IPV4_NETWORKS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 0), Ipv4Addr::new(10, 128, 0, 0)];
/// Unique local addresses (RFC 4193), which nobody outside ever sees.
const IPV6_NETWORKS: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 0), Ipv6Addr::new(0xfd00, 0, 0, 2, 0, 0, 0, 0)];

/// The addresses of all senders (side 0) or all receivers (1), as a network.
pub const fn network(of: NetworkSpec, side: usize) -> (IpAddr, u8) {
    match of {
        NetworkSpec::Ipv4 => (IpAddr::V4(IPV4_NETWORKS[side]), 9),
        NetworkSpec::Ipv6 => (IpAddr::V6(IPV6_NETWORKS[side]), 64),
    }
}

/// The address of the sender (side 0) or receiver (1) of flow number `flow`, from 0: 10.0.0.1 and on, or
/// 10.128.0.1 and on.
pub fn ipv4(side: usize, flow: usize) -> Ipv4Addr {
    let n = 1 + u32::try_from(flow).expect("fewer than 2^23 flows");
    Ipv4Addr::from(u32::from(IPV4_NETWORKS[side]) + n)
}

/// The IPv6 address of an end of a flow: `fd00:0:0:1::1` and on, or `fd00:0:0:2::1` and on.
pub fn ipv6(side: usize, flow: usize) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(IPV6_NETWORKS[side]) + 1 + flow as u128)
}

/// The address of an end of a flow, in the protocol `of`.
pub fn address(of: NetworkSpec, side: usize, flow: usize) -> IpAddr {
    match of {
        NetworkSpec::Ipv4 => ipv4(side, flow).into(),
        NetworkSpec::Ipv6 => ipv6(side, flow).into(),
    }
}

/// The flow whose end has this address, and the way of what that end sends: 0 from the sender, 1 back.
pub fn flow_of(source: IpAddr) -> Option<(usize, usize)> {
    let (way, number) = match source {
        IpAddr::V4(source) => {
            let bits = u32::from(source);
            (usize::from(source.octets()[1] >= 128), u64::from(bits & 0x007f_ffff))
        }
        IpAddr::V6(source) => {
            let subnet = source.segments()[3];
            let number = u128::from(source) & u128::from(u64::MAX);
            (usize::from(subnet != 1), u64::try_from(number).ok()?)
        }
    };
    let flow = usize::try_from(number.checked_sub(1)?).ok()?;
    let of = if source.is_ipv4() { NetworkSpec::Ipv4 } else { NetworkSpec::Ipv6 };
    (flow < MOST_FLOWS && address(of, way, flow) == source).then_some((flow, way))
}

/// The number of flows for which an IPv4 network has room here.
const MOST_FLOWS: usize = (1 << 23) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_flows_and_ways() {
        let of = |text: &str| flow_of(text.parse().unwrap());
        assert_eq!(of("10.0.0.1"), Some((0, 0)));
        assert_eq!(of("10.128.1.44"), Some((299, 1)));
        assert_eq!(address(NetworkSpec::Ipv4, 1, 299).to_string(), "10.128.1.44");
        assert_eq!(of("10.0.0.0"), None);
        assert_eq!(of("11.0.0.1"), None);
        assert_eq!(of("fd00:0:0:1::1"), Some((0, 0)));
        // 299 + 1 = 0x12c.
        assert_eq!(of("fd00:0:0:2::12c"), Some((299, 1)));
        assert_eq!(address(NetworkSpec::Ipv6, 1, 299).to_string(), "fd00:0:0:2::12c");
        for stranger in ["fd00:0:0:3::1", "fd00:0:0:1::", "fe80::1", "fd00:0:0:1:1::1"] {
            assert_eq!(of(stranger), None, "{stranger}");
        }
    }
}
