//! Growth laws from shared libraries.
//!
//! A library exports a table of callbacks in the C interface of `include/ackclock_law.h`. [`load`] opens it, holds its
//! version against ours, and returns the maker of its law. A scenario names the law and never the library: what is
//! loaded is said on the command line or by a program.
#![allow(unsafe_code, reason = "a foreign library is called; each call says why it is sound")]

mod abi;
mod ending;
mod law;
mod library;

pub use abi::{Callbacks, layouts};
pub use ending::tell_exits;
pub use law::{Callable, ForeignLaw};
pub use library::{LawMaker, LoadError, load, load_at};
