//! Quantities as text, as a scenario has them, for callers that compute with them.

use ackclock_units::{Duration, Percent, Rate};

use ackclock_input::BadInput;

/// The seconds of a duration such as `30 ms`; `key` is where it stands.
///
/// # Errors
/// A text that is none.
pub fn seconds(key: &str, text: &str) -> Result<f64, BadInput> {
    let read: Result<Duration, _> = text.parse();
    read.map(Duration::as_secs_f64).map_err(|error| BadInput::new(format_args!("{key}: {error}")))
}

/// The bits per second of a rate such as `10 Mbit/s`; `key` is where it stands.
///
/// # Errors
/// A text that is none.
pub fn bits_per_second(key: &str, text: &str) -> Result<f64, BadInput> {
    let read: Result<Rate, _> = text.parse();
    read.map(|rate| rate.as_bps() as f64)
        .map_err(|error| BadInput::new(format_args!("{key}: {error}")))
}

/// The share of a text in percent, such as `1 %`; `key` is where it stands.
///
/// # Errors
/// A text that is none.
pub fn share(key: &str, text: &str) -> Result<f64, BadInput> {
    let read: Result<Percent, _> = text.parse();
    read.map(Percent::share).map_err(|error| BadInput::new(format_args!("{key}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_numbers_of_base_units() {
        assert!((seconds("every", "100 ms").unwrap() - 0.1).abs() < 1e-12);
        assert!((bits_per_second("rate", "1.5 Mbit/s").unwrap() - 1.5e6).abs() < 1e-6);
        assert!((share("loss", "1 %").unwrap() - 0.01).abs() < 1e-12);
        let error = seconds("every", "100").unwrap_err().to_string();
        assert!(error.starts_with("every: "), "{error}");
    }
}
