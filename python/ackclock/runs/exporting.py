"""Runs in the formats of other tools: qlog for qvis, flent's files, xplot's diagrams, ss's text.

All of them are written from the samples of a flow's probe with ``every = "change"``, and what a
sender of a simulation sent from a second run, which is the same.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import Folder
from ackclock.runs import identity
from ackclock.scenario.events import Probe

if TYPE_CHECKING:
    from ackclock.runs.run import Run
    from ackclock.scenario.flows import Flow
    from ackclock.scenario.scenario import Scenario

__all__ = ["FORMATS", "Format", "export", "probed"]

Format = Literal["qlog", "flent", "xplot", "ss"]
FORMATS: tuple[Format, ...] = ("qlog", "flent", "xplot", "ss")
#: Later than any run ends, in seconds.
_ALWAYS_S = 1e9
#: The most segments of all flows that are looked at one by one.
_MOST_SENDS = 400_000
#: The bytes of a full packet.
_PACKET_BYTES = 1500
#: The bytes of the headers of IP and TCP, and of TCP's timestamps, which a pure ACK has, too.
_HEADER_BYTES = {"ipv4": 40, "ipv6": 60}
_TIMESTAMP_BYTES = 12
#: The time between two values of a flent file, in seconds, as flent has it.
_STEP_S = 0.2
#: The time between two lines of ss's text, in seconds, as google/bbr's tests have it.
_SS_STEP_S = 0.1
#: States of qlog by the events of a flow (draft-ietf-quic-qlog-quic-events §7.4).
_STATES = {
    "slow_start_ends": "congestion_avoidance",
    "recovery_begins": "recovery",
    "recovery_ends": "congestion_avoidance",
    "timeout": "slow_start",
}


def probed(scenario: Scenario) -> Scenario:
    """Return the scenario with a record of every flow's changes, and no other probes."""
    return replace(
        scenario, probes=[Probe(flow=flow.name, every="change") for flow in scenario.flows]
    )


def export(
    run: Run,
    directory: str | os.PathLike[str],
    formats: Sequence[Format] = FORMATS,
    told: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write a run for other tools.

    Parameters
    ----------
    run
        A run of one scenario, whose flows have probes with ``every = "change"``.
    directory
        The folder; it is made if it is not there.
    formats
        ``qlog`` (version 0.3, a file a flow, which qvis opens), ``flent`` (version 4, one file),
        ``xplot`` (a time-sequence diagram a flow, as tcptrace draws it), ``ss`` (text as that of
        ``ss -ti``, ten times a second).
    told
        Called with a line on each flow of which retransmissions are missing in the files.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    BadInput
        A format that is none, many runs, or no samples of any flow.
    """
    for name in formats:
        if name not in FORMATS:
            raise BadInput(f"export: `{name}` is no format, expected one of {', '.join(FORMATS)}")
    flows = _flows(run)
    title = run.scenario.title or "ackclock"
    (key,) = identity.keys_of_run(run)
    kernel = (run.live or {}).get("linux")
    on = "" if kernel is None else f", Linux {kernel['key']} in virtual time"
    about = f"Ackclock {_core.version()}, run {key}{on}"
    for flow in flows:
        if flow.missing and told is not None:
            told(f"{flow.name}: {flow.missing}")
    files: dict[str, bytes] = {}
    for name in formats:
        files |= _WRITERS[name](title, flows, about)
    with Folder(directory, *files) as folder:
        for name, content in files.items():
            folder.stage(name, content)
        folder.commit()
    return [Path(directory) / name for name in files]


@dataclass
class Step:
    """A sample of a flow: the packets acknowledged, lost and sent since the one before."""

    time_s: float
    row: Mapping[str, Any]
    acked: list[int] = field(default_factory=list)
    """Numbers of packets that an ACK covers."""
    lost: list[Packet] = field(default_factory=list)
    """Packets whose data goes out again."""
    sent: list[Packet] = field(default_factory=list)
    is_sample: bool = True
    """True if the state is of this moment, false if it has lasted since the sample before."""


@dataclass(frozen=True)
class Packet:
    """A transmission: its number, counted from 1, and its data."""

    number: int
    start: int
    length: int
    again: bool = False


@dataclass(frozen=True)
class FlowStory:
    """A flow: its samples as steps, its events, sizes in bytes, its file's name."""

    name: str
    variant: str
    file: str
    mss: int
    header: int
    steps: list[Step]
    events: list[dict[str, Any]]

    @property
    def samples(self) -> list[Step]:
        """The steps at which the sender's state was looked at."""
        return [step for step in self.steps if step.is_sample]

    @property
    def missing(self) -> str:
        """Return how many retransmissions are not told, and why; empty if all are."""
        resent = max((step.row["segments_retransmitted"] or 0 for step in self.steps), default=0)
        told = sum(packet.again for step in self.steps for packet in step.sent)
        if told >= resent:
            return ""
        return (
            f"{resent - told} of {resent} retransmissions are missing: of several sent at once "
            "samples know the last alone"
        )


def _flows(run: Run) -> list[FlowStory]:
    if run.flow_samples.num_rows and "cell" in run.flow_samples.column_names:
        raise BadInput("export: expected one run, found many")
    samples: dict[str, list[dict[str, Any]]] = {}
    for row in run.rows("flow_samples"):
        samples.setdefault(row["flow"], []).append(row)
    if not samples:
        raise BadInput('export: no flow has samples; a probe with every = "change" makes them')
    events: dict[str, list[dict[str, Any]]] = {}
    for row in run.rows("flow_events"):
        events.setdefault(row["flow"], []).append(row)
    files = _file_names(list(samples))
    plans = {flow.name: flow for flow in run.scenario.flows}
    sends = _sends(run)
    return [
        FlowStory(
            name,
            plans[name].variant if name in plans else "",
            files[name],
            _mss(rows),
            _header(plans.get(name), _mss(rows)),
            list(_Teller(None if sends is None else sends.get(name, []), _mss(rows)).steps(rows)),
            events.get(name, []),
        )
        for name, rows in samples.items()
    ]


def _header(flow: Flow | None, mss: int) -> int:
    """Return the bytes in front of a segment's payload.

    A kernel's flow has timestamps whatever the scenario says; its full segment shows it.
    """
    header = _HEADER_BYTES["ipv4" if flow is None else flow.network]
    asked = flow is not None and flow.tcp.timestamps
    if asked or mss == _PACKET_BYTES - header - _TIMESTAMP_BYTES:
        return header + _TIMESTAMP_BYTES
    return header


def _mss(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return the payload of a full segment: the first flight's bytes over its segments."""
    for row in rows:
        flight = row["in_flight_segments"] or 0
        outstanding = (row["sent_bytes"] or 0) - (row["acked_bytes"] or 0)
        if flight >= 1 and outstanding >= flight:
            return round(outstanding / flight)
    return 1460


@dataclass(frozen=True)
class _Send:
    """A segment with data that a sender gave to its first link."""

    time_s: float
    start: int
    length: int


def _sends(run: Run) -> dict[str, list[_Send]] | None:
    """Return what each flow's sender sent; None where nobody can know it, as of a live run.

    Samples are of a sender's state and know of several segments sent at once the last alone. A
    simulation is the same each time, so that it is run again and each segment looked at.
    """
    if run.live is not None or run.theory is not None:
        return None
    text = {"file": "run.json", "text": run.scenario_texts[0]}
    asked = {"do": "segments", "text": text, "from_s": 0.0, "until_s": _ALWAYS_S}
    answer = _core.answer(json.dumps(asked), os.curdir)
    length = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + length])
    if "error" in header:
        raise BadInput(f"export: {header['error']}")
    at, size = header["sends"]
    begins = at + -(-(4 + length) // 8) * 8
    numbers = memoryview(answer)[begins : begins + size].cast("d")
    columns = header["send_columns"]
    # The rows of links may have come to an end before those of hosts.
    if not header["whole"] and len(numbers) >= _MOST_SENDS * len(columns):
        return None
    where = [columns.index(name) for name in ("time_s", "flow", "from_client", "seq", "len")]
    found: dict[str, list[_Send]] = {}
    for row in range(0, len(numbers), len(columns)):
        time_s, flow, from_client, seq, payload = (numbers[row + n] for n in where)
        # The number before the first byte of data is the SYN's.
        if from_client and payload:
            send = _Send(time_s, int(seq) - 1, int(payload))
            found.setdefault(header["flows"][int(flow)], []).append(send)
    return found


class _Teller:
    """A flow as steps, from samples of its sender and, where they are known, its segments."""

    def __init__(self, sends: Sequence[_Send] | None, mss: int) -> None:
        self._sends = None if sends is None else deque(sends)
        self._mss = mss
        self._waiting: dict[int, Packet] = {}
        self._number = self._edge = self._acked = self._resent = 0

    def steps(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
        """Yield what happened between samples, and at them.

        A sample stands for an event of the sender: an ACK, a timer, the application. By itself it
        says what was sent, too, but of several retransmissions at once the last alone.
        """
        yield from self._between(rows[0], rows[0]["time_s"])
        ends = [*(row["time_s"] for row in rows[1:]), math.inf]
        for row, later_s in zip(rows, ends, strict=True):
            step = Step(row["time_s"], row)
            self._acknowledge(step, row["acked_bytes"] or 0)
            if self._sends is None:
                self._guess(step, row)
            while self._sends and self._sends[0].time_s <= step.time_s:
                self._next(step)
            yield step
            yield from self._between(row, later_s)

    def _between(self, row: Mapping[str, Any], later_s: float) -> Iterator[Step]:
        """Yield what is sent before a moment while the state stays, as paced segments are."""
        while self._sends and self._sends[0].time_s < later_s:
            step = Step(self._sends[0].time_s, row, is_sample=False)
            while self._sends and self._sends[0].time_s == step.time_s:
                self._next(step)
            yield step

    def _acknowledge(self, step: Step, acked: int) -> None:
        if acked > self._acked:
            self._acked = acked
            done = [each for each in self._waiting.values() if each.start + each.length <= acked]
            step.acked = [each.number for each in done]
            for each in done:
                del self._waiting[each.start]

    def _guess(self, step: Step, row: Mapping[str, Any]) -> None:
        if (row["segments_retransmitted"] or 0) > self._resent:
            self._resent = row["segments_retransmitted"]
            before = self._waiting.get(row["resent_at_bytes"])
            if before is not None:
                self._send(step, before.start, before.length)
        while self._edge < (row["sent_bytes"] or 0):
            self._send(step, self._edge, min(self._mss, row["sent_bytes"] - self._edge))

    def _next(self, step: Step) -> None:
        if self._sends:
            send = self._sends.popleft()
            self._send(step, send.start, send.length)

    def _send(self, step: Step, start: int, length: int) -> None:
        self._number += 1
        before = self._waiting.pop(start, None)
        if before is not None:
            step.lost.append(before)
        packet = Packet(self._number, start, length, again=start < self._edge)
        self._waiting[start] = packet
        step.sent.append(packet)
        self._edge = max(self._edge, start + length)


def _qlog(title: str, flows: Sequence[FlowStory], about: str) -> dict[str, bytes]:
    """Return a file a flow: qlog 0.3, the version that qvis reads."""
    files = {}
    for flow in flows:
        trace = {
            "title": flow.name,
            "description": "; ".join(part for part in (about, flow.missing) if part),
            "vantage_point": {"type": "client"},
            "common_fields": {
                "time_format": "relative",
                "reference_time": 0,
                "protocol_type": ["TCP"],
            },
            "configuration": {"time_units": "ms"},
            "events": _qlog_events(flow),
        }
        whole = {
            "qlog_version": "0.3",
            "qlog_format": "JSON",
            "title": title,
            "traces": [trace],
        }
        files[f"{flow.file}.qlog"] = json.dumps(whole).encode()
    return files


def _qlog_events(flow: FlowStory) -> list[dict[str, Any]]:
    found: list[tuple[float, dict[str, Any]]] = []
    acks = 0
    timeouts = {event["time_s"] for event in flow.events if event["event"] == "timeout"}

    def add(time_s: float, name: str, data: dict[str, Any]) -> None:
        found.append((time_s, {"time": round(1e3 * time_s, 6), "name": name, "data": data}))

    if flow.steps:
        first = flow.steps[0]
        name = "recovery:congestion_state_updated"
        add(first.time_s, name, {"new": _first_state(first.row)})
    for step in flow.steps:
        if step.acked:
            acks += 1
            frame = {"frame_type": "ack", "acked_ranges": _ranges(step.acked)}
            add(step.time_s, "transport:packet_received", _packet(acks, flow.header, frame))
        for each in step.lost:
            header = {"packet_type": "1RTT", "packet_number": each.number}
            trigger = "pto_expired" if step.time_s in timeouts else "reordering_threshold"
            add(step.time_s, "recovery:packet_lost", {"header": header, "trigger": trigger})
        for each in step.sent:
            frame = {
                "frame_type": "stream",
                "stream_id": 0,
                "offset": each.start,
                "length": each.length,
            }
            add(
                step.time_s,
                "transport:packet_sent",
                _packet(each.number, each.length + flow.header, frame),
            )
        if step.is_sample:
            add(step.time_s, "recovery:metrics_updated", _qlog_metrics(step.row, flow.mss))
    for event in flow.events:
        state = _STATES.get(event["event"])
        if state is not None:
            add(event["time_s"], "recovery:congestion_state_updated", {"new": state})
    found.sort(key=lambda pair: pair[0])
    return [event for _, event in found]


def _first_state(row: Mapping[str, Any]) -> str:
    """Return the state in which a flow begins: slow start while cwnd is below ssthresh."""
    cwnd, ssthresh = row["cwnd_segments"], row["ssthresh_segments"]
    below = cwnd is None or ssthresh is None or cwnd < ssthresh
    return "slow_start" if below else "congestion_avoidance"


def _packet(number: int, length: int, frame: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "header": {"packet_type": "1RTT", "packet_number": number},
        "raw": {"length": length},
        "frames": [frame],
    }


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Return numbers as ranges, the highest first."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges[::-1]


def _qlog_metrics(row: Mapping[str, Any], mss: int) -> dict[str, Any]:
    values = {
        "congestion_window": (row["cwnd_segments"], mss),
        "bytes_in_flight": (row["in_flight_segments"], mss),
        "ssthresh": (row["ssthresh_segments"], mss),
    }
    found: dict[str, Any] = {
        name: round(value * unit) for name, (value, unit) in values.items() if value is not None
    }
    if row["srtt_s"] is not None:
        found["smoothed_rtt"] = round(1e3 * row["srtt_s"], 6)
    return found


def _flent(title: str, flows: Sequence[FlowStory], about: str) -> dict[str, bytes]:
    """Return one file of flent's format, version 4, under the name of its own test."""
    length_s = max((flow.samples[-1].time_s for flow in flows if flow.samples), default=0.0)
    count = int(length_s / _STEP_S) + 1
    grid = [round(n * _STEP_S, 6) for n in range(count)]
    alone = len(flows) == 1
    results: dict[str, list[float | None]] = {}
    raw: dict[str, list[dict[str, Any]]] = {}
    for n, flow in enumerate(flows, 1):
        name = "TCP upload" if alone else f"TCP upload::{n}"
        results[name] = _rates(flow, grid)
        raw[name] = [
            {
                "t": step.time_s,
                "val": rate,
                "tcp_cwnd": step.row["cwnd_segments"],
                "tcp_rtt": None if step.row["srtt_s"] is None else 1e3 * step.row["srtt_s"],
            }
            for step, rate in zip(flow.samples, _rates_of_steps(flow), strict=True)
        ]
    if not alone:
        columns = list(zip(*results.values(), strict=True))
        sums = [_sum(column) for column in columns]
        results["TCP upload sum"] = sums
        results["TCP upload avg"] = [None if each is None else each / len(flows) for each in sums]
    moment = "1970-01-01T00:00:00.000000Z"
    name = "tcp_1up" if alone else "tcp_nup"
    file = f"{name}-{moment[:10]}.{_file_name(title)}.flent.gz"
    whole = {
        "version": 4,
        "metadata": {
            "NAME": name,
            "DATA_FILENAME": file,
            "TITLE": title,
            "NOTE": about,
            "TIME": moment,
            "T0": moment,
            "BATCH_TIME": moment,
            "HOSTS": [flow.name for flow in flows],
            "LOCAL_HOST": "ackclock",
            "LENGTH": length_s,
            "TOTAL_LENGTH": length_s,
            "STEP_SIZE": _STEP_S,
            "TEST_PARAMETERS": {},
            "SERIES_META": {series: {"UNITS": "Mbits/s"} for series in results},
        },
        "x_values": grid,
        "results": results,
        "raw_values": raw,
    }
    # Without the moment of writing, so that equal runs leave equal files.
    return {file: gzip.compress(json.dumps(whole).encode(), mtime=0)}


def _rates(flow: FlowStory, grid: Sequence[float]) -> list[float | None]:
    """Return the rate of acknowledged data in each step of a grid, in Mbit/s."""
    rates: list[float | None] = []
    before, place, acked = 0, 0, 0
    samples = flow.samples
    for n in range(len(grid)):
        end = grid[n] + _STEP_S
        while place < len(samples) and samples[place].time_s < end:
            acked = samples[place].row["acked_bytes"] or 0
            place += 1
        rates.append(8e-6 * (acked - before) / _STEP_S)
        before = acked
    return rates


def _rates_of_steps(flow: FlowStory) -> Iterator[float]:
    """Yield the rate of acknowledged data over the second before each step, in Mbit/s."""
    first = 0
    samples = flow.samples
    for n, step in enumerate(samples):
        while samples[first].time_s < step.time_s - 1.0:
            first += 1
        span = step.time_s - samples[first].time_s
        acked = (step.row["acked_bytes"] or 0) - (samples[first].row["acked_bytes"] or 0)
        yield 8e-6 * acked / span if n and span > 0 else 0.0


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _xplot(_title: str, flows: Sequence[FlowStory], _about: str) -> dict[str, bytes]:
    """Return a time-sequence diagram a flow, in the colours of tcptrace."""
    return {f"{flow.file}_tsg.xpl": _time_sequence(flow).encode() for flow in flows}


def _time_sequence(flow: FlowStory) -> str:
    title = f"{flow.name} ({flow.missing})" if flow.missing else flow.name
    lines = ["timeval double", "title", title, "xlabel", "time", "ylabel", "sequence number"]
    acked, since = 0, 0.0
    for step in flow.steps:
        now = step.time_s
        for each in step.sent:
            end = each.start + each.length
            colour = "red" if each.again else "white"
            lines += [
                f"line {now:.6f} {each.start} {now:.6f} {end} {colour}",
                f"darrow {now:.6f} {each.start} {colour}",
                f"uarrow {now:.6f} {end} {colour}",
            ]
            if each.again:
                lines += [f"atext {now:.6f} {end} red", "R"]
        new = step.row["acked_bytes"] or 0
        if new > acked:
            lines.append(f"line {since:.6f} {acked} {now:.6f} {acked} green")
            lines.append(f"line {now:.6f} {acked} {now:.6f} {new} green")
            acked, since = new, now
    return "\n".join([*lines, "go", ""])


def _ss(_title: str, flows: Sequence[FlowStory], _about: str) -> dict[str, bytes]:
    """Return a text a flow with the words of ``ss -ti``, as far as they are known."""
    return {f"{flow.file}.ss.txt": _sockets(flow).encode() for flow in flows}


def _sockets(flow: FlowStory) -> str:
    lines: list[str] = []
    due = 0.0
    for step, later in zip(flow.samples, [*flow.samples[1:], None], strict=True):
        # The state at a moment is that of the last sample before it.
        ends_s = step.time_s + _SS_STEP_S if later is None else later.time_s
        due = max(due, _SS_STEP_S * math.ceil(step.time_s / _SS_STEP_S - 1e-9))
        while due < ends_s:
            lines += [f"TIME {due:.1f}", f"ESTAB {flow.name}", f"\t {_socket(flow, step.row)}"]
            due = round(due + _SS_STEP_S, 1)
    return "\n".join([*lines, ""])


def _socket(flow: FlowStory, row: Mapping[str, Any]) -> str:
    def whole(name: str) -> str | None:
        return None if row[name] is None else f"{row[name]:.0f}"

    words = {
        "rtt": None if row["srtt_s"] is None else f"{1e3 * row['srtt_s']:.3f}",
        "mss": f"{flow.mss}",
        "cwnd": whole("cwnd_segments"),
        "ssthresh": whole("ssthresh_segments"),
        "bytes_acked": whole("acked_bytes"),
        "unacked": whole("in_flight_segments"),
        "total_retrans": whole("segments_retransmitted"),
    }
    known = [f"{word}:{value}" for word, value in words.items() if value is not None]
    return " ".join([flow.variant, *known])


_WRITERS: Mapping[Format, Callable[[str, Sequence[FlowStory], str], dict[str, bytes]]] = {
    "qlog": _qlog,
    "flent": _flent,
    "xplot": _xplot,
    "ss": _ss,
}


def _file_names(names: Sequence[str]) -> dict[str, str]:
    """Return a file's name for each flow; those that would be the same get a number."""
    found: dict[str, str] = {}
    for name in names:
        plain = made = _file_name(name)
        count = 1
        while made in found.values():
            count += 1
            made = f"{plain}-{count}"
        found[name] = made
    return found


def _file_name(name: str) -> str:
    """Return a name as a part of a file's name: letters, digits, and `-` for all others."""
    kept = "".join(each if each.isalnum() and each.isascii() else "-" for each in name)
    return kept.strip("-") or "flow"
