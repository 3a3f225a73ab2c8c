//! Files of runs: captures, and Parquet whole or not at all.

pub(crate) mod capture;
pub(crate) mod checked;
pub(crate) mod store;
pub(crate) mod stream;
