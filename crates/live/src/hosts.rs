//! Applications on kernel sockets: those of the simulator, all on one thread.

pub(crate) mod kernel_end;

use std::cmp::Reverse;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as StdDuration;

use ackclock_app::{AnyApp, App, Note, Transport};
use ackclock_sim::records::{Outcome, VideoRow};
use ackclock_units::{Bytes, Duration, Instant};

use crate::base::addresses::{PORTS, address};
use crate::base::limits::LOOK_EVERY;
use crate::hosts::kernel_end::KernelEnd;
use crate::machine::kernel::KernelSettings;
use crate::machine::net_ns::NetNs;
use crate::records::app_log::{self, AppLog};
use crate::sys::{self, Connecting, Interest, Poll, TcpInfo};
use crate::timing::clock::Clock;
use crate::timing::wake_policy::{Wait, WakePolicy};

/// The real-time priority of the applications' thread, below that of the path.
const PRIORITY: u8 = 5;

/// The interval between looks at an end that waits for something of which no file tells.
const LOOK: Duration = Duration::from_millis(1);

/// Connections of traffic classes that may have sockets at once: two each, and a third for a moment, of the 4096 files
/// that the kernel lets a process have by default.
pub const MOST_AT_ONCE: usize = 1000;

/// The time before it opens at which a connection gets its sockets, unless it has them before the run begins.
const AHEAD: Duration = Duration::from_millis(100);

/// The place of a connection's ends: how they are set up, and the namespaces of those that are the kernel's.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The settings of its sockets.
    pub settings: &'a KernelSettings,
    /// A namespace a side; where there is none, somebody else is that end.
    pub namespaces: [Option<&'a NetNs>; 2],
}

/// The next look after `now`: one wake-up serves all connections that wait so.
const fn next_look(now: Instant, every: Duration) -> Instant {
    let every = every.as_nanos();
    Instant::from_nanos((now.as_nanos() / every + 1) * every)
}

/// A connection of which one or both ends are the kernel's.
#[derive(Debug)]
pub struct KernelConnection<'a> {
    /// Its number, which its addresses say.
    number: usize,
    home: Home<'a>,
    opens: Instant,
    /// The side that opens: 0 the sender or client, 1 the receiver.
    opener: usize,
    ready: Option<Connecting>,
    listening: Option<OwnedFd>,
    /// The ends that are the kernel's.
    ends: [Option<KernelEnd>; 2],
    apps: [Option<AnyApp<KernelEnd>>; 2],
    /// The payload that each end had received when it was asked last.
    received: [Bytes; 2],
    /// True if its objects are noted.
    logs_objects: bool,
    /// True if a volume of the opener's has no answer, so that its last ACK says when it was served.
    uploads: bool,
    /// True if it is to be forgotten once it is over.
    dynamic: bool,
    /// The time at which it is to be looked at even if no file tells anything.
    due: Instant,
    /// The time at which the opener's handshake was done.
    pub established: Option<Instant>,
    /// The time at which all data of the sender's was acknowledged, if it has an end.
    pub completed: Option<Instant>,
    /// The time at which both directions were over.
    pub closed: Option<Instant>,
    /// SYNs and SYN-ACKs that were sent again.
    pub repeated: [u32; 2],
    /// The last kernel counters of each end.
    pub last: [TcpInfo; 2],
    /// Why the connection failed.
    pub failed: Option<io::Error>,
    /// The moment at which that was seen.
    failed_at: Instant,
}

/// The plan of a connection: all but its sockets.
pub struct ConnectionSetup {
    /// Its number, which its addresses say.
    pub number: usize,
    /// The time at which it opens.
    pub opens: Instant,
    /// The side that opens it.
    pub opener: usize,
    /// The applications of the sides that are the kernel's.
    pub apps: [AnyApp<KernelEnd>; 2],
    /// True if its objects are noted.
    pub logs_objects: bool,
    /// True if a volume of the opener's has no answer.
    pub uploads: bool,
    /// True if it belongs to a traffic class.
    pub dynamic: bool,
}

/// The counters of the two ends of a flow at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// The sender's counters.
    pub sender: TcpInfo,
    /// Payload that the receiver got in order.
    pub received: u64,
}

impl<'a> KernelConnection<'a> {
    /// A connection without sockets.
    pub fn new(setup: ConnectionSetup, home: Home<'a>) -> Self {
        let ConnectionSetup { number, opens, opener, apps, logs_objects, uploads, dynamic } = setup;
        let settings = home.settings;
        let ends = home.namespaces.map(|namespace| {
            namespace
                .map(|_| KernelEnd::new(settings.payload, settings.packet, settings.window_clamp))
        });
        let [first, second] = apps;
        let apps = [ends[0].is_some().then_some(first), ends[1].is_some().then_some(second)];
        Self {
            number,
            home,
            opens,
            opener,
            due: Instant::NEVER,
            ready: None,
            listening: None,
            ends,
            apps,
            received: [Bytes::ZERO; 2],
            logs_objects,
            uploads,
            dynamic,
            established: None,
            completed: None,
            closed: None,
            repeated: [0; 2],
            last: [TcpInfo::default(); 2],
            failed: None,
            failed_at: Instant::NEVER,
        }
    }

    /// Makes its sockets: that of the passive side listens at once.
    fn prepare(&mut self) -> io::Result<()> {
        let Home { settings, namespaces } = self.home;
        // All of it before the socket connects or listens: later, what the default congestion control
        // has switched on stays on.
        let prepare = |socket: &OwnedFd| {
            sys::set_congestion_control(socket, &settings.congestion_control)?;
            if settings.no_delay {
                sys::set_no_delay(socket, true)?;
            }
            if let Some(bytes) = settings.window_clamp {
                sys::set_window_clamp(socket, bytes)?;
            }
            if settings.paced { sys::set_pacing(socket) } else { Ok(()) }
        };
        let (active, passive) = (self.at(self.opener), self.at(1 - self.opener));
        self.ready = namespaces[self.opener]
            .map(|namespace| namespace.within(|| sys::connect(active.0, active.1, prepare)))
            .transpose()?;
        self.listening = namespaces[1 - self.opener]
            .map(|namespace| namespace.within(|| sys::listen(passive.0, passive.1, prepare)))
            .transpose()?;
        self.due = if self.ready.is_some() { self.opens } else { Instant::NEVER };
        Ok(())
    }

    /// The address and the port of a side.
    fn at(&self, side: usize) -> (IpAddr, u16) {
        (address(self.home.settings.network, side, self.number), PORTS[side])
    }

    /// True if nothing is to be done for it any more.
    const fn is_done(&self) -> bool {
        self.dynamic && (self.closed.is_some() || self.failed.is_some())
    }

    /// True if what either end read was not what was sent.
    pub fn is_changed(&self) -> bool {
        self.ends.iter().flatten().any(|end| end.changed)
    }

    /// Payload that the end of `side` got in order.
    pub fn received(&self, side: usize) -> u64 {
        self.ends[side].as_ref().map_or(0, |end| end.received().get())
    }

    /// The outcome by `until`, as far as the kernel's ends know.
    pub fn outcome(&self, until: Instant) -> Outcome {
        match self.failed.as_ref().filter(|_| self.failed_at <= until) {
            None if self.opens > until => Outcome::NotStarted,
            None if self.closed.is_some_and(|closed| closed <= until) => Outcome::Closed,
            None => Outcome::Open,
            Some(_) if self.established.is_none() => Outcome::HandshakeTimedOut,
            Some(error) if error.kind() == io::ErrorKind::TimedOut => Outcome::TimedOut,
            Some(_) => Outcome::Reset,
        }
    }

    /// The video row of `flow` at `end`, if one of its applications is a player.
    pub fn video(&self, flow: &str, end: Instant) -> Option<VideoRow> {
        self.apps.iter().flatten().find_map(|app| app_log::video(flow, app, end))
    }

    /// Reads the counters of the ends.
    fn ends(&mut self) -> EndCounters {
        self.note_counters();
        EndCounters { sender: self.last[0], received: self.received(1) }
    }

    fn note_counters(&mut self) {
        for (end, last) in self.ends.iter().zip(&mut self.last) {
            if let Some(info) = end.as_ref().and_then(KernelEnd::info) {
                *last = info;
            }
        }
    }

    /// Opens or accepts the connection, if it is time.
    fn open_or_accept(&mut self, now: Instant) -> io::Result<()> {
        let passive = 1 - self.opener;
        let (ip, port) = self.at(passive);
        if now >= self.opens
            && let Some(ready) = self.ready.take()
            && let Some(end) = &mut self.ends[self.opener]
        {
            end.attach(ready.go(ip, port)?, None);
        }
        if let Some(listening) = &self.listening
            && let Some(socket) = sys::accept(listening)?
            && let Some(end) = &mut self.ends[passive]
        {
            end.attach(socket, Some(now));
            self.repeated[1] = end.info().map_or(0, |info| info.total_retrans);
            // Nobody else is to come.
            self.listening = None;
        }
        Ok(())
    }

    /// Does what can be done now, and notes when to be called again whatever happens.
    fn poll(
        &mut self,
        now: Instant,
        app_log: &mut AppLog,
        notes: &mut Vec<Note>,
    ) -> io::Result<()> {
        self.due = Instant::NEVER;
        if self.failed.is_some() || self.is_done() {
            return Ok(());
        }
        self.open_or_accept(now)?;
        if self.ready.is_some() {
            self.due = self.opens;
        }
        for side in [0, 1] {
            let (Some(end), Some(app)) = (&mut self.ends[side], &mut self.apps[side]) else {
                continue;
            };
            if !end.has_socket() {
                continue;
            }
            let connecting = end.is_connecting();
            end.refresh(now);
            if connecting && !end.is_connecting() && side == self.opener {
                self.established = Some(now);
                self.repeated[0] = end.info().map_or(0, |info| info.total_retrans);
            }
            if let Some(at) = app.poll(now, end, notes) {
                self.due = self.due.min(at);
            }
            end.flush();
            if self.logs_objects {
                notes.drain(..).for_each(|note| app_log.note(now, self.number, note));
                let received = end.received();
                if side == 1 {
                    app_log.on_received(now, self.number, received, &mut self.received[side]);
                }
            }
            notes.clear();
            // The app did not take all; nothing but time will make it do so. Nor does any file tell of
            // the last ACK, or of that of a volume without an answer.
            let upload = self.uploads && matches!(app, AnyApp::Client(_)) && !end.all_acked();
            if end.is_holding() || upload {
                self.due = self.due.min(next_look(now, LOOK));
            } else if end.awaits_last_ack() && self.closed.is_none() {
                self.due =
                    self.due.min(next_look(now, if self.dynamic { LOOK_EVERY } else { LOOK }));
            }
            if side == 0 && self.completed.is_none() && end.is_served() {
                self.completed = Some(now);
            }
            self.failed = end.failed.take();
            if self.failed.is_some() {
                self.failed_at = now;
                return Ok(());
            }
        }
        if self.closed.is_none() && self.ends.iter().flatten().all(KernelEnd::is_over) {
            self.closed = Some(now);
            self.note_counters();
            if self.dynamic {
                self.ends.iter_mut().flatten().for_each(KernelEnd::let_go);
            }
        }
        Ok(())
    }

    /// The files to wait for.
    fn wait_for(&self, poll: &mut Poll) {
        // Before it opens nobody comes.
        if let Some(listening) = self.listening.as_ref().filter(|_| self.ready.is_none()) {
            poll.add(listening.as_raw_fd(), Interest { read: true, write: false });
        }
        for (file, interest) in self.ends.iter().flatten().filter_map(KernelEnd::interest) {
            poll.add(file, interest);
        }
    }

    /// Has the end whose socket is `file` write again: there is room.
    fn note_room(&mut self, file: Option<RawFd>) {
        let ends = self.ends.iter_mut().flatten();
        ends.filter(|end| file.is_some() && end.file() == file).for_each(KernelEnd::note_room);
    }

    /// Ends the connection without a word, so that nothing of it outlives the run.
    fn abandon(&self) {
        self.ends.iter().flatten().for_each(KernelEnd::abandon);
    }
}

/// Every connection of a run that has an end of the kernel's.
#[derive(Debug, Default)]
pub struct Hosts<'a> {
    /// Flows first, then connections of traffic classes.
    pub connections: Vec<KernelConnection<'a>>,
    /// The number of flows among them.
    pub flows: usize,
    /// The notes of their applications.
    pub app_log: AppLog,
    /// True if the path polls, so that this thread is not to sleep for long either.
    pub polls: bool,
    /// Connections without sockets yet, that which opens first at the end.
    waiting: Vec<usize>,
    /// Connections with sockets for which something is to be done.
    open: Vec<usize>,
}

impl<'a> Hosts<'a> {
    /// The connections of a run, of which so many are flows: these get their sockets, and so do the first of the others.
    ///
    /// # Errors
    /// A socket cannot be made, or the kernel lacks the congestion control; and the number of that connection.
    pub fn new(
        connections: Vec<KernelConnection<'a>>,
        flows: usize,
    ) -> Result<Self, (usize, io::Error)> {
        let mut waiting: Vec<_> = (0..connections.len()).collect();
        waiting.sort_by_key(|n| Reverse((*n >= flows, connections[*n].opens, *n)));
        let mut hosts = Self { connections, flows, waiting, ..Self::default() };
        while !hosts.is_full()
            && let Some(n) = hosts.waiting.pop()
        {
            hosts.connections[n].prepare().map_err(|error| (n, error))?;
            hosts.open.push(n);
        }
        Ok(hosts)
    }

    fn is_full(&self) -> bool {
        self.open.len() >= self.flows + MOST_AT_ONCE
    }

    /// When the next connection is to get its sockets.
    fn prepares_at(&self) -> Instant {
        let ahead = if self.is_full() { Duration::ZERO } else { AHEAD };
        let next = self.waiting.last().map(|n| self.connections[*n].opens);
        next.map_or(Instant::NEVER, |opens| Instant::START + opens.since(Instant::START + ahead))
    }

    /// Makes the sockets of the connections that open soon.
    fn prepare(&mut self, now: Instant) -> io::Result<()> {
        while self.prepares_at() <= now
            && let Some(n) = self.waiting.pop()
        {
            if self.is_full() {
                let message = format!(
                    "more than {MOST_AT_ONCE} connections of traffic classes are open at {:.3} s",
                    now.as_secs_f64()
                );
                return Err(io::Error::other(message));
            }
            self.connections[n].prepare()?;
            self.open.push(n);
        }
        Ok(())
    }

    /// Runs the applications until `end`, or until `stop` says so; returns what the flows' ends counted at
    /// each of `moments`, which are in the order of time.
    ///
    /// # Errors
    /// A socket that fails in another way than a connection may.
    pub fn run(
        &mut self,
        clock: Clock,
        moments: &[Instant],
        end: Instant,
        stop: &AtomicBool,
    ) -> io::Result<Vec<Vec<EndCounters>>> {
        // A reader or writer that waits for its turn would be the machine's doing, not TCP's.
        let mut wake_policy =
            WakePolicy::of_applications(self.polls, sys::request_realtime(PRIORITY))
                .in_virtual_time(sys::in_virtual_time());
        let flows = self.flows;
        let mut snapshots: Vec<Vec<EndCounters>> = Vec::with_capacity(moments.len());
        let mut notes = Vec::new();
        let mut poll = Poll::default();
        // Of each file that is waited for, whose it is.
        let mut owners: Vec<usize> = Vec::new();
        // A SYN that goes out earlier waits for the path, and its round trip is that much longer.
        thread::sleep(StdDuration::from_nanos(clock.until(Instant::START).as_nanos()));
        loop {
            let mut now = clock.now();
            wake_policy.count(now, sys::thread_time);
            if let Some(rest) = wake_policy.rest() {
                Poll::default().wait(rest)?;
                now = clock.now();
                wake_policy.count_now(now, sys::thread_time());
            }
            while moments.get(snapshots.len()).is_some_and(|at| *at <= now) {
                let of_flows = self.connections[..flows].iter_mut();
                snapshots.push(of_flows.map(KernelConnection::ends).collect());
            }
            if now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            self.prepare(now)?;
            let prepares_at = self.prepares_at();
            let Self { connections, open, app_log, .. } = self;
            for (n, owner) in owners.iter().enumerate().filter(|(n, _)| poll.is_ready(*n)) {
                connections[*owner].due = Instant::START;
                connections[*owner].note_room(poll.writable(n));
            }
            let mut next = moments.get(snapshots.len()).copied().unwrap_or(end).min(end);
            next = next.min(prepares_at);
            poll.clear();
            owners.clear();
            let mut over = false;
            for n in &*open {
                let connection = &mut connections[*n];
                if connection.due <= now {
                    wake_policy.note_activity(now);
                    connection.poll(clock.now(), app_log, &mut notes)?;
                    over |= connection.is_done();
                }
                next = next.min(connection.due);
                connection.wait_for(&mut poll);
                owners.resize(poll.len(), *n);
            }
            if over {
                open.retain(|n| !connections[*n].is_done());
            }
            let before = clock.now();
            let most = match wake_policy.wait(before, clock.until(next)) {
                Wait::Look => Duration::ZERO,
                Wait::Sleep(most) => most.min(Duration::from_millis(100)),
            };
            if !poll.wait(most)? && most > Duration::ZERO {
                wake_policy.note_sleep(most, clock.now().since(before));
            }
        }
        self.connections.iter_mut().skip(flows).for_each(KernelConnection::note_counters);
        self.connections.iter().for_each(KernelConnection::abandon);
        Ok(snapshots)
    }
}
