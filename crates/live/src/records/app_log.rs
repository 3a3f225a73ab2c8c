//! Notes of applications on their objects, from all threads, and the rows that are made of them.

use ackclock_app::{AnyApp, Note};
use ackclock_sim::ObjectLog;
use ackclock_sim::records::{Objects, VideoRow};
use ackclock_sim::run::plan::PlannedConnection;
use ackclock_units::{Bytes, Instant};

/// An event of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A sender gave an object.
    Given(Bytes),
    /// The receiver has so much in all.
    Received(Bytes),
    /// An exchange was asked for.
    Requested {
        bytes: Bytes,
        at: Instant,
    },
    Begun,
    Completed,
}

/// The log of one thread's applications.
#[derive(Clone, Debug, Default)]
pub struct AppLog {
    entries: Vec<(Instant, usize, Event)>,
}

impl AppLog {
    /// Adds a note of an application of connection `number`.
    pub fn note(&mut self, now: Instant, number: usize, note: Note) {
        let event = match note {
            Note::Object(bytes) => Event::Given(bytes),
            Note::Requested { bytes, at } => Event::Requested { bytes, at },
            Note::Begun => Event::Begun,
            Note::Completed => Event::Completed,
            Note::Moment(_) => return,
        };
        self.entries.push((now, number, event));
    }

    /// Adds the volume that the receiving end of connection `number` has in all, if it is more than `before`.
    pub fn on_received(
        &mut self,
        now: Instant,
        number: usize,
        received: Bytes,
        before: &mut Bytes,
    ) {
        if received > *before {
            *before = received;
            self.entries.push((now, number, Event::Received(received)));
        }
    }

    /// Takes over another's entries.
    pub fn append(&mut self, mut other: Self) {
        self.entries.append(&mut other.entries);
    }

    /// The objects of `flows` flows, whose numbers come first, and of `connections`.
    pub fn objects(mut self, flows: usize, connections: &[PlannedConnection]) -> Objects {
        // What several threads noted at one instant was given before it was received.
        self.entries.sort_by_key(|(at, ..)| *at);
        let mut table = Objects::default();
        let mut log = ObjectLog::new(flows);
        let mut exchanges = vec![Exchange::default(); connections.len()];
        for (now, number, event) in self.entries {
            let connection = number.checked_sub(flows);
            match (event, connection) {
                (Event::Given(bytes), None) => {
                    log.on_given(now, number, bytes, &mut table);
                }
                (Event::Received(bytes), None) => {
                    log.on_received(now, number, bytes, &mut table);
                }
                // The ends of a session tell of exchanges.
                (Event::Given(_) | Event::Received(_), Some(_)) | (_, None) => {}
                (Event::Requested { bytes, at }, Some(n)) => {
                    let planned = &connections[n];
                    let class = u32::try_from(flows + planned.class).expect("few classes");
                    let exchange = &mut exchanges[n];
                    exchange.row =
                        Some(table.request(class, planned.number, exchange.made, bytes, at));
                    exchange.made += 1;
                }
                (Event::Begun, Some(n)) => {
                    if let Some(row) = exchanges[n].row {
                        table.begin(row, now);
                    }
                }
                (Event::Completed, Some(n)) => {
                    if let Some(row) = exchanges[n].row.take() {
                        table.complete(row, now);
                    }
                }
            }
        }
        table
    }
}

/// The current exchange of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Exchange {
    row: Option<usize>,
    made: u64,
}

/// The video row of `app` of `flow` at `end`, if it plays a video.
pub fn video<T>(flow: &str, app: &AnyApp<T>, end: Instant) -> Option<VideoRow> {
    match app {
        AnyApp::VideoClient(client) => Some(VideoRow::of_file(flow.to_owned(), client, end)),
        AnyApp::DashClient(client) => Some(VideoRow::of_segments(flow.to_owned(), client, end)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_notes_make_one_row() {
        // The receiver's thread has noted first what came last.
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let (mut sends, mut receives) = (AppLog::default(), AppLog::default());
        let mut before = Bytes::ZERO;
        receives.on_received(at(30), 0, Bytes::new(400), &mut before);
        receives.on_received(at(30), 0, Bytes::new(400), &mut before);
        receives.on_received(at(45), 0, Bytes::new(1000), &mut before);
        sends.note(at(10), 0, Note::Object(Bytes::new(1000)));
        receives.append(sends);
        let table = receives.objects(1, &[]);
        assert_eq!(table.requested_ns, [10_000_000]);
        assert_eq!(table.first_byte_ns, [30_000_000]);
        assert_eq!(table.completed_ns, [45_000_000]);
    }
}
