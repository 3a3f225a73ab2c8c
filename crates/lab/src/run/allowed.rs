//! The budget of this process, as people write it.

use ackclock_sim::Budget;
use ackclock_units::{Bytes, ParseError};

use ackclock_input::BadInput;

/// Lets every run of this process take so much memory, such as `16 GB`, and so many events; a value that is left out stays
/// as it is. Returns both.
///
/// # Errors
/// A text that is no size, or a number that is none of events.
pub fn allow(memory: Option<&str>, events: Option<f64>) -> Result<Budget, BadInput> {
    let mut budget = Budget::allowed();
    if let Some(text) = memory {
        let bytes: Bytes = text.parse().map_err(|_: ParseError| {
            BadInput::new(format_args!("memory: `{text}` is not a size such as \"4 GB\""))
        })?;
        budget.memory_bytes = bytes.get() as f64;
    }
    if let Some(events) = events {
        if !(events >= 1.0 && events.is_finite()) {
            let message =
                format_args!("events: `{events}` is not a number of events, expected 1 or more");
            return Err(BadInput::new(message));
        }
        budget.events = events;
    }
    budget.allow();
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_budget_is_refused_and_changes_nothing() {
        let before = Budget::allowed();
        for (memory, events, word) in [
            (Some("much"), None, "memory: "),
            (Some("4"), None, "memory: "),
            (None, Some(0.0), "events: `0`"),
            (None, Some(f64::NAN), "events: `NaN`"),
        ] {
            let text = allow(memory, events).unwrap_err().to_string();
            assert!(text.starts_with(word), "{text}");
        }
        assert_eq!(Budget::allowed(), before);
        // The budget is the process's, in which other tests run: it stays as it was.
        assert_eq!(allow(Some("4 GB"), Some(1e11)).unwrap(), before);
    }
}
