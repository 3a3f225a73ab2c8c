"""A web server that sends a file at recorded times, so that two players get the same arrivals."""

from __future__ import annotations

import itertools
import os
import random
import re
import socket
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

__all__ = ["PATTERNS", "Arrivals", "arrivals", "serve"]

Arrivals = Sequence[tuple[float, int]]
"""Seconds since the request, and the bytes that have been sent by then."""

_STEP_S = 0.01

#: Rates in Mbit/s over time, as (seconds, rate), over and over: below 5.24 in the mean, or with
#: silences.
PATTERNS: Mapping[str, Sequence[tuple[float, float]]] = {
    "4.9 Mbit/s": [(1, 4.9)],
    "4.5 Mbit/s": [(1, 4.5)],
    "3.5 Mbit/s": [(1, 3.5)],
    "4.7 Mbit/s in lumps of 200 ms": [(0.19, 0), (0.01, 94)],
    "5.6 Mbit/s, three silences of 3 to 4 s": [
        *((15, 5.6), (3, 0), (17, 5.6), (4, 0), (11, 5.6), (3, 0), (600, 5.6)),
    ],
    "6 Mbit/s, a silence of 8 s": [(20, 6), (8, 0), (600, 6)],
    "6 Mbit/s, three silences of 8 s": [(8, 6), (8, 0), (8, 6), (8, 0), (8, 6), (8, 0), (600, 6)],
    "9.6 Mbit/s, on and off by 1 s": [(1, 9.6), (1, 0)],
    "9.6 Mbit/s, on and off by 3 s": [(3, 9.6), (3, 0)],
    "2 Mbit/s, and 1.2 MB every 4 s": [(0.99, 2), (0.01, 962), (3, 2)],
    "4.9 Mbit/s, drawn each half second": [
        (0.5, 4.9 * random.Random(seed).uniform(0.3, 1.7))  # noqa: S311 - nothing is secret
        for seed in range(400)
    ],
}  # fmt: skip


def arrivals(pattern: Sequence[tuple[float, float]], volume: int) -> list[tuple[float, int]]:
    """Return the arrivals of ``volume`` bytes by a pattern of rates in Mbit/s."""
    found: list[tuple[float, int]] = []
    at, sent = 0.0, 0.0
    for span, rate in itertools.cycle(pattern):
        for _ in range(round(span / _STEP_S)):
            at += _STEP_S
            if rate > 0:
                sent += rate * 1e6 / 8 * _STEP_S
                found.append((at, min(volume, int(sent))))
            if sent >= volume:
                return found
    return found


@contextmanager
def serve(path: str | os.PathLike[str], times: Arrivals) -> Generator[str]:
    """Serve a file on the loopback device, to each request at these times, and yield its address.

    A range that begins in the middle is answered with what the times say of it: players ask for one
    when they look for an index at the end.
    """
    content = Path(path).read_bytes()
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        answering = threading.Thread(target=_accept, args=(listening, content, times), daemon=True)
        answering.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/{Path(path).name}"


def _accept(listening: socket.socket, content: bytes, times: Arrivals) -> None:
    with suppress(OSError):
        while True:
            line, _ = listening.accept()
            threading.Thread(target=_answer, args=(line, content, times), daemon=True).start()


def _answer(line: socket.socket, content: bytes, times: Arrivals) -> None:
    with closing(line), suppress(OSError):
        request = b""
        while b"\r\n\r\n" not in request:
            piece = line.recv(4096)
            if not piece:
                return
            request += piece
        began = time.monotonic()
        wanted = re.search(rb"[Rr]ange: bytes=(\d+)-", request)
        sent = int(wanted[1]) if wanted else 0
        head = "HTTP/1.1 200 OK"
        if wanted:
            last = len(content) - 1
            head = f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {sent}-{last}/{last + 1}"
        fields = f"Accept-Ranges: bytes\r\nContent-Length: {len(content) - sent}"
        line.sendall(f"{head}\r\n{fields}\r\nConnection: close\r\n\r\n".encode())
        for at, volume in times:
            if volume > sent:
                time.sleep(max(0.0, began + at - time.monotonic()))
                line.sendall(content[sent:volume])
                sent = volume
        line.shutdown(socket.SHUT_WR)
        while line.recv(4096):
            pass
