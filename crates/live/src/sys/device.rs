//! Devices: TUN, and the offloads of a network card.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use super::{check, socket};

const TUNSETIFF: libc::c_ulong = 0x4004_54ca;

/// `TUNSETOFFLOAD` of `<linux/if_tun.h>`, and its flags for checksums and segmentation.
const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54d0;
const TUN_F_CSUM: libc::c_ulong = 1;
const TUN_F_TSO4: libc::c_ulong = 2;
const TUN_F_TSO6: libc::c_ulong = 4;

/// The packets of a TUN device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunPackets {
    /// Single, without a header.
    Plain,
    /// The host's are single, and those for it may be large, each behind a `virtio_net_hdr`.
    LargeIn,
    /// Both ways they may be large, each behind a `virtio_net_hdr`.
    Large,
}

/// Makes a TUN device, which is gone when the file is closed.
pub fn tun(name: &str, packets: TunPackets) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    // SAFETY: a struct of numbers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    put_name(&mut request.ifr_name, name);
    let header = if packets == TunPackets::Plain { 0 } else { libc::IFF_VNET_HDR };
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | header;
    request.ifr_ifru.ifru_flags = i16::try_from(flags).expect("flags below 2^15");
    // SAFETY: the request lives as long as the call, and is of the size that the kernel expects.
    check(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request) })?;
    if packets == TunPackets::Large {
        let offloads = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;
        // SAFETY: it takes a number.
        check(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD, offloads) })?;
    }
    Ok(file)
}

fn put_name(to: &mut [libc::c_char; libc::IFNAMSIZ], name: &str) {
    assert!(name.len() < to.len() && name.is_ascii(), "the names of devices are our own");
    for (to, byte) in to.iter_mut().zip(name.bytes()) {
        // ASCII.
        *to = libc::c_char::from_ne_bytes([byte]);
    }
}

/// Switches what a network card would do for the kernel off, so that packets are as they would be
/// on a wire.
pub fn switch_offloads_off(device: &str) -> io::Result<()> {
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    // ETHTOOL_SRXCSUM is left on: what comes in is to be checked. ETHTOOL_STXCSUM, SSG, STSO, SGSO, SGRO.
    const OFF: [u32; 5] = [0x17, 0x19, 0x1f, 0x24, 0x2c];
    let socket = socket::control()?;
    for command in OFF {
        let mut value = Value { command, data: 0 };
        // SAFETY: a struct of numbers and a pointer, for which zeros are valid.
        let mut request: libc::ifreq = unsafe { zeroed() };
        put_name(&mut request.ifr_name, device);
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: both structs live as long as the call.
        let answer =
            unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
        match check(answer) {
            // Segmentation is off already once scatter/gather is.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
            answer => drop(answer?),
        }
    }
    Ok(())
}
