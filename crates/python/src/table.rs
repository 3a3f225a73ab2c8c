//! An Arrow table that others read through the Arrow `PyCapsule` interface, without a copy.

use std::path::PathBuf;

use ackclock_lab::Ticket;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_select::filter::filter_record_batch;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyString};

use crate::background::{Work, in_background};

/// An Arrow table, read without a copy by pyarrow, Polars, pandas and ``DuckDB``.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    pub fn of(table: &ackclock_lab::Table) -> Self {
        Self { batch: table.batch.clone() }
    }
}

/// Read a table that a run wrote, or of its columns those that are named. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (path, columns = None))]
pub fn read_table(py: Python<'_>, path: PathBuf, columns: Option<Vec<String>>) -> PyResult<Table> {
    let job = move |_: &Ticket| Ok(ackclock_lab::read_table(&path, columns.as_deref())?);
    Ok(Table { batch: in_background(py, Work::default(), job)? })
}

/// Return the throughput of flows over time, from the table ``flow_samples``. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (samples, every_s, end_s, cell = None))]
pub fn throughput(
    py: Python<'_>,
    samples: &Table,
    every_s: f64,
    end_s: f64,
    cell: Option<i64>,
) -> PyResult<Table> {
    let samples = samples.batch.clone();
    let job = move |_: &Ticket| Ok(ackclock_lab::throughput(&samples, every_s, end_s, cell)?);
    Ok(Table { batch: in_background(py, Work::default(), job)? })
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The rows from ``start`` on, ``length`` at most.
    fn slice(&self, start: usize, length: usize) -> PyResult<Self> {
        let rows = self.batch.num_rows();
        if start > rows {
            return Err(PyIndexError::new_err(format!("{start} of {rows} rows")));
        }
        Ok(Self { batch: self.batch.slice(start, length.min(rows - start)) })
    }

    /// The rows of which a column has this text. Raises ``KeyError``.
    fn with_text(&self, name: &str, text: &str) -> PyResult<Self> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?.as_any();
        let kept: BooleanArray = if let Some(array) = column.downcast_ref::<StringArray>() {
            array.iter().map(|value| Some(value == Some(text))).collect()
        } else if let Some(array) = column.downcast_ref::<DictionaryArray<Int32Type>>()
            && let Some(words) = array.downcast_dict::<StringArray>()
        {
            words.into_iter().map(|value| Some(value == Some(text))).collect()
        } else {
            return Err(PyTypeError::new_err(format!("{name}: no texts")));
        };
        let batch = filter_record_batch(&self.batch, &kept);
        batch
            .map(|batch| Self { batch })
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// True if both tables have the same columns and values.
    fn equals(&self, other: &Self) -> bool {
        self.batch == other.batch
    }

    /// The rows, as an ``arrow_array_stream`` capsule.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request for another representation may be declined; the reader converts.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The columns' names and types, as an ``arrow_schema`` capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema_ref().as_ref())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column, None where there is none. Raises ``KeyError``.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.batch.column_by_name(name);
        let column = column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        PyList::new(py, values(py, column.as_ref())?)
    }

    /// The rows, each a dict by column: what pyarrow's method of this name returns, without loading it.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: Vec<_> = (0..self.batch.num_rows()).map(|_| PyDict::new(py)).collect();
        for (field, array) in self.batch.schema_ref().fields().iter().zip(self.batch.columns()) {
            let name = PyString::intern(py, field.name());
            for (row, value) in rows.iter().zip(values(py, array.as_ref())?) {
                row.set_item(&name, value)?;
            }
        }
        PyList::new(py, rows)
    }
}

/// A column as Python's values, None where there is none.
fn values<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let array = array.as_any();
    if let Some(array) = array.downcast_ref::<Int64Array>() {
        array.iter().map(|value| of(py, value)).collect()
    } else if let Some(array) = array.downcast_ref::<Float64Array>() {
        array.iter().map(|value| of(py, value)).collect()
    } else if let Some(array) = array.downcast_ref::<StringArray>() {
        array.iter().map(|value| of(py, value)).collect()
    } else if let Some(array) = array.downcast_ref::<DictionaryArray<Int32Type>>()
        && let Some(words) = array.downcast_dict::<StringArray>()
    {
        words.into_iter().map(|value| of(py, value)).collect()
    } else {
        Err(PyTypeError::new_err("a column of a type that no table has"))
    }
}

fn of<'py, T: IntoPyObject<'py>>(py: Python<'py>, value: Option<T>) -> PyResult<Bound<'py, PyAny>> {
    value.into_bound_py_any(py)
}
