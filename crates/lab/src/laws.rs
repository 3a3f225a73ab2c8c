//! Laws of one's own, from shared libraries.

use std::path::Path;

use crate::input::BadInput;

/// Loads the law of a shared library, so that `variant = "NAME"` means it for as long as the process runs.
///
/// The library's code runs in this process, with all that the process may do.
///
/// # Errors
/// The file is no library with a law, or the name is a word of the house's.
pub fn load_law(name: &str, path: &Path) -> Result<(), BadInput> {
    ackclock_foreign::load(name, path)
        .map_err(|why| BadInput::new(format_args!("law `{name}`: {why}")))
}
