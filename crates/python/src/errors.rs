//! Errors of the core as exceptions of Python's, each of one line.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ackclock_lab::{SweepError, WriteError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::law;

pyo3::create_exception!(
    ackclock._core,
    BadInput,
    PyValueError,
    "Input that cannot be used; its text is one line: where, what was expected, the nearest valid word."
);

/// The result of `call`, with a panic as a one-line error of its own kind.
pub fn guarded<T>(call: impl FnOnce() -> Result<T, ackclock_lab::BadInput>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| BadInput::new_err(error.to_string())),
        Err(panic) => Err(sweep_error(&ackclock_lab::thrown(&*panic))),
    }
}

pub fn store_error(error: &WriteError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

pub fn sweep_error(error: &SweepError) -> PyErr {
    let text = error.to_string();
    match error {
        SweepError::Input(_) => BadInput::new_err(text),
        SweepError::Store(_) | SweepError::Machine(_) => PyOSError::new_err(text),
        SweepError::Internal(_) => PyRuntimeError::new_err(text),
        SweepError::Law { number, .. } => law::raised(*number, text),
        SweepError::Cancelled => PyKeyboardInterrupt::new_err(()),
    }
}

/// A Python value in a message.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".to_owned(), |repr| repr.to_string());
    ackclock_lab::printable(&text, 60)
}
