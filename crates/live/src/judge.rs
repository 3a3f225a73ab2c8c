//! The kernel's TCP as the stack that a script is run against: one connection of a namespace of ours, whose peer is the
//! script behind a TUN device.
//!
//! A [`Judge`] is a namespace with its device. It may have many connections at once, told apart by their
//! ports; each is a [`KernelStack`], which waits in real time. A thread reads what the kernel sends and
//! stamps it. Nothing outlives the process (decision 0015).

mod calls;
mod settings;
mod stack;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use ackclock_script::duel::{Answer, Case, play};
use ackclock_script::{Failure, Report, Script, Seen, Settings, run_watched};
use ackclock_units::Duration;
use ackclock_wire::Addresses;

use crate::LiveError;
use crate::netlink::{Netlink, RouteMetrics};
use crate::port::PortKind;
use crate::space::{Space, set_sysctl};
use crate::sys::{self, Interest, Poll};

pub use stack::KernelStack;

/// The outcome of a script that was run against the kernel.
#[derive(Debug)]
pub struct Judged {
    /// Why it failed, or what it did.
    pub result: Result<Report, Failure>,
    /// The packets that the kernel sent.
    pub seen: Vec<Seen>,
    /// True if it was run a second time, because the machine disturbed the first.
    pub again: bool,
}

/// A script that fails after its own events came so late is run once more: half of packetdrill's
/// tolerance, so that the kernel's tick has the rest.
const DISTURBED: Duration = Duration::from_millis(2);
/// Of the threads of scripts, below that of the readers.
const SCRIPT_PRIORITY: u8 = 5;

/// Runs a script against this machine's kernel, in a namespace of its own.
///
/// # Errors
/// There is no namespace or device to be had.
pub fn judge(
    script: &Script,
    settings: &Settings,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Judged, LiveError> {
    let once = || {
        std::thread::scope(|scope| {
            let run = || {
                let judge = Judge::new()?;
                sys::hurry(SCRIPT_PRIORITY);
                let mut stack = judge.stack().until_cancelled(cancelled);
                let (result, seen) = run_watched(script, &mut stack, settings);
                Ok::<_, LiveError>((result, seen, stack.latest_wake()))
            };
            scope.spawn(run).join()
        })
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    let (result, seen, late) = once()?;
    if result.is_ok() || late < DISTURBED || cancelled() {
        return Ok(Judged { result, seen, again: false });
    }
    let (result, seen, _) = once()?;
    Ok(Judged { result, seen, again: true })
}

/// packetdrill's addresses: the kernel's end, and the script's (RFC 5737 for the latter).
const IPV4: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 168, 0, 1), Ipv4Addr::new(192, 0, 2, 1)];
const IPV4_NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(192, 0, 2, 0), 24);
/// The same of IPv6: a unique local address (RFC 4193), and one for documentation (RFC 3849).
const IPV6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0, 0, 3, 0, 0, 0, 1), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)];
const IPV6_NETWORK: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 64);

const DEVICE: &str = "ackclock0";
const MTU: u32 = 1500;
/// Above the threads of scripts.
const PRIORITY: u8 = 10;
/// How often the reading thread looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);
/// The kernel's first port; those of the script are the same numbers.
const FIRST_PORT: u16 = 8080;
const PORTS: u32 = 57_000;

/// Settings of a new namespace, before any of a script's.
const SETTINGS: [(&str, &str); 7] = [
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
];

/// A packet of the kernel's, and when it was read (`CLOCK_MONOTONIC`).
#[derive(Debug)]
struct Arrived {
    at_ns: u64,
    bytes: Vec<u8>,
}

/// A namespace of the kernel's with a TUN device.
#[derive(Debug)]
pub struct Judge {
    space: Space,
    device: u32,
    wire: Arc<Wire>,
    reader: Option<JoinHandle<()>>,
    next_port: AtomicU32,
    /// True if it has but one connection, whose script may set what all connections share.
    alone: bool,
    /// IPv6 is set up, too.
    ipv6: AtomicBool,
}

/// What the reading thread and the stacks share.
#[derive(Debug)]
struct Wire {
    file: File,
    /// By the script's ports.
    stacks: Mutex<BTreeMap<u16, Sender<Arrived>>>,
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
        let space = Space::new().map_err(LiveError::NoNamespace)?;
        let (file, device) = space
            .within(|| {
                let file = sys::tun(DEVICE, false)?;
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
        let wire = Wire { file, stacks: Mutex::default(), stop: AtomicBool::new(false) };
        let wire = Arc::new(wire);
        let shared = Arc::clone(&wire);
        let reader = std::thread::Builder::new()
            .name("judge".to_owned())
            .spawn(move || shared.read())
            .map_err(LiveError::step("start a thread"))?;
        Ok(Self {
            space,
            device,
            wire,
            reader: Some(reader),
            next_port: AtomicU32::new(0),
            alone,
            ipv6: AtomicBool::new(false),
        })
    }

    /// A connection with ports of its own.
    pub fn stack(&self) -> KernelStack<'_> {
        let number = self.next_port.fetch_add(1, Ordering::Relaxed);
        let port = FIRST_PORT + u16::try_from(number % PORTS).unwrap_or(0);
        let (sender, arrivals) = channel();
        self.wire.stacks().insert(port, sender);
        KernelStack::new(self, port, arrivals)
    }

    /// The addresses of what the script sends.
    fn addresses(ipv6: bool) -> Addresses {
        if ipv6 {
            Addresses::V6 { source: IPV6[1], destination: IPV6[0] }
        } else {
            Addresses::V4 { source: IPV4[1], destination: IPV4[0] }
        }
    }

    fn address(ipv6: bool, side: usize) -> IpAddr {
        if ipv6 { IPV6[side].into() } else { IPV4[side].into() }
    }

    /// Has the namespace speak IPv6.
    fn set_up_ipv6(&self) -> std::io::Result<()> {
        if self.ipv6.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.space.within(|| {
            for (name, value) in crate::kernel::IPV6 {
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
        self.wire.stop.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            // A panic of the reader's has been printed, and every script has seen nothing more.
            let _ = reader.join();
        }
    }
}

impl Wire {
    fn stacks(&self) -> std::sync::MutexGuard<'_, BTreeMap<u16, Sender<Arrived>>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives every packet of the kernel's to its stack, until it is to stop.
    fn read(&self) {
        sys::hurry(PRIORITY);
        let mut buffer = vec![0; 1 << 16];
        let mut poll = Poll::default();
        while !self.stop.load(Ordering::Relaxed) {
            poll.clear();
            poll.add(self.file.as_raw_fd(), Interest { read: true, write: false });
            if !poll.wait(LOOK).unwrap_or(false) {
                continue;
            }
            loop {
                match (&self.file).read(&mut buffer) {
                    Ok(len) => self.deliver(&buffer[..len]),
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
            let _ = stack.send(Arrived { at_ns, bytes: packet.to_vec() });
        }
    }

    /// Gives the kernel a packet.
    fn write(&self, packet: &[u8]) -> std::io::Result<()> {
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

/// What the kernel answered to a case, and by how much the case was late at worst.
pub type Answered = Result<(Vec<Answer>, Duration), String>;

/// Gives `cases` to the kernel, so many of them at once, each to a connection of its own; in their order.
pub fn answers(
    judge: &Judge,
    cases: &[Case],
    at_once: usize,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Vec<Answered> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Answered)>> = Mutex::default();
    let work = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(n).filter(|_| !cancelled()) else { return };
            let mut stack = judge.stack().until_cancelled(cancelled);
            let answered = play(case, &mut stack).map(|all| (all, stack.latest_wake()));
            done.lock().unwrap_or_else(PoisonError::into_inner).push((n, answered));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(cases.len()) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, answered)| answered).collect()
}

#[cfg(test)]
mod tests;
