//! Proportional rate reduction: RFC 9937 §6, with the bound of §6.2 that follows slow start when
//! progress is safe.

use ackclock_units::{Bytes, Mss};

/// The memory of PRR for one episode, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// `prr_delivered`.
    delivered: u64,
    /// `prr_out`.
    out: u64,
    /// `RecoverFS`.
    recover_fs: u64,
    /// The data that the last ACK delivered, and whether progress was safe; not yet turned into a budget.
    pending: Option<(u64, bool)>,
    /// `SndCnt`: what may still go out for the last ACK.
    budget: u64,
}

impl Prr {
    /// An episode begins with `recover_fs` of data in the network.
    pub fn begin(&mut self, recover_fs: Bytes) {
        *self = Self { recover_fs: recover_fs.get().max(1), ..Self::default() };
    }

    /// Until something is delivered, `budget` may go out.
    pub fn grant(&mut self, budget: Bytes) {
        self.budget = budget.get();
    }

    /// An ACK delivered `data`; `safe` says that SND.UNA advanced and nothing more was found lost.
    pub fn on_ack(&mut self, data: Bytes, safe: bool) {
        let (waiting, _) = self.pending.unwrap_or_default();
        self.pending = Some((waiting + data.get(), safe));
    }

    /// Turns the last ACK into a budget, now that the window to come down to is known. With
    /// `whole_segments` the proportion is rounded up to segments, as Linux counts, and not to bytes.
    pub fn settle(&mut self, ssthresh: Bytes, pipe: Bytes, mss: Mss, whole_segments: bool) {
        let Some((data, safe)) = self.pending.take() else { return };
        let (ssthresh, pipe, mss) = (ssthresh.get(), pipe.get(), u64::from(mss.get()));
        self.delivered += data;
        let count = if pipe > ssthresh {
            // Proportional: what goes out is to what was delivered as the new window to the old.
            let due = (self.delivered * ssthresh).div_ceil(self.recover_fs);
            let due = if whole_segments { due.next_multiple_of(mss) } else { due };
            due.saturating_sub(self.out)
        } else {
            let mut count = self.delivered.saturating_sub(self.out).max(data);
            if safe {
                count += mss;
            }
            count.min(ssthresh - pipe)
        };
        // The fast retransmit goes out whatever the proportion.
        self.budget = if self.out == 0 { count.max(mss) } else { count };
    }

    /// The data that may go out now.
    pub const fn budget(&self) -> Bytes {
        Bytes::new(self.budget)
    }

    /// Data goes out.
    pub fn on_sent(&mut self, len: Bytes) {
        self.out += len.get();
        self.budget = self.budget.saturating_sub(len.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_arrives_goes_out_while_the_pipe_comes_down() {
        // 20 segments in flight, ssthresh 10: for every two segments delivered one goes out.
        let mss = Mss::new(1000).unwrap();
        let segments = |n| mss.times(n);
        let mut prr = Prr::default();
        prr.begin(segments(20));
        let mut sent = Vec::new();
        for n in 0..8 {
            prr.on_ack(segments(1), false);
            prr.settle(segments(10), segments(19 - n), mss, false);
            let whole = prr.budget().whole_segments(mss);
            prr.on_sent(segments(whole));
            sent.push(whole);
        }
        // The first is the fast retransmit, ceil(1 * 10 / 20) = 0.5 raised to a segment; then
        // ceil(delivered / 2) - out: 1 - 1, 1.5 - 1, 2 - 1, ...
        assert_eq!(sent, [1, 0, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_pipe_below_the_target_grows_no_faster_than_slow_start() {
        let mss = Mss::new(1000).unwrap();
        let mut prr = Prr::default();
        prr.begin(mss.times(20));
        prr.on_sent(mss.times(1));
        // Pipe 5, target 10, one segment delivered on a safe ACK: max(1 - 1, 1) + 1 = 2.
        prr.on_ack(mss.times(1), true);
        prr.settle(mss.times(10), mss.times(5), mss, false);
        assert_eq!(prr.budget(), mss.times(2));
        // The same when more was found lost: 1.
        prr.on_sent(mss.times(2));
        prr.on_ack(mss.times(1), false);
        prr.settle(mss.times(10), mss.times(5), mss, false);
        assert_eq!(prr.budget(), mss.times(1));
    }
}
