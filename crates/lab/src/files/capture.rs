//! Captures of links as files: one a link.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use ackclock_results::{Capture, CaptureFault, Recorder, check_conservation, choose};
use ackclock_sim::{Meter, Names, Run};
use ackclock_units::Instant;
use ackclock_wire::pcapng::PacketDirection;
use ackclock_writer::{Place, Staged, WriteError};

use crate::run::load::Ready;
use crate::run::sweep::{SweepError, guarded};

/// The captures that are made of a run.
#[derive(Clone, Debug)]
pub struct Captures {
    /// The folder of the files.
    pub place: Place,
    /// The links; none: a dumbbell's bottleneck, every link of a graph.
    pub links: Vec<String>,
}

/// Runs one scenario as [`simulate_one`](crate::simulate_one) does, and writes what `captures` asks
/// for as `<link>.pcapng` in their place; returns the files too, in the order of the links.
///
/// `meter` says how far the run is; `cancelled` is asked now and then whether to go on.
///
/// # Errors
/// A link that is none, a scenario that cannot be run, a packet that cannot stand on a wire, a file
/// that cannot be written, a fault of the simulator's, or a cancellation: then no file is touched.
pub fn simulate_captured(
    ready: &Ready,
    captures: &Captures,
    meter: &Meter,
    cancelled: impl Fn() -> bool,
) -> Result<(Run, Vec<PathBuf>), SweepError> {
    let scenario = ready.scenario();
    let names = guarded(|| scenario.check().and_then(|()| Names::of(scenario)))?;
    let links = choose(scenario, &names, &captures.links)?;
    let mut staged: Vec<(usize, Staged)> = Vec::new();
    let open = |link, name: &str| {
        let (file, place) = captures.place.create(name)?;
        staged.push((link, place));
        Ok(BufWriter::new(file))
    };
    // Its beginning stays in the buffer.
    let fault = |_, error: io::Error| WriteError::io(captures.place.path(), &error);
    let mut recorder = Recorder::new(scenario, &names, &links, &cancelled, open, fault)
        .map_err(SweepError::Store)?;
    let engine = ready.engine();
    let run = guarded(|| engine.simulate_observed(scenario, &links, &mut recorder, meter))?;
    let failed = |link: usize, error: &io::Error| {
        let of_link = staged.iter().find(|(of, _)| *of == link);
        let path = of_link.map_or_else(|| captures.place.path(), |(_, staged)| staged.path());
        SweepError::from(WriteError::io(path, error))
    };
    let finished = recorder.finish().map_err(|fault| match fault {
        CaptureFault::Input(error) => error.into(),
        CaptureFault::Write(link, error) => failed(link, &error),
        CaptureFault::Cancelled => SweepError::Cancelled,
    })?;
    for (link, buffered) in finished {
        buffered.into_inner().map_err(|error| failed(link, &error.into_error()))?;
    }
    let run = run.ok_or(SweepError::Cancelled)?;
    check_conservation(&run).map_err(SweepError::Internal)?;
    if cancelled() {
        return Err(SweepError::Cancelled);
    }
    // In the order of the links.
    staged.sort_by_key(|(link, _)| *link);
    let files: Vec<Staged> = staged.into_iter().map(|(_, staged)| staged).collect();
    let paths = files.iter().map(|staged| staged.path().to_owned()).collect();
    captures.place.commit(files, &[])?;
    Ok((run, paths))
}

/// A capture under way in a file of its own.
pub(crate) struct CaptureFile {
    capture: Capture<BufWriter<File>>,
    staged: Staged,
}

impl CaptureFile {
    /// The file `name` in `place`, with a `comment` and one interface with a name and a comment of its own.
    pub(crate) fn create(
        place: &Place,
        name: &str,
        comment: &str,
        interface: [&str; 2],
    ) -> Result<Self, WriteError> {
        let (file, staged) = place.create(name)?;
        let capture = Capture::new(BufWriter::new(file), comment, interface)
            .map_err(|error| WriteError::io(staged.path(), &error))?;
        Ok(Self { capture, staged })
    }

    /// Adds a packet: its headers, and its length with the payload.
    pub(crate) fn write(
        &mut self,
        at: Instant,
        direction: PacketDirection,
        headers: &[u8],
        length: usize,
    ) -> Result<(), WriteError> {
        self.capture
            .write(at, direction, headers, length)
            .map_err(|error| WriteError::io(self.staged.path(), &error))
    }

    /// The file, whole, and not yet under its name.
    pub(crate) fn finish(self) -> Result<Staged, WriteError> {
        self.capture
            .finish()
            .and_then(|buffered| buffered.into_inner().map_err(io::IntoInnerError::into_error))
            .map_err(|error| WriteError::io(self.staged.path(), &error))?;
        Ok(self.staged)
    }
}

#[cfg(test)]
mod tests;
