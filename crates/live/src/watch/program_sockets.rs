//! The sockets of programs: several to a flow, which come and go as the programs like.
//!
//! Every connection between the two hosts counts to the flow whose addresses it has. Sockets are looked at
//! as all others are, and the kernel tells of each that is gone, with what it counted in the end
//! (`SKNLGRP_INET_TCP_DESTROY`): nothing is missed between two looks.

use std::collections::BTreeMap;
use std::io;

use ackclock_sim::scenario::NetworkSpec;
use ackclock_units::Instant;

use crate::base::addresses::flow_of;
use crate::machine::diag::{Connection, DestroyEvents, Diagnosis};
use crate::machine::net_ns::NetNs;
use crate::records::observed::Observed;
use crate::sys::TcpInfo;

/// The counters of a flow's sockets, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketTotals {
    /// Segments with data that the sender's host sent, those sent again included.
    pub segments_sent: u64,
    /// Segments that it sent again, SYNs included.
    pub segments_retransmitted: u64,
    /// Its retransmission timeouts.
    pub timeouts: u64,
    /// Payload that the receiver's host got in order; a FIN counts as a byte.
    pub received: u64,
    /// The time at which the first established connection of the sender's host was seen.
    pub established: Option<Instant>,
}

/// A socket.
#[derive(Clone, Copy, Debug)]
struct SocketState {
    flow: usize,
    /// 0 the sender's host, 1 the receiver's.
    side: usize,
    info: TcpInfo,
    /// The time of the last look at it.
    at: Instant,
    /// True if it is gone.
    over: bool,
}

/// The sockets of programs.
#[derive(Debug, Default)]
pub struct ProgramSockets {
    /// True for each flow that is played by programs.
    flows: Vec<bool>,
    diagnoses: Vec<Diagnosis>,
    ends: Vec<DestroyEvents>,
    /// The sockets by the number that the kernel gives each (the cookie).
    sockets: BTreeMap<u64, SocketState>,
    established: Vec<Option<Instant>>,
}

impl ProgramSockets {
    /// Observes the sockets of these flows, those of both sides, in `namespaces`.
    ///
    /// # Errors
    /// The kernel tells nothing of sockets.
    pub fn open<'a>(
        flows: Vec<bool>,
        namespaces: impl IntoIterator<Item = &'a NetNs>,
    ) -> io::Result<Self> {
        let mut program_sockets =
            Self { established: vec![None; flows.len()], flows, ..Self::default() };
        for namespace in namespaces {
            // Servers' sockets are often made for IPv6, whatever they speak.
            let both = [NetworkSpec::Ipv4, NetworkSpec::Ipv6];
            let ([four, six], ends) =
                namespace.within(|| Ok((both.map(Diagnosis::open), DestroyEvents::open())))?;
            program_sockets.diagnoses.push(four?);
            // A kernel without IPv6 has no sockets of it; one that tells of no ends is looked at only.
            program_sockets.diagnoses.extend(six.ok());
            program_sockets.ends.extend(ends.ok());
        }
        Ok(program_sockets)
    }

    /// True if programs play the flow.
    pub fn has(&self, flow: usize) -> bool {
        self.flows.get(flow).copied().unwrap_or(false)
    }

    /// Looks at every socket; notes of each flow in `seen` when it began to repair losses and the times of
    /// the connection that sent most, whose state is put into `last`.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn look(
        &mut self,
        now: Instant,
        seen: &mut [Observed],
        last: &mut [Option<TcpInfo>],
    ) -> io::Result<()> {
        let Self { flows, diagnoses, ends, sockets, established } = self;
        let mut take = |connection: &Connection, over: bool| {
            let Some((flow, side)) = flow_of(connection.local.0) else { return };
            if !flows.get(flow).copied().unwrap_or(false) {
                return;
            }
            let info = connection.info;
            let known = SocketState { flow, side, info, at: now, over };
            let before = sockets.insert(connection.cookie, known);
            if side == 0 && !over {
                if info.state == TcpInfo::ESTABLISHED {
                    established[flow].get_or_insert(now);
                }
                seen[flow].note_state(before.map(|known| known.info).as_ref(), &info);
            }
        };
        for diagnosis in diagnoses {
            diagnosis.each(|connection| take(connection, false))?;
        }
        for ends in ends {
            ends.each(|connection| take(connection, true));
        }
        for (flow, cookie) in self.foremost_of_flows() {
            let known = self.sockets[&cookie];
            // Once it is gone it has no times any more.
            if known.at == now && !known.over {
                seen[flow].note_times(&known.info);
            }
            last[flow] = Some(known.info);
        }
        Ok(())
    }

    /// The totals of each flow that is played by programs.
    pub fn totals(&self) -> Vec<Option<SocketTotals>> {
        let mut all: Vec<Option<SocketTotals>> =
            self.flows.iter().map(|plays| plays.then(SocketTotals::default)).collect();
        for SocketState { flow, side, info, .. } in self.sockets.values() {
            let Some(totals) = &mut all[*flow] else { continue };
            if *side == 0 {
                totals.segments_sent += u64::from(info.data_segs_out);
                totals.segments_retransmitted += u64::from(info.total_retrans);
                totals.timeouts += u64::from(info.total_rto);
            } else {
                totals.received += info.bytes_received;
            }
        }
        for (totals, established) in all.iter_mut().zip(&self.established) {
            if let Some(totals) = totals {
                totals.established = *established;
            }
        }
        all
    }

    /// The sockets that sent most, one of each flow: the ones that probes see.
    pub fn foremost(&self) -> impl Iterator<Item = u64> {
        self.foremost_of_flows().into_values()
    }

    fn foremost_of_flows(&self) -> BTreeMap<usize, u64> {
        let mut most: BTreeMap<usize, (u32, u64)> = BTreeMap::new();
        for (cookie, SocketState { flow, side, info, .. }) in &self.sockets {
            if *side == 0 {
                let here = (info.data_segs_out, *cookie);
                let there = most.entry(*flow).or_insert(here);
                if here.0 > there.0 {
                    *there = here;
                }
            }
        }
        most.into_iter().map(|(flow, (_, cookie))| (flow, cookie)).collect()
    }
}
