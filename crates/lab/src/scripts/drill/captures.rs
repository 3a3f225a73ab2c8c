//! Captures of scripts: a pcapng file for each script and stack, with the script's own numbers.

use core::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use ackclock_results::file_name;
use ackclock_script::OnWire;
use ackclock_wire::pcapng::PacketDirection;
use ackclock_wire::{Addresses, MAX_HEADERS, Payload, Tuple, encode};
use ackclock_writer::Place;

use super::Drilled;
use crate::files::capture::CaptureFile;
use crate::run::sweep::SweepError;
use ackclock_input::{BadInput, printable};

/// The addresses that packetdrill gives both ends, and its port of the stack's end.
const TUPLE: Tuple = Tuple {
    addresses: Addresses::V4 {
        source: Ipv4Addr::new(192, 168, 0, 1),
        destination: Ipv4Addr::new(192, 0, 2, 1),
    },
    source_port: 8080,
    destination_port: 49_152,
};

/// The comment of every interface.
const CAPTURE_POINT: &str = "outbound: sent by the stack; inbound: the script's packets";

/// Writes a capture of each outcome into `place`; returns the files in the order of the outcomes.
/// Names that the captures of `elsewhere` have are left to them.
pub(super) fn write(
    place: &Place,
    drilled: &Drilled,
    elsewhere: &[(String, String)],
) -> Result<Vec<PathBuf>, SweepError> {
    let mut taken = Vec::new();
    let mut named = |file: &str, on: &str| {
        let stem = Path::new(file).file_stem().unwrap_or_default();
        let several = if drilled.on.len() > 1 { format!("-{on}") } else { String::new() };
        file_name(&format!("{}{several}", stem.display()), &mut taken)
    };
    for (file, _) in elsewhere {
        for on in &drilled.on {
            named(file, on.as_str());
        }
    }
    let mut files = Vec::with_capacity(drilled.outcomes.len());
    for (n, outcome) in drilled.outcomes.iter().enumerate() {
        let on = drilled.on(n).as_str();
        let name = named(&outcome.file, on);
        let mut file =
            CaptureFile::create(place, &name, &printable(&outcome.file, 500), [on, CAPTURE_POINT])?;
        for packet in &outcome.trace.wire {
            record(&mut file, packet, &outcome.file)?;
        }
        files.push(file.finish()?);
    }
    let paths = files.iter().map(|staged| staged.path().to_owned()).collect();
    place.commit(files, &[])?;
    Ok(paths)
}

fn record(file: &mut CaptureFile, packet: &OnWire, script: &str) -> Result<(), SweepError> {
    // The numbers begin at 0, so that those of the capture are those of the script.
    let tuple = if packet.is_out { TUPLE } else { TUPLE.reversed() };
    let direction =
        ackclock_wire::Direction::new(tuple, 0, 0).with_window_shift(packet.window_shift);
    let headers = direction.narrow(&packet.segment, packet.ip, packet.options.as_ref());
    let mut buffer = [0; MAX_HEADERS];
    let encoded = encode(&headers, Payload::Omitted(packet.segment.len), &mut buffer)
        .map_err(|error| BadInput::new(format_args!("pcap: {script}: {error}")))?;
    let way = if packet.is_out { PacketDirection::Outbound } else { PacketDirection::Inbound };
    Ok(file.write(packet.at, way, &buffer[..encoded.written], encoded.length)?)
}
