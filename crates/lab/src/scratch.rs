//! A folder of a test's own.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A folder that goes with its test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder; `name` is the test's.
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("ackclock-lab-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Deref for Scratch {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
