//! The fast engine: `docs/concepts/fast-engine.md`.

mod elision;
mod engine;
mod link;
mod lookahead;
mod network;
mod prefetch;
mod wheel;

pub use engine::Engine;
