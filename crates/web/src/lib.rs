//! The core for a browser.
//!
//! [`answer`] is the whole interface: a request as JSON text goes in, and bytes come out. A page in a browser calls it
//! through linear memory (`memory.rs`), and a test in a program, so that both can be held against each other byte by byte.
//!
//! An answer is a header, JSON text, and buffers of numbers behind it to which the header refers ([`Answer`]).

mod answer;
mod choices;
mod columns;
#[cfg(target_arch = "wasm32")]
mod memory;
mod reasons;
mod requests;
mod segments;
mod text;

pub use answer::Answer;
pub use requests::{answer, answer_metered, answer_of, answer_with_rows};
pub use text::to_toml;
