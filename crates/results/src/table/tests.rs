use ackclock_sim::records::{FlowSamples, LinkSamples, Objects};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};

use super::*;

fn run(names: &[&str], flow: &[u32]) -> Run {
    let n = flow.len();
    Run {
        flow_names: names.iter().map(|name| (*name).to_owned()).collect(),
        flow_samples: FlowSamples {
            time_ns: vec![1_500_000_000; n],
            flow: flow.to_vec(),
            cwnd_segments: vec![2.0; n],
            ssthresh_segments: vec![f64::NAN; n],
            srtt_s: vec![f64::NAN; n],
            in_flight_segments: vec![1.0; n],
            playout_s: vec![f64::NAN; n],
            acked_bytes: vec![1460; n],
            outstanding_bytes: vec![1460; n],
            segments_retransmitted: vec![1; n],
            resent_at_bytes: vec![f64::NAN; n],
        },
        link_names: [("bottleneck".into(), "forward"), ("bottleneck".into(), "reverse")].into(),
        link_samples: LinkSamples {
            time_ns: vec![7],
            link: vec![1],
            queue_packets: vec![1],
            queue_bytes: vec![1500],
            delivered_flow_packets: vec![3],
            delivered_cross_packets: vec![4],
            dropped_packets: vec![5],
            marked_packets: vec![2],
        },
        objects: Objects {
            flow: vec![0, 0],
            connection: vec![0, 0],
            object: vec![0, 1],
            bytes: vec![1460, 20],
            requested_ns: vec![0, 1_000_000_000],
            first_byte_ns: vec![500_000_000, Objects::NOT_YET],
            completed_ns: vec![750_000_000, Objects::NOT_YET],
        },
        events: 10,
        ..Run::default()
    }
}

fn names_of(batch: &RecordBatch, column: &str) -> Vec<String> {
    let names = batch.column_by_name(column).unwrap().as_dictionary::<Int32Type>();
    let words = names.values().as_string::<i32>();
    names
        .keys()
        .values()
        .iter()
        .map(|key| words.value(usize::try_from(*key).unwrap()).into())
        .collect()
}

#[test]
fn what_was_not_recorded_is_null() {
    let tables = Tables::of_run(&run(&["a"], &[0, 0]));
    let batch = &tables.flow_samples.batch;
    assert_eq!(batch.column_by_name("ssthresh_segments").unwrap().null_count(), 2);
    assert_eq!(batch.column_by_name("cwnd_segments").unwrap().null_count(), 0);
    let time = batch.column_by_name("time_s").unwrap().as_primitive::<Float64Type>();
    assert_eq!(time.values(), &[1.5, 1.5]);
    // 1460 bytes are acknowledged, and as many are outstanding.
    let sent = batch.column_by_name("sent_bytes").unwrap();
    assert_eq!(sent.as_primitive::<arrow_array::types::Int64Type>().values(), &[2920, 2920]);
}

#[test]
fn an_object_that_has_not_arrived_has_no_times() {
    let batch = Tables::of_run(&run(&["a"], &[0])).objects.batch;
    let column = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>();
    assert_eq!(column("requested_s").values(), &[0.0, 1.0]);
    assert_eq!(column("completed_s").iter().collect::<Vec<_>>(), [Some(0.75), None]);
    assert_eq!(column("first_byte_s").iter().collect::<Vec<_>>(), [Some(0.5), None]);
    assert_eq!(names_of(&batch, "flow"), ["a", "a"]);
}

#[test]
fn an_event_has_its_word_and_the_state_after_it() {
    let mut run = run(&["a", "b"], &[]);
    let (time_ns, kind) = (1_500_000_000, FlowEventKind::IdleRestart);
    let ssthresh_segments = f64::NAN;
    let row = FlowEventRow {
        time_ns,
        flow: 1,
        kind,
        cwnd_segments: 10.0,
        ssthresh_segments,
        acked_bytes: 1460,
    };
    run.flow_events = vec![row];
    let batch = Tables::of_run(&run).flow_events.batch;
    assert_eq!(names_of(&batch, "flow"), ["b"]);
    assert_eq!(names_of(&batch, "event"), ["idle_restart"]);
    assert_eq!(batch.column_by_name("ssthresh_segments").unwrap().null_count(), 1);
}

#[test]
fn cells_keep_their_own_names() {
    let runs = [run(&["a", "b"], &[1, 0]), run(&["c", "a"], &[0, 1])];
    let tables = Tables::of_cells(&runs);
    let batch = &tables.flow_samples.batch;
    assert_eq!(names_of(batch, "flow"), ["b", "a", "c", "a"]);
    assert_eq!(
        batch.column(0).as_primitive::<arrow_array::types::Int64Type>().values(),
        &[0, 0, 1, 1]
    );
    assert_eq!(batch.schema().field(0).name(), "cell");
    assert_eq!(names_of(&tables.link_samples.batch, "direction"), ["reverse", "reverse"]);
    assert_eq!(tables.events, 20);
}

#[test]
fn an_empty_run_has_every_column() {
    let tables = Tables::of_run(&Run::default());
    let columns: Vec<usize> =
        tables.all().into_iter().map(|table| table.batch.num_columns()).collect();
    assert_eq!(columns, [25, 21, 7, 6, 7, 16, 11, 14, 10, 6, 11, 5, 9]);
    assert_eq!(Tables::of_cells(&[]).flows.batch.num_columns(), 26);
}

#[test]
fn a_packet_without_account_is_found() {
    let mut row = LinkRow {
        measure: "run".into(),
        link: "bottleneck".into(),
        direction: "forward",
        duration_s: 1.0,
        utilisation: 0.5,
        offered_packets: 10,
        offered_bytes: 15_000,
        delivered_packets: 7,
        delivered_bytes: 10_500,
        dropped_packets: 2,
        dropped_bytes: 3_000,
        dropped_early_packets: 1,
        marked_packets: 0,
        lost_packets: 0,
        reordered_packets: 0,
        duplicated_packets: 0,
        corrupted_packets: 0,
        queued_packets: 1,
        queued_bytes: 1_500,
        queue_delay_mean_s: None,
        queue_delay_p99_s: None,
    };
    let check =
        |row: &LinkRow| check_conservation(&Run { links: vec![row.clone()], ..Run::default() });
    check(&row).unwrap();
    row.delivered_bytes += 1;
    assert_eq!(
        check(&row).unwrap_err(),
        "link bottleneck forward: 15000 bytes offered, but 10501 delivered + 3000 dropped + 1500 queued"
    );
    row.measure = "middle".into();
    check(&row).unwrap();
}
