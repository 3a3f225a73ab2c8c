"""Connections on which a request is waited for no longer than some time, and their number.

Half a request that is kept for ever takes a descriptor of the server's, of which it has a thousand.
Those who open more connections than there may be end the one that has said nothing for longest.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["MOST", "MOST_S", "Patient"]

#: The seconds within which a request has come as a whole: 10 MB on one machine take a tenth.
MOST_S = 20.0
#: The connections at a time.
MOST = 256
_LINE = f"the request did not come within {MOST_S:g} s\n".encode()
_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(_LINE), _LINE)
)


class Patient(H11Protocol):
    """A connection that ends, with a line, when a request does not come."""

    #: The end of its patience; None while no request is waited for.
    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request from here on."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Wait no more once the request is whole."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to the reader of a socket."""
        super().handle_websocket_upgrade(event)
        self._stop()

    def _wait(self) -> None:
        is_awaited = self.conn.their_state in {h11.IDLE, h11.SEND_BODY}
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            is_awaited = False
        if not is_awaited:
            self._stop()
        elif self.late is None:
            self.late = self.loop.call_later(MOST_S, self._end)

    def _make_room(self) -> None:
        waiting = [
            (one.late.when(), id(one), one)
            for one in self.connections
            if isinstance(one, Patient) and one.late is not None
        ]
        (min(waiting)[2] if waiting else self).transport.abort()

    def _stop(self) -> None:
        if self.late is not None:
            self.late.cancel()
            self.late = None

    def _end(self) -> None:
        has_begun = self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if has_begun and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(_LATE)
        self.transport.close()
