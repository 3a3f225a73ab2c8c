//! Links in whole runs: queues, parts, and the way back.

use super::*;

mod ack_path;
mod aqm;
mod cake;
mod channel;
mod impairments;
mod outage;
mod policing;
