//! Applications on kernel sockets: those of the simulator, all on one thread.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock_app::{AnyApp, App, Note, Transport};
use ackclock_sim::records::{Outcome, VideoRow};
use ackclock_sim::scenario::NetworkSpec;
use ackclock_units::{Bytes, Duration, Instant};

use crate::clockwork::Clock;
use crate::diary::{self, Diary};
use crate::header::address;
use crate::kernel::KernelSettings;
use crate::kernel_end::KernelEnd;
use crate::space::Space;
use crate::sys::{self, Connecting, Interest, Poll, TcpInfo};
use crate::vigil::{Vigil, Wait};

/// Ports of every connection: that of the sender, or client, is an ephemeral one, that of the receiver is
/// the discard service's (RFC 863), as in captures of simulated links.
pub const SENDER_PORT: u16 = 49_152;
/// The receiver's.
pub const RECEIVER_PORT: u16 = 9;
const PORTS: [u16; 2] = [SENDER_PORT, RECEIVER_PORT];

/// Below that of the path.
const PRIORITY: u8 = 5;

/// How often an end is looked at that waits for what no file tells.
const LOOK: Duration = Duration::from_millis(1);

/// A connection of which one or both ends are the kernel's.
#[derive(Debug)]
pub struct Call {
    /// Its number, which its addresses say.
    number: usize,
    network: NetworkSpec,
    opens: Instant,
    /// The side that opens: 0 the sender or client, 1 the receiver.
    opener: usize,
    ready: Option<Connecting>,
    listening: Option<OwnedFd>,
    /// The ends that are the kernel's.
    ends: [Option<KernelEnd>; 2],
    apps: [Option<AnyApp<KernelEnd>>; 2],
    /// What each end's peer had sent it when it was asked last.
    received: [Bytes; 2],
    /// True if its objects are noted.
    told: bool,
    /// True if it is to be forgotten once it is over.
    passing: bool,
    /// When it is to be looked at even if no file tells anything.
    due: Instant,
    /// When the opener's handshake was done.
    pub established: Option<Instant>,
    /// When all data of the sender's was acknowledged, if it has an end.
    pub completed: Option<Instant>,
    /// When both directions were over.
    pub closed: Option<Instant>,
    /// SYNs and SYN-ACKs that were sent again.
    pub repeated: [u32; 2],
    /// What the kernel told of each end last.
    pub last: [TcpInfo; 2],
    /// Why the connection failed.
    pub failed: Option<io::Error>,
    /// The moment at which that was seen.
    failed_at: Instant,
}

/// What there is to a connection besides its sockets.
pub struct Played {
    /// Its number, which its addresses say.
    pub number: usize,
    /// When it opens.
    pub opens: Instant,
    /// The side that opens it.
    pub opener: usize,
    /// The applications of the sides that are the kernel's.
    pub apps: [AnyApp<KernelEnd>; 2],
    /// True if its objects are noted.
    pub told: bool,
    /// True if it belongs to a traffic class.
    pub passing: bool,
}

/// What the two ends of a flow counted by a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The sender's counters.
    pub sender: TcpInfo,
    /// Payload that the receiver got in order.
    pub received: u64,
}

impl Call {
    /// Makes the sockets of a connection: that of the passive side listens at once. Where a side has no
    /// namespace, somebody else is that end.
    ///
    /// # Errors
    /// A socket cannot be made, or the kernel lacks the congestion control.
    pub fn new(
        played: Played,
        settings: &KernelSettings,
        spaces: [Option<&Space>; 2],
    ) -> io::Result<Self> {
        let Played { number, opens, opener, apps, told, passing } = played;
        // All of it before the socket connects or listens: later, what the default congestion control
        // has switched on stays on.
        let prepare = |socket: &OwnedFd| {
            sys::set_congestion_control(socket, settings.congestion_control)?;
            if settings.no_delay {
                sys::set_no_delay(socket, true)?;
            }
            if let Some(bytes) = settings.window_clamp {
                sys::set_window_clamp(socket, bytes)?;
            }
            if settings.paced { sys::set_pacing(socket) } else { Ok(()) }
        };
        let network = settings.network;
        let at = |side: usize| (address(network, side, number), PORTS[side]);
        let (active, passive) = (at(opener), at(1 - opener));
        let ready = spaces[opener]
            .map(|space| space.within(|| sys::connect(active.0, active.1, prepare)))
            .transpose()?;
        let listening = spaces[1 - opener]
            .map(|space| space.within(|| sys::listen(passive.0, passive.1, prepare)))
            .transpose()?;
        let end =
            |space: Option<&Space>| space.map(|_| KernelEnd::new(settings.payload, settings.mtu));
        let ends = spaces.map(end);
        let [first, second] = apps;
        let apps = [ends[0].is_some().then_some(first), ends[1].is_some().then_some(second)];
        Ok(Self {
            number,
            network,
            opens,
            opener,
            due: if ready.is_some() { opens } else { Instant::NEVER },
            ready,
            listening,
            ends,
            apps,
            received: [Bytes::ZERO; 2],
            told,
            passing,
            established: None,
            completed: None,
            closed: None,
            repeated: [0; 2],
            last: [TcpInfo::default(); 2],
            failed: None,
            failed_at: Instant::NEVER,
        })
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

    /// What the player of `flow` tells at `end`, if there is one.
    pub fn video(&self, flow: &str, end: Instant) -> Option<VideoRow> {
        self.apps.iter().flatten().find_map(|app| diary::video(flow, app, end))
    }

    /// What the ends counted.
    fn ends(&mut self) -> Ends {
        self.note_counters();
        Ends { sender: self.last[0], received: self.received(1) }
    }

    fn note_counters(&mut self) {
        for (end, last) in self.ends.iter().zip(&mut self.last) {
            if let Some(info) = end.as_ref().and_then(KernelEnd::info) {
                *last = info;
            }
        }
    }

    /// Opens or accepts the connection, if it is time.
    fn meet(&mut self, now: Instant) -> io::Result<()> {
        let at = |side: usize| (address(self.network, side, self.number), PORTS[side]);
        let passive = 1 - self.opener;
        if now >= self.opens
            && let Some(ready) = self.ready.take()
            && let Some(end) = &mut self.ends[self.opener]
        {
            let (ip, port) = at(passive);
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
    fn poll(&mut self, now: Instant, diary: &mut Diary, notes: &mut Vec<Note>) -> io::Result<()> {
        self.due = Instant::NEVER;
        if self.failed.is_some() || (self.passing && self.closed.is_some()) {
            return Ok(());
        }
        self.meet(now)?;
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
            if self.told {
                notes.drain(..).for_each(|note| diary.note(now, self.number, note));
                let received = end.received();
                if side == 1 {
                    diary.on_received(now, self.number, received, &mut self.received[side]);
                }
            }
            notes.clear();
            // The app did not take all; nothing but time will make it do so. Nor does any file tell of
            // the last ACK, or of that of a volume without an answer.
            let upload = matches!(app, AnyApp::Client(_)) && !end.all_acked();
            if end.is_holding() || upload || (end.awaits_last_ack() && self.closed.is_none()) {
                self.due = self.due.min(now + LOOK);
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
            if self.passing {
                self.ends.iter_mut().flatten().for_each(KernelEnd::let_go);
            }
        }
        Ok(())
    }

    /// The files to wait for.
    fn wait_for(&self, poll: &mut Poll) {
        if let Some(listening) = &self.listening {
            poll.add(listening.as_raw_fd(), Interest { read: true, write: false });
        }
        for (file, interest) in self.ends.iter().flatten().filter_map(KernelEnd::interest) {
            poll.add(file, interest);
        }
    }

    /// Ends the connection without a word, so that nothing of it outlives the run.
    fn abandon(&self) {
        self.ends.iter().flatten().for_each(KernelEnd::abandon);
    }
}

/// Every connection of a run that has an end of the kernel's.
#[derive(Debug, Default)]
pub struct Hosts {
    /// Flows first, then connections of traffic classes.
    pub calls: Vec<Call>,
    /// How many of them are flows.
    pub flows: usize,
    /// What their applications told.
    pub diary: Diary,
    /// True if the path polls, so that this thread is not to sleep for long either.
    pub polls: bool,
}

impl Hosts {
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
    ) -> io::Result<Vec<Vec<Ends>>> {
        // A reader or writer that waits for its turn would be the machine's doing, not TCP's.
        let mut vigil = Vigil::of_applications(self.polls, sys::hurry(PRIORITY));
        let Self { calls, flows, diary, .. } = self;
        let mut snapshots: Vec<Vec<Ends>> = Vec::with_capacity(moments.len());
        let mut notes = Vec::new();
        let mut poll = Poll::default();
        // Of each file that is waited for, whose it is.
        let mut owners: Vec<usize> = Vec::new();
        loop {
            let mut now = clock.now();
            vigil.count(now, sys::thread_time);
            if let Some(rest) = vigil.rest() {
                Poll::default().wait(rest)?;
                now = clock.now();
                vigil.count_now(now, sys::thread_time());
            }
            while moments.get(snapshots.len()).is_some_and(|at| *at <= now) {
                snapshots.push(calls[..*flows].iter_mut().map(Call::ends).collect());
            }
            if now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            let ready = (0..owners.len()).filter(|n| poll.is_ready(*n)).map(|n| owners[n]);
            for call in ready {
                calls[call].due = Instant::START;
            }
            for call in calls.iter_mut().filter(|call| call.due <= now) {
                vigil.note_activity(now);
                call.poll(clock.now(), diary, &mut notes)?;
            }
            let next = moments.get(snapshots.len()).copied().unwrap_or(end).min(end);
            let next = calls.iter().fold(next, |next, call| next.min(call.due));
            poll.clear();
            owners.clear();
            for (n, call) in calls.iter().enumerate() {
                call.wait_for(&mut poll);
                owners.resize(poll.len(), n);
            }
            let before = clock.now();
            let most = match vigil.wait(before, clock.until(next)) {
                Wait::Look => Duration::ZERO,
                Wait::Sleep(most) => most.min(Duration::from_millis(100)),
            };
            if !poll.wait(most)? && most > Duration::ZERO {
                vigil.note_sleep(most, clock.now().since(before));
            }
        }
        calls.iter_mut().skip(*flows).for_each(Call::note_counters);
        calls.iter().for_each(Call::abandon);
        Ok(snapshots)
    }
}
