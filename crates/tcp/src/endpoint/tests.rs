mod flow_control;
mod opening;

use std::collections::VecDeque;

use ackclock_packet::NearBlocks;
use ackclock_units::Mss;

use super::output::Places;
use super::*;
use crate::config::DelayedAck;
use crate::simulator::Simulated;
use crate::{Profile, Variant};

mod arriving;
mod fast_open;
mod feedback;
mod pacing;
mod quick_start;
mod renewal;
mod unaided;

/// Two end points, a one-way delay of 10 ms, and a list of segments of data to drop.
struct Pair {
    ends: [Endpoint; 2],
    now: Instant,
    wire: VecDeque<(Instant, usize, Transmit)>,
    /// When the last segment arrives at each end.
    last_arrival: [Instant; 2],
    /// Which of the client's data segments to drop, counted from 0 in the order of sending.
    drop: Vec<u64>,
    /// The server's application reads when the test does, not at once.
    lazy: bool,
    data_sent: u64,
    /// Segments of each end that were said to be the last at their moment.
    last_ones: [u64; 2],
    /// The network's change of a segment.
    tamper: fn(&mut Transmit),
    /// The client's segments: (milliseconds, first number, payload).
    log: Vec<(u64, u64, u32)>,
}

/// Segments arrive so much later, and a microsecond after the one before.
const DELAY: Duration = Duration::from_millis(10);

fn config(variant: &str) -> Config {
    let parts = variant.parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap();
    let mut config = Config::new(parts, Profile::Rfc);
    config.mss = Mss::new(1000).unwrap();
    config.delayed_ack = None;
    config
}

impl Pair {
    fn new(client: Config, server: Config) -> Self {
        let mut ends = [Endpoint::new(client), Endpoint::new(server)];
        ends[1].listen();
        ends[0].connect(Instant::START);
        Self {
            ends,
            now: Instant::START,
            wire: VecDeque::new(),
            last_arrival: [Instant::START; 2],
            drop: Vec::new(),
            lazy: false,
            data_sent: 0,
            last_ones: [0; 2],
            tamper: |_| {},
            log: Vec::new(),
        }
    }

    /// The next segment of an end, written into a place where another segment was before.
    fn poll(&mut self, from: usize) -> Option<Transmit> {
        let segment = Segment {
            seq: Seq::new(77),
            ack: Seq::new(78),
            len: 79,
            window: 80,
            ts_val: 81,
            ts_ecr: 82,
            flags: Flags::SYN | Flags::FIN | Flags::PSH | Flags::CWR,
            options_len: 83,
            timestamps: true,
        };
        let mut options =
            Options { window_scale: Some(9), mss: Mss::new(99), ..Options::default() };
        options.sack.push(ackclock_packet::Range { start: Seq::new(84), end: Seq::new(85) });
        let mut blocks = NearBlocks::default();
        for n in 0..4 {
            blocks.set(n, ackclock_packet::Range { start: Seq::new(86), end: Seq::new(87) });
        }
        let mut places = Places { segment, blocks, options };
        let beside @ TransmitInfo { has_data, is_last, .. } =
            self.ends[from].poll_transmit_into(self.now, &mut places)?;
        assert_eq!(has_data, places.segment.len > 0);
        if is_last {
            self.last_ones[from] += 1;
            assert!(self.ends[from].poll_transmit(self.now).is_none(), "it was the last");
        }
        let transmit = places.transmit(beside);
        // Timestamps are 10 bytes behind two of padding (RFC 7323 appendix A).
        let len = match (&transmit.options, transmit.segment.timestamps) {
            (None, false) => 0,
            (None, true) => 12,
            (Some(options), false) => options.wire_len(),
            (Some(options), true) => options.wire_len_with_timestamps(),
        };
        assert_eq!(transmit.segment.options_len, len, "{transmit:?}");
        Some(transmit)
    }

    fn flush(&mut self) {
        for from in 0..2 {
            while let Some(mut transmit) = self.poll(from) {
                (self.tamper)(&mut transmit);
                if from == 0 && transmit.segment.len > 0 {
                    let millis = self.now.as_nanos() / 1_000_000;
                    self.log.push((millis, transmit.segment.seq.get(), transmit.segment.len));
                    self.data_sent += 1;
                    if self.drop.contains(&(self.data_sent - 1)) {
                        continue;
                    }
                }
                let earliest = self.last_arrival[1 - from] + Duration::from_micros(1);
                let arrival = (self.now + DELAY).max(earliest);
                self.last_arrival[1 - from] = arrival;
                let after = self.wire.partition_point(|(at, _, _)| *at <= arrival);
                self.wire.insert(after, (arrival, 1 - from, transmit));
            }
        }
    }

    /// Until the middle of millisecond `millis`, or nothing is left to happen.
    fn until(&mut self, millis: u64) -> &mut Self {
        let end = Instant::START + Duration::from_micros(millis * 1000 + 500);
        loop {
            self.flush();
            let arrival = self.wire.front().map(|(at, _, _)| *at);
            let timer = self.ends.iter().filter_map(Endpoint::poll_at).min();
            let Some(next) = arrival.into_iter().chain(timer).min().filter(|at| *at <= end) else {
                self.now = end;
                return self;
            };
            self.now = self.now.max(next);
            while let Some((at, to, transmit)) = self.wire.front().copied()
                && at <= self.now
            {
                self.wire.pop_front();
                let options = transmit.options;
                self.ends[to].handle(self.now, &transmit.segment, transmit.ip, options.as_ref());
                if to == 0 || !self.lazy {
                    let readable = self.ends[to].readable();
                    self.ends[to].read(self.now, readable);
                }
                self.flush();
            }
        }
    }

    fn states(&self) -> (State, State) {
        (self.ends[0].state(), self.ends[1].state())
    }

    /// Segments sent at the given millisecond, by their number.
    fn sent_at(&self, millis: u64) -> Vec<u64> {
        self.log
            .iter()
            .filter(|(at, _, _)| *at == millis)
            .map(|(_, seq, _)| (seq - 1) / 1000)
            .collect()
    }

    fn cwnd_segments(&self) -> f64 {
        let sender = self.ends[0].sender();
        sender.cwnd().segments(sender.mss())
    }
}

fn pair(variant: &str) -> Pair {
    Pair::new(config(variant), config(variant))
}

#[test]
fn the_handshake_takes_a_round_trip_for_the_client_and_half_a_one_more_for_the_server() {
    let mut pair = pair("reno");
    pair.until(19);
    assert_eq!(pair.states(), (State::SynSent, State::SynReceived));
    pair.until(20);
    assert_eq!(pair.states(), (State::Established, State::SynReceived));
    pair.until(30);
    assert_eq!(pair.states(), (State::Established, State::Established));
    // The handshake is the first sample: SRTT = 20 ms.
    assert_eq!(pair.ends[0].sender().srtt(), Some(Duration::from_millis(20)));
}

#[test]
fn the_smaller_segment_size_holds() {
    let mut server = config("reno");
    server.mss = Mss::new(536).unwrap();
    let mut pair = Pair::new(config("reno"), server);
    pair.ends[0].write(Bytes::new(1000));
    pair.until(1000);
    assert_eq!(pair.log.iter().map(|(_, _, len)| *len).collect::<Vec<_>>(), [536, 464]);
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let mut pair = pair("reno+iw2");
    pair.ends[0].write(Bytes::new(14_000));
    pair.until(200);
    let per_round: Vec<usize> =
        [20, 40, 60, 80].iter().map(|millis| pair.sent_at(*millis).len()).collect();
    assert_eq!(per_round, [2, 4, 8, 0]);
    assert_eq!(pair.ends[1].received(), Bytes::new(14_000));
    // An ACK for each segment, behind which nothing comes; data may be followed by more.
    assert_eq!(pair.last_ones, [0, 14]);
}

#[test]
fn delayed_acks_halve_the_growth_of_slow_start() {
    let mut server = config("reno+iw2");
    server.delayed_ack =
        Some(DelayedAck { every: 2, timeout: Duration::from_millis(200), quick: false });
    let mut pair = Pair::new(config("reno+iw2"), server);
    pair.ends[0].write(Bytes::new(100_000));
    pair.until(100);
    // An ACK of two segments adds one: 2, 3 and then 3 or 4, as the odd segment waits.
    assert_eq!(pair.sent_at(20).len(), 2);
    assert_eq!(pair.sent_at(40).len(), 3);
    assert_eq!(pair.sent_at(60).len(), 3);
}

#[test]
fn a_fin_each_way_closes_the_connection() {
    let mut pair = pair("reno");
    pair.ends[0].write(Bytes::new(500));
    pair.ends[0].shutdown_write();
    // The FIN travels with the data at 20 ms.
    pair.until(30);
    assert_eq!(pair.states(), (State::FinWait1, State::CloseWait));
    pair.until(40);
    assert_eq!(pair.states(), (State::FinWait2, State::CloseWait));
    pair.ends[1].shutdown_write();
    pair.until(60);
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
    pair.until(60 + 60_000);
    assert_eq!(pair.states(), (State::Closed, State::Closed));
    assert_eq!(pair.ends[0].failure(), None);
}

#[test]
fn closing_at_once_on_both_sides_ends_in_time_wait_on_both() {
    let mut pair = pair("reno");
    pair.until(100);
    pair.ends[0].shutdown_write();
    pair.ends[1].shutdown_write();
    pair.until(115);
    assert_eq!(pair.states(), (State::Closing, State::Closing));
    pair.until(120);
    assert_eq!(pair.states(), (State::TimeWait, State::TimeWait));
}

#[test]
fn a_fin_that_came_before_the_data_counts_once_the_data_is_there() {
    // Two segments and the FIN on the second; the first is lost and sent again, without the FIN and
    // without PSH.
    let mut pair = pair("reno");
    pair.until(100);
    pair.drop = vec![0];
    pair.ends[0].write(Bytes::new(2000));
    pair.ends[0].shutdown_write();
    pair.until(115);
    assert_eq!(pair.states(), (State::FinWait1, State::Established));
    pair.until(3000);
    assert!(pair.ends[1].peer_finished());
    assert_eq!(pair.states(), (State::FinWait2, State::CloseWait));
    pair.ends[1].shutdown_write();
    pair.until(3100);
    assert_eq!(pair.states(), (State::TimeWait, State::Closed));
}

#[test]
fn opening_at_once_on_both_sides_gives_one_connection() {
    let mut pair = pair("reno");
    pair.ends[1] = Endpoint::new(config("reno"));
    pair.ends[1].connect(Instant::START);
    pair.until(100);
    assert_eq!(pair.states(), (State::Established, State::Established));
}

#[test]
fn a_syn_that_is_never_answered_gives_up() {
    let mut client = Endpoint::new(config("reno"));
    client.connect(Instant::START);
    let mut sent = Vec::new();
    while client.state() == State::SynSent {
        let now = client.poll_at().unwrap_or(Instant::START);
        while let Some(transmit) = client.poll_transmit(now) {
            assert_eq!(transmit.segment.flags, Flags::SYN);
            sent.push(now.as_nanos() / 1_000_000_000);
        }
    }
    // 1 s doubled each time, up to the maximum of 60 s.
    assert_eq!(sent, [0, 1, 3, 7, 15, 31, 63, 123]);
    assert_eq!(client.failure(), Some(Failure::HandshakeTimedOut));
}

#[test]
fn linux_sends_ten_syns_again_before_it_gives_up() {
    let parts = "cubic".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
    let mut client = Endpoint::new(Config::new(parts, Profile::Linux));
    client.connect(Instant::START);
    let mut sent = Vec::new();
    let mut now = Instant::START;
    while client.state() == State::SynSent {
        now = client.poll_at().unwrap_or(Instant::START);
        while client.poll_transmit(now).is_some() {
            sent.push(now.as_nanos() / 1_000_000_000);
        }
    }
    // Linux 6.5 and later (tcp_write_timeout): 4 (tcp_syn_linear_timeouts) and 6 (tcp_syn_retries) come after the
    // first. Four at 1 s each and a fifth, whose expiry doubles the timeout for the first time: 5 + 2, + 4, + 8, + 16,
    // + 32; the last waits for 64 s: 67 + 64 = 131. With 6 alone the seventh was the last, at 7 s, given up at 11 s.
    assert_eq!(sent, [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67]);
    assert_eq!(now.as_nanos() / 1_000_000_000, 131);
    assert_eq!(client.failure(), Some(Failure::HandshakeTimedOut));
}

#[test]
fn a_reset_with_the_expected_number_ends_the_connection_and_no_other() {
    let mut pair = pair("reno");
    pair.until(100);
    let mut reset = Segment { seq: Seq::new(500), flags: Flags::RST, ..Segment::default() };
    pair.ends[0].handle(pair.now, &reset, IpMeta::default(), None);
    assert_eq!(pair.ends[0].state(), State::Established);
    assert_eq!(pair.ends[0].poll_transmit(pair.now).unwrap().segment.flags, Flags::ACK);
    reset.seq = Seq::FIRST_BYTE;
    pair.ends[0].handle(pair.now, &reset, IpMeta::default(), None);
    assert_eq!(
        (pair.ends[0].state(), pair.ends[0].failure()),
        (State::Closed, Some(Failure::Reset))
    );
}

#[test]
fn an_ack_of_what_was_never_sent_changes_nothing() {
    let mut pair = pair("reno");
    pair.ends[0].write(Bytes::new(100_000));
    pair.until(25);
    let before = pair.ends[0].sender().cwnd();
    let forged = Segment {
        seq: Seq::FIRST_BYTE,
        ack: Seq::new(90_000),
        window: 65_535,
        flags: Flags::ACK,
        ..Segment::default()
    };
    pair.ends[0].handle(pair.now, &forged, IpMeta::default(), None);
    assert_eq!(pair.ends[0].sender().cwnd(), before);
    pair.until(5000);
    assert_eq!(pair.ends[1].received(), Bytes::new(100_000));
}

/// Ten segments in flight of which number 3 (from 0) is lost; the sender has 100 to send.
fn lose_one(variant: &str) -> Pair {
    let mut pair = pair(&format!("{variant}+iw10"));
    pair.drop = vec![3];
    pair.ends[0].write(Bytes::new(100_000));
    pair.until(39);
    pair
}

#[test]
fn fast_recovery_halves_and_inflates() {
    let mut pair = lose_one("reno");
    // At 40 ms: ACKs of segments 0-2 grow the window to 13 and release 10-15; then six duplicate
    // ACKs for 4-9. The first two let 16 and 17 out (RFC 3042). The third retransmits 3 and halves
    // the flight of 13 (3-15), to which those two do not count: ssthresh 6.5. The window, 6.5 + 3,
    // then 10.5, 11.5 and 12.5, has room for none beyond the 15 in flight.
    pair.until(40);
    assert_eq!(pair.sent_at(40), [10, 11, 12, 13, 14, 15, 16, 17, 3]);
    assert!((pair.cwnd_segments() - 6.5).abs() < 1e-9);
    // At 60 ms eight more duplicate ACKs, for 10-17: 20.5 of window from 3 on release 18 to 22; then
    // the ACK of everything to 17 ends recovery, with 5 in flight and a window of 6.5: one more.
    pair.until(60);
    assert_eq!(pair.sent_at(60), [18, 19, 20, 21, 22, 23]);
    assert!((pair.cwnd_segments() - 6.5).abs() < 1e-9);
    assert_eq!(pair.ends[0].sender().stats().timeouts, 0);
}

#[test]
fn tahoe_goes_back_to_one_segment() {
    let mut pair = lose_one("tahoe");
    pair.until(40);
    assert_eq!(pair.sent_at(40), [10, 11, 12, 13, 14, 15, 3]);
    assert!((pair.cwnd_segments() - 1.0).abs() < 1e-9);
    // The ACK of everything to 15 comes at 60 ms; go-back-N does not send again what is acknowledged.
    pair.until(60);
    assert_eq!(pair.sent_at(60), [16, 17]);
    // reduce_from is the flight of 13 segments: ssthresh 6.5.
    assert_eq!(pair.ends[0].sender().ssthresh(), Some(Bytes::new(6_500)));
    assert_eq!(pair.ends[0].sender().stats().segments_retransmitted, 1);
}

#[test]
fn a_partial_ack_retransmits_the_next_hole() {
    let mut newreno = pair("newreno+iw10");
    newreno.drop = vec![3, 6];
    newreno.ends[0].write(Bytes::new(100_000));
    newreno.until(60);
    // 3 is retransmitted at 40 ms; its ACK at 60 ms covers up to 5, and 6 follows.
    assert!(newreno.sent_at(40).contains(&3));
    assert!(newreno.sent_at(60).contains(&6));
    newreno.until(5000);
    let stats = *newreno.ends[0].sender().stats();
    assert_eq!((stats.segments_retransmitted, stats.timeouts, stats.congestion_events), (2, 0, 1));
    assert_eq!(newreno.ends[1].received(), Bytes::new(100_000));
}

#[test]
fn a_lost_tail_waits_for_the_timer() {
    let mut pair = pair("newreno+iw10");
    pair.drop = vec![9];
    pair.ends[0].write(Bytes::new(10_000));
    pair.until(3000);
    // Segments 0-8 are acknowledged at 40 ms, which restarts the timer: the minimum of 1 s later.
    assert_eq!(pair.sent_at(1040), [9]);
    let stats = *pair.ends[0].sender().stats();
    assert_eq!((stats.timeouts, stats.segments_retransmitted), (1, 1));
    assert_eq!(pair.ends[1].received(), Bytes::new(10_000));
}

#[test]
fn an_idle_connection_restarts_from_the_initial_window() {
    let mut idle = pair("reno+iw2");
    idle.ends[0].write(Bytes::new(30_000));
    idle.until(500);
    assert!(idle.cwnd_segments() > 16.0);
    idle.until(3000);
    idle.ends[0].write(Bytes::new(30_000));
    idle.until(3010);
    assert_eq!(idle.sent_at(3000).len(), 2);
    let mut kept = pair("reno+iw2+noidle");
    kept.ends[0].write(Bytes::new(30_000));
    kept.until(3000);
    kept.ends[0].write(Bytes::new(30_000));
    kept.until(3010);
    assert_eq!(kept.sent_at(3000).len(), 30);
}

#[test]
fn a_receiver_with_less_than_a_segment_still_gets_all() {
    let mut server = config("reno");
    server.receive_window = Bytes::new(300);
    let mut pair = Pair::new(config("reno"), server);
    pair.ends[0].write(Bytes::new(1000));
    pair.until(2000);
    assert_eq!(pair.ends[1].received(), Bytes::new(1000));
    assert!(pair.log.iter().all(|(_, _, len)| *len <= 300));
}

#[test]
fn selective_recovery_repairs_four_holes_within_two_round_trips() {
    for variant in ["newreno+sack", "newreno+prr", "newreno+rack"] {
        let mut pair = pair(&format!("{variant}+iw20"));
        pair.drop = vec![3, 5, 7, 9];
        pair.ends[0].write(Bytes::new(100_000));
        pair.until(60);
        // All four are known lost at 40 ms; a repair by partial ACKs would take until 120 ms.
        for hole in [3, 5, 7, 9] {
            let sent = [40, 60].iter().any(|at| pair.sent_at(*at).contains(&hole));
            assert!(sent, "{variant}: {hole}");
        }
        pair.until(5000);
        let stats = *pair.ends[0].sender().stats();
        let counts = (stats.segments_retransmitted, stats.timeouts, stats.congestion_events);
        assert_eq!(counts, (4, 0, 1), "{variant}");
        assert_eq!(pair.ends[1].received(), Bytes::new(100_000), "{variant}");
    }
}

#[test]
fn a_peer_without_sack_gets_partial_ack_recovery() {
    let mut pair = Pair::new(config("newreno+sack+iw10"), config("newreno+iw10"));
    pair.drop = vec![3, 6];
    pair.ends[0].write(Bytes::new(100_000));
    pair.until(5000);
    let stats = *pair.ends[0].sender().stats();
    assert_eq!((stats.segments_retransmitted, stats.timeouts), (2, 0));
    assert!(pair.sent_at(60).contains(&6));
}

#[test]
fn a_tail_that_is_lost_is_probed() {
    let mut pair = pair("newreno+rack+iw10");
    pair.drop = vec![9];
    pair.ends[0].write(Bytes::new(10_000));
    pair.until(3000);
    // Segments 0-8 are acknowledged at 40 ms; one is in flight, so that the probe waits for 2 SRTT
    // = 40 ms and 200 ms for a delayed ACK.
    assert_eq!(pair.sent_at(280), [9]);
    let stats = *pair.ends[0].sender().stats();
    // The probe repaired a loss, which costs a reduction (RFC 8985 §7.4).
    assert_eq!((stats.timeouts, stats.segments_retransmitted, stats.congestion_events), (0, 1, 1));
    assert_eq!(pair.ends[1].received(), Bytes::new(10_000));
}

#[test]
fn a_retransmission_that_is_lost_again_is_found_without_the_timer() {
    let mut pair = pair("newreno+rack+iw10");
    // Number 3, to learn when its retransmission goes out; then that one too.
    pair.drop = vec![3];
    pair.ends[0].write(Bytes::new(200_000));
    pair.until(39);
    pair.until(40);
    let order = pair.log.iter().position(|(at, seq, _)| *at == 40 && *seq == 3001);
    let retransmission = u64::try_from(order.expect("3 is sent again")).unwrap();
    let mut again = Pair::new(config("newreno+rack+iw10"), config("newreno+rack+iw10"));
    again.drop = vec![3, retransmission];
    again.ends[0].write(Bytes::new(200_000));
    again.until(10_000);
    let stats = *again.ends[0].sender().stats();
    assert_eq!(stats.timeouts, 0, "{stats:?}");
    assert_eq!(stats.segments_retransmitted, 2, "{stats:?}");
    assert_eq!(again.ends[1].received(), Bytes::new(200_000));
}

fn with_timestamps() -> Config {
    Config { timestamps: true, ..config("reno") }
}

#[test]
fn timestamps_are_used_when_both_ends_offer_them() {
    for (client, server, used) in [(true, true, true), (true, false, false), (false, true, false)] {
        let offer = |offered| if offered { with_timestamps() } else { config("reno") };
        let mut pair = Pair::new(offer(client), offer(server));
        pair.ends[0].write(Bytes::new(3000));
        pair.until(25);
        // 1000 bytes of MSS less 12 of option (RFC 6691 §3).
        let len = if used { 988 } else { 1000 };
        assert_eq!(pair.log[0].2, len, "{client} {server}");
        let (_, _, sent) = pair.wire.front().unwrap();
        assert_eq!(sent.segment.timestamps, used);
        assert_eq!(sent.segment.options_len, if used { 12 } else { 0 });
        // Sent at 20 ms, the clock shows 21; the SYN-ACK, sent at 10 ms, carried 11.
        if used {
            assert_eq!((sent.segment.ts_val, sent.segment.ts_ecr), (21, 11));
        }
        pair.until(1000);
        assert_eq!(pair.ends[1].received(), Bytes::new(3000));
    }
}

#[test]
fn an_old_duplicate_is_not_taken_for_new_data() {
    let mut pair = Pair::new(with_timestamps(), with_timestamps());
    pair.until(100);
    let old = Segment {
        seq: Seq::FIRST_BYTE,
        ack: Seq::FIRST_BYTE,
        len: 500,
        window: 65_535,
        flags: Flags::ACK,
        timestamps: true,
        // Before anything that the client has sent: its clock began at 1.
        ts_val: 0,
        ..Segment::default()
    };
    pair.ends[1].handle(pair.now, &old, IpMeta::default(), None);
    assert_eq!(pair.ends[1].received(), Bytes::ZERO);
    // RFC 7323 §5.3 R1: it is answered.
    assert_eq!(pair.ends[1].poll_transmit(pair.now).unwrap().segment.ack, Seq::FIRST_BYTE);
    pair.ends[1].handle(pair.now, &Segment { ts_val: 101, ..old }, IpMeta::default(), None);
    assert_eq!(pair.ends[1].received(), Bytes::new(500));
}

#[test]
fn duplicate_acks_of_resent_segments_start_no_second_go_back() {
    let mut pair = pair("tahoe+iw10");
    pair.drop = vec![3, 4, 5, 6];
    pair.ends[0].write(Bytes::new(100_000));
    pair.until(5000);
    // 3, then 4 and 5, then 6 to 9, of which 7, 8 and 9 had arrived: the ACK of 6 covers all that
    // was ever sent, and three duplicates of it follow.
    let again: Vec<u64> = [40, 60, 80].iter().flat_map(|at| pair.sent_at(*at)).collect();
    assert!(again.ends_with(&[3, 4, 5, 6, 7, 8, 9]), "{again:?}");
    let stats = *pair.ends[0].sender().stats();
    assert_eq!((stats.congestion_events, stats.timeouts), (1, 0));
    assert_eq!(pair.ends[1].received(), Bytes::new(100_000));
}

#[test]
fn a_loss_belongs_to_the_phase_in_which_its_segment_was_sent() {
    // The loss of 3 leaves W = 1 and a threshold of 6.5. From 60 ms on slow start sends 2, then 4;
    // at 100 ms the ACKs of 18-21 make W 5, 6, 7, which ends it, and 7 1/7: 22 to 25 leave before
    // that, 28 after it. Either loss is found at 120 ms, in congestion avoidance.
    for (number, in_slow_start) in [(22, 2), (28, 1)] {
        let mut pair = pair("tahoe+iw10");
        // Counting from 0, segments before number 16 and the second 3 come first.
        pair.drop = vec![3, number + 1];
        pair.ends[0].write(Bytes::new(100_000));
        pair.until(100);
        assert!(pair.sent_at(100).contains(&number), "{:?}", pair.log);
        assert!(pair.cwnd_segments() > 7.0);
        pair.until(150);
        let stats = *pair.ends[0].sender().stats();
        let events = (stats.congestion_events, stats.congestion_events_in_slow_start);
        assert_eq!(events, (2, in_slow_start), "{number}");
    }
}
