//! Growth laws of ours inside Linux, as BPF (`struct_ops`), and the records that they leave of each ACK.
//!
//! A law is C in `bpf`, compiled with this crate where there is a clang; the same law in Rust, of [`tcp`](ackclock_tcp), is
//! what it is judged by ([`judge`]). The loader is a feature of this crate (`loader`): without it everything here says why
//! the kernel cannot be given a law, and does nothing.

#[cfg(all(target_os = "linux", feature = "loader"))]
mod ends;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod ends {
    pub use crate::no_ends::*;
}
mod ends_settings;
mod error;
mod judge;
mod laws;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod libelf;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod loader;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod loader {
    pub use crate::no_loader::*;
}
mod needs;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod no_ends;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod no_loader;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod no_router;
mod parts;
#[cfg_attr(
    not(all(target_os = "linux", feature = "loader")),
    expect(dead_code, reason = "a build without a loader loads no program")
)]
mod programs;
mod record;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod registered;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod router;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod router {
    pub use crate::no_router::*;
}
mod router_settings;

pub use ends::KernelEnds;
pub use ends_settings::{EndSettings, EndStep, RequestStep};
pub use error::KernelError;
pub use judge::{Judgement, judge};
pub use laws::{Asked, Law, find, laws, unbuilt};
pub use loader::{Held, LOOK_EVERY, Loaded, Records, Registered, hold, load, registered, unload};
pub use needs::{Finding, examine, needs};
pub use parts::Parts;
pub use programs::Program;
pub use record::{Connection, Event, Record, Use};
pub use router::KernelRouter;
pub use router_settings::{
    NextHop, Passed, RouterBehaviour, RouterCounts, RouterDecision, RouterLoad, RouterSettings,
};
