//! packetdrill's language: parser and executor over any stack, in virtual time.
//!
//! A script says what an application calls, which packets come in, and which are expected to go
//! out, each at its time. [`parse`] reads it, [`run`] runs it against a [`Stack`], [`drill`] does
//! both with the laboratory's own end point, and [`tap`] tells what became of it. No time passes,
//! no file is opened, and neither shell nor Python is executed: blocks of them are read by a
//! whitelist ([`shell`], [`assertion`]).
//!
//! ```
//! use ackclock_script::{Settings, drill};
//!
//! let script = "
//!     0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!     +0  bind(3, ..., ...) = 0
//!     +0  listen(3, 1) = 0
//!     +0  < S 0:0(0) win 65535 <mss 1000>
//!     +0  > S. 0:0(0) ack 1 <...>
//!     +.1 < . 1:1(0) ack 1 win 65535
//!     +0  accept(3, ..., ...) = 4
//!     +0  write(4, ..., 1000) = 1000
//!     +0  > P. 1:1001(1000) ack 1
//! ";
//! let report = drill("hello.pkt", script, &Settings::default()).result.unwrap();
//! assert_eq!(report.packets_out, 2);
//! ```
//!
//! # What is compared
//!
//! * SYNs have the sequence numbers that the script gives them; all others count from the SYN.
//! * Of a packet that goes out, what the script states: flags, numbers and payload always; `ack`,
//!   `win`, the ECN field and the options if they are written. `<...>` and no list at all mean
//!   any options; `<>` means none. Padding and the order of options are not compared.
//! * The flag `P` is not compared unless [`Settings::compare_push`] is set.
//! * Segments of data that follow one another are one packet until it is as long as the script's.
//! * Times to within 4 ms or an eighth of the time since the event before, whichever is more, or
//!   `--tolerance_usecs` and `--tolerance_percent`. Timestamps with `--tcp_ts_tick_usecs` alone.
//!
//! # What is not supported
//!
//! More than one connection at a time; other protocols than TCP; urgent data, MD5; accurate ECN by our end
//! point; `splice` and `sendfile`, which are read and then refused by name, as are `poll` and `epoll_*` but of a stack that
//! carries out system calls.

pub mod assertion;
pub mod ast;
mod differ;
pub mod duel;
mod error;
mod fuzz;
mod info;
mod parse;
mod run;
mod scan;
pub mod shell;
mod stack;
mod tap;
mod told;

pub use ast::Script;
pub use differ::{Difference, Fields, differences};
pub use error::{ScriptError, Span};
pub use fuzz::fuzz_script;
pub use info::{Lookup, TcpInfo};
pub use parse::parse;
pub use run::{
    Failure, OnWire, Outcome, Report, Settings, Trace, drill, profile, run, run_watched,
};
pub use stack::{
    EndpointStack, Meaning, Returned, SHARED_FAST_OPEN, SocketOption, Stack, Stage, Write,
    fast_open_cookie,
};
pub use tap::{Comments, tap};
pub use told::TimedPacket;
