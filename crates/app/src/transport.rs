//! The transport that an application sits on.

use std::fmt::Debug;

use ackclock_tcp::{Endpoint, Nagle};
use ackclock_units::{Bytes, Instant, Rate};

/// One end of a connection, as an application sees it: our own end point, or a socket of the kernel's.
/// Contents do not matter, volumes do.
pub trait Transport: Debug {
    /// Gives `volume` more to send. Ignored after [`shutdown_write`](Self::shutdown_write).
    fn write(&mut self, volume: Bytes);

    /// Says that nothing more will be written.
    fn shutdown_write(&mut self);

    /// Data in order that was not read.
    fn readable(&self) -> Bytes;

    /// Takes up to `volume` of what has arrived in order; returns how much.
    fn read(&mut self, now: Instant, volume: Bytes) -> Bytes;

    /// Data received in order since the connection began, read or not.
    fn received(&self) -> Bytes;

    /// True once the peer has closed and all of its data has arrived.
    fn peer_finished(&self) -> bool;

    /// True if the connection ended other than by closing.
    fn failed(&self) -> bool;

    /// When the handshake was done.
    fn established_at(&self) -> Option<Instant>;

    /// Data that the peer has acknowledged.
    fn acked(&self) -> Bytes;

    /// True if the peer has acknowledged all that was written, the FIN included if there is one.
    fn all_acked(&self) -> bool;

    /// Sets Nagle's algorithm: may less than a full segment wait? `TCP_NODELAY` is [`Nagle::Off`].
    fn set_nagle(&mut self, nagle: Nagle);

    /// Asks the routers for `rate` with what is written next (RFC 4782); where the transport cannot,
    /// nothing happens.
    fn request_quick_start(&mut self, rate: Rate);

    /// Lets segments leave at no more than `rate` of payload; `None` takes the bound away.
    fn pace_at_most(&mut self, rate: Option<Rate>);
}

impl Transport for Endpoint {
    #[inline]
    fn write(&mut self, volume: Bytes) {
        self.write(volume);
    }

    #[inline]
    fn shutdown_write(&mut self) {
        self.shutdown_write();
    }

    #[inline]
    fn readable(&self) -> Bytes {
        self.readable()
    }

    #[inline]
    fn read(&mut self, now: Instant, volume: Bytes) -> Bytes {
        // Applications read whenever they are asked, and mostly nothing has come.
        if volume == Bytes::ZERO {
            return Bytes::ZERO;
        }
        self.read(now, volume)
    }

    #[inline]
    fn received(&self) -> Bytes {
        self.received()
    }

    #[inline]
    fn peer_finished(&self) -> bool {
        self.peer_finished()
    }

    #[inline]
    fn failed(&self) -> bool {
        self.failure().is_some()
    }

    #[inline]
    fn established_at(&self) -> Option<Instant> {
        self.established_at()
    }

    #[inline]
    fn acked(&self) -> Bytes {
        self.sender().acked()
    }

    #[inline]
    fn all_acked(&self) -> bool {
        self.sender().all_acked()
    }

    #[inline]
    fn set_nagle(&mut self, nagle: Nagle) {
        self.set_nagle(nagle);
    }

    #[inline]
    fn request_quick_start(&mut self, rate: Rate) {
        self.request_quick_start(rate);
    }

    #[inline]
    fn pace_at_most(&mut self, rate: Option<Rate>) {
        self.pace_at_most(rate);
    }
}
