//! One connection of the kernel's.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use ackclock_packet::{Flags, IpMeta, Options, Segment, Seq};
use ackclock_script::ast::Call;
use ackclock_script::{
    Meaning, Returned, SHARED_FAST_OPEN, SocketOption, Stack, Stage, TcpInfo, Write,
    fast_open_cookie,
};
use ackclock_tcp::Transmit;
use ackclock_units::{Bytes, Duration, Instant};
use ackclock_wire::{Addresses, Direction, MAX_HEADERS, Payload, Tuple, Unwrapper, encode, parse};

use super::namespace::{FIRST_PORT, Judge, PORTS, ReceivedPacket};
use super::tcp_info::tcp_info;
use crate::base::offload::{VNET, join};
use crate::machine::net_ns::sysctl;
use crate::sys::{self, call};

/// The longest wait for a packet that may come at any time: somewhat more than the first two timeouts
/// of a handshake, and than `TCP_TIMEWAIT_LEN`.
const PATIENCE: Duration = Duration::from_secs(75);
/// Timers of the kernel's expire at ticks of its clock, here those of 250 Hz (`CONFIG_HZ`).
const TICK: Duration = Duration::from_millis(4);
/// The interval between looks at a call that blocks, and at whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(1);
const LONG_LOOK: Duration = Duration::from_millis(100);

/// The longest time that a thread takes to return from the kernel once it is woken.
const AWAKE_NS: u64 = 1_000_000;

/// A descriptor of the script's. The socket below never blocks.
#[derive(Debug)]
pub(super) struct Descriptor {
    pub(super) socket: OwnedFd,
    /// The script asked for that, too.
    pub(super) nonblocking: bool,
}

/// A thread that waits in the kernel to write to a descriptor of the script's.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) fd: i64,
    pub(super) thread: JoinHandle<io::Result<usize>>,
}

/// A connection of the kernel's, as the executor sees it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on one another")]
pub struct KernelStack<'a> {
    pub(super) judge: &'a Judge,
    pub(super) port: u16,
    pub(super) ipv6: bool,
    /// The addresses of the kernel (0) and of the script (1), if the script says others.
    pub(super) addresses: [Option<IpAddr>; 2],
    /// The queue of what comes to the script's ports.
    queue: Sender<ReceivedPacket>,
    arrivals: Receiver<ReceivedPacket>,
    /// The port of the script's last connection to a listening socket, where it is not [`port`](Self::port).
    other_port: Option<u16>,
    /// A connection to a listening socket has begun, and the next one has another port.
    begun: bool,
    next_differs: bool,
    /// The SYN of a connection that the script has opened has not come yet.
    awaits_syn: bool,
    /// Packets that have come and that the script has not asked for yet.
    inbox: VecDeque<(Instant, Transmit)>,
    /// The direction of the script's packets: addresses, ports and sequence numbers.
    direction: Direction,
    /// Window scale shifts that were offered: the script's, the kernel's.
    shifts: [Option<u8>; 2],
    /// The time at which the script began (`CLOCK_MONOTONIC`).
    epoch_ns: Option<u64>,
    latest_wake: Duration,
    pub(super) descriptors: BTreeMap<i64, Descriptor>,
    /// The descriptors that have opened a connection or wait for one, and the number of connections so far.
    pub(super) opened: BTreeSet<i64>,
    pub(super) connections: u32,
    /// The descriptor of the connection; -1 is one of [`Stack`]'s own calls.
    pub(super) connection: Option<i64>,
    /// The last counters of the connection, read when it was closed.
    pub(super) last_info: TcpInfo,
    /// The descriptor that a call waits for, and what for.
    pub(super) pending: Option<(i64, i16)>,
    /// When a call that waits returns at the latest.
    pub(super) deadline: Option<Instant>,
    /// Bytes that the pending write has written, and whether the connection was not open by then.
    pub(super) written: usize,
    pub(super) in_syn: bool,
    /// The thread that writes the rest.
    pub(super) writer: Option<Writer>,
    pub(super) congestion_control: String,
    pub(super) paced: bool,
    pub(super) options: Vec<SocketOption>,
    cancelled: Cancel<'a>,
}

/// Says whether the run is to stop.
#[derive(Clone, Copy, Default)]
struct Cancel<'a>(Option<&'a (dyn Fn() -> bool + Sync)>);

impl fmt::Debug for Cancel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancel")
    }
}

/// The descriptors of calls that are not a script's.
const LISTENER: i64 = -2;
const CONNECTION: i64 = -1;

impl Judge {
    /// A port that no connection has.
    fn free_port(&self) -> u16 {
        let number = self.next_port.fetch_add(1, Ordering::Relaxed);
        FIRST_PORT + u16::try_from(number % PORTS).unwrap_or(0)
    }

    /// A connection with ports of its own.
    pub fn stack(&self) -> KernelStack<'_> {
        let port = self.free_port();
        let (queue, arrivals) = channel();
        self.tun.stacks().insert(port, queue.clone());
        KernelStack::new(self, port, (queue, arrivals))
    }
}

impl<'a> KernelStack<'a> {
    fn new(
        judge: &'a Judge,
        port: u16,
        (queue, arrivals): (Sender<ReceivedPacket>, Receiver<ReceivedPacket>),
    ) -> Self {
        let tuple =
            Tuple { addresses: Judge::addresses(false), source_port: port, destination_port: port };
        Self {
            judge,
            port,
            ipv6: false,
            addresses: [None; 2],
            queue,
            arrivals,
            other_port: None,
            begun: false,
            next_differs: false,
            awaits_syn: false,
            inbox: VecDeque::new(),
            direction: Direction::new(tuple, 0, 0),
            shifts: [None; 2],
            epoch_ns: None,
            latest_wake: Duration::ZERO,
            descriptors: BTreeMap::new(),
            opened: BTreeSet::new(),
            connections: 0,
            connection: None,
            last_info: TcpInfo::default(),
            pending: None,
            deadline: None,
            written: 0,
            in_syn: false,
            writer: None,
            // The kernel's own default; that of a machine may be another.
            congestion_control: "cubic".to_owned(),
            paced: false,
            options: Vec::new(),
            cancelled: Cancel::default(),
        }
    }

    /// Makes the stack wait no longer once `cancelled` answers true.
    #[must_use]
    pub fn until_cancelled(mut self, cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        self.cancelled = Cancel(Some(cancelled));
        self
    }

    /// The largest lateness of the script's own events. A run that was late proves nothing.
    pub const fn latest_wake(&self) -> Duration {
        self.latest_wake
    }

    pub(super) fn set_ipv6(&mut self) {
        self.ipv6 = true;
        self.direction.tuple.addresses = Judge::addresses(true);
    }

    /// The address of a side: 0 the kernel, 1 the script.
    pub(super) fn address(&self, side: usize) -> IpAddr {
        self.addresses[side].unwrap_or_else(|| Judge::address(self.ipv6, side))
    }

    /// The address of a side is `address`, of the family that there is.
    pub(super) fn set_address(&mut self, side: usize, address: IpAddr) {
        self.addresses[side] = Some(address);
        if let (IpAddr::V4(destination), IpAddr::V4(source)) = (self.address(0), self.address(1)) {
            self.direction.tuple.addresses = Addresses::V4 { source, destination };
        }
        if let (IpAddr::V6(destination), IpAddr::V6(source)) = (self.address(0), self.address(1)) {
            self.direction.tuple.addresses = Addresses::V6 { source, destination };
        }
    }

    /// A socket listens. As in packetdrill, each one's connection comes from another port.
    pub(super) const fn awaits_peer(&mut self) {
        self.next_differs = self.begun;
    }

    /// A socket connects to the script's own port: of connections before nothing is looked at any more.
    pub(super) fn goes_to_peer(&mut self) {
        self.direction.tuple.source_port = self.port;
        self.awaits_syn = self.connections > 1;
        self.inbox.clear();
    }

    /// The script's SYN to a listening socket.
    fn begins(&mut self) {
        self.begun = true;
        if std::mem::take(&mut self.next_differs) {
            let port = self.judge.free_port();
            let mut stacks = self.judge.tun.stacks();
            stacks.insert(port, self.queue.clone());
            if let Some(old) = self.other_port.replace(port) {
                stacks.remove(&old);
            }
            self.direction.tuple.source_port = port;
        }
    }

    /// When the script began, by the monotonic clock in nanoseconds.
    pub(super) const fn epoch_ns(&self) -> Option<u64> {
        self.epoch_ns
    }

    /// True if the call that blocks has an answer.
    fn may_return(&self, real: Instant) -> bool {
        if let Some(writer) = &self.writer {
            return writer.thread.is_finished();
        }
        let Some((number, events)) = self.pending else { return false };
        let socket = self.descriptors.get(&number);
        socket.is_some_and(|descriptor| call::poll(&descriptor.socket, events) != 0)
            || self.deadline.is_some_and(|deadline| real >= deadline)
    }

    /// The time of the script, which begins with the first look at it.
    pub(super) fn clock(&mut self) -> Instant {
        let now = sys::monotonic_ns();
        let epoch = *self.epoch_ns.get_or_insert(now);
        Instant::from_nanos(now.saturating_sub(epoch))
    }

    /// Takes the time since `from_ns` out of the script's.
    pub(super) fn leave_out(&mut self, from_ns: u64) {
        if let Some(epoch) = &mut self.epoch_ns {
            *epoch += sys::monotonic_ns() - from_ns;
        }
    }

    fn take(&mut self, arrived: &ReceivedPacket) {
        let Ok(parsed) = parse(&arrived.bytes) else { return };
        let headers = &parsed.headers;
        let syn = headers.flags.contains(Flags::SYN);
        if headers.tuple.destination_port != self.direction.tuple.source_port
            || (self.awaits_syn && !syn)
        {
            // It is of a connection that another has followed.
            return;
        }
        if syn {
            self.awaits_syn = false;
            // A second connection of the same ports counts from its own SYN.
            self.direction.acknowledged = Unwrapper::new(headers.seq);
            self.shifts[1] = headers.options.window_scale;
            self.direction.tuple.destination_port = headers.tuple.source_port;
        } else if headers.tuple.source_port != self.direction.tuple.destination_port {
            // The script hears no more of a connection that another has followed.
            return;
        }
        let mut back = self.direction.reversed();
        back.window_shift = self.shift(1);
        let mut widened = back.widen(&parsed);
        if headers.seq == 0 && headers.flags == Flags::RST | Flags::ACK {
            // It answers a segment without an ACK, and its number means nothing (RFC 9293 §3.10.7.1).
            widened.segment.seq = Seq::SYN;
        }
        self.clock();
        let at = Instant::from_nanos(arrived.at_ns.saturating_sub(self.epoch_ns.unwrap_or(0)));
        let transmit =
            Transmit { segment: widened.segment, ip: widened.ip, options: widened.options };
        self.inbox.push_back((at, transmit));
    }

    /// Gives the kernel a segment, or a packet that is made of segments of `size`.
    fn give(
        &mut self,
        segment: &Segment,
        size: Option<usize>,
        ip: IpMeta,
        options: Option<&Options>,
    ) -> io::Result<()> {
        self.clock();
        if segment.flags.contains(Flags::SYN) {
            self.shifts[0] = options.and_then(|options| options.window_scale);
            if !segment.flags.contains(Flags::ACK) {
                self.begins();
            }
        }
        self.direction.window_shift = self.shift(0);
        let headers = self.direction.narrow(segment, ip, options);
        let mut buffer = vec![0; VNET + MAX_HEADERS + segment.len as usize];
        let encoded = encode(&headers, Payload::Zeros(segment.len), &mut buffer[VNET..])
            .map_err(io::Error::other)?;
        let packet = &mut buffer[..VNET + encoded.written];
        if let Some(size) = size {
            join(packet, size);
        }
        self.judge.tun.write(packet)?;
        if let Some(writer) = &self.writer {
            // The thread that writes may go on by this packet, and the script looks at it next.
            let from_ns = sys::monotonic_ns();
            while !writer.thread.is_finished() && sys::monotonic_ns() - from_ns < AWAKE_NS {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// The shift of windows of the script (0) or of the kernel (1): in force when both have offered one.
    fn shift(&self, side: usize) -> u8 {
        match self.shifts {
            [Some(_), Some(_)] => self.shifts[side].unwrap_or(0),
            _ => 0,
        }
    }

    fn drain(&mut self) {
        while let Ok(arrived) = self.arrivals.try_recv() {
            self.take(&arrived);
        }
    }

    /// A new socket with what was set before there was one.
    pub(super) fn new_socket(&self) -> io::Result<OwnedFd> {
        let ipv6 = self.ipv6;
        let socket = self.judge.namespace.within(|| call::socket(ipv6))?;
        // Before it connects or listens: later, what another law has switched on stays on.
        sys::set_congestion_control(&socket, &self.congestion_control)?;
        if self.paced {
            sys::set_pacing(&socket)?;
        }
        Ok(socket)
    }

    fn own(&mut self, number: i64) -> Option<&Descriptor> {
        if number == CONNECTION && !self.descriptors.contains_key(&CONNECTION) {
            let socket = call::accept(&self.descriptors.get(&LISTENER)?.socket).ok()?;
            // A listening socket that stays would answer in the connection's place once that is gone.
            self.descriptors.remove(&LISTENER);
            self.descriptors.insert(CONNECTION, Descriptor { socket, nonblocking: true });
            self.connection = Some(CONNECTION);
        }
        self.descriptors.get(&number)
    }

    fn remember(&mut self) {
        let socket = self.connection.and_then(|number| self.descriptors.get(&number));
        if let Some(info) = socket.and_then(|it| tcp_info(&it.socket).ok()) {
            self.last_info = info;
        }
    }

    /// Ends every socket with a reset, so that nothing of the connection is left.
    fn reset(&mut self) {
        if let Some(Writer { fd, thread }) = self.writer.take() {
            // It is woken.
            if let Some(descriptor) = self.descriptors.get(&fd) {
                let _ = call::shutdown(&descriptor.socket, libc::SHUT_RDWR);
            }
            let _ = thread.join();
        }
        for descriptor in std::mem::take(&mut self.descriptors).into_values() {
            let _ = sys::abandon(&descriptor.socket);
        }
    }
}

impl Drop for KernelStack<'_> {
    fn drop(&mut self) {
        self.reset();
        let mut stacks = self.judge.tun.stacks();
        for port in std::iter::once(self.port).chain(self.other_port) {
            stacks.remove(&port);
        }
    }
}

impl Stack for KernelStack<'_> {
    fn pass(&mut self, now: Instant, until: Instant) -> Option<Instant> {
        let begun = self.clock();
        loop {
            self.drain();
            if let Some((at, _)) = self.inbox.front()
                && *at <= until
            {
                return Some((*at).max(now + Duration::from_nanos(1)));
            }
            let real = self.clock();
            if self.may_return(real) && real <= until {
                // Once: whoever cannot go on is asked again when something came, or after a while.
                self.pending = None;
                return Some(real.max(now + Duration::from_nanos(1)));
            }
            if real >= until {
                self.latest_wake = self.latest_wake.max(real.since(until));
                return None;
            }
            let stop = self.cancelled.0.is_some_and(|cancelled| cancelled());
            if stop || real.since(begun) > PATIENCE {
                return None;
            }
            let waits = self.pending.is_some() || self.writer.is_some();
            let look = if waits { LOOK } else { LONG_LOOK };
            let wait = until.since(real).min(look);
            let wait = StdDuration::from_nanos(wait.as_nanos());
            if let Ok(arrived) = self.arrivals.recv_timeout(wait) {
                self.take(&arrived);
            }
        }
    }

    fn tick(&self) -> Duration {
        TICK
    }

    fn system_call(&mut self, call: &Call, again: bool) -> Result<Option<Returned>, String> {
        self.clock();
        if call.name == "close" {
            self.remember();
        }
        self.carry_out(call, again).map(Some)
    }

    fn connections(&self) -> u32 {
        self.connections
    }

    fn set(&mut self, name: &str, value: &str) -> Result<Meaning, String> {
        let from_ns = sys::monotonic_ns();
        let meaning = self.apply(name, value);
        self.leave_out(from_ns);
        meaning
    }

    fn set_shared_defaults(&mut self) {
        let from_ns = sys::monotonic_ns();
        let others = [
            ("tcp_ecn", "0"),
            ("tcp_rmem", "4096 540000 15728640"),
            ("tcp_slow_start_after_idle", "0"),
        ];
        for (name, value) in others.into_iter().chain(SHARED_FAST_OPEN) {
            // They can be set in every namespace.
            let _ = self.apply(name, value);
        }
        self.leave_out(from_ns);
    }

    fn listen(&mut self) -> Result<(), String> {
        let ip = self.address(0);
        let made = self.new_socket().and_then(|socket| {
            call::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32.to_ne_bytes())?;
            call::bind(&socket, ip, self.port)?;
            call::listen(&socket, 16)?;
            Ok(socket)
        });
        let socket = made.map_err(|error| format!("cannot listen: {error}"))?;
        self.descriptors.insert(LISTENER, Descriptor { socket, nonblocking: true });
        Ok(())
    }

    fn connect(&mut self, _: Instant) -> Result<(), String> {
        let made = self.new_socket().and_then(|socket| {
            call::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32.to_ne_bytes())?;
            call::bind(&socket, self.address(0), self.port)?;
            match call::connect(&socket, self.address(1), self.port) {
                Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
                _ => Ok(socket),
            }
        });
        let socket = made.map_err(|error| format!("cannot connect: {error}"))?;
        self.descriptors.insert(CONNECTION, Descriptor { socket, nonblocking: true });
        self.connection = Some(CONNECTION);
        Ok(())
    }

    fn cookie(&self) -> Option<Vec<u8>> {
        let key = self.judge.namespace.within(|| sysctl("net.ipv4.tcp_fastopen_key")).ok()?;
        // A second key is one that is still known.
        let key = key.split(',').next().unwrap_or_default();
        let [server, client] = [0, 1].map(|side| self.address(side));
        fast_open_cookie(key, client, server)
    }

    fn write(&mut self, _: Instant, volume: Bytes, kind: Write) -> Bytes {
        let flags = match kind {
            Write::Plain => 0,
            Write::More => libc::MSG_MORE,
            Write::Record => libc::MSG_EOR,
        };
        let zeros = vec![0; usize::try_from(volume.get()).unwrap_or(0)];
        let socket = self.own(CONNECTION);
        let written = socket.and_then(|it| call::send(&it.socket, &zeros, flags).ok());
        Bytes::new(written.unwrap_or(0) as u64)
    }

    fn read(&mut self, _: Instant, volume: Bytes) -> Bytes {
        let mut buffer = vec![0; usize::try_from(volume.get()).unwrap_or(0)];
        let socket = self.own(CONNECTION);
        let read = socket.and_then(|it| call::receive(&it.socket, &mut buffer, 0).ok());
        Bytes::new(read.unwrap_or(0) as u64)
    }

    fn finish(&mut self, _: Instant) {
        if let Some(it) = self.own(CONNECTION) {
            let _ = call::shutdown(&it.socket, libc::SHUT_WR);
        }
    }

    fn stop_reading(&mut self, _: Instant) {
        if let Some(it) = self.own(CONNECTION) {
            let _ = call::shutdown(&it.socket, libc::SHUT_RD);
        }
    }

    fn close(&mut self, _: Instant) {
        self.own(CONNECTION);
        self.remember();
        self.descriptors.remove(&CONNECTION);
    }

    fn abort(&mut self, _: Instant) {
        if let Some(it) = self.own(CONNECTION) {
            let _ = sys::abandon(&it.socket);
        }
        self.descriptors.remove(&CONNECTION);
    }

    fn set_option(&mut self, option: SocketOption) -> Result<(), String> {
        self.options.push(option);
        Ok(())
    }

    fn readable(&self) -> Bytes {
        Bytes::ZERO
    }

    fn peer_finished(&self) -> bool {
        false
    }

    fn stage(&self) -> Stage {
        match self.info(Instant::START).state {
            Some(1 | 4 | 5 | 8 | 9 | 11) => Stage::Open,
            Some(2 | 3) => Stage::Opening,
            Some(10) => Stage::Listening,
            Some(_) => Stage::Closed,
            None => Stage::Fresh,
        }
    }

    fn handle(&mut self, _: Instant, segment: &Segment, ip: IpMeta, options: Option<&Options>) {
        // A packet that is not taken is missed by what the script expects.
        let _ = self.give(segment, None, ip, options);
    }

    fn handle_joined(
        &mut self,
        _: Instant,
        segment: &Segment,
        size: u32,
        ip: IpMeta,
        options: Option<&Options>,
    ) -> Result<(), String> {
        let given = self.give(segment, Some(size as usize), ip, options);
        given.map_err(|error| format!("this packet cannot be given to the kernel: {error}"))
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.drain();
        match self.inbox.front() {
            Some((at, _)) if *at <= now => self.inbox.pop_front().map(|(_, transmit)| transmit),
            _ => None,
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        None
    }

    fn info(&self, _: Instant) -> TcpInfo {
        let socket = self.connection.and_then(|number| self.descriptors.get(&number));
        socket.and_then(|it| tcp_info(&it.socket).ok()).unwrap_or(self.last_info)
    }
}
