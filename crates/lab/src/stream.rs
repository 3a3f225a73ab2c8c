//! Tables that are written while the run lasts, so that a run of any length fits into memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use ackclock_sim::{Collector, Meter, Run, Scenario, simulate_into};
use parquet::arrow::ArrowWriter;

use crate::store::{Staged, StoreError, metadata_of, properties, write_table};
use crate::sweep::{SweepError, guarded};
use crate::table::{Table, Tables, check_conservation};

/// A table under way.
type Open = (&'static str, ArrowWriter<File>, Staged);

/// Writes the rows that a run hands on.
struct Writer<'a> {
    directory: &'a Path,
    metadata: &'a [(&'a str, String)],
    open: Vec<Open>,
    /// What went wrong first.
    fault: Option<StoreError>,
}

impl Writer<'_> {
    fn path(&self, table: &Table) -> PathBuf {
        self.directory.join(format!("{}.parquet", table.name))
    }

    fn write(&mut self, table: &Table) -> Result<(), StoreError> {
        let path = self.path(table);
        let failed = |error: parquet::errors::ParquetError| {
            StoreError::io(&path, &std::io::Error::other(error))
        };
        let at = self.open.iter().position(|(name, ..)| *name == table.name);
        let at = if let Some(at) = at {
            at
        } else {
            make_directory(self.directory)?;
            let (file, staged) = Staged::create(&path)?;
            let properties = properties(table, self.metadata).map_err(failed)?;
            let writer = ArrowWriter::try_new(file, table.batch.schema(), Some(properties))
                .map_err(failed)?;
            self.open.push((table.name, writer, staged));
            self.open.len() - 1
        };
        self.open[at].1.write(&table.batch).map_err(failed)
    }
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

fn make_directory(directory: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(directory).map_err(|error| StoreError::io(directory, &error))
}

/// Runs `scenario` and writes its tables into `directory`, as [`write()`](crate::write()) does; those
/// that grow large are written while the run lasts. It holds
/// [`MOST_ROWS_HELD`](ackclock_sim::MOST_ROWS_HELD) rows of each, and of each file a row group
/// in encoded form, some 5 MB. The tables that come back lack the rows that were written
/// on the way.
///
/// # Errors
/// A scenario that cannot be run; a run that `meter` stopped; a file that cannot be written, and then no file is replaced that was
/// not yet complete.
pub fn simulate_to(
    scenario: &Scenario,
    directory: &Path,
    meter: &Meter,
) -> Result<Tables, SweepError> {
    let metadata = metadata_of(std::slice::from_ref(scenario));
    let mut writer = Writer { directory, metadata: &metadata, open: Vec::new(), fault: None };
    let run = guarded(|| simulate_into(scenario, &mut writer, meter))?;
    let run = run.ok_or(SweepError::Cancelled)?;
    check_conservation(&run).map_err(SweepError::Internal)?;
    if let Some(fault) = writer.fault {
        return Err(fault.into());
    }
    let tables = Tables::of_run(&run);
    // Not before: an interrupted run leaves nothing, unless it is so large that files have begun.
    make_directory(directory)?;
    for table in tables.all() {
        if writer.open.iter().any(|(name, ..)| *name == table.name) {
            writer.write(table)?;
        } else {
            write_table(directory, table, &metadata)?;
        }
    }
    for (name, open, staged) in writer.open {
        let path = directory.join(format!("{name}.parquet"));
        let file = open
            .into_inner()
            .map_err(|error| StoreError::io(&path, &std::io::Error::other(error)))?;
        staged.commit(file)?;
    }
    Ok(tables)
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
        let tables = simulate_to(&scenario, &folder, &Meter::default()).unwrap();
        let whole = Tables::of_run(&crate::simulate_one(&scenario).unwrap());
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
