//! The filter of ACKs of CAKE: of the ACKs of a flow that wait, those that later ones make needless are dropped.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ack::Ack;

/// The filter of ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// At least one older ACK of the flow stays in the queue.
    Conservative,
    /// An ACK goes, too, that is the last but one in the queue.
    Aggressive,
}

/// The place of the ACK that goes as the last of `waiting` has come. Each has its class, and its fields if it has ACK and
/// not SYN.
pub fn needless(filter: AckFilter, waiting: &VecDeque<(u32, Option<Ack>)>) -> Option<usize> {
    let (class, newest) = waiting.back()?;
    let newest = newest.as_ref().filter(|_| filter != AckFilter::Off)?;
    let mut found: Option<(usize, u16)> = None;
    for (place, (of, ack)) in waiting.iter().enumerate().take(waiting.len() - 1) {
        let Some(ack) = ack.filter(|ack| of == class && ack.is_superseded_by(newest)) else {
            continue;
        };
        match found {
            // The second of the same marks: the first goes.
            Some((first, marks)) if marks == ack.ecn => return Some(first),
            _ => found = Some((place, ack.ecn)),
        }
    }
    let (place, marks) = found?;
    let precedes = place + 2 == waiting.len() && marks == newest.ecn;
    (filter == AckFilter::Aggressive && precedes).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queued packets of class 0, or of class 1 if negative: ACKs of these numbers; 0 is data.
    fn dropped(filter: AckFilter, numbers: &[i32]) -> Option<usize> {
        let waiting = numbers.iter().map(|number| {
            let ack =
                Ack { is_pure: *number != 0, number: number.unsigned_abs(), ..Ack::default() };
            (u32::from(*number < 0), Some(ack))
        });
        needless(filter, &waiting.collect())
    }

    #[test]
    fn the_second_older_ack_costs_the_first() {
        let conservative = |numbers: &[i32]| dropped(AckFilter::Conservative, numbers);
        assert_eq!(conservative(&[100, 200]), None);
        assert_eq!(conservative(&[100, 200, 300]), Some(0));
        // Data and ACKs of others stand in between.
        assert_eq!(conservative(&[0, 100, -150, 200, 0, 300]), Some(1));
        assert_eq!(conservative(&[100, -200, 300]), None);
        // Duplicates of the newest stay.
        assert_eq!(conservative(&[100, 100, 100]), None);
        assert_eq!(dropped(AckFilter::Off, &[100, 200, 300]), None);
    }

    #[test]
    fn an_aggressive_filter_drops_the_one_before() {
        let aggressive = |numbers: &[i32]| dropped(AckFilter::Aggressive, numbers);
        assert_eq!(aggressive(&[100, 200]), Some(0));
        assert_eq!(aggressive(&[0, 100, 200]), Some(1));
        // Something stands between the two.
        assert_eq!(aggressive(&[100, 0, 200]), None);
        assert_eq!(aggressive(&[100, 200, 300]), Some(0));
    }

    #[test]
    fn marks_are_not_lost() {
        let ack = |number, ecn| (0, Some(Ack { is_pure: true, number, ecn, ..Ack::default() }));
        // ECE on the first alone: the second does not cost it.
        let waiting = VecDeque::from([ack(100, 0x40), ack(200, 0), ack(300, 0)]);
        assert_eq!(needless(AckFilter::Conservative, &waiting), None);
        assert_eq!(needless(AckFilter::Aggressive, &waiting), Some(1));
        let waiting = VecDeque::from([ack(100, 0x40), ack(200, 0)]);
        assert_eq!(needless(AckFilter::Aggressive, &waiting), None);
    }
}
