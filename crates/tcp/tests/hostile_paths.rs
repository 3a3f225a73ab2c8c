//! Faults that the hostile paths of `crates/script/tests/hostile_path` found, each reduced to the few
//! segments that it takes.

use ackclock_packet::{Flags, IpMeta, Options, Range, Segment, Seq};
use ackclock_tcp::config::Pacing;
use ackclock_tcp::{Config, Endpoint, Profile, Variant};
use ackclock_units::{Bytes, Duration, Instant, Mss};

/// An end point that opened a connection, and its peer, who does what the test says.
struct Opened {
    end: Endpoint,
    now: Instant,
}

const fn millis(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Segments of 1000 bytes.
fn config(variant: &str, profile: Profile) -> Config {
    let parts = variant.parse::<Variant>().unwrap().resolve(profile).unwrap();
    let mss = Mss::new(1000).unwrap();
    Config { mss, timestamps: false, sack: false, ..Config::new(parts, profile) }
}

impl Opened {
    /// The handshake takes 100 ms; the peer takes 1000 bytes in a segment, knows SACK if this end does,
    /// neither timestamps nor scaling, and offers `window`.
    fn new(config: Config, window: u32) -> Self {
        let mut end = Endpoint::new(config);
        end.connect(Instant::START);
        assert!(end.poll_transmit(Instant::START).is_some(), "a SYN");
        let mut this = Self { end, now: millis(100) };
        let answer = Segment { ack: Seq::FIRST_BYTE, window, ..segment(Flags::SYN | Flags::ACK) };
        let mss = Mss::new(1000);
        let options = Options { mss, sack_permitted: config.sack, ..Options::default() };
        this.end.handle(this.now, &answer, IpMeta::default(), Some(&options));
        this.sent();
        this
    }

    /// The first number and the length of each segment of data that goes out now.
    fn sent(&mut self) -> Vec<(u64, u32)> {
        let out = std::iter::from_fn(|| self.end.poll_transmit(self.now)).take(1000);
        out.map(|t| (t.segment.seq.get(), t.segment.len)).filter(|(_, len)| *len > 0).collect()
    }

    /// The segments after the application has written so much.
    fn write(&mut self, volume: u64) -> Vec<(u64, u32)> {
        self.end.write(Bytes::new(volume));
        self.sent()
    }

    /// The segments after an ACK.
    fn ack(&mut self, ack: u64, window: u32) -> Vec<(u64, u32)> {
        self.take(Segment {
            seq: Seq::FIRST_BYTE,
            ack: Seq::new(ack),
            window,
            ..segment(Flags::ACK)
        })
    }

    /// The segments after an ACK that also reports a block.
    fn sack(&mut self, ack: u64, block: core::ops::Range<u64>, window: u32) -> Vec<(u64, u32)> {
        let mut options = Options::default();
        options.sack.push(Range { start: Seq::new(block.start), end: Seq::new(block.end) });
        let ack =
            Segment { seq: Seq::FIRST_BYTE, ack: Seq::new(ack), window, ..segment(Flags::ACK) };
        self.end.handle(self.now, &ack, IpMeta::default(), Some(&options));
        self.sent()
    }

    fn take(&mut self, segment: Segment) -> Vec<(u64, u32)> {
        self.end.handle(self.now, &segment, IpMeta::default(), None);
        self.sent()
    }

    /// The first data that timers send by `end`, and when.
    fn until(&mut self, end: Instant) -> Option<(Instant, Vec<(u64, u32)>)> {
        while let Some(at) = self.end.poll_at().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            let sent = self.sent();
            if !sent.is_empty() {
                return Some((self.now, sent));
            }
        }
        self.now = end;
        None
    }
}

fn segment(flags: Flags) -> Segment {
    Segment { flags, ..Segment::default() }
}

#[test]
fn an_ack_of_more_brings_its_own_window_whatever_its_number() {
    let mut opened = Opened::new(config("reno+iw3", Profile::Rfc), 3000);
    assert_eq!(opened.write(9000), [(1, 1000), (1001, 1000), (2001, 1000)]);
    // Two segments of the peer's, the first of which is lost.
    let second = Segment {
        seq: Seq::new(101),
        len: 100,
        ack: Seq::FIRST_BYTE,
        window: 3000,
        ..segment(Flags::ACK)
    };
    assert_eq!(opened.take(second), []);
    // The first comes again. It acknowledges everything, and its window reaches to 3501: not to
    // 6001, as if the window of the second began where this acknowledgment ends.
    let first = Segment { seq: Seq::FIRST_BYTE, ack: Seq::new(3001), window: 500, ..second };
    assert_eq!(opened.take(first), []);
    let (_, sent) = opened.until(millis(10_000)).unwrap();
    assert_eq!(sent, [(3001, 500)]);
}

#[test]
fn a_timeout_sends_again_even_if_what_went_out_late_fills_the_window() {
    let mut opened = Opened::new(config("reno+rack+iw10", Profile::Rfc), 60_000);
    assert_eq!(opened.write(2000), [(1, 1000), (1001, 1000)]);
    opened.now = millis(200);
    assert_eq!(opened.ack(1001, 60_000), []);
    // The second is lost. Of three more the last went out 10 ms before the timeout 1 s after the
    // ACK, less than a round trip, so that RACK does not take them for lost; the window is then one
    // segment.
    opened.now = millis(1_190);
    assert_eq!(opened.write(3000).len(), 3);
    let (at, sent) = opened.until(millis(60_000)).unwrap();
    assert_eq!((at, sent), (millis(1_200), vec![(1001, 1000)]));
}

#[test]
fn a_part_of_a_segment_is_sent_again_although_a_whole_one_would_not_fit() {
    let mut opened = Opened::new(config("reno+gobackn", Profile::Rfc), 1600);
    assert_eq!(opened.write(9000), [(1, 1000)]);
    opened.now = millis(200);
    assert_eq!(opened.ack(1001, 1600), [(1001, 1000)]);
    opened.now = millis(300);
    // 700 bytes are less than a segment, and than half of the largest window: they wait for half a
    // second (RFC 9293 §3.8.6.2.1).
    assert_eq!(opened.ack(2001, 700), []);
    assert_eq!(opened.until(millis(60_000)).unwrap(), (millis(800), vec![(2001, 700)]));
    // Nobody answers: the timeout is 1 s.
    assert_eq!(opened.until(millis(60_000)).unwrap(), (millis(1_800), vec![(2001, 700)]));
}

#[test]
fn an_ack_that_a_retransmission_released_measures_no_round_trip() {
    let mut opened = Opened::new(config("reno+rack+iw10", Profile::Rfc), 60_000);
    assert_eq!(opened.write(4000).len(), 4);
    // The first is lost, and lost again.
    opened.now = millis(200);
    assert_eq!(opened.ack(1, 60_000), []);
    assert_eq!(opened.ack(1, 60_000), []);
    assert_eq!(opened.ack(1, 60_000), [(1, 1000)]);
    let (at, sent) = opened.until(millis(60_000)).unwrap();
    assert_eq!((at, sent[0]), (millis(1_200), (1, 1000)));
    // The others have waited at the receiver for more than a second.
    opened.now = millis(1_300);
    opened.ack(4001, 60_000);
    assert_eq!(opened.end.sender().srtt(), Some(Duration::from_millis(100)));
}

#[test]
fn a_paced_sender_waits_for_a_small_window_by_a_timer() {
    let paced = Config { pacing: Pacing::Linux, ..config("reno+iw10", Profile::Linux) };
    let mut opened = Opened::new(paced, 60_000);
    assert_eq!(opened.write(90_000).len(), 10);
    opened.now = millis(200);
    // The first of a window of twenty leave at once, the rest in time.
    let paced = opened.ack(10_001, 60_000);
    assert!(!paced.is_empty() && paced.len() < 20, "{paced:?}");
    // All of them are acknowledged before the pacer lets the next one go, and the window is small.
    let end = 10_001 + 1000 * paced.len() as u64;
    assert_eq!(opened.ack(end, 500), []);
    let (_, sent) = opened.until(millis(60_000)).unwrap();
    assert_eq!(sent, [(end, 500)]);
}

#[test]
fn a_late_answer_to_a_probe_changes_nothing_once_its_byte_went_out_in_a_segment() {
    let mut opened = Opened::new(config("reno", Profile::Rfc), 1000);
    assert_eq!(opened.write(2000), [(1, 1000)]);
    opened.now = millis(200);
    assert_eq!(opened.ack(1001, 0), []);
    let (at, sent) = opened.until(millis(60_000)).unwrap();
    assert_eq!(sent, [(1001, 1)]);
    // The window opened before the probe came, and all is sent and acknowledged.
    assert_eq!(opened.ack(1001, 60_000), [(1001, 1000)]);
    opened.now = at + Duration::from_millis(100);
    assert_eq!(opened.ack(2001, 60_000), []);
    // The answer to the probe was overtaken.
    assert_eq!(opened.ack(1002, 60_000), []);
    assert_eq!(opened.write(1000), [(2001, 1000)]);
}

#[test]
fn a_timeout_that_the_pacer_and_then_a_late_ack_made_void_leaves_a_timer() {
    let config = config("reno+sack+iw10", Profile::Linux);
    let mut opened = Opened::new(Config { pacing: Pacing::Linux, sack: true, ..config }, 60_000);
    // Ten segments leave unpaced.
    assert_eq!(opened.write(10_000).len(), 10);
    opened.now = millis(200);
    assert_eq!(opened.ack(10_001, 60_000), []);
    opened.now = millis(300);
    assert_eq!(opened.write(2000), [(10_001, 1000), (11_001, 1000)]);
    let timeout = opened.now + opened.end.sender().rto();
    // A quantum of two goes out a millisecond before the timeout: each takes 100 ms / (1.2 * 20) =
    // 4.2 ms, at least half of it after the pause. So the retransmission waits for the pacer.
    opened.now = Instant::from_nanos(timeout.as_nanos() - 1_000_000);
    assert_eq!(opened.write(2000), [(12_001, 1000), (13_001, 1000)]);
    opened.now = timeout;
    assert_eq!(opened.sent(), []);
    assert_eq!(opened.end.sender().stats().timeouts, 1);
    // Meanwhile a segment that was sent once arrives: nothing was lost (F-RTO). But the first is.
    opened.now = timeout + Duration::from_millis(1);
    assert_eq!(opened.sack(10_001, 11_001..12_001, 60_000), []);
    assert_eq!(opened.end.sender().stats().spurious, 1);
    let (_, sent) = opened.until(millis(60_000)).unwrap();
    assert_eq!(sent[0], (10_001, 1000));
}

#[test]
fn reports_of_duplicates_begin_no_repair_when_nothing_is_outstanding() {
    let mut opened =
        Opened::new(Config { sack: true, ..config("newreno+prr+iw2", Profile::Rfc) }, 60_000);
    assert_eq!(opened.write(2000), [(1, 1000), (1001, 1000)]);
    opened.now = millis(200);
    assert_eq!(opened.ack(2001, 0), []);
    assert_eq!(opened.write(3000), []);
    // Three copies of an ACK with a D-SACK: duplicates need outstanding data (RFC 5681 §2).
    for _ in 0..3 {
        assert_eq!(opened.sack(2001, 1001..2001, 0), []);
    }
    assert_eq!(opened.end.sender().stats().congestion_events, 0);
    // The window opens, and three segments fit.
    assert_eq!(opened.ack(2001, 60_000), [(2001, 1000), (3001, 1000), (4001, 1000)]);
}
