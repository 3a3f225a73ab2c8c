//! Worlds of learners: numbers in, numbers out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ackclock_lab::worlds::{Action, FIELDS, Lasts, Worlds as LabWorlds};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{BadInput, sweep_error};

/// Runs with learners in them, which go on step by step and together.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Worlds {
    windows: bool,
    /// A world goes from thread to thread, and is at one at a time.
    inner: Mutex<LabWorlds>,
}

impl Worlds {
    fn locked(&self) -> MutexGuard<'_, LabWorlds> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The numbers of a buffer.
fn numbers(py: Python<'_>, name: &str, buffer: &PyBuffer<f64>) -> PyResult<Vec<f64>> {
    buffer.to_vec(py).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

#[pymethods]
impl Worlds {
    /// Room for ``count`` worlds of so many learners, whose actions are rates, or with ``windows`` windows. With the law
    /// ``follows`` they do as it does, whatever they are told. With ``numbered`` packets are numbered and
    /// never sent again, in the place of TCP. Raises ``BadInput``.
    #[new]
    #[pyo3(signature = (count, learners, threads = None, windows = false, follows = None, numbered = false))]
    fn new(
        count: usize,
        learners: usize,
        threads: Option<usize>,
        windows: bool,
        follows: Option<&str>,
        numbered: bool,
    ) -> PyResult<Self> {
        let inner = LabWorlds::new(count, learners, threads, windows, follows, numbered)
            .map_err(|e| sweep_error(&e))?;
        Ok(Self { windows, inner: Mutex::new(inner) })
    }

    /// The names of a record's fields, in their order.
    #[staticmethod]
    fn fields() -> Vec<&'static str> {
        FIELDS.to_vec()
    }

    /// Begin a world anew with a scenario (JSON text); return the names of its learners. Raises ``BadInput``.
    fn reset(&self, py: Python<'_>, number: usize, scenario: &str) -> PyResult<Vec<String>> {
        let names = py.detach(|| {
            let scenario = ackclock_lab::from_json(scenario)?;
            self.locked().reset(number, &scenario)
        });
        names.map_err(|error| sweep_error(&error))
    }

    /// Step all worlds for ``intervals`` seconds each, or to the next ACK and at most so long if that is below 0; a world
    /// whose interval is NaN stands still. ``actions`` are rates in bit/s, or windows in bytes, by world
    /// and learner; ``records`` has room for the fields of each, and ``over`` a byte for each world. All are buffers of
    /// float64 but ``over``, of uint8. Releases the GIL. Raises ``BadInput``.
    #[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
    fn step(
        &self,
        py: Python<'_>,
        actions: PyBuffer<f64>,
        intervals: PyBuffer<f64>,
        records: PyBuffer<f64>,
        over: PyBuffer<u8>,
    ) -> PyResult<()> {
        let actions = numbers(py, "actions", &actions)?;
        let intervals = numbers(py, "intervals", &intervals)?;
        let read = |value: f64| {
            if !value.is_finite() || value < 0.0 {
                return Err(BadInput::new_err(format!("action: found {value}, expected a number")));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            let whole = value.min(1e15) as u64;
            Ok(if self.windows {
                Action::Window { bytes: whole }
            } else {
                Action::Rate { bps: whole }
            })
        };
        let actions = actions.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let lasts = intervals.into_iter().map(|seconds| {
            if seconds.is_nan() {
                return Ok(None);
            }
            let time = seconds.abs();
            if !(time > 0.0 && time < 1e9) {
                let expected = "expected seconds above 0";
                return Err(BadInput::new_err(format!("interval: found {seconds}, {expected}")));
            }
            let time = ackclock_lab::law::Duration::from_secs_f64(time);
            Ok(Some(if seconds > 0.0 { Lasts::For(time) } else { Lasts::ToAck(time) }))
        });
        let lasts = lasts.collect::<PyResult<Vec<_>>>()?;
        let stepped =
            py.detach(|| self.locked().step(&actions, &lasts)).map_err(|e| sweep_error(&e))?;
        let mut values = numbers(py, "records", &records)?;
        let width = values.len() / stepped.records.len().max(1);
        for (room, of_world) in values.chunks_mut(width.max(1)).zip(&stepped.records) {
            for (room, record) in room.chunks_mut(FIELDS.len()).zip(of_world) {
                room.copy_from_slice(&record.values());
            }
        }
        let ends: Vec<u8> = stepped.over.iter().map(|over| u8::from(*over)).collect();
        records.copy_from_slice(py, &values)?;
        over.copy_from_slice(py, &ends)
    }

    /// The simulated time of a world in seconds, or None before its first ``reset``.
    fn now_s(&self, number: usize) -> Option<f64> {
        self.locked().now_s(number)
    }
}
