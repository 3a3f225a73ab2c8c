//! Devices, addresses and routes by rtnetlink, in the calling thread's network namespace.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;

use crate::base::wall_clock;
use crate::sys::{self, SocketKind};

const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const GET_ROUTE: u16 = 26;
/// The type of routes to addresses of the host itself (`RTN_LOCAL`).
const LOCAL: u8 = 2;
/// The longest wait for the local route of an address.
const ROUTE_WITHIN: std::time::Duration = std::time::Duration::from_secs(5);

const REQUEST: u16 = 1;
const ACK: u16 = 4;
const CREATE_EXCLUSIVELY: u16 = 0x600;

const ERROR: u16 = 2;
/// The header of every message.
const HEADER: usize = 16;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// Addresses that are used without asking whether they are anybody else's (`IFA_F_NODAD`).
const NO_DETECTION: u8 = 2;

/// A message under construction.
#[derive(Debug)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A request of a kind, with the struct that follows its header.
    pub fn new(kind: u16, flags: u16, fixed: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(REQUEST | flags).to_ne_bytes());
        bytes.extend_from_slice(fixed);
        Self { bytes }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        // Messages here are a few hundred bytes.
        let len = u16::try_from(4 + value.len()).expect("a short attribute");
        self.bytes.extend_from_slice(&len.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// Adds an attribute of a whole number.
    #[must_use]
    pub fn with_u32(self, kind: u16, value: u32) -> Self {
        self.with(kind, &value.to_ne_bytes())
    }

    /// The attributes alone, to stand in another.
    fn attributes(self) -> Vec<u8> {
        self.bytes[HEADER..].to_vec()
    }

    /// The message as it is sent.
    pub fn finish(mut self) -> Vec<u8> {
        let len = u32::try_from(self.bytes.len()).expect("a short message");
        self.bytes[..4].copy_from_slice(&len.to_ne_bytes());
        self.bytes
    }
}

/// Attributes that stand in another.
fn nested() -> Message {
    Message::new(0, 0, &[])
}

/// The attributes in `bytes`: (kind, value).
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?);
        let value = bytes.get(4..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        // The highest bits are flags.
        Some((kind & 0x3fff, value))
    })
}

/// The messages in `bytes`: (kind, what follows the header).
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
        let body = bytes.get(HEADER..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, body))
    })
}

/// A conversation with the kernel about the namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// The counters of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Packets that it received and sent.
    pub packets: [u64; 2],
    /// Packets that it dropped instead.
    pub dropped: [u64; 2],
}

/// The metrics of a route: settings that it gives to TCP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteMetrics {
    /// The first window, in segments.
    pub initial_window: Option<u32>,
    /// True if every segment is acknowledged at once.
    pub quick_ack: bool,
    /// The smallest retransmission timeout, in milliseconds.
    pub min_rto_ms: Option<u32>,
    /// The congestion control of whoever does not choose one.
    pub congestion_control: Option<String>,
    /// The largest window that is offered.
    pub window: Option<u32>,
    /// The segment size that is offered, if it is not that of the device.
    pub advertised_mss: Option<u32>,
}

impl Netlink {
    /// Opens one.
    pub fn open() -> io::Result<Self> {
        Ok(Self { socket: sys::netlink(SocketKind::Route)?, buffer: vec![0; 1 << 16] })
    }

    /// Sends a request; returns what follows the header of the first message of the answer.
    fn ask(&mut self, message: Message) -> io::Result<&[u8]> {
        let len = sys::send_and_receive(&self.socket, &message.finish(), &mut self.buffer)?;
        let (kind, body) = messages(&self.buffer[..len])
            .next()
            .ok_or_else(|| io::Error::other("netlink gave no answer"))?;
        if kind == ERROR {
            let code = body.get(..4).and_then(|code| code.try_into().ok());
            let code = code.map_or(0, i32::from_ne_bytes);
            if code != 0 {
                return Err(io::Error::from_raw_os_error(-code));
            }
        }
        Ok(body)
    }

    /// The number of a device.
    pub fn device(&mut self, name: &str) -> io::Result<u32> {
        let body = self.ask(Message::new(GET_LINK, 0, &link(0, false)).with(3, &text(name)))?;
        let number = body.get(4..8).and_then(|number| number.try_into().ok());
        number.map(u32::from_ne_bytes).ok_or_else(|| io::Error::other("netlink: a short answer"))
    }

    /// The counters of device number `device`.
    pub fn counters(&mut self, device: u32) -> io::Result<DeviceCounters> {
        let body = self.ask(Message::new(GET_LINK, 0, &link(device, false)))?;
        let stats = attributes(body.get(16..).unwrap_or_default())
            .find(|(kind, _)| *kind == 23)
            .map(|(_, stats)| stats.to_vec())
            .unwrap_or_default();
        let count = |n: usize| {
            stats
                .get(8 * n..8 * n + 8)
                .map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().unwrap_or_default()))
        };
        Ok(DeviceCounters { packets: [count(0), count(1)], dropped: [count(6), count(7)] })
    }

    /// Sets up device number `device` for whole packets of at most `mtu` bytes, each of which is one
    /// segment, a queue that drops none of them, and switches it on.
    pub fn set_up(&mut self, device: u32, mtu: u32, segments: u32) -> io::Result<()> {
        let message = Message::new(NEW_LINK, ACK, &link(device, true))
            .with_u32(4, mtu)
            .with_u32(13, QUEUE_PACKETS)
            .with_u32(40, segments);
        self.ask(message).map(drop)
    }

    /// Sets up one end of a pair likewise, with an Ethernet address of its own; nobody asks for the
    /// other's by ARP.
    pub fn set_up_pair(&mut self, device: u32, mtu: u32, address: [u8; 6]) -> io::Result<()> {
        let mut fixed = link(device, true);
        // IFF_NOARP beside IFF_UP, in the flags and in the mask of what changes.
        let flags = 0x81_u32.to_ne_bytes();
        fixed[8..12].copy_from_slice(&flags);
        fixed[12..].copy_from_slice(&flags);
        let message = Message::new(NEW_LINK, ACK, &fixed)
            .with(1, &address)
            .with_u32(4, mtu)
            .with_u32(13, QUEUE_PACKETS)
            .with_u32(40, 1);
        self.ask(message).map(drop)
    }

    /// Gives device number `device`, which is not switched on, another name.
    pub fn rename(&mut self, device: u32, name: &str) -> io::Result<()> {
        self.ask(Message::new(NEW_LINK, ACK, &link(device, false)).with(3, &text(name))).map(drop)
    }

    /// Switches device number `device` on.
    pub fn switch_on(&mut self, device: u32) -> io::Result<()> {
        self.ask(Message::new(NEW_LINK, ACK, &link(device, true))).map(drop)
    }

    /// Makes a pair of devices: `name` here, and `peer` in the namespace `there`.
    pub fn add_pair(&mut self, name: &str, peer: &str, there: &OwnedFd) -> io::Result<()> {
        let there = there.as_raw_fd().to_ne_bytes();
        let peer = nested().with(3, &text(peer)).with(28, &there).attributes();
        let peer = [&link(0, false)[..], &peer].concat();
        let data = nested().with(1, &peer).attributes();
        let info = nested().with(1, &text("veth")).with(2, &data).attributes();
        let message = Message::new(NEW_LINK, ACK | CREATE_EXCLUSIVELY, &link(0, false))
            .with(3, &text(name))
            .with(18, &info);
        self.ask(message).map(drop)
    }

    /// Gives device number `device` an address.
    pub fn add_address(&mut self, device: u32, address: IpAddr) -> io::Result<()> {
        let mut fixed = match address {
            IpAddr::V4(_) => [AF_INET, 32, 0, 0, 0, 0, 0, 0],
            IpAddr::V6(_) => [AF_INET6, 128, NO_DETECTION, 0, 0, 0, 0, 0],
        };
        fixed[4..].copy_from_slice(&device.to_ne_bytes());
        let octets = octets(address);
        let message = Message::new(NEW_ADDRESS, ACK | CREATE_EXCLUSIVELY, &fixed)
            .with(1, &octets)
            .with(2, &octets);
        self.ask(message)?;
        if address.is_ipv6() { self.wait_until_local(&octets) } else { Ok(()) }
    }

    /// Waits until the IPv6 address `octets` is reached. The kernel answers before that: a work item adds the local
    /// route (`addrconf_dad_work`), and drops what comes earlier.
    fn wait_until_local(&mut self, octets: &[u8]) -> io::Result<()> {
        let begun = wall_clock::now();
        loop {
            // A struct rtmsg: family, bits of the destination; its type is the eighth byte.
            let fixed = [AF_INET6, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let answer = self.ask(Message::new(GET_ROUTE, 0, &fixed).with(1, octets));
            if answer.is_ok_and(|body| body.get(7) == Some(&LOCAL)) {
                return Ok(());
            }
            if begun.elapsed() > ROUTE_WITHIN {
                return Err(io::Error::other("the kernel did not make an address of IPv6 its own"));
            }
            thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// Leads packets for `network`, of which the first `bits` count, to device number `device`.
    pub fn add_route(
        &mut self,
        device: u32,
        network: (IpAddr, u8),
        metrics: &RouteMetrics,
    ) -> io::Result<()> {
        self.route(device, network, metrics, CREATE_EXCLUSIVELY)
    }

    /// Replaces the route that leads there.
    pub fn replace_route(
        &mut self,
        device: u32,
        network: (IpAddr, u8),
        metrics: &RouteMetrics,
    ) -> io::Result<()> {
        // NLM_F_CREATE | NLM_F_REPLACE.
        self.route(device, network, metrics, 0x500)
    }

    fn route(
        &mut self,
        device: u32,
        (network, bits): (IpAddr, u8),
        metrics: &RouteMetrics,
        how: u16,
    ) -> io::Result<()> {
        // The main table, set up by an administrator, on this link, unicast.
        let family = if network.is_ipv4() { AF_INET } else { AF_INET6 };
        let fixed = [family, bits, 0, 0, 254, 4, 253, 1, 0, 0, 0, 0];
        let mut of_tcp = nested();
        if let Some(segments) = metrics.initial_window {
            of_tcp = of_tcp.with_u32(11, segments);
        }
        if let Some(millis) = metrics.min_rto_ms {
            // The kernel heeds this one if it is locked alone, by its bit in metric 1, as `ip route` does.
            of_tcp = of_tcp.with_u32(13, millis).with_u32(1, 1 << 13);
        }
        if metrics.quick_ack {
            of_tcp = of_tcp.with_u32(15, 1);
        }
        if let Some(bytes) = metrics.window {
            of_tcp = of_tcp.with_u32(3, bytes);
        }
        if let Some(bytes) = metrics.advertised_mss {
            of_tcp = of_tcp.with_u32(8, bytes);
        }
        if let Some(name) = &metrics.congestion_control {
            of_tcp = of_tcp.with(16, &text(name));
        }
        let message = Message::new(NEW_ROUTE, ACK | how, &fixed)
            .with(1, &octets(network))
            .with_u32(4, device)
            .with(8, &of_tcp.attributes());
        self.ask(message).map(drop)
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Packets that wait for the emulated path to read them. With the usual 500 the kernel drops some when a
/// window opens, and nobody sees it.
const QUEUE_PACKETS: u32 = 10_000;

/// The struct of requests about device number `device`, 0 for none; `up` switches it on.
fn link(device: u32, up: bool) -> [u8; 16] {
    let mut fixed = [0; 16];
    fixed[4..8].copy_from_slice(&device.to_ne_bytes());
    // IFF_UP, in the flags and in the mask of what changes.
    let up = u32::from(up).to_ne_bytes();
    fixed[8..12].copy_from_slice(&up);
    fixed[12..].copy_from_slice(&up);
    fixed
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}
