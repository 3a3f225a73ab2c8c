//! A socket of the kernel's as an end of a connection that applications sit on.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use ackclock_app::Transport;
use ackclock_tcp::Nagle;
use ackclock_units::{Bytes, Instant, Rate};

use crate::base::content::{MOST, stream};
use crate::sys::{self, Interest, TcpInfo};

thread_local! {
    /// A buffer for received bytes, to be compared with the expected ones.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; MOST]);
}

/// The state of the sending direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// The application may write more.
    On,
    /// The application will write no more, but the socket has not taken all.
    Closing,
    /// The socket was told: a FIN follows the data.
    Shut,
}

/// One end of a connection, on a socket that may not be there yet.
#[derive(Debug)]
pub struct KernelEnd {
    socket: Option<File>,
    /// Bytes that the application gave, and those of them that the socket took.
    given: u64,
    written: u64,
    /// Bytes that the application read, and those that wait in the socket.
    taken: u64,
    waiting: u64,
    /// True if the socket took no more. A program that waits is woken when a third of its buffer is free, and a socket
    /// takes less before: written to at each chance, it would get single segments, each of which says that no more follows
    /// (PSH), and be answered by an ACK each.
    full: bool,
    /// The state of the sending direction: open, or closing, or closed.
    writing: Writing,
    /// The peer's FIN has come, behind all that it sent.
    finished: bool,
    established: Option<Instant>,
    /// The largest window that it offers, if the kernel has to be told again. From Linux 6.6 on the first full segment
    /// that arrives sets the bound anew, by how much of the receive buffer such segments fill.
    window_clamp: Option<u32>,
    full_segment: u64,
    /// The factor from a rate of payload to a rate of packets with headers.
    overhead: f64,
    /// True if bytes arrived that differ from those that were sent.
    pub changed: bool,
    /// Why the connection failed.
    pub failed: Option<io::Error>,
}

impl KernelEnd {
    /// An end without a socket, whose segments of `mss` bytes are packets of `mtu`, and the largest window that it offers.
    pub fn new(mss: u32, mtu: u32, window_clamp: Option<u32>) -> Self {
        Self {
            socket: None,
            given: 0,
            written: 0,
            taken: 0,
            waiting: 0,
            full: false,
            writing: Writing::On,
            finished: false,
            established: None,
            window_clamp,
            full_segment: u64::from(mss),
            overhead: f64::from(mtu) / f64::from(mss.max(1)),
            changed: false,
            failed: None,
        }
    }

    /// Gets its socket, whose handshake was done at `established` if it was.
    pub fn attach(&mut self, socket: OwnedFd, established: Option<Instant>) {
        self.socket = Some(File::from(socket));
        self.established = established;
    }

    /// True if it has a socket.
    pub const fn has_socket(&self) -> bool {
        self.socket.is_some()
    }

    /// The kernel's counters of the connection.
    pub fn info(&self) -> Option<TcpInfo> {
        sys::info(self.socket.as_ref()?).ok()
    }

    /// Looks at the socket: whether the handshake is done, what waits, whether the peer has closed.
    pub fn refresh(&mut self, now: Instant) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = self.look(now) {
            self.failed = Some(error);
        }
    }

    fn look(&mut self, now: Instant) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if self.established.is_none() {
            if !sys::connected(socket)? {
                return Ok(());
            }
            self.established = Some(now);
        }
        self.waiting = sys::waiting(socket)? as u64;
        if self.taken + self.waiting >= self.full_segment
            && let Some(bytes) = self.window_clamp.take()
        {
            sys::set_window_clamp(socket, bytes)?;
        }
        if self.waiting == 0 && !self.finished {
            self.finished = sys::at_end(socket)?;
        }
        Ok(())
    }

    /// Has the socket take what it can of what the application gave.
    pub fn flush(&mut self) {
        if self.failed.is_some() || self.established.is_none() {
            return;
        }
        if let Err(error) = self.push() {
            self.failed = Some(error);
        }
    }

    fn push(&mut self) -> io::Result<()> {
        let Some(socket) = &mut self.socket else { return Ok(()) };
        while self.written < self.given && !self.full {
            let chunk = usize::try_from(self.given - self.written).unwrap_or(usize::MAX);
            match socket.write(stream(self.written, chunk)) {
                Ok(len) => self.written += len as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.full = true,
                Err(error) => return Err(error),
            }
        }
        if self.writing == Writing::Closing && !self.full {
            self.writing = Writing::Shut;
            sys::finish_writing(socket)?;
        }
        Ok(())
    }

    /// The file of its socket.
    pub fn file(&self) -> Option<RawFd> {
        self.socket.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Has it write again: its socket has room.
    pub const fn note_room(&mut self) {
        self.full = false;
    }

    /// True if everything that was given, and the FIN, is acknowledged.
    pub fn is_served(&self) -> bool {
        self.writing == Writing::Shut && self.outstanding() == 0
    }

    /// True if it has told its peer that it is done, but the peer has not said that it knows.
    pub fn awaits_last_ack(&self) -> bool {
        self.writing == Writing::Shut && self.outstanding() > 0
    }

    /// True if both directions are over.
    pub fn is_over(&self) -> bool {
        self.finished && self.is_served()
    }

    fn outstanding(&self) -> u64 {
        let unsent = self.socket.as_ref().map_or(Ok(0), sys::unsent);
        unsent.unwrap_or(0) as u64
    }

    /// The file to wait for, and for what. What the application leaves unread wakes nobody.
    pub fn interest(&self) -> Option<(RawFd, Interest)> {
        let socket = self.socket.as_ref().filter(|_| self.failed.is_none())?;
        let connecting = self.established.is_none();
        let interest = Interest {
            read: !connecting && !self.finished && self.waiting == 0,
            write: connecting || self.written < self.given,
        };
        (interest.read || interest.write).then_some((socket.as_raw_fd(), interest))
    }

    /// True if the application left something unread.
    pub const fn is_holding(&self) -> bool {
        self.waiting > 0
    }

    /// True if it is still to hear of the peer.
    pub const fn is_connecting(&self) -> bool {
        self.established.is_none()
    }

    /// Gives its socket up; what it counted stays.
    pub fn let_go(&mut self) {
        self.socket = None;
    }

    /// Has the connection end with a reset when the socket is closed.
    pub fn abandon(&self) {
        if let Some(socket) = &self.socket {
            // A connection that is gone already is none to end.
            let _ = sys::abandon(socket);
        }
    }
}

impl Transport for KernelEnd {
    fn write(&mut self, volume: Bytes) {
        if self.writing == Writing::On {
            self.given = self.given.saturating_add(volume.get());
        }
    }

    fn shutdown_write(&mut self) {
        if self.writing == Writing::On {
            self.writing = Writing::Closing;
        }
    }

    fn readable(&self) -> Bytes {
        Bytes::new(self.waiting)
    }

    fn read(&mut self, _: Instant, volume: Bytes) -> Bytes {
        let Some(socket) = &mut self.socket else { return Bytes::ZERO };
        let volume = volume.get().min(self.waiting);
        let mut got = 0;
        SCRATCH.with_borrow_mut(|scratch| {
            while got < volume {
                let most = usize::try_from(volume - got).unwrap_or(MOST).min(MOST);
                match socket.read(&mut scratch[..most]) {
                    Ok(0) => break,
                    Ok(len) => {
                        self.changed |= stream(self.taken + got, len) != &scratch[..len];
                        got += len as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => {
                        self.failed = Some(error);
                        break;
                    }
                }
            }
        });
        self.taken += got;
        self.waiting -= got;
        Bytes::new(got)
    }

    fn received(&self) -> Bytes {
        Bytes::new(self.taken + self.waiting)
    }

    fn peer_finished(&self) -> bool {
        self.finished
    }

    fn failed(&self) -> bool {
        self.failed.is_some()
    }

    fn established_at(&self) -> Option<Instant> {
        self.established
    }

    fn acked(&self) -> Bytes {
        Bytes::new(self.written.saturating_sub(self.outstanding()))
    }

    fn all_acked(&self) -> bool {
        self.written == self.given && self.outstanding() == 0
    }

    fn set_nagle(&mut self, nagle: Nagle) {
        if let Some(socket) = &self.socket {
            // A socket of a connection that is gone has no use for it.
            let _ = sys::set_no_delay(socket, nagle == Nagle::Off);
        }
    }

    fn request_quick_start(&mut self, _: Rate) {}

    fn pace_at_most(&mut self, rate: Option<Rate>) {
        if let Some(socket) = &self.socket {
            let bytes = rate.map(|rate| rate.as_bps() as f64 / 8.0 * self.overhead);
            // As above.
            let _ = sys::pace_at_most(socket, bytes);
        }
    }
}
