//! A foreign law as the sender sees it.

use std::ffi::c_void;
use std::fmt;

use ackclock_laws::event::{
    Ack, Congestion, Delivery, Established, Limit, LostSegment, Proposal, RateSample, RecoveryEnd,
    Repair, RttSample, SendStart, Signal, SlowStartStep, Why,
};
use ackclock_laws::growth::{Growth, Wants, fail};
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use crate::abi::{self, Callbacks, MODELS_PATH, UNKNOWN, VERSION};
use crate::ending::inside;

type Mut<T> = unsafe extern "C" fn(*mut c_void, *const T);
type Ask = unsafe extern "C" fn(*const c_void) -> u64;

/// The callbacks of a library, of which those that every law needs are there.
#[derive(Clone, Copy, Debug)]
pub struct Callable {
    init: unsafe extern "C" fn(*const abi::Start) -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    ack: Mut<abi::Ack>,
    congestion: Mut<abi::Congestion>,
    timeout: Mut<abi::Timeout>,
    idle: Mut<abi::Proposal>,
    cwnd: Ask,
    ssthresh: Option<Ask>,
    pacing_rate: Option<unsafe extern "C" fn(*const c_void) -> f64>,
    models_path: bool,
    rtt: Option<Mut<abi::Rtt>>,
    sent: Option<Mut<abi::Sent>>,
    recovery_end: Option<Mut<abi::RecoveryEnd>>,
    spurious: Option<unsafe extern "C" fn(*mut c_void)>,
    delivery: Option<Mut<abi::Delivery>>,
    lost: Option<Mut<abi::Lost>>,
}

impl Callable {
    /// The callbacks of a table.
    ///
    /// # Errors
    /// The table is of another version of the interface, or lacks a callback that every law needs.
    pub fn new(table: &Callbacks) -> Result<Self, String> {
        if table.version != VERSION {
            return Err(format!(
                "the law has version {} of the interface, expected {VERSION}; compile it with this include/ackclock_law.h",
                table.version
            ));
        }
        let size = size_of::<Callbacks>();
        if (table.size_bytes as usize) < size {
            return Err(format!(
                "its table has {} bytes, expected {size}: `size_bytes` is sizeof(ackclock_law)",
                table.size_bytes
            ));
        }
        if table.flags & !MODELS_PATH != 0 {
            return Err(format!(
                "its `flags` are {}, expected 0 or ACKCLOCK_MODELS_PATH",
                table.flags
            ));
        }
        let models_path = table.flags & MODELS_PATH != 0;
        if models_path && table.delivery.is_none() {
            return Err("it models the path, and its callback `delivery` is NULL".to_owned());
        }
        let missing = |name: &str| format!("the callback `{name}` is NULL; every law needs it");
        Ok(Self {
            init: table.init.ok_or_else(|| missing("init"))?,
            destroy: table.destroy.ok_or_else(|| missing("destroy"))?,
            ack: table.ack.ok_or_else(|| missing("ack"))?,
            congestion: table.congestion.ok_or_else(|| missing("congestion"))?,
            timeout: table.timeout.ok_or_else(|| missing("timeout"))?,
            idle: table.idle.ok_or_else(|| missing("idle"))?,
            cwnd: table.cwnd_bytes.ok_or_else(|| missing("cwnd_bytes"))?,
            ssthresh: table.ssthresh_bytes,
            pacing_rate: table.pacing_rate_bps,
            models_path,
            rtt: table.rtt,
            sent: table.sent,
            recovery_end: table.recovery_end,
            spurious: table.spurious,
            delivery: table.delivery,
            lost: table.lost,
        })
    }
}

/// The windows, as they were last asked for: the sender asks more often than they change.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    pacing: Option<Rate>,
}

/// A law whose callbacks are in a library.
///
/// Before the handshake is done it has no state: it keeps the first window that is proposed, and hands it to `init`.
pub struct ForeignLaw {
    name: &'static str,
    calls: Callable,
    /// The law's own; null before the handshake is done.
    state: *mut c_void,
    mss: Mss,
    answers: Answers,
}

// SAFETY: the interface says that a state is used by one thread at a time, and nothing else of the library.
unsafe impl Send for ForeignLaw {}

impl fmt::Debug for ForeignLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignLaw").field("answers", &self.answers).finish_non_exhaustive()
    }
}

impl Drop for ForeignLaw {
    fn drop(&mut self) {
        if !self.state.is_null() {
            // SAFETY: the state came from `init`, and nobody has it any more.
            inside(self.name, || unsafe { (self.calls.destroy)(self.state) });
        }
    }
}

fn nanos(time: Option<Duration>) -> u64 {
    time.map_or(UNKNOWN, Duration::as_nanos)
}

fn bytes(volume: Option<Bytes>) -> u64 {
    volume.map_or(UNKNOWN, Bytes::get)
}

fn known(volume: u64) -> Option<Bytes> {
    (volume != UNKNOWN).then_some(Bytes::new(volume))
}

/// The pacing rate that a law gave in bit/s; 0 is none.
fn rate(bit_s: f64) -> Option<Rate> {
    // Faster than this, nothing keeps a packet back.
    const FASTEST_BIT_S: f64 = 1e18;
    if !(0.0..=FASTEST_BIT_S).contains(&bit_s) {
        fail(format!("the pacing rate is {bit_s} bit/s; expected a number from 0 to 1e18"), 0);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
    let whole = bit_s as u64;
    // A rate below one bit a second is no pause: it is one that never ends.
    (bit_s > 0.0).then(|| Rate::from_bps(whole.max(1)))
}

impl ForeignLaw {
    /// The law of a new connection, which was registered under a name.
    pub fn new(name: &'static str, calls: Callable) -> Self {
        Self {
            name,
            calls,
            state: std::ptr::null_mut(),
            mss: Mss::default(),
            answers: Answers::default(),
        }
    }

    fn tell<T>(&mut self, call: Mut<T>, event: &T) {
        if !self.state.is_null() {
            // SAFETY: the state came from `init`; the event lives for as long as the call.
            inside(self.name, || unsafe { call(self.state, event) });
            self.ask();
        }
    }

    fn ask(&mut self) {
        // SAFETY: the state came from `init`.
        let answer = |call: Ask| inside(self.name, || unsafe { call(self.state) });
        self.answers = Answers {
            cwnd: Bytes::new(answer(self.calls.cwnd)),
            ssthresh: self.calls.ssthresh.map_or(Some(Bytes::ZERO), |call| known(answer(call))),
            pacing: self.calls.pacing_rate.and_then(|call| {
                // SAFETY: the same.
                rate(inside(self.name, || unsafe { call(self.state) }))
            }),
        };
    }
}

impl Growth for ForeignLaw {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        let step = slow_start.unwrap_or(SlowStartStep::grow(Bytes::ZERO));
        let event = abi::Ack {
            now_ns: ack.now.as_nanos(),
            newly_acked_bytes: ack.newly_acked.get(),
            newly_delivered_bytes: ack.newly_delivered.get(),
            una_seq: ack.una.get(),
            nxt_seq: ack.nxt.get(),
            rtt_ns: nanos(ack.rtt),
            srtt_ns: nanos(ack.srtt),
            in_flight_before_bytes: ack.in_flight_before.get(),
            in_flight_bytes: ack.in_flight.get(),
            slow_start_increase_bytes: step.increase.get(),
            slow_start_left_over_bytes: step.left_over.get(),
            mss_bytes: ack.mss.get().into(),
            limited_by: match ack.limited_by {
                Limit::Application => 0,
                Limit::Cwnd => 1,
                Limit::ReceiveWindow => 2,
                Limit::Pacing => 3,
            },
            in_recovery: ack.in_recovery.into(),
            in_slow_start: slow_start.is_some().into(),
            slow_start_ends: step.exit.into(),
        };
        self.tell(self.calls.ack, &event);
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        if let Some(call) = self.calls.rtt {
            let event = abi::Rtt { now_ns: sample.now.as_nanos(), rtt_ns: sample.rtt.as_nanos() };
            self.tell(call, &event);
        }
    }

    fn on_send_start(&mut self, start: &SendStart) {
        if let Some(call) = self.calls.sent {
            let event = abi::Sent {
                now_ns: start.now.as_nanos(),
                last_send_ns: start.last_send.map_or(UNKNOWN, Instant::as_nanos),
                nxt_seq: start.nxt.get(),
                is_app_limited: start.app_limited.into(),
                unused: 0,
            };
            self.tell(call, &event);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let now_ns = congestion.now.as_nanos();
        let reduce_from_bytes = congestion.reduce_from.get();
        let mss_bytes = congestion.mss.get().into();
        let signal = match congestion.signal {
            Signal::Timeout { consecutive } => {
                let event = abi::Timeout { now_ns, reduce_from_bytes, mss_bytes, consecutive };
                return self.tell(self.calls.timeout, &event);
            }
            Signal::Loss => 0,
            Signal::Ecn { abe: false } => 1,
            Signal::Ecn { abe: true } => 2,
        };
        let event = abi::Congestion { now_ns, reduce_from_bytes, mss_bytes, signal };
        self.tell(self.calls.congestion, &event);
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(call) = self.calls.recovery_end {
            let event = abi::RecoveryEnd {
                now_ns: end.now.as_nanos(),
                in_flight_bytes: end.in_flight.get(),
                newly_delivered_bytes: end.newly_delivered.get(),
                at_most_bytes: bytes(end.at_most),
                mss_bytes: end.mss.get().into(),
                unused: 0,
            };
            self.tell(call, &event);
        }
    }

    fn on_spurious(&mut self) {
        if let Some(call) = self.calls.spurious
            && !self.state.is_null()
        {
            // SAFETY: the state came from `init`.
            inside(self.name, || unsafe { call(self.state) });
            self.ask();
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if self.state.is_null() {
            self.answers.cwnd = proposal.cwnd.unwrap_or(self.answers.cwnd);
            self.answers.ssthresh = proposal.ssthresh.or(self.answers.ssthresh);
            return;
        }
        let event = abi::Proposal {
            cwnd_bytes: bytes(proposal.cwnd),
            ssthresh_bytes: bytes(proposal.ssthresh),
            mss_bytes: proposal.mss.get().into(),
            why: match proposal.why {
                Why::Established => 0,
                Why::Idle => 1,
                Why::Jump => 2,
            },
        };
        self.tell(self.calls.idle, &event);
    }

    fn cwnd(&self) -> Bytes {
        self.answers.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.answers.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.answers.pacing
    }

    fn on_established(&mut self, established: &Established) {
        let start = abi::Start {
            cwnd_bytes: self.answers.cwnd.get(),
            ssthresh_bytes: bytes(self.answers.ssthresh),
            srtt_ns: nanos(established.srtt),
            seed: established.seed,
            mss_bytes: self.mss.get().into(),
            unused: 0,
        };
        // SAFETY: `start` lives for as long as the call.
        self.state = inside(self.name, || unsafe { (self.calls.init)(&raw const start) });
        if self.state.is_null() {
            fail("`init` returned NULL; expected a state".to_owned(), 0);
        }
        self.ask();
    }

    fn wants(&self) -> Wants {
        Wants { models_path: self.calls.models_path, ..Wants::ACKS }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        let Some(call) = self.calls.delivery else { return };
        let sample = delivery.sample;
        let of_sample =
            |field: fn(&RateSample) -> Bytes| sample.as_ref().map_or(0, |it| field(it).get());
        let event = abi::Delivery {
            now_ns: delivery.now.as_nanos(),
            newly_delivered_bytes: delivery.newly_delivered.get(),
            newly_lost_bytes: delivery.newly_lost.get(),
            delivered_bytes: delivery.delivered.get(),
            lost_bytes: delivery.lost.get(),
            rtt_ns: nanos(delivery.rtt),
            srtt_ns: nanos(delivery.srtt),
            in_flight_before_bytes: delivery.in_flight_before.get(),
            in_flight_bytes: delivery.in_flight.get(),
            sample_delivered_bytes: of_sample(|it| it.delivered),
            sample_interval_ns: nanos(sample.and_then(|it| it.interval)),
            sample_prior_delivered_bytes: of_sample(|it| it.prior_delivered),
            sample_tx_in_flight_bytes: of_sample(|it| it.tx_in_flight),
            sample_lost_bytes: of_sample(|it| it.lost),
            mss_bytes: delivery.mss.get().into(),
            has_sample: sample.is_some().into(),
            sample_is_app_limited: sample.is_some_and(|it| it.is_app_limited).into(),
            is_cwnd_limited: delivery.is_cwnd_limited.into(),
            repair: match delivery.repair {
                Repair::None => 0,
                Repair::Recovery => 1,
                Repair::AfterTimeout => 2,
            },
        };
        self.tell(call, &event);
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        let Some(call) = self.calls.lost else { return };
        let event = abi::Lost {
            now_ns: lost.now.as_nanos(),
            start_seq: lost.start.get(),
            end_seq: lost.end.get(),
            tx_in_flight_bytes: lost.tx_in_flight.get(),
            lost_bytes: lost.lost.get(),
            delivered_bytes: lost.delivered.get(),
            is_app_limited: lost.is_app_limited.into(),
            unused: 0,
        };
        self.tell(call, &event);
    }
}
