//! The namespace in which scripts are run: a TUN device, and the thread that reads it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use ackclock_units::Duration;
use ackclock_wire::Addresses;

use crate::base::error::LiveError;
use crate::base::offload::VNET;
use crate::base::options::PortKind;
use crate::machine::kernel;
use crate::machine::net_ns::{NetNs, set_sysctl};
use crate::machine::netlink::{Netlink, RouteMetrics};
use crate::sys::{self, Interest, Poll, TunPackets};

/// packetdrill's addresses: the kernel's end, and the script's (RFC 5737 for the latter).
const IPV4: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 168, 0, 1), Ipv4Addr::new(192, 0, 2, 1)];
pub(super) const IPV4_NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(192, 0, 2, 0), 24);
/// The two addresses in IPv6: a unique local address (RFC 4193), and one for documentation (RFC 3849).
const IPV6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0, 0, 3, 0, 0, 0, 1), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)];
pub(super) const IPV6_NETWORK: (Ipv6Addr, u8) =
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 64);

const DEVICE: &str = "ackclock0";
const MTU: u32 = 1500;
/// The real-time priority of the reading thread, above that of the threads of scripts.
const PRIORITY: u8 = 10;
/// The interval at which the reading thread checks the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// The kernel's first port; those of the script are the same numbers.
pub(super) const FIRST_PORT: u16 = 8080;
/// The number of ports that are used in turn.
pub(super) const PORTS: u32 = 57_000;

/// Settings of a new namespace, before any of a script's.
const SETTINGS: [(&str, &str); 8] = [
    // One connection must not know the last.
    ("net.ipv4.tcp_no_metrics_save", "1"),
    // Writes are taken whole, as our end point takes them.
    ("net.ipv4.tcp_wmem", "4096 4194304 67108864"),
    // The defaults of the kernel's sources; a namespace may begin with those of its machine.
    ("net.ipv4.tcp_rmem", "4096 131072 33554432"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_window_scaling", "1"),
    ("net.ipv4.tcp_ecn", "2"),
    ("net.ipv4.tcp_fastopen", "1"),
];

/// A packet of the kernel's, and when it was read (`CLOCK_MONOTONIC`).
#[derive(Debug)]
pub(super) struct ReceivedPacket {
    pub(super) at_ns: u64,
    pub(super) bytes: Vec<u8>,
}

/// A namespace of the kernel's with a TUN device.
#[derive(Debug)]
pub struct Judge {
    pub(super) namespace: NetNs,
    pub(super) device: u32,
    pub(super) tun: Arc<SharedTun>,
    reader: Option<JoinHandle<()>>,
    pub(super) next_port: AtomicU32,
    /// True if it has but one connection, whose script may set what all connections share.
    pub(super) alone: bool,
    /// IPv6 is set up, too.
    ipv6: AtomicBool,
}

/// The TUN device and the queues of the stacks, shared with the reading thread.
#[derive(Debug)]
pub(super) struct SharedTun {
    file: File,
    /// The queues of the stacks, by the script's ports.
    stacks: Mutex<BTreeMap<u16, Sender<ReceivedPacket>>>,
    stop: AtomicBool,
}

impl Judge {
    /// A namespace for one script, which may change its settings.
    ///
    /// # Errors
    /// Namespaces or TUN devices cannot be made.
    pub fn new() -> Result<Self, LiveError> {
        Self::made(true)
    }

    /// A namespace for many connections at once.
    ///
    /// # Errors
    /// As above.
    pub fn shared() -> Result<Self, LiveError> {
        Self::made(false)
    }

    fn made(alone: bool) -> Result<Self, LiveError> {
        sys::open_many_files();
        let namespace = NetNs::new().map_err(LiveError::NoNamespace)?;
        let (file, device) = namespace
            .within(|| {
                let file = sys::tun(DEVICE, TunPackets::LargeIn)?;
                let mut netlink = Netlink::open()?;
                let device = netlink.device(DEVICE)?;
                netlink.set_up(device, MTU, 1)?;
                netlink.add_address(device, IPV4[0].into())?;
                let network = (IpAddr::V4(IPV4_NETWORK.0), IPV4_NETWORK.1);
                netlink.add_route(device, network, &RouteMetrics::default())?;
                for (name, value) in SETTINGS {
                    set_sysctl(name, value)?;
                }
                Ok((file, device))
            })
            .map_err(|why| LiveError::NoDevice { kind: PortKind::Tun, why })?;
        let tun = SharedTun { file, stacks: Mutex::default(), stop: AtomicBool::new(false) };
        let tun = Arc::new(tun);
        let shared = Arc::clone(&tun);
        let reader = std::thread::Builder::new()
            .name("judge".to_owned())
            .spawn(move || shared.read())
            .map_err(LiveError::step("start a thread"))?;
        Ok(Self {
            namespace,
            device,
            tun,
            reader: Some(reader),
            next_port: AtomicU32::new(0),
            alone,
            ipv6: AtomicBool::new(false),
        })
    }

    /// The addresses of what the script sends.
    pub(super) fn addresses(ipv6: bool) -> Addresses {
        if ipv6 {
            Addresses::V6 { source: IPV6[1], destination: IPV6[0] }
        } else {
            Addresses::V4 { source: IPV4[1], destination: IPV4[0] }
        }
    }

    /// The address of a side: 0 the kernel, 1 the script.
    pub(super) fn address(ipv6: bool, side: usize) -> IpAddr {
        if ipv6 { IPV6[side].into() } else { IPV4[side].into() }
    }

    /// Has the namespace speak IPv6.
    pub(super) fn set_up_ipv6(&self) -> std::io::Result<()> {
        if self.ipv6.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.namespace.within(|| {
            for (name, value) in kernel::IPV6 {
                set_sysctl(name, value)?;
            }
            set_sysctl(&format!("net.ipv6.conf.{DEVICE}.accept_dad"), "0")?;
            let mut netlink = Netlink::open()?;
            netlink.add_address(self.device, IPV6[0].into())?;
            let network = (IpAddr::V6(IPV6_NETWORK.0), IPV6_NETWORK.1);
            netlink.add_route(self.device, network, &RouteMetrics::default())
        })
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.tun.stop.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            // A panic of the reader's has been printed, and every script has seen nothing more.
            let _ = reader.join();
        }
    }
}

impl SharedTun {
    /// The queues of the stacks.
    pub(super) fn stacks(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<u16, Sender<ReceivedPacket>>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives every packet of the kernel's to its stack, until it is to stop.
    fn read(&self) {
        sys::request_realtime(PRIORITY);
        let mut buffer = vec![0; VNET + (1 << 16)];
        let mut poll = Poll::default();
        while !self.stop.load(Ordering::Relaxed) {
            poll.clear();
            poll.add(self.file.as_raw_fd(), Interest { read: true, write: false });
            if !poll.wait(LOOK).unwrap_or(false) {
                continue;
            }
            loop {
                match (&self.file).read(&mut buffer) {
                    Ok(len) => self.deliver(buffer[..len].get(VNET..).unwrap_or_default()),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => return,
                }
            }
        }
    }

    fn deliver(&self, packet: &[u8]) {
        let at_ns = sys::monotonic_ns();
        let Some(port) = destination_port(packet) else { return };
        if let Some(stack) = self.stacks().get(&port) {
            // A stack that is gone wants nothing.
            let _ = stack.send(ReceivedPacket { at_ns, bytes: packet.to_vec() });
        }
    }

    /// Gives the kernel a packet behind its header.
    pub(super) fn write(&self, packet: &[u8]) -> std::io::Result<()> {
        (&self.file).write(packet).map(drop)
    }
}

/// The port that a TCP segment goes to.
fn destination_port(packet: &[u8]) -> Option<u16> {
    const TCP: u8 = 6;
    let (protocol, header) = match packet.first()? >> 4 {
        4 => (*packet.get(9)?, usize::from(packet[0] & 15) * 4),
        6 => (*packet.get(6)?, 40),
        _ => return None,
    };
    let port = packet.get(header + 2..header + 4)?;
    (protocol == TCP).then(|| u16::from_be_bytes([port[0], port[1]]))
}
