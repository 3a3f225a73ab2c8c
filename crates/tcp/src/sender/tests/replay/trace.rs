//! The rows of a trace.

use ackclock_units::Duration;

use crate::event::CaState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Init,
    Ack,
    DupAck,
    EnterRecovery,
    ExitRecovery,
    Undo,
    Timeout,
    IdleRestart,
}

/// An event, and what the kernel had after it. Counts are in packets.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "columns of a table")]
pub struct Row {
    pub kind: Kind,
    pub after: Duration,
    pub acked: u64,
    pub delivered: u64,
    pub rtt: Option<Duration>,
    pub in_flight: u64,
    /// The window is in use; not said where the law does not ask.
    pub limited: bool,
    pub unacked: u64,
    pub echo: bool,
    /// The timeout where there was silence.
    pub aux_ms: Duration,
    /// Something goes out with nothing in flight.
    pub starts: bool,
    /// A threshold is set.
    pub reduces: bool,
    /// A reduction is taken back.
    pub undoes: bool,
    pub state: CaState,
    pub cwnd: u64,
    pub ssthresh: Option<u64>,
}

pub struct Trace {
    pub rows: Vec<Row>,
}

impl Trace {
    pub fn read(csv: &[u8]) -> Self {
        let text = std::str::from_utf8(csv).unwrap();
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let column = |name: &str| header.iter().position(|known| *known == name).unwrap();
        let [kind, calls, state] = ["kind", "calls", "state"].map(column);
        let numbers = [
            "dt_us",
            "acked_pkts",
            "delivered_pkts",
            "rtt_us",
            "in_flight_pkts",
            "cwnd_limited",
            "unacked_pkts",
            "ce",
            "aux",
            "cwnd",
            "ssthresh",
        ]
        .map(column);
        let rows = lines
            .map(|line| {
                let fields: Vec<&str> = line.split(',').collect();
                let [
                    dt,
                    acked,
                    delivered,
                    rtt,
                    in_flight,
                    limited,
                    unacked,
                    ce,
                    aux,
                    cwnd,
                    ssthresh,
                ] = numbers.map(|n| fields[n].parse::<i64>().unwrap());
                let count = |n: i64| u64::try_from(n).unwrap();
                let (calls, sends) = fields[calls].split_once('|').unwrap();
                Row {
                    kind: match fields[kind] {
                        "init" => Kind::Init,
                        "ack" | "ecn_ack" => Kind::Ack,
                        "dupack" => Kind::DupAck,
                        "enter_recovery" => Kind::EnterRecovery,
                        "exit_recovery" => Kind::ExitRecovery,
                        "undo" => Kind::Undo,
                        "timeout" => Kind::Timeout,
                        "idle_restart" => Kind::IdleRestart,
                        other => panic!("{other}"),
                    },
                    after: Duration::from_micros(count(dt)),
                    acked: count(acked),
                    delivered: count(delivered),
                    rtt: u64::try_from(rtt).ok().map(Duration::from_micros),
                    in_flight: count(in_flight),
                    limited: limited != 0,
                    unacked: count(unacked),
                    echo: ce == 1 || fields[kind] == "ecn_ack",
                    aux_ms: Duration::from_millis(count(aux)),
                    starts: sends.contains('t') || calls.contains('t'),
                    reduces: calls.contains('h'),
                    undoes: calls.contains('u'),
                    state: match fields[state] {
                        "Open" => CaState::Open,
                        "Disorder" => CaState::Disorder,
                        "CWR" => CaState::Cwr,
                        "Recovery" => CaState::Recovery,
                        "Loss" => CaState::Loss,
                        other => panic!("{other}"),
                    },
                    cwnd: count(cwnd),
                    ssthresh: u64::try_from(ssthresh).ok(),
                }
            })
            .collect();
        Self { rows }
    }
}
