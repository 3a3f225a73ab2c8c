//! Our own end point as a stack.

use ackclock_packet::{IpMeta, Options, Segment};
use ackclock_tcp::{Endpoint, Failure, FastOpenClient, Nagle, Profile, Sender, State, Transmit};
use ackclock_units::{Bytes, Duration, Instant};

use super::fast_open::Memory;
use super::plan::ConnectionSettings;
use super::{Meaning, SocketOption, Stack, Stage, Write};
use crate::info::TcpInfo;

/// [`ackclock_tcp::Endpoint`] with its settings by name.
#[derive(Debug)]
pub struct EndpointStack {
    plan: ConnectionSettings,
    endpoint: Option<Endpoint>,
    /// The end point in CLOSED that answers while there is no other: with resets (RFC 9293 §3.10.7.1).
    nobody: Option<Endpoint>,
    listening: bool,
    /// The queue below takes nothing: what would go out does not.
    closed_below: bool,
    /// The client's memory of its server; below it, the part with which the connection was opened, until its
    /// answer came.
    memory: Memory,
    asked: Option<FastOpenClient>,
}

/// `TCP_INFINITE_SSTHRESH`: what Linux says while there is no threshold.
const NO_THRESHOLD: i64 = 0x7fff_ffff;

/// Settings that the handshake agrees on: a change counts for the next connection.
const FOR_THE_NEXT: [&str; 7] = [
    "tcp_ecn",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_sack",
    "tcp_syn_retries",
    "tcp_timestamps",
    "tcp_window_scaling",
];

impl EndpointStack {
    /// An end point with the defaults of `profile`.
    pub fn new(profile: Profile) -> Self {
        Self {
            plan: ConnectionSettings::new(profile),
            endpoint: None,
            nobody: None,
            listening: false,
            closed_below: false,
            memory: Memory::default(),
            asked: None,
        }
    }

    /// Gives a packet to the connection, or to nobody if there is none.
    fn take(&mut self, handle: impl FnOnce(&mut Endpoint)) {
        if let Some(endpoint) = &mut self.endpoint {
            handle(endpoint);
            if endpoint.established_at().is_some()
                && let Some(asked) = self.asked.take()
            {
                self.memory.learn(&asked, endpoint);
            }
        } else if let Some(nobody) = &mut self.nobody {
            handle(nobody);
        } else if let Ok(mut nobody) = self.plan.endpoint() {
            handle(&mut nobody);
            self.nobody = Some(nobody);
        }
    }

    fn waits(&self) -> bool {
        self.endpoint.as_ref().is_none_or(|endpoint| endpoint.state() == State::Listen)
    }
}

impl Stack for EndpointStack {
    fn set(&mut self, name: &str, value: &str) -> Result<Meaning, String> {
        if name == "qdisc" && !self.waits() {
            // A queue may be changed under an open connection; pacing may not.
            self.closed_below = value == "closed";
            return Ok(Meaning::Applied);
        }
        let meaning = self.plan.set(name, value)?;
        if meaning == Meaning::Applied && !self.waits() && !FOR_THE_NEXT.contains(&name) {
            return Err(format!("`{name}` cannot be changed once the connection is open"));
        }
        if self.listening && self.waits() {
            self.listen()?;
        }
        Ok(meaning)
    }

    fn set_shared_defaults(&mut self) {
        self.plan.set_shared_defaults();
    }

    fn listen(&mut self) -> Result<(), String> {
        let mut endpoint = self.plan.endpoint()?;
        self.plan.fast_open.listen(&mut endpoint);
        self.endpoint = Some(endpoint);
        self.listening = true;
        Ok(())
    }

    fn connect(&mut self, now: Instant) -> Result<(), String> {
        let mut endpoint = self.plan.endpoint()?;
        endpoint.connect(now);
        self.endpoint = Some(endpoint);
        self.listening = false;
        Ok(())
    }

    fn connect_fast(&mut self, now: Instant, volume: Bytes) -> Result<Bytes, String> {
        let mut endpoint = self.plan.endpoint()?;
        let client = self.memory.client(&self.plan.fast_open);
        let volume = volume.min(endpoint.most_syn_data(&client));
        endpoint.write(volume);
        endpoint.connect_fast(now, client);
        self.endpoint = Some(endpoint);
        self.asked = Some(client);
        self.listening = false;
        Ok(volume)
    }

    fn fast_open(&self) -> Option<bool> {
        let plan = &self.plan.fast_open;
        let client = self.memory.client(plan);
        plan.client().then_some(client.cookie.is_some() || client.without_cookie)
    }

    fn cookie(&self) -> Option<Vec<u8>> {
        Some(self.plan.fast_open.cookie().as_slice().to_vec())
    }

    fn write(&mut self, _now: Instant, volume: Bytes, kind: Write) -> Bytes {
        match &mut self.endpoint {
            Some(endpoint) => {
                match kind {
                    Write::Plain => endpoint.write(volume),
                    Write::More => endpoint.write_more(volume),
                    Write::Record => endpoint.write_record(volume),
                }
                volume
            }
            None => Bytes::ZERO,
        }
    }

    fn read(&mut self, now: Instant, volume: Bytes) -> Bytes {
        self.endpoint.as_mut().map_or(Bytes::ZERO, |endpoint| endpoint.read(now, volume))
    }

    fn finish(&mut self, _now: Instant) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.shutdown_write();
        }
    }

    fn stop_reading(&mut self, _now: Instant) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.shutdown_read();
        }
    }

    fn close(&mut self, now: Instant) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.close(now);
        }
    }

    fn abort(&mut self, now: Instant) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.abort(now);
        }
    }

    fn set_option(&mut self, option: SocketOption) -> Result<(), String> {
        self.plan.set_option(option);
        let nagle = self.plan.nagle();
        let waits = self.waits();
        let Some(endpoint) = &mut self.endpoint else { return Ok(()) };
        match option {
            SocketOption::NoDelay(on) => endpoint.set_nagle(if on { Nagle::Off } else { nagle }),
            SocketOption::Cork(on) => endpoint.set_cork(on),
            SocketOption::QuickAck(on) => endpoint.set_quick_ack(on),
            SocketOption::UserTimeout(timeout) => endpoint.set_user_timeout(timeout),
            SocketOption::ReceiveBuffer(_) | SocketOption::FastOpen(_) if waits => self.listen()?,
            SocketOption::FastOpen(_) => {}
            SocketOption::ReceiveBuffer(_) => {
                return Err("the receive buffer is set before the connection opens".to_owned());
            }
        }
        Ok(())
    }

    fn readable(&self) -> Bytes {
        self.endpoint.as_ref().map_or(Bytes::ZERO, Endpoint::readable)
    }

    fn peer_finished(&self) -> bool {
        self.endpoint.as_ref().is_some_and(Endpoint::peer_finished)
    }

    fn stage(&self) -> Stage {
        let Some(endpoint) = &self.endpoint else { return Stage::Fresh };
        let opened = endpoint.established_at().is_some();
        match (endpoint.state(), endpoint.failure()) {
            (_, Some(Failure::Reset)) if !opened => Stage::Refused,
            (_, Some(Failure::Reset)) => {
                // A reset in CLOSE-WAIT: the peer has closed, and this end has not.
                let in_close_wait = endpoint.peer_finished() && !endpoint.sender().is_closed();
                let linux = self.plan.profile() == Profile::Linux;
                if in_close_wait && linux { Stage::BrokenPipe } else { Stage::Reset }
            }
            (_, Some(Failure::HandshakeTimedOut | Failure::TimedOut)) => Stage::TimedOut,
            (State::Closed | State::TimeWait, None) | (_, Some(Failure::Aborted)) => Stage::Closed,
            (State::Listen, None) => Stage::Listening,
            (State::SynSent | State::SynReceived, None) if !opened => Stage::Opening,
            _ => Stage::Open,
        }
    }

    fn handle(&mut self, now: Instant, segment: &Segment, ip: IpMeta, options: Option<&Options>) {
        self.take(|endpoint| endpoint.handle(now, segment, ip, options));
    }

    fn handle_joined(
        &mut self,
        now: Instant,
        segment: &Segment,
        size: u32,
        ip: IpMeta,
        options: Option<&Options>,
    ) -> Result<(), String> {
        self.take(|endpoint| endpoint.handle_joined(now, segment, size, ip, options));
        Ok(())
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if let Some(reset) = self.nobody.as_mut().and_then(|nobody| nobody.poll_transmit(now)) {
            return Some(reset);
        }
        let endpoint = self.endpoint.as_mut()?;
        if self.closed_below {
            endpoint.expire_timers(now);
            return None;
        }
        endpoint.poll_transmit(now)
    }

    fn poll_at(&self) -> Option<Instant> {
        self.endpoint.as_ref()?.poll_at()
    }

    fn info(&self, _now: Instant) -> TcpInfo {
        let Some(endpoint) = &self.endpoint else {
            let state = Some(state_number(State::Closed));
            return TcpInfo { state, ..TcpInfo::default() };
        };
        let sender = endpoint.sender();
        let mss = sender.mss();
        let stats = sender.stats();
        let whole = |n: u64| i64::try_from(n).ok();
        let micros = |span: Duration| whole(span.as_nanos() / 1000);
        let tally = sender.tally();
        let rtt = sender.rtt();
        // The SYN counts once, with its data; each segment once, however often it was sent.
        let syn = endpoint.established_at().is_some() && endpoint.state() != State::SynReceived;
        let delivered = (u64::from(syn) + stats.segments_sent + tally.sacked)
            .saturating_sub(stats.segments_retransmitted + tally.unacked);
        let window = sender.window();
        let agreed = endpoint.agreed();
        let shifts = agreed.window_shifts;
        TcpInfo {
            state: Some(state_number(endpoint.state())),
            ca_state: Some(recovery_state(sender)),
            retransmits: Some(i64::from(sender.consecutive_timeouts())),
            backoff: Some(i64::from(rtt.backoff())),
            // TCPI_OPT_TIMESTAMPS, _SACK, _WSCALE, _ECN and _SYN_DATA.
            options: Some(
                i64::from(agreed.timestamps)
                    | i64::from(agreed.sack) << 1
                    | i64::from(shifts.is_some()) << 2
                    | i64::from(agreed.ecn) << 3
                    | i64::from(endpoint.syn_data_taken()) << 5,
            ),
            snd_wscale: Some(shifts.map_or(0, |(theirs, _)| i64::from(theirs))),
            rcv_wscale: Some(shifts.map_or(0, |(_, ours)| i64::from(ours))),
            advmss: whole(endpoint.offered_mss().bytes().get()),
            rto: micros(sender.rto()),
            snd_mss: whole(mss.bytes().get()),
            rtt: sender.srtt().and_then(micros),
            rttvar: micros(rtt.rttvar()),
            min_rtt: micros(rtt.min()),
            // A window of 6.5 segments lets six out: Linux counts whole ones.
            snd_cwnd: whole(window.whole_segments(mss)),
            snd_ssthresh: match sender.ssthresh() {
                None => Some(NO_THRESHOLD),
                Some(threshold) => whole(threshold.whole_segments(mss)),
            },
            unacked: whole(tally.unacked),
            sacked: whole(tally.sacked),
            lost: whole(tally.lost),
            retrans: whole(tally.resent),
            reordering: Some(i64::from(tally.reordering)),
            reord_seen: Some(i64::from(tally.reorderings)),
            total_retrans: whole(stats.segments_retransmitted),
            data_segs_out: whole(stats.data_segments()),
            bytes_acked: whole(sender.acked().get()),
            notsent_bytes: whole(sender.unsent().get()),
            snd_wnd: whole(sender.peer_window().get()),
            delivered: whole(delivered),
            bytes_received: whole(endpoint.received().get()),
            ..TcpInfo::default()
        }
    }
}

/// As Linux numbers them: open, disorder, recovery, loss.
fn recovery_state(sender: &Sender) -> i64 {
    let tally = sender.tally();
    if tally.after_timeout {
        4
    } else if sender.in_recovery() {
        3
    } else if sender.comes_down() {
        2
    } else {
        i64::from(tally.sacked + tally.lost > 0)
    }
}

/// As Linux numbers them.
const fn state_number(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}
