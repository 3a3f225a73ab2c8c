use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use ackclock_sim::Meter;

use super::*;
use crate::scratch::Scratch;
use crate::{Ready, Run, from_json, simulate_many, simulate_one};

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

fn ready(scenario: &Scenario) -> Ready {
    Ready::new(scenario, None, &Meter::default(), || false).unwrap()
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
    let tables = Tables::of_run(&simulate_one(&ready(&scenario)).unwrap());
    write(&Place::open(&folder.join("a/b")).unwrap(), &tables, std::slice::from_ref(&scenario))
        .unwrap();
    for table in tables.all() {
        let (batch, metadata) = read(&folder.join(format!("a/b/{}.parquet", table.name)));
        assert_eq!(batch.columns(), table.batch.columns(), "{}", table.name);
        let batch = read_table(&folder.join(format!("a/b/{}.parquet", table.name)), None).unwrap();
        assert_eq!(batch.columns(), table.batch.columns(), "{}", table.name);
        assert_eq!(metadata["ackclock.seed"], "1");
        assert_eq!(metadata["ackclock.version"], version());
        assert_eq!(metadata["ackclock.scenario"], to_json(&scenario));
    }
    let path = folder.join("a/b/flow_samples.parquet");
    let some = read_table(&path, Some(&["time_s".to_owned(), "flow".to_owned()])).unwrap();
    let samples = &tables.flow_samples.batch;
    assert_eq!(some.column_by_name("flow"), samples.column_by_name("flow"));
    assert_eq!((some.num_columns(), some.num_rows()), (2, samples.num_rows()));
    assert_eq!(read_table(&path, Some(&[])).unwrap().num_rows(), samples.num_rows());
    assert_eq!(files(&folder.join("a/b")).len(), 13, "no temporary file is left");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let scenarios: Vec<Scenario> = (0..8).map(scenario).collect();
    let written = |threads: usize| {
        let folder = Scratch::new(&format!("threads-{threads}"));
        let scenarios_ready: Vec<Ready> = scenarios.iter().map(ready).collect();
        let runs = simulate_many(&scenarios_ready, Some(threads), |_| (), || false).unwrap();
        write(&Place::open(&folder).unwrap(), &Tables::of_cells(&runs), &scenarios).unwrap();
        files(&folder)
    };
    let one = written(1);
    assert_eq!(
        one.keys().map(|name| &**name).collect::<Vec<_>>(),
        [
            "connections.parquet",
            "crossings.parquet",
            "flow_events.parquet",
            "flow_samples.parquet",
            "flows.parquet",
            "law_samples.parquet",
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
    write(
        &Place::open(&folder).unwrap(),
        &Tables::of_cells(&[Run::default(), Run::default()]),
        &scenarios,
    )
    .unwrap();
    let (batch, metadata) = read(&folder.join("scenarios.parquet"));
    assert_eq!(batch.num_rows(), 2);
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["ackclock.version"]);
}

#[test]
fn the_tables_of_two_kinds_of_runs_do_not_lie_side_by_side() {
    let folder = Scratch::new("kinds");
    let tables = Tables::of_run(&Run::default());
    let place = Place::open(&folder).unwrap();
    write_reported(&place, &tables, &scenario(1), &Report::Theory("{}".into())).unwrap();
    assert!(files(&folder).contains_key("theory.json"));
    write_reported(&place, &tables, &scenario(1), &Report::Linux("{}".into())).unwrap();
    let (_, metadata) = read(&folder.join("flows.parquet"));
    assert_eq!(metadata["ackclock.substrate"], "linux");
    write_reported(&place, &tables, &scenario(1), &Report::Live("{}".into())).unwrap();
    assert!(
        files(&folder).contains_key("live.json") && !files(&folder).contains_key("theory.json")
    );
    write(&place, &tables, &[scenario(1), scenario(2)]).unwrap();
    assert!(!files(&folder).contains_key("live.json"));
    assert!(files(&folder).contains_key("scenarios.parquet"));
    write(&place, &tables, &[scenario(1)]).unwrap();
    assert_eq!(files(&folder).len(), 13);
}

#[test]
fn a_folder_in_the_place_of_a_table_is_told_before_the_run() {
    let folder = Scratch::new("folder");
    fs::create_dir(folder.join("links.parquet")).unwrap();
    let error = expect_tables(&Place::open(&folder).unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("links.parquet: is a folder, expected a file (EISDIR)"), "{error}");
}

#[test]
fn a_file_that_is_no_table_is_refused_in_one_line() {
    let folder = Scratch::new("no-table");
    let refused = |name: &str| read_table(&folder.join(name), None).unwrap_err().to_string();
    assert!(refused("none.parquet").ends_with("none.parquet: no such file"));
    fs::write(folder.join("text.parquet"), "two.toml").unwrap();
    assert!(refused("text.parquet").ends_with("expected a table that a run wrote"));
    fs::create_dir(folder.join("folder.parquet")).unwrap();
    assert!(refused("folder.parquet").contains("folder"));
}
