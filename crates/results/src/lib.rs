//! The results of a run, in memory.
//!
//! [`Tables`] are Arrow tables, [`throughput()`] is computed from one of them, and [`Recorder`] makes pcapng captures of what
//! links sent. Neither files nor threads are here: `lab` has those, and a browser has neither.

mod capture;
mod columns;
mod table;
mod throughput;

pub use capture::{Capture, CaptureFault, MAX_CAPTURES, Recorder, choose, file_name};
pub use columns::{Column, Columns, Table};
pub use table::{Tables, check_conservation, tables};
pub use throughput::throughput;

/// The version of the package, as files name it.
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
