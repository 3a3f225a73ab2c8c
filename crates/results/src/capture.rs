//! Captures of links as pcapng: one a link, with one interface, since libpcap refuses a file of more.
//! Forward is outbound, reverse is inbound.
//!
//! The simulator's segments have 64-bit numbers and no addresses. Here each flow gets what the wire
//! has: two addresses, two ports, two initial sequence numbers. All of it follows from the scenario
//! and the seed, so that a run gives the same bytes every time.

use core::net::Ipv4Addr;
use std::io::{self, Write};
use std::ops::ControlFlow;

use ackclock_input::{BadInput, did_you_mean, printable};
use ackclock_packet::IpMeta;
use ackclock_sim::scenario::{Direction, Flow, Topology};
use ackclock_sim::{Names, Observer, Scenario, Sent, SentSegment, Transmission};
use ackclock_units::Instant;
use ackclock_units::random::Stream;
use ackclock_wire::pcapng::{About, Interface, InterfaceId, PacketDirection, Section, Writer};
use ackclock_wire::{
    Addresses, EncodeError, Encoded, MAX_HEADERS, Payload, Tuple, encode, encode_datagram,
};

use crate::version;

/// The most links that are captured at once: each keeps a file open.
pub const MAX_CAPTURES: usize = 256;

/// Why a capture failed.
#[derive(Debug)]
pub enum CaptureFault {
    /// A packet that cannot stand on a wire.
    Input(BadInput),
    /// The bytes of a link, by its number, could not be written.
    Write(usize, io::Error),
    /// Somebody asked to stop.
    Cancelled,
}

/// True if the law of `flow` is one that routers rule.
fn goes_by_routers(flow: &Flow) -> bool {
    flow.config().is_ok_and(|config| config.parts.growth.about().routers.is_some())
}

/// The numbers of the links that are captured: those `wanted` by name, else a dumbbell's bottleneck or every link of a graph.
///
/// # Errors
/// Packets that have no form on a wire; a link that is none; too many links.
pub fn choose(
    scenario: &Scenario,
    names: &Names,
    wanted: &[String],
) -> Result<Vec<usize>, BadInput> {
    if !scenario.traffic.is_empty() {
        // Their packets would need addresses that no other connection of the run has had.
        let expected = "a capture is of flows; leave out [[traffic]], or --pcap";
        return Err(BadInput::new(format_args!("traffic: {expected}")));
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| goes_by_routers(flow)) {
        // Their headers have no form of their own on the wire.
        return Err(BadInput::new(format_args!(
            "flow `{}`: packets of `rcp` and `xcp` cannot be captured; leave out --pcap",
            flow.name
        )));
    }
    let mut links = Vec::new();
    match (wanted, &scenario.topology) {
        ([], Topology::Path(_) | Topology::Dumbbell { .. }) => links.push(0),
        ([], Topology::Graph { .. }) => links.extend(0..names.links.len()),
        _ => {
            for name in wanted {
                let link = names.links.iter().position(|link| link == name);
                let link = link.ok_or_else(|| unknown_link(name, &names.links))?;
                if !links.contains(&link) {
                    links.push(link);
                }
            }
        }
    }
    if links.len() > MAX_CAPTURES {
        return Err(BadInput::new(format_args!(
            "pcap: {} links are too many to capture, expected at most {MAX_CAPTURES} by name",
            links.len(),
        )));
    }
    for (n, cross) in scenario.cross_traffic.iter().enumerate() {
        let size = cross.size.get();
        if size < DATAGRAM_HEADERS && links.iter().any(|link| names.links[*link] == cross.link) {
            return Err(BadInput::new(format_args!(
                "cross_traffic[{n}].size: {size} B are no datagram, expected at least \
                 {DATAGRAM_HEADERS} B to capture link `{}`",
                cross.link,
            )));
        }
    }
    Ok(links)
}

fn unknown_link(name: &str, known: &[String]) -> BadInput {
    let mut hint = did_you_mean(name, known.iter().map(String::as_str));
    if hint.is_empty() {
        // A thousand access links help nobody.
        let known: Vec<String> = known.iter().take(20).map(|name| format!("`{name}`")).collect();
        hint = format!(", expected one of {}", known.join(", "));
    }
    BadInput::new(format_args!("pcap: unknown link `{name}`{hint}"))
}

/// IPv4 and UDP.
const DATAGRAM_HEADERS: u64 = 28;

/// A capture under way, of one interface.
#[derive(Debug)]
pub struct Capture<W> {
    writer: Writer<W>,
    interface: InterfaceId,
}

impl<W: Write> Capture<W> {
    /// A capture with a `comment` and one interface with a name and a comment of its own.
    ///
    /// # Errors
    /// Its beginning cannot be written.
    pub fn new(inner: W, comment: &str, interface: [&str; 2]) -> io::Result<Self> {
        let [link, point] = interface;
        let application = format!("ackclock {}", version());
        let section = Section { application: Some(&application), comment: Some(comment) };
        let shown = printable(link, MAX_NAME_CHARS);
        let mut writer = Writer::new(inner, &section)?;
        let interface = writer
            .add_interface(&Interface { comment: Some(point), ..Interface::named(&shown) })?;
        Ok(Self { writer, interface })
    }

    /// Adds a packet: its headers, and its length with the payload.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(
        &mut self,
        at: Instant,
        direction: PacketDirection,
        headers: &[u8],
        length: usize,
    ) -> io::Result<()> {
        let about = About { direction: Some(direction), comment: None };
        self.writer.write(self.interface, at, headers, length, &about)
    }

    /// The end of the capture.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }
}

/// Captures what links send, as an observer of a run.
pub struct Recorder<'a, W> {
    names: &'a Names,
    seed: u64,
    /// By link.
    captures: Vec<Option<Capture<W>>>,
    /// By flow: the numbers with which the opening end and the other begin.
    isns: Vec<Option<[u32; 2]>>,
    cancelled: &'a dyn Fn() -> bool,
    failed: Option<CaptureFault>,
}

impl<'a, W: Write> Recorder<'a, W> {
    /// A recorder of `links`, of which `open` gives the places for the bytes by the number of the link and the name of its file.
    ///
    /// # Errors
    /// A place that cannot be had.
    pub fn new<E>(
        scenario: &Scenario,
        names: &'a Names,
        links: &[usize],
        cancelled: &'a dyn Fn() -> bool,
        mut open: impl FnMut(usize, &str) -> Result<W, E>,
        fault: impl Fn(usize, io::Error) -> E,
    ) -> Result<Self, E> {
        let mut captures: Vec<Option<Capture<W>>> = Vec::new();
        captures.resize_with(names.links.len(), || None);
        let mut taken = Vec::new();
        let mut comment = format!("seed {}", scenario.seed);
        if !scenario.title.is_empty() {
            comment = format!("{}; {comment}", printable(&scenario.title, MAX_NAME_CHARS));
        }
        for &link in links {
            let to = open(link, &file_name(&names.links[link], &mut taken))?;
            let interface = [&*names.links[link], CAPTURE_POINT];
            let capture =
                Capture::new(to, &comment, interface).map_err(|error| fault(link, error))?;
            captures[link] = Some(capture);
        }
        Ok(Self {
            names,
            seed: scenario.seed,
            captures,
            isns: vec![None; names.flows.len()],
            cancelled,
            failed: None,
        })
    }

    fn record(&mut self, transmission: &Transmission) -> Result<(), CaptureFault> {
        let mut buffer = [0; MAX_HEADERS];
        let encoded = match &transmission.packet {
            Sent::Segment(sent) => self.encode_segment(sent, &mut buffer),
            Sent::Datagram(sent) => encode_cross(sent.flow, sent.size.get(), &mut buffer),
            Sent::Cross { source, size } => encode_cross(*source, size.get(), &mut buffer),
        };
        let link = transmission.link;
        let encoded = encoded.map_err(|error| {
            let whose = match &transmission.packet {
                Sent::Segment(sent) => &self.names.flows[sent.flow],
                Sent::Datagram(sent) => &self.names.flows[sent.flow],
                Sent::Cross { source, .. } => &self.names.sources[*source],
            };
            let link = &self.names.links[link];
            CaptureFault::Input(BadInput::new(format_args!(
                "pcap: `{whose}` on link `{link}`: {error}"
            )))
        })?;
        let Some(capture) = &mut self.captures[link] else { return Ok(()) };
        let direction = match transmission.direction {
            Direction::Forward => PacketDirection::Outbound,
            Direction::Reverse => PacketDirection::Inbound,
        };
        let headers = &buffer[..encoded.written];
        capture
            .write(transmission.at, direction, headers, encoded.length)
            .map_err(|error| CaptureFault::Write(link, error))
    }

    fn encode_segment(
        &mut self,
        sent: &SentSegment,
        buffer: &mut [u8],
    ) -> Result<Encoded, EncodeError> {
        let (seed, name) = (self.seed, &self.names.flows[sent.flow]);
        let [client, server] = *self.isns[sent.flow].get_or_insert_with(|| {
            let mut random = Stream::new(seed, &format!("pcap {name}"));
            // Numbers of the capture alone: a run with one draws no more than one without.
            [(); 2].map(|()| upper(random.next_seed()))
        });
        let tuple = tuple(&FLOW, sent.flow);
        let direction = if sent.from_client {
            ackclock_wire::Direction::new(tuple, client, server)
        } else {
            ackclock_wire::Direction::new(tuple.reversed(), server, client)
        };
        let direction = direction.with_window_shift(sent.window_shift);
        let headers = direction.narrow(&sent.segment, sent.ip, sent.options.as_ref());
        encode(&headers, Payload::Omitted(sent.segment.len), buffer)
    }

    /// The captures, each whole, with the numbers of their links.
    ///
    /// # Errors
    /// The reason why the run ended, or an end that cannot be written.
    pub fn finish(self) -> Result<Vec<(usize, W)>, CaptureFault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let whole = |(link, capture): (usize, Option<Capture<W>>)| {
            Some(match capture?.finish() {
                Ok(inner) => Ok((link, inner)),
                Err(error) => Err(CaptureFault::Write(link, error)),
            })
        };
        self.captures.into_iter().enumerate().filter_map(whole).collect()
    }
}

impl<W: Write> Observer for Recorder<'_, W> {
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()> {
        let result = if (self.cancelled)() {
            Err(CaptureFault::Cancelled)
        } else {
            self.record(transmission)
        };
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(fault) => {
                self.failed = Some(fault);
                ControlFlow::Break(())
            }
        }
    }
}

/// The comment of every interface.
const CAPTURE_POINT: &str = "outbound is forward, inbound is reverse; a packet is recorded as its transmission begins, behind \
     the queue: what the queue dropped is not here, what the link then lost is";

/// The longest name of a link, or title, in a capture.
const MAX_NAME_CHARS: usize = 500;

/// The addresses and ports of traffic of one kind: number `n`, counted from zero, goes from the
/// `n + 1`st address after the first to the `n + 1`st after the second.
struct Plan {
    from: Ipv4Addr,
    to: Ipv4Addr,
    from_port: u16,
    to_port: u16,
}

/// To the discard service (RFC 863), which nobody's dissector claims.
const FLOW: Plan = Plan {
    from: Ipv4Addr::new(10, 0, 0, 0),
    to: Ipv4Addr::new(10, 128, 0, 0),
    from_port: 49_152,
    to_port: 9,
};
/// tcpdump takes a datagram from or to port 49152 for one of Broadcom's LI protocol.
const CROSS: Plan = Plan {
    from: Ipv4Addr::new(10, 64, 0, 0),
    to: Ipv4Addr::new(10, 192, 0, 0),
    from_port: 49_153,
    to_port: 49_154,
};

fn tuple(plan: &Plan, n: usize) -> Tuple {
    // A scenario has fewer flows, and sources, than the 2^22 addresses between the plans' ends.
    let n = u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    let address = |first: Ipv4Addr| Ipv4Addr::from_bits(first.to_bits().wrapping_add(n));
    Tuple {
        addresses: Addresses::V4 { source: address(plan.from), destination: address(plan.to) },
        source_port: plan.from_port,
        destination_port: plan.to_port,
    }
}

/// A packet of a source: a datagram of zeros.
fn encode_cross(source: usize, size: u64, buffer: &mut [u8]) -> Result<Encoded, EncodeError> {
    let len = u32::try_from(size.saturating_sub(DATAGRAM_HEADERS)).unwrap_or(u32::MAX);
    let tuple = tuple(&CROSS, source);
    encode_datagram(&tuple, IpMeta::default(), Payload::Omitted(len), buffer)
}

/// The upper half, whose bits are the better ones.
fn upper(bits: u64) -> u32 {
    u32::try_from(bits >> 32).unwrap_or(u32::MAX)
}

/// The name of a capture's file: what is no letter, digit, `-` or `_` becomes `_`, and a name that is
/// taken gets a number.
pub fn file_name(link: &str, taken: &mut Vec<String>) -> String {
    let keep = |char: char| if char.is_alphanumeric() || "-_.".contains(char) { char } else { '_' };
    let stem: String = link.chars().take(MAX_STEM_CHARS).map(keep).collect();
    let stem = match stem.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if stem.is_empty() => "_".to_owned(),
        None => stem,
    };
    let mut name = format!("{stem}.pcapng");
    let mut n = 2;
    while taken.contains(&name) {
        name = format!("{stem}~{n}.pcapng");
        n += 1;
    }
    taken.push(name.clone());
    name
}

/// With four bytes a character, a dot, and what the name of a temporary file adds, below 255 bytes.
const MAX_STEM_CHARS: usize = 50;
