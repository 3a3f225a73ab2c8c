//! Senders in whole runs.

use super::*;

mod bbr;
mod ccp;
mod feedback;
mod linux_loops;
mod marks;
mod quick_start;
mod starts;
mod thresholds;
mod visitors;
