//! The segments of a run on its links, for a time-sequence diagram.

use std::ops::ControlFlow;

use ackclock_packet::{Ecn, Flags};
use ackclock_sim::scenario::Direction;
use ackclock_sim::{Names, Observer, Sent, Transmission};
use ackclock_units::Instant;
use serde_json::{Value, json};

use crate::answer::Answer;

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

/// Keeps the segments of a span of time, row by row.
#[derive(Debug)]
pub struct Segments {
    from: Instant,
    until: Instant,
    rows: Vec<f64>,
    whole: bool,
}

impl Segments {
    /// An observer that keeps what is sent from one moment to another.
    pub const fn new(from: Instant, until: Instant) -> Self {
        Self { from, until, rows: Vec::new(), whole: true }
    }

    /// The segments in the header of an answer: the names of `links` and `flows`, the `columns`, and the place of the
    /// rows; `whole` is false if there were more than are kept.
    pub fn header(&self, names: &Names, answer: &mut Answer) -> Value {
        let bytes: Vec<u8> = self.rows.iter().flat_map(|number| number.to_le_bytes()).collect();
        json!({
            "links": names.links,
            "flows": names.flows,
            "columns": COLUMNS,
            "rows": self.rows.len() / WIDTH,
            "data": answer.place(&bytes),
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
        let flag = |is: bool| f64::from(u8::from(is));
        let bits = [Flags::SYN, Flags::ACK, Flags::FIN, Flags::RST, Flags::ECE, Flags::CWR];
        let flags = (0u8..)
            .zip(bits)
            .fold(0, |all, (bit, flag)| all | u8::from(segment.flags.contains(flag)) << bit);
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
}
