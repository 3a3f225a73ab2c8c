//! Accurate ECN between two end points (RFC 9768): who agrees on it, and what the sender believes of the receiver's
//! counts when the path marks, loses and changes what it likes.

use ackclock_packet::{Ecn, Flags, IpMeta};
use ackclock_tcp::config::{EcnMode, EcnOption};
use ackclock_tcp::{Config, Endpoint, Profile, Transmit, Variant};
use ackclock_units::{Bytes, Duration, Instant, Mss};
use proptest::prelude::*;

fn config(profile: Profile, mode: EcnMode) -> Config {
    let parts = "reno".parse::<Variant>().unwrap().resolve(profile).unwrap();
    let mut config = Config::new(parts, profile);
    config.mss = Mss::new(1000).unwrap();
    config.ecn.mode = mode;
    config
}

/// A path with 10 ms each way between two end points.
struct Path<F> {
    ends: [Endpoint; 2],
    now: Instant,
    on_the_way: Vec<(Instant, usize, Transmit)>,
    /// Changes a packet from an end, or loses it.
    hop: F,
}

impl<F: FnMut(usize, &mut Transmit) -> bool> Path<F> {
    fn new(ends: [Endpoint; 2], hop: F) -> Self {
        let mut this = Self { ends, now: Instant::START, on_the_way: Vec::new(), hop };
        this.ends[1].listen();
        this.ends[0].connect(this.now);
        this
    }

    /// Lets `span` pass.
    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            for from in 0..2 {
                while let Some(mut out) = self.ends[from].poll_transmit(self.now) {
                    if (self.hop)(from, &mut out) {
                        self.on_the_way.push((self.now + Duration::from_millis(10), from, out));
                    }
                }
                let waiting = self.ends[from].readable();
                self.ends[from].read(self.now, waiting);
            }
            let arrival = self.on_the_way.iter().map(|(at, ..)| *at).min();
            let timers = self.ends.iter().filter_map(Endpoint::poll_at);
            let Some(next) = timers.chain(arrival).min().filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            let now = self.now;
            // One at a time, in the order of leaving.
            if let Some(first) = self.on_the_way.iter().position(|(at, ..)| *at <= now) {
                let (_, from, packet) = self.on_the_way.remove(first);
                let options = packet.options.as_ref();
                self.ends[1 - from].handle(now, &packet.segment, packet.ip, options);
            }
        }
        self.now = end;
    }
}

/// The kind of ECN that both ends use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreed {
    Nothing,
    Classic,
    Accurate,
}

fn agreed(end: &Endpoint) -> Agreed {
    match (end.agreed().ecn, end.marks_received()) {
        (_, Some(_)) => Agreed::Accurate,
        (true, None) => Agreed::Classic,
        (false, None) => Agreed::Nothing,
    }
}

/// Linux 7.2's `tcp_ecn` of a client, 0 to 5, by that of a server: accurate ECN is agreed on by client 3 with servers 3, 4
/// and 5 alone, classic ECN by a client that asks for either with any other server but 0, and by clients 1 and 4. The rule
/// of the standard (RFC 9768 table 2) is the same.
#[test]
fn thirty_six_handshakes() {
    use Agreed::{Accurate as A, Classic as C, Nothing as N};
    use EcnMode::{Accecn, Off, On, OnOrAccecn, Passive, PassiveAccecn};
    let modes = [Off, On, Passive, Accecn, OnOrAccecn, PassiveAccecn];
    let table = [
        [N, N, N, N, N, N],
        [N, C, C, C, C, C],
        [N, N, N, N, N, N],
        [N, C, C, A, A, A],
        [N, C, C, C, C, C],
        [N, N, N, N, N, N],
    ];
    for profile in [Profile::Linux, Profile::Rfc] {
        for (client, row) in modes.into_iter().zip(table) {
            for (server, expected) in modes.into_iter().zip(row) {
                let ends = [client, server].map(|mode| Endpoint::new(config(profile, mode)));
                let mut path = Path::new(ends, |_, _| true);
                path.run(Duration::from_millis(100));
                let found = [0, 1].map(|end| agreed(&path.ends[end]));
                assert_eq!(found, [expected; 2], "{client:?} with {server:?}, {profile:?}");
            }
        }
    }
}

/// RFC 9768 table 2: the SYN-ACK tells how the SYN arrived; table 3: the third ACK how the SYN-ACK did. A SYN that
/// arrives with ECT although it was sent without has been changed on the way, and nothing asks for marks any more
/// (§3.2.2.3).
#[test]
fn the_handshake_tells_of_changes_on_the_way() {
    for (ecn, flags) in [
        (Ecn::NotEct, Flags::CWR),
        (Ecn::Ect1, Flags::CWR | Flags::ECE),
        (Ecn::Ect0, Flags::AE),
        (Ecn::Ce, Flags::AE | Flags::CWR),
    ] {
        let ends = [0, 1].map(|_| Endpoint::new(config(Profile::Rfc, EcnMode::Accecn)));
        let mut told = Vec::new();
        let mut asks = false;
        let mut path = Path::new(ends, |from, packet: &mut Transmit| {
            let segment = &packet.segment;
            if segment.flags.contains(Flags::SYN) {
                packet.ip.ecn = ecn;
            } else if from == 0 && segment.len > 0 {
                asks |= packet.ip.ecn != Ecn::NotEct;
            }
            if told.len() < 3 {
                told.push(segment.flags);
            }
            true
        });
        path.ends[0].write(Bytes::new(5000));
        path.run(Duration::from_secs(1));
        let marks = Flags::AE | Flags::CWR | Flags::ECE;
        assert_eq!(told[0], Flags::SYN | marks);
        assert_eq!(told[1], Flags::SYN | Flags::ACK | flags);
        assert_eq!(told[2], Flags::ACK | flags);
        assert_eq!(asks, ecn == Ecn::NotEct, "{ecn:?}");
    }
}

/// A path as a case has it.
#[derive(Clone, Copy, Debug)]
struct Case {
    linux: [bool; 2],
    /// Packets marked of 256 with data.
    marked: u8,
    /// ACKs lost of 256.
    lost: u8,
    /// A middlebox takes the option off.
    stripped: bool,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let lost = prop_oneof![Just(0), 0..100_u8];
    (any::<[bool; 2]>(), any::<u8>(), lost, any::<bool>(), any::<u64>()).prop_map(
        |(linux, marked, lost, stripped, seed)| Case { linux, marked, lost, stripped, seed },
    )
}

/// The counts that the receiver saw and those that the sender believes, after `volume`.
fn transfer(case: Case, volume: u64) -> [ackclock_tcp::EcnCounts; 2] {
    let mut state = case.seed | 1;
    let mut draw = move || {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state >> 56).unwrap()
    };
    let ends = case.linux.map(|linux| {
        let profile = if linux { Profile::Linux } else { Profile::Rfc };
        let mut config = config(profile, EcnMode::Accecn);
        config.sack = true;
        // A segment that comes twice again as its ACK was lost is else taken for a path that drops the option.
        config.ecn.option = EcnOption::Persist;
        Endpoint::new(config)
    });
    let mut path = Path::new(ends, move |from, packet: &mut Transmit| {
        if case.stripped
            && let Some(options) = &mut packet.options
        {
            options.accurate_ecn = None;
        }
        if packet.segment.flags.contains(Flags::SYN) {
            return true;
        }
        let marks = packet.ip.ecn != Ecn::NotEct && draw() < case.marked;
        if from == 0 && packet.segment.len > 0 && marks {
            packet.ip = IpMeta { ecn: Ecn::Ce, ..packet.ip };
        }
        from == 0 || draw() >= case.lost
    });
    path.ends[0].write(Bytes::new(volume));
    path.run(Duration::from_secs(3600));
    assert!(path.ends[0].sender().all_acked(), "all has arrived");
    let [sender, receiver] = &path.ends;
    [receiver.marks_received().unwrap(), sender.sender().believed().unwrap()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// The last ACK tells of all: what is believed of bytes is what came, where the option passes; what is believed of
    /// packets is it modulo 8, the ambiguity of three bits (RFC 9768 §3.2.2.5), and exactly so if no ACK is lost.
    #[test]
    fn the_sender_believes_what_the_receiver_saw(case in case()) {
        let [saw, believes] = transfer(case, 300_000);
        prop_assert_eq!(saw.ce_packets % 8, believes.ce_packets % 8);
        if !case.stripped {
            prop_assert_eq!(saw.bytes, believes.bytes);
        }
        if case.lost == 0 {
            prop_assert_eq!(saw.ce_packets, believes.ce_packets);
        }
    }
}

/// Every packet is marked, two of five ACKs are lost, and no option passes: the most that the bits allow is right.
#[test]
fn all_marks_are_counted_although_acks_are_lost() {
    for stripped in [false, true] {
        let case = Case { linux: [false; 2], marked: 255, lost: 100, stripped, seed: 7 };
        let [saw, believes] = transfer(case, 1_000_000);
        assert!(saw.ce_packets > 900, "{saw:?}");
        assert_eq!(saw.ce_packets, believes.ce_packets);
    }
}
