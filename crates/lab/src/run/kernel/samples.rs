//! The records of laws in the kernel as samples of probes.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::thread;

use ackclock_kernel::{Event, LOOK_EVERY, Record, Records};
use ackclock_live::{LawRecords, LawSample};

/// A threshold that nothing has set (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The records of all laws of a run, while they are being read.
#[derive(Debug)]
pub(super) struct Recorded(pub(super) Vec<Records>);

impl LawRecords for Recorded {
    fn samples(&self) -> Vec<LawSample> {
        // The reader has what came until now after one more look.
        thread::sleep(2 * LOOK_EVERY);
        let mut samples = Vec::new();
        for records in &self.0 {
            let records = records.lock().unwrap_or_else(PoisonError::into_inner);
            samples.extend(of(&records));
        }
        samples.sort_by_key(|sample| sample.time_ns);
        samples
    }
}

/// The samples of the connections of which every record had room.
fn of(records: &[Record]) -> Vec<LawSample> {
    let mut connections: BTreeMap<u32, Option<(u32, u8)>> = BTreeMap::new();
    for record in records {
        let number = record.connection.number;
        if record.event == Event::Begin {
            connections.insert(number, Some((record.una, record.count)));
            continue;
        }
        let Some(known) = connections.get_mut(&number) else { continue };
        *known = known.and_then(|(first, count)| {
            let follows = record.count == count.wrapping_add(1);
            follows.then_some((first, record.count))
        });
    }
    let samples = records.iter().filter_map(|record| {
        let (first, _) = (*connections.get(&record.connection.number)?)?;
        Some(sample(record, first))
    });
    samples.collect()
}

fn sample(record: &Record, first: u32) -> LawSample {
    let begins = record.event == Event::Begin;
    let mss = record.mss.max(1);
    // The first record counts segments of the handshake there.
    let again = if begins { 0 } else { record.usage.sent_again.div_ceil(mss) };
    let known = |us: u32| if us == 0 { f64::NAN } else { f64::from(us) * 1e-6 };
    let has_threshold = record.ssthresh != NO_THRESHOLD;
    LawSample {
        time_ns: record.time_us * 1000,
        local: record.connection.from,
        cwnd_segments: record.window,
        ssthresh_segments: if has_threshold { f64::from(record.ssthresh) } else { f64::NAN },
        srtt_s: known(record.srtt_us),
        in_flight_segments: f64::from(record.in_flight),
        acked: u64::from(record.una.wrapping_sub(first)),
        sent: u64::from(record.nxt.wrapping_sub(first)),
        retransmitted: u64::from(again),
    }
}
