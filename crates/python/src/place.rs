//! The writer of everything that the product leaves on disk, for Python.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ackclock_lab::Staged;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::store_error;

/// A folder that a run writes into: made if it is not there, tried, locked until it is closed, and cleared of what
/// killed runs left. The functions of this module that write into it while it is open join in.
///
/// Raises ``OSError``, whose text is one line.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Place {
    open: Mutex<Option<(ackclock_lab::Place, Vec<Staged>)>>,
}

impl Place {
    fn with<T>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&ackclock_lab::Place, &mut Vec<Staged>) -> PyResult<T> + Send,
    ) -> PyResult<T>
    where
        T: Send,
    {
        py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let (place, staged) =
                open.as_mut().ok_or_else(|| PyValueError::new_err("the place is closed"))?;
            call(place, staged)
        })
    }
}

#[pymethods]
impl Place {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let place = py.detach(|| ackclock_lab::Place::reserve(&path));
        let place = place.map_err(|error| store_error(&error))?;
        Ok(Self { open: Mutex::new(Some((place, Vec::new()))) })
    }

    /// Try the names that files in it will have; ``tables`` are those of a run.
    #[pyo3(signature = (names = Vec::new(), tables = false))]
    #[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
    fn expect(&self, py: Python<'_>, names: Vec<String>, tables: bool) -> PyResult<()> {
        self.with(py, |place, _| {
            let named = place.expect(names.iter().map(|name| &**name));
            let tried = if tables {
                named.and_then(|()| ackclock_lab::expect_tables(place))
            } else {
                named
            };
            tried.map_err(|error| store_error(&error))
        })
    }

    /// Write a file that gets its name, which may lie in folders below, by ``commit``.
    fn stage(&self, py: Python<'_>, name: &str, content: &[u8]) -> PyResult<()> {
        self.with(py, |place, staged| {
            let file = place.stage(name, |file| file.write_all(content));
            staged.push(file.map_err(|error| store_error(&error))?);
            Ok(())
        })
    }

    /// Give all files that were staged their names, together; those called ``gone`` go.
    #[pyo3(signature = (gone = Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
    fn commit(&self, py: Python<'_>, gone: Vec<String>) -> PyResult<()> {
        self.with(py, |place, staged| {
            let gone: Vec<&str> = gone.iter().map(|name| &**name).collect();
            place.commit(std::mem::take(staged), &gone).map_err(|error| store_error(&error))
        })
    }

    /// Let others have the folder; what was staged and not committed goes.
    fn close(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Write a file by itself, whole or not at all. Raises ``OSError``, whose text is one line.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
pub fn write_file(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| ackclock_lab::write_file(&path, |file| file.write_all(content)))
        .map_err(|error| store_error(&error))
}

/// Copy another file to ``path``, with its rights, whole or not at all.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
pub fn copy_file(py: Python<'_>, source: PathBuf, path: PathBuf) -> PyResult<()> {
    py.detach(|| ackclock_lab::copy_file(&source, &path)).map_err(|error| store_error(&error))
}

/// Say whether a file can be written, before work begins. Raises ``OSError``, whose text is one line.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what PyO3 extracts")]
pub fn try_file(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| ackclock_lab::try_file(&path)).map_err(|error| store_error(&error))
}

/// The folder that a run is to write into, if any.
pub fn opened(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Option<ackclock_lab::Place>> {
    let place = path.map(|path| py.detach(|| ackclock_lab::Place::open(&path))).transpose();
    place.map_err(|error| store_error(&error))
}
