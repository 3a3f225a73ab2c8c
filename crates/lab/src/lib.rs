//! The outside of the core: files, threads, tables on disk.
//!
//! Everything below this crate is a function of its arguments. Here a scenario is read from a file
//! ([`load`]), runs spread over the machine's cores ([`simulate_many`]), what they leave becomes
//! Arrow tables ([`Tables`]) and Parquet files ([`write()`]), and what its links sent a capture
//! ([`simulate_captured`]). packetdrill scripts are found and run ([`drill`]). Input that cannot be
//! used gets one line ([`BadInput`]).

pub mod benches;
pub mod closed_forms;
mod files;
mod laws;
mod run;
#[cfg(test)]
mod scratch;
mod scripts;
pub mod worlds;

pub use ackclock_input::{
    BadInput, Folder, MAX_FILE_BYTES, from_json, law_variables, load, printable, read_columns,
    registry, senders, to_json, variant_name, variant_slug,
};
pub use ackclock_live::Feed;
pub use ackclock_results::{MAX_CAPTURES, Table, Tables, check_conservation, tables, throughput};
pub use ackclock_script::Comments;
pub use ackclock_sim::{Budget, Engine, Meter, Run, Scenario};
pub use ackclock_units::random::draws;
pub use ackclock_web::{answer_metered, answer_of, answer_with_rows};
pub use ackclock_writer::{Place, Staged, WriteError, copy_file, try_file, write_file};
pub use benches::bench::{BenchResult, bench_dumbbell, bench_short};
pub use benches::routing::{BenchRouter, RouterBench};
pub use closed_forms::closed_form::{Prediction, Theory, closed_form};
pub use closed_forms::packmime::packmime;
pub use closed_forms::quantity::{bits_per_second, seconds, share};
pub use files::capture::{Captures, simulate_captured};
pub use files::store::{Report, expect_tables, read_table, write, write_reported};
pub use files::stream::simulate_to;
pub use laws::{
    CheckPlan, LawTracePlan, check_law, law, law_trace, load_law, load_law_at, register_law,
    tell_exits,
};
pub use run::allowed::allow;
pub use run::background::{Background, Ticket};
pub use run::departures::departures;
pub use run::kernel::{KernelRequest, kernel};
pub use run::live::{LivePlan, Lived, closed_to_programs, live, play, programs_asked};
pub use run::load::{Ready, cache};
pub use run::sweep::{
    CellLimits, Fate, MAX_THREADS, SweepError, canonical, check_runs, simulate_cells,
    simulate_many, simulate_one, simulate_watched, thrown,
};
pub use scripts::drill::{Difference, DrillPlan, Drilled, On, drill, scripts_of};
pub use scripts::duel::{DifferenceKind, DuelPlan, Dueled, Elsewhere, answers, duel};

/// The version of the package.
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The version of the engine's rules, in hexadecimal digits: builds of one source have the same, and others another.
pub const fn rules() -> &'static str {
    env!("ACKCLOCK_RULES")
}

/// The JSON schema of a scenario, as JSON text.
pub fn schema() -> String {
    format!("{:#}", ackclock_input::schema_of::<Scenario>())
}
