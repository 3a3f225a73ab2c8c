//! A growth law beside a recorded trace: the events of one congestion control are given to another, and the windows
//! compared.
//!
//! A trace has what a law is told, and the window that its own law had after each event. It has no proportional rate
//! reduction: in CWR and in Recovery its window stays what it was before, so that windows are compared in the other states,
//! and at the end of these.

use ackclock_laws::event::CaState;
use ackclock_units::{Duration, Mss};

use crate::config::Config;
use crate::sender::replay::{BEGIN, Replay};

pub use crate::sender::replay::{Kind, Row};

/// The settings of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The segments of the trace.
    pub mss: Mss,
    /// The peer's clock of timestamps less this end's, in milliseconds, where the trace has timestamps.
    pub stamp_offset: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { mss: const { Mss::new(1448).unwrap() }, stamp_offset: 0 }
    }
}

/// An event after which the windows differ. Windows are in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the event, from 0.
    pub event: u64,
    /// The time since the first event.
    pub at: Duration,
    /// Its kind.
    pub kind: Kind,
    /// The sender's state, and the trace's.
    pub state: [CaState; 2],
    /// The sender's window, and the trace's.
    pub cwnd: [u64; 2],
    /// The sender's threshold, and the trace's.
    pub ssthresh: [Option<u64>; 2],
}

/// The result of a comparison, in events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Events of the trace.
    pub events: u64,
    /// Events after which the windows can be compared.
    pub compared: u64,
    /// Events after which the windows are equal.
    pub equal: u64,
    /// Events after which they differ by at most one segment.
    pub within_one: u64,
    /// Events, of all, after which the thresholds are equal.
    pub ssthresh_equal: u64,
    /// Events, of all, after which the states are equal, where Disorder counts as Open.
    pub state_equal: u64,
    /// Events whose window was taken over from the trace, which has one that follows from the lack of proportional rate
    /// reduction: an undo that has nothing to take back, and a timeout that reduces once more in CWR or in Recovery.
    pub taken_over: u64,
    /// The first event after which the windows differ.
    pub first_difference: Option<Difference>,
}

/// Few laws ask for Disorder.
fn known(state: CaState) -> CaState {
    if state == CaState::Disorder { CaState::Open } else { state }
}

/// Gives `rows` to a sender by `config`, and compares its windows with theirs.
pub fn compare(config: &Config, plan: Plan, rows: impl IntoIterator<Item = Row>) -> Comparison {
    let config = Config { mss: plan.mss, ..*config };
    let mut rows = rows.into_iter().peekable();
    let mut found = Comparison::default();
    let Some(first) = rows.peek() else { return found };
    let mut replay = Replay::new(&config, plan.stamp_offset, first);
    let mut last = first.cwnd;
    while let Some(row) = rows.next() {
        let reducing = matches!(replay.state(), CaState::Cwr | CaState::Recovery);
        if row.kind == Kind::Timeout && row.reduces && reducing {
            found.taken_over += 1;
            replay.forget_state();
            replay.take_over(last);
        }
        replay.step(&row, rows.peek());
        let settled = !matches!(row.state, CaState::Cwr | CaState::Recovery);
        if row.kind == Kind::Undo && !row.undoes && settled {
            found.taken_over += 1;
            replay.take_over(row.cwnd);
            note(&mut found, &replay, &row, false);
        } else {
            note(&mut found, &replay, &row, settled);
        }
        last = row.cwnd;
    }
    found
}

fn note(found: &mut Comparison, replay: &Replay, row: &Row, comparable: bool) {
    let (cwnd, ssthresh) = replay.windows();
    let state = replay.state();
    found.ssthresh_equal += u64::from(ssthresh == row.ssthresh);
    found.state_equal += u64::from(known(state) == known(row.state));
    if comparable {
        found.compared += 1;
        found.equal += u64::from(cwnd == row.cwnd);
        found.within_one += u64::from(cwnd.abs_diff(row.cwnd) <= 1);
        if cwnd != row.cwnd {
            found.first_difference.get_or_insert(Difference {
                event: found.events,
                at: replay.now().since(BEGIN),
                kind: row.kind,
                state: [state, row.state],
                cwnd: [cwnd, row.cwnd],
                ssthresh: [ssthresh, row.ssthresh],
            });
        }
    }
    found.events += 1;
}

#[cfg(test)]
mod tests;
