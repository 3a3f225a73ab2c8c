//! RCP and XCP between two end points: every segment asks the routers on its way, and gives back what
//! they told the last one the other way.
//!
//! An end takes part if its law is one of the two, and the peer's SYN carried the header; segments are
//! then shorter by its length. With a peer that takes no part nothing is ever heard: an RCP sender goes
//! on at its first window a round trip, an XCP sender keeps that window.

mod segments;

use ackclock_laws::growth::Routers;
use ackclock_packet::{CongestionHeader, RcpHeader, XcpHeader};
use ackclock_units::Bytes;

use crate::config::Config;
use crate::sender::Sender;

/// An end's part in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    scheme: Routers,
    /// The peer takes part.
    peer: bool,
    /// RCP: the rate of the last packet that came, in kbit/s, to be given back.
    rate_kbps: u32,
    /// XCP: the changes that have come since a segment went out, in bytes per second.
    delta: i32,
}

impl Exchange {
    /// The exchange that `config` asks for; `None` with any other law.
    pub(super) const fn of(config: &Config) -> Option<Self> {
        match config.parts.growth.about().routers {
            Some(scheme) => Some(Self { scheme, peer: false, rate_kbps: 0, delta: 0 }),
            None => None,
        }
    }

    /// True if segments carry the header.
    pub(super) const fn is_used(&self) -> bool {
        self.peer
    }

    /// A segment with `header` arrived; what its routers said to this end's sender, in bytes per second
    /// with headers. `None` if nothing, or of another scheme.
    fn take(&mut self, header: CongestionHeader) -> Option<f64> {
        match (self.scheme, header) {
            (Routers::Rate, CongestionHeader::Rcp(header)) => {
                self.peer = true;
                // No router has a function: there is nothing to give back.
                if header.rate_kbps > 0 && header.rate_kbps < RcpHeader::UNLIMITED {
                    self.rate_kbps = header.rate_kbps;
                }
                (header.reverse_kbps > 0).then(|| f64::from(header.reverse_kbps) * 125.0)
            }
            (Routers::Throughput, CongestionHeader::Xcp(header)) => {
                self.peer = true;
                self.delta = self.delta.saturating_add(header.delta);
                (header.reverse != 0).then(|| f64::from(header.reverse))
            }
            _ => None,
        }
    }

    /// The header of a segment that goes out; one that carries nothing `asks` for nothing. A full
    /// segment takes `overhead` besides its payload.
    fn header(&mut self, sender: &Sender, asks: bool, overhead: Bytes) -> CongestionHeader {
        let rtt_us = sender.srtt().filter(|_| asks).map_or(0, |rtt| rtt.as_nanos() / 1000);
        let rtt_us = u32::try_from(rtt_us).unwrap_or(u32::MAX);
        match self.scheme {
            Routers::Rate => CongestionHeader::Rcp(RcpHeader {
                rate_kbps: if asks { RcpHeader::UNLIMITED } else { 0 },
                rtt_us,
                reverse_kbps: self.rate_kbps,
            }),
            Routers::Throughput => {
                let reverse = std::mem::take(&mut self.delta);
                let (spacing_ns, delta) =
                    if rtt_us > 0 { wish(sender, rtt_us, overhead) } else { (0, 0) };
                CongestionHeader::Xcp(XcpHeader { rtt_us, spacing_ns, delta, reverse })
            }
        }
    }
}

/// XCP: the time between packets at this window, in nanoseconds, and the change of throughput that the
/// sender would like, in bytes per second: to what it has to send in a round trip, within the
/// peer's window.
fn wish(sender: &Sender, rtt_us: u32, overhead: Bytes) -> (u32, i32) {
    let (mss, cwnd) = (sender.mss().bytes().get() as f64, sender.cwnd().get().max(1) as f64);
    let rtt = f64::from(rtt_us) / 1e6;
    let usable = (sender.in_flight() + sender.unsent()).min(sender.peer_window()).get() as f64;
    let wire = (mss + overhead.get() as f64) / mss;
    let delta = (usable - cwnd).max(0.0) / rtt * wire;
    (whole(rtt * 1e9 * mss / cwnd).max(1), i32::try_from(whole(delta)).unwrap_or(i32::MAX))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; the cast saturates"
)]
const fn whole(value: f64) -> u32 {
    value as u32
}
