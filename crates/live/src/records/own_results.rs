//! Results of our own ends, and of the routers of the path.

use ackclock_net::path::Decided;
use ackclock_sim::records::{FlowEventRow, LawRow, VideoRow};
use ackclock_tcp::{Failure, QuickStartEvent, SenderStats};
use ackclock_units::{Bytes, Instant};

use crate::records::app_log::AppLog;
use crate::records::observed::SenderSample;

/// The results of our own ends of an entry, but for their counters.
#[derive(Debug, Default)]
pub struct HostResults {
    /// The notes of their applications.
    pub app_log: AppLog,
    /// Samples for probes, by the number of the connection.
    pub samples: Vec<(usize, Vec<SenderSample>)>,
    /// The events of their senders, by the number of the connection.
    pub flow_events: Vec<(usize, Vec<FlowEventRow>)>,
    /// Every change of their laws' variables, if a probe records them.
    pub law_samples: Vec<LawRow>,
    /// The rows of the videos that were played.
    pub videos: Vec<VideoRow>,
    /// Steps of Quick-Start requests, by the number of the connection.
    pub requests: Vec<(usize, QuickStartEvent)>,
}

/// Counters of faulty packets that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Their headers or checksums.
    pub malformed: u64,
    /// Their payload.
    pub content: u64,
}

/// The counters of one of our own ends at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserspaceCounters {
    /// The sending half.
    pub stats: SenderStats,
    /// Payload received in order.
    pub received: Bytes,
    /// The time at which the handshake was done.
    pub established: Option<Instant>,
    /// The time at which all data was acknowledged, if it has an end.
    pub completed: Option<Instant>,
    /// The time at which nothing was left to do but to wait in TIME-WAIT.
    pub over: Option<Instant>,
    /// The number of times that its SYN or SYN-ACK was sent again.
    pub repeated: u32,
    /// Why it ended, if not by closing.
    pub failure: Option<Failure>,
    /// Packets that were not as they should be.
    pub faults: Faults,
}

/// The results of our own ends and of the path's routers, of all ports together.
#[derive(Debug, Default)]
pub struct OwnResults {
    /// The notes of all applications, the kernel's ends included.
    pub app_log: AppLog,
    /// Samples for probes, by the number of the connection.
    pub samples: Vec<(usize, Vec<SenderSample>)>,
    /// The events of their senders, by the number of the connection.
    pub flow_events: Vec<(usize, Vec<FlowEventRow>)>,
    /// Every change of their laws' variables, if a probe records them.
    pub law_samples: Vec<LawRow>,
    /// The rows of the videos that were played.
    pub videos: Vec<VideoRow>,
    /// Steps of Quick-Start requests, by the number of the connection.
    pub requests: Vec<(usize, QuickStartEvent)>,
    /// The decisions of routers.
    pub decisions: Vec<Decided>,
    /// SYNs and SYN-ACKs that the path lost, one entry a connection.
    pub lost_syns: Vec<[u16; 2]>,
    /// The ends of each connection that are our own, as the run left them.
    pub ends: Vec<[Option<UserspaceCounters>; 2]>,
}

impl OwnResults {
    /// Takes what one port left.
    pub fn take(&mut self, results: HostResults) {
        self.app_log.append(results.app_log);
        self.samples.extend(results.samples);
        self.flow_events.extend(results.flow_events);
        self.law_samples.extend(results.law_samples);
        self.videos.extend(results.videos);
        self.requests.extend(results.requests);
    }
}
