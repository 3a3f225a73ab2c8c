//! Which end saw what of a handshake that went wrong, and what it costs.

use super::*;
use crate::OpeningCounts;

/// A client and a server `delay_ms` apart, until `until_ms`; `lost` says which SYNs and SYN-ACKs do not
/// arrive, by (who sent it, how often it had before).
fn handshake(server: Config, delay_ms: u64, until_ms: u64, lost: &[(usize, u32)]) -> [Endpoint; 2] {
    handshake_of(config("newreno+sack+iw3"), server, delay_ms, until_ms, lost)
}

/// A handshake with a client of these settings.
fn handshake_of(
    client: Config,
    server: Config,
    delay_ms: u64,
    until_ms: u64,
    lost: &[(usize, u32)],
) -> [Endpoint; 2] {
    let mut ends = [Endpoint::new(client), Endpoint::new(server)];
    ends[1].listen();
    ends[0].connect(Instant::START);
    let mut sent = [0; 2];
    let mut wire: Vec<(u64, usize, Transmit)> = Vec::new();
    for ms in 0..=until_ms {
        let now = Instant::START + Duration::from_millis(ms);
        while let Some(at) = wire.iter().position(|(arrives, ..)| *arrives == ms) {
            let (_, to, transmit) = wire.remove(at);
            ends[to].handle(now, &transmit.segment, transmit.ip, transmit.options.as_ref());
        }
        for from in 0..2 {
            while let Some(transmit) = ends[from].poll_transmit(now) {
                let opens = transmit.segment.flags.contains(Flags::SYN);
                if opens {
                    sent[from] += 1;
                }
                if !(opens && lost.contains(&(from, sent[from] - 1))) {
                    wire.push((ms + delay_ms, 1 - from, transmit));
                }
            }
        }
    }
    ends
}

fn counts(ends: &[Endpoint; 2]) -> [OpeningCounts; 2] {
    [ends[0].opening_counts(), ends[1].opening_counts()]
}

fn window(end: &Endpoint) -> (u64, Option<u64>) {
    let sender = end.sender();
    (sender.cwnd().get(), sender.ssthresh().map(Bytes::get))
}

const TSL: &str = "newreno+sack+iw3+tsl(3,16)";

#[test]
fn a_lost_syn_costs_the_client_alone() {
    let ends = handshake(config(TSL), 20, 1200, &[(0, 0)]);
    let client = OpeningCounts { syns: 2, ..OpeningCounts::default() };
    let server = OpeningCounts { syn_acks: 1, ..OpeningCounts::default() };
    assert_eq!(counts(&ends), [client, server]);
    // RFC 5681's segment for the client, three without a threshold for the server.
    assert_eq!((window(&ends[0]), window(&ends[1])), ((1000, None), (3000, None)));
}

#[test]
fn a_lost_syn_ack_costs_both() {
    // The SYN comes again at 1000 + 20 ms, just when the server's timer expires (1 s after 20 ms):
    // segments are handled first, and the answer to the SYN starts the timer anew.
    let ends = handshake(config(TSL), 20, 1200, &[(1, 0)]);
    let client = OpeningCounts { syns: 2, ..OpeningCounts::default() };
    let server = OpeningCounts { syn_acks: 2, repeated_syns: 1, ..OpeningCounts::default() };
    assert_eq!(counts(&ends), [client, server]);
    assert_eq!((window(&ends[0]), window(&ends[1])), ((1000, None), (3000, Some(16_000))));
}

#[test]
fn coarse_timers_let_the_servers_own_come_first_by_chance() {
    // Steps of 32 ms, 50 ms from end to end, a SYN-ACK that is lost; the SYN goes out at 0 ms, when 1 s is
    // 8 ms into a step (1000 = 31 x 32 + 8). The client's timer expires at 1024 ms and its SYN arrives at
    // 1074; the server's, due at 1050, expires at 1056 and comes first, so that the SYN is answered a second
    // time. RFC 6928 forgives one, and not two.
    let coarse = |tick| Config {
        handshake_tick: Duration::from_millis(tick),
        ..config("newreno+sack+iw3+synloss(rfc6928)")
    };
    let ends = handshake_of(coarse(32), coarse(32), 50, 1300, &[(1, 0)]);
    let server = OpeningCounts { syn_acks: 3, repeated_syns: 1, ..OpeningCounts::default() };
    assert_eq!(counts(&ends)[1], server);
    assert_eq!(window(&ends[1]).0, 1000);
    // 60 ms from end to end: the SYN arrives at 1084, and the timer that would expire at 1088 begins anew.
    let ends = handshake_of(coarse(32), coarse(32), 60, 1300, &[(1, 0)]);
    let server = OpeningCounts { syn_acks: 2, repeated_syns: 1, ..OpeningCounts::default() };
    assert_eq!(counts(&ends)[1], server);
    assert_eq!(window(&ends[1]).0, 3000);
}

#[test]
fn a_timer_never_expires_on_a_step_that_has_begun() {
    let coarse = Config { handshake_tick: Duration::from_millis(20), ..config("newreno+sack") };
    let mut client = Endpoint::new(coarse);
    client.connect(Instant::START);
    client.poll_transmit(Instant::START).unwrap();
    // 1 s is 50 steps of 20 ms.
    assert_eq!(client.poll_at(), Some(Instant::START + Duration::from_millis(1020)));
}

#[test]
fn a_repeated_syn_may_be_left_to_the_timer() {
    // The client's SYN comes again at 1020 ms. The SYN-ACK went out at 20 ms and again at 1020, by
    // timer; that one is lost too. 2 s later comes the third, at 3020; and the client's third SYN, of
    // 3000 ms, arrives at 3020 as well and is not answered of itself.
    let patient = Config { answers_repeated_syn: false, ..config(TSL) };
    let ends = handshake(patient, 20, 3200, &[(1, 0), (1, 1)]);
    let server = OpeningCounts { syn_acks: 3, repeated_syns: 2, ..OpeningCounts::default() };
    assert_eq!(counts(&ends)[1], server);
    assert_eq!(ends[1].state(), State::Established);
}

#[test]
fn a_round_trip_beyond_the_timeout_looks_like_a_loss() {
    // RTT 1.2 s, nothing lost. The SYN of 0 ms is answered at 600 ms; both timers expire at 1000 and
    // 1600 ms; the second SYN arrives at 1600 ms too and its answer restarts the timer, the ACK comes at
    // 1800 ms. Without timestamps the server cannot know better.
    let ends = handshake(config(TSL), 600, 2500, &[]);
    let server = OpeningCounts { syn_acks: 2, repeated_syns: 1, ..OpeningCounts::default() };
    assert_eq!(counts(&ends)[1], server);
    assert_eq!(window(&ends[1]), (3000, Some(16_000)));
    // With them RFC 6928's rule keeps the window, whatever the number of retransmissions.
    let mut forgiving = config("newreno+sack+iw3+synloss(rfc6928)");
    forgiving.after_lost_syn.forgiven = Some(0);
    let blind = handshake(forgiving, 600, 2500, &[]);
    assert_eq!(window(&blind[1]).0, 1000);
    let mut stamped = forgiving;
    stamped.timestamps = true;
    let mut ends = [Endpoint::new(stamped), Endpoint::new(stamped)];
    ends[1].listen();
    ends[0].connect(Instant::START);
    let at = |ms| Instant::START + Duration::from_millis(ms);
    let syn = ends[0].poll_transmit(at(0)).unwrap();
    ends[1].handle(at(600), &syn.segment, syn.ip, syn.options.as_ref());
    let first = ends[1].poll_transmit(at(600)).unwrap();
    let second = ends[1].poll_transmit(at(1600)).unwrap();
    ends[0].handle(at(1200), &first.segment, first.ip, first.options.as_ref());
    let ack = ends[0].poll_transmit(at(1200)).unwrap();
    assert!(second.segment.flags.contains(Flags::SYN));
    ends[1].handle(at(1800), &ack.segment, ack.ip, ack.options.as_ref());
    // Three segments of 1000 bytes less 12 of timestamps.
    assert_eq!(window(&ends[1]), (3 * 988, None));
}
