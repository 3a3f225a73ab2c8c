use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::scratch::Scratch;
use crate::{Run, from_json, simulate_many, simulate_one};

fn scenario(seed: u64) -> Scenario {
    let text = format!(
        r#"{{"duration": "2 s", "seed": {seed},
            "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "2 Mbit/s", "delay": "20 ms",
                    "queue": {{"kind": "droptail", "limit": "10 packet"}}}},
                "access": {{"rate": "10 Mbit/s", "delay": "1 ms"}}}},
            "flow": [{{"name": "a", "count": 2, "variant": "newreno",
                "start": {{"uniform": ["0 s", "1 s"]}}}}],
            "probe": [{{"flow": "a", "every": "change"}},
                {{"link": "bottleneck", "every": "100 ms"}}]}}"#
    );
    from_json(&text).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

fn read(path: &Path) -> (RecordBatch, BTreeMap<String, String>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let metadata = builder.metadata().file_metadata().key_value_metadata().unwrap().clone();
    let metadata = metadata.into_iter().map(|pair| (pair.key, pair.value.unwrap_or_default()));
    let metadata = metadata.filter(|(key, _)| key.starts_with("ackclock")).collect();
    let schema = std::sync::Arc::clone(builder.schema());
    let batches: Vec<_> =
        builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
    let batch = batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(schema));
    (batch, metadata)
}

#[test]
fn what_is_written_is_read_back() {
    let folder = Scratch::new("round-trip");
    let scenario = scenario(1);
    let tables = Tables::of_run(&simulate_one(&scenario).unwrap());
    write(&folder.join("a/b"), &tables, std::slice::from_ref(&scenario)).unwrap();
    for table in tables.all() {
        let (batch, metadata) = read(&folder.join(format!("a/b/{}.parquet", table.name)));
        assert_eq!(batch.columns(), table.batch.columns(), "{}", table.name);
        assert_eq!(metadata["ackclock.seed"], "1");
        assert_eq!(metadata["ackclock.version"], version());
        assert_eq!(metadata["ackclock.scenario"], to_json(&scenario));
    }
    assert_eq!(files(&folder.join("a/b")).len(), 11, "no temporary file is left");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let scenarios: Vec<Scenario> = (0..8).map(scenario).collect();
    let written = |threads: usize| {
        let folder = Scratch::new(&format!("threads-{threads}"));
        let runs = simulate_many(&scenarios, Some(threads), |_| (), || false).unwrap();
        write(&folder, &Tables::of_cells(&runs), &scenarios).unwrap();
        files(&folder)
    };
    let one = written(1);
    assert_eq!(
        one.keys().map(|name| &**name).collect::<Vec<_>>(),
        [
            "connections.parquet",
            "crossings.parquet",
            "flow_samples.parquet",
            "flows.parquet",
            "link_samples.parquet",
            "links.parquet",
            "objects.parquet",
            "pages.parquet",
            "quick_start.parquet",
            "scenarios.parquet",
            "sources.parquet",
            "videos.parquet",
        ]
    );
    assert!(one == written(2), "the bytes differ");
}

#[test]
fn the_scenarios_of_a_sweep_are_a_table() {
    let folder = Scratch::new("scenarios");
    let scenarios = [scenario(3), scenario(u64::MAX)];
    write(&folder, &Tables::of_cells(&[Run::default(), Run::default()]), &scenarios).unwrap();
    let (batch, metadata) = read(&folder.join("scenarios.parquet"));
    assert_eq!(batch.num_rows(), 2);
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["ackclock.version"]);
}

#[test]
fn a_failure_leaves_what_was_there() {
    let folder = Scratch::new("failure");
    let path = folder.join("x.parquet");
    fs::write(&path, "old").unwrap();
    let error = write_atomically(&path, |file| {
        file.write_all(b"half")?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    });
    assert!(
        error.unwrap_err().to_string().ends_with("x.parquet: cannot be written (no storage space)")
    );
    assert_eq!(files(&folder), BTreeMap::from([("x.parquet".to_owned(), b"old".to_vec())]));
    write_atomically(&path, |file| file.write_all(b"new")).unwrap();
    assert_eq!(files(&folder), BTreeMap::from([("x.parquet".to_owned(), b"new".to_vec())]));
}

#[test]
fn a_file_in_the_place_of_the_folder_is_told() {
    let folder = Scratch::new("file");
    fs::write(folder.join("out"), "").unwrap();
    let tables = Tables::of_run(&Run::default());
    for place in ["out", "out/below"] {
        let error = write(&folder.join(place), &tables, &[scenario(1)]).unwrap_err().to_string();
        assert!(error.ends_with(&format!("{place}: is a file, expected a folder")), "{error}");
    }
}
