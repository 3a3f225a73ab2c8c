//! Captures of what passes the hosts' devices, one file a host.

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use ackclock_units::Instant;
use ackclock_wire::pcapng::{About, Interface, PacketDirection, Section, Writer};

use crate::sys::Directory;

/// Bytes kept of a packet: IP and TCP with all options.
const KEPT: usize = 128;

/// Packets that are given to the writer at once.
const BATCH: usize = 256;

/// A packet that passed a port.
struct Seen {
    port: usize,
    at: Instant,
    bytes: [u8; KEPT],
    kept: usize,
    len: usize,
    from_host: bool,
}

/// The captures under way, each under another name until all of it is there: new files, so that nothing is written
/// through a link, and no FIFO keeps a run waiting. Those that are dropped before go.
struct Files {
    folder: Directory,
    /// The names, for now and for good.
    names: Vec<[String; 2]>,
}

impl Files {
    fn commit(mut self) -> io::Result<()> {
        while let Some([part, name]) = self.names.last() {
            self.folder.rename(part, name)?;
            self.names.pop();
        }
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for [part, _] in &self.names {
            let _ = self.folder.remove(part);
        }
    }
}

/// Copies packets on the path's thread, and has another write them.
pub struct Captor {
    batch: Vec<Seen>,
    to_writer: SyncSender<Vec<Seen>>,
    writer: JoinHandle<io::Result<()>>,
    files: Files,
    /// Packets that the writer was too slow for.
    lost: u64,
}

impl Captor {
    /// Begins a file `<host>.pcapng` in `directory` for each of `hosts`, which are named in the order of
    /// their ports.
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn begin(
        directory: &Path,
        hosts: &[String],
        comment: &str,
    ) -> io::Result<(Self, Vec<PathBuf>)> {
        fs::create_dir_all(directory)?;
        let folder = Directory::open(directory)?;
        let paths: Vec<PathBuf> =
            hosts.iter().map(|host| directory.join(format!("{host}.pcapng"))).collect();
        let mut files = Vec::with_capacity(hosts.len());
        let mut under_way = Files { folder, names: Vec::with_capacity(hosts.len()) };
        for host in hosts {
            let name = format!("{host}.pcapng");
            let part = format!(".{name}.{}.part", std::process::id());
            let file = under_way.folder.replace(&part, 0o666)?;
            under_way.names.push([part, name]);
            let section = Section { application: Some("ackclock"), comment: Some(comment) };
            let mut writer = Writer::new(BufWriter::new(file), &section)?;
            let snaplen = u32::try_from(KEPT).unwrap_or(u32::MAX);
            let interface =
                writer.add_interface(&Interface { snaplen, ..Interface::named(host) })?;
            files.push((writer, interface));
        }
        let (to_writer, batches) = mpsc::sync_channel::<Vec<Seen>>(4096);
        let writer = thread::Builder::new().name("ackclock-pcap".to_owned()).spawn(move || {
            for seen in batches.iter().flatten() {
                let (writer, interface) = &mut files[seen.port];
                let direction = Some(if seen.from_host {
                    PacketDirection::Outbound
                } else {
                    PacketDirection::Inbound
                });
                let about = About { direction, comment: None };
                writer.write(*interface, seen.at, &seen.bytes[..seen.kept], seen.len, &about)?;
            }
            files.into_iter().try_for_each(|(writer, _)| writer.finish().map(drop))
        })?;
        let batch = Vec::with_capacity(BATCH);
        Ok((Self { batch, to_writer, writer, files: under_way, lost: 0 }, paths))
    }

    /// A packet passes port number `port`, from its host or to it.
    pub fn note(&mut self, port: usize, at: Instant, packet: &[u8], from_host: bool) {
        let kept = packet.len().min(KEPT);
        let mut bytes = [0; KEPT];
        bytes[..kept].copy_from_slice(&packet[..kept]);
        self.batch.push(Seen { port, at, bytes, kept, len: packet.len(), from_host });
        if self.batch.len() == BATCH {
            let full = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
            // The path does not wait for a disk.
            if self.to_writer.try_send(full).is_err() {
                self.lost += BATCH as u64;
            }
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// A file cannot be written, or the writer was too slow for some packets.
    pub fn finish(self) -> io::Result<()> {
        let Self { batch, to_writer, writer, files, lost } = self;
        // An error of the writer's is told below.
        let _ = to_writer.send(batch);
        drop(to_writer);
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if lost > 0 {
            return Err(io::Error::other(format!("the capture lacks {lost} packets")));
        }
        files.commit()
    }
}
