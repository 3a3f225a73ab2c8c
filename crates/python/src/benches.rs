//! The workloads that the engine's speed is measured with.

use ackclock_lab::{BenchResult, Ticket};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::background::{Work, in_background};

/// Run W(flows, rate) behind a ``queue`` once; return ``delivered_packets``, ``events``, ``utilisation``,
/// ``dropped_packets`` and ``connections``.
#[pyfunction]
#[pyo3(signature = (flows, rate_bps, duration_s, variant, queue = "droptail"))]
pub fn bench_dumbbell<'py>(
    py: Python<'py>,
    flows: u32,
    rate_bps: u64,
    duration_s: f64,
    variant: &str,
    queue: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (variant, queue) = (variant.to_owned(), queue.to_owned());
    let job = move |_: &Ticket| {
        ackclock_lab::bench_dumbbell(flows, rate_bps, duration_s, &variant, &queue)
    };
    bench_dict(py, &in_background(py, Work::default(), job)?)
}

/// Run the workload of short connections once, ``count`` of them; return what ``bench_dumbbell`` does.
#[pyfunction]
#[pyo3(signature = (count, variant, queue = "droptail"))]
pub fn bench_short<'py>(
    py: Python<'py>,
    count: u64,
    variant: &str,
    queue: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (variant, queue) = (variant.to_owned(), queue.to_owned());
    let job = move |_: &Ticket| ackclock_lab::bench_short(count, &variant, &queue);
    bench_dict(py, &in_background(py, Work::default(), job)?)
}

/// A router in memory: ``kind`` is ``ignorant``, ``lowering`` or ``admitting``, ``share`` that of packets
/// with a Quick-Start request.
#[pyclass]
pub struct RouterBench(ackclock_lab::RouterBench);

#[pymethods]
impl RouterBench {
    #[new]
    fn new(kind: &str, share: f64, slot_ns: u64, spacing_ns: u64, seed: u64) -> PyResult<Self> {
        let known = ackclock_lab::BenchRouter::ALL;
        let (_, kind) = known
            .into_iter()
            .find(|(name, _)| *name == kind)
            .ok_or_else(|| PyValueError::new_err(format!("unknown router `{kind}`")))?;
        Ok(Self(ackclock_lab::RouterBench::new(kind, share, slot_ns, spacing_ns, seed)))
    }

    /// Forward so many packets; return how many went on.
    fn run(&mut self, py: Python<'_>, count: u64) -> u64 {
        py.detach(|| self.0.run(count))
    }
}

pub fn bench_dict<'py>(py: Python<'py>, result: &BenchResult) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("delivered_packets", result.delivered_packets)?;
    dict.set_item("connections", result.connections)?;
    dict.set_item("events", result.events)?;
    dict.set_item("utilisation", result.utilisation)?;
    dict.set_item("dropped_packets", result.dropped_packets)?;
    Ok(dict)
}
