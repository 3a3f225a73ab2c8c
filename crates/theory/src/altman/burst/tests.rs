use proptest::prelude::*;

use super::{burst_rate_pps, limit_burst_rate_pps, mini_cycles_until_loss};
use crate::altman::Path;

#[test]
fn without_exogenous_traffic_bursts_come_at_twice_the_bottleneck() {
    let path = Path::from_tau(50.0, 0.0, 1.0, 16.0).unwrap();
    assert!((burst_rate_pps(&path, 50.0, 2).unwrap() - 100.0).abs() < 1e-9);
    // W_b = 2 B = 32 packets = 2^(6-1): the sixth round's.
    assert!((mini_cycles_until_loss(&path) - 6.0).abs() < 1e-12);
}

#[test]
fn a_first_rate_must_be_positive() {
    let path = Path::from_tau(50.0, 0.0, 1.0, 16.0).unwrap();
    assert_eq!(
        burst_rate_pps(&path, 0.0, 2).unwrap_err().to_string(),
        "first_rate_pps = 0: expected a finite number above 0"
    );
}

proptest! {
    /// Equation 27 step by step, against its closed form.
    #[test]
    fn the_closed_form_solves_the_recursion(
        mu in 1.0..1e4_f64,
        share in 0.0..0.99_f64,
        first in 0.1..10.0_f64,
        n in 1..40_u32,
    ) {
        let lambda = share * mu;
        let path = Path::from_tau(mu, lambda, 1.0, 10.0).unwrap();
        let mut rate = first * mu;
        for _ in 1..n {
            rate = 2.0 * rate / (rate + lambda) * mu;
        }
        let closed = burst_rate_pps(&path, first * mu, n).unwrap();
        prop_assert!((closed / rate - 1.0).abs() < 1e-10, "{} is not {}", closed, rate);
    }

    #[test]
    fn the_bursts_forget_the_first_rate(mu in 1.0..1e4_f64, share in 0.0..0.99_f64) {
        let path = Path::from_tau(mu, share * mu, 1.0, 10.0).unwrap();
        let late = burst_rate_pps(&path, mu / 3.0, 80).unwrap();
        prop_assert!((late / limit_burst_rate_pps(&path) - 1.0).abs() < 1e-9);
    }
}
