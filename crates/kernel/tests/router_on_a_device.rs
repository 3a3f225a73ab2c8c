//! The Quick-Start router in the kernel on a device, its slots ended by the kernel's timer. Needs root, a kernel with BTF and a
//! build with the loader; passes without.
#![cfg(all(target_os = "linux", feature = "loader"))]
#![expect(unsafe_code, reason = "system calls for a namespace and an option of IP")]

use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::thread;
use std::time::Duration;

use ackclock_kernel::{KernelRouter, RouterBehaviour, RouterCounts, RouterLoad, RouterSettings};

const SETTINGS: RouterSettings = RouterSettings {
    behaviour: RouterBehaviour::Admit,
    threshold_bps: 100_000_000,
    slot_ns: 100_000_000,
    history: 2,
    samples: 1,
    most: 10,
    deletes: false,
    forwards: false,
    tells: false,
    has_ethernet: true,
    out: None,
    random: [1, 2, 3, 4],
};

/// Sends 100 packets of 1000 bytes that ask for code 12 through the loopback device of a new network namespace.
fn ask_in_a_namespace(as_xdp: bool) -> (RouterCounts, RouterLoad) {
    let asked = thread::spawn(move || {
        // SAFETY: takes no pointer; this thread alone gets the namespace, and ends with this test.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0);
        assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
        let mut router = KernelRouter::load(&SETTINGS).unwrap();
        router.attach(1, as_xdp).unwrap();
        router.start(None).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let option = [25_u8, 8, 12, 7, 0, 0, 0, 4];
        // SAFETY: an array that lives as long as the call, and its length.
        let set = unsafe {
            let (option, len) = (option.as_ptr().cast(), 8);
            libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_OPTIONS, option, len)
        };
        assert_eq!(set, 0);
        let to = socket.local_addr().unwrap();
        for _ in 0..100 {
            socket.send_to(&[0; 964], to).unwrap();
        }
        // A slot and a half: what was sent is the utilisation of the last whole slot.
        thread::sleep(Duration::from_millis(150));
        (router.counts().unwrap(), router.load_now().unwrap())
    });
    asked.join().unwrap()
}

#[test]
#[ignore = "live: needs root, and a kernel that takes our programs"]
fn the_router_meters_and_admits_on_a_device() {
    if ackclock_kernel::needs().is_some() {
        return;
    }
    for as_xdp in [false, true] {
        let (counts, load) = ask_in_a_namespace(as_xdp);
        assert_eq!((counts.packets, counts.requests), (100, 100));
        // 964 bytes, 8 of UDP, 28 of IP with the option.
        assert_eq!(counts.bytes, 100_000);
        // 40.96 twice, 10.24, 5.12, 2.56 and 0.16 are 100 Mbit/s.
        assert_eq!(counts.approved, 6);
        assert!(load.measured_bps <= 8_000_000, "{load:?}");
    }
}
