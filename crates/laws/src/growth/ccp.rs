//! CCP ("Capacity and Congestion Probing") and CCPD (the same "plus Derivative"): G. Watanabe, K.
//! Kumazoe, D. Cavendish, D. Nobayashi, T. Ikenaga and Y. Oie, "Performance Characterization of
//! Streaming Video over TCP Variants", 2013, equations 5 and 6, after D. Cavendish et al., INTERNET
//! 2010 and 2011. Not the "congestion control plane" of the same name.
//!
//! A controller, and no reaction to a loss: at every ACK the window follows from what the path
//! stores, B, from what of it is occupied, x, and from what is in flight. The equations are printed;
//! how B and x are estimated, the units of the gains and what bounds the window are not, and are
//! chosen here (`docs/algorithms/ccp.md` tells the two apart).

mod capacity;
mod settings;

use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::contract::{About, Growth, Law, Recoveries, Wants, whole_bytes};
use super::variables::variables;
use crate::event::{
    Ack, Congestion, Delivery, Proposal, RecoveryEnd, Repair, Signal, SlowStartStep,
};
use crate::words::{Described, Slot, Word};
use capacity::{Arrival, Capacity};

pub use settings::{CcpSettings, Estimate, Reading, Storage};

/// The least window outside a timeout, in segments: a receiver that delays its ACKs answers two.
const LEAST_WINDOW: f64 = 2.0;

/// The values on which the derivative looks back.
#[derive(Clone, Copy, Debug)]
struct Last {
    at: Instant,
    /// x + in flight, in segments.
    load: f64,
}

/// The path as seen so far.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    /// `RTTmin` and `RTTmax`: of the whole connection, because a controller that holds the queue at half
    /// of the buffer would within any shorter span forget how deep that is.
    least_rtt: Option<Duration>,
    largest_rtt: Duration,
    capacity: Capacity,
    /// The largest delivery rate, in bytes per second: it stands for the capacity until a pair tells.
    delivery_rate: f64,
}

impl Path {
    fn see(&mut self, delivery: &Delivery) {
        if let Some(sample) = delivery.sample {
            self.delivery_rate = self.delivery_rate.max(sample.rate());
        }
        let Some(rtt) = delivery.rtt.filter(|rtt| *rtt > Duration::ZERO) else { return };
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        // An ACK that the receiver kept back tells nothing of the path's storage, and one that comes
        // during a repair nothing of its pace.
        if !delivery.maybe_delayed {
            self.largest_rtt = self.largest_rtt.max(rtt);
        }
        let arrival = (delivery.repair == Repair::None && !delivery.maybe_delayed)
            .then_some(Arrival { now: delivery.now, rtt, data: delivery.newly_delivered });
        self.capacity.see(arrival);
    }

    /// Ĉ, in segments per second; `None` before anything was measured.
    fn capacity(&self, mss: Mss, by: Estimate) -> Option<f64> {
        let rate = match by {
            Estimate::Pairs => self.capacity.bytes_per_second(),
            Estimate::Largest => self.capacity.largest(),
            Estimate::Delivery => None,
        };
        let rate = rate.unwrap_or(self.delivery_rate);
        (rate > 0.0).then(|| rate / f64::from(mss.get()))
    }
}

/// CCP, or CCPD if the settings have a derivative.
#[derive(Clone, Copy, Debug)]
pub struct Ccp {
    settings: CcpSettings,
    mss: Mss,
    /// In segments.
    cwnd: f64,
    ssthresh: Option<f64>,
    /// True if slow start is over, for good: after a timeout the controller itself leads back.
    controls: bool,
    path: Path,
    last: Option<Last>,
    /// The window before a timeout.
    undo: Option<f64>,
}

impl Ccp {
    /// The controller with `settings`.
    pub fn new(settings: CcpSettings) -> Self {
        Self {
            settings,
            mss: Mss::default(),
            cwnd: 1.0,
            ssthresh: None,
            controls: false,
            path: Path::default(),
            last: None,
            undo: None,
        }
    }

    /// The window that the equation asks for; `None` before the path was measured.
    fn target(&mut self, delivery: &Delivery) -> Option<f64> {
        let capacity = self.path.capacity(self.mss, self.settings.estimate)?;
        let least = self.path.least_rtt?.as_secs_f64();
        let smoothed = delivery.srtt?.as_secs_f64();
        // x: what waits, of all who share the path.
        let waiting = (capacity * (smoothed - least)).max(0.0);
        let largest = self.path.largest_rtt.as_secs_f64();
        let storage = match self.settings.storage {
            Storage::Path => capacity * largest,
            Storage::Buffer => capacity * (largest - least).max(0.0),
        };
        // With what this ACK delivers: the flight that it found, less what is known as lost.
        let flight = (delivery.in_flight + delivery.newly_delivered).segments(self.mss);
        let gain = self.settings.proportional();
        let law = match self.settings.derivative_us {
            // Equation 5.
            None => (gain * (storage - waiting) - flight) / 2.0,
            // Equation 6.
            Some(derivative) => {
                let load = waiting + flight;
                let change = self.last.map_or(0.0, |last| {
                    let passed = delivery.now.since(last.at).as_secs_f64().max(1.0 / capacity);
                    f64::from(derivative) * 1e-6 / passed * (last.load - load)
                });
                self.last = Some(Last { at: delivery.now, load });
                gain * (storage - load) + change
            }
        };
        Some(match self.settings.reading {
            Reading::Incremental => flight + law,
            Reading::Literal => law,
        })
    }

    fn end_slow_start(&mut self) {
        if !self.controls {
            self.controls = true;
            self.ssthresh = Some(self.cwnd.max(LEAST_WINDOW));
        }
    }
}

impl Described for Ccp {
    type Settings = CcpSettings;

    const WORDS: &'static [Word<CcpSettings>] = &[
        Word::with(
            "ccp",
            "1",
            CcpSettings::CCP,
            "the path's storage less its backlog (Watanabe 2013, eq. 5): `Kp`, then `literal`, `buffer`, `largest` or `delivery`",
        ),
        Word::with(
            "ccpd",
            "1,2000",
            CcpSettings::CCPD,
            "the same with a derivative (eq. 6): `Kp,Kd`, Kd in microseconds, then `literal`, `buffer`, `largest` or `delivery`",
        ),
    ];

    fn read(word: &str, argument: &str) -> Option<CcpSettings> {
        [CcpSettings::CCP, CcpSettings::CCPD]
            .iter()
            .find(|form| form.word() == word)?
            .read(argument)
    }

    fn expected(word: &str) -> Option<&'static str> {
        let forms = [CcpSettings::CCP, CcpSettings::CCPD];
        forms.iter().find(|form| form.word() == word).map(|form| form.expected())
    }

    fn spell(settings: CcpSettings) -> Option<String> {
        Some(format!("{}({settings})", settings.word()))
    }
}

impl Law for Ccp {
    const ABOUT: About = About {
        source: "Watanabe 2013",
        owns: &[(Slot::Jump, "CCP's window follows from what it measures of the path")],
        recoveries: Recoveries::LeavingTheWindow(
            "CCP must know which segments arrived, and its window goes on moving while losses are \
             repaired",
        ),
        ..About::PLAIN
    };

    fn make(settings: CcpSettings) -> Self {
        Self::new(settings)
    }
}

impl Growth for Ccp {
    variables! { law =>
        "controls", "1 once slow start is over and the controller leads": law.controls;
        "rtt_min_s", "the least round-trip time of the connection (RTTmin)": law.path.least_rtt;
        "rtt_max_s", "the largest round-trip time of the connection (RTTmax)": law.path.largest_rtt;
        "capacity_bps", "the estimated capacity of the path": law.path.capacity(law.mss, law.settings.estimate).map(|rate| 8.0 * rate);
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        if let Some(step) = slow_start {
            self.cwnd += step.increase.segments(ack.mss);
            if step.exit {
                self.end_slow_start();
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        match congestion.signal {
            // "Packet loss does not trigger any special cwnd adjustment", but it ends slow start.
            Signal::Loss | Signal::Ecn { .. } => {}
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.undo = Some(self.cwnd);
                }
                // RFC 5681 §3.1: the loss window. The paper is silent.
                self.cwnd = 1.0;
                self.last = None;
            }
        }
        self.end_slow_start();
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn on_spurious(&mut self) {
        if let Some(window) = self.undo.take() {
            self.cwnd = self.cwnd.max(window);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.segments(self.mss).max(1.0);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh.segments(self.mss).max(LEAST_WINDOW));
        }
        self.last = None;
    }

    fn cwnd(&self) -> Bytes {
        whole_bytes(self.cwnd, self.mss)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| whole_bytes(ssthresh, self.mss))
    }

    fn in_slow_start(&self) -> bool {
        !self.controls && self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }

    fn wants(&self) -> Wants {
        Wants { models_path: true, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.mss = delivery.mss;
        self.path.see(delivery);
        if self.in_slow_start() {
            return;
        }
        self.end_slow_start();
        let Some(target) = self.target(delivery) else { return };
        // Guards: no faster than slow start, so that nothing goes out that was not clocked by what
        // arrived, and never so little that the ACKs stop.
        let most = self.cwnd + delivery.newly_delivered.segments(self.mss);
        self.cwnd = target.min(most).max(LEAST_WINDOW.min(most));
    }
}

#[cfg(test)]
mod tests;
