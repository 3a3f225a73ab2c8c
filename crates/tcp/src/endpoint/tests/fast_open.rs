//! TCP Fast Open (RFC 7413), segment by segment.

use ackclock_packet::{Cookie, FastOpen};

use super::*;
use crate::{CookieKey, FastOpenClient, FastOpenServer};

const START: Instant = Instant::START;

fn cookie() -> Cookie {
    CookieKey::new([3; 16]).cookie(&[192, 0, 2, 7])
}

fn server(without_cookie: bool) -> Endpoint {
    let mut server = Endpoint::new(config("newreno"));
    server.listen_fast(FastOpenServer { cookie: cookie(), without_cookie });
    server
}

/// A client that has written `volume` and opens with `cookie`.
fn client(volume: u64, cookie: Option<Cookie>) -> Endpoint {
    let mut client = Endpoint::new(config("newreno"));
    client.write(Bytes::new(volume));
    client.connect_fast(START, FastOpenClient { cookie, ..FastOpenClient::default() });
    client
}

fn give(to: &mut Endpoint, now: Instant, transmit: &Transmit) {
    to.handle(now, &transmit.segment, transmit.ip, transmit.options.as_ref());
}

fn fast_open(transmit: &Transmit) -> Option<FastOpen> {
    transmit.options.and_then(|options| options.fast_open)
}

#[test]
fn a_first_connection_asks_for_the_cookie_and_gets_it() {
    // RFC 7413 §3: "Requesting a Fast Open Cookie".
    let (mut client, mut server) = (client(500, None), server(false));
    let syn = client.poll_transmit(START).unwrap();
    assert_eq!(fast_open(&syn), Some(FastOpen { cookie: None, experimental: false }));
    assert_eq!(syn.segment.len, 0);
    give(&mut server, START, &syn);
    let answer = server.poll_transmit(START).unwrap();
    let given = FastOpen { cookie: Some(cookie()), experimental: false };
    assert_eq!(fast_open(&answer), Some(given));
    assert_eq!(server.established_at(), None);
    give(&mut client, START, &answer);
    assert_eq!(client.peer_options().unwrap().fast_open, Some(given));
    // The data follows the handshake.
    let data = client.poll_transmit(START).unwrap();
    assert_eq!((data.segment.seq, data.segment.len), (Seq::FIRST_BYTE, 500));
    give(&mut server, START, &data);
    assert_eq!(server.readable(), Bytes::new(500));
    assert!(!client.syn_data_taken() && !server.syn_data_taken());
}

#[test]
fn with_the_cookie_data_crosses_before_the_handshake_is_done() {
    // RFC 7413 §3: "Performing TCP Fast Open". The SYN holds the MSS less 40 bytes for options.
    let (mut client, mut server) = (client(1500, Some(cookie())), server(false));
    let syn = client.poll_transmit(START).unwrap();
    assert_eq!((syn.segment.flags, syn.segment.len), (Flags::SYN, 960));
    give(&mut server, START, &syn);
    assert_eq!(server.readable(), Bytes::new(960));
    assert!(server.established_at().is_some() && server.state() == State::SynReceived);
    server.write(Bytes::new(700));
    let answer = server.poll_transmit(START).unwrap();
    assert_eq!(answer.segment.flags, Flags::SYN | Flags::ACK);
    assert_eq!(answer.segment.ack, Seq::new(961));
    assert_eq!(fast_open(&answer), None);
    let early = server.poll_transmit(START).unwrap();
    assert_eq!((early.segment.seq, early.segment.len), (Seq::FIRST_BYTE, 700));
    give(&mut client, START, &answer);
    give(&mut client, START, &early);
    assert_eq!((client.readable(), client.state()), (Bytes::new(700), State::Established));
    let rest = client.poll_transmit(START).unwrap();
    assert_eq!((rest.segment.seq, rest.segment.len), (Seq::new(961), 540));
    give(&mut server, START, &rest);
    assert_eq!((server.received(), server.state()), (Bytes::new(1500), State::Established));
    assert!(client.syn_data_taken() && server.syn_data_taken());
    assert_eq!(client.sender().unsent(), Bytes::ZERO);
}

#[test]
fn a_wrong_cookie_costs_a_round_trip_and_nothing_else() {
    // RFC 7413 §4.2.1: only the SYN is acknowledged, with the cookie that is right.
    let wrong = Cookie::new(&[1, 2, 3, 4]);
    let (mut client, mut server) = (client(300, wrong), server(false));
    let syn = client.poll_transmit(START).unwrap();
    assert_eq!(syn.segment.len, 300);
    give(&mut server, START, &syn);
    assert_eq!((server.readable(), server.established_at()), (Bytes::ZERO, None));
    let answer = server.poll_transmit(START).unwrap();
    assert_eq!(answer.segment.ack, Seq::FIRST_BYTE);
    assert_eq!(fast_open(&answer).unwrap().cookie, Some(cookie()));
    give(&mut client, START, &answer);
    let again = client.poll_transmit(START).unwrap();
    assert_eq!((again.segment.seq, again.segment.len), (Seq::FIRST_BYTE, 300));
    assert!(!client.syn_data_taken());
}

#[test]
fn a_syn_that_is_sent_again_carries_neither_data_nor_option() {
    // RFC 7413 §4.2.2: a middlebox may drop SYNs with either.
    let mut client = client(300, Some(cookie()));
    assert_eq!(client.poll_transmit(START).unwrap().segment.len, 300);
    let due = client.poll_at().unwrap();
    assert_eq!(due.since(START), Duration::from_secs(1));
    let again = client.poll_transmit(due).unwrap();
    assert_eq!((again.segment.flags, again.segment.len), (Flags::SYN, 0));
    assert_eq!(fast_open(&again), None);
    // The answer to the first may come all the same.
    let mut server = server(true);
    let first = Transmit { segment: Segment { len: 300, ..again.segment }, ..again };
    give(&mut server, due, &first);
    give(&mut client, due, &server.poll_transmit(due).unwrap());
    assert_eq!((client.state(), client.sender().unsent()), (State::Established, Bytes::ZERO));
}

#[test]
fn part_of_the_data_may_be_acknowledged() {
    let mut client = client(300, Some(cookie()));
    let syn = client.poll_transmit(START).unwrap();
    let answer = Segment {
        ack: Seq::new(101),
        flags: Flags::SYN | Flags::ACK,
        window: 65_535,
        ..Segment::default()
    };
    client.handle(START, &answer, syn.ip, None);
    let rest = client.poll_transmit(START).unwrap();
    assert_eq!((rest.segment.seq, rest.segment.len), (Seq::new(101), 200));
    assert!(!client.syn_data_taken());
}

#[test]
fn more_than_the_data_of_the_syn_cannot_be_acknowledged() {
    // RFC 9293 §3.10.7.3: a reset, and the client goes on waiting.
    let mut client = client(300, Some(cookie()));
    let syn = client.poll_transmit(START).unwrap();
    let answer =
        Segment { ack: Seq::new(302), flags: Flags::SYN | Flags::ACK, ..Segment::default() };
    client.handle(START, &answer, syn.ip, None);
    let reset = client.poll_transmit(START).unwrap().segment;
    assert_eq!((reset.flags, reset.seq), (Flags::RST, Seq::new(302)));
    assert_eq!(client.state(), State::SynSent);
}

#[test]
fn a_lost_syn_ack_is_sent_again_and_the_data_is_delivered_once() {
    let (mut client, mut server) = (client(300, Some(cookie())), server(false));
    let syn = client.poll_transmit(START).unwrap();
    give(&mut server, START, &syn);
    let lost = server.poll_transmit(START).unwrap();
    give(&mut server, START, &syn);
    assert_eq!(server.readable(), Bytes::new(300));
    let due = server.poll_at().unwrap();
    let answer = server.poll_transmit(due).unwrap();
    assert_eq!(answer.segment.ack, lost.segment.ack);
    give(&mut client, due, &answer);
    give(&mut server, due, &client.poll_transmit(due).unwrap());
    assert_eq!((server.received(), server.state()), (Bytes::new(300), State::Established));
}

#[test]
fn a_reset_ends_a_connection_that_opened_fast() {
    // The application has it already: unlike any other in SYN-RECEIVED it does not go back to LISTEN.
    let (mut client, mut server) = (client(300, Some(cookie())), server(false));
    let syn = client.poll_transmit(START).unwrap();
    give(&mut server, START, &syn);
    server.poll_transmit(START);
    let reset = Segment { seq: Seq::new(301), flags: Flags::RST, ..Segment::default() };
    server.handle(START, &reset, syn.ip, None);
    assert_eq!((server.state(), server.failure()), (State::Closed, Some(Failure::Reset)));
    assert_eq!(server.readable(), Bytes::new(300));
}

#[test]
fn without_fast_open_data_in_a_syn_is_not_taken() {
    let mut client = client(300, Some(cookie()));
    let syn = client.poll_transmit(START).unwrap();
    let mut server = Endpoint::new(config("newreno"));
    server.listen();
    give(&mut server, START, &syn);
    let answer = server.poll_transmit(START).unwrap();
    assert_eq!((answer.segment.ack, fast_open(&answer)), (Seq::FIRST_BYTE, None));
    assert_eq!(server.readable(), Bytes::ZERO);
}
