//! Applications on kernel sockets: bulk transfers and their readers, all on one thread.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock_units::{Bytes, Duration, Instant};

use crate::clockwork::Clock;
use crate::content::{MOST, stream};
use crate::header::{receiver_address, sender_address};
use crate::kernel::KernelSettings;
use crate::space::Space;
use crate::sys::{self, Connecting, Interest, Poll, TcpInfo};

/// Ports of every connection: that of the sender is an ephemeral one, that of the receiver is the
/// discard service's (RFC 863), as in captures of simulated links.
pub const SENDER_PORT: u16 = 49_152;
/// The receiver's.
pub const RECEIVER_PORT: u16 = 9;

/// Below that of the path.
const PRIORITY: u8 = 5;

/// A bulk transfer between two kernel sockets.
#[derive(Debug)]
pub struct Transfer {
    opens: Instant,
    /// What is to be written in all; `None` without end.
    size: Option<u64>,
    state: State,
    listening: Option<OwnedFd>,
    reader: Option<File>,
    /// When the sender's handshake was done.
    pub established: Option<Instant>,
    /// When all data was acknowledged.
    pub completed: Option<Instant>,
    /// Bytes given to the sender's socket, and taken from the receiver's.
    written: u64,
    read: u64,
    /// What was read is not what was written.
    pub changed: bool,
    /// Why the connection failed.
    pub failed: Option<String>,
}

#[derive(Debug)]
enum State {
    Ready(Option<Connecting>),
    Connecting(OwnedFd),
    Sending(File),
    /// Everything is written, and the FIN is under way.
    Closing(File),
    Over,
}

/// What the two ends of a transfer counted by a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The sender's counters.
    pub sender: TcpInfo,
    /// Payload that the receiver got in order.
    pub received: u64,
}

impl Transfer {
    /// Makes the sockets of flow number `flow`, which listens at once and connects at `opens`. Where an
    /// end has no namespace, somebody else is that end.
    ///
    /// # Errors
    /// A socket cannot be made, or the kernel lacks the congestion control.
    pub fn new(
        flow: usize,
        size: Option<Bytes>,
        opens: Instant,
        settings: &KernelSettings,
        [sender, receiver]: [Option<&Space>; 2],
    ) -> io::Result<Self> {
        // All of it before the socket connects or listens: later, what the default congestion control
        // has switched on stays on.
        let prepare = |socket: &OwnedFd| {
            sys::set_congestion_control(socket, settings.congestion_control)?;
            if settings.no_delay {
                sys::set_no_delay(socket)?;
            }
            if let Some(bytes) = settings.window_clamp {
                sys::set_window_clamp(socket, bytes)?;
            }
            Ok(())
        };
        let listen = |space: &Space| {
            space.within(|| sys::listen(receiver_address(flow), RECEIVER_PORT, prepare))
        };
        let ready = |space: &Space| {
            space.within(|| {
                sys::connect(sender_address(flow), SENDER_PORT, |socket| {
                    prepare(socket)?;
                    if settings.paced { sys::set_pacing(socket) } else { Ok(()) }
                })
            })
        };
        let listening = receiver.map(listen).transpose()?;
        let state = match sender.map(ready).transpose()? {
            Some(ready) => State::Ready(Some(ready)),
            None => State::Over,
        };
        Ok(Self {
            opens,
            size: size.map(Bytes::get),
            state,
            listening,
            reader: None,
            established: None,
            completed: None,
            failed: None,
            written: 0,
            read: 0,
            changed: false,
        })
    }

    fn sender(&self) -> Option<&File> {
        match &self.state {
            State::Sending(file) | State::Closing(file) => Some(file),
            State::Ready(_) | State::Connecting(_) | State::Over => None,
        }
    }

    /// What the ends counted.
    fn ends(&self, last: Ends) -> Ends {
        let sender = self.sender().and_then(|file| sys::info(file).ok());
        let reader = self.reader.as_ref().and_then(|file| sys::info(file).ok());
        Ends {
            sender: sender.unwrap_or(last.sender),
            received: reader.map_or(last.received, |info| info.bytes_received),
        }
    }

    /// Does what can be done now; returns when it is to be called again whatever happens.
    fn poll(&mut self, flow: usize, now: Instant, buffer: &mut [u8]) -> io::Result<Instant> {
        let mut next = Instant::NEVER;
        if let (None, Some(listening)) = (&self.reader, &self.listening) {
            self.reader = sys::accept(listening)?.map(File::from);
        }
        if let Some(reader) = &mut self.reader {
            loop {
                match reader.read(buffer) {
                    Ok(0) => break,
                    Ok(len) => {
                        self.changed |= stream(self.read, len) != &buffer[..len];
                        self.read += len as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
                    Err(error) => return Err(error),
                }
            }
        }
        match &mut self.state {
            State::Ready(ready) if now >= self.opens => {
                if let Some(ready) = ready.take() {
                    let socket = ready.go(receiver_address(flow), RECEIVER_PORT)?;
                    self.state = State::Connecting(socket);
                }
            }
            State::Ready(_) => next = self.opens,
            State::Connecting(_) => self.finish_connecting(now),
            State::Sending(file) => match write_some(file, self.size, &mut self.written) {
                Ok(true) => {
                    sys::finish_writing(file)?;
                    let State::Sending(file) = std::mem::replace(&mut self.state, State::Over)
                    else {
                        unreachable!("it was sending")
                    };
                    self.state = State::Closing(file);
                }
                Ok(false) => {}
                Err(error) => self.fail(&error),
            },
            State::Closing(file) => {
                if self.completed.is_none() {
                    if sys::unsent(file)? == 0 {
                        self.completed = Some(now);
                    } else {
                        next = now + Duration::from_millis(1);
                    }
                }
            }
            State::Over => {}
        }
        Ok(next)
    }

    fn finish_connecting(&mut self, now: Instant) {
        let State::Connecting(socket) = std::mem::replace(&mut self.state, State::Over) else {
            return;
        };
        match sys::connected(&socket) {
            Ok(true) => {
                self.established = Some(now);
                self.state = State::Sending(File::from(socket));
            }
            Ok(false) => self.state = State::Connecting(socket),
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &io::Error) {
        self.failed = Some(error.to_string());
        self.state = State::Over;
    }

    fn wait_for(&self, poll: &mut Poll) {
        let read = Interest { read: true, write: false };
        let write = Interest { read: false, write: true };
        match (&self.reader, &self.listening) {
            (Some(reader), _) => poll.add(reader.as_raw_fd(), read),
            (None, Some(listening)) => poll.add(listening.as_raw_fd(), read),
            (None, None) => {}
        }
        match &self.state {
            State::Connecting(socket) => poll.add(socket.as_raw_fd(), write),
            State::Sending(file) => poll.add(file.as_raw_fd(), write),
            State::Ready(_) | State::Closing(_) | State::Over => {}
        }
    }

    /// Ends the connection without a word, so that nothing of it outlives the run.
    fn abandon(&self) {
        for file in self.sender().into_iter().chain(&self.reader) {
            // A connection that is gone already is none to end.
            let _ = sys::abandon(file);
        }
    }
}

/// Writes as much as the socket takes of `size` bytes; says whether all is written.
fn write_some(file: &mut File, size: Option<u64>, written: &mut u64) -> io::Result<bool> {
    loop {
        let left = size.map_or(u64::MAX, |size| size - *written);
        if left == 0 {
            return Ok(true);
        }
        let chunk = usize::try_from(left).unwrap_or(usize::MAX);
        match file.write(stream(*written, chunk)) {
            Ok(len) => *written += len as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Every transfer of a run.
#[derive(Debug)]
pub struct Hosts {
    /// In the order of the flows.
    pub transfers: Vec<Transfer>,
}

impl Hosts {
    /// Runs the applications until `end`, or until `stop` says so; returns what the ends counted at each
    /// of `moments`, which are in the order of time.
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
        sys::hurry(PRIORITY);
        let mut snapshots: Vec<Vec<Ends>> = Vec::with_capacity(moments.len());
        let mut last = vec![Ends::default(); self.transfers.len()];
        let mut buffer = vec![0; MOST];
        let mut poll = Poll::default();
        loop {
            let now = clock.now();
            while moments.get(snapshots.len()).is_some_and(|at| *at <= now) {
                for (transfer, last) in self.transfers.iter().zip(&mut last) {
                    *last = transfer.ends(*last);
                }
                snapshots.push(last.clone());
            }
            if now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            let mut next = moments.get(snapshots.len()).copied().unwrap_or(end).min(end);
            for (flow, transfer) in self.transfers.iter_mut().enumerate() {
                next = next.min(transfer.poll(flow, now, &mut buffer)?);
            }
            poll.clear();
            self.transfers.iter().for_each(|transfer| transfer.wait_for(&mut poll));
            poll.wait(clock.until(next).min(Duration::from_millis(100)))?;
        }
        self.transfers.iter().for_each(Transfer::abandon);
        Ok(snapshots)
    }
}
