//! The set-associative hash of CAKE: a flow has eight queues to choose from, so that few flows meet.

/// Flow queues of a tin.
pub const QUEUES: usize = 1024;
const WAYS: usize = 8;

/// The hash that each queue was last given to.
#[derive(Clone, Debug)]
pub struct Tags(Vec<u32>);

impl Tags {
    pub fn new() -> Self {
        Self(vec![0; QUEUES])
    }

    /// The queue of a flow of this hash, where `is_used` says of which queues flows are still served.
    pub fn place(&mut self, hash: u32, is_used: impl Fn(usize) -> bool) -> usize {
        let own = hash as usize % QUEUES;
        if self.0[own] == hash && is_used(own) {
            return own;
        }
        let first = own - own % WAYS;
        // From its own way on, around the set.
        let ways = || (0..WAYS).map(|n| first + (own + n) % WAYS);
        let place = ways()
            .find(|way| self.0[*way] == hash)
            .or_else(|| ways().find(|way| !is_used(*way)))
            .unwrap_or(own);
        self.0[place] = hash;
        place
    }
}
