//! One end of a connection: RFC 9293's state machine around a sender and a receiver.

use ackclock_packet::{Flags, IpMeta, Options, Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::config::Config;
use crate::event::Handshake;
use crate::receiver::Receiver;
use crate::recovery::timestamp;
use crate::rtt::RttEstimator;
use crate::sender::{Arrived, Sender};

/// Where a connection stands (RFC 9293 §3.3.2).
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
}

/// What goes out: a segment, what it asks of the network, and options if it has any.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// What it asks of the network.
    pub ip: IpMeta,
    /// Options that most segments lack.
    pub options: Option<Options>,
}

/// SYNs sent in all before giving up: with a timeout of 1 s, RFC 9293 §3.8.3's R2 of at least 3
/// minutes.
const MAX_SYNS: u32 = 8;

/// Time in TIME-WAIT: twice a maximum segment lifetime, taken as 30 s as Linux does.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// One end of a TCP connection, without clock or I/O.
///
/// Methods come in four kinds. *Application calls* ([`connect`](Self::connect),
/// [`listen`](Self::listen), [`write`](Self::write), [`read`](Self::read),
/// [`close`](Self::close)) and the *input* [`handle`](Self::handle) change its state. After any of
/// them, and whenever the moment of [`poll_at`](Self::poll_at) has come, call the *output*
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
pub struct Endpoint {
    state: State,
    sender: Sender,
    receiver: Receiver,
    config: Config,
    timestamps: Timestamps,
    /// Before ESTABLISHED: what is needed to open.
    opening: Opening,
    failure: Option<Failure>,
    time_wait_until: Option<Instant>,
    established_at: Option<Instant>,
}

/// Timestamps (RFC 7323 §3 to §5).
#[derive(Clone, Copy, Debug, Default)]
struct Timestamps {
    /// Both ends offered them.
    used: bool,
    /// TS.Recent: what is to be echoed.
    recent: u32,
    /// RCV.NXT when the last ACK was sent, Last.ACK.sent.
    last_ack_sent: Seq,
}

impl Timestamps {
    /// Bytes that the option takes of a segment's payload, padding included.
    const LEN: u8 = 12;

    /// Whether a segment is older than what has been seen (§5.3, R1).
    const fn is_old(self, segment: &Segment) -> bool {
        self.used
            && segment.timestamps
            && segment.ts_val.wrapping_sub(self.recent) > u32::MAX / 2
            && !segment.flags.contains(Flags::RST)
    }

    /// Takes what a segment carries (§4.3 (2)).
    fn take(&mut self, segment: &Segment) {
        if segment.timestamps && segment.seq <= self.last_ack_sent {
            self.recent = segment.ts_val;
        }
    }

    /// Writes the option on a segment whose other options are `options`.
    fn stamp(self, now: Instant, segment: &mut Segment, options: Option<&Options>) {
        if !self.used {
            segment.options_len = options.map_or(0, Options::wire_len);
            return;
        }
        segment.timestamps = true;
        segment.ts_val = timestamp(now);
        segment.ts_ecr = self.recent;
        segment.options_len = options.map_or(Self::LEN, Options::wire_len_with_timestamps);
    }
}

/// The handshake's own state.
#[derive(Debug)]
struct Opening {
    /// The peer's SYN carried timestamps.
    peer_timestamps: bool,
    /// A SYN or SYN-ACK is to be sent.
    send_syn: bool,
    /// How often it was sent.
    syns_sent: u32,
    syn_sent_at: Instant,
    timer: Option<Instant>,
    rtt: RttEstimator,
    /// The peer's options, once its SYN has arrived.
    peer: Option<Options>,
    passive: bool,
}

impl Endpoint {
    /// A connection in CLOSED.
    pub fn new(config: Config) -> Self {
        Self {
            state: State::Closed,
            sender: Sender::new(&config),
            receiver: Receiver::new(&config),
            timestamps: Timestamps::default(),
            opening: Opening {
                peer_timestamps: false,
                send_syn: false,
                syns_sent: 0,
                syn_sent_at: Instant::START,
                timer: None,
                rtt: RttEstimator::new(config.rto),
                peer: None,
                passive: false,
            },
            config,
            failure: None,
            time_wait_until: None,
            established_at: None,
        }
    }

    /// Active open: a SYN goes out.
    pub fn connect(&mut self, _now: Instant) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.opening.send_syn = true;
        }
    }

    /// Passive open: waits for a SYN.
    pub fn listen(&mut self) {
        if self.state == State::Closed {
            self.state = State::Listen;
            self.opening.passive = true;
        }
    }

    /// The application gives `volume` more to send. Ignored after [`close`](Self::close).
    pub fn write(&mut self, volume: Bytes) {
        if !matches!(
            self.state,
            State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck | State::TimeWait
        ) {
            self.sender.write(volume);
        }
    }

    /// The application takes up to `volume` of what has arrived in order; returns how much.
    pub fn read(&mut self, volume: Bytes) -> Bytes {
        self.receiver.read(volume)
    }

    /// The application has nothing more to send: a FIN follows what it gave.
    pub fn close(&mut self) {
        match self.state {
            State::Closed | State::Listen => self.state = State::Closed,
            State::SynSent | State::SynReceived => self.sender.close(),
            State::Established => {
                self.sender.close();
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.sender.close();
                self.state = State::LastAck;
            }
            _ => {}
        }
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
            && self.receiver.acceptable(segment.seq, segment.payload())
            && !self.timestamps.is_old(segment)
        {
            if self.timestamps.used {
                self.timestamps.take(segment);
            }
            self.on_ack_field(now, segment, options);
            if segment.len > 0 {
                self.receiver.on_data(now, segment.seq, segment.payload(), false);
            }
            return;
        }
        self.handle_slowly(now, segment, ip, options);
    }

    fn handle_slowly(
        &mut self,
        now: Instant,
        segment: &Segment,
        _ip: IpMeta,
        options: Option<&Options>,
    ) {
        match self.state {
            State::Closed => {}
            State::Listen => self.handle_in_listen(segment, options),
            State::SynSent => self.handle_in_syn_sent(now, segment, options),
            _ => self.handle_synchronized(now, segment, options),
        }
    }

    fn handle_in_listen(&mut self, segment: &Segment, options: Option<&Options>) {
        if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::RST) {
            self.take_syn(segment, options);
            self.state = State::SynReceived;
            self.opening.send_syn = true;
        }
    }

    /// A SYN: what it offers, and its window, which is not scaled.
    fn take_syn(&mut self, segment: &Segment, options: Option<&Options>) {
        self.opening.peer = Some(options.copied().unwrap_or_default());
        self.opening.peer_timestamps = segment.timestamps;
        self.timestamps.recent = segment.ts_val;
        self.sender.set_rwnd(Bytes::new(u64::from(segment.window)));
    }

    fn handle_in_syn_sent(&mut self, now: Instant, segment: &Segment, options: Option<&Options>) {
        let has_ack = segment.flags.contains(Flags::ACK);
        if has_ack && segment.ack != Seq::FIRST_BYTE {
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if has_ack {
                self.fail(Failure::Reset);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.take_syn(segment, options);
        if has_ack {
            self.establish(now);
            self.receiver.demand_ack();
        } else {
            // Simultaneous open (RFC 9293 §3.5, figure 7).
            self.state = State::SynReceived;
            self.opening.send_syn = true;
        }
    }

    fn establish(&mut self, now: Instant) {
        let peer = self.opening.peer.unwrap_or_default();
        // RFC 9293 §3.7.1: 536 bytes when the peer said nothing.
        let theirs = peer.mss.unwrap_or(Mss::new(536).expect("536 is not zero"));
        let mut mss = theirs.min(self.config.mss);
        self.timestamps.used = self.config.timestamps && self.opening.peer_timestamps;
        if self.timestamps.used {
            // RFC 6691 §3: the MSS counts no options, the sender makes room for them.
            mss = Mss::new(mss.get().saturating_sub(u16::from(Timestamps::LEN)).max(1))
                .expect("at least one byte");
        }
        if self.config.window_scaling && peer.window_scale.is_some() {
            self.receiver.set_shift(self.receiver.offered_shift());
        }
        let needs_sack = self.config.parts.recovery.needs_sack();
        if needs_sack && peer.sack_permitted {
            self.receiver.permit_sack();
        } else if needs_sack {
            self.sender.do_without_sack();
        }
        let retransmissions = self.opening.syns_sent.saturating_sub(1);
        let rtt = (retransmissions == 0).then(|| now.since(self.opening.syn_sent_at));
        self.opening.timer = None;
        self.opening.send_syn = false;
        self.sender.on_established(Handshake { retransmissions, mss }, rtt);
        self.established_at = Some(now);
        // The application may have closed before the handshake was done.
        self.state = if self.sender.is_closed() { State::FinWait1 } else { State::Established };
    }

    fn handle_synchronized(&mut self, now: Instant, segment: &Segment, options: Option<&Options>) {
        if self.timestamps.is_old(segment) {
            // RFC 7323 §5.3 R1: an ACK in answer, and the segment is dropped.
            self.receiver.demand_ack();
            return;
        }
        if !self.receiver.acceptable(segment.seq, segment.seq_len()) {
            // RFC 9293 §3.10.7.4: an ACK in answer, unless it was a reset. A SYN-ACK that was sent
            // again ends here too, and its answer is what the peer waits for.
            if !segment.flags.contains(Flags::RST) {
                if self.state == State::SynReceived && segment.flags.contains(Flags::SYN) {
                    if segment.flags.contains(Flags::ACK) && segment.ack == Seq::FIRST_BYTE {
                        // The other half of a simultaneous open.
                        self.establish(now);
                        self.receiver.demand_ack();
                    } else {
                        self.opening.send_syn = true;
                    }
                    return;
                }
                self.receiver.demand_ack();
            }
            return;
        }
        if segment.flags.contains(Flags::RST) {
            // RFC 5961 §3.2: only the exact number resets; any other gets a challenge ACK.
            if segment.seq == self.receiver.nxt() {
                self.fail(Failure::Reset);
            } else {
                self.receiver.demand_ack();
            }
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            // RFC 5961 §4.2: a challenge ACK, whatever its numbers.
            self.receiver.demand_ack();
            return;
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        if self.state == State::SynReceived {
            // The SYN is all that was sent.
            if segment.ack != Seq::FIRST_BYTE {
                return;
            }
            self.establish(now);
        }
        if self.timestamps.used {
            self.timestamps.take(segment);
        }
        self.on_ack_field(now, segment, options);
        self.after_ack(now);
        let fin = segment.flags.contains(Flags::FIN);
        if segment.len > 0 || fin {
            let was_finished = self.receiver.finished();
            self.receiver.on_data(now, segment.seq, segment.payload(), fin);
            if self.receiver.finished() && !was_finished {
                self.on_peer_finished(now);
            }
        }
    }

    #[inline]
    fn on_ack_field(&mut self, now: Instant, segment: &Segment, options: Option<&Options>) {
        let pure = segment.len == 0 && segment.flags == Flags::ACK;
        let sack = options.map_or(&[][..], |options| options.sack.as_slice());
        if !self.sender.accepts(segment.ack) {
            // RFC 9293 §3.10.7.4: an ACK of something not yet sent is answered and dropped; of an old
            // one only the SACKs count.
            if self.sender.is_ahead(segment.ack) {
                self.receiver.demand_ack();
            } else {
                self.sender.on_old_ack(now, sack);
            }
            return;
        }
        let echo = (self.timestamps.used && segment.timestamps).then_some(segment.ts_ecr);
        let window = Bytes::new(u64::from(segment.window));
        self.sender.on_ack(now, &Arrived { ack: segment.ack, window, pure, echo, sack });
    }

    fn after_ack(&mut self, now: Instant) {
        if !self.sender.fin_acked() {
            return;
        }
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
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
            _ => {}
        }
    }

    fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.time_wait_until = Some(now + TIME_WAIT);
    }

    fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.state = State::Closed;
        self.opening.timer = None;
        self.opening.send_syn = false;
    }

    /// The next segment to go out at `now`, if any; timers that are due expire first.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.state != State::Established {
            return self.poll_transmit_slowly(now);
        }
        self.sender.on_timer(now);
        self.receiver.on_timer(now);
        self.poll_segment(now)
    }

    fn poll_transmit_slowly(&mut self, now: Instant) -> Option<Transmit> {
        match self.state {
            State::Closed | State::Listen => None,
            State::SynSent | State::SynReceived => self.poll_syn(now),
            State::TimeWait => {
                if self.time_wait_until.is_some_and(|until| until <= now) {
                    self.state = State::Closed;
                    return None;
                }
                self.poll_segment(now)
            }
            _ => {
                self.sender.on_timer(now);
                self.receiver.on_timer(now);
                self.poll_segment(now)
            }
        }
    }

    /// A segment of data, or else an ACK that is due.
    #[inline]
    fn poll_segment(&mut self, now: Instant) -> Option<Transmit> {
        let segment = if let Some(stretch) = self.sender.poll_transmit(now) {
            let fin = if stretch.fin { Flags::FIN } else { Flags::NONE };
            Segment {
                seq: stretch.seq,
                // A stretch is at most an MSS, which is 16 bits wide.
                len: u32::try_from(stretch.len.get()).unwrap_or(u32::MAX),
                flags: Flags::ACK | fin,
                ..self.bare_segment()
            }
        } else if self.receiver.ack_due() {
            self.bare_segment()
        } else {
            return None;
        };
        let options =
            self.receiver.sack_blocks().map(|sack| Options { sack, ..Options::default() });
        let mut segment = segment;
        if self.timestamps.used || options.is_some() {
            self.timestamps.stamp(now, &mut segment, options.as_ref());
        }
        self.timestamps.last_ack_sent = segment.ack;
        self.receiver.on_ack_sent(segment.window);
        Some(Transmit { segment, ip: IpMeta::default(), options })
    }

    #[inline]
    fn bare_segment(&self) -> Segment {
        Segment {
            seq: self.sender.next_seq(),
            ack: self.receiver.nxt(),
            window: self.receiver.window(),
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    fn poll_syn(&mut self, now: Instant) -> Option<Transmit> {
        if self.opening.timer.is_some_and(|at| at <= now) {
            self.opening.timer = None;
            if self.opening.syns_sent >= MAX_SYNS {
                self.fail(Failure::HandshakeTimedOut);
                return None;
            }
            self.opening.rtt.back_off();
            self.opening.send_syn = true;
        }
        if !self.opening.send_syn {
            return None;
        }
        self.opening.send_syn = false;
        if self.opening.syns_sent == 0 {
            self.opening.syn_sent_at = now;
        }
        self.opening.syns_sent += 1;
        self.opening.timer = Some(now + self.opening.rtt.rto());
        let answering = self.state == State::SynReceived;
        let peer = self.opening.peer.unwrap_or_default();
        let scale = self.config.window_scaling && (!answering || peer.window_scale.is_some());
        let options = Options {
            mss: Some(self.config.mss),
            window_scale: scale.then(|| self.receiver.offered_shift()),
            sack_permitted: self.config.parts.recovery.needs_sack()
                && (!answering || peer.sack_permitted),
            ..Options::default()
        };
        let ack = if answering { Flags::ACK } else { Flags::NONE };
        let mut segment = Segment {
            seq: Seq::SYN,
            ack: if answering { self.receiver.nxt() } else { Seq::default() },
            flags: Flags::SYN | ack,
            // RFC 7323 §2.2: the window of a SYN is not scaled.
            window: u32::try_from(self.config.receive_window.get().min(0xffff)).unwrap_or(0xffff),
            ..Segment::default()
        };
        let timestamps = Timestamps {
            used: self.config.timestamps && (!answering || self.opening.peer_timestamps),
            ..self.timestamps
        };
        timestamps.stamp(now, &mut segment, Some(&options));
        self.timestamps.last_ack_sent = segment.ack;
        self.receiver.on_ack_sent(segment.window);
        Some(Transmit { segment, ip: IpMeta::default(), options: Some(options) })
    }

    /// The moment at which [`poll_transmit`](Self::poll_transmit) must be called even if nothing
    /// arrives.
    #[inline]
    pub fn poll_at(&self) -> Option<Instant> {
        let timers = match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => return self.opening.timer,
            State::TimeWait => [self.time_wait_until, self.receiver.timer()],
            _ => [self.sender.timer(), self.receiver.timer()],
        };
        match timers {
            [Some(a), Some(b)] => Some(a.min(b)),
            [a, b] => a.or(b),
        }
    }

    /// Where the connection stands.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Why it ended, if not by closing.
    pub const fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// When the handshake was done.
    pub const fn established_at(&self) -> Option<Instant> {
        self.established_at
    }

    /// The sending half.
    pub const fn sender(&self) -> &Sender {
        &self.sender
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

    /// Whether the peer has closed and all of its data has arrived.
    pub fn peer_finished(&self) -> bool {
        self.receiver.finished()
    }
}

#[cfg(test)]
mod tests;
