//! Growth laws of ours inside Linux, as BPF (`struct_ops`), and the records that they leave of each ACK.
//!
//! A law is C in `bpf`, compiled with this crate where there is a clang; the same law in Rust, of [`tcp`](ackclock_tcp), is
//! what it is judged by ([`judge`]). A kernel that `ackclock linux build` made has the same laws as parts of it. The loader is a feature of this crate (`loader`): without it everything here says why
//! the kernel cannot be given a law, and does nothing.

mod base;
mod built_in;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod ends;
mod held;
mod holding;
mod judge;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod libelf;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod loader;
mod needs;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod no_ends;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod no_loader;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod no_router;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod registered;
#[cfg(all(target_os = "linux", feature = "loader"))]
mod router;
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod ends {
    pub use crate::no_ends::*;
}
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod loader {
    pub use crate::no_loader::*;
}
#[cfg(not(all(target_os = "linux", feature = "loader")))]
mod router {
    pub use crate::no_router::*;
}

pub use base::ends_settings::{EndSettings, EndStep, RequestStep};
pub use base::error::KernelError;
pub use base::laws::{Asked, Law, find, laws, unbuilt};
pub use base::parts::Parts;
pub use base::programs::Program;
pub use base::record::{Connection, Event, Record, Use};
pub use base::router_settings::{
    NextHop, Passed, RouterBehaviour, RouterCounts, RouterDecision, RouterLoad, RouterSettings,
};
pub use built_in::sources;
pub use ends::KernelEnds;
pub use held::{LOOK_EVERY, Loaded, LoadedLaw, Records};
pub use holding::hold;
pub use judge::{Judgement, judge};
pub use loader::{Registered, load, registered, unload};
pub use needs::{Finding, examine, needs};
pub use router::KernelRouter;
