//! The compiled core of the Python package: `ackclock._core`.
//!
//! Conversion only. Text comes in and Arrow goes out; the work is done by `lab` on threads that know
//! nothing of Python, while the caller waits without the GIL and listens for interrupts.

mod about;
mod answers;
mod background;
mod benches;
mod calculator;
mod cells;
mod errors;
mod kernel;
mod law;
mod live;
mod place;
mod run;
mod scripts;
mod simulate;
mod table;
mod words;
mod worlds;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::about::{allow, build, rules, version};
    #[pymodule_export]
    use super::answers::{answer, answer_of};
    #[pymodule_export]
    use super::benches::{RouterBench, bench_dumbbell, bench_short};
    #[pymodule_export]
    use super::calculator::{altman_infer, altman_predict, departures, packmime, response};
    #[pymodule_export]
    use super::cells::{canonical, simulate_cells};
    #[pymodule_export]
    use super::errors::BadInput;
    #[pymodule_export]
    use super::kernel::kernel;
    #[pymodule_export]
    use super::law::{
        Ack, Congestion, Delivery, LostData, Proposal, RecoveryEnd, RttSample, SendStart, Start,
        check_law, law_trace, register_law,
    };
    #[pymodule_export]
    use super::live::{closed_to_programs, live, play, programs_asked};
    #[pymodule_export]
    use super::place::{Place, copy_file, try_file, write_file};
    #[pymodule_export]
    use super::run::Run;
    #[pymodule_export]
    use super::scripts::{Drill, answers, drill, judge, scripts, undrilled};
    #[pymodule_export]
    use super::simulate::{
        check_scenario, load_scenario, read_columns, simulate, simulate_many, simulate_to, theory,
    };
    #[pymodule_export]
    use super::table::{Table, read_table, throughput};
    #[pymodule_export]
    use super::words::{
        bits_per_second, check_runs, law_variables, load_law, load_law_at, registry, schema,
        seconds, senders, share, tables, tell_exits, variant_name, variant_slug,
    };
    #[pymodule_export]
    use super::worlds::Worlds;

    /// Keeps panics from writing the paths of the machine that built this to the user's screen:
    /// what they say arrives as an exception. With `RUST_BACKTRACE` set they write as usual.
    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "the signature that PyO3 asks for")]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        if std::env::var_os("RUST_BACKTRACE").is_none() {
            std::panic::set_hook(Box::new(|_| {}));
        }
        Ok(())
    }
}
