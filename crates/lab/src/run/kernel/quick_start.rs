//! Quick-Start's programs, which a live run has in the kernel for as long as it lasts.

use std::sync::{Arc, Mutex, PoisonError};

use ackclock_kernel::{EndSettings, EndStep, KernelEnds, RequestStep};
use ackclock_live::{End, KernelStep, QuickStartEnd, QuickStartEnds};
use ackclock_packet::QuickStartRate;
use ackclock_sim::Scenario;
use ackclock_tcp::QuickStartStep;

use crate::{BadInput, SweepError};

/// The programs for `scenario`, if senders of it that are the kernel's take part in Quick-Start.
pub(crate) fn quick_start(
    scenario: &Scenario,
    ends: &[[End; 2]],
) -> Result<Option<Arc<dyn QuickStartEnds>>, SweepError> {
    let input = |error: ackclock_sim::ScenarioError| {
        BadInput::new(format_args!("{}: {}", error.key, error.message))
    };
    let Some(key) = ackclock_live::wants_quick_start(scenario, ends).map_err(input)? else {
        return Ok(None);
    };
    match KernelEnds::load() {
        Ok(ends) => {
            Ok(Some(Arc::new(Programs(Mutex::new(ProgramsState { ends, steps: Vec::new() })))))
        }
        Err(error) => {
            let message = format_args!(
                "{key}: the kernel knows no Quick-Start, and ours cannot be loaded: {error}; or `endpoint = \"ackclock\"`"
            );
            Err(BadInput::new(message).into())
        }
    }
}

#[derive(Debug)]
struct Programs(Mutex<ProgramsState>);

/// The programs, and the steps that they have told.
#[derive(Debug)]
struct ProgramsState {
    ends: KernelEnds,
    steps: Vec<KernelStep>,
}

impl QuickStartEnds for Programs {
    fn add_host(&self, cookie: u64, device: u32) -> Result<(), String> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.ends.add_host(cookie, device).map_err(|error| error.to_string())
    }

    fn add_end(&self, address: [u8; 4], end: &QuickStartEnd) -> Result<(), String> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = EndSettings {
            asks: end.asks.code(),
            at_setup: end.at_setup,
            after_idle: end.after_idle,
            answers: end.answers,
            most: end.most.code(),
            lies: end.lies.map_or(0, QuickStartRate::code),
            packet: end.packet,
            payload: end.payload,
            sets_threshold: end.sets_threshold,
        };
        told.ends.add_end(address, &settings).map_err(|error| error.to_string())
    }

    fn steps(&self) -> Vec<KernelStep> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<KernelStep> = told.ends.steps().iter().map(step).collect();
        told.steps.extend(new);
        told.steps.clone()
    }

    fn object(&self) -> (String, String) {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ("quick_start_ends".to_owned(), told.ends.hash().to_owned())
    }
}

fn step(of: &EndStep) -> KernelStep {
    let rate = |code| QuickStartRate::from_code(code).unwrap_or_default();
    KernelStep {
        time_ns: of.time_ns,
        local: of.local,
        step: match of.step {
            RequestStep::Asked => QuickStartStep::Asked,
            RequestStep::Approved => QuickStartStep::Approved,
            RequestStep::NotNeeded => QuickStartStep::NotNeeded,
            RequestStep::Unanswered => QuickStartStep::Unanswered,
            RequestStep::TtlMismatch => QuickStartStep::TtlMismatch,
            RequestStep::NonceMismatch => QuickStartStep::NonceMismatch,
            RequestStep::RateTooHigh => QuickStartStep::RateTooHigh,
            RequestStep::Lost => QuickStartStep::Lost,
        },
        asked: rate(of.asked),
        approved: rate(of.approved),
        rtt_us: of.rtt_us,
        window: of.window,
    }
}
