//! The segments of a run on its links, for a time-sequence diagram.

use std::ops::ControlFlow;

use ackclock_packet::{Ecn, Flags};
use ackclock_sim::scenario::{Direction, Scenario};
use ackclock_sim::{Given, Names, Observer, Reason, Sent, Transmission};
use ackclock_units::Instant;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::reasons::{Explanation, Past, Teller};

/// The most segments that are kept.
const MOST: usize = 400_000;

/// Numbers of a row: [`COLUMNS`].
const WIDTH: usize = 18;

/// The columns of a row. `link` and `flow` are places in the lists beside them; `mark` is 1 on a packet marked by a
/// router; the SACK blocks that there are not are 0.
const COLUMNS: [&str; WIDTH] = [
    "time_s",
    "link",
    "reverse",
    "flow",
    "from_client",
    "seq",
    "len",
    "ack",
    "flags",
    "mark",
    "sack1_from",
    "sack1_to",
    "sack2_from",
    "sack2_to",
    "sack3_from",
    "sack3_to",
    "sack4_from",
    "sack4_to",
];

/// The columns of a row of what hosts gave to their first links. `reason` is a place in the list of reasons, -1 without one; the
/// window and the number not yet acknowledged are NaN then.
const SEND_COLUMNS: [&str; 10] = [
    "time_s",
    "flow",
    "from_client",
    "seq",
    "len",
    "flags",
    "reason",
    "cwnd_segments",
    "ssthresh_segments",
    "una",
];

/// Keeps the segments of a span of time, row by row.
#[derive(Debug)]
pub struct Segments {
    from: Instant,
    until: Instant,
    rows: Vec<f64>,
    sends: Vec<f64>,
    reasons: Vec<Explanation>,
    /// By flow.
    tellers: Vec<Option<Teller>>,
    /// By flow, of its server and of its client.
    past: Vec<[Past; 2]>,
    whole: bool,
}

impl Segments {
    /// An observer that keeps what is sent from one moment to another.
    pub fn new(scenario: &Scenario, from: Instant, until: Instant) -> Self {
        let tellers = Teller::all(scenario);
        let past = vec![[Past::default(); 2]; tellers.len()];
        let (rows, sends, reasons) = (Vec::new(), Vec::new(), Vec::new());
        Self { from, until, rows, sends, reasons, tellers, past, whole: true }
    }

    /// The segments in the header of an answer: the names of `links` and `flows`, the `columns`, and the place of the
    /// rows; what hosts sent, in the same form, and the `reasons` for that; `whole` is false if there were more than are
    /// kept.
    pub fn header(&self, names: &Names, answer: &mut Answer) -> Value {
        let bytes = |numbers: &[f64]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        json!({
            "links": names.links,
            "flows": names.flows,
            "columns": COLUMNS,
            "rows": self.rows.len() / WIDTH,
            "data": answer.place(&bytes(&self.rows)),
            "send_columns": SEND_COLUMNS,
            "sends": answer.place(&bytes(&self.sends)),
            "reasons": self.reasons.iter().map(Explanation::json).collect::<Vec<_>>(),
            "whole": self.whole,
        })
    }
}

impl Observer for Segments {
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()> {
        let Sent::Segment(sent) = &transmission.packet else { return ControlFlow::Continue(()) };
        if transmission.at < self.from || transmission.at > self.until {
            return ControlFlow::Continue(());
        }
        if self.rows.len() >= MOST * WIDTH {
            self.whole = false;
            return ControlFlow::Continue(());
        }
        let segment = &sent.segment;
        let flags = bits_of(segment.flags);
        let mut row = [0.0; WIDTH];
        row[..10].copy_from_slice(&[
            transmission.at.as_secs_f64(),
            transmission.link as f64,
            flag(transmission.direction == Direction::Reverse),
            sent.flow as f64,
            flag(sent.from_client),
            segment.seq.get() as f64,
            f64::from(segment.len),
            segment.ack.get() as f64,
            f64::from(flags),
            flag(sent.ip.ecn == Ecn::Ce),
        ]);
        if let Some(options) = &sent.options {
            for (n, block) in options.sack.as_slice().iter().enumerate() {
                row[10 + 2 * n] = block.start.get() as f64;
                row[11 + 2 * n] = block.end.get() as f64;
            }
        }
        self.rows.extend_from_slice(&row);
        ControlFlow::Continue(())
    }

    fn wants_given(&self) -> bool {
        true
    }

    fn on_given(&mut self, given: &Given) {
        let segment = &given.segment;
        let past = &mut self.past[given.flow][usize::from(given.from_client)];
        past.syns += u32::from(segment.flags.contains(Flags::SYN));
        past.jumped |= given.sending.is_some_and(|sending| sending.reason == Reason::Jump);
        if given.at < self.from || given.at > self.until {
            return;
        }
        let past = *past;
        if self.sends.len() >= MOST * SEND_COLUMNS.len() {
            self.whole = false;
            return;
        }
        // A bare ACK is none of the sender's.
        let opens_or_ends =
            segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::FIN);
        if segment.len == 0 && !opens_or_ends {
            return;
        }
        let mut row = [0.0; SEND_COLUMNS.len()];
        row[..6].copy_from_slice(&[
            given.at.as_secs_f64(),
            given.flow as f64,
            flag(given.from_client),
            segment.seq.get() as f64,
            f64::from(segment.len),
            f64::from(bits_of(segment.flags)),
        ]);
        row[6..].copy_from_slice(&[-1.0, f64::NAN, f64::NAN, f64::NAN]);
        if let (Some(sending), Some(teller)) = (&given.sending, &self.tellers[given.flow]) {
            let told = teller.tell(sending, past);
            let known = self.reasons.iter().position(|each| *each == told);
            let reason = known.unwrap_or_else(|| {
                self.reasons.push(told);
                self.reasons.len() - 1
            });
            let mss = f64::from(sending.mss.get());
            let ssthresh = sending.ssthresh.map_or(f64::NAN, |bytes| bytes.as_f64() / mss);
            row[6..].copy_from_slice(&[
                reason as f64,
                sending.cwnd.as_f64() / mss,
                ssthresh,
                sending.una.get() as f64,
            ]);
        }
        self.sends.extend_from_slice(&row);
    }
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// Flags as the bits of a number, in this order: SYN, ACK, FIN, RST, ECE, CWR.
fn bits_of(flags: Flags) -> u8 {
    let bits = [Flags::SYN, Flags::ACK, Flags::FIN, Flags::RST, Flags::ECE, Flags::CWR];
    (0u8..).zip(bits).fold(0, |all, (bit, flag)| all | u8::from(flags.contains(flag)) << bit)
}
