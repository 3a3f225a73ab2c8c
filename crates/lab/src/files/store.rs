//! Parquet on disk: whole or not at all, and the same bytes for the same runs.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use ackclock_results::{Columns, Table, Tables};
use ackclock_sim::Scenario;
use ackclock_writer::{Place, Staged, WriteError};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::files::checked::{CheckedWriter, ROW_GROUP_ROWS};
use crate::version;
use ackclock_input::{BadInput, problem, to_json};

/// Bytes of a page and of a dictionary, which a writer holds for each column before they are encoded.
const PAGE_BYTES: usize = 1 << 17;

/// Smaller files than the default level 1 gives, at little cost.
const ZSTD_LEVEL: i32 = 3;

/// Tables in which hardly a time or a connection's number comes twice, and whose counts are small. To look for what
/// does come twice takes a third of the time of writing, and next to nothing is gained.
const OF_EVENTS: [&str; 3] = ["connections", "objects", "pages"];

const SCENARIOS: &str = "scenarios.parquet";
const LIVE: &str = "live.json";
const THEORY: &str = "theory.json";

/// Reads a table that [`write()`] wrote, or of its columns those that are named.
///
/// # Errors
/// The file cannot be read, or is no whole Parquet file.
pub fn read_table(path: &Path, columns: Option<&[String]>) -> Result<RecordBatch, BadInput> {
    let refuse = |why: String| BadInput::new(format_args!("{}: {why}", path.display()));
    let file = ackclock_input::open(path).map_err(|error| refuse(problem(&error)))?;
    let no_table = |why: String| refuse(format!("{why}, expected a table that a run wrote"));
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| no_table(error.to_string()))?;
    if let Some(names) = columns {
        let names = names.iter().map(String::as_str);
        let mask = ProjectionMask::columns(builder.parquet_schema(), names);
        builder = builder.with_projection(mask);
    }
    // All in one batch, so that a column's names have one dictionary.
    let rows = builder.metadata().file_metadata().num_rows();
    let rows = usize::try_from(rows).unwrap_or(usize::MAX).max(1);
    let mut batches =
        builder.with_batch_size(rows).build().map_err(|error| no_table(error.to_string()))?;
    let schema = batches.schema();
    match batches.next() {
        None => Ok(RecordBatch::new_empty(schema)),
        Some(batch) => batch.map_err(|error| no_table(error.to_string())),
    }
}

/// Tries what the files of a run will be called in `place`, before it begins.
///
/// # Errors
/// Where a file is to be there is a folder.
pub fn expect_tables(place: &Place) -> Result<(), WriteError> {
    let names: Vec<String> =
        Tables::ROWS.iter().map(|(table, _)| format!("{table}.parquet")).collect();
    place.expect(names.iter().map(|name| &**name).chain([SCENARIOS, LIVE, THEORY]))
}

/// Writes every table as `<table>.parquet`, all of them together.
///
/// With one scenario the files' metadata hold it, its seed and the version. With several, one a cell,
/// the scenarios are a table of their own, `scenarios.parquet`, with a row a cell.
///
/// # Errors
/// The first file that cannot be written; then none is touched.
pub fn write(place: &Place, tables: &Tables, scenarios: &[Scenario]) -> Result<(), WriteError> {
    let files = stage_all(place, tables, scenarios, &metadata_of(scenarios))?;
    commit(place, files)
}

/// Writes the tables of a run that has a report: of a live run, or of theory. The report (JSON text) stands in the files' metadata
/// and, to be read by people, in `live.json` or `theory.json`.
///
/// # Errors
/// As those of [`write`](fn@write).
pub fn write_reported(
    place: &Place,
    tables: &Tables,
    scenario: &Scenario,
    report: &Report,
) -> Result<(), WriteError> {
    let scenarios = std::slice::from_ref(scenario);
    let mut metadata = metadata_of(scenarios);
    let (substrate, key, file, text) = match report {
        Report::Live(text) => ("live", "ackclock.live", LIVE, text),
        Report::Linux(text) => ("linux", "ackclock.live", LIVE, text),
        Report::Theory(text) => ("theory", "ackclock.theory", THEORY, text),
    };
    metadata.push(("ackclock.substrate", substrate.to_owned()));
    metadata.push((key, text.clone()));
    let mut files = stage_all(place, tables, scenarios, &metadata)?;
    files.push(place.stage(file, |file| writeln!(file, "{text}"))?);
    commit(place, files)
}

/// The report of a run on another substrate than the simulator, as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A live run's: says if the run is a measurement.
    Live(String),
    /// Report of a live run inside a kernel in virtual time, with that kernel.
    Linux(String),
    /// Which closed forms answered, and whether they are to be believed.
    Theory(String),
}

fn stage_all(
    place: &Place,
    tables: &Tables,
    scenarios: &[Scenario],
    metadata: &[(&str, String)],
) -> Result<Vec<Staged>, WriteError> {
    let mut files = Vec::new();
    if scenarios.len() != 1 {
        let texts: Vec<String> = scenarios.iter().map(to_json).collect();
        // As text: a seed may be any 64 bits.
        let seeds: Vec<String> = scenarios.iter().map(|s| s.seed.to_string()).collect();
        let cells = Columns::default()
            .count("cell", (0..).take(scenarios.len()))
            .text("seed", seeds.iter().map(|seed| &**seed))
            .text("scenario", texts.iter().map(|text| &**text))
            .table("scenarios");
        files.push(stage_table(place, &cells, metadata)?);
    }
    for table in tables.all() {
        files.push(stage_table(place, table, metadata)?);
    }
    Ok(files)
}

/// Gives the files of a run their names. Files that it has not, and a run before it had, go.
pub(crate) fn commit(place: &Place, files: Vec<Staged>) -> Result<(), WriteError> {
    let has = |name: &&str| files.iter().any(|staged| staged.path().ends_with(name));
    let gone: Vec<&str> = [SCENARIOS, LIVE, THEORY].into_iter().filter(|name| !has(name)).collect();
    place.commit(files, &gone)
}

/// The metadata in files of the tables of these scenarios.
pub(crate) fn metadata_of(scenarios: &[Scenario]) -> Vec<(&'static str, String)> {
    let mut metadata = vec![("ackclock.version", version().to_owned())];
    if let [scenario] = scenarios {
        metadata.push(("ackclock.seed", scenario.seed.to_string()));
        metadata.push(("ackclock.scenario", to_json(scenario)));
    }
    metadata
}

pub(crate) fn stage_table(
    place: &Place,
    table: &Table,
    metadata: &[(&str, String)],
) -> Result<Staged, WriteError> {
    let name = format!("{}.parquet", table.name);
    place.stage(&name, |file| encode(file, table, metadata).map_err(io_error))
}

/// The system's error, where Parquet reports one.
pub(crate) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// The settings with which tables are written: one thread, fixed sizes, and nothing of time, host
/// or build.
pub(crate) fn properties(
    table: &Table,
    metadata: &[(&str, String)],
) -> Result<WriterProperties, ParquetError> {
    let metadata = metadata
        .iter()
        .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()))
        .collect();
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("ackclock version {}", version()))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        // Places of pages are no longer known when their checksums are in the file.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_dictionary_page_size_limit(PAGE_BYTES)
        .set_key_value_metadata(Some(metadata));
    for field in table.batch.schema().fields() {
        let encoding = match field.data_type() {
            // Byte by byte, as the first bytes of times are much alike and the last are not.
            DataType::Float64 => Encoding::BYTE_STREAM_SPLIT,
            DataType::Int64 => Encoding::DELTA_BINARY_PACKED,
            _ => continue,
        };
        if OF_EVENTS.contains(&table.name) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, encoding);
        }
    }
    Ok(properties.build())
}

/// The table as Parquet.
fn encode(file: &mut File, table: &Table, metadata: &[(&str, String)]) -> Result<(), ParquetError> {
    let properties = properties(table, metadata)?;
    let mut writer = CheckedWriter::new(file, table.batch.schema(), &properties)?;
    writer.write(&table.batch)?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests;
