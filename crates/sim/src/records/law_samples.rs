//! The published variables of growth laws over time.

use ackclock_laws::growth::{Growth, Value, Variable};
use ackclock_units::Instant;

/// A variable of a flow's law at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawRow {
    /// When, in nanoseconds since the run began.
    pub time_ns: u64,
    /// Which flow, an index into [`Run::flow_names`](super::Run::flow_names).
    pub flow: u32,
    /// The name of the variable.
    pub variable: &'static str,
    /// The value.
    pub value: Value,
}

/// The values of one flow's law that were recorded last.
#[derive(Clone, Debug, Default)]
pub struct LawWatch {
    last: Vec<Value>,
}

impl LawWatch {
    /// Adds to `rows` the variables of `law` whose values are others than at the last call; at the first call, all.
    pub fn record_changes(
        &mut self,
        now: Instant,
        flow: usize,
        law: &impl Growth,
        rows: &mut Vec<LawRow>,
    ) {
        let mut at = 0;
        each(now, flow, law, |row| {
            match self.last.get_mut(at) {
                Some(last) if *last == row.value => {}
                Some(last) => {
                    *last = row.value;
                    rows.push(row);
                }
                None => {
                    self.last.push(row.value);
                    rows.push(row);
                }
            }
            at += 1;
        });
    }
}

/// Adds to `rows` every variable of `law`.
pub fn record_all(now: Instant, flow: usize, law: &impl Growth, rows: &mut Vec<LawRow>) {
    each(now, flow, law, |row| rows.push(row));
}

fn each(now: Instant, flow: usize, law: &impl Growth, mut take: impl FnMut(LawRow)) {
    let flow = u32::try_from(flow).expect("the check bounds the number of flows");
    law.variables(&mut |Variable { name, .. }, value| {
        take(LawRow { time_ns: now.as_nanos(), flow, variable: name, value });
    });
}

#[cfg(test)]
mod tests {
    use ackclock_laws::event::{Ack, Congestion, Proposal, RecoveryEnd, SlowStartStep};
    use ackclock_laws::growth::AnyGrowth;
    use ackclock_units::Bytes;

    use super::*;

    /// A law of two variables, of which a test sets one.
    #[derive(Debug)]
    struct Known(f64);

    impl Growth for Known {
        fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}
        fn on_congestion(&mut self, _: &Congestion) {}
        fn on_recovery_end(&mut self, _: &RecoveryEnd) {}
        fn rebase(&mut self, _: &Proposal) {}
        fn cwnd(&self) -> Bytes {
            Bytes::new(1000)
        }
        fn ssthresh(&self) -> Option<Bytes> {
            None
        }
        fn variables(&self, give: &mut dyn FnMut(Variable, Value)) {
            give(Variable { name: "moves", help: "what a test sets" }, self.0.into());
            give(Variable { name: "state", help: "a word" }, "still".into());
        }
    }

    #[test]
    fn a_change_is_a_row_and_no_change_is_none() {
        let (mut watch, mut rows) = (LawWatch::default(), Vec::new());
        for (millis, moves) in [(1, 2.0), (2, 2.0), (3, 5.0), (4, 5.0), (5, 2.0)] {
            let now = Instant::START + ackclock_units::Duration::from_millis(millis);
            watch.record_changes(now, 4, &Known(moves), &mut rows);
        }
        let seen: Vec<_> = rows.iter().map(|row| (row.time_ns, row.variable, row.value)).collect();
        assert_eq!(
            seen,
            [
                (1_000_000, "moves", Value::Number(2.0)),
                (1_000_000, "state", Value::Word("still")),
                (3_000_000, "moves", Value::Number(5.0)),
                (5_000_000, "moves", Value::Number(2.0)),
            ]
        );
        assert!(rows.iter().all(|row| row.flow == 4));
    }

    #[test]
    fn a_law_without_variables_leaves_no_rows() {
        let mut rows = Vec::new();
        let reno = AnyGrowth::Reno(ackclock_laws::growth::Reno::default());
        record_all(Instant::START, 0, &reno, &mut rows);
        assert_eq!(rows, []);
    }
}
