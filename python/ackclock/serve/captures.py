"""Captures (pcapng) as segments of a time-sequence diagram, in the form of the core's answers."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.serve.folder import Served

__all__ = ["COLUMNS", "segments"]

#: The columns of a row, as those of the core's own answer (crates/web/src/segments.rs).
COLUMNS = (
    *("time_s", "link", "reverse", "flow", "from_client", "seq", "len", "ack", "flags", "mark"),
    *(f"sack{n}_{end}" for n in (1, 2, 3, 4) for end in ("from", "to")),
)

_MOST_BYTES = 256_000_000
_MOST_ROWS = 400_000
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_RAW, _ETHERNET = 101, 1
_TCP = 6
#: Times beyond this are times of day.
_LONGEST_S = 1e6
#: Bits of TCP's header and those of a row: SYN, ACK, FIN, RST, ECE, CWR.
_BITS = (0x02, 0x10, 0x01, 0x04, 0x40, 0x80)


@dataclass
class _Flow:
    """A connection: its number, the end that opened it, and the first numbers of both ends."""

    number: int
    client: tuple[bytes, int]
    first: dict[bool, int] = field(default_factory=dict[bool, int])


def segments(served: Served, name: str) -> bytes:
    """Return the segments of a capture.

    Raises
    ------
    BadInput
        There is no such file, or it is no capture, or too large.
    """
    data = served.read(name, _MOST_BYTES)
    path = PurePosixPath(name)
    if data[:4] != struct.pack("<I", _SECTION):
        raise BadInput(f"{path.name}: no capture in pcapng")
    flows: dict[frozenset[tuple[bytes, int]], _Flow] = {}
    names: list[str] = []
    rows = array("d")
    whole = True
    try:
        for time_s, packet in _packets(data):
            if len(rows) >= _MOST_ROWS * len(COLUMNS):
                whole = False
                break
            rows.extend(_row(time_s, packet, flows, names))
    except (struct.error, IndexError):
        # Whoever wrote it was interrupted: its beginning is a capture.
        whole = False
        if not rows:
            raise BadInput(f"{path.name}: the capture is damaged") from None
    return _answer(names, path.stem, rows, whole=whole)


def _answer(flows: list[str], link: str, rows: array[float], *, whole: bool) -> bytes:
    header: dict[str, Any] = {
        "flows": flows,
        "links": [link],
        "columns": list(COLUMNS),
        "rows": len(rows) // len(COLUMNS),
        "data": [0, 8 * len(rows)],
        "whole": whole,
    }
    text = json.dumps(header).encode()
    begin = struct.pack("<I", len(text)) + text
    return begin + bytes(-len(begin) % 8) + rows.tobytes()


def _packets(data: bytes) -> Iterator[tuple[float, bytes]]:
    """Yield the time of each packet, in seconds, and its bytes from IP's header on."""
    kinds: list[tuple[int, float]] = []
    at = 0
    begin_s: int | None = None
    while at < len(data):
        block, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            raise IndexError
        body = data[at + 8 : at + length - 4]
        at += length
        if block == _SECTION:
            kinds = []
        elif block == _INTERFACE:
            kinds.append((struct.unpack_from("<H", body)[0], _resolution(body)))
        elif block == _PACKET:
            interface, high, low, kept, _ = struct.unpack_from("<IIIII", body)
            kind, unit = kinds[interface]
            packet = body[20 : 20 + kept]
            if kind == _ETHERNET:
                packet = packet[14:]
            elif kind != _RAW:
                continue
            time_s = ((high << 32) | low) * unit
            if begin_s is None:
                # Times of day have no digits left for microseconds: they count from the first.
                begin_s = int(time_s) if time_s > _LONGEST_S else 0
            yield ((high << 32) | low) * unit - begin_s, packet


def _resolution(body: bytes) -> float:
    """Return the seconds of a unit of an interface's times: the option if_tsresol, 9."""
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 9 and length == 1:
            value = body[at + 4]
            return float(2 ** -(value & 0x7F)) if value & 0x80 else float(10**-value)
        if code == 0:
            break
        at += 4 + length + -length % 4
    return 1e-6


def _row(
    time_s: float,
    packet: bytes,
    flows: dict[frozenset[tuple[bytes, int]], _Flow],
    names: list[str],
) -> tuple[float, ...]:
    """Return the row of a packet; nothing of one that is no segment of TCP."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        if packet[9] != _TCP:
            return ()
        begin, whole = 4 * (packet[0] & 15), int.from_bytes(packet[2:4], "big")
        source, target, mark = packet[12:16], packet[16:20], packet[1] & 3 == 3
    elif version == 6 and len(packet) >= 40:
        if packet[6] != _TCP:
            return ()
        begin, whole = 40, 40 + int.from_bytes(packet[4:6], "big")
        traffic_class = ((packet[0] & 15) << 4) | (packet[1] >> 4)
        source, target, mark = packet[8:24], packet[24:40], traffic_class & 3 == 3
    else:
        return ()
    if len(packet) < begin + 20:
        return ()
    ports = struct.unpack_from("!HHII", packet, begin)
    ends = (source, ports[0]), (target, ports[1])
    header = 4 * (packet[begin + 12] >> 4)
    bits = packet[begin + 13]
    flow = flows.get(frozenset(ends))
    if flow is None:
        # A SYN comes from the end that opens; of a connection that was open, the first is taken.
        opener = ends[1] if bits & 0x12 == 0x12 else ends[0]
        flow = flows[frozenset(ends)] = _Flow(len(names), opener)
        other = ends[0] if opener == ends[1] else ends[1]
        names.append(f"{_end(opener)} > {_end(other)}")
    client = ends[0] == flow.client
    flow.first.setdefault(client, ports[2])
    seq = _offset(ports[2], flow.first[client])
    has_ack = bool(bits & 0x10)
    if has_ack:
        flow.first.setdefault(not client, ports[3] - 1)
    base = flow.first.get(not client, 0)
    ack = _offset(ports[3], base) if has_ack else 0
    flags = sum(1 << n for n, bit in enumerate(_BITS) if bits & bit)
    blocks = [_offset(edge, base) for edge in _sack(packet[begin + 20 : begin + header])]
    length = max(0, whole - begin - header)
    return (
        time_s, 0.0, 0.0, float(flow.number), float(client), float(seq), float(length), float(ack),
        float(flags), float(mark), *map(float, blocks), *[0.0] * (8 - len(blocks)),
    )  # fmt: skip


def _offset(number: int, first: int) -> int:
    """Return a number of TCP's counted from the SYN; those just before it are below zero."""
    apart = (number - first) % 2**32
    return apart if apart < 2**31 else apart - 2**32


def _sack(options: bytes) -> list[int]:
    """Return the edges of SACK blocks (RFC 2018, option 5)."""
    at = 0
    while at < len(options):
        kind = options[at]
        if kind == 0:
            break
        if kind == 1:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2 or at + length > len(options):
            break
        if kind == 5:
            count = min((length - 2) // 4, 8)
            return list(struct.unpack_from(f"!{count}I", options, at + 2))
        at += length
    return []


def _end(end: tuple[bytes, int]) -> str:
    return f"{ip_address(end[0])}.{end[1]}"
