//! One end of a connection: RFC 9293's state machine around a sender and a receiver.

mod arriving;
mod closing;
mod ecn;
mod fast_open;
mod feedback;
mod jump;
mod opening;
mod output;
mod quick_start;
mod throttle;
mod timestamps;

use std::sync::Arc;

use ackclock_packet::{Ecn, Flags, IpMeta, Options, Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use crate::config::{Config, Nagle};
use crate::receiver::Receiver;
use crate::sender::{Sender, WriteHint};
use ecn::Marking;
pub use fast_open::{FastOpenClient, FastOpenServer};
use jump::Jump;
use opening::Opening;
pub use opening::OpeningCounts;
pub use output::{ExtraOptions, SegmentSink, Transmit, TransmitInfo};
pub use quick_start::{QuickStartEvent, QuickStartStep};
use throttle::Throttle;
use timestamps::Timestamps;

/// The state of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection: not yet opened, or over.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// This end closed; its FIN is not acknowledged.
    FinWait1,
    /// This end closed and its FIN is acknowledged.
    FinWait2,
    /// The peer closed.
    CloseWait,
    /// Both closed at once; this end's FIN is not acknowledged.
    Closing,
    /// The peer closed first; this end's FIN is not acknowledged.
    LastAck,
    /// Over, but old segments may still arrive.
    TimeWait,
}

/// Why a connection ended other than by closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer reset it.
    Reset,
    /// The SYN or SYN-ACK was never answered.
    HandshakeTimedOut,
    /// Data, or a probe of the peer's closed window, was not answered for too long (RFC 9293
    /// §3.8.3).
    TimedOut,
    /// The application broke it off.
    Aborted,
}

/// The options that the handshake agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Timestamps (RFC 7323 §3).
    pub timestamps: bool,
    /// SACK (RFC 2018 §2).
    pub sack: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// The shifts of the peer's windows and of this end's (RFC 7323 §2), if there are any.
    pub window_shifts: Option<(u8, u8)>,
}

/// One end of a TCP connection, without clock or I/O.
///
/// Methods come in four kinds. *Application calls* ([`connect`](Self::connect),
/// [`listen`](Self::listen), [`write`](Self::write), [`read`](Self::read),
/// [`shutdown_write`](Self::shutdown_write), [`close`](Self::close), [`abort`](Self::abort)) and the
/// *input* [`handle`](Self::handle) change its state. After any of them, and whenever the moment of [`poll_at`](Self::poll_at) has come, call the *output*
/// [`poll_transmit`](Self::poll_transmit) until it says `None`. The rest are *getters*. `now` must
/// never go back.
///
/// It moves lengths and 64-bit offsets; payload bytes, where there are any, lie beside it.
///
/// ```
/// use ackclock_tcp::{Config, Endpoint, Profile, Variant};
/// use ackclock_units::{Bytes, Instant};
///
/// let parts = "newreno".parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap();
/// let config = Config::new(parts, Profile::Rfc);
/// let (mut client, mut server) = (Endpoint::new(config), Endpoint::new(config));
/// let now = Instant::START;
/// server.listen();
/// client.connect(now);
/// client.write(Bytes::new(1000));
/// loop {
///     let out = client.poll_transmit(now);
///     if let Some(t) = out {
///         server.handle(now, &t.segment, t.ip, t.options.as_ref());
///     }
///     let back = server.poll_transmit(now);
///     if let Some(t) = back {
///         client.handle(now, &t.segment, t.ip, t.options.as_ref());
///     }
///     if out.is_none() && back.is_none() {
///         break;
///     }
/// }
/// assert_eq!(server.readable(), Bytes::new(1000));
/// ```
#[derive(Debug)]
// In the order of use: with a thousand connections every packet's way begins with fetching this. Parts
// that end with what every packet touches stand before parts that begin with it, so that such fields
// share lines; what only the handshake needs is boxed.
#[repr(C)]
pub struct Endpoint {
    state: State,
    /// The application reads no more: what still comes cannot be delivered.
    read_closed: bool,
    failure: Option<Failure>,
    agreed: Agreed,
    timestamps: Timestamps,
    /// The sequence number of the segment that the peer's window was last taken from, SND.WL1.
    window_from: Seq,
    /// A jump past slow start, or what routers say; `None` with most variants.
    jump: Option<Box<Jump>>,
    marking: Marking,
    receiver: Receiver,
    sender: Sender,
    /// A reset that is to go out.
    reset: Option<Segment>,
    /// The answers to segments that are not acceptable.
    throttle: Throttle,
    /// When TIME-WAIT ends, or FIN-WAIT-2 if nobody reads any more.
    time_wait_until: Option<Instant>,
    established_at: Option<Instant>,
    /// Many may have the same, but for the seed.
    config: Arc<Config>,
    /// The state of the opening.
    opening: Box<Opening>,
}

impl Endpoint {
    /// A connection in CLOSED.
    pub fn new(config: Config) -> Self {
        Self::sharing(Arc::new(config), config.seed)
    }

    /// A new end point, of settings that others have as well, but with this [`seed`](Config::seed).
    pub fn sharing(shared: Arc<Config>, seed: u64) -> Self {
        let config = Config { seed, ..*shared };
        Self {
            state: State::Closed,
            sender: Sender::new(&config),
            receiver: Receiver::new(&config),
            timestamps: Timestamps::default(),
            opening: Box::new(Opening::new(&config)),
            agreed: Agreed::default(),
            marking: Marking::new(config.ecn),
            jump: Jump::of(&config),
            window_from: Seq::FIRST_BYTE,
            read_closed: false,
            reset: None,
            throttle: Throttle::default(),
            config: shared,
            failure: None,
            time_wait_until: None,
            established_at: None,
        }
    }

    /// A connection in CLOSED in the place of this one, whose memory it uses: the same as
    /// [`new`](Self::new) of this `config` with this [`seed`](Config::seed), and cheaper.
    pub fn reset(&mut self, config: &Config, seed: u64) {
        let Self {
            state,
            read_closed,
            failure,
            agreed,
            timestamps,
            window_from,
            marking,
            jump,
            receiver,
            sender,
            reset,
            throttle,
            time_wait_until,
            established_at,
            config: settings,
            opening,
        } = self;
        let settings = Arc::make_mut(settings);
        *settings = Config { seed, ..*config };
        *state = State::Closed;
        *read_closed = false;
        *failure = None;
        *agreed = Agreed::default();
        *timestamps = Timestamps::default();
        *window_from = Seq::FIRST_BYTE;
        *marking = Marking::new(settings.ecn);
        *jump = Jump::of(settings);
        receiver.reset(settings);
        sender.reset(settings);
        *reset = None;
        *throttle = Throttle::default();
        *time_wait_until = None;
        *established_at = None;
        opening.reset(settings);
    }

    /// The application gives `volume` more to send. Ignored after
    /// [`shutdown_write`](Self::shutdown_write).
    pub fn write(&mut self, volume: Bytes) {
        self.write_then(volume, WriteHint::Silence);
    }

    /// A write after which more is to come soon: less than a full segment waits for it, for an ACK, or for
    /// the retransmission timeout (`MSG_MORE`).
    pub fn write_more(&mut self, volume: Bytes) {
        self.write_then(volume, WriteHint::More);
    }

    /// A write that ends a record: no segment holds its end and what is written next
    /// (`MSG_EOR`).
    pub fn write_record(&mut self, volume: Bytes) {
        self.write_then(volume, WriteHint::Record);
    }

    fn write_then(&mut self, volume: Bytes, hint: WriteHint) {
        if !matches!(
            self.state,
            State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck | State::TimeWait
        ) {
            self.sender.write(volume, hint);
        }
    }

    /// The application takes up to `volume` of what has arrived in order; returns how much.
    pub fn read(&mut self, now: Instant, volume: Bytes) -> Bytes {
        self.receiver.read(now, volume)
    }

    /// Lets less than a full segment wait or not (`TCP_NODELAY` is [`Nagle::Off`]).
    pub fn set_nagle(&mut self, nagle: Nagle) {
        self.sender.set_nagle(nagle);
    }

    /// Lets nothing but full segments go out (`TCP_CORK`); after the retransmission timeout it
    /// does all the same.
    pub const fn set_cork(&mut self, cork: bool) {
        self.sender.set_cork(cork);
    }

    /// Sends ACKs at once, or lets data carry them (`TCP_QUICKACK`); under Linux's rule until the
    /// rule itself has it otherwise.
    pub fn set_quick_ack(&mut self, quick_ack: bool) {
        self.receiver.set_quick_ack(quick_ack);
    }

    /// Lets segments leave at no more than `rate` of payload, whatever the window would allow
    /// (`SO_MAX_PACING_RATE`, which counts headers too); `None` takes the bound away. A sender that
    /// waits for its time is then limited by neither window nor application.
    pub fn pace_at_most(&mut self, rate: Option<Rate>) {
        self.sender.pace_at_most(rate);
    }

    /// The time that data may stay unacknowledged before the connection is given up; `None` is as many
    /// retransmissions as the settings say (`TCP_USER_TIMEOUT`, RFC 5482).
    pub fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.sender.set_user_timeout(timeout);
    }

    /// A segment arrives.
    #[inline]
    pub fn handle(
        &mut self,
        now: Instant,
        segment: &Segment,
        ip: IpMeta,
        options: Option<&Options>,
    ) {
        if self.state == State::Established
            && segment.flags == Flags::ACK
            && self.receiver.expects(segment.seq, segment.payload())
            && self.timestamps.are_current(segment)
            && ip.ecn != Ecn::Ce
            && !self.marking.watches()
            && (self.jump.is_none() || self.jump_sleeps(options))
        {
            let window = Bytes::new(u64::from(segment.window));
            if options.is_none()
                && !self.timestamps.used
                && segment.len > 0
                && self.sender.rests_at(segment.ack, window)
            {
                self.window_from = self.window_from.max(segment.seq);
            } else if !self.on_ack_field(now, segment, options) {
                return;
            }
            if segment.len > 0 {
                self.receiver.on_data(now, segment, self.sender.rtt());
            }
            return;
        }
        self.handle_slowly(now, segment, ip, options);
    }

    /// A packet of several segments with `size` of payload each arrives, as receive offload joins them: it is
    /// acknowledged as one.
    pub fn handle_joined(
        &mut self,
        now: Instant,
        segment: &Segment,
        size: u32,
        ip: IpMeta,
        options: Option<&Options>,
    ) {
        self.receiver.expect_joined(size);
        self.handle(now, segment, ip, options);
        self.receiver.expect_joined(0);
    }

    fn handle_slowly(
        &mut self,
        now: Instant,
        segment: &Segment,
        ip: IpMeta,
        options: Option<&Options>,
    ) {
        if self.jump.is_some() {
            self.before_segment(segment);
        }
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.handle_in_listen(now, segment, options),
            State::SynSent => self.handle_in_syn_sent(now, segment, options),
            _ => self.handle_synchronized(now, segment, ip, options),
        }
        if self.jump.is_some() {
            self.after_segment(now, ip, options);
        }
    }

    fn after_ack(&mut self, now: Instant) {
        if !self.sender.fin_acked() {
            return;
        }
        match self.state {
            State::FinWait1 => self.enter_fin_wait_2(now),
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.state = State::Closed,
            _ => {}
        }
    }

    fn on_peer_finished(&mut self, now: Instant) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => return,
        }
        if self.state != State::CloseWait {
            // Nothing of this end will carry it.
            self.receiver.demand_ack();
        }
    }

    /// The moment at which [`poll_transmit`](Self::poll_transmit) must be called even if nothing
    /// arrives.
    #[inline]
    pub fn poll_at(&self) -> Option<Instant> {
        self.wake().if_ever()
    }

    /// The moment of [`poll_at`](Self::poll_at), and [`Instant::NEVER`] if there is none.
    #[inline]
    pub(crate) fn wake(&self) -> Instant {
        let data = self.sender.wake().min(self.receiver.due());
        if self.state == State::Established {
            return data;
        }
        let wait = self.time_wait_until.unwrap_or(Instant::NEVER);
        match self.state {
            State::Closed | State::Listen => Instant::NEVER,
            State::SynReceived if self.opens_fast() => {
                data.min(self.opening.timer.unwrap_or(Instant::NEVER))
            }
            State::SynSent | State::SynReceived => self.opening.timer.unwrap_or(Instant::NEVER),
            State::TimeWait => wait.min(self.receiver.due()),
            State::FinWait2 => wait.min(data),
            _ => data,
        }
    }

    /// The state of the connection.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Why it ended, if not by closing.
    pub const fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// When the handshake was done, or the connection opened ahead of that by TCP Fast Open.
    pub const fn established_at(&self) -> Option<Instant> {
        self.established_at
    }

    /// Transmissions of this end's SYN or SYN-ACK.
    pub const fn syns_sent(&self) -> u32 {
        self.opening.syns_sent()
    }

    /// The sending half.
    pub const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The options that the handshake agreed on.
    pub const fn agreed(&self) -> Agreed {
        self.agreed
    }

    /// The largest segment that this end takes, as it told the peer (RFC 9293 §3.7.1).
    pub fn offered_mss(&self) -> Mss {
        self.config.mss
    }

    /// The receiving half.
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The sending half, to give it a user's own growth law before the handshake.
    pub const fn sender_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }

    /// Data in order that the application has not read.
    pub fn readable(&self) -> Bytes {
        self.receiver.readable()
    }

    /// Data received in order since the connection began, read or not.
    pub fn received(&self) -> Bytes {
        self.receiver.received()
    }

    /// True if the peer has closed and all of its data has arrived.
    pub fn peer_finished(&self) -> bool {
        self.receiver.finished()
    }
}

#[cfg(test)]
mod tests;
