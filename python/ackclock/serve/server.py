"""The server as a process: it listens on this machine alone, and leaves nothing when it ends."""

from __future__ import annotations

import secrets
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import uvicorn

from ackclock.base.errors import BadInput
from ackclock.serve.app import Laboratory
from ackclock.serve.opening import leading_to
from ackclock.serve.patience import Patient

__all__ = ["serve"]

_HOST = "127.0.0.1"
#: Seconds that readers have to hear that their runs have ended.
_GRACE_S = 3


class _Server(uvicorn.Server):
    """A server that ends its runs before it waits for their readers."""

    def __init__(self, config: uvicorn.Config, held: ExitStack) -> None:
        super().__init__(config)
        self._held = held

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._held.close()
        await super().shutdown(sockets)


def serve(
    folder: Path,
    port: int,
    told: Callable[[str], None],
    browser: Callable[[str], object] | None = None,
) -> None:
    """Serve the laboratory of a folder until an interrupt.

    Parameters
    ----------
    folder
        The folder.
    port
        The port; 0: one that is free.
    told
        Called with the link once it can be opened.
    browser
        Called then with the address of a file that leads a browser to the page, once.

    Raises
    ------
    BadInput
        There is no such folder, or the port is taken.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    # asyncio turns Nagle's algorithm off where the protocol is said: an answer would wait 40 ms for
    # the delayed ACK of its head.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_HOST, port))
            # The link works from the moment that it is told.
            listening.listen()
        except OSError as error:
            raise BadInput(f"--port: {port}: {error.strerror}") from None
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        laboratory = Laboratory(folder, token, port)
        held = ExitStack()
        held.callback(laboratory.close)
        config = uvicorn.Config(
            laboratory.app, access_log=False, log_level="critical", server_header=False,
            lifespan="on", timeout_graceful_shutdown=_GRACE_S, ws="websockets-sansio",
            ws_max_size=65_536, http=Patient,
        )  # fmt: skip
        server = _Server(config, held)
        # A terminal that is closed is an interrupt, too, unless it was said to be none (nohup).
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            signal.signal(signal.SIGHUP, server.handle_exit)
        try:
            told(f"http://{_HOST}:{port}/?token={token}")
            if browser is not None:
                code = laboratory.app.code()
                browser(held.enter_context(leading_to(f"http://{_HOST}:{port}/?code={code}")))
            server.run([listening])
        finally:
            held.close()
            laboratory.jobs.join()
