//! The stack that a script is run against: a stack of its own, or ours.

mod endpoint;
mod fast_open;
mod plan;

use ackclock_packet::{IpMeta, Options, Segment};
use ackclock_tcp::Transmit;
use ackclock_units::{Bytes, Duration, Instant};

use crate::ast::Call;
use crate::info::TcpInfo;

pub use endpoint::EndpointStack;
pub use fast_open::{SHARED_FAST_OPEN, fast_open_cookie};

/// The outcome of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It is set.
    Applied,
    /// It is known and means nothing here, for this reason.
    Nothing(&'static str),
    /// It is known and this stack cannot do it yet; the script goes on without.
    NotYet(&'static str),
}

/// A socket option that changes what a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketOption {
    /// `TCP_NODELAY`: short segments do not wait.
    NoDelay(bool),
    /// `TCP_CORK`: nothing but full segments goes out.
    Cork(bool),
    /// `TCP_QUICKACK`: ACKs do not wait.
    QuickAck(bool),
    /// `SO_RCVBUF`: the receive buffer, which then keeps its size.
    ReceiveBuffer(Bytes),
    /// `TCP_USER_TIMEOUT`: how long data may stay unacknowledged.
    UserTimeout(Option<Duration>),
    /// `TCP_FASTOPEN`: a listener takes data in a SYN.
    FastOpen(bool),
}

/// The application's word about a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Write {
    /// Nothing.
    #[default]
    Plain,
    /// `MSG_MORE`: another will follow soon.
    More,
    /// `MSG_EOR`: it ends a record.
    Record,
}

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not opened.
    Fresh,
    /// Waiting for a SYN.
    Listening,
    /// Between the first SYN and the end of the handshake.
    Opening,
    /// Data may flow; perhaps one side or both have closed.
    Open,
    /// Over: closed by both sides, or in TIME-WAIT.
    Closed,
    /// Reset by the peer, before the handshake was done.
    Refused,
    /// Reset by the peer.
    Reset,
    /// Reset by the peer after it had closed its side, which Linux reports as `EPIPE` (`tcp_reset`).
    BrokenPipe,
    /// Given up.
    TimedOut,
}

/// The answer of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It returns this.
    Value(i64),
    /// It returns -1 and sets this.
    Error(&'static str),
    /// It does not return yet.
    Blocks,
}

/// A stack with one connection, as the executor needs it. The executor says what time it is, and
/// time never goes back. A stack without a clock has timers; a real one [waits](Self::pass).
pub trait Stack {
    /// Lets time pass, at most until `until`. The answer is the moment after `now` at which the
    /// stack has something to do or to say, `None` if there is none by `until`.
    fn pass(&mut self, now: Instant, until: Instant) -> Option<Instant> {
        self.poll_at().filter(|at| *at > now && *at <= until)
    }

    /// By how much timers of this stack may be late or early besides: a tick of its clock.
    fn tick(&self) -> Duration {
        Duration::ZERO
    }

    /// Carries out a system call of the script on a real operating system. `None` where there is
    /// none: the executor then plays it. `again` says that the call has blocked so far.
    ///
    /// # Errors
    /// An argument that cannot be understood, or an answer in memory that is not as the script says.
    fn system_call(&mut self, call: &Call, again: bool) -> Result<Option<Returned>, String> {
        let _ = (call, again);
        Ok(None)
    }

    /// The number of connections that [system calls](Self::system_call) have opened, or have waited for, so far.
    fn connections(&self) -> u32 {
        0
    }

    /// Sets what a sysctl, a module's parameter, an option line or a caller's override says.
    ///
    /// # Errors
    /// Why it cannot be set, beginning with the setting's name: it is unknown, or its value is.
    fn set(&mut self, name: &str, value: &str) -> Result<Meaning, String>;

    /// The defaults that the field's scripts share, as `defaults.sh` sets them.
    fn set_shared_defaults(&mut self);

    /// Passive open.
    ///
    /// # Errors
    /// Settings that do not go together.
    fn listen(&mut self) -> Result<(), String>;

    /// Active open.
    ///
    /// # Errors
    /// Settings that do not go together.
    fn connect(&mut self, now: Instant) -> Result<(), String>;

    /// Active open with TCP Fast Open, and `volume` to send. The answer is how much of it goes into the SYN.
    ///
    /// # Errors
    /// Settings that do not go together, or a stack without Fast Open.
    fn connect_fast(&mut self, now: Instant, volume: Bytes) -> Result<Bytes, String> {
        let _ = (now, volume);
        Err("this stack has no TCP Fast Open".to_owned())
    }

    /// The state of TCP Fast Open for clients: none if it is not allowed, else true if data could
    /// go into a SYN now.
    fn fast_open(&self) -> Option<bool> {
        None
    }

    /// The cookie of the script's address.
    fn cookie(&self) -> Option<Vec<u8>> {
        None
    }

    /// The application gives `volume`; returns how much is taken.
    fn write(&mut self, now: Instant, volume: Bytes, kind: Write) -> Bytes;

    /// The application takes up to `volume`; returns how much there was.
    fn read(&mut self, now: Instant, volume: Bytes) -> Bytes;

    /// Nothing more will be written.
    fn finish(&mut self, now: Instant);

    /// Nothing more will be read.
    fn stop_reading(&mut self, now: Instant);

    /// Nothing more will be written, nor read.
    fn close(&mut self, now: Instant);

    /// The connection is broken off.
    fn abort(&mut self, now: Instant);

    /// Sets a socket option of the connection, open or not.
    ///
    /// # Errors
    /// Why it cannot be set.
    fn set_option(&mut self, option: SocketOption) -> Result<(), String>;

    /// Data that could be read.
    fn readable(&self) -> Bytes;

    /// True once everything that the peer sent has come, its FIN included.
    fn peer_finished(&self) -> bool;

    /// The stage of the connection.
    fn stage(&self) -> Stage;

    /// A segment comes in.
    fn handle(&mut self, now: Instant, segment: &Segment, ip: IpMeta, options: Option<&Options>);

    /// A packet comes in that is made of segments with `size` of payload each, as receive offload joins them.
    ///
    /// # Errors
    /// Why this stack cannot take one.
    fn handle_joined(
        &mut self,
        now: Instant,
        segment: &Segment,
        size: u32,
        ip: IpMeta,
        options: Option<&Options>,
    ) -> Result<(), String> {
        let _ = (now, segment, size, ip, options);
        Err("this stack takes no packets that are made of segments".to_owned())
    }

    /// The next segment that goes out now, if any.
    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit>;

    /// When [`poll_transmit`](Self::poll_transmit) must be asked again although nothing came in.
    fn poll_at(&self) -> Option<Instant>;

    /// The state of the connection.
    fn info(&self, now: Instant) -> TcpInfo;
}
