//! Applications and classes of traffic in whole runs.

use super::*;

mod background;
mod browsing;
mod traffic;
mod video;
mod web;
