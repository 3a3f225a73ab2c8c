//! The kernel's report on the TCP connections of a namespace, by netlink (`sock_diag`).

use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::OwnedFd;

use ackclock_sim::scenario::NetworkSpec;

use crate::machine::netlink::{Message, attributes, messages};
use crate::sys::{self, SocketKind, TcpInfo};

const BY_FAMILY: u16 = 20;
const DUMP: u16 = 0x300;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const INFO: u16 = 2;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const TCP: u8 = 6;
/// Every state from SYN-SENT on but TIME-WAIT and LISTEN.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its own address and port, and its peer's.
    pub local: (IpAddr, u16),
    /// The peer's.
    pub remote: (IpAddr, u16),
    /// The number that the kernel gives it, unique on the machine.
    pub cookie: u64,
    /// The kernel's counters of the connection.
    pub info: TcpInfo,
}

/// A conversation about the sockets of one namespace.
#[derive(Debug)]
pub struct Diagnosis {
    socket: OwnedFd,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Diagnosis {
    /// Opens a conversation about the connections over `network` of the calling thread's namespace.
    ///
    /// # Errors
    /// The kernel was built without it.
    pub fn open(network: NetworkSpec) -> io::Result<Self> {
        let family = match network {
            NetworkSpec::Ipv4 => AF_INET,
            NetworkSpec::Ipv6 => AF_INET6,
        };
        let mut fixed = [0; 56];
        fixed[..3].copy_from_slice(&[family, TCP, 1 << (INFO - 1)]);
        fixed[4..8].copy_from_slice(&STATES.to_ne_bytes());
        let request = Message::new(BY_FAMILY, DUMP, &fixed).finish();
        Ok(Self { socket: sys::netlink(SocketKind::Diagnosis)?, request, buffer: vec![0; 1 << 16] })
    }

    /// Tells `take` of every connection.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn each(&mut self, mut take: impl FnMut(&Connection)) -> io::Result<()> {
        let mut request = self.request.as_slice();
        loop {
            let len = sys::send_and_receive(&self.socket, request, &mut self.buffer)?;
            request = &[];
            for (kind, body) in messages(&self.buffer[..len]) {
                match kind {
                    DONE => return Ok(()),
                    ERROR => return Err(io::Error::other("the kernel has no sock_diag of TCP")),
                    _ => {
                        if let Some(connection) = connection(body) {
                            take(&connection);
                        }
                    }
                }
            }
        }
    }
}

/// The ends of sockets, as they come.
#[derive(Debug)]
pub struct DestroyEvents {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl DestroyEvents {
    /// Opens the notifications of the calling thread's namespace.
    ///
    /// # Errors
    /// The kernel was built without it.
    pub fn open() -> io::Result<Self> {
        Ok(Self { socket: sys::destroy_events()?, buffer: vec![0; 1 << 13] })
    }

    /// Tells `take` of every connection that is gone since the last call, with its last counters.
    pub fn each(&mut self, mut take: impl FnMut(&Connection)) {
        while let Some(len) = sys::receive_now(&self.socket, &mut self.buffer) {
            for (_, body) in messages(&self.buffer[..len]) {
                if let Some(connection) = connection(body) {
                    take(&connection);
                }
            }
        }
    }
}

/// Reads a connection from a `struct inet_diag_msg` and its attributes.
fn connection(body: &[u8]) -> Option<Connection> {
    let port = |at: usize| Some(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?));
    let address = |at: usize| {
        let octets: [u8; 16] = body.get(at..at + 16)?.try_into().ok()?;
        let [a, b, c, d, ..] = octets;
        let four = *body.first()? == AF_INET;
        Some(if four { IpAddr::from([a, b, c, d]) } else { Ipv6Addr::from(octets).to_canonical() })
    };
    let (_, info) = attributes(body.get(72..)?).find(|(kind, _)| *kind == INFO)?;
    Some(Connection {
        local: (address(8)?, port(4)?),
        remote: (address(24)?, port(6)?),
        cookie: u64::from_ne_bytes(body.get(44..52)?.try_into().ok()?),
        info: TcpInfo::read(info),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `struct inet_diag_msg` from 10.0.0.1 port 80 to 10.128.0.1 port 4660 with the cookie 7, and
    /// a `struct tcp_info` that is all zeros but for its state.
    fn body(family: u8, address: impl Fn([u8; 4]) -> [u8; 16]) -> Vec<u8> {
        let mut body = vec![family, 1, 0, 0, 0, 80, 0x12, 0x34];
        body.extend(address([10, 0, 0, 1]));
        body.extend(address([10, 128, 0, 1]));
        body.extend([0; 4]);
        body.extend(7_u64.to_ne_bytes());
        body.resize(72, 0);
        let info = [vec![TcpInfo::ESTABLISHED], vec![0; 231]].concat();
        body.extend(236_u16.to_ne_bytes());
        body.extend(INFO.to_ne_bytes());
        body.extend(info);
        body
    }

    #[test]
    fn a_socket_of_ipv6_that_speaks_ipv4_has_its_addresses() {
        let plain = |octets: [u8; 4]| {
            let mut address = [0; 16];
            address[..4].copy_from_slice(&octets);
            address
        };
        // RFC 4291 section 2.5.5.2: ten bytes of zeros, two of ones, the IPv4 address.
        let mapped = |octets: [u8; 4]| {
            let mut address = [0; 16];
            address[10..12].fill(0xff);
            address[12..].copy_from_slice(&octets);
            address
        };
        let seen = connection(&body(AF_INET, plain)).unwrap();
        assert_eq!(seen.local, (IpAddr::from([10, 0, 0, 1]), 80));
        assert_eq!(seen.remote, (IpAddr::from([10, 128, 0, 1]), 0x1234));
        assert_eq!((seen.cookie, seen.info.state), (7, TcpInfo::ESTABLISHED));
        assert_eq!(connection(&body(AF_INET6, mapped)).unwrap(), seen);
        let six = connection(&body(AF_INET6, plain)).unwrap();
        assert!(six.local.0.is_ipv6() && six.remote.0.is_ipv6());
    }
}
