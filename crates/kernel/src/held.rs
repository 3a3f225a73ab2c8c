//! A law that is in the kernel for as long as a run lasts, and its records.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;

use crate::base::record::Record;

/// The time after which records are looked for.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The records of a law so far, which a thread adds to.
pub type Records = Arc<Mutex<Vec<Record>>>;

/// A law in the kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Loaded {
    /// The name in the kernel.
    pub name: String,
    /// The object.
    pub object: &'static str,
    /// Its hash; of a law that is a part of the kernel, that of its source.
    pub hash: String,
    /// Bytes of the verifier's log, all programs together; 0 of a part of the kernel.
    pub log_bytes: usize,
    /// Instructions that the verifier followed, likewise.
    pub instructions: u64,
}

/// A law that is loaded for as long as this lives, under a name that no other run has, and its records.
pub struct LoadedLaw {
    loaded: Loaded,
    /// The owner of its registration, with which it is gone.
    holder: Option<Box<dyn Any + Send + Sync>>,
    over: Arc<AtomicBool>,
    records: Records,
    reader: Option<JoinHandle<()>>,
}

impl fmt::Debug for LoadedLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedLaw").field("loaded", &self.loaded).finish_non_exhaustive()
    }
}

impl LoadedLaw {
    /// A law that is gone with `holder`. `read` runs on a thread of its own: it calls its second argument with records, as
    /// they lie in the kernel, until its first says that the law is over, and once more then.
    pub(crate) fn new(
        loaded: Loaded,
        holder: Box<dyn Any + Send + Sync>,
        read: impl FnOnce(&dyn Fn() -> bool, &dyn Fn(&[u8])) + Send + 'static,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let records = Records::default();
        let (is_over, into) = (Arc::clone(&over), Arc::clone(&records));
        let reader = thread::spawn(move || {
            let keep = |bytes: &[u8]| {
                into.lock().unwrap_or_else(PoisonError::into_inner).extend(Record::read(bytes));
            };
            read(&|| is_over.load(Ordering::Relaxed), &keep);
        });
        Self { loaded, holder: Some(holder), over, records, reader: Some(reader) }
    }

    /// The law in the kernel.
    pub const fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Its records, of which the last are some [`LOOK_EVERY`] late.
    pub fn records(&self) -> Records {
        Arc::clone(&self.records)
    }

    /// Removes the law, and gives its records.
    pub fn finish(mut self) -> Vec<Record> {
        self.end();
        std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn end(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        self.holder = None;
    }
}

impl Drop for LoadedLaw {
    fn drop(&mut self) {
        self.end();
    }
}
