//! A million packets of TCP through Quick-Start's programs in the kernel: ends and a router, on devices that compute and
//! verify every checksum. Needs root, a kernel with BTF and a build with the loader; passes without.
#![cfg(all(target_os = "linux", feature = "loader"))]
#![expect(unsafe_code, reason = "system calls for namespaces, a cookie and offloads")]
#![expect(clippy::print_stderr, reason = "figures of a measurement, with --nocapture")]

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use ackclock_kernel::{
    EndSettings, KernelEnds, KernelRouter, RequestStep, RouterBehaviour, RouterSettings,
};

const ADDRESSES: u8 = 20;
/// 1448 bytes a packet: a million and a little more.
const BYTES_EACH: usize = 1448 * 52_500;

/// Both tests use two processors and measure.
static ALONE: Mutex<()> = Mutex::new(());

fn settings(behaviour: RouterBehaviour) -> RouterSettings {
    RouterSettings {
        behaviour,
        threshold_bps: u64::MAX / 4,
        slot_ns: 100_000_000,
        history: 2,
        samples: 1,
        most: 15,
        deletes: false,
        forwards: true,
        tells: false,
        has_ethernet: true,
        out: None,
        random: [1, 2, 3, 4],
    }
}

/// Two namespaces with a pair of devices between them; gone with this.
struct Pair([String; 2]);

impl Pair {
    fn new() -> Self {
        let names = ["a", "b"].map(|end| format!("ackq{}{end}", std::process::id()));
        let pair = Self(names);
        let [a, b] = &pair.0;
        for (end, name) in pair.0.iter().enumerate() {
            ip(&["netns", "add", name]);
            // Its reports of groups have a hop limit of one, which a router drops.
            let setting = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
            pair.within(end, move || fs::write(setting, "1").unwrap());
        }
        ip(&["link", "add", "q0", "netns", a, "type", "veth", "peer", "name", "q1", "netns", b]);
        for (name, device, address) in [(a, "q0", "10.77.0.1/16"), (b, "q1", "10.77.0.2/16")] {
            // Room for the option in front of a full segment.
            ip(&["-n", name, "link", "set", device, "mtu", "1508", "up"]);
            ip(&["-n", name, "addr", "add", address, "dev", device]);
            ip(&["-n", name, "link", "set", "lo", "up"]);
            let route = ["route", "change", "10.77.0.0/16", "dev", device, "advmss", "1460"];
            ip(&[&["-n", name][..], &route].concat());
        }
        for n in 0..ADDRESSES {
            ip(&["-n", a, "addr", "add", &format!("10.77.1.{n}/16"), "dev", "q0"]);
        }
        pair
    }

    fn within<T: Send + 'static>(
        &self,
        end: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let name = self.0[end].clone();
        thread::spawn(move || {
            enter(&name);
            work()
        })
        .join()
        .unwrap()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

fn ip(words: &[&str]) {
    assert!(Command::new("ip").args(words).status().unwrap().success(), "ip {words:?}");
}

fn enter(name: &str) {
    let place = File::open(format!("/run/netns/{name}")).unwrap();
    // SAFETY: takes no pointer; this thread alone gets the namespace.
    assert_eq!(unsafe { libc::setns(place.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
}

fn index(device: &str) -> u32 {
    let name = CString::new(device).unwrap();
    // SAFETY: a string that ends with zero.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}

/// The number of this thread's network namespace (`SO_NETNS_COOKIE`).
fn cookie() -> u64 {
    const SO_NETNS_COOKIE: i32 = 71;
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let (mut cookie, mut len) = (0_u64, 8_u32);
    // SAFETY: eight bytes that are there to be written to, and their number.
    let got = unsafe {
        let (cookie, len) = ((&raw mut cookie).cast(), &raw mut len);
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE, cookie, len)
    };
    assert_eq!(got, 0);
    cookie
}

/// Has `device` leave nothing to others: every checksum is computed and verified, every packet is one.
fn without_offloads(device: &str) {
    /// `SIOCETHTOOL`, and `struct ifreq` with a pointer.
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        value: *mut [u32; 2],
        rest: [u64; 2],
    }
    const TX_CHECKSUMS: u32 = 0x17;
    // ETHTOOL_STSO, SGSO, SRXCSUM, SGRO, STXCSUM.
    for command in [0x1f, 0x24, 0x15, 0x2c, TX_CHECKSUMS] {
        let mut name = [0; 16];
        name[..device.len()].copy_from_slice(device.as_bytes());
        let mut value = [command, 0_u32];
        let mut request = Request { name, value: &raw mut value, rest: [0; 2] };
        // SAFETY: a new descriptor.
        let socket =
            unsafe { OwnedFd::from_raw_fd(libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)) };
        // SAFETY: a request and its value, which live as long as the call.
        let done = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
        // The others go with it, where a device has them.
        assert!(done == 0 || command != TX_CHECKSUMS);
    }
}

/// A count of this thread's namespace, of /proc/net/snmp.
fn count(protocol: &str, name: &str) -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with(&format!("{protocol}:")));
    let (heads, values) = (lines.next().unwrap(), lines.next().unwrap());
    let at = heads.split(' ').position(|head| head == name).unwrap();
    values.split(' ').nth(at).unwrap().parse().unwrap()
}

/// The packets that a device of this thread's namespace could not give to its peer, of /proc/net/dev.
fn dropped(device: &str) -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'));
    // Eight counts of what came in; then bytes, packets, errors, drops.
    line.unwrap().split_whitespace().nth(11).unwrap().parse().unwrap()
}

#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn a_million_packets_have_right_checksums() {
    if ackclock_kernel::needs().is_some() {
        return;
    }
    let _alone = ALONE.lock();
    let pair = Pair::new();
    // Routers in front of both ends: what comes in passes one.
    let routers = [(0, "q0"), (1, "q1")].map(|(end, device)| {
        pair.within(end, move || {
            without_offloads(device);
            let mut router = KernelRouter::load(&settings(RouterBehaviour::Admit)).unwrap();
            router.attach(index(device), true).unwrap();
            router.start(None).unwrap();
            router
        })
    });
    let ends = KernelEnds::load().unwrap();
    let takes_part = EndSettings {
        asks: 0,
        at_setup: true,
        after_idle: false,
        answers: true,
        most: 15,
        lies: 0,
        packet: 1500,
        payload: 1448,
        sets_threshold: false,
    };
    ends.add_end([10, 77, 0, 2], &takes_part).unwrap();
    for n in 0..ADDRESSES {
        // 327.68 Mbit/s, code 13.
        ends.add_end([10, 77, 1, n], &EndSettings { asks: 13, ..takes_part }).unwrap();
    }
    let ends = [(0, "q0"), (1, "q1")].into_iter().fold(ends, |mut ends, (end, device)| {
        pair.within(end, move || {
            ends.add_host(cookie(), index(device)).unwrap();
            ends
        })
    });
    let name = pair.0[1].clone();
    // It listens before anybody connects.
    let listener = pair.within(1, || TcpListener::bind("10.77.0.2:7000").unwrap());
    let server = thread::spawn(move || {
        enter(&name);
        for _ in 0..ADDRESSES {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = vec![0; 1 << 16];
            while stream.read(&mut buffer).unwrap() > 0 {}
        }
        [("Tcp", "InCsumErrors"), ("Ip", "InHdrErrors"), ("Tcp", "InErrs"), ("Tcp", "InSegs")]
            .map(|(protocol, name)| count(protocol, name))
    });
    let sent = pair.within(0, || {
        for n in 0..ADDRESSES {
            let mut stream = connect_from([10, 77, 1, n]);
            let chunk = vec![n; 1 << 16];
            let mut left = BYTES_EACH;
            while left > 0 {
                left -= stream.write(&chunk[..left.min(chunk.len())]).unwrap();
            }
            // All of it is there before the next connection asks: no SYN meets a full device, and is lost.
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        }
        [("Tcp", "InCsumErrors"), ("Ip", "InHdrErrors"), ("Tcp", "InErrs"), ("Tcp", "OutSegs")]
            .map(|(protocol, name)| count(protocol, name))
    });
    let received = server.join().unwrap();
    assert_eq!((&sent[..3], &received[..3]), (&[0; 3][..], &[0; 3][..]));
    assert!(sent[3] >= 1_000_000 && received[3] >= 1_000_000, "{sent:?} {received:?}");
    let counts = routers.map(|router| router.counts().unwrap());
    assert!(counts[1].packets >= 1_000_000, "{counts:?}");
    assert_eq!((counts[1].requests, counts[1].dropped), (u64::from(ADDRESSES), 0));
    let steps = ends.steps();
    let answered = steps.iter().filter(|step| {
        matches!(step.step, RequestStep::Approved | RequestStep::NotNeeded) && step.approved == 13
    });
    assert_eq!(answered.count(), usize::from(ADDRESSES), "{steps:?}");
}

/// A connection to the server from this address.
fn connect_from([a, b, c, d]: [u8; 4]) -> TcpStream {
    let address = |[a, b, c, d]: [u8; 4], port: u16| libc::sockaddr_in {
        sin_family: libc::AF_INET.unsigned_abs().try_into().unwrap(),
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([a, b, c, d]) },
        sin_zero: [0; 8],
    };
    let (from, to) = (address([a, b, c, d], 0), address([10, 77, 0, 2], 7000));
    let len = u32::try_from(size_of::<libc::sockaddr_in>()).unwrap();
    // SAFETY: a new descriptor, and two addresses with their length.
    unsafe {
        let socket = OwnedFd::from_raw_fd(libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0));
        assert_eq!(libc::bind(socket.as_raw_fd(), (&raw const from).cast(), len), 0);
        assert_eq!(libc::connect(socket.as_raw_fd(), (&raw const to).cast(), len), 0);
        TcpStream::from(socket)
    }
}

/// Table II of Scharf et al. with the kernel's own packets: those that go through a pair of devices in a second.
#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn packets_through_a_pair_of_devices() {
    const PACKETS: u32 = 50_000;
    if ackclock_kernel::needs().is_some() {
        return;
    }
    let _alone = ALONE.lock();
    let pair = Pair::new();
    for every in [0, 100, 2] {
        let mut most = [0.0_f64; 2];
        for _ in 0..3 {
            for (behaviour, most) in
                [RouterBehaviour::Absent, RouterBehaviour::Admit].into_iter().zip(&mut most)
            {
                let router = pair.within(1, move || {
                    let mut router = KernelRouter::load(&settings(behaviour)).unwrap();
                    router.attach(index("q1"), true).unwrap();
                    router.start(None).unwrap();
                    router
                });
                let (took, lost) = pair.within(0, move || {
                    let before = dropped("q0");
                    (send(PACKETS, every), dropped("q0") - before)
                });
                // An ARP answer is no packet of IP. On a busy machine the device has no room for some.
                assert_eq!(router.counts().unwrap().packets + lost, u64::from(PACKETS));
                *most = most.max(f64::from(PACKETS) / took);
            }
        }
        let share = 100_u32.checked_div(every).unwrap_or(0);
        let [absent, present] = most.map(|rate| rate / 1e3);
        eprintln!("{share} % of requests: {absent:.0} kpackets/s without, {present:.0} with");
    }
}

/// The machine's monotonic clock, in seconds.
fn now_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a time that is there to be written to.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) }, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Sends packets of 50 bytes, each `every`-th with a request; the time that it took in seconds.
fn send(packets: u32, every: u32) -> f64 {
    let [plain, asks] = [(); 2].map(|()| UdpSocket::bind("10.77.0.1:0").unwrap());
    let option = [25_u8, 8, 10, 200, 0x12, 0x34, 0x56, 0x78];
    // SAFETY: an array that lives as long as the call, and its length.
    let set = unsafe {
        let (option, len) = (option.as_ptr().cast(), 8);
        libc::setsockopt(asks.as_raw_fd(), libc::IPPROTO_IP, libc::IP_OPTIONS, option, len)
    };
    assert_eq!(set, 0);
    // Nobody listens to this protocol's port: port 9 answers with an error, which a socket that is not connected ignores.
    let start = now_s();
    for n in 0..packets {
        let socket = if every > 0 && n % every == 0 { &asks } else { &plain };
        socket.send_to(&[0; 22], "10.77.0.2:9").unwrap();
    }
    now_s() - start
}
