//! The kernel's tracepoint `tcp:tcp_probe`: the state of a connection at each segment that it receives,
//! before the segment is looked at.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use ackclock_units::Instant;

use crate::machine::trace_ring::TraceRing;
use crate::sys::{self, PerfEvent, Record};
use crate::timing::clock::Clock;

const AF_INET6: u16 = 10;

/// A connection as it received a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The time.
    pub at: Instant,
    /// Its own address.
    pub local: IpAddr,
    /// The number that the kernel gives the socket.
    pub cookie: u64,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// The threshold, in segments.
    pub ssthresh: u32,
    /// The smoothed round-trip time, in microseconds.
    pub srtt_us: u32,
    /// SND.UNA, as on the wire.
    pub una: u32,
    /// Bytes sent and not acknowledged.
    pub in_flight: u32,
}

/// The offsets of the fields that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FieldOffsets {
    local: usize,
    snd_nxt: usize,
    snd_una: usize,
    cwnd: usize,
    ssthresh: usize,
    srtt: usize,
    cookie: usize,
}

impl FieldOffsets {
    /// Reads the offsets from the file `format` of the tracepoint.
    fn parse(text: &str) -> Option<Self> {
        let offset = |name: &str| -> Option<usize> {
            let line = text.lines().find(|line| {
                let field = line.trim().strip_prefix("field:").and_then(|f| f.split(';').next());
                field.is_some_and(|field| {
                    let named = field.split('[').next().unwrap_or_default();
                    named.rsplit(' ').next() == Some(name)
                })
            })?;
            line.split("offset:").nth(1)?.split(';').next()?.trim().parse().ok()
        };
        Some(Self {
            local: offset("saddr")?,
            snd_nxt: offset("snd_nxt")?,
            snd_una: offset("snd_una")?,
            cwnd: offset("snd_cwnd")?,
            ssthresh: offset("ssthresh")?,
            srtt: offset("srtt")?,
            cookie: offset("sock_cookie")?,
        })
    }

    fn read(&self, at: Instant, fields: &[u8]) -> Option<Probed> {
        let word = |at: usize| Some(u32::from_ne_bytes(fields.get(at..at + 4)?.try_into().ok()?));
        let family = fields.get(self.local..self.local + 2)?.try_into().ok()?;
        let local = if u16::from_ne_bytes(family) == AF_INET6 {
            // A struct sockaddr_in6: family, port, flow, address.
            let octets: [u8; 16] = fields.get(self.local + 8..self.local + 24)?.try_into().ok()?;
            IpAddr::from(octets)
        } else {
            // A struct sockaddr_in: family, port, address.
            let octets: [u8; 4] = fields.get(self.local + 4..self.local + 8)?.try_into().ok()?;
            IpAddr::from(octets)
        };
        let cookie = fields.get(self.cookie..self.cookie + 8)?.try_into().ok()?;
        Some(Probed {
            at,
            local,
            cookie: u64::from_ne_bytes(cookie),
            cwnd: word(self.cwnd)?,
            ssthresh: word(self.ssthresh)?,
            srtt_us: word(self.srtt)?,
            una: word(self.snd_una)?,
            in_flight: word(self.snd_nxt)?.wrapping_sub(word(self.snd_una)?),
        })
    }
}

/// The way by which the events come.
#[derive(Debug)]
enum Source {
    /// By processor.
    Perf(Vec<PerfEvent>),
    /// The ring of tracefs, in guests.
    Ring(TraceRing),
}

/// The tracepoint on every processor.
#[derive(Debug)]
pub struct Tracepoint {
    offsets: FieldOffsets,
    source: Source,
    /// Events that came faster than they were read.
    pub lost: u64,
}

impl Tracepoint {
    /// Opens it. Nothing of it is left when the process ends.
    ///
    /// # Errors
    /// The user may not (it takes `CAP_PERFMON` and the right to mount tracefs), or the kernel has no such
    /// tracepoint.
    pub fn open() -> io::Result<Self> {
        // Whoever looks at tracefs need not have it mounted, and nobody else gets to see it.
        let (format, id, ring) = sys::on_new_thread(|| {
            let mount = Path::new("/sys/kernel/tracing");
            sys::new_mounts()?;
            match sys::mount_tracefs(mount) {
                // It is there already, as on most machines.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                mounted => mounted?,
            }
            let folder = mount.join("events/tcp/tcp_probe");
            let format = fs::read_to_string(folder.join("format"))?;
            if sys::in_virtual_time() {
                return Ok((format, None, Some(TraceRing::open(mount, "tcp/tcp_probe")?)));
            }
            Ok((format, Some(fs::read_to_string(folder.join("id"))?), None))
        })?;
        let unknown = || io::Error::other("tcp_probe has other fields than are known");
        let offsets = FieldOffsets::parse(&format).ok_or_else(unknown)?;
        let source = if let Some(ring) = ring {
            Source::Ring(ring)
        } else {
            let id = id.unwrap_or_default().trim().parse().map_err(io::Error::other)?;
            let events = (0..sys::processors()).map(|cpu| PerfEvent::open(id, cpu));
            Source::Perf(events.collect::<io::Result<_>>()?)
        };
        Ok(Self { offsets, source, lost: 0 })
    }

    /// Adds what has come to `probed`.
    pub fn drain(&mut self, clock: Clock, probed: &mut Vec<Probed>) {
        let Self { offsets, source, lost } = self;
        let mut take = |record: Record<'_>| match record {
            Record::Event(nanos, fields) => probed.extend(offsets.read(clock.of(nanos), fields)),
            Record::Lost(count) => *lost += count,
        };
        match source {
            Source::Perf(events) => events.iter_mut().for_each(|event| event.drain(&mut take)),
            Source::Ring(ring) => ring.drain(take),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracefs_that_is_mounted_already_is_no_obstacle() {
        // Twice, each in mounts of its own: where it was not mounted, nothing is left of the first.
        for _ in 0..2 {
            match Tracepoint::open() {
                Ok(_) => {}
                Err(error) => {
                    assert_ne!(error.kind(), io::ErrorKind::ResourceBusy);
                    eprintln!("skipped: the tracepoint cannot be opened here ({error})");
                }
            }
        }
    }

    #[test]
    fn fields_are_found_by_name() {
        let text = "name: tcp_probe\nID: 7\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:__u8 saddr[sizeof(struct sockaddr_in6)];\toffset:8;\tsize:28;\tsigned:0;\n\
            \tfield:__u32 snd_nxt;\toffset:72;\tsize:4;\tsigned:0;\n\
            \tfield:__u32 snd_una;\toffset:76;\tsize:4;\tsigned:0;\n\
            \tfield:__u32 snd_cwnd;\toffset:80;\tsize:4;\tsigned:0;\n\
            \tfield:__u32 ssthresh;\toffset:84;\tsize:4;\tsigned:0;\n\
            \tfield:__u32 srtt;\toffset:92;\tsize:4;\tsigned:0;\n\
            \tfield:__u64 sock_cookie;\toffset:104;\tsize:8;\tsigned:0;\n";
        let offsets = FieldOffsets::parse(text).unwrap();
        assert_eq!((offsets.local, offsets.cwnd, offsets.cookie), (8, 80, 104));
        let mut fields = vec![0; 112];
        fields[12..16].copy_from_slice(&[10, 0, 0, 1]);
        fields[80..84].copy_from_slice(&42_u32.to_ne_bytes());
        fields[72..76].copy_from_slice(&5_u32.to_ne_bytes());
        // Sequence numbers wrap: from 2^32 - 5 to 5 are 10 bytes.
        fields[76..80].copy_from_slice(&0xffff_fffb_u32.to_ne_bytes());
        let probed = offsets.read(Instant::START, &fields).unwrap();
        assert_eq!(
            (probed.local.to_string().as_str(), probed.cwnd, probed.in_flight),
            ("10.0.0.1", 42, 10)
        );
        // A struct sockaddr_in6: family 10, port, flow information, fd00::7.
        fields[8..10].copy_from_slice(&10_u16.to_ne_bytes());
        fields[12..16].fill(0);
        fields[16] = 0xfd;
        fields[31] = 7;
        let probed = offsets.read(Instant::START, &fields).unwrap();
        assert_eq!(probed.local.to_string(), "fd00::7");
        assert_eq!(offsets.read(Instant::START, &fields[..111]), None);
    }
}
