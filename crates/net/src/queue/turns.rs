//! Turns of flow queues: deficit round robin with new flows before old ones (RFC 8290 §4.1, §4.2), and the way from a
//! packet to its flow queue.

use std::collections::VecDeque;

use super::fq_codel::{Classify, bucket};

const NOWHERE: u32 = u32::MAX;

/// The places of flow queues, given out as they are first used.
#[derive(Clone, Debug)]
pub struct Places {
    classify: Classify,
    /// The number of queues that a hash leads to.
    hashed: u32,
    /// Salts the hash (RFC 8290 §4.1).
    salt: u64,
    given: Vec<u32>,
    /// The number of places given out.
    used: u32,
}

impl Places {
    pub const fn new(classify: Classify, hashed: u32, salt: u64) -> Self {
        Self { classify, hashed, salt, given: Vec::new(), used: 0 }
    }

    /// The place of the queue of `class`; the next one if it has none yet.
    #[inline]
    pub fn of(&mut self, class: u32) -> usize {
        let bucket = match self.classify {
            Classify::Flow => class as usize,
            Classify::Hash => bucket(class, self.salt, self.hashed) as usize,
        };
        if self.given.len() <= bucket {
            self.given.resize(bucket + 1, NOWHERE);
        }
        let place = &mut self.given[bucket];
        if *place == NOWHERE {
            *place = self.used;
            self.used += 1;
        }
        *place as usize
    }
}

/// The turn of a flow queue.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// The bytes that it may send before its turn is over.
    deficit: i64,
    /// True if it is in one of the two lists.
    listed: bool,
}

/// The lists of new and of old flow queues.
#[derive(Clone, Debug)]
pub struct Turns {
    quantum: i64,
    states: Vec<Turn>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl Turns {
    /// Turns of `quantum` bytes.
    pub const fn new(quantum: u32) -> Self {
        Self {
            quantum: quantum as i64,
            states: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// Notes that a packet comes to the queue at `place`; true if that was in no list.
    #[inline]
    pub fn join(&mut self, place: usize) -> bool {
        if self.states.len() <= place {
            self.states.resize(place + 1, Turn::default());
        }
        let turn = &mut self.states[place];
        if turn.listed {
            return false;
        }
        *turn = Turn { deficit: self.quantum, listed: true };
        self.new.push_back(u32::try_from(place).expect("fewer than 2^32 queues"));
        true
    }

    /// The place of the queue whose turn it is.
    #[inline]
    pub fn next(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let place = *list.front()?;
            let turn = &mut self.states[place as usize];
            if turn.deficit > 0 {
                return Some(place as usize);
            }
            turn.deficit += self.quantum;
            list.pop_front();
            self.old.push_back(place);
        }
    }

    /// Notes that the queue at `place` sends `bytes`.
    #[inline]
    pub fn sends(&mut self, place: usize, bytes: u32) {
        self.states[place].deficit -= i64::from(bytes);
    }

    /// Notes that the queue whose [turn](Self::next) it is has nothing to send. A new one goes through the old list
    /// once, or a flow that sends little could starve those there.
    #[inline]
    pub fn rests(&mut self) {
        if let Some(place) = self.new.pop_front() {
            self.old.push_back(place);
        } else if let Some(place) = self.old.pop_front() {
            self.states[place as usize].listed = false;
        }
    }

    /// The deficit of the queue at `place`.
    #[cfg(test)]
    pub fn deficit(&self, place: usize) -> i64 {
        self.states[place].deficit
    }
}
