//! The throughput of flows over time, from the samples of their probes.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
};

use ackclock_input::BadInput;

/// The most rows that are made.
const MOST_ROWS: f64 = 1e7;

/// The samples of a flow: the data that was acknowledged by each time.
struct Acked<'a> {
    flow: &'a str,
    times_s: Vec<f64>,
    bytes: Vec<f64>,
}

impl Acked<'_> {
    /// Adds a sample. The last of several of one moment is the state after it.
    fn push(&mut self, time_s: f64, bytes: f64) {
        if self.times_s.last().is_some_and(|&last| time_s <= last) {
            self.times_s.pop();
            self.bytes.pop();
        }
        self.times_s.push(time_s);
        self.bytes.push(bytes);
    }

    /// The data acknowledged by a time: between two samples evenly, beyond them as at the nearest.
    fn at(&self, time_s: f64) -> f64 {
        let after = self.times_s.partition_point(|&each| each <= time_s);
        if after == 0 {
            return self.bytes[0];
        }
        let (from_s, from) = (self.times_s[after - 1], self.bytes[after - 1]);
        match (self.times_s.get(after), self.bytes.get(after)) {
            (Some(to_s), Some(to)) => (to - from) / (to_s - from_s) * (time_s - from_s) + from,
            _ => from,
        }
    }
}

/// The data that was acknowledged in each interval of `every_s` up to `end_s`, over its length: `time_s` (its
/// beginning), `flow`, `throughput_bps`. `samples` is the table `flow_samples`, of which the rows of `cell` are taken.
///
/// # Errors
/// The intervals have no length, or there would be more than ten million rows.
pub fn throughput(
    samples: &RecordBatch,
    every_s: f64,
    end_s: f64,
    cell: Option<i64>,
) -> Result<RecordBatch, BadInput> {
    let refuse = |why: String| Err(BadInput::new(format_args!("throughput: {why}")));
    if every_s <= 0.0 {
        return refuse("every: expected a time above 0".to_owned());
    }
    let Some(flows) = acked(samples, cell) else {
        return refuse("expected the table `flow_samples`".to_owned());
    };
    if end_s / every_s * flows.len().max(1) as f64 > MOST_ROWS {
        return refuse(format!("every: {every_s} s is too short, expected fewer intervals"));
    }
    let mut edges: Vec<f64> = (0..=u32::MAX)
        .map(|index| f64::from(index) * every_s)
        .take_while(|&edge| edge < end_s + 1e-9 * every_s)
        .collect();
    if edges.last().is_some_and(|&last| end_s - last > 1e-6 * every_s) {
        edges.push(end_s);
    }
    let intervals = edges.len().saturating_sub(1);
    let rows = flows.len() * intervals;
    let (mut times, mut names, mut rates) =
        (Vec::with_capacity(rows), Vec::with_capacity(rows), Vec::with_capacity(rows));
    for of in &flows {
        for edge in edges.windows(2) {
            times.push(edge[0]);
            names.push(of.flow);
            rates.push(8.0 * (of.at(edge[1]) - of.at(edge[0])) / (edge[1] - edge[0]));
        }
    }
    let columns: [(&str, ArrayRef); 3] = [
        ("time_s", Arc::new(Float64Array::from(times))),
        ("flow", Arc::new(StringArray::from(names))),
        ("throughput_bps", Arc::new(Float64Array::from(rates))),
    ];
    RecordBatch::try_from_iter(columns).map_err(BadInput::new)
}

/// The flows in the order of their first samples; none if the columns are not those of samples.
fn acked(samples: &RecordBatch, cell: Option<i64>) -> Option<Vec<Acked<'_>>> {
    let column = |name| samples.column_by_name(name).map(Array::as_any);
    let times = column("time_s")?.downcast_ref::<Float64Array>()?;
    let bytes = column("acked_bytes")?.downcast_ref::<Int64Array>()?;
    let flows = column("flow")?.downcast_ref::<DictionaryArray<Int32Type>>()?;
    let names = flows.values().as_any().downcast_ref::<StringArray>()?;
    let cells = match cell {
        None => None,
        Some(cell) => Some((cell, column("cell")?.downcast_ref::<Int64Array>()?)),
    };
    let mut found: Vec<Acked<'_>> = Vec::new();
    // The place in `found` of each name of the dictionary.
    let mut places = vec![None; names.len()];
    for row in 0..samples.num_rows() {
        if cells.is_some_and(|(cell, cells)| cells.value(row) != cell) {
            continue;
        }
        let key = flows.key(row)?;
        let place = *places[key].get_or_insert_with(|| {
            found.push(Acked { flow: names.value(key), times_s: Vec::new(), bytes: Vec::new() });
            found.len() - 1
        });
        found[place].push(times.value(row), bytes.value(row) as f64);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rows: &[(i64, f64, &str, i64)]) -> RecordBatch {
        let flows: DictionaryArray<Int32Type> = rows.iter().map(|row| row.2).collect();
        let columns: [(&str, ArrayRef); 4] = [
            ("cell", Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int64Array>())),
            ("time_s", Arc::new(rows.iter().map(|row| Some(row.1)).collect::<Float64Array>())),
            ("flow", Arc::new(flows)),
            ("acked_bytes", Arc::new(rows.iter().map(|row| Some(row.3)).collect::<Int64Array>())),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn rates(table: &RecordBatch) -> Vec<f64> {
        table.column(2).as_any().downcast_ref::<Float64Array>().unwrap().values().to_vec()
    }

    #[test]
    fn data_is_acknowledged_evenly_between_two_samples() {
        let rows =
            [(0, 0.0, "a", 0), (0, 2.0, "a", 1000), (0, 2.0, "a", 2000), (0, 3.0, "a", 2000)];
        // The state at 2 s is 2000 B: 1000 B in each of the first two seconds (8000 bit/s), and nothing later. The last
        // interval is half as long.
        let table = throughput(&samples(&rows), 1.0, 3.5, None).unwrap();
        assert_eq!(rates(&table), [8000.0, 8000.0, 0.0, 0.0]);
        // 0.75 s: 750 B before, so 8000 bit/s again; of the last 0.5 s nothing.
        let table = throughput(&samples(&rows), 0.75, 3.5, None).unwrap();
        assert_eq!(rates(&table).len(), 5);
        // From 1.5 s to 2.25 s: 500 B in 0.75 s.
        assert!((rates(&table)[2] - 8.0 * 500.0 / 0.75).abs() < 1e-9);
    }

    #[test]
    fn flows_and_cells_are_told_apart() {
        let rows = [
            (0, 0.0, "b", 0),
            (0, 0.0, "a", 0),
            (0, 1.0, "a", 125),
            (0, 1.0, "b", 250),
            (1, 0.0, "a", 0),
            (1, 1.0, "a", 500),
        ];
        assert_eq!(
            rates(&throughput(&samples(&rows), 1.0, 1.0, Some(0)).unwrap()),
            [2000.0, 1000.0]
        );
        assert_eq!(rates(&throughput(&samples(&rows), 1.0, 1.0, Some(1)).unwrap()), [4000.0]);
        assert_eq!(throughput(&samples(&rows), 1.0, 1.0, Some(2)).unwrap().num_rows(), 0);
    }

    #[test]
    fn intervals_that_are_too_many_are_refused() {
        let rows = [(0, 0.0, "a", 0)];
        let refused =
            |every| throughput(&samples(&rows), every, 60.0, None).unwrap_err().to_string();
        assert_eq!(refused(0.0), "throughput: every: expected a time above 0");
        assert!(refused(1e-6).ends_with("is too short, expected fewer intervals"));
    }
}
