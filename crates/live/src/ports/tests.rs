//! Our own transport and the kernel's, in what no scenario asks for: half-closed connections, resets, closed
//! windows. Our end and a socket, with nothing between them but a TUN device.
//!
//! These tests need network namespaces and `/dev/net/tun`; without them they say so and pass.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ackclock_app::{AnyApp, App, Bulk, Note};
use ackclock_sim::scenario::NetworkSpec;
use ackclock_tcp::{Config, Endpoint, Failure, Profile, Variant};
use ackclock_units::{Bytes, Duration, Instant};

use crate::base::addresses::{RECEIVER_PORT, SENDER_PORT, address, network};
use crate::base::content::{MOST, stream};
use crate::base::header::LEAD;
use crate::base::options::PortKind;
use crate::machine::net_ns::NetNs;
use crate::machine::netlink::{Netlink, RouteMetrics};
use crate::ports::devices;
use crate::ports::port::Port;
use crate::ports::userspace_host::{EndSetup, UserspaceHost};
use crate::records::own_results::UserspaceCounters;
use crate::sys::{self, Interest, Poll};
use crate::timing::clock::Clock;

const V4: NetworkSpec = NetworkSpec::Ipv4;

/// The time limit of a test: a connection with a fault would hang.
const LIMIT: Duration = Duration::from_secs(20);

/// The kernel's host and its device.
struct Kernel {
    namespace: NetNs,
    port: Box<dyn Port>,
}

/// The kernel as the receiver (side 1) or the sender (0); `None` where it cannot be.
fn kernel(side: usize) -> Option<Kernel> {
    let made = || {
        let (namespace, middle) = (NetNs::new()?, NetNs::new()?);
        let port = devices::open(PortKind::Tun, &namespace, &middle, V4, 1500, 1)?;
        let device = port.device().unwrap_or_default();
        namespace.within(|| {
            let mut netlink = Netlink::open()?;
            netlink.add_address(device, address(V4, side, 0))?;
            netlink.add_route(device, network(V4, 1 - side), &RouteMetrics::default())
        })?;
        Ok::<_, std::io::Error>(Kernel { namespace, port })
    };
    made().inspect_err(|error| eprintln!("skipped: no namespace or no TUN device ({error})")).ok()
}

/// Our own end of `side`, with `app`.
fn own(side: usize, app: AnyApp, tune: impl FnOnce(&mut Config)) -> UserspaceHost {
    let parts = "newreno+sack".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
    let mut config = Config::new(parts, Profile::Linux);
    tune(&mut config);
    let opens = (side == 0).then_some(Instant::START);
    let setup = EndSetup {
        number: 0,
        name: "own",
        config,
        app,
        opens,
        logs_objects: false,
        watched: false,
        records_law: false,
    };
    UserspaceHost::new(V4, side, vec![setup], 7)
}

/// Carries packets between our end and the kernel's until `done`, then for as long as a FIN or a reset
/// takes; returns what our end counted.
fn carry(host: &mut UserspaceHost, port: &mut dyn Port, done: &AtomicBool) -> UserspaceCounters {
    let clock = Clock::starting_in(Duration::ZERO);
    let mut buffer = vec![0; LEAD + 1500];
    let mut poll = Poll::default();
    let mut last: Option<Instant> = None;
    loop {
        let now = clock.now();
        if done.load(Ordering::Relaxed) && last.is_none() {
            last = Some(now + Duration::from_millis(50));
        }
        if last.is_some_and(|last| now >= last) || now.since(Instant::START) > LIMIT {
            return host.userspace_counters(0).unwrap();
        }
        while let Some(len) = port.read(now, &mut buffer).unwrap() {
            host.write(clock.now(), &mut buffer[..LEAD + len], true).unwrap();
        }
        while let Some(len) = host.read(clock.now(), &mut buffer).unwrap() {
            port.write(clock.now(), &mut buffer[..LEAD + len], true).unwrap();
        }
        let next = host.wakes_at().map_or(Duration::from_millis(5), |at| clock.until(at));
        poll.clear();
        poll.add(port.file(), Interest { read: true, write: false });
        poll.wait(next.min(Duration::from_millis(5))).unwrap();
    }
}

/// Runs `peer` on the kernel's socket; returns its result and the counters of our end. Where our end is the
/// sender the socket is accepted, otherwise it is connected.
fn run_against_kernel<T: Send>(
    side: usize,
    app: AnyApp,
    tune: impl FnOnce(&mut Config),
    peer: impl FnOnce(TcpStream) -> T + Send,
) -> Option<(T, UserspaceCounters)> {
    let Kernel { namespace, mut port } = kernel(1 - side)?;
    let mut host = own(side, app, tune);
    let done = AtomicBool::new(false);
    // Before our end asks for it.
    let listen = || TcpListener::bind((address(V4, 1, 0), RECEIVER_PORT));
    let listener = (side == 0).then(|| namespace.within(listen).unwrap());
    let (done, namespace) = (&done, &namespace);
    let ours = SocketAddr::from((address(V4, 1, 0), RECEIVER_PORT));
    thread::scope(|scope| {
        let peer = scope.spawn(move || {
            let answer = namespace.within(|| {
                let socket = if let Some(listener) = listener {
                    listener.accept()?.0
                } else {
                    // From the port that our end expects.
                    let socket = sys::connect(address(V4, 0, 0), SENDER_PORT, |_| Ok(()))?;
                    let socket = socket.go(address(V4, 1, 0), RECEIVER_PORT)?;
                    let socket = TcpStream::from(socket);
                    while socket.peer_addr().is_err() {
                        thread::sleep(std::time::Duration::from_millis(1));
                    }
                    assert_eq!(socket.peer_addr()?, ours);
                    socket.set_nonblocking(false)?;
                    socket
                };
                let limit = Some(std::time::Duration::from_nanos(LIMIT.as_nanos()));
                socket.set_read_timeout(limit)?;
                socket.set_write_timeout(limit)?;
                Ok(peer(socket))
            });
            done.store(true, Ordering::Relaxed);
            answer.unwrap()
        });
        let end = carry(&mut host, port.as_mut(), done);
        Some((peer.join().unwrap(), end))
    })
}

fn read_all(socket: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    socket.read_to_end(&mut all).unwrap();
    all
}

fn whole(len: usize) -> Vec<u8> {
    (0..len).step_by(MOST).flat_map(|at| stream(at as u64, (len - at).min(MOST))).copied().collect()
}

/// An application of our end's that is a function.
struct Scripted<F>(F);

impl<F> std::fmt::Debug for Scripted<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl<F: FnMut(Instant, &mut Endpoint) -> Option<Instant> + Send> App for Scripted<F> {
    fn poll(&mut self, now: Instant, end: &mut Endpoint, _: &mut Vec<Note>) -> Option<Instant> {
        (self.0)(now, end)
    }
}

fn scripted(
    work: impl FnMut(Instant, &mut Endpoint) -> Option<Instant> + Send + 'static,
) -> AnyApp {
    AnyApp::Other(Box::new(Scripted(work)))
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn our_end_answers_a_kernel_that_has_closed_its_side() {
    let mut answered = false;
    let server = scripted(move |now, end| {
        end.read(now, end.readable());
        if end.peer_finished() && !answered {
            answered = true;
            end.write(Bytes::new(300_000));
            end.shutdown_write();
        }
        None
    });
    let Some((got, end)) = run_against_kernel(
        1,
        server,
        |_| {},
        |mut socket| {
            socket.write_all(&whole(5_000)).unwrap();
            socket.shutdown(Shutdown::Write).unwrap();
            read_all(&mut socket)
        },
    ) else {
        return;
    };
    assert!(got == whole(300_000), "{} bytes", got.len());
    assert_eq!((end.received.get(), end.failure), (5_000, None));
    assert_eq!((end.faults.malformed, end.faults.content), (0, 0));
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn the_kernel_answers_our_end_that_has_closed_its_side() {
    let mut asked = false;
    let client = scripted(move |now, end| {
        end.read(now, end.readable());
        if !asked {
            asked = true;
            end.write(Bytes::new(5_000));
            end.shutdown_write();
        }
        None
    });
    let Some((got, end)) = run_against_kernel(
        0,
        client,
        |_| {},
        |mut socket| {
            let got = read_all(&mut socket);
            socket.write_all(&whole(300_000)).unwrap();
            got
        },
    ) else {
        return;
    };
    assert!(got == whole(5_000), "{} bytes", got.len());
    assert_eq!((end.received.get(), end.failure), (300_000, None));
    assert_eq!((end.faults.malformed, end.faults.content), (0, 0));
    assert!(end.over.is_some(), "both directions are over");
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn a_reset_of_the_kernels_ends_our_transfer() {
    let Some(((), end)) = run_against_kernel(
        0,
        AnyApp::Bulk(Bulk::new(None)),
        |_| {},
        |mut socket| {
            let mut some = vec![0; 100_000];
            socket.read_exact(&mut some).unwrap();
            // Unread data, and no lingering: the kernel resets (RFC 9293 section 3.6, case of an abort).
            sys::abandon(&socket).unwrap();
        },
    ) else {
        return;
    };
    assert_eq!(end.failure, Some(Failure::Reset));
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn a_reset_of_ours_ends_the_kernels_transfer() {
    let sink = scripted(|now, end| {
        end.read(now, end.readable());
        if end.received() > Bytes::new(100_000) {
            end.abort(now);
        }
        None
    });
    let Some((error, end)) = run_against_kernel(
        1,
        sink,
        |_| {},
        |mut socket| {
            let some = whole(MOST);
            loop {
                if let Err(error) = socket.write_all(&some) {
                    return error.kind();
                }
            }
        },
    ) else {
        return;
    };
    assert!(matches!(error, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{error:?}");
    assert_eq!(end.failure, Some(Failure::Aborted));
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn nobody_at_the_kernels_port_is_a_reset() {
    let Some(Kernel { mut port, namespace: _space }) = kernel(1) else { return };
    let mut host = own(0, AnyApp::Bulk(Bulk::new(None)), |_| {});
    let end = carry(&mut host, port.as_mut(), &AtomicBool::new(true));
    assert_eq!((end.failure, end.established), (Some(Failure::Reset), None));
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn our_sender_waits_for_a_kernel_that_does_not_read() {
    let sender = AnyApp::Bulk(Bulk::new(Some(Bytes::new(2_000_000))));
    let Some((got, end)) = run_against_kernel(
        0,
        sender,
        |_| {},
        |mut socket| {
            // Longer than a retransmission timeout, so that the window is probed (RFC 9293 section 3.8.6.1).
            thread::sleep(std::time::Duration::from_millis(1500));
            let waits = sys::waiting(&socket).unwrap();
            assert!(waits < 2_000_000, "all {waits} bytes came: the window never closed");
            read_all(&mut socket)
        },
    ) else {
        return;
    };
    assert!(got == whole(2_000_000), "{} bytes", got.len());
    assert_eq!(end.failure, None);
    assert!(end.completed.is_some());
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn the_kernel_waits_for_our_end_that_does_not_read() {
    let reader = scripted(|now, end| {
        let wakes = Instant::START + Duration::from_millis(1500);
        if now < wakes {
            return Some(wakes);
        }
        end.read(now, end.readable());
        if end.peer_finished() {
            end.shutdown_write();
        }
        None
    });
    let small = |config: &mut Config| {
        config.autotune = None;
        config.receive_window = Bytes::new(64_000);
    };
    let Some((_, end)) = run_against_kernel(1, reader, small, |mut socket| {
        socket.write_all(&whole(1_000_000)).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        read_all(&mut socket)
    }) else {
        return;
    };
    assert_eq!((end.received.get(), end.failure), (1_000_000, None));
    assert_eq!((end.faults.malformed, end.faults.content), (0, 0));
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn both_ends_may_close_at_once() {
    let closing = scripted(|now, end| {
        end.read(now, end.readable());
        end.established_at()?;
        end.shutdown_write();
        None
    });
    let Some((got, end)) = run_against_kernel(
        1,
        closing,
        |_| {},
        |mut socket| {
            socket.shutdown(Shutdown::Write).unwrap();
            read_all(&mut socket)
        },
    ) else {
        return;
    };
    assert_eq!((got.len(), end.failure), (0, None));
}
