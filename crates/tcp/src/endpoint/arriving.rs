//! Segments that arrive once both ends are known to one another: RFC 9293 §3.10.7.4, with RFC 5961 and
//! RFC 7323.

use ackclock_packet::{Flags, IpMeta, Options, Segment, Seq};
use ackclock_units::{Bytes, Instant};

use super::{Endpoint, State};
use crate::config::SegmentRules;
use crate::sender::Arrived;

impl Endpoint {
    pub(super) fn handle_synchronized(
        &mut self,
        now: Instant,
        segment: &Segment,
        ip: IpMeta,
        options: Option<&Options>,
    ) {
        let (syn, rst) = (segment.flags.contains(Flags::SYN), segment.flags.contains(Flags::RST));
        let rules = self.config.segment_rules;
        let opening = self.state == State::SynReceived
            && self.opening.peer_timestamps
            && self.config.timestamps;
        let agreed = opening || self.timestamps.used;
        if agreed && !segment.timestamps && !rst && rules == SegmentRules::Rfc {
            // RFC 7323 §3.2: a segment without the option that was agreed on is dropped silently.
            return;
        }
        if opening && self.timestamps.is_before_syn(segment) {
            // RFC 7323 §5.3 R1 holds from the peer's SYN on.
            self.answer(now, segment);
            return;
        }
        if self.timestamps.is_old(segment) && self.timestamps.rejects(now, segment, rules) {
            // RFC 7323 §5.3 R1: an ACK in answer, and the segment is dropped.
            self.report_repeated(segment);
            self.answer(now, segment);
            return;
        }
        if self.state == State::SynReceived && self.is_stray_answer(segment) {
            self.refuse(segment);
            return;
        }
        if rst && self.resets_behind_its_fin(segment) {
            self.on_reset();
            return;
        }
        if !self.is_acceptable(segment) {
            // RFC 9293 §3.10.7.4: an ACK in answer, unless it was a reset.
            if !rst {
                self.answer_unacceptable(now, segment);
            }
            return;
        }
        if rst {
            // RFC 5961 §3.2: only the exact number resets; any other in the window gets a challenge ACK.
            if segment.seq == self.receiver.nxt() {
                self.on_reset();
            } else if !(self.in_linux() && self.state == State::TimeWait) {
                // In TIME-WAIT Linux ignores any other (`tcp_timewait_state_process`).
                self.challenge(now);
            }
            return;
        }
        if syn {
            if self.in_linux() && self.state == State::SynReceived && self.is_passive() {
                // RFC 9293 §3.10.7.4, fourth: back to LISTEN (`tcp_check_req`).
                self.refuse(segment);
                self.on_reset();
            } else {
                // RFC 5961 §4.2: a challenge ACK, whatever its numbers.
                self.challenge(now);
            }
            return;
        }
        if !segment.flags.contains(Flags::ACK) {
            if self.in_linux() && self.state == State::TimeWait && segment.seq != segment.end() {
                self.answer(now, segment);
            }
            return;
        }
        if self.opens_fast() {
            if !self.end_fast_opening(now, segment) {
                return;
            }
        } else if self.state == State::SynReceived {
            // The SYN is all that was sent, perhaps with data.
            if !self.acknowledges_syn(segment.ack) {
                self.refuse(segment);
                return;
            }
            self.establish(now, segment);
            self.take_early_text(now);
        }
        if self.marking.used() && segment.flags.contains(Flags::ECE) {
            self.sender.on_ecn_echo(now, segment.ack);
        }
        // In TIME-WAIT Linux looks at numbers alone.
        let in_time_wait = self.in_linux() && self.state == State::TimeWait;
        if !in_time_wait && !self.on_ack_field(now, segment, options) {
            return;
        }
        let closing = self.state == State::Closing;
        self.after_ack(now);
        if self.state == State::Closed || (closing && self.state == State::TimeWait) {
            // RFC 9293 §3.10.7.4: the ACK of this end's FIN was all that could still come.
            return;
        }
        if self.in_linux()
            && segment.seq_len() > Bytes::ZERO
            && segment.end() <= self.receiver.nxt()
        {
            // What has come before is told of at once, after its acknowledgment was taken (`tcp_data_queue`).
            self.report_repeated(segment);
            self.receiver.demand_ack();
            return;
        }
        if self.state == State::TimeWait && segment.seq != self.receiver.nxt() {
            // Nothing but the peer's FIN can come again: any other number is answered, as by Linux
            // (`tcp_timewait_state_process`) and FreeBSD.
            self.answer(now, segment);
            return;
        }
        self.take_text(now, segment, ip);
    }

    /// The payload and the FIN of an acceptable segment (RFC 9293 §3.10.7.4, seventh and eighth).
    pub(super) fn take_text(&mut self, now: Instant, segment: &Segment, ip: IpMeta) {
        let fin = segment.flags.contains(Flags::FIN);
        if segment.len == 0 && !fin {
            return;
        }
        if self.receiver.finished() {
            // Behind the peer's FIN nothing can come: the text is ignored. In TIME-WAIT it is
            // acknowledged, as a repeated FIN is.
            let new = segment.seq + segment.payload() > self.receiver.nxt();
            if self.state == State::TimeWait {
                self.answer(now, segment);
            } else if self.in_linux() && segment.seq < self.receiver.nxt() && new {
                // Linux resets where text begins before the FIN and goes on behind it (`tcp_rcv_state_process`).
                self.on_undeliverable(segment);
            }
            return;
        }
        let trims = self.config.segment_rules == SegmentRules::Rfc;
        let cut = self.receiver.cut(segment, trims);
        let segment = cut.as_ref().unwrap_or(segment);
        if cut.is_some() {
            // The peer sends what this end did not ask for.
            self.receiver.demand_ack();
            if segment.len == 0 {
                return;
            }
        }
        let lost_on_close = self.read_closed && self.sender.is_closed();
        if lost_on_close && segment.seq + segment.payload() > self.receiver.nxt() {
            self.on_undeliverable(segment);
            return;
        }
        self.take_mark(segment, ip);
        self.receiver.on_data(now, segment, self.sender.rtt());
        if self.receiver.finished() {
            self.on_peer_finished(now);
        }
    }

    /// True if a passive opening gets an ACK of something else than its SYN: Linux looks at that before it looks
    /// at the window (`tcp_check_req`).
    #[cold]
    fn is_stray_answer(&self, segment: &Segment) -> bool {
        self.in_linux()
            && self.is_passive()
            && !self.opens_fast()
            && segment.flags.contains(Flags::ACK)
            && !segment.flags.contains(Flags::RST)
            && segment.ack != Seq::FIRST_BYTE
    }

    /// True if a reset has the number of the peer's FIN, as some stacks send it: Linux takes it
    /// (`tcp_reset_check`).
    #[cold]
    fn resets_behind_its_fin(&self, segment: &Segment) -> bool {
        self.in_linux()
            && matches!(self.state, State::CloseWait | State::LastAck | State::Closing)
            && segment.seq + Bytes::new(1) == self.receiver.nxt()
    }

    fn in_linux(&self) -> bool {
        self.config.segment_rules == SegmentRules::Linux
    }

    fn is_acceptable(&self, segment: &Segment) -> bool {
        let linux = self.in_linux();
        // Linux's `tcp_sequence` lets by what ends where the last ACK was sent, or later.
        let repeated = linux
            && self.state != State::TimeWait
            && self.state != State::SynReceived
            && segment.end() >= self.timestamps.last_ack_sent
            && segment.end() <= self.receiver.nxt();
        if !repeated && !self.receiver.acceptable(segment.seq, segment.seq_len()) {
            return false;
        }
        if !linux && segment.flags.contains(Flags::RST) {
            // A plain ACK may lie on the right edge, as the peer has perhaps filled the window and lost some
            // of it. A reset may not (RFC 9293 §3.10.7.4; RFC 5961 §3.2).
            return self.receiver.is_within(segment.seq);
        }
        !(linux
            && self.receiver.is_beyond(segment.seq, segment.payload())
            && self.receiver.readable() > Bytes::ZERO)
    }

    /// Reports the part of a segment that has come before (RFC 2883 §4).
    fn report_repeated(&mut self, segment: &Segment) {
        // TIME-WAIT keeps no more than RCV.NXT, on Linux and FreeBSD alike.
        if self.state != State::TimeWait && !segment.flags.contains(Flags::SYN) {
            self.receiver.on_repeated(segment.seq, segment.end());
        }
    }

    /// An ACK in answer to a segment that is not acceptable: always of data (RFC 5681 §4.2), within
    /// the limit of anything else.
    fn answer(&mut self, now: Instant, segment: &Segment) {
        let syn = segment.flags.contains(Flags::SYN);
        // A FIN is no part of a war of ACKs either (Linux's `tcp_oow_rate_limited`).
        if segment.seq_len() > Bytes::ZERO && !syn {
            self.receiver.demand_ack();
        } else {
            self.challenge(now);
        }
    }

    /// A challenge ACK (RFC 5961 §3.2), within the limit.
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.throttle.permits(now, self.config.segment_rules) {
            self.receiver.demand_ack();
        }
    }

    /// A segment outside of the window, and no reset.
    fn answer_unacceptable(&mut self, now: Instant, segment: &Segment) {
        let syn = segment.flags.contains(Flags::SYN);
        // Linux answers a SYN of another number with an ACK (`tcp_check_req`).
        let other = self.in_linux() && segment.seq != Seq::SYN;
        if self.state == State::SynReceived && syn && !other {
            let answers = segment.flags.contains(Flags::ACK) && self.acknowledges_syn(segment.ack);
            if answers && !self.opens_fast() {
                // The other half of a simultaneous open.
                self.establish(now, segment);
                self.receiver.demand_ack();
            } else {
                self.on_repeated_syn();
            }
            return;
        }
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
            // The peer has not seen the ACK of its FIN: 2 MSL begin anew (RFC 9293 §3.10.7.4).
            self.enter_time_wait(now);
        }
        self.timestamps.take_repeated(now, segment, self.config.segment_rules);
        self.report_repeated(segment);
        // A SYN-ACK that was sent again ends here too, and its answer is what the peer waits for.
        self.answer(now, segment);
    }

    /// The acknowledgment of a segment; false if nothing more of it is to be believed.
    #[inline]
    pub(super) fn on_ack_field(
        &mut self,
        now: Instant,
        segment: &Segment,
        options: Option<&Options>,
    ) -> bool {
        let sack = options.map_or(&[][..], |options| options.sack.as_slice());
        if !self.sender.accepts(now, segment.ack) {
            // RFC 9293 §3.10.7.4: an ACK of something not yet sent is answered and dropped; of an old
            // one only the SACKs count.
            // What lies before the SYN looks as if it were 2^31 and more ahead.
            let before = segment.ack.since(self.sender.next_seq()) >= Bytes::new(1 << 31);
            if before || self.sender.is_ancient(segment.ack) {
                // RFC 5961 §5.2: too old for a duplicate, it may be injected. Linux 6.18 takes its
                // timestamp nonetheless (measured).
                if self.config.segment_rules == SegmentRules::Linux && self.timestamps.used {
                    self.timestamps.take(now, segment);
                }
                self.challenge(now);
                return false;
            }
            if self.sender.is_ahead(segment.ack) {
                // Linux 6.18 answers too (measured; older ones were silent).
                self.challenge(now);
                return false;
            }
            self.timestamps.take(now, segment);
            self.sender.on_old_ack(now, segment.ack, sack);
            return true;
        }
        let mut echo = None;
        if self.timestamps.used {
            self.timestamps.take(now, segment);
            echo = segment.timestamps.then_some(segment.ts_ecr);
        }
        let flags = segment.flags.without(Flags::ECE | Flags::CWR);
        let pure = segment.len == 0 && flags == Flags::ACK;
        // RFC 9293 §3.10.7.4: no window of a segment that a later one has overtaken. But what
        // acknowledges more is later, whatever its number: its window counts from its own
        // acknowledgment, and the one before would reach too far from there.
        let stamp = segment.ts_val;
        let later = segment.seq >= self.window_from || self.sender.advances_to(segment.ack);
        let window = if later {
            // The next update has this number or a later one (Linux's `tcp_update_wl`).
            self.window_from = segment.seq;
            Bytes::new(u64::from(segment.window))
        } else {
            self.sender.rwnd()
        };
        self.sender.on_ack(now, &Arrived { ack: segment.ack, window, pure, echo, stamp, sack });
        true
    }
}
