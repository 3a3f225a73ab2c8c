//! The transport, sans-IO.
//!
//! An [`Endpoint`] is one end of a connection. Its sender is four choices: the laws of
//! [`ackclock_laws`], of growth, start and idle, and a [`recovery`]. A [`Variant`] names them.
//!
//! No clock, no I/O, no allocation per segment: the same code runs under the simulator's clock and
//! the real one.

pub mod config;
mod data;
pub mod delivery;
pub mod endpoint;
pub mod judge;
pub mod receiver;
pub mod recovery;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
mod settings;
pub mod simulator;
pub mod variant;

pub use config::{
    AfterLostSyn, Autotune, Config, DelayedAck, EcnConfig, EcnEcho, EcnMode, LossReduces, Nagle,
    Pacing, Profile, QuickStartConfig, Retries, RtoConfig, SegmentRules, States, TcpSpec,
    WindowProbe,
};
pub use data::cookie::CookieKey;
pub use endpoint::{
    Agreed, Endpoint, Failure, FastOpenClient, FastOpenServer, OpeningCounts, QuickStartEvent,
    QuickStartStep, State, Transmit,
};
pub use sender::{JumpPhase, Reason, Reasons, Sender, SenderStats, Sending};
pub use variant::{Parts, Variant, VariantError, slug};
