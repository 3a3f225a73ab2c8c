//! Captures of what passes the hosts' devices, one file a host.

use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use ackclock_units::Instant;
use ackclock_wire::pcapng::{About, Interface, PacketDirection, Section, Writer};
use ackclock_writer::{Place, Staged, WriteError};

use crate::base::error::LiveError;

/// Bytes kept of a packet: IP and TCP with all options.
const KEPT: usize = 128;

/// Packets that are given to the writer at once.
const BATCH: usize = 256;

/// A packet that passed a port.
struct TappedPacket {
    port: usize,
    at: Instant,
    bytes: [u8; KEPT],
    kept: usize,
    len: usize,
    from_host: bool,
}

/// Copies packets on the path's thread, and has another write them.
pub struct PcapTap {
    batch: Vec<TappedPacket>,
    to_writer: SyncSender<Vec<TappedPacket>>,
    writer: JoinHandle<io::Result<()>>,
    place: Place,
    files: Vec<Staged>,
    /// Packets that the writer was too slow for.
    lost: u64,
}

impl PcapTap {
    /// Begins a file `<host>.pcapng` in `place` for each of `hosts`, which are named in the order of
    /// their ports.
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn begin(
        place: &Place,
        hosts: &[String],
        comment: &str,
    ) -> Result<(Self, Vec<PathBuf>), LiveError> {
        let mut writers = Vec::with_capacity(hosts.len());
        let mut files = Vec::with_capacity(hosts.len());
        for host in hosts {
            let (file, staged) = place.create(&format!("{host}.pcapng"))?;
            let section = Section { application: Some("ackclock"), comment: Some(comment) };
            let snaplen = u32::try_from(KEPT).unwrap_or(u32::MAX);
            let begun = Writer::new(BufWriter::new(file), &section).and_then(|mut writer| {
                let interface = Interface { snaplen, ..Interface::named(host) };
                writer.add_interface(&interface).map(|interface| (writer, interface))
            });
            writers.push(begun.map_err(|error| WriteError::io(staged.path(), &error))?);
            files.push(staged);
        }
        let paths = files.iter().map(|staged| staged.path().to_owned()).collect();
        let (to_writer, batches) = mpsc::sync_channel::<Vec<TappedPacket>>(4096);
        let writer = move || {
            for seen in batches.iter().flatten() {
                let (writer, interface) = &mut writers[seen.port];
                let direction = Some(if seen.from_host {
                    PacketDirection::Outbound
                } else {
                    PacketDirection::Inbound
                });
                let about = About { direction, comment: None };
                writer.write(*interface, seen.at, &seen.bytes[..seen.kept], seen.len, &about)?;
            }
            writers.into_iter().try_for_each(|(writer, _)| {
                let buffered = writer.finish()?;
                buffered.into_inner().map(drop).map_err(io::IntoInnerError::into_error)
            })
        };
        let named = thread::Builder::new().name("ackclock-pcap".to_owned());
        let writer = named.spawn(writer).map_err(LiveError::step("start a thread"))?;
        let batch = Vec::with_capacity(BATCH);
        Ok((Self { batch, to_writer, writer, place: place.clone(), files, lost: 0 }, paths))
    }

    /// A packet passes port number `port`, from its host or to it.
    pub fn note(&mut self, port: usize, at: Instant, packet: &[u8], from_host: bool) {
        let kept = packet.len().min(KEPT);
        let mut bytes = [0; KEPT];
        bytes[..kept].copy_from_slice(&packet[..kept]);
        self.batch.push(TappedPacket { port, at, bytes, kept, len: packet.len(), from_host });
        if self.batch.len() == BATCH {
            let full = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
            // The path does not wait for a disk.
            if self.to_writer.try_send(full).is_err() {
                self.lost += BATCH as u64;
            }
        }
    }

    /// Writes what is left, and gives the files their names.
    ///
    /// # Errors
    /// A file cannot be written, or the writer was too slow for some packets.
    pub fn finish(self) -> Result<(), LiveError> {
        let Self { batch, to_writer, writer, place, files, lost } = self;
        // An error of the writer's is told below.
        let _ = to_writer.send(batch);
        drop(to_writer);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map_err(|error| WriteError::io(place.path(), &error))?;
        if lost > 0 {
            let why = format!("the capture lacks {lost} packets");
            return Err(WriteError::new(place.path(), &why).into());
        }
        Ok(place.commit(files, &[])?)
    }
}
