use ackclock_tcp::{Config, Endpoint, Profile, State, Transmit, Variant};
use ackclock_units::Instant;

use super::*;
use crate::{App, Note};

/// Two ends of a session whose segments arrive a fixed time later, none lost.
struct Play {
    ends: [Endpoint; 2],
    apps: (Client, Server),
    wire: Vec<(u64, usize, Transmit)>,
    app_at: [Option<Instant>; 2],
    /// The notes: the time in ms, the end, and the note.
    notes: Vec<(u64, usize, Note)>,
}

const TRIP_MS: u64 = 10;

const fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn exchange(request: u64, response: u64) -> Exchange {
    Exchange { request: Bytes::new(request), response: Bytes::new(response), ..Exchange::default() }
}

impl Play {
    fn new(session: &Session) -> Self {
        let parts = "newreno".parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap();
        let mut config = Config::new(parts, Profile::Rfc);
        config.delayed_ack = None;
        let mut ends = [Endpoint::new(config), Endpoint::new(config)];
        ends[1].listen();
        ends[0].connect(at(0));
        let apps = (Client::new(session), Server::new(session));
        Self { ends, apps, wire: Vec::new(), app_at: [None; 2], notes: Vec::new() }
    }

    fn pump(&mut self, ms: u64, end: usize) {
        let mut notes = Vec::new();
        let app: &mut dyn App = if end == 0 { &mut self.apps.0 } else { &mut self.apps.1 };
        self.app_at[end] = app.poll(at(ms), &mut self.ends[end], &mut notes);
        self.notes.extend(notes.into_iter().map(|note| (ms, end, note)));
        while let Some(transmit) = self.ends[end].poll_transmit(at(ms)) {
            self.wire.push((ms + TRIP_MS, 1 - end, transmit));
        }
    }

    /// Plays it to `end` ms, a step a millisecond.
    fn until(&mut self, end: u64) {
        for ms in 0..=end {
            let (now, later) = std::mem::take(&mut self.wire)
                .into_iter()
                .partition(|(arrives, _, _)| *arrives == ms);
            self.wire = later;
            for (_, end, transmit) in now {
                let Transmit { segment, ip, options } = transmit;
                self.ends[end].handle(at(ms), &segment, ip, options.as_ref());
                self.pump(ms, end);
            }
            for end in [0, 1] {
                let due = |next: Option<Instant>| next.is_some_and(|due| due <= at(ms));
                if ms == 0 || due(self.app_at[end]) || due(self.ends[end].poll_at()) {
                    self.pump(ms, end);
                }
            }
        }
    }

    fn states(&self) -> [State; 2] {
        [self.ends[0].state(), self.ends[1].state()]
    }
}

#[test]
fn a_request_is_answered_after_the_servers_delay() {
    // SYN at 0, established at the client at 20 and at the server at 30, where the request comes
    // at 30, too; answered at 35, the response is at the client at 45.
    let mut session = Session { exchanges: vec![exchange(100, 1000)], ..Session::default() };
    session.exchanges[0].server_delay = Duration::from_millis(5);
    let mut play = Play::new(&session);
    play.until(200);
    let requested = Note::Requested { bytes: Bytes::new(1000), at: at(0) };
    assert_eq!(play.notes, [(0, 0, requested), (45, 0, Note::Begun), (45, 0, Note::Completed)]);
    // The server closed with its response.
    assert_eq!(play.states(), [State::Closed, State::TimeWait]);
}

#[test]
fn the_next_request_follows_the_response_by_its_gap() {
    // The first response comes at 40; the second request goes at 40 + 30 = 70 and is answered at 90.
    let mut session =
        Session { exchanges: vec![exchange(1, 10), exchange(1, 20)], ..Session::default() };
    session.exchanges[1].gap = Duration::from_millis(30);
    session.closes = Side::Client;
    let mut play = Play::new(&session);
    play.until(200);
    let requested = |bytes, ms| Note::Requested { bytes: Bytes::new(bytes), at: at(ms) };
    assert_eq!(
        play.notes,
        [
            (0, 0, requested(10, 0)),
            (40, 0, Note::Begun),
            (40, 0, Note::Completed),
            (40, 0, requested(20, 70)),
            (90, 0, Note::Begun),
            (90, 0, Note::Completed),
        ]
    );
    assert_eq!(play.states(), [State::TimeWait, State::Closed]);
}

#[test]
fn what_has_no_response_is_complete_at_the_server() {
    // One segment, written once the handshake is done at 20; at the server at 30.
    let session =
        Session { exchanges: vec![exchange(500, 0)], closes: Side::Client, ..Session::default() };
    let mut play = Play::new(&session);
    play.until(200);
    let requested = Note::Requested { bytes: Bytes::new(500), at: at(0) };
    assert_eq!(play.notes, [(0, 0, requested), (30, 1, Note::Begun), (30, 1, Note::Completed)]);
    assert_eq!(play.states(), [State::TimeWait, State::Closed]);
}

#[test]
fn a_model_of_fixed_sizes_plans_the_same_for_all() {
    let mut model = Requests {
        exchanges: Law::Fixed(2.5),
        gap: Law::Fixed(0.1),
        request: Law::Fixed(0.0),
        server_delay: Law::Fixed(0.2),
        response: Law::Fixed(99.5),
        closes: Side::Server,
        asks: None,
    };
    let mut session = Session::default();
    model.plan(0, &mut Stream::new(1, "plan"), &mut session);
    // Counts and volumes are rounded up, and a request has a byte at least; the first has no gap.
    let next = Exchange {
        gap: Duration::from_millis(100),
        server_delay: Duration::from_millis(200),
        ..exchange(1, 100)
    };
    let first = Exchange { gap: Duration::ZERO, ..next };
    assert_eq!(session.exchanges, [first, next, next]);
}
