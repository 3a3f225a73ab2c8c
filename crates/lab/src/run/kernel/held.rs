//! The laws that a live run has in the kernel for as long as it lasts.

use std::sync::Arc;

use ackclock_kernel::{LoadedLaw, find, hold, judge};
use ackclock_live::{End, KernelLaw, LawRecords, LawReport, SenderLaw, laws_wanted, sender_laws};
use ackclock_sim::Scenario;

use super::samples::Recorded;
use crate::{BadInput, SweepError};

/// Laws in the kernel, each with the senders that it is for.
#[derive(Debug, Default)]
pub(crate) struct HeldLaws {
    held: Vec<(String, LoadedLaw)>,
    /// Laws that somebody with more rights has loaded to stay.
    found: Vec<KernelLaw>,
}

impl HeldLaws {
    /// Loads the laws that `scenario`'s kernel senders need and the kernel does not have; with `recorded` also the recorders
    /// of those that it has.
    pub(crate) fn of(
        scenario: &Scenario,
        ends: &[[End; 2]],
        recorded: bool,
    ) -> Result<Self, SweepError> {
        let mut laws = if recorded { Self::recorders(scenario, ends)? } else { Self::default() };
        let input = |error: ackclock_sim::ScenarioError| {
            BadInput::new(format_args!("{}: {}", error.key, error.message))
        };
        for SenderLaw { key, word, .. } in laws_wanted(scenario, ends).map_err(input)? {
            // A law that has no form for the kernel is refused by the run, which says what there is.
            let Ok(asked) = find(&word) else { continue };
            match hold(&asked) {
                Ok(held) => laws.held.push((word, held)),
                Err(error) => {
                    let staying = asked.kernel_name().ok().filter(|name| is_available(name));
                    let Some(name) = staying else {
                        let message = format_args!(
                            "{key}: the kernel has no `{}`, and ours cannot be loaded: {error}",
                            asked.word
                        );
                        return Err(BadInput::new(message).into());
                    };
                    laws.found.push(KernelLaw { word, name });
                }
            }
        }
        Ok(laws)
    }

    /// Recorders of the laws that are the kernel's own.
    fn recorders(scenario: &Scenario, ends: &[[End; 2]]) -> Result<Self, SweepError> {
        let mut laws = Self::default();
        let input = |error: ackclock_sim::ScenarioError| {
            BadInput::new(format_args!("{}: {}", error.key, error.message))
        };
        let senders = sender_laws(scenario, ends).map_err(input)?;
        for SenderLaw { key, word, .. } in senders.into_iter().filter(|law| law.is_kernels) {
            let recorders = ackclock_kernel::laws().iter().filter(|law| !law.wraps.is_empty());
            let known: Vec<_> = recorders.flat_map(|law| law.wraps).copied().collect();
            // The recorder has the kernel's own word, without the form.
            let own = word.split('(').next().unwrap_or_default();
            let asked = find(own).ok().filter(|asked| !asked.law.wraps.is_empty());
            let Some(asked) = asked else {
                let message = format_args!(
                    "{key}: there is no recorder of the kernel's `{word}`, expected one of {}",
                    known.join(", ")
                );
                return Err(BadInput::new(message).into());
            };
            let refused =
                |error| BadInput::new(format_args!("{key}: its records cannot be had: {error}"));
            laws.add(word, hold(&asked).map_err(refused)?);
        }
        Ok(laws)
    }

    /// A law for the senders of `choice`, whatever module the kernel has.
    pub(crate) fn add(&mut self, word: String, held: LoadedLaw) {
        self.held.push((word, held));
    }

    /// The words for the run.
    pub(crate) fn laws(&self) -> Vec<KernelLaw> {
        let held = self
            .held
            .iter()
            .map(|(word, held)| KernelLaw { word: word.clone(), name: held.loaded().name.clone() });
        held.chain(self.found.iter().cloned()).collect()
    }

    /// Their records, for the run's samples; `None` if there are none.
    pub(crate) fn records(&self) -> Option<Arc<dyn LawRecords>> {
        let records: Vec<_> = self.held.iter().map(|(_, held)| held.records()).collect();
        (!records.is_empty()).then(|| Arc::new(Recorded(records)) as Arc<dyn LawRecords>)
    }

    /// Removes them, and says what they were and did.
    pub(crate) fn finish(self) -> Vec<LawReport> {
        let held = self.held.into_iter().map(|(word, held)| {
            let loaded = held.loaded().clone();
            let records = held.finish();
            // A recorder's law is the kernel's, of whose steps the records do not have all.
            let law = ackclock_kernel::laws().iter().find(|law| law.name == loaded.object);
            let is_ours = law.is_some_and(|law| law.wraps.is_empty());
            let judged = judge(&word, &records).filter(|judged| is_ours && judged.acks > 0);
            LawReport {
                word,
                name: loaded.name,
                object: Some(loaded.object.to_owned()),
                hash: Some(loaded.hash),
                log_bytes: Some(loaded.log_bytes),
                instructions: Some(loaded.instructions),
                records: records.len(),
                interrupted: judged.map(|judged| judged.interrupted),
                judged_acks: judged.map(|judged| judged.acks),
                reductions: judged.map(|judged| judged.reductions),
                apart_acks: judged.map(|judged| judged.apart),
                apart_segments: judged.map(|judged| judged.largest_segments),
            }
        });
        let found = self.found.into_iter().map(|law| LawReport {
            word: law.word,
            name: law.name,
            ..LawReport::default()
        });
        held.chain(found).collect()
    }
}

fn is_available(name: &str) -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    std::fs::read_to_string(path).is_ok_and(|text| text.split_whitespace().any(|law| law == name))
}
