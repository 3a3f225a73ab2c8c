//! The end of a connection: by closing, half or whole, by a reset, or by giving up.

use ackclock_packet::{Flags, Segment, Seq};
use ackclock_units::{Bytes, Duration, Instant};

use super::opening::Opening;
use super::{Endpoint, Failure, State};
use crate::receiver::Receiver;

/// Time in TIME-WAIT: twice a maximum segment lifetime, taken as 30 s as Linux does.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// Time in FIN-WAIT-2 once nobody reads any more: RFC 9293 sets no limit, BSD and Linux
/// (`tcp_fin_timeout`) do, or a peer that never closes would hold the connection for ever.
const FIN_WAIT_2: Duration = Duration::from_secs(60);

impl Endpoint {
    /// The application has nothing more to send: a FIN follows what it gave. It may go on reading
    /// (`shutdown(SHUT_WR)`).
    pub fn shutdown_write(&mut self) {
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

    /// The application will read no more. As on Linux nothing comes of it until this end has also
    /// shut its writing: then data that still comes is reset.
    pub const fn shutdown_read(&mut self) {
        self.read_closed = true;
    }

    /// The application closes both directions. Data that it has not read, or that comes later, is
    /// answered by a reset, so that the peer does not take it for read (RFC 9293 §3.6.1, RFC 2525
    /// §2.17).
    pub fn close(&mut self, now: Instant) {
        if self.state == State::SynSent {
            // RFC 9293 §3.10.4: nobody has heard of the connection.
            self.state = State::Closed;
            return;
        }
        if self.receiver.readable() > Bytes::ZERO {
            self.abort(now);
            self.failure = None;
            return;
        }
        self.shutdown_write();
        self.read_closed = true;
        if self.state == State::FinWait2 {
            self.enter_fin_wait_2(now);
        }
    }

    /// Breaks the connection off: a reset goes out and what was to be sent is lost (RFC 9293
    /// §3.10.5; `SO_LINGER` with no time).
    pub fn abort(&mut self, now: Instant) {
        let mut reset = Segment {
            seq: self.sender.next_seq(),
            ack: self.receiver.nxt(),
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        };
        self.timestamps.stamp(now, &mut reset, None);
        let known = match self.state {
            State::Closed => return,
            State::Listen | State::SynSent | State::Closing | State::LastAck | State::TimeWait => {
                false
            }
            State::SynReceived
            | State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait => true,
        };
        self.fail(Failure::Aborted);
        self.reset = known.then_some(reset);
    }

    /// Answers a segment that no connection is there for (RFC 9293 §3.10.7.1), or whose
    /// acknowledgment opens none (§3.10.7.3, §3.10.7.4).
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        self.reset = Some(if segment.flags.contains(Flags::ACK) {
            Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
        } else {
            Segment {
                seq: Seq::default(),
                ack: segment.end(),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            }
        });
    }

    /// Data came that nobody will read (RFC 9293 §3.6.1).
    pub(super) fn on_undeliverable(&mut self, segment: &Segment) {
        self.fail(Failure::Aborted);
        self.failure = None;
        self.refuse(segment);
    }

    /// A reset with the expected number.
    pub(super) fn on_reset(&mut self) {
        if self.state == State::SynReceived && self.is_passive() && !self.opens_fast() {
            // RFC 9293 §3.10.7.4, second check: back to LISTEN.
            let fast = self.opening.fast.again();
            *self.opening = Opening::new(&self.config);
            self.opening.fast = fast;
            self.receiver = Receiver::new(&self.config);
            self.timestamps = super::Timestamps::default();
            self.state = State::Closed;
            self.listen();
            return;
        }
        if self.state == State::TimeWait {
            self.state = State::Closed;
            return;
        }
        self.fail(Failure::Reset);
    }

    pub(super) fn enter_fin_wait_2(&mut self, now: Instant) {
        self.state = State::FinWait2;
        if self.read_closed {
            self.time_wait_until = Some(now + FIN_WAIT_2);
        }
    }

    pub(super) fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.time_wait_until = Some(now + TIME_WAIT);
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.state = State::Closed;
        self.opening.timer = None;
        self.opening.send_syn = false;
    }
}
