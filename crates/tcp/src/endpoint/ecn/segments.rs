//! The end point as it reads and writes marks.

use crate::config::EcnEcho;
use crate::endpoint::Endpoint;
use crate::sender::DataRange;
use ackclock_packet::{Ecn, Flags, IpMeta, Segment};
use ackclock_units::Bytes;

impl Endpoint {
    /// A segment of data came, marked or not, before anything else is done with it.
    pub(in crate::endpoint) fn take_mark(&mut self, segment: &Segment, ip: IpMeta) {
        if !self.marking.used || segment.len == 0 {
            return;
        }
        let marked = ip.ecn == Ecn::Ce;
        match self.marking.config.echo {
            EcnEcho::UntilReduced => {
                if segment.flags.contains(Flags::CWR) {
                    self.marking.echo = false;
                }
                if marked && !self.marking.echo {
                    self.marking.echo = true;
                    self.receiver.on_mark();
                }
            }
            EcnEcho::Exact => {
                if marked != self.marking.echo {
                    // RFC 8257 §3.2: what was not acknowledged yet was marked otherwise.
                    if self.receiver.ack_waits() {
                        let mut early = self.bare_segment();
                        early.flags = early.flags | self.echo_flag();
                        self.marking.early = Some(early);
                    }
                    self.marking.echo = marked;
                    self.receiver.demand_ack();
                }
            }
        }
    }

    const fn echo_flag(&self) -> Flags {
        if self.marking.echo { Flags::ECE } else { Flags::NONE }
    }

    pub(in crate::endpoint) const fn take_early_ack(&mut self) -> Option<Segment> {
        self.marking.early.take()
    }

    /// Marks a segment that goes out, with `stretch` of data if there is any: new data asks the
    /// network for marks, and no other segment does (RFC 3168 §6.1.4 to §6.1.6).
    pub(in crate::endpoint) fn mark(
        &mut self,
        segment: &mut Segment,
        stretch: Option<&DataRange>,
    ) -> Ecn {
        segment.flags = segment.flags | self.echo_flag();
        if stretch.is_some_and(|stretch| stretch.new && stretch.len > Bytes::ZERO) {
            if self.sender.takes_reduced() {
                segment.flags = segment.flags | Flags::CWR;
            }
            return Ecn::Ect0;
        }
        Ecn::NotEct
    }
}
