"""The packets between our transport and the kernel, as tshark reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Literal

import pytest

import ackclock as ac
from live_support import live, measured, path, real, untimed

Ends = Literal["kernel", "ackclock"]
ROLES: tuple[tuple[Ends, Ends], ...] = (("ackclock", "kernel"), ("kernel", "ackclock"))

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="live: no tshark")


def fields(capture: Path, shown: str, *names: str) -> list[list[str]]:
    """Return fields of the packets that a display filter shows, with absolute sequence numbers."""
    command = [str(TSHARK), "-r", str(capture), "-Y", shown, "-T", "fields", "-E", "occurrence=a"]
    command += ["-o", "tcp.relative_sequence_numbers:false", "-o", "tcp.check_checksum:false"]
    for name in names:
        command += ["-e", name]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in told.splitlines()]


def run(
    folder: Path, ends: tuple[Ends, Ends], link: dict[str, Any], tcp: dict[str, Any], **more: object
) -> tuple[ac.Run, list[Path]]:
    """Return a run of 1 MB over such a link, and its captures: the sender's, the receiver's."""
    table: dict[str, Any] = path(**more)  # type: ignore[arg-type]
    table["topology"]["link"][0].update(link)
    table["flow"][0].update({"app": {"kind": "bulk", "size": "1 MB"}, "tcp": tcp})
    scenario = ac.Scenario.from_dict(table)
    done = ac.run_live(scenario, sender=ends[0], receiver=ends[1], pcap=folder)
    assert done.flows.to_pylist()[0]["delivered_bytes"] == 1_000_000
    return done, list(done.captures)


@untimed
@live
@needs_tshark
@pytest.mark.parametrize("ends", ROLES)
def test_an_analyser_finds_no_fault(ends: tuple[Ends, Ends], tmp_path: Path) -> None:
    _, captures = run(tmp_path, ends, {"loss": 0.01}, {"ecn": "on"})
    for capture in captures:
        assert (
            fields(capture, "_ws.malformed || _ws.expert.severity == error", "frame.number") == []
        )
        # Of headers alone, with the checksums of whole packets only where they were captured.
        assert fields(capture, "ip.checksum.status == 0", "frame.number") == []


@untimed
@live
@needs_tshark
@pytest.mark.parametrize("ends", ROLES)
def test_sack_blocks_are_what_has_arrived(ends: tuple[Ends, Ends], tmp_path: Path) -> None:
    _, (_, receiver) = run(tmp_path, ends, {"loss": 0.02}, {})
    arrived: list[tuple[int, int]] = []
    blocks = 0
    names = ("ip.src", "tcp.seq", "tcp.len", "tcp.ack")
    edges = ("tcp.options.sack_le", "tcp.options.sack_re")
    for source, seq, length, ack, left, right in fields(receiver, "tcp", *names, *edges):
        if source == "10.0.0.1":
            arrived.append((int(seq), int(seq) + int(length)))
        elif left:
            lefts, rights = ([int(n) for n in text.split(",")] for text in (left, right))
            for first, last in zip(lefts, rights, strict=True):
                blocks += 1
                # RFC 2018 section 3: contiguous data that has come, above the ACK; or, RFC 2883,
                # what came twice.
                inside = [(a, b) for a, b in arrived if first <= a and b <= last and b > a]
                covered = first
                for a, b in sorted(inside):
                    assert a <= covered
                    covered = max(covered, b)
                assert covered == last
                assert first > int(ack) or last <= int(ack)
    assert blocks > 10


@untimed
@live
@needs_tshark
@pytest.mark.parametrize("ends", ROLES)
def test_timestamps_go_on_and_are_echoed(ends: tuple[Ends, Ends], tmp_path: Path) -> None:
    _, (sender, _) = run(tmp_path, ends, {}, {})
    last = {"10.0.0.1": 0, "10.128.0.1": 0}
    names = (
        "ip.src",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "tcp.flags.syn",
    )
    said: dict[str, set[int]] = {source: set() for source in last}
    rows = fields(sender, "tcp", *names)
    for source, value, echo, syn in rows:
        peer = next(other for other in last if other != source)
        # RFC 7323 section 3.2: in every segment once both SYNs had it.
        assert value
        assert int(value) >= last[source]
        last[source] = int(value)
        said[source].add(int(value))
        if syn == "0" or source == "10.128.0.1":
            assert int(echo) in said[peer]
    assert len(rows) > 700


@untimed
@live
@needs_tshark
@pytest.mark.parametrize("ends", ROLES)
def test_marks_are_echoed_until_the_window_is_reduced(
    ends: tuple[Ends, Ends], tmp_path: Path
) -> None:
    queue = {"kind": "droptail", "limit": "100 packet", "mark": "10 packet"}
    done, (sender, receiver) = run(tmp_path, ends, {"queue": queue}, {"ecn": "on"})
    # RFC 3168 section 6.1.1: ECE and CWR in the SYN, ECE alone in the answer.
    syns = fields(sender, "tcp.flags.syn == 1", "tcp.flags.ece", "tcp.flags.cwr")
    assert [[flag in ("1", "True") for flag in row] for row in syns] == [
        [True, True],
        [True, False],
    ]
    marked = fields(receiver, "ip.dsfield.ecn == 3", "frame.time_relative")
    assert len(marked) == done.links.to_pylist()[0]["marked_packets"] > 0
    echoes = fields(sender, "tcp.flags.ece == 1 && tcp.flags.syn == 0", "ip.src", "tcp.len")
    assert {source for source, _ in echoes} == {"10.128.0.1"}
    reduced = fields(sender, "tcp.flags.cwr == 1 && tcp.flags.syn == 0", "ip.src", "tcp.len")
    # Section 6.1.2: on the first new data after the reduction, once a window.
    assert 0 < len(reduced) < len(echoes)
    assert all(source == "10.0.0.1" and int(length) > 0 for source, length in reduced)
    # Section 6.1.5: what is sent again may not be marked.
    again = fields(sender, "tcp.analysis.retransmission", "ip.dsfield.ecn")
    assert all(ecn == "0" for (ecn,) in again)


@untimed
@live
@needs_tshark
@pytest.mark.parametrize("ends", ROLES)
def test_nothing_is_sent_beyond_a_small_window(ends: tuple[Ends, Ends], tmp_path: Path) -> None:
    """A player whose buffer is full reads no more: 1.2 MB for 300 kB of buffer, 64 kB of window."""
    table: dict[str, Any] = path(duration="5 s")
    table["flow"][0]["app"] = {
        "kind": "video",
        "pictures": [10_000] * 120,
        "buffer": "300 kB",
    }
    table["flow"][0]["tcp"] = {"receive_window": "64 kB", "receive_autotune": "off"}
    scenario = ac.Scenario.from_dict(table)
    done = ac.run_live(scenario, sender=ends[0], receiver=ends[1], pcap=tmp_path)
    (video,) = done.videos.to_pylist()
    assert (video["shown"], video["taken_bytes"]) == (120, 1_200_000)
    assert done.live is not None
    assert (done.live["changed"], done.live["malformed"]) == (0, 0)
    sender, _ = done.captures
    # The receiver comes to offer less than one picture's bytes, as its player's buffer is full for
    # most of the film; and nothing is sent beyond what it offers. Closed altogether: the tests of
    # crates/live.
    names = ("ip.src", "tcp.seq", "tcp.len", "tcp.ack", "tcp.window_size")
    edge, smallest = 0, 1 << 30
    for source, seq, length, ack, window in fields(sender, "tcp.flags.syn == 0", *names):
        if source == "10.128.0.1":
            smallest = min(smallest, int(window))
            edge = max(edge, int(ack) + int(window))
        elif int(length) > 1 and edge:
            assert int(seq) + int(length) <= edge
    assert smallest < 10_000


@real
@pytest.mark.parametrize("ends", ROLES)
def test_a_window_of_megabytes_is_used(ends: tuple[Ends, Ends]) -> None:
    """100 Mbit/s and 400 ms hold 5 MB: 64 kB, without scaling, would be 1.3 Mbit/s."""
    table: dict[str, Any] = path("100 Mbit/s", "200 ms", duration="8 s")
    table["flow"][0]["tcp"] = {"receive_window": "8 MB", "receive_autotune": "off"}
    table["probe"] = [{"flow": "bulk", "what": ["in_flight"], "every": "100 ms"}]
    done = measured(ac.Scenario.from_dict(table), sender=ends[0], receiver=ends[1])
    out = max(value for value in done.flow_samples["in_flight_segments"] if value)
    # The path holds 3333 packets of 1500 bytes, and 8 MB are 5525 segments of 1448; Linux clamps a
    # window in units of its scale, and may offer some more.
    assert 3000 < out <= 1.1 * 5525
    rate = done.flows.to_pylist()[0]["goodput_bps"]
    # Slow start takes ten round trips of 0.4 s; then the link is full.
    assert rate > 30e6
