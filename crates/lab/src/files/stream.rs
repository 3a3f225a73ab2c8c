//! Tables that are written while the run lasts, so that a run of any length fits into memory.

use std::fs::File;

use ackclock_results::{Table, Tables, check_conservation};
use ackclock_sim::{Collector, Meter, Run};
use ackclock_writer::{Place, Staged, WriteError};
use parquet::errors::ParquetError;

use crate::files::checked::CheckedWriter;
use crate::files::store::{commit, io_error, metadata_of, properties, stage_table};
use crate::run::load::Ready;
use crate::run::sweep::{SweepError, guarded};

/// A table under way.
type Open = (&'static str, CheckedWriter<File>, Staged);

/// Writes the rows that a run hands on.
struct Writer<'a> {
    place: &'a Place,
    metadata: &'a [(&'a str, String)],
    open: Vec<Open>,
    /// The first fault.
    fault: Option<WriteError>,
}

impl Writer<'_> {
    fn write(&mut self, table: &Table) -> Result<(), WriteError> {
        let at = self.open.iter().position(|(name, ..)| *name == table.name);
        let at = if let Some(at) = at {
            at
        } else {
            let (file, staged) = self.place.create(&format!("{}.parquet", table.name))?;
            let failed = |error| failed(&staged, error);
            let properties = properties(table, self.metadata).map_err(failed)?;
            let writer =
                CheckedWriter::new(file, table.batch.schema(), &properties).map_err(failed)?;
            self.open.push((table.name, writer, staged));
            self.open.len() - 1
        };
        let (_, writer, staged) = &mut self.open[at];
        writer.write(&table.batch).map_err(|error| failed(staged, error))
    }
}

fn failed(staged: &Staged, error: ParquetError) -> WriteError {
    WriteError::io(staged.path(), &io_error(error))
}

impl Collector for Writer<'_> {
    fn take(&mut self, run: &mut Run) {
        let rows = run.take_rows();
        if self.fault.is_some() {
            return;
        }
        let tables = Tables::of_run(&rows);
        let large = tables.large();
        let filled = large.into_iter().filter(|table| table.batch.num_rows() > 0);
        self.fault = filled.map(|table| self.write(table)).find_map(Result::err);
    }
}

/// Runs a scenario and writes its tables into `place`, as [`write()`](crate::write()) does; those
/// that grow large are written while the run lasts. It holds
/// [`MOST_ROWS_HELD`](ackclock_sim::MOST_ROWS_HELD) rows of each, and of each file a row group
/// in encoded form, some 5 MB. The tables that come back lack the rows that were written
/// on the way; the names of those that do come back beside them.
///
/// # Errors
/// A scenario that cannot be run; a run that `meter` stopped; a file that cannot be written, and then none is touched.
pub fn simulate_to(
    ready: &Ready,
    place: &Place,
    meter: &Meter,
) -> Result<(Tables, Vec<&'static str>), SweepError> {
    let metadata = metadata_of(std::slice::from_ref(ready.scenario()));
    let mut writer = Writer { place, metadata: &metadata, open: Vec::new(), fault: None };
    let engine = ready.engine();
    let run = guarded(|| engine.simulate_into(ready.scenario(), &mut writer, meter))?;
    let run = run.ok_or(SweepError::Cancelled)?;
    check_conservation(&run).map_err(SweepError::Internal)?;
    if let Some(fault) = writer.fault {
        return Err(fault.into());
    }
    let tables = Tables::of_run(&run);
    let streamed = writer.open.iter().map(|(name, ..)| *name).collect();
    let mut files = Vec::new();
    for table in tables.all() {
        if writer.open.iter().any(|(name, ..)| *name == table.name) {
            writer.write(table)?;
        } else {
            files.push(stage_table(place, table, &metadata)?);
        }
    }
    for (_, open, staged) in writer.open {
        open.close().map_err(|error| failed(&staged, error))?;
        files.push(staged);
    }
    commit(place, files)?;
    Ok((tables, streamed))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn what_is_written_on_the_way_is_what_would_be_written_at_the_end() {
        // A probe of every packet at 100 Mbit/s: 8,333 packets of 1500 B a second, each sampled, both
        // ways, so that the samples exceed what is held.
        let scenario = crate::from_json(
            r#"{"duration": "12 s",
                "topology": {"kind": "dumbbell",
                    "bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"},
                    "access": {"rate": "1 Gbit/s", "delay": "1 ms"}},
                "flow": [{"name": "bulk", "variant": "cubic"}],
                "probe": [{"link": "bottleneck", "every": "change"}]}"#,
        )
        .unwrap();
        let folder = Scratch::new("stream");
        let meter = Meter::default();
        let ready = Ready::new(&scenario, None, &meter, || false).unwrap();
        let place = Place::open(&folder).unwrap();
        let (tables, streamed) = simulate_to(&ready, &place, &meter).unwrap();
        assert_eq!(streamed, ["link_samples"]);
        let whole = Tables::of_run(&crate::simulate_one(&ready).unwrap());
        let rows = whole.link_samples.batch.num_rows();
        assert!(rows > ackclock_sim::MOST_ROWS_HELD, "{rows}");
        assert!(tables.link_samples.batch.num_rows() < rows);
        let file = File::open(folder.join("link_samples.parquet")).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let column = |batch: &arrow_array::RecordBatch| batch.column(0).to_data();
        let read: Vec<_> = reader.map(Result::unwrap).collect();
        assert_eq!(read.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>(), rows);
        let first = read.first().unwrap();
        assert_eq!(column(first), column(&whole.link_samples.batch.slice(0, first.num_rows())));
        assert_eq!(tables.flows, whole.flows);
    }
}
