//! A bulk transfer.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, refuse};
use crate::{App, Note, Sink, Transport};

/// As much as the connection takes, or `size`, after which the connection closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct BulkConfig {
    /// The volume to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

impl Described for Bulk {
    type Settings = BulkConfig;
    type Sender = Self;
    type Receiver = Sink;

    const KIND: &'static str = "bulk";

    const ALSO: &'static [&'static str] = &[
        "ftp",
        "file",
        "download",
        "upload",
        "greedy",
        "infinite",
        "iperf",
        "transfer",
        "bulk_send",
    ];

    fn transfer(bulk: &BulkConfig) -> Option<Bytes> {
        Some(bulk.size.unwrap_or(Bytes::UNLIMITED))
    }

    fn is_sized(bulk: &BulkConfig) -> bool {
        bulk.size.is_some()
    }

    fn load(bulk: &BulkConfig, _: f64) -> Load {
        Load::of(bulk.size.map_or(f64::INFINITY, |size| size.get() as f64))
    }

    fn check(bulk: &BulkConfig, _: Duration) -> Result<(), Refusal> {
        if bulk.size == Some(Bytes::ZERO) {
            return refuse(
                "size",
                "expected at least 1 B; a transfer without an end has no `size`",
            );
        }
        Ok(())
    }

    fn apps(
        bulk: &BulkConfig,
        _: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        Ok((Self::new(bulk.size), Sink))
    }
}

/// The sender of a bulk transfer.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    size: Option<Bytes>,
    written: bool,
}

impl Bulk {
    /// A transfer of `size`, or without end.
    pub const fn new(size: Option<Bytes>) -> Self {
        Self { size, written: false }
    }
}

impl<T: Transport> App<T> for Bulk {
    #[inline]
    fn poll(&mut self, _: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        if !self.written {
            self.written = true;
            endpoint.write(self.size.unwrap_or(Bytes::UNLIMITED));
            if let Some(size) = self.size {
                if size > Bytes::ZERO {
                    notes.push(Note::Object(size));
                }
                endpoint.shutdown_write();
            }
        }
        None
    }
}
