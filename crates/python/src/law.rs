//! Growth laws of one's own in Python.
//!
//! A law is an instance of a class like `ackclock.Growth`: it is told of events by calls of its methods, and its windows
//! are its attributes. After each event they are read once, and the sender asks the copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ackclock_lab::law::{
    Ack as AckEvent, Bytes, Congestion as CongestionEvent, Delivery as DeliveryEvent, Duration,
    Established, Growth, Instant, Limit, LostSegment, Mss, Proposal as ProposalEvent, Rate,
    RecoveryEnd as RecoveryEndEvent, Repair, RttSample as RttSampleEvent,
    SendStart as SendStartEvent, Signal, SlowStartStep, Wants, Why, fail,
};
use ackclock_lab::{CheckPlan, LawTracePlan, Ticket};
use pyo3::PyClass;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::background::{Work, in_background};
use crate::errors::{BadInput, guarded, shown};

/// The exceptions of laws that ended a run, until the run's caller raises them.
static RAISED: Mutex<BTreeMap<u64, PyErr>> = Mutex::new(BTreeMap::new());
static NUMBER: AtomicU64 = AtomicU64::new(1);
/// Exceptions that are kept at a time; more than runs that can be under way.
const MOST_RAISED: usize = 1024;

/// The error of a run that a law ended, as its caller raises it: the law's own exception with a note that says where, or
/// else the text.
pub fn raised(number: u64, text: String) -> PyErr {
    let mut all = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(error) = all.remove(&number) else { return BadInput::new_err(text) };
    drop(all);
    // A `SystemExit` would end whoever asked for the run, as if it had come to its end.
    let is_an_end = Python::attach(|py| {
        !error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyKeyboardInterrupt>(py)
    });
    if is_an_end {
        return BadInput::new_err(text);
    }
    Python::attach(|py| {
        // Whoever cannot be given a note is raised without it.
        let value = error.value(py);
        let _ = value.call_method1(intern!(py, "add_note"), (&text,));
        let _ = value.setattr(intern!(py, "ackclock_law"), &text);
    });
    error
}

/// A thread's place in the interpreter, for as long as the thread lives: to make one for each event takes longer than the
/// event.
struct Seat {
    state: pyo3::ffi::PyGILState_STATE,
    thread: *mut pyo3::ffi::PyThreadState,
}

impl Seat {
    /// Takes one, if the thread has none.
    #[expect(unsafe_code, reason = "PyO3 has no attachment that outlives a closure")]
    fn take() -> Option<Self> {
        // SAFETY: it asks for a pointer and follows it nowhere.
        if !unsafe { pyo3::ffi::PyGILState_GetThisThreadState() }.is_null() {
            return None;
        }
        // SAFETY: the interpreter runs, as it waits for this thread. What `Ensure` took, `SaveThread` gives back until an
        // event attaches again; the drop releases it.
        unsafe {
            let state = pyo3::ffi::PyGILState_Ensure();
            Some(Self { state, thread: pyo3::ffi::PyEval_SaveThread() })
        }
    }
}

impl Drop for Seat {
    #[expect(unsafe_code, reason = "see `take`")]
    fn drop(&mut self) {
        // SAFETY: the thread that took the seat gives it back, and only while there is an interpreter.
        unsafe {
            if pyo3::ffi::Py_IsInitialized() != 0 {
                pyo3::ffi::PyEval_RestoreThread(self.thread);
                pyo3::ffi::PyGILState_Release(self.state);
            }
        }
    }
}

thread_local! {
    static SEAT: Option<Seat> = Seat::take();
}

/// Calls with the interpreter attached.
#[inline]
fn attached<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    SEAT.with(|_| ());
    Python::attach(call)
}

/// The names under which laws in Python were registered.
static NAMES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// True if a scenario, as JSON text, has a sender with a law in Python.
pub fn is_in(scenario: &str) -> bool {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.iter().any(|name| {
        let ends = [format!("\"{name}\""), format!("\"{name}+")];
        ends.iter().any(|word| scenario.contains(word))
    })
}

/// True if there is any: a job may then be waiting for the interpreter.
pub fn is_any() -> bool {
    !NAMES.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// Ends the run, and keeps the exception for its caller.
fn give_up(py: Python<'_>, error: PyErr) -> ! {
    let said = in_a_line(py, &error);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut all = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    all.insert(number, error);
    // Nobody takes those of a sweep's cells.
    let oldest = if all.len() > MOST_RAISED { all.pop_first() } else { None };
    drop(all);
    drop(oldest);
    fail(format!("it raised {said}"), number)
}

/// An exception as a line: its type, the first line of its text, and the line of the law.
fn in_a_line(py: Python<'_>, error: &PyErr) -> String {
    // A text of a law may hold all of its state.
    const LONGEST: usize = 200;
    let mut whole =
        error.get_type(py).name().map_or_else(|_| "an error".to_owned(), |name| name.to_string());
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    if let Some(first) = text.lines().next().map(str::trim).filter(|first| !first.is_empty()) {
        whole = whole + ": " + first;
    }
    let mut said: String = whole.chars().take(LONGEST).collect();
    if said.len() < whole.len() {
        let _ = write!(said, "… (shortened from {} characters)", whole.chars().count());
    }
    if let Ok(Some((file, line))) = law_line(py, error) {
        let _ = write!(said, " (line {line} of {file})");
    }
    said
}

/// The file and the line where a law raised an exception: the last call in the file of the first, as a law may call a
/// library that raises it.
fn law_line(py: Python<'_>, error: &PyErr) -> PyResult<Option<(String, u32)>> {
    let mut at: Option<(String, u32)> = None;
    let mut next = error.traceback(py).map(Bound::into_any);
    while let Some(call) = next {
        let code = call.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_code"))?;
        let file: String = code.getattr(intern!(py, "co_filename"))?.extract()?;
        if at.as_ref().is_none_or(|(first, _)| *first == file) {
            at = Some((file, call.getattr(intern!(py, "tb_lineno"))?.extract()?));
        }
        next = Some(call.getattr(intern!(py, "tb_next"))?).filter(|next| !next.is_none());
    }
    // The folder is left out, so that a reason is the same wherever the file lies.
    Ok(at.map(|(file, line)| (file.rsplit('/').next().unwrap_or_default().to_owned(), line)))
}

/// The events of a law, whose fields are the attributes of their classes in Python.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[pyclass(module = "ackclock.laws.own")]
            #[derive(Default)]
            pub struct $name {
                $(#[pyo3(get)] $field: $type,)*
            }

            #[pymethods]
            impl $name {
                fn __repr__(&self) -> String {
                    let mut text = concat!(stringify!($name), "(").to_owned();
                    let mut between = "";
                    $(
                        text += &format!("{between}{}={}", stringify!($field), Shown(&self.$field));
                        between = ", ";
                    )*
                    let _ = between;
                    text + ")"
                }
            }
        )*
    };
}

/// A field as Python writes it.
struct Shown<'a, T>(&'a T);

impl<T: fmt::Debug> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:?}", self.0);
        let text = match text.as_str() {
            "true" => "True",
            "false" => "False",
            text => {
                text.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(text)
            }
        };
        f.write_str(text)
    }
}

events! {
    /// The handshake is done, and the first window set.
    Start {
        now_s: f64,
        srtt_s: Option<f64>,
        mss_bytes: u32,
        seed: u64,
    }
    /// An ACK on which the window may grow.
    Ack {
        now_s: f64,
        newly_acked_bytes: u64,
        newly_delivered_bytes: u64,
        una_seq: u64,
        nxt_seq: u64,
        rtt_s: Option<f64>,
        srtt_s: Option<f64>,
        in_flight_before_bytes: u64,
        in_flight_bytes: u64,
        limited_by: &'static str,
        in_recovery: bool,
        in_slow_start: bool,
        slow_start_increase_bytes: u64,
        slow_start_left_over_bytes: u64,
        slow_start_ends: bool,
        mss_bytes: u32,
    }
    /// A round-trip time was measured.
    RttSample {
        now_s: f64,
        rtt_s: f64,
    }
    /// Data is about to go out while nothing is outstanding; of a law that models the path, while nothing else is in
    /// flight.
    SendStart {
        now_s: f64,
        last_send_s: Option<f64>,
        nxt_seq: u64,
        app_limited: bool,
    }
    /// The network is congested.
    Congestion {
        now_s: f64,
        signal: &'static str,
        consecutive_timeouts: u32,
        reduce_from_bytes: u64,
        mss_bytes: u32,
    }
    /// All that was lost is repaired.
    RecoveryEnd {
        now_s: f64,
        in_flight_bytes: u64,
        newly_delivered_bytes: u64,
        at_most_bytes: Option<u64>,
        mss_bytes: u32,
    }
    /// Another rule proposes a window.
    Proposal {
        cwnd_bytes: Option<u64>,
        ssthresh_bytes: Option<u64>,
        mss_bytes: u32,
        why: &'static str,
    }
    /// An ACK, as a law that models the path sees it.
    Delivery {
        now_s: f64,
        newly_delivered_bytes: u64,
        newly_lost_bytes: u64,
        delivered_bytes: u64,
        lost_bytes: u64,
        has_sample: bool,
        sample_delivered_bytes: u64,
        sample_interval_s: Option<f64>,
        sample_prior_delivered_bytes: u64,
        sample_tx_in_flight_bytes: u64,
        sample_lost_bytes: u64,
        sample_is_app_limited: bool,
        rtt_s: Option<f64>,
        srtt_s: Option<f64>,
        in_flight_before_bytes: u64,
        in_flight_bytes: u64,
        is_cwnd_limited: bool,
        repair: &'static str,
        mss_bytes: u32,
    }
    /// A segment was found lost.
    LostData {
        now_s: f64,
        start_seq: u64,
        end_seq: u64,
        tx_in_flight_bytes: u64,
        lost_bytes: u64,
        delivered_bytes: u64,
        is_app_limited: bool,
    }
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

fn at(now: Instant) -> f64 {
    now.as_secs_f64()
}

/// A method that is called with one object, whose fields are other ones each time.
struct Callback<E: PyClass> {
    method: Py<PyAny>,
    event: Py<E>,
    arguments: Py<PyTuple>,
}

impl<E: PyClass<Frozen = False> + Default + Into<PyClassInitializer<E>>> Callback<E> {
    fn of(law: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<Self> {
        let event = Py::new(law.py(), E::default())?;
        let arguments = PyTuple::new(law.py(), [&event])?.unbind();
        Ok(Self { method: law.getattr(name)?.unbind(), event, arguments })
    }

    fn call(&self, py: Python<'_>, event: E) -> PyResult<()> {
        *self.event.borrow_mut(py) = event;
        self.method.bind(py).call1(self.arguments.bind(py)).map(drop)
    }
}

/// The windows, as they were read last.
#[derive(Clone, Copy, Debug, Default)]
struct Windows {
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    pacing: Option<Rate>,
}

/// The law of one connection.
struct PythonLaw {
    law: Py<PyAny>,
    on_ack: Option<Callback<Ack>>,
    on_rtt: Option<Callback<RttSample>>,
    on_delivery: Option<Callback<Delivery>>,
    on_lost: Option<Callback<LostData>>,
    on_send_start: Option<Callback<SendStart>>,
    models_path: bool,
    windows: Windows,
    now: Instant,
}

impl fmt::Debug for PythonLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonLaw").field("windows", &self.windows).finish_non_exhaustive()
    }
}

/// True if the class of the law has a method of its own in the place of the base's.
fn overrides(
    law: &Bound<'_, PyAny>,
    base: &Bound<'_, PyType>,
    name: &Bound<'_, PyString>,
) -> PyResult<bool> {
    Ok(!law.get_type().getattr(name)?.is(&base.getattr(name)?))
}

/// The number that an attribute is; `None` for None.
fn number(law: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<Option<f64>> {
    let value = law.getattr(name)?;
    if value.is_none() {
        return Ok(None);
    }
    match value.extract::<f64>() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{name} is {}; expected a number or None",
            shown(&value)
        ))),
    }
}

/// A number in a message.
fn plain(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

/// Whole bytes of a window; what is no such number ends the run.
fn whole(name: &str, bytes: f64) -> Bytes {
    // The last number below which every whole one is a float.
    const MOST: f64 = 9_007_199_254_740_992.0;
    if !(0.0..MOST).contains(&bytes) {
        fail(
            format!("{name} is {}; expected a number of bytes, at least a segment", plain(bytes)),
            0,
        );
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
    let whole = bytes as u64;
    Bytes::new(whole)
}

impl PythonLaw {
    fn new(py: Python<'_>, class: &Py<PyAny>, base: &Py<PyType>) -> PyResult<Self> {
        let law = class.bind(py).call0()?;
        let base = base.bind(py);
        if !law.is_instance(base)? {
            let found = law.get_type().name()?;
            return Err(PyTypeError::new_err(format!("it made a {found}; expected a Growth")));
        }
        let own = |name| overrides(&law, base, name);
        let models_path = law.getattr(intern!(py, "models_path"))?.is_truthy()?;
        macro_rules! told {
            ($name:literal) => {{
                let name = intern!(py, $name);
                if own(name)? { Some(Callback::of(&law, name)?) } else { None }
            }};
        }
        let mut made = Self {
            on_ack: told!("on_ack"),
            on_rtt: told!("on_rtt"),
            on_delivery: if models_path { told!("on_delivery") } else { None },
            on_lost: if models_path { told!("on_lost") } else { None },
            on_send_start: told!("on_send_start"),
            models_path,
            windows: Windows::default(),
            now: Instant::START,
            law: law.clone().unbind(),
        };
        made.read(py)?;
        Ok(made)
    }

    /// Reads the attributes.
    #[inline]
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let law = self.law.bind(py);
        let cwnd = number(law, intern!(py, "cwnd_bytes"))?;
        let ssthresh = number(law, intern!(py, "ssthresh_bytes"))?;
        let pacing = number(law, intern!(py, "pacing_rate_bps"))?;
        self.windows = Windows {
            cwnd: whole("cwnd_bytes", cwnd.unwrap_or(f64::NAN)),
            ssthresh: ssthresh.map(|bytes| whole("ssthresh_bytes", bytes)),
            pacing: pacing.map(rate),
        };
        Ok(())
    }

    fn tell(&mut self, now: Option<Instant>, call: impl FnOnce(&Self, Python<'_>) -> PyResult<()>) {
        self.now = now.unwrap_or(self.now);
        attached(|py| {
            if let Err(error) = call(self, py).and_then(|()| self.read(py)) {
                give_up(py, error);
            }
        });
    }

    /// A method that is called so rarely that its event is a new object.
    fn call<E: PyClass + Into<PyClassInitializer<E>>>(
        &mut self,
        name: &'static str,
        now: Option<Instant>,
        event: E,
    ) {
        self.tell(now, |law, py| {
            law.law.bind(py).call_method1(name, (Py::new(py, event)?,)).map(drop)
        });
    }
}

/// A pacing rate in bit/s.
fn rate(bit_s: f64) -> Rate {
    // Faster than this, nothing keeps a packet back.
    const FASTEST_BIT_S: f64 = 1e18;
    if !(bit_s > 0.0 && bit_s <= FASTEST_BIT_S) {
        fail(format!("pacing_rate_bps is {}; expected a number above 0, or None", plain(bit_s)), 0);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
    let whole = bit_s as u64;
    Rate::from_bps(whole.max(1))
}

impl Growth for PythonLaw {
    fn on_ack(&mut self, ack: &AckEvent, slow_start: Option<SlowStartStep>) {
        if self.on_ack.is_none() {
            return;
        }
        let step = slow_start.unwrap_or(SlowStartStep::grow(Bytes::ZERO));
        let event = Ack {
            now_s: at(ack.now),
            newly_acked_bytes: ack.newly_acked.get(),
            newly_delivered_bytes: ack.newly_delivered.get(),
            una_seq: ack.una.get(),
            nxt_seq: ack.nxt.get(),
            rtt_s: ack.rtt.map(seconds),
            srtt_s: ack.srtt.map(seconds),
            in_flight_before_bytes: ack.in_flight_before.get(),
            in_flight_bytes: ack.in_flight.get(),
            limited_by: match ack.limited_by {
                Limit::Application => "application",
                Limit::Cwnd => "cwnd",
                Limit::ReceiveWindow => "rwnd",
                Limit::Pacing => "pacing",
            },
            in_recovery: ack.in_recovery,
            in_slow_start: slow_start.is_some(),
            slow_start_increase_bytes: step.increase.get(),
            slow_start_left_over_bytes: step.left_over.get(),
            slow_start_ends: step.exit,
            mss_bytes: ack.mss.get().into(),
        };
        self.tell(Some(ack.now), |law, py| {
            law.on_ack.as_ref().map_or(Ok(()), |told| told.call(py, event))
        });
    }

    fn wants(&self) -> Wants {
        Wants { grows_by_acks: self.on_ack.is_some(), models_path: self.models_path, ..Wants::ACKS }
    }

    fn on_rtt(&mut self, sample: &RttSampleEvent) {
        if self.on_rtt.is_some() {
            let event = RttSample { now_s: at(sample.now), rtt_s: seconds(sample.rtt) };
            self.tell(Some(sample.now), |law, py| {
                law.on_rtt.as_ref().map_or(Ok(()), |told| told.call(py, event))
            });
        }
    }

    fn on_send_start(&mut self, start: &SendStartEvent) {
        if self.on_send_start.is_some() {
            let event = SendStart {
                now_s: at(start.now),
                last_send_s: start.last_send.map(at),
                nxt_seq: start.nxt.get(),
                app_limited: start.app_limited,
            };
            self.tell(Some(start.now), |law, py| {
                law.on_send_start.as_ref().map_or(Ok(()), |told| told.call(py, event))
            });
        }
    }

    fn on_congestion(&mut self, congestion: &CongestionEvent) {
        let (signal, consecutive_timeouts) = match congestion.signal {
            Signal::Loss => ("loss", 0),
            Signal::Ecn { abe: false } => ("ecn", 0),
            Signal::Ecn { abe: true } => ("ecn_abe", 0),
            Signal::Timeout { consecutive } => ("timeout", consecutive),
        };
        let event = Congestion {
            now_s: at(congestion.now),
            signal,
            consecutive_timeouts,
            reduce_from_bytes: congestion.reduce_from.get(),
            mss_bytes: congestion.mss.get().into(),
        };
        self.call("on_congestion", Some(congestion.now), event);
    }

    fn on_recovery_end(&mut self, end: &RecoveryEndEvent) {
        let event = RecoveryEnd {
            now_s: at(end.now),
            in_flight_bytes: end.in_flight.get(),
            newly_delivered_bytes: end.newly_delivered.get(),
            at_most_bytes: end.at_most.map(Bytes::get),
            mss_bytes: end.mss.get().into(),
        };
        self.call("on_recovery_end", Some(end.now), event);
    }

    fn on_spurious(&mut self) {
        self.tell(None, |law, py| {
            law.law.bind(py).call_method0(intern!(py, "on_spurious")).map(drop)
        });
    }

    fn rebase(&mut self, proposal: &ProposalEvent) {
        let mss_bytes = u32::from(proposal.mss.get());
        let event = Proposal {
            cwnd_bytes: proposal.cwnd.map(Bytes::get),
            ssthresh_bytes: proposal.ssthresh.map(Bytes::get),
            mss_bytes,
            why: match proposal.why {
                Why::Established => "established",
                Why::Idle => "idle",
                Why::Jump => "jump",
            },
        };
        self.tell(None, |law, py| {
            let law = law.law.bind(py);
            law.setattr(intern!(py, "mss_bytes"), mss_bytes)?;
            law.call_method1(intern!(py, "rebase"), (Py::new(py, event)?,)).map(drop)
        });
    }

    fn cwnd(&self) -> Bytes {
        self.windows.cwnd
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.windows.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.windows.pacing
    }

    fn on_delivery(&mut self, delivery: &DeliveryEvent) {
        if self.on_delivery.is_none() {
            return;
        }
        let sample = delivery.sample.as_ref();
        let event = Delivery {
            now_s: at(delivery.now),
            newly_delivered_bytes: delivery.newly_delivered.get(),
            newly_lost_bytes: delivery.newly_lost.get(),
            delivered_bytes: delivery.delivered.get(),
            lost_bytes: delivery.lost.get(),
            has_sample: sample.is_some(),
            sample_delivered_bytes: sample.map_or(0, |it| it.delivered.get()),
            sample_interval_s: sample.and_then(|it| it.interval).map(seconds),
            sample_prior_delivered_bytes: sample.map_or(0, |it| it.prior_delivered.get()),
            sample_tx_in_flight_bytes: sample.map_or(0, |it| it.tx_in_flight.get()),
            sample_lost_bytes: sample.map_or(0, |it| it.lost.get()),
            sample_is_app_limited: sample.is_some_and(|it| it.is_app_limited),
            rtt_s: delivery.rtt.map(seconds),
            srtt_s: delivery.srtt.map(seconds),
            in_flight_before_bytes: delivery.in_flight_before.get(),
            in_flight_bytes: delivery.in_flight.get(),
            is_cwnd_limited: delivery.is_cwnd_limited,
            repair: match delivery.repair {
                Repair::None => "none",
                Repair::Recovery => "recovery",
                Repair::AfterTimeout => "after_timeout",
            },
            mss_bytes: delivery.mss.get().into(),
        };
        self.tell(Some(delivery.now), |law, py| {
            law.on_delivery.as_ref().map_or(Ok(()), |told| told.call(py, event))
        });
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        if self.on_lost.is_some() {
            let event = LostData {
                now_s: at(lost.now),
                start_seq: lost.start.get(),
                end_seq: lost.end.get(),
                tx_in_flight_bytes: lost.tx_in_flight.get(),
                lost_bytes: lost.lost.get(),
                delivered_bytes: lost.delivered.get(),
                is_app_limited: lost.is_app_limited,
            };
            self.tell(Some(lost.now), |law, py| {
                law.on_lost.as_ref().map_or(Ok(()), |told| told.call(py, event))
            });
        }
    }

    fn on_established(&mut self, established: &Established) {
        let mss_bytes = self.mss_bytes();
        let event = Start {
            now_s: at(self.now),
            srtt_s: established.srtt.map(seconds),
            mss_bytes,
            seed: established.seed,
        };
        self.call("on_established", None, event);
    }
}

impl PythonLaw {
    /// The segment size that a proposal brought.
    fn mss_bytes(&self) -> u32 {
        attached(|py| {
            let mss = self.law.bind(py).getattr(intern!(py, "mss_bytes"));
            mss.and_then(|mss| mss.extract()).unwrap_or_else(|_| Mss::default().get().into())
        })
    }
}

/// Register a class, or another callable that makes laws, under a name. ``base`` is ``ackclock.Growth``. Raises
/// ``BadInput``.
#[pyfunction]
#[pyo3(signature = (name, make, base))]
pub fn register_law(name: &str, make: Py<PyAny>, base: Py<PyType>) -> PyResult<()> {
    let made = move || -> Box<dyn Growth> {
        attached(|py| match PythonLaw::new(py, &make, &base) {
            Ok(law) => Box::new(law),
            Err(error) => give_up(py, error),
        })
    };
    guarded(|| ackclock_lab::register_law(name, made))?;
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
    Ok(())
}

/// Tell a law stories and hold it against the rules of growth laws; return the outcome as JSON. ``trail`` is a file that
/// says at any time which story is told. Releases the GIL. Raises ``BadInput``.
#[pyfunction]
#[pyo3(signature = (law, stories, seed, only = None, trail = None))]
pub fn check_law(
    py: Python<'_>,
    law: String,
    stories: u64,
    seed: u64,
    only: Option<u64>,
    trail: Option<std::path::PathBuf>,
) -> PyResult<String> {
    let job = move |ticket: &Ticket| {
        let plan = CheckPlan { stories, seed, only, trail: trail.as_deref() };
        ackclock_lab::check_law(&law, plan, &|| ticket.is_cancelled())
    };
    in_background(py, Work::default(), job)
}

/// Give the events of a recorded trace to a sender and compare their windows; return the outcome as JSON. Releases the
/// GIL. Raises ``BadInput``.
#[pyfunction]
pub fn law_trace(
    py: Python<'_>,
    file: std::path::PathBuf,
    variant: String,
    profile: String,
    mss: u16,
    stamp_offset: u32,
) -> PyResult<String> {
    let job = move |_: &Ticket| {
        let plan =
            LawTracePlan { file: &file, variant: &variant, profile: &profile, mss, stamp_offset };
        Ok(ackclock_lab::law_trace(&plan)?)
    };
    in_background(py, Work::default(), job)
}
