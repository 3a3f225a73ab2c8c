//! Parquet on disk: whole or not at all, and the same bytes for the same runs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use ackclock_sim::Scenario;
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::input::{printable, to_json};
use crate::table::{Columns, Table, Tables};
use crate::version;

/// Rows of a row group, which a writer holds in encoded form: some 5 MB, and enough for what reads
/// them by column.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Bytes of a page and of a dictionary, which a writer holds for each column before they are encoded.
const PAGE_BYTES: usize = 1 << 17;

/// Smaller files than the default level 1 gives, at little cost.
const ZSTD_LEVEL: i32 = 3;

/// Tables in which hardly a time or a connection's number comes twice, and whose counts are small. To look for what
/// does come twice takes a third of the time of writing, and next to nothing is gained.
const OF_EVENTS: [&str; 3] = ["connections", "objects", "pages"];

/// Why a result could not be kept: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", printable(path, 500))]
pub struct StoreError {
    path: String,
    problem: String,
}

impl StoreError {
    fn new(path: &Path, problem: &impl ToString) -> Self {
        Self { path: path.display().to_string(), problem: printable(&problem.to_string(), 500) }
    }

    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                Self::new(path, &"is a file, expected a folder")
            }
            io::ErrorKind::NotFound => Self::new(path, &"no such folder"),
            kind => Self::new(path, &format!("cannot be written ({kind})")),
        }
    }
}

/// Writes every table as `<directory>/<table>.parquet`, and makes the directory if there is none.
///
/// With one scenario the files' metadata hold it, its seed and the version. With several, one a cell,
/// the scenarios are a table of their own, `scenarios.parquet`, with a row a cell.
///
/// # Errors
/// The first file that cannot be written. Files are replaced whole or not touched.
pub fn write(directory: &Path, tables: &Tables, scenarios: &[Scenario]) -> Result<(), StoreError> {
    write_with(directory, tables, scenarios, &metadata_of(scenarios))
}

/// The same of a live run, whose `report` (JSON text) stands in the files' metadata and, to be read by
/// people, in `live.json`.
///
/// # Errors
/// As those of [`write`](fn@write).
pub fn write_live(
    directory: &Path,
    tables: &Tables,
    scenario: &Scenario,
    report: &str,
) -> Result<(), StoreError> {
    let scenarios = std::slice::from_ref(scenario);
    let mut metadata = metadata_of(scenarios);
    metadata.push(("ackclock.substrate", "live".to_owned()));
    metadata.push(("ackclock.live", report.to_owned()));
    write_with(directory, tables, scenarios, &metadata)?;
    write_atomically(&directory.join("live.json"), |file| writeln!(file, "{report}"))
}

fn write_with(
    directory: &Path,
    tables: &Tables,
    scenarios: &[Scenario],
    metadata: &[(&str, String)],
) -> Result<(), StoreError> {
    fs::create_dir_all(directory).map_err(|error| StoreError::io(directory, &error))?;
    if scenarios.len() != 1 {
        let texts: Vec<String> = scenarios.iter().map(to_json).collect();
        // As text: a seed may be any 64 bits.
        let seeds: Vec<String> = scenarios.iter().map(|s| s.seed.to_string()).collect();
        let cells = Columns::default()
            .count("cell", (0..).take(scenarios.len()))
            .text("seed", seeds.iter().map(|seed| &**seed))
            .text("scenario", texts.iter().map(|text| &**text))
            .table("scenarios");
        write_table(directory, &cells, metadata)?;
    }
    tables.all().into_iter().try_for_each(|table| write_table(directory, table, metadata))
}

/// What files of the tables of these scenarios tell of them.
pub(crate) fn metadata_of(scenarios: &[Scenario]) -> Vec<(&'static str, String)> {
    let mut metadata = vec![("ackclock.version", version().to_owned())];
    if let [scenario] = scenarios {
        metadata.push(("ackclock.seed", scenario.seed.to_string()));
        metadata.push(("ackclock.scenario", to_json(scenario)));
    }
    metadata
}

pub(crate) fn write_table(
    directory: &Path,
    table: &Table,
    metadata: &[(&str, String)],
) -> Result<(), StoreError> {
    let path = directory.join(format!("{}.parquet", table.name));
    write_atomically(&path, |file| encode(file, table, metadata).map_err(io::Error::other))
}

/// How tables are written: one thread, fixed sizes, and nothing of time, host or build.
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
    let mut writer = ArrowWriter::try_new(file, table.batch.schema(), Some(properties))?;
    writer.write(&table.batch)?;
    writer.close()?;
    Ok(())
}

/// Writes a file by `fill` under another name, and gives it its own once all of it is on disk.
///
/// # Errors
/// `fill`'s error, or the file system's; whatever stood at `path` then still stands there.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let (mut file, staged) = Staged::create(path)?;
    fill(&mut file).map_err(|error| StoreError::io(path, &error))?;
    staged.commit(file)
}

/// A file under another name until all of it is there; one that is dropped before goes.
#[derive(Debug)]
pub(crate) struct Staged {
    path: PathBuf,
    temporary: Temporary,
}

impl Staged {
    /// A new file beside `path`.
    pub(crate) fn create(path: &Path) -> Result<(File, Self), StoreError> {
        // Two writers of one path must not share the temporary file.
        static WRITERS: AtomicU32 = AtomicU32::new(0);
        let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}-{writer}.part", process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(|error| StoreError::io(path, &error))?;
        Ok((file, Self { path: path.to_owned(), temporary: Temporary(temporary) }))
    }

    /// Where it will stand.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file, of which everything is written, its name.
    pub(crate) fn commit(self, mut file: File) -> Result<(), StoreError> {
        let Self { path, temporary } = &self;
        file.flush()
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&temporary.0, path))
            .and_then(|()| {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
            })
            .map_err(|error| StoreError::io(path, &error))
    }
}

/// A file that goes when it was not renamed.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing left to remove.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests;
