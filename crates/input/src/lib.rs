//! Strict reading of files that people write.
//!
//! A text is parsed into a tree whose every node knows its line, the tree is held against the JSON
//! schema of the type that is wanted, and only then does serde build the value. The schema, which is
//! generated from the same type, knows the path to whatever is wrong; serde loses it inside an enum.

mod columns;
mod document;
mod elsewhere;
mod fault;
mod file;
mod hints;
mod law_trace;
mod scenario;
mod schema;
mod syntax;
mod text;
mod variant;

pub use columns::Folder;
pub use document::element;
pub use fault::{BadInput, Fault};
pub use file::{MAX_FILE_BYTES, open, problem, read};
pub use law_trace::read_law_trace;
pub use scenario::{
    from_json, from_text, from_toml, load, read_columns, schema_of, to_json, value_from_json,
};
pub use text::{did_you_mean, nearest, printable};
pub use variant::{
    expect_law, law_variables, parse as parse_variant, profile, read_law, registry, senders,
    variant_name, variant_slug,
};

#[cfg(test)]
mod scratch;
#[cfg(test)]
mod tests;
