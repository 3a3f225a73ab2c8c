//! The end point that opens fast.

use super::{FastOpenClient, FastOpenServer, OPTION_SPACE};
use crate::endpoint::timestamps::Timestamps;
use crate::endpoint::{Endpoint, State};
use ackclock_packet::{FastOpen, Flags, Options, Segment, Seq};
use ackclock_units::{Bytes, Instant};

impl Endpoint {
    /// Active open with Fast Open. What was [written](Self::write) before, or is before the SYN goes out, goes with the
    /// SYN if there is a cookie, as far as a segment holds it. What the peer does not acknowledge with its SYN-ACK
    /// follows after the handshake; a SYN that is sent again carries neither data nor the option (RFC 7413 §4.2.2).
    pub fn connect_fast(&mut self, now: Instant, client: FastOpenClient) {
        if self.state == State::Closed {
            self.opening.fast.client = Some(client);
            self.connect(now);
        }
    }

    /// Passive open with Fast Open. How many connections may be in SYN-RECEIVED at once (§5.1) is for the caller to limit,
    /// who has [`listen`](Self::listen) for those beyond.
    pub fn listen_fast(&mut self, server: FastOpenServer) {
        if self.state == State::Closed {
            self.opening.fast.server = Some(server);
            self.listen();
        }
    }

    /// The most data that the SYN of such a client carries.
    pub fn most_syn_data(&self, client: &FastOpenClient) -> Bytes {
        if client.cookie.is_none() && !client.without_cookie {
            return Bytes::ZERO;
        }
        let mss = client.peer_mss.map_or(self.config.mss, |theirs| theirs.min(self.config.mss));
        Bytes::new(mss.bytes().get().saturating_sub(OPTION_SPACE))
    }

    /// True if all data of the SYN was taken: of this end's by the peer, or of the peer's by this end.
    pub const fn syn_data_taken(&self) -> bool {
        let fast = &self.opening.fast;
        fast.taken > 0 && (fast.syn_data == 0 || fast.taken == fast.syn_data)
    }

    /// The options of the peer's SYN or SYN-ACK, once it has come: its cookie and its MSS are for the next connection.
    pub const fn peer_options(&self) -> Option<&Options> {
        self.opening.peer()
    }

    /// True if a passive opening delivers and sends data before the handshake is done.
    pub(in crate::endpoint) fn opens_fast(&self) -> bool {
        self.state == State::SynReceived && self.established_at.is_some()
    }

    /// True if `ack` acknowledges this end's SYN, and nothing that was not sent with it.
    pub(in crate::endpoint) fn acknowledges_syn(&self, ack: Seq) -> bool {
        let most = Seq::FIRST_BYTE + Bytes::new(u64::from(self.opening.fast.syn_data));
        (Seq::FIRST_BYTE..=most).contains(&ack)
    }

    /// True if text in a SYN-ACK is taken: a server that opened fast may have answered already.
    pub(in crate::endpoint) const fn takes_syn_ack_text(&self) -> bool {
        self.opening.fast.client.is_some()
    }

    /// Adds the option to a SYN, the first, and answers with how much data it carries.
    pub(in crate::endpoint) fn open_fast(&mut self, options: &mut Options) -> u32 {
        let Some(client) = self.opening.fast.client else { return 0 };
        if !client.without_cookie {
            let FastOpenClient { cookie, experimental, .. } = client;
            options.fast_open = Some(FastOpen { cookie, experimental });
        }
        let data = self.sender.unsent().min(self.most_syn_data(&client));
        self.opening.fast.syn_data = u32::try_from(data.get()).unwrap_or(0);
        self.opening.fast.syn_data
    }

    /// Adds the option to a SYN-ACK.
    pub(in crate::endpoint) const fn answer_fast(&self, options: &mut Options) {
        options.fast_open = self.opening.fast.answer;
    }

    /// The peer acknowledges the SYN and perhaps data of it, which the sender then never sends.
    pub(in crate::endpoint) fn take_syn_acknowledgment(&mut self, segment: &Segment) {
        if self.opening.fast.syn_data > 0 && segment.flags.contains(Flags::ACK) {
            let taken = segment.ack.since(Seq::FIRST_BYTE);
            self.opening.fast.taken = u32::try_from(taken.get()).unwrap_or(0);
            self.sender.begin_at(segment.ack);
        }
    }

    /// A SYN in LISTEN: if its cookie is right, its data is delivered and the connection open at once, while the
    /// handshake goes on.
    ///
    /// While it does, the SYN-ACK and data that this end has sent have a timer each. Linux has one, which sends the SYN-ACK
    /// alone again (`tcp_fastopen_synack_timer`).
    pub(in crate::endpoint) fn accept_fast(&mut self, now: Instant, segment: &Segment) {
        let Some(server) = self.opening.fast.server else { return };
        let shown = self.opening.peer().and_then(|peer| peer.fast_open);
        if shown.is_none() && segment.len == 0 {
            return;
        }
        let right = shown.is_some_and(|shown| shown.cookie == Some(server.cookie));
        if !right && !server.without_cookie {
            // RFC 7413 §4.2.1: the data is not taken, and the SYN-ACK has the right cookie.
            self.opening.fast.answer =
                shown.map(|shown| FastOpen { cookie: Some(server.cookie), ..shown });
            return;
        }
        let used = self.config.timestamps && self.opening.peer_timestamps;
        self.receiver.on_syn_sent(if used { Timestamps::LEN } else { 0 });
        self.state = State::SynReceived;
        self.establish(now, segment);
        self.state = State::SynReceived;
        let taken = self.receiver.on_syn_data(segment.payload());
        self.opening.fast.taken = u32::try_from(taken.get()).unwrap_or(0);
    }

    /// The segment that ends the handshake of a connection that is open already; false if it does not.
    pub(in crate::endpoint) fn end_fast_opening(
        &mut self,
        now: Instant,
        segment: &Segment,
    ) -> bool {
        if !self.sender.accepts(now, segment.ack) {
            self.refuse(segment);
            return false;
        }
        if let Some(rtt) = self.opening.end(now) {
            self.sender.measure(rtt);
        }
        self.state = if self.sender.is_closed() { State::FinWait1 } else { State::Established };
        true
    }
}
