//! The devices of ports: a TUN device, or a pair of Ethernet devices where TUN is closed.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

use ackclock_sim::scenario::NetworkSpec;
use ackclock_units::Instant;

use crate::base::header::LEAD;
use crate::base::offload::{Incoming, Outgoing};
use crate::base::options::PortKind;
use crate::machine::net_ns::NetNs;
use crate::machine::netlink::{DeviceCounters, Netlink};
use crate::ports::port::Port;
use crate::sys::{self, TunPackets};

/// The device's name in its host's namespace.
const DEVICE: &str = "ackclock0";
/// The other device of a pair, in the path's.
const FAR: &str = "ackclock1";

/// Opens a port of `host`, for packets over `network` of at most `mtu` bytes. The far ends of pairs are in
/// `middle`. Of a TUN device the host's TCP may give up to `segments` packets in one call.
///
/// # Errors
/// The device cannot be made.
pub fn open(
    kind: PortKind,
    host: &NetNs,
    middle: &NetNs,
    network: NetworkSpec,
    mtu: u32,
    segments: u32,
) -> io::Result<Box<dyn Port>> {
    match kind {
        PortKind::Tun => {
            let offload = segments > 1;
            let (file, device, netlink) = host.within(|| {
                let file =
                    sys::tun(DEVICE, if offload { TunPackets::Large } else { TunPackets::Plain })?;
                let mut netlink = Netlink::open()?;
                let device = netlink.device(DEVICE)?;
                netlink.set_up(device, mtu, segments)?;
                Ok((file, device, netlink))
            })?;
            let tun = Tun { file, device, netlink: netlink.into() };
            if offload {
                let (incoming, outgoing) = (Incoming::new(), Outgoing::new());
                return Ok(Box::new(OffloadTun { tun, incoming, outgoing }));
            }
            Ok(Box::new(tun))
        }
        PortKind::Pair => {
            let (device, netlink) = host.within(|| {
                let mut netlink = Netlink::open()?;
                netlink.add_pair(DEVICE, FAR, middle.file())?;
                let device = netlink.device(DEVICE)?;
                netlink.set_up_pair(device, mtu, NEAR_ADDRESS)?;
                sys::switch_offloads_off(DEVICE)?;
                Ok((device, netlink))
            })?;
            let (file, far) = middle.within(|| {
                let mut netlink = Netlink::open()?;
                let far = netlink.device(FAR)?;
                // The next pair's far end has the same name.
                let name = format!("ackclock-{far}");
                netlink.rename(far, &name)?;
                netlink.set_up_pair(far, mtu, FAR_ADDRESS)?;
                sys::switch_offloads_off(&name)?;
                Ok((File::from(sys::packet_socket(far, ether_type(network))?), far))
            })?;
            let far = (middle.within(Netlink::open)?.into(), far);
            let ether_type = ether_type(network).to_be_bytes();
            Ok(Box::new(Pair { file, device, netlink: netlink.into(), far, ether_type }))
        }
    }
}

/// The number of its packets in Ethernet headers.
const fn ether_type(network: NetworkSpec) -> u16 {
    match network {
        NetworkSpec::Ipv4 => 0x0800,
        NetworkSpec::Ipv6 => 0x86dd,
    }
}

/// A conversation that counters are asked in.
type SharedNetlink = std::sync::Mutex<Netlink>;

fn ask(netlink: &SharedNetlink, device: u32) -> io::Result<DeviceCounters> {
    netlink.lock().unwrap_or_else(std::sync::PoisonError::into_inner).counters(device)
}

/// True if a failed write lost one packet, rather than the device.
fn is_lost(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN | libc::ENOMEM))
}

/// The number of packets that a call which stands for `packets` did not give to the host.
fn written(result: io::Result<usize>, packets: usize) -> io::Result<u64> {
    match result {
        Ok(_) => Ok(0),
        Err(error) if is_lost(&error) => Ok(packets as u64),
        Err(error) => Err(error),
    }
}

struct Tun {
    file: File,
    device: u32,
    netlink: SharedNetlink,
}

impl Port for Tun {
    fn file(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn read(&mut self, _: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(&mut buffer[LEAD..]) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, _: Instant, buffer: &mut [u8], _: bool) -> io::Result<u64> {
        written(self.file.write(&buffer[LEAD..]), 1)
    }

    fn counters(&self) -> io::Result<DeviceCounters> {
        ask(&self.netlink, self.device)
    }

    fn device(&self) -> Option<u32> {
        Some(self.device)
    }
}

/// A TUN device that takes and gives several segments in one call.
struct OffloadTun {
    tun: Tun,
    incoming: Incoming,
    outgoing: Outgoing,
}

impl Port for OffloadTun {
    fn file(&self) -> RawFd {
        self.tun.file()
    }

    fn read(&mut self, _: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.incoming.is_empty() {
            match self.tun.file.read(self.incoming.room()) {
                Ok(len) => self.incoming.fill(len)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(self.incoming.next(buffer))
    }

    fn write(&mut self, _: Instant, buffer: &mut [u8], intact: bool) -> io::Result<u64> {
        let packet = &buffer[LEAD..];
        let mut refused = 0;
        if !(intact && self.outgoing.takes(packet)) {
            refused += self.flush()?;
        }
        self.outgoing.add(packet, intact);
        if !intact {
            refused += self.flush()?;
        }
        Ok(refused)
    }

    fn keeps(&self) -> bool {
        true
    }

    fn flush(&mut self) -> io::Result<u64> {
        let Some((bytes, packets)) = self.outgoing.take() else { return Ok(0) };
        written(self.tun.file.write(bytes), packets)
    }

    fn counters(&self) -> io::Result<DeviceCounters> {
        self.tun.counters()
    }

    fn device(&self) -> Option<u32> {
        self.tun.device()
    }
}

/// Addresses of the two ends of a pair: locally administered, the same for each pair.
const NEAR_ADDRESS: [u8; 6] = [2, 0, 0, 0, 0, 1];
const FAR_ADDRESS: [u8; 6] = [2, 0, 0, 0, 0, 2];

struct Pair {
    file: File,
    device: u32,
    netlink: SharedNetlink,
    /// The far end.
    far: (SharedNetlink, u32),
    ether_type: [u8; 2],
}

impl Port for Pair {
    fn file(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn read(&mut self, _: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(len) => Ok(Some(len.saturating_sub(LEAD))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, _: Instant, buffer: &mut [u8], _: bool) -> io::Result<u64> {
        buffer[..6].copy_from_slice(&NEAR_ADDRESS);
        buffer[6..12].copy_from_slice(&FAR_ADDRESS);
        buffer[12..LEAD].copy_from_slice(&self.ether_type);
        written(self.file.write(buffer), 1)
    }

    fn counters(&self) -> io::Result<DeviceCounters> {
        let near = ask(&self.netlink, self.device)?;
        let far = ask(&self.far.0, self.far.1)?;
        let dropped = [0, 1].map(|way| near.dropped[way] + far.dropped[way]);
        Ok(DeviceCounters { packets: near.packets, dropped })
    }

    fn device(&self) -> Option<u32> {
        Some(self.device)
    }

    fn far_device(&self) -> Option<u32> {
        Some(self.far.1)
    }
}
