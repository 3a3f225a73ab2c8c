//! Every law of the house keeps the rules, and each rule finds a law that does not.

use ackclock_laws::growth::Reno;

use super::*;
use crate::variant::{Part, REGISTRY, register_law};

fn plan(stories: u64) -> Plan {
    Plan { stories, seed: 1, only: None, heard: None }
}

/// The rules that laws mean to break.
const MEANT: [(&str, &str); 5] = [
    // Linux's `tcp_vegas_cong_avoid` compares rates once a round, and asks nobody whether the window is in use.
    ("vegas", rule::IDLE),
    // Linux's sets the window when the repair ends, to what it has measured by then.
    ("westwood", rule::IDLE),
    ("nv", rule::IDLE),
    // 2^rho - 1 segments an ACK in slow start.
    ("hybla", rule::AT_MOST_ACKED),
    // An alpha of 10 in a window of few segments.
    ("illinois", rule::AT_MOST_ACKED),
];

#[test]
fn the_laws_of_the_house_keep_the_rules() {
    let laws = REGISTRY.iter().filter(|entry| matches!(entry.choice, Part::Growth(_)));
    for entry in laws {
        let kept = check_law(&entry.spelled(), &plan(30), |_| true);
        if let Err(broken) = &kept
            && MEANT.contains(&(entry.word, broken.rule))
        {
            continue;
        }
        let kept = kept.unwrap_or_else(|broken| panic!("{}: {broken:#?}", entry.spelled()));
        let kept = kept.unwrap();
        assert!(kept.events > 300, "{}: {kept:?}", entry.spelled());
    }
}

/// Reno with one thing wrong.
#[derive(Debug)]
struct Wrong {
    reno: Reno,
    what: Mistake,
    /// A window in the place of Reno's.
    cwnd: Option<Bytes>,
    mss: Mss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    ZeroAfterTimeout,
    GrowsOnDuplicates,
    GrowsInSilence,
    GrowsOnLoss,
    ReducesTwice,
    Jumps,
    Remembers,
    Panics,
}

/// Outside of any connection.
static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl Growth for Wrong {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.reno.on_ack(ack, slow_start);
        let cwnd = self.cwnd();
        match self.what {
            Mistake::GrowsOnDuplicates if slow_start.is_none() => {
                self.cwnd = Some(cwnd + ack.mss.bytes());
            }
            Mistake::Jumps => self.cwnd = Some(cwnd * 2),
            Mistake::Remembers => {
                let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                self.cwnd = Some(self.reno.cwnd() + Bytes::new(count % 7));
            }
            Mistake::Panics if slow_start.is_none() => panic!("not in congestion avoidance"),
            _ => {}
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let before = self.cwnd();
        self.cwnd = None;
        self.reno.on_congestion(congestion);
        let timeout = matches!(congestion.signal, Signal::Timeout { .. });
        match self.what {
            Mistake::ZeroAfterTimeout if timeout => self.cwnd = Some(Bytes::ZERO),
            Mistake::GrowsOnLoss if !timeout => self.cwnd = Some(before * 3 / 2),
            _ => {}
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        self.reno.on_recovery_end(end);
        if self.what == Mistake::ReducesTwice {
            self.cwnd = Some((self.cwnd() / 2).max(end.mss.bytes()));
        }
    }

    fn wants(&self) -> Wants {
        Wants { grows_unused: self.what == Mistake::GrowsInSilence, ..Wants::ACKS }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        self.cwnd = None;
        self.reno.rebase(proposal);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd.unwrap_or_else(|| self.reno.cwnd())
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.reno.ssthresh()
    }
}

/// The rule that Reno with a mistake breaks, as the check finds it.
fn found(name: &str, what: Mistake) -> Broken {
    let make = move || -> Box<dyn Growth> {
        Box::new(Wrong { reno: Reno::default(), what, cwnd: None, mss: Mss::default() })
    };
    register_law(name, make).unwrap();
    *check_law(name, &plan(200), |_| true).expect_err(name)
}

#[test]
fn each_mistake_is_found_and_told_shortly() {
    for (name, what, rule) in [
        ("wronga", Mistake::ZeroAfterTimeout, rule::SOUND),
        ("wrongb", Mistake::GrowsOnDuplicates, rule::DUPLICATE),
        ("wrongc", Mistake::GrowsInSilence, rule::IDLE),
        ("wrongd", Mistake::GrowsOnLoss, rule::REDUCES),
        ("wronge", Mistake::ReducesTwice, rule::ONCE),
        ("wrongf", Mistake::Jumps, rule::AT_MOST_ACKED),
        ("wrongg", Mistake::Remembers, rule::SAME),
        ("wrongh", Mistake::Panics, rule::SOUND),
    ] {
        let broken = found(name, what);
        assert_eq!(broken.rule, rule, "{broken:#?}");
        assert!(broken.steps.len() <= 14, "{broken:#?}");
        assert!(!broken.events.is_empty(), "{broken:#?}");
    }
}

#[test]
fn a_timeout_takes_one_segment_and_time() {
    // The fewest steps that lead to a timeout: something is written, the probe's timer expires, then that of the timeout.
    let broken = found("wrongi", Mistake::ZeroAfterTimeout);
    assert_eq!(broken.steps.len(), 3, "{broken:#?}");
    assert!(broken.steps[0].starts_with("the application writes"));
    assert!(broken.steps[1..].iter().all(|step| step.ends_with("ms pass")));
    assert!(
        broken.what.ends_with("cwnd is 0 bytes; expected at least a segment, which is 1000 bytes"),
        "{}",
        broken.what
    );
}

#[test]
fn one_story_is_told_alone() {
    let mut begun = Vec::new();
    let only = Plan { only: Some(5), ..plan(10) };
    let kept = check_law("reno", &only, |number| {
        begun.push(number);
        true
    });
    assert_eq!(kept.unwrap().map(|kept| kept.stories), Some(1));
    assert_eq!(begun, [5]);
    assert_eq!(check_law("reno", &plan(10), |_| false), Ok(None));
}
