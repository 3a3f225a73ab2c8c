//! The end point during the handshake.

use super::{OpeningCounts, coarse};
use crate::config::SegmentRules;
use crate::data::clock::timestamp_clock;
use crate::endpoint::timestamps::Timestamps;
use crate::endpoint::{Agreed, Endpoint, Failure, State, Transmit};
use ackclock_laws::event::Handshake;
use ackclock_packet::{CongestionHeader, Flags, IpMeta, Options, Segment, Seq};
use ackclock_units::{Bytes, Instant, Mss};

impl Endpoint {
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

    pub(in crate::endpoint) const fn is_passive(&self) -> bool {
        self.opening.passive
    }

    /// RFC 9293 §3.10.7.2.
    pub(in crate::endpoint) fn handle_in_listen(
        &mut self,
        now: Instant,
        segment: &Segment,
        options: Option<&Options>,
    ) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.refuse(segment);
            return;
        }
        let linux = self.config.segment_rules == SegmentRules::Linux;
        if linux && segment.flags.contains(Flags::SYN | Flags::FIN) {
            // Nobody opens and closes at once in good faith (`tcp_rcv_state_process`); RFC 9293 would queue the FIN.
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            self.take_syn(now, segment, options);
            self.state = State::SynReceived;
            self.opening.send_syn = true;
            self.accept_fast(now, segment);
        }
    }

    /// A SYN: what it offers, and its window, which is not scaled.
    fn take_syn(&mut self, now: Instant, segment: &Segment, options: Option<&Options>) {
        self.opening.peer = Some(options.copied().unwrap_or_default());
        self.opening.peer_timestamps = segment.timestamps;
        self.timestamps.begin(now, segment.ts_val);
        self.marking.take_syn(segment.flags);
        self.sender.set_rwnd(Bytes::new(u64::from(segment.window)));
    }

    /// RFC 9293 §3.10.7.3.
    pub(in crate::endpoint) fn handle_in_syn_sent(
        &mut self,
        now: Instant,
        segment: &Segment,
        options: Option<&Options>,
    ) {
        let has_ack = segment.flags.contains(Flags::ACK);
        if has_ack && !self.acknowledges_syn(segment.ack) {
            self.refuse(segment);
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
        self.take_syn(now, segment, options);
        let keeps = self.config.segment_rules == SegmentRules::Rfc || self.takes_syn_ack_text();
        if keeps && segment.len > 0 {
            // The text waits until the handshake is done; a FIN does not count yet. Linux drops it but with Fast Open.
            self.opening.text = segment.len;
        }
        if has_ack {
            self.establish(now, segment);
            self.receiver.demand_ack();
            self.take_early_text(now);
        } else {
            // Simultaneous open (RFC 9293 §3.5, figure 7).
            self.state = State::SynReceived;
            self.opening.send_syn = true;
        }
    }

    /// Takes the text that came with the peer's SYN (RFC 9293 §3.10.7.3: "queue them for processing after the
    /// ESTABLISHED state has been reached").
    pub(in crate::endpoint) fn take_early_text(&mut self, now: Instant) {
        let len = std::mem::take(&mut self.opening.text);
        if len > 0 {
            let text =
                Segment { seq: Seq::FIRST_BYTE, len, flags: Flags::ACK, ..Segment::default() };
            self.take_text(now, &text, IpMeta::default());
        }
    }

    /// The peer's SYN came again: it has not seen the SYN-ACK.
    pub(in crate::endpoint) fn on_repeated_syn(&mut self) {
        self.opening.repeated_syns += 1;
        self.opening.send_syn |= self.config.answers_repeated_syn;
    }

    /// The counts of this end's opening so far.
    pub const fn opening_counts(&self) -> OpeningCounts {
        let opening = &self.opening;
        OpeningCounts {
            syns: opening.syns_sent - opening.syn_acks_sent,
            syn_acks: opening.syn_acks_sent,
            repeated_syns: opening.repeated_syns,
        }
    }

    /// The handshake is done, with the peer's `segment`.
    pub(in crate::endpoint) fn establish(&mut self, now: Instant, segment: &Segment) {
        self.take_syn_acknowledgment(segment);
        let peer = self.opening.peer.as_ref();
        // RFC 9293 §3.7.1: 536 bytes when the peer said nothing.
        let theirs =
            peer.and_then(|peer| peer.mss).unwrap_or(Mss::new(536).expect("536 is not zero"));
        let peer_scale = peer.and_then(|peer| peer.window_scale);
        let sack = self.config.sack && peer.is_some_and(|peer| peer.sack_permitted);
        let feedback = peer.is_some_and(|peer| peer.congestion.is_some());
        let mut mss = theirs.min(self.config.mss);
        let timestamps = self.config.timestamps && self.opening.peer_timestamps;
        self.timestamps.used = timestamps;
        if timestamps {
            // RFC 6691 §3: the MSS counts no options, the sender makes room for them.
            mss = Mss::new(mss.get().saturating_sub(u16::from(Timestamps::LEN)).max(1))
                .expect("at least one byte");
        }
        if feedback && self.jump.as_ref().is_some_and(|jump| jump.exchange.is_some()) {
            let left = mss.get().saturating_sub(u16::from(CongestionHeader::LEN)).max(1);
            mss = Mss::new(left).expect("at least one byte");
        }
        let scaling = self.config.window_scaling.then_some(peer_scale).flatten();
        let shifts = scaling.map(|theirs| (theirs, self.receiver.offered_shift()));
        let every = if timestamps { Timestamps::LEN } else { 0 };
        self.receiver.on_established(now, mss, every, shifts.map_or(0, |(_, ours)| ours));
        if sack {
            self.receiver.permit_sack();
        } else if self.config.parts.recovery.needs_sack() {
            self.sender.do_without_sack();
        }
        let ecn = self.marking.used();
        self.agreed = Agreed { timestamps, sack, ecn, window_shifts: shifts };
        let lost = self.opening.syns_sent.saturating_sub(1);
        let rtt = (self.opening.syns_sent == 1).then(|| now.since(self.opening.syn_sent_at));
        let fast = self.opening.syns_sent == 0;
        if !fast {
            self.opening.timer = None;
            self.opening.send_syn = false;
        }
        let after = self.config.after_lost_syn;
        let three_seconds = lost > 0 && after.three_seconds;
        let counts = self.opening_counts();
        let mss = self.sender.first_mss(mss, Bytes::new(u64::from(segment.window)));
        let handshake = Handshake {
            syn_retransmissions: counts.syns.saturating_sub(1),
            syn_ack_retransmissions: counts.syn_acks.saturating_sub(1),
            spurious: lost > 0
                && timestamps
                && segment.timestamps
                && segment.ts_ecr == timestamp_clock(self.opening.syn_sent_at),
            forgiven: after.forgiven,
            largest_rwnd: Bytes::new(65_535 << shifts.map_or(0, |(theirs, _)| theirs.min(14))),
            mss,
        };
        self.sender.on_established(handshake, rtt, three_seconds);
        self.established_at = Some(now);
        // The application may have closed before the handshake was done.
        self.state = if self.sender.is_closed() { State::FinWait1 } else { State::Established };
    }

    /// An ACK that answers a segment in SYN-RECEIVED (RFC 9293 §3.10.7.4, first; RFC 5961 §3.2), with the
    /// timestamps that every segment of this end will carry.
    pub(in crate::endpoint) fn poll_answer(&mut self, now: Instant) -> Option<Transmit> {
        if self.state != State::SynReceived || self.opens_fast() || !self.receiver.ack_due() {
            return None;
        }
        let mut segment = self.bare_segment();
        let used = self.config.timestamps && self.opening.peer_timestamps;
        Timestamps { used, ..self.timestamps }.stamp(now, &mut segment, None);
        self.receiver.on_ack_sent(segment.window);
        Some(Transmit { segment, ip: IpMeta::default(), options: None })
    }

    pub(in crate::endpoint) fn poll_syn(&mut self, now: Instant) -> Option<Transmit> {
        let answering = self.state == State::SynReceived;
        if self.opening.timer.is_some_and(|at| at <= now) {
            self.opening.timer = None;
            let retries = self.config.retries;
            // Linux's tcp_write_timeout: those at one distance come on top of tcp_syn_retries.
            let most = if answering { retries.syn_ack } else { retries.syn + retries.linear_syn };
            self.opening.timeouts += 1;
            if self.opening.timeouts > most {
                self.fail(Failure::HandshakeTimedOut);
                return None;
            }
            if answering || self.opening.timeouts > retries.linear_syn {
                self.opening.rtt.back_off();
            }
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
        self.opening.syn_acks_sent += u32::from(answering);
        let due = now + self.opening.rtt.rto();
        self.opening.timer = Some(coarse(due, self.config.handshake_tick));
        let peer = self.opening.peer.as_ref();
        let peer_scales = peer.is_some_and(|peer| peer.window_scale.is_some());
        let peer_sacks = peer.is_some_and(|peer| peer.sack_permitted);
        let scale = self.config.window_scaling && (!answering || peer_scales);
        let first = self.opening.syns_sent == 1;
        let mut options = Options {
            mss: Some(self.config.mss),
            window_scale: scale.then(|| self.receiver.offered_shift()),
            sack_permitted: self.config.sack && (!answering || peer_sacks),
            ..Options::default()
        };
        self.dress_syn(now, first, &mut options);
        options.congestion = self.syn_feedback(answering);
        let mut len = 0;
        if answering {
            self.answer_fast(&mut options);
        } else if first {
            len = self.open_fast(&mut options);
        }
        let timestamps = self.config.timestamps && (!answering || self.opening.peer_timestamps);
        // What every segment will carry is known once both ends have offered it.
        let every = if timestamps && answering { Timestamps::LEN } else { 0 };
        // Of a fast opening, what the SYN brought may wait to be read.
        let held = self.receiver.readable();
        let first_window = self.receiver.first_window(every).get();
        let window = first_window.saturating_sub(held.get()).min(0xffff);
        let flags = if answering {
            Flags::ACK | self.marking.on_syn_ack()
        } else {
            self.marking.on_syn(first)
        };
        let mut segment = Segment {
            seq: Seq::SYN,
            ack: if answering { self.receiver.nxt() } else { Seq::default() },
            len,
            flags: Flags::SYN | flags,
            // RFC 7323 §2.2: the window of a SYN is not scaled.
            window: u32::try_from(window).unwrap_or(0xffff),
            ..Segment::default()
        };
        let stamps = Timestamps { used: timestamps, ..self.timestamps };
        stamps.stamp(now, &mut segment, Some(&options));
        self.timestamps.last_ack_sent = segment.ack;
        if self.opens_fast() {
            self.receiver.on_ack_sent(segment.window);
        } else {
            self.receiver.on_syn_sent(every);
        }
        Some(Transmit { segment, ip: IpMeta::default(), options: Some(options) })
    }
}
