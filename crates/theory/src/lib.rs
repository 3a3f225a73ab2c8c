//! Closed forms for the throughput and delay of TCP, to set beside a simulated or a live run.
//!
//! [`altman`] is the fluid model of one Tahoe connection that shares a finite drop-tail buffer with
//! exogenous traffic (Altman et al., 1997), with its inversion; [`mathis`], [`reno`], [`pftk`] and
//! [`cubic`] are response functions of the loss rate; [`slow_start`] counts the rounds of a short
//! transfer, and [`transfer`] says how long it takes, with Quick-Start too. Windows are in packets, rates in packets per second and times in seconds, the units of
//! the models themselves.
//!
//! A model also says where it is not to be believed:
//!
//! ```
//! use ackclock_theory::altman::{self, Parameters, Path};
//!
//! let path = Path::new(&Parameters {
//!     mu_pps: 60.0,
//!     lambda_pps: 50.0,
//!     tau1_s: 0.15,
//!     tau2_s: 0.15,
//!     buffer_packets: 10.0,
//!     bw_in_pps: Some(150.0),
//! })?;
//! let prediction = altman::predict(&path);
//! assert_eq!(prediction.slow_starts_per_cycle, 1);
//! assert!(!prediction.validity.ok, "exogenous traffic takes five sixths of the bottleneck");
//! # Ok::<(), ackclock_theory::InvalidParameter>(())
//! ```

pub mod altman;
pub mod cubic;
mod error;
pub mod mathis;
pub mod pftk;
pub mod reno;
pub mod slow_start;
pub mod transfer;

pub use error::InvalidParameter;
