//! CDG as Linux has it (`tcp_cdg.c`): gradients in microseconds, backoff by CWR, and a `HyStart` of its own. The paper: D. A.
//! Hayes and G. Armitage, "Revisiting TCP Congestion Control using Delay Gradients", IFIP Networking 2011.

use ackclock_packet::Seq;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window, micros};
use super::variables::variables;
use crate::event::{Acked, Established, SendStart, Signal};
use crate::words::{ANY, Described, Slot, Word};

/// `window`: gradients that are summed.
const WINDOW: usize = 8;
/// `backoff_beta`, of 1024: what a backoff leaves, 0.7071.
const BETA: u64 = 724;
/// `backoff_factor`: the exponent for a gradient of a microsecond, in millionths.
const FACTOR: f64 = 42e-6;
/// `use_ineff`: backoffs in a row that had no effect, after which there are none.
const INEFFECTUAL: u32 = 5;
/// The fall of the sum that shows an effect, in microseconds.
const EFFECT: i64 = -32;
/// ACKs of several packets that are remembered, at most.
const LARGEST_DELACK: u32 = 5;
/// `hystart_ack_delta`, and the least of the thresholds.
const ACK_DELTA: Duration = Duration::from_micros(3000);
const LEAST_THRESHOLD: u64 = 125;
/// Samples of a round before its delay is judged.
const DELAY_SAMPLES: u32 = 8;

/// The least and the largest sample of a round, in microseconds; zero for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extremes {
    min: u64,
    max: u64,
}

/// The change of both from one round to the next, or the sum of such changes.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    min: i64,
    max: i64,
}

/// The settings that words choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdgStart {
    /// `hystart_detect = 3`: trains and delay.
    HyStart,
    /// `hystart_detect = 0`.
    Plain,
}

/// CDG.
#[derive(Clone, Debug)]
pub struct Cdg {
    start: CdgStart,
    stream: Stream,
    /// The number that a trace has in the place of one from the stream.
    drawn: Option<u32>,
    /// SND.NXT at the last ACK; `None` before the first one.
    nxt: Option<Seq>,
    /// A restart after silence, with the window before it.
    restart_from: Option<u64>,
    asks: bool,
    memory: Memory,
}

/// The measurements, which a silence makes CDG forget.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    rtt: Extremes,
    before: Extremes,
    /// The ring of gradients, the next place in it, and their sum.
    gradients: [Gradient; WINDOW],
    tail: usize,
    filled: bool,
    sum: Gradient,
    /// The round ends when more than this is acknowledged.
    round: Seq,
    /// The window as losses alone would have it.
    shadow: u64,
    backoffs: u32,
    backing_off: bool,
    delack: u32,
    /// `HyStart`'s: the last ACK of a train and the train's beginning, samples, and the least delay.
    last_ack: Option<Instant>,
    train: Option<Instant>,
    samples: u32,
    delay_min: u64,
}

impl Default for Cdg {
    fn default() -> Self {
        Self {
            start: CdgStart::HyStart,
            stream: Stream::new(1, "cdg"),
            drawn: None,
            nxt: None,
            restart_from: None,
            asks: false,
            memory: Memory::default(),
        }
    }
}

impl Memory {
    fn sample(&mut self, rtt: u64, packets: u64, sacked: bool) {
        if !sacked {
            if packets == 1 && self.delack > 0 {
                // It may have waited: it can only show that the least is less.
                self.rtt.min = self.rtt.min.min(rtt);
                self.delack -= 1;
                return;
            }
            if packets > 1 && self.delack < LARGEST_DELACK {
                self.delack += 1;
            }
        }
        self.rtt.min = if self.rtt.min == 0 { rtt } else { self.rtt.min.min(rtt) };
        self.rtt.max = self.rtt.max.max(rtt);
    }

    /// `tcp_cdg_hystart_update`: true if slow start ends.
    fn leaves_slow_start(&mut self, now: Instant, limited: bool) -> bool {
        let least = self.rtt.min;
        if self.delay_min == 0 || (least > 0 && least < self.delay_min) {
            self.delay_min = least;
        }
        if self.delay_min == 0 {
            return false;
        }
        match self.last_ack.filter(|_| limited) {
            None => (self.last_ack, self.train) = (Some(now), Some(now)),
            Some(last) if now.since(last) < ACK_DELTA => {
                self.last_ack = Some(now);
                let longest = (self.delay_min / 2).max(LEAST_THRESHOLD);
                let length = self.train.map_or(Duration::ZERO, |begin| now.since(begin));
                if length > Duration::from_micros(longest) {
                    return true;
                }
            }
            Some(_) => {}
        }
        if self.samples < DELAY_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > (self.delay_min + self.delay_min / 8).max(LEAST_THRESHOLD)
    }

    /// `tcp_cdg_grad`: the gradient of the round.
    fn gradient(&mut self) -> i64 {
        let change = |now: u64, before: u64| now.cast_signed() - before.cast_signed();
        let round = Gradient {
            min: change(self.rtt.min, self.before.min),
            max: change(self.rtt.max, self.before.max),
        };
        let old = std::mem::replace(&mut self.gradients[self.tail], round);
        self.tail = (self.tail + 1) % WINDOW;
        self.sum.min += round.min - old.min;
        self.sum.max += round.max - old.max;
        let mut gradient = if self.sum.min > 0 { self.sum.min } else { self.sum.max };
        if !self.filled {
            if self.tail == 0 {
                self.filled = true;
            } else {
                // The rounds that are still to come are taken to be like those that there were.
                let whole = |n: usize| i64::try_from(n).unwrap_or(1);
                gradient = gradient * whole(WINDOW) / whole(self.tail);
            }
        }
        if self.sum.min <= EFFECT || self.sum.max <= EFFECT {
            self.backoffs = 0;
        }
        gradient
    }

    fn begin_round(&mut self, nxt: Seq) {
        self.round = nxt;
        self.before = std::mem::take(&mut self.rtt);
    }
}

impl Cdg {
    /// `tcp_cdg_backoff`.
    fn backs_off(&mut self, gradient: i64, cwnd: u64) -> bool {
        let drawn = self.drawn.take();
        let drawn = drawn.map_or_else(|| self.stream.next_u64() >> 32, u64::from);
        // DEVIATION(linux nexp_u32): the exact power, where the kernel multiplies factors of 16 bits.
        let stays = libm::exp(-FACTOR * gradient as f64) * (1_u64 << 32) as f64;
        if drawn as f64 <= stays {
            return false;
        }
        let memory = &mut self.memory;
        memory.backoffs = memory.backoffs.saturating_add(1);
        if memory.backoffs > INEFFECTUAL {
            return false;
        }
        memory.shadow = memory.shadow.max(cwnd);
        memory.backing_off = true;
        true
    }
}

/// CDG in Linux.
pub type CdgLinux = Linux<Cdg>;

impl Described for CdgLinux {
    type Settings = CdgStart;

    const WORDS: &'static [Word<CdgStart>] = &[
        Word::with(
            "cdg",
            "linux",
            CdgStart::HyStart,
            "CDG as Linux has it, with a HyStart of its own",
        ),
        Word::with("cdg", "nohystart", CdgStart::Plain, "the same without its HyStart"),
    ];
}

impl Law for CdgLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "Linux's CDG has a HyStart of its own")],
        train_gap: Some(ACK_DELTA),
        ..About::linux("tcp_cdg.c of Linux 6.18", &["cdg"])
    };

    fn make(start: CdgStart) -> Self {
        Self { module: Cdg { start, ..Cdg::default() }, ..Self::default() }
    }
}

impl Module for Cdg {
    variables! { law =>
        "shadow_segments", "the window that losses alone would have made (shadow_wnd)": law.memory.shadow;
        "backoffs", "reductions by delay in a row (backoff_cnt)": law.memory.backoffs;
        "backing_off", "1 while the answer to a sign lasts": law.memory.backing_off;
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_established(&mut self, _: &mut Window, established: &Established) {
        self.stream = Stream::new(established.seed, "cdg");
    }

    fn on_acked(&mut self, window: &mut Window, acked: &Acked, packets: u64) {
        if self.nxt.replace(acked.nxt).is_none() {
            self.memory.shadow = window.cwnd;
        }
        self.restart_from = None;
        self.drawn = acked.drawn;
        if let Some(rtt) = acked.rtt {
            self.memory.sample(micros(rtt), packets, acked.sacked);
        }
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        let slow_start = window.in_slow_start();
        if slow_start
            && self.start == CdgStart::HyStart
            && self.memory.leaves_slow_start(step.now, step.limited)
        {
            window.ssthresh = Some(window.cwnd);
        }
        if step.una > self.memory.round && self.memory.rtt != Extremes::default() {
            let known = self.memory.before != Extremes::default();
            let gradient = if known { self.memory.gradient() } else { 0 };
            self.memory.begin_round(step.nxt);
            (self.memory.last_ack, self.memory.samples) = (None, 0);
            if gradient > 0 && self.backs_off(gradient, window.cwnd) {
                self.asks = true;
                return;
            }
        }
        if !step.limited {
            self.memory.shadow = self.memory.shadow.min(window.cwnd);
            return;
        }
        let before = window.cwnd;
        window.grow_as_reno(step);
        self.memory.shadow += window.cwnd.saturating_sub(before);
    }

    fn asks_to_reduce(&mut self) -> bool {
        std::mem::take(&mut self.asks)
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        if self.memory.backing_off {
            return (window.cwnd * BETA) >> 10;
        }
        self.memory.shadow = (self.memory.shadow >> 1).min(window.cwnd);
        self.memory.shadow.max(window.cwnd >> 1)
    }

    fn on_complete(&mut self, _: &mut Window) {
        self.memory.backing_off = false;
        if let Some(nxt) = self.nxt {
            self.memory.begin_round(nxt);
        }
    }

    fn on_restart(&mut self, window: &Window) {
        self.restart_from = Some(window.cwnd);
    }

    fn on_send_start(&mut self, start: &SendStart) {
        if let Some(shadow) = self.restart_from.take() {
            self.memory = Memory { shadow, round: start.nxt, ..Memory::default() };
        }
    }
}
