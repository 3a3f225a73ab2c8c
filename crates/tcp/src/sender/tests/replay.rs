//! Linux's laws, event by event: traces of the kernel's own modules are given to a sender, and its window and threshold are
//! the kernel's after each event.
//!
//! The whole sender is under test, under the profile `linux`: the growth law, slow start, the states of
//! `sender/states.rs`, the echoes, the idle rule's restart, the timeout. Only what a trace gives as an input comes from it:
//! when an ACK arrives, what it acknowledges and delivers, its sample, whether it echoes a mark; what recovery finds in it;
//! whether the window is in use; what is in flight and what is sent. `crates/tcp/tests/data/linux-laws` says what the files
//! are. A folder with more of them is given in `ACKCLOCK_LAW_TRACES`.

mod gzip;
pub mod trace;
mod westwood;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::*;
use crate::event::{CaState, Why};
use crate::idle::{AfterIdle, Idle, IdleChoice, Usage};
use crate::recovery::{AckSeen, SendSpace, SentSegment, Tally};
use trace::{Kind, Row, Trace};

/// The laws, by the first part of a file's name, and the senders that have them.
const LAWS: [(&str, &str); 6] = [
    ("reno", "reno"),
    ("cubic", "cubic"),
    ("cubic_nohystart", "cubic+abc(unlimited)"),
    ("vegas", "vegas"),
    ("highspeed", "highspeed"),
    ("dctcp", "dctcp"),
];

/// The traces' segments.
const MSS: u16 = 1448;
/// Their time 0 is jiffy 100,000.
const BEGIN: Instant = Instant::from_nanos(100_000_000_000);

/// The part of the path and of recovery in an event.
#[derive(Clone, Copy, Debug)]
struct Told {
    outcome: Outcome,
    delivered: Bytes,
    rtt_from: Option<Instant>,
    in_flight: Bytes,
    in_recovery: bool,
    sacked: u64,
    /// New data goes out up to here, and this again.
    limit: Seq,
    again: Option<Range>,
    /// True if the window is in use, and the timeout where there was silence.
    limited: bool,
    rto: Option<Duration>,
}

#[derive(Clone, Debug)]
struct Shared(Arc<Mutex<Told>>);

impl Shared {
    fn get(&self) -> Told {
        *self.0.lock().unwrap()
    }

    fn set(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.0.lock().unwrap());
    }
}

/// A recovery that finds what the trace says.
#[derive(Debug)]
struct Scripted(Shared);

impl Recovery for Scripted {
    fn on_ack(&mut self, _: &AckSeen<'_>, _: &mut SendSpace) -> Outcome {
        self.0.get().outcome
    }

    fn on_timeout(&mut self, _: Instant, _: &mut SendSpace) {}

    fn in_recovery(&self) -> bool {
        self.0.get().in_recovery
    }

    fn in_flight(&self, _: &SendSpace) -> Bytes {
        self.0.get().in_flight
    }

    fn allows(&self, _: Bytes, len: Bytes, send: &SendSpace) -> bool {
        send.nxt + len <= self.0.get().limit
    }

    fn next_again(&mut self, _: Bytes) -> Option<Range> {
        let again = self.0.get().again;
        self.0.set(|told| told.again = None);
        again
    }

    fn on_sent(&mut self, sent: &SentSegment) {
        self.0.set(|told| told.in_flight += sent.len);
    }

    fn rtt_from(&self) -> Option<Instant> {
        self.0.get().rtt_from
    }

    fn times_segments(&self) -> bool {
        true
    }

    fn newly_delivered(&self) -> Option<Bytes> {
        Some(self.0.get().delivered)
    }

    fn tally(&self, _: &SendSpace, _: Mss) -> Tally {
        Tally { sacked: self.0.get().sacked, ..Tally::default() }
    }
}

/// Linux's idle rule, with what the trace gives as an input.
#[derive(Debug)]
struct Silence(AnyIdle, Shared);

impl Idle for Silence {
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        // The application was silent, and not the peer's window shut.
        let rto = self.1.get().rto?;
        self.0.before_send(&Usage { rto, limited_by: Limit::Application, ..*usage })
    }

    fn may_grow(&mut self, _: &Ack, _: Bytes, _: bool) -> bool {
        self.1.get().limited
    }
}

/// The distance to which a trace was followed.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    /// Rows compared; in CWR and Recovery only the threshold is, as the trace has no PRR.
    compared: u64,
    /// Timeouts that reduce once more in CWR or Recovery, where a kernel would not.
    reduced_again: u64,
    /// Undo events that had nothing to take back: there the trace, which has no PRR, keeps the window of before the
    /// reduction, and it is taken over.
    taken_over: u64,
    /// Silences whose timeout is not the sender's own.
    other_rto: u64,
}

pub struct Replay {
    pub sender: Sender,
    told: Shared,
    now: Instant,
}

fn packets(n: u64) -> Bytes {
    Mss::new(MSS).unwrap().times(n)
}

impl Replay {
    /// A sender with the window and the threshold of `first`.
    pub fn new(name: &str, profile: Profile, first: &Row) -> Self {
        let parts = name.parse::<Variant>().unwrap().resolve(profile).unwrap();
        let mss = Mss::new(MSS).unwrap();
        let config = Config { mss, ..Config::new(parts, profile) };
        let told = Shared(Arc::new(Mutex::new(Told {
            outcome: Outcome::None,
            delivered: Bytes::ZERO,
            rtt_from: None,
            in_flight: Bytes::ZERO,
            in_recovery: false,
            sacked: 0,
            limit: Seq::FIRST_BYTE,
            again: None,
            limited: true,
            rto: None,
        })));
        let mut sender = Sender::new(&config);
        sender.flight.set_recovery(AnyRecovery::Other(Box::new(Scripted(told.clone()))));
        let idle = AnyIdle::new(IdleChoice::LinuxIdle(AfterIdle::Restart));
        sender.allowance.set_idle(AnyIdle::Other(Box::new(Silence(idle, told.clone()))));
        sender.set_rwnd(Bytes::new(1 << 30));
        sender.on_established(Handshake::clean(mss), first.rtt, false);
        sender.write(Bytes::new(1 << 50), WriteHint::Silence);
        sender.allowance.rebase(&Proposal {
            cwnd: Some(packets(first.cwnd)),
            ssthresh: first.ssthresh.map(packets),
            mss,
            why: Why::Established,
        });
        Self { sender, told, now: BEGIN }
    }

    /// The event of `row`, and what goes out on it: `next` says how much.
    pub fn step(&mut self, row: &Row, next: Option<&Row>) {
        self.now += row.after;
        let (una, now) = (self.sender.flight.una(), self.now);
        let ack = una + packets(row.acked);
        let in_recovery = self.told.get().in_recovery;
        let outcome = match row.kind {
            Kind::EnterRecovery => Outcome::LossFound,
            Kind::ExitRecovery => Outcome::Repaired { at_most: None },
            Kind::Undo => Outcome::Spurious,
            Kind::Ack if in_recovery => Outcome::PartlyRepaired { restart_timer: true },
            _ => Outcome::None,
        };
        self.told.set(|told| {
            told.outcome = outcome;
            told.delivered = packets(row.delivered);
            told.rtt_from = row.rtt.map(|rtt| Instant::from_nanos(now.as_nanos() - rtt.as_nanos()));
            told.limited = row.limited;
            told.in_flight = packets(row.in_flight);
            told.sacked = (told.sacked + row.delivered).saturating_sub(row.acked);
            told.in_recovery = match row.kind {
                Kind::EnterRecovery => true,
                Kind::ExitRecovery | Kind::Undo | Kind::Timeout => false,
                _ => told.in_recovery,
            };
            told.rto = None;
        });
        match row.kind {
            Kind::Init => {}
            Kind::Timeout => {
                self.sender.flight.set_timer(now);
                self.sender.on_timer(now);
            }
            Kind::IdleRestart => self.told.set(|told| told.rto = Some(row.aux_ms)),
            Kind::Ack | Kind::DupAck | Kind::EnterRecovery | Kind::ExitRecovery | Kind::Undo => {
                if row.echo {
                    self.sender.on_ecn_echo(now, ack);
                }
                self.sender.on_ack(now, &arrived(ack, &[]));
            }
        }
        let Some(next) = next else { return };
        self.send(row, next);
    }

    fn send(&mut self, row: &Row, next: &Row) {
        let una = self.sender.flight.una();
        // The next row's SND.NXT is that of before its own transmissions.
        let limit = una + packets(next.acked + next.unacked);
        let new = limit.since(self.sender.flight.max());
        self.told.set(|told| {
            told.limit = limit;
            // A transmission begins anew where nothing is in flight; a retransmission does, too.
            told.in_flight = if row.starts { Bytes::ZERO } else { packets(next.in_flight.max(1)) };
            let first = Range { start: una, end: una + packets(1) };
            told.again = (row.starts && new == Bytes::ZERO).then_some(first);
        });
        self.sender.fill(self.now);
        assert_eq!(self.sender.flight.max(), limit, "what goes out");
    }

    /// The trace's window, which is another for want of PRR.
    fn take_over(&mut self, cwnd: u64) {
        self.take_over_both(cwnd, None);
    }

    /// The trace's window and threshold.
    fn take_over_both(&mut self, cwnd: u64, ssthresh: Option<u64>) {
        let (cwnd, ssthresh) = (Some(packets(cwnd)), ssthresh.map(packets));
        let mss = Mss::new(MSS).unwrap();
        let proposal = Proposal { cwnd, ssthresh, mss, why: Why::Established };
        self.sender.allowance.rebase(&proposal);
    }

    pub fn state(&self) -> CaState {
        self.sender.allowance.state()
    }

    /// The difference between the sender and the kernel after `row`.
    fn difference(&self, row: &Row) -> Option<String> {
        let mss = Mss::new(MSS).unwrap();
        let cwnd = self.sender.cwnd().whole_segments(mss);
        let ssthresh = self.sender.ssthresh().map(|ssthresh| ssthresh.whole_segments(mss));
        // Few laws ask for Disorder.
        let known = |state| if state == CaState::Disorder { CaState::Open } else { state };
        let settled = !matches!(row.state, CaState::Cwr | CaState::Recovery);
        let equal = known(self.state()) == known(row.state)
            && ssthresh == row.ssthresh
            && (cwnd == row.cwnd || !settled);
        let state = self.state();
        (!equal).then(|| format!("{state:?} {cwnd} {ssthresh:?}, the kernel {row:?}"))
    }
}

/// Replays a trace to its end, or to the first difference.
fn replay(name: &str, trace: &Trace) -> Result<Score, String> {
    let rows = &trace.rows;
    let mut replay = Replay::new(name, Profile::Linux, &rows[0]);
    let mut score = Score::default();
    for (n, row) in rows.iter().enumerate() {
        if row.kind == Kind::IdleRestart && row.aux_ms != replay.sender.rto() {
            score.other_rto += 1;
        }
        let reducing = matches!(replay.state(), CaState::Cwr | CaState::Recovery);
        if row.kind == Kind::Timeout && row.reduces && reducing {
            score.reduced_again += 1;
            replay.sender.allowance.forget_state();
            replay.take_over(rows[n - 1].cwnd);
        }
        replay.step(row, rows.get(n + 1));
        if row.kind == Kind::Undo && !row.undoes {
            score.taken_over += 1;
            replay.take_over(row.cwnd);
        }
        if let Some(difference) = replay.difference(row) {
            return Err(format!("row {}: {difference}", n + 2));
        }
        score.compared += 1;
    }
    Ok(score)
}

/// The traces in `folder` of laws that there are, and how many of others.
fn traces(folder: &Path) -> (Vec<(&'static str, PathBuf)>, usize) {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".csv.gz"));
    files.sort();
    let all = files.len();
    let mut known = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let law = name.split('.').next().unwrap_or_default();
        if let Some((_, sender)) = LAWS.iter().find(|(known, _)| *known == law) {
            known.push((*sender, file));
        }
    }
    let others = all - known.len();
    (known, others)
}

fn replay_all(folder: &Path) -> usize {
    let (files, others) = traces(folder);
    let mut wrong = Vec::new();
    for (sender, file) in &files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let trace = Trace::read(&gzip::unpack(&std::fs::read(file).unwrap()));
        match replay(sender, &trace) {
            Ok(score) => println!("{name}: {score:?}"),
            Err(difference) => wrong.push(format!("{name}: {difference}")),
        }
    }
    println!("{} traces replayed, {others} of laws that are not here left out", files.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    files.len()
}

#[test]
fn the_laws_of_linux_move_as_the_kernels_do() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/linux-laws");
    assert_eq!(replay_all(Path::new(folder)), 20);
}

#[test]
fn so_they_do_in_every_trace_at_hand() {
    let Some(folder) = std::env::var_os("ACKCLOCK_LAW_TRACES") else {
        println!("skipped: ACKCLOCK_LAW_TRACES names no folder of traces");
        return;
    };
    replay_all(Path::new(&folder));
}
