//! C4, "Christian's Congestion Control Code": draft-huitema-ccwg-c4-spec, the text after its revision -04 (working copy of
//! -05). Names are the draft's.
//!
//! The rate is a nominal one that measurements raise and congestion lowers; the window is what it sends in the largest
//! round-trip time that the path has without queues. Flows with a high rate are more sensitive to congestion than others.

use ackclock_units::{Bytes, Duration, Mss, Rate};

use super::bbr::{self, Rounds, bytes, pacing_rate, volume};
use super::contract::{About, Growth, Law, Wants};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Delivery, Proposal, RecoveryEnd, Repair, Signal, SlowStartStep, Why,
};
use crate::words::{ANY, Described, Slot, Word};

/// The coefficients of the states.
const ALPHA_INITIAL: f64 = 2.0;
const ALPHA_RECOVERY: f64 = 15.0 / 16.0;
// DEVIATION(c4-spec): the table of coefficients says 3/4 for draining, the section on it 7/8, which is taken.
const ALPHA_DRAINING: f64 = 7.0 / 8.0;
const ALPHA_PROBING: f64 = 17.0 / 16.0;
const ALPHA_PUSHING: f64 = 5.0 / 4.0;
/// The growth in a pushing era that is sufficient.
const SUFFICIENT: f64 = 19.0 / 16.0;
/// `MAX_JITTER`.
const MAX_JITTER: Duration = Duration::from_millis(250);
/// The least pacing rate in the initial state, in bytes per second.
const LEAST_INITIAL_RATE: f64 = 1_048_576.0 / 8.0;
/// The rate while none is known: that of a fast interface.
const INTERFACE_RATE: f64 = 1e10;
/// Eras without growth that end the initial state; those that let a delay end it; and the packets that let a loss.
const INITIAL_ERAS: u32 = 3;
const INITIAL_ERAS_AT_DELAY: u32 = 2;
const INITIAL_PACKETS_AT_LOSS: u64 = 20;
/// Eras of cruising; and those of pushing after which the initial state begins again.
const CRUISING_ERAS: u32 = 2;
const PUSHING_ERAS: u32 = 3;
/// The allowance for an underestimated round-trip time: a quarter of it, and at most this.
const MARGIN: Duration = Duration::from_millis(15);
/// The largest threshold of the delay.
const LARGEST_THRESHOLD: f64 = 0.025;
/// The most that a signal takes.
const LARGEST_BETA: f64 = 0.25;
/// The weight of a packet in the mean loss rate.
const LOSS_WEIGHT: f64 = 1.0 / 16.0;
/// The least window, in segments.
const LEAST: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Recovery,
    Cruising,
    Probing,
    Pushing,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Recovery => "recovery",
            Self::Cruising => "cruising",
            Self::Probing => "probing",
            Self::Pushing => "pushing",
        }
    }
}

/// The sensitivity of a flow with a rate in bytes per second.
fn sensitivity(rate: f64) -> f64 {
    let between = |low: f64, high: f64| ((rate - low) / (high - low)).clamp(0.0, 1.0);
    0.92 * between(5e4, 1e6) + 0.08 * between(1e6, 1e7)
}

/// The delay beyond the largest round-trip time that is congestion, in seconds.
fn delay_threshold(rate: f64, nominal_max_rtt: f64) -> f64 {
    let fraction = 1.0 / 16.0 + (1.0 - sensitivity(rate)) * 3.0 / 16.0;
    (fraction * nominal_max_rtt).min(LARGEST_THRESHOLD)
}

/// The mean loss rate that is congestion.
fn loss_threshold(rate: f64) -> f64 {
    0.02 + 0.5 * (1.0 - sensitivity(rate))
}

/// C4.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on one another")]
pub struct C4 {
    mss: Mss,
    state: State,
    /// The state before a recovery.
    before: State,
    /// Eras spent in the state.
    eras: u32,
    /// In bytes per second; zero until one was measured.
    nominal_rate: f64,
    nominal_max_rtt: Option<Duration>,
    running_min_rtt: Option<Duration>,
    era_max_rtt: Duration,
    era_min_rtt: Option<Duration>,
    rounds: Rounds,
    alpha: f64,
    alpha_previous: f64,
    /// The rate when the era began; and when the cycle of states did, which recoveries end.
    rate_at_era: f64,
    rate_at_cycle: f64,
    recent_max_rate: f64,
    eras_without_increase: u32,
    initial_cwnd: f64,
    received: Bytes,
    loss_rate: f64,
    /// Congestion has led to this recovery, or was seen in it.
    congested: bool,
    successive_congestions: u32,
    /// The application limited the sender since the cycle began.
    app_limited: bool,
    drains: bool,
    /// High jitter has led to the initial state, which it may do once.
    restarted: bool,
    cwnd: Bytes,
    /// The window before a timeout.
    undo: Option<Bytes>,
}

impl Default for C4 {
    fn default() -> Self {
        let mss = Mss::default();
        Self {
            mss,
            state: State::Initial,
            before: State::Initial,
            eras: 0,
            nominal_rate: 0.0,
            nominal_max_rtt: None,
            running_min_rtt: None,
            era_max_rtt: Duration::ZERO,
            era_min_rtt: None,
            rounds: Rounds::default(),
            alpha: ALPHA_INITIAL,
            alpha_previous: ALPHA_INITIAL,
            rate_at_era: 0.0,
            rate_at_cycle: 0.0,
            recent_max_rate: 0.0,
            eras_without_increase: 0,
            initial_cwnd: 0.0,
            received: Bytes::ZERO,
            loss_rate: 0.0,
            congested: false,
            successive_congestions: 0,
            app_limited: false,
            drains: false,
            restarted: false,
            cwnd: mss.bytes(),
            undo: None,
        }
    }
}

impl C4 {
    fn max_rtt(&self) -> Duration {
        self.nominal_max_rtt.unwrap_or_default()
    }

    fn enter(&mut self, state: State) {
        self.before = self.state;
        self.state = state;
        self.eras = 0;
        self.alpha = match state {
            State::Initial => ALPHA_INITIAL,
            State::Recovery if self.drains => ALPHA_DRAINING,
            State::Recovery => ALPHA_RECOVERY,
            State::Cruising => 1.0,
            State::Probing => ALPHA_PROBING,
            State::Pushing => ALPHA_PUSHING,
        };
        if state == State::Initial {
            self.initial_cwnd = volume(self.nominal_rate, self.max_rtt());
            self.eras_without_increase = 0;
        }
    }

    /// Leaves a state for recovery; `delivered` is what has been so far.
    fn recover(&mut self, delivered: Bytes, congested: bool) {
        if self.state == State::Initial && self.nominal_rate > 0.0 {
            let rtt = self.cwnd.as_f64() / 2.0 / self.nominal_rate;
            let least = self.running_min_rtt.or(self.era_min_rtt).unwrap_or_default();
            self.nominal_max_rtt = Some(Duration::from_secs_f64(rtt).max(least));
        }
        self.drains = matches!(self.state, State::Initial | State::Pushing);
        self.congested = congested;
        // The era of the recovery ends with the first segment that is sent in it.
        self.begin_era(delivered);
        self.enter(State::Recovery);
    }

    fn begin_era(&mut self, delivered: Bytes) {
        self.alpha_previous = self.alpha;
        self.era_max_rtt = Duration::ZERO;
        self.era_min_rtt = None;
        self.rate_at_era = self.nominal_rate;
        self.rounds.restart(delivered);
    }

    /// The round-trip times of an era whose segments were sent at no more than the nominal rate.
    fn learn_rtt(&mut self) {
        let Some(least) = self.era_min_rtt.filter(|_| self.alpha_previous <= 1.0) else { return };
        let running = match self.running_min_rtt {
            Some(running) if least >= running => (running * 7 + least) / 8,
            _ => least,
        };
        self.running_min_rtt = Some(running);
        let largest = self.era_max_rtt.min(running + MAX_JITTER);
        let nominal = self.max_rtt();
        self.nominal_max_rtt =
            Some(if largest > nominal { largest } else { (nominal * 7 + largest) / 8 });
    }

    fn end_era(&mut self, delivered: Bytes) {
        self.learn_rtt();
        self.eras += 1;
        let increased = self.nominal_rate > self.rate_at_era;
        let sufficient = self.nominal_rate >= SUFFICIENT * self.rate_at_era;
        match self.state {
            State::Initial => {
                if increased {
                    self.eras_without_increase = 0;
                } else if !self.app_limited {
                    self.eras_without_increase += 1;
                }
                self.app_limited = false;
                if self.eras_without_increase >= INITIAL_ERAS {
                    self.recover(delivered, false);
                    return;
                }
            }
            State::Recovery => self.end_recovery(),
            State::Cruising if self.eras >= CRUISING_ERAS && !self.app_limited => {
                self.enter(State::Probing);
            }
            State::Cruising => self.app_limited = false,
            State::Probing => {
                self.recover(delivered, false);
                return;
            }
            State::Pushing if self.eras > PUSHING_ERAS => self.enter(State::Initial),
            State::Pushing if self.eras >= 2 && !sufficient => {
                self.recover(delivered, false);
                return;
            }
            State::Pushing => {}
        }
        self.begin_era(delivered);
    }

    fn end_recovery(&mut self) {
        let grew = self.nominal_rate > self.rate_at_cycle;
        let recent = self.recent_max_rate;
        if self.congested {
            self.successive_congestions += 1;
            if self.successive_congestions > 1 && recent > 0.0 {
                self.nominal_rate = self.nominal_rate.min(recent);
            }
        } else {
            self.successive_congestions = 0;
            if !grew && !self.app_limited && recent > 0.0 && self.before != State::Initial {
                self.nominal_rate = f64::midpoint(self.nominal_rate, recent);
            }
        }
        let probed = self.before == State::Probing && grew && !self.congested;
        let jitter = self.running_min_rtt.unwrap_or_default() * 5 < self.max_rtt() * 2;
        (self.recent_max_rate, self.congested, self.app_limited) = (0.0, false, false);
        self.drains = false;
        self.rate_at_cycle = self.nominal_rate;
        if probed {
            self.enter(State::Pushing);
        } else if jitter && !self.restarted {
            // DEVIATION(c4-spec): once in a connection. The text does not say so, and a queue that others fill looks as
            // jitter does.
            self.restarted = true;
            self.enter(State::Initial);
        } else {
            self.enter(State::Cruising);
        }
    }

    /// The delivery rate. It is the house's sample, from deliveries alone (draft-ietf-ccwg-bbr-06 §4.1.2), where the draft
    /// counts from the sending of the segment.
    fn learn_rate(&mut self, delivery: &Delivery) {
        let Some(sample) = delivery.sample.filter(|sample| sample.interval.is_some()) else {
            return;
        };
        self.app_limited |= sample.is_app_limited;
        let rate = sample.rate();
        self.recent_max_rate = self.recent_max_rate.max(rate);
        // The text prints the comparison the other way round; measurements "can only cause increases".
        if !self.congested && rate > self.nominal_rate {
            self.nominal_rate = rate;
        }
    }

    /// True if the mean loss rate is congestion.
    fn learn_losses(&mut self, delivery: &Delivery) -> bool {
        let mss = delivery.mss;
        let mut is_congested = false;
        if delivery.repair != Repair::AfterTimeout {
            for _ in 0..delivery.newly_lost.whole_segments(mss).min(1000) {
                self.loss_rate += (1.0 - self.loss_rate) * LOSS_WEIGHT;
            }
            is_congested = delivery.newly_lost > Bytes::ZERO
                && self.loss_rate > loss_threshold(self.nominal_rate);
        }
        for _ in 0..delivery.newly_delivered.whole_segments(mss).min(1000) {
            self.loss_rate -= self.loss_rate * LOSS_WEIGHT;
        }
        is_congested
    }

    /// The part of the rate that a delay takes, if it is congestion.
    fn delay_signal(&self, rtt: Option<Duration>) -> Option<f64> {
        let (rtt, most) = (rtt?.as_secs_f64(), self.nominal_max_rtt?.as_secs_f64());
        let threshold = delay_threshold(self.nominal_rate, most);
        let excess = rtt - most - threshold;
        (excess > 0.0).then(|| (excess / threshold.max(1e-9)).min(LARGEST_BETA))
    }

    /// A signal of congestion; `beta` is the part of the rate that it takes while cruising.
    fn on_signal(&mut self, delivered: Bytes, beta: f64) {
        match self.state {
            State::Recovery => {
                self.congested = true;
                return;
            }
            State::Cruising => self.nominal_rate *= 1.0 - beta,
            State::Initial | State::Probing | State::Pushing => {}
        }
        self.recover(delivered, true);
    }

    fn watch(&mut self, delivery: &Delivery) {
        let lost = self.learn_losses(delivery);
        let late = self.delay_signal(delivery.rtt);
        let counts = |law: &Self, by_loss: bool| match law.state {
            State::Initial if by_loss => {
                law.received.whole_segments(law.mss) > INITIAL_PACKETS_AT_LOSS
            }
            State::Initial => law.eras_without_increase >= INITIAL_ERAS_AT_DELAY,
            _ => true,
        };
        if lost && counts(self, true) {
            self.on_signal(delivery.delivered, LARGEST_BETA);
        } else if let Some(beta) = late.filter(|_| counts(self, false)) {
            self.on_signal(delivery.delivered, beta);
        }
    }

    /// The pacing rate, in bytes per second.
    fn rate(&self) -> f64 {
        if self.nominal_rate <= 0.0 || self.nominal_max_rtt.is_none() {
            return INTERFACE_RATE;
        }
        let rate = self.alpha * self.nominal_rate;
        if self.state == State::Initial { rate.max(LEAST_INITIAL_RATE) } else { rate }
    }

    fn set_cwnd(&mut self) {
        if self.nominal_rate <= 0.0 || self.nominal_max_rtt.is_none() {
            return;
        }
        let rtt = self.max_rtt();
        let window = if self.state == State::Initial {
            self.initial_cwnd.max(volume(self.alpha * self.nominal_rate, rtt))
        } else {
            // DEVIATION(c4-spec): the text adds the margin, a time, to the rate; it is one of the round-trip time.
            volume(self.rate(), rtt + (rtt / 4).min(MARGIN))
        };
        self.cwnd = bytes(window).max(self.mss.times(LEAST));
    }
}

impl Described for C4 {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "c4",
        (),
        "a nominal rate, pushed up by probes and taken back by delay and loss (draft-huitema-ccwg-c4-spec)",
    )];
}

impl Law for C4 {
    const ABOUT: About = About {
        source: "draft-huitema-ccwg-c4-spec",
        defaults: &[(ANY, "noidle")],
        owns: &[
            (
                Slot::SlowStart,
                "C4 has an initial state of its own, which ends when the rate stops growing",
            ),
            (Slot::Jump, "C4's window follows from the rate that it measures"),
            (Slot::Idle, "C4 keeps its nominal rate after silence"),
        ],
        recoveries: bbr::RECOVERIES_OF_MODELS,
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for C4 {
    variables! { law =>
        "state", "initial, recovery, cruising, probing or pushing": law.state.word();
        "nominal_rate_bps", "the nominal rate": 8.0 * law.nominal_rate;
        "nominal_max_rtt_s", "the nominal maximum round-trip time": law.nominal_max_rtt;
        "running_min_rtt_s", "the running minimum round-trip time": law.running_min_rtt;
        "alpha", "the coefficient of the rate in this state": law.alpha;
        "loss_rate", "the smoothed loss rate": law.loss_rate;
    }

    /// All is done in [`on_delivery`](Growth::on_delivery).
    fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        match congestion.signal {
            // Losses count as the mean loss rate has it.
            Signal::Loss => {}
            // DEVIATION(c4-spec): an echo once a round trip (RFC 3168), and not the rate of marks, is all that is known: it
            // takes what the largest rate of marks would.
            Signal::Ecn { .. } => self.on_signal(self.received, LARGEST_BETA),
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.undo = Some(self.cwnd);
                }
                self.cwnd = congestion.mss.bytes();
            }
        }
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn on_spurious(&mut self) {
        if let Some(before) = self.undo.take() {
            self.cwnd = self.cwnd.max(before);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        if proposal.why != Why::Established {
            return;
        }
        self.mss = proposal.mss;
        self.cwnd = proposal.cwnd.unwrap_or_else(|| self.mss.bytes()).max(self.mss.bytes());
        self.initial_cwnd = self.cwnd.as_f64();
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn in_slow_start(&self) -> bool {
        self.state == State::Initial
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(pacing_rate(self.rate()))
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, grows_by_acks: false, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        self.received = delivery.delivered;
        if let Some(rtt) = delivery.rtt {
            self.nominal_max_rtt.get_or_insert(rtt);
            self.era_max_rtt = self.era_max_rtt.max(rtt);
            self.era_min_rtt = Some(self.era_min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.learn_rate(delivery);
        if self.state == State::Initial {
            let slower = 1_u64.checked_shl(3 * self.eras_without_increase).unwrap_or(u64::MAX);
            self.initial_cwnd += delivery.newly_delivered.as_f64() / slower as f64;
        }
        self.watch(delivery);
        if let Some(sample) = &delivery.sample {
            self.rounds.on_delivered(sample.prior_delivered, delivery.delivered);
            if self.rounds.start {
                self.end_era(delivery.delivered);
            }
        }
        self.set_cwnd();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_with_a_high_rate_are_sensitive() {
        // 0.92 * 475/950, and 0.92 + 0.08 * 4.5/9.
        for (rate, expected) in [
            (4e4, 0.0),
            (5e4, 0.0),
            (5.25e5, 0.46),
            (1e6, 0.92),
            (5.5e6, 0.96),
            (1e7, 1.0),
            (1e9, 1.0),
        ] {
            assert!((sensitivity(rate) - expected).abs() < 1e-9, "{rate}");
        }
    }

    #[test]
    fn thresholds_follow_the_sensitivity() {
        // 1 MB/s: (1/16 + 0.08 * 3/16) * 40 ms = 3.1 ms; 50 kB/s: a quarter of 40 ms; never more than 25 ms.
        assert!((delay_threshold(1e6, 0.04) - 0.0031).abs() < 1e-9);
        assert!((delay_threshold(5e4, 0.04) - 0.01).abs() < 1e-9);
        assert!((delay_threshold(5e4, 0.5) - 0.025).abs() < 1e-9);
        // 0.02 + 0.5 * 0.08, and 0.52 for a slow flow.
        assert!((loss_threshold(1e6) - 0.06).abs() < 1e-9);
        assert!((loss_threshold(1e3) - 0.52).abs() < 1e-9);
    }

    fn cruising() -> C4 {
        C4 {
            state: State::Cruising,
            alpha: 1.0,
            nominal_rate: 1e6,
            nominal_max_rtt: Some(Duration::from_millis(40)),
            running_min_rtt: Some(Duration::from_millis(40)),
            ..C4::default()
        }
    }

    #[test]
    fn a_delay_takes_the_excess_in_thresholds_and_a_quarter_at_most() {
        // The threshold is 3.1 ms: 43.41 ms are a tenth of it beyond, 50 ms more than two.
        let law = cruising();
        let beta = |micros| law.delay_signal(Some(Duration::from_micros(micros)));
        assert_eq!(beta(43_000), None);
        assert!((beta(43_410).unwrap() - 0.1).abs() < 1e-6);
        assert!((beta(50_000).unwrap() - 0.25).abs() < 1e-9);
    }

    #[test]
    fn only_a_cruising_flow_pays() {
        for (state, left) in
            [(State::Cruising, 0.75e6), (State::Probing, 1e6), (State::Pushing, 1e6)]
        {
            let mut law = C4 { state, ..cruising() };
            law.on_signal(Bytes::ZERO, LARGEST_BETA);
            assert!((law.nominal_rate - left).abs() < 1e-6, "{state:?}");
            assert!(law.state == State::Recovery && law.congested);
        }
    }

    #[test]
    fn the_window_is_what_the_rate_sends_in_the_largest_round_trip_and_a_margin() {
        // 1 MB/s * (40 + 10) ms; at 100 ms the margin is 15; probing 17/16 of it.
        let mut law = cruising();
        law.set_cwnd();
        assert_eq!(law.cwnd(), Bytes::new(50_000));
        law.nominal_max_rtt = Some(Duration::from_millis(100));
        law.enter(State::Probing);
        law.set_cwnd();
        assert_eq!(law.cwnd(), Bytes::new(122_187));
        assert_eq!(law.pacing_rate(), Some(Rate::from_bps(8_500_000)));
    }

    #[test]
    fn the_mean_of_losses_is_over_sixteen_packets() {
        // 1/16 after one loss, which is beyond 0.06 and less than 0.52; 15/16 of it after a delivery.
        let lost = |rate: f64| {
            let mut law = C4 { nominal_rate: rate, ..cruising() };
            let mss = law.mss;
            let delivery = Delivery {
                now: ackclock_units::Instant::START,
                newly_delivered: mss.bytes(),
                newly_lost: mss.bytes(),
                delivered: mss.bytes(),
                lost: mss.bytes(),
                sample: None,
                rtt: None,
                maybe_delayed: false,
                srtt: None,
                in_flight_before: mss.bytes(),
                in_flight: mss.bytes(),
                is_cwnd_limited: true,
                repair: Repair::None,
                selective: true,
                mss,
            };
            (law.learn_losses(&delivery), law.loss_rate)
        };
        assert_eq!(lost(1e6), (true, 15.0 / 256.0));
        assert_eq!(lost(1e3), (false, 15.0 / 256.0));
    }
}
