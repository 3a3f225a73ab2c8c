//! Captures in pcapng (draft-ietf-opsawg-pcapng): a section header, interface descriptions, enhanced
//! packet blocks, all little-endian. Packets begin with their IP header (link type RAW), times are
//! nanoseconds since the run began. Which way a packet went is one of its options (`epb_flags`).
//!
//! The same calls give the same bytes: neither time nor host nor build is in them.

use std::io::{self, ErrorKind, Write};

use ackclock_units::Instant;

/// The description of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section<'a> {
    /// The program that wrote it (`shb_userappl`).
    pub application: Option<&'a str>,
    /// Anything else, such as the scenario's title and seed (`opt_comment`).
    pub comment: Option<&'a str>,
}

/// An interface: a link of which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name (`if_name`).
    pub name: &'a str,
    /// Anything else about it (`opt_comment`).
    pub comment: Option<&'a str>,
    /// The most bytes kept of a packet, zero for all.
    pub snaplen: u32,
}

impl<'a> Interface<'a> {
    /// An interface of this name that keeps [`HEADERS_ONLY`] bytes of a packet.
    pub const fn named(name: &'a str) -> Self {
        Self { name, comment: None, snaplen: HEADERS_ONLY }
    }
}

/// Which way a packet passed its interface: the direction bits of `epb_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketDirection {
    /// It came in.
    Inbound,
    /// It went out.
    Outbound,
}

/// The description of a packet beside its bytes. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About<'a> {
    /// Which way it went (`epb_flags`).
    pub direction: Option<PacketDirection>,
    /// Anything else (`opt_comment`).
    pub comment: Option<&'a str>,
}

/// The number of an interface in its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceId(usize);

/// Writes a capture. Allocates when an interface is added and never for a packet; makes several small
/// writes a packet, so that a file belongs behind a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct Writer<W> {
    inner: W,
    snaplens: Vec<u32>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture.
    pub fn new(mut inner: W, section: &Section<'_>) -> io::Result<Self> {
        let options = [text(SHB_USERAPPL, section.application)?, text(COMMENT, section.comment)?];
        let mut fixed = [0; 16];
        fixed[..4].copy_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        fixed[4..6].copy_from_slice(&1_u16.to_le_bytes());
        // Version 1.0; the section's length is not given (-1).
        fixed[8..].fill(0xff);
        block(&mut inner, SECTION_HEADER, &fixed, &[], &options)?;
        Ok(Self { inner, snaplens: Vec::new() })
    }

    /// Describes one more interface.
    ///
    /// Wireshark reads any number of them. libpcap (1.10.3 was tried) refuses the second: it compares
    /// the file's number of link type RAW, 101, with its own, 12.
    pub fn add_interface(&mut self, interface: &Interface<'_>) -> io::Result<InterfaceId> {
        let options = [
            text(IF_NAME, Some(interface.name))?,
            Some((IF_TSRESOL, &[NANOSECONDS][..])),
            text(COMMENT, interface.comment)?,
        ];
        let mut fixed = [0; 8];
        fixed[..2].copy_from_slice(&LINKTYPE_RAW.to_le_bytes());
        fixed[4..].copy_from_slice(&interface.snaplen.to_le_bytes());
        block(&mut self.inner, INTERFACE_DESCRIPTION, &fixed, &[], &options)?;
        self.snaplens.push(interface.snaplen);
        Ok(InterfaceId(self.snaplens.len() - 1))
    }

    /// Writes a packet of `length` bytes of which `bytes` are the first. Of these, no more than the
    /// interface's snaplen are kept.
    ///
    /// Refuses an interface of another capture, and a packet shorter than its bytes.
    pub fn write(
        &mut self,
        interface: InterfaceId,
        at: Instant,
        bytes: &[u8],
        length: usize,
        about: &About<'_>,
    ) -> io::Result<()> {
        let &snaplen = self
            .snaplens
            .get(interface.0)
            .ok_or_else(|| invalid("the interface is not one of this capture"))?;
        if length < bytes.len() {
            return Err(invalid("the packet is shorter than what was captured of it"));
        }
        let kept = if snaplen == 0 { usize::MAX } else { size(snaplen) };
        let bytes = &bytes[..bytes.len().min(kept)];
        let nanos = at.as_nanos().to_le_bytes();
        let mut fixed = [0; 20];
        fixed[..4].copy_from_slice(&word(interface.0)?.to_le_bytes());
        // The upper half of the time comes first.
        fixed[4..8].copy_from_slice(&nanos[4..]);
        fixed[8..12].copy_from_slice(&nanos[..4]);
        fixed[12..16].copy_from_slice(&word(bytes.len())?.to_le_bytes());
        fixed[16..].copy_from_slice(&word(length)?.to_le_bytes());
        let flags = about.direction.map(|direction| match direction {
            PacketDirection::Inbound => INBOUND.to_le_bytes(),
            PacketDirection::Outbound => OUTBOUND.to_le_bytes(),
        });
        let flags = flags.as_ref().map(|flags| (EPB_FLAGS, &flags[..]));
        let options = [flags, text(COMMENT, about.comment)?];
        block(&mut self.inner, ENHANCED_PACKET, &fixed, bytes, &options)
    }

    /// Flushes what is beneath.
    pub fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }

    /// Flushes and returns the writer beneath. The capture is complete: there is no trailer.
    pub fn finish(mut self) -> io::Result<W> {
        self.inner.flush()?;
        Ok(self.inner)
    }
}

type BlockOption<'a> = (u16, &'a [u8]);

/// Type, length, body, options, and the length again.
fn block(
    out: &mut impl Write,
    kind: u32,
    fixed: &[u8],
    data: &[u8],
    options: &[Option<BlockOption<'_>>],
) -> io::Result<()> {
    let options_len: usize = options.iter().flatten().map(|(_, v)| 4 + padded(v.len())).sum();
    let end_len = if options_len > 0 { END_OF_OPTIONS.len() } else { 0 };
    let len = word(12 + fixed.len() + padded(data.len()) + options_len + end_len)?.to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&len)?;
    out.write_all(fixed)?;
    write_padded(out, data)?;
    for (code, value) in options.iter().flatten() {
        let value_len = u16::try_from(value.len()).map_err(|_| invalid(TOO_LONG))?;
        out.write_all(&code.to_le_bytes())?;
        out.write_all(&value_len.to_le_bytes())?;
        write_padded(out, value)?;
    }
    out.write_all(&END_OF_OPTIONS[..end_len])?;
    out.write_all(&len)
}

/// An option of text. Checked before the block is begun, so that an error leaves a whole capture.
fn text(code: u16, value: Option<&str>) -> io::Result<Option<BlockOption<'_>>> {
    match value {
        Some(value) if value.len() > usize::from(u16::MAX) => Err(invalid(TOO_LONG)),
        value => Ok(value.map(|value| (code, value.as_bytes()))),
    }
}

fn write_padded(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.write_all(&[0; 3][..padded(bytes.len()) - bytes.len()])
}

const fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}

fn word(n: usize) -> io::Result<u32> {
    u32::try_from(n).map_err(|_| invalid("a block holds less than 4 GiB"))
}

fn size(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// A snaplen that keeps the headers of every packet that this crate encodes.
pub const HEADERS_ONLY: u32 = 128;

const TOO_LONG: &str = "a name or comment has at most 65535 bytes";

/// Block types.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Raw IP: the version is in the first four bits.
const LINKTYPE_RAW: u16 = 101;

/// Options, with an end of their own.
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const EPB_FLAGS: u16 = 2;
const SHB_USERAPPL: u16 = 4;
const IF_TSRESOL: u16 = 9;
const END_OF_OPTIONS: [u8; 4] = [0; 4];
/// The direction of a packet, in the lowest two bits of its flags.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
/// Times count 10^-9 s.
const NANOSECONDS: u8 = 9;

#[cfg(test)]
mod tests;
