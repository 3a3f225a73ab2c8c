"""Captures of simulated links, as Wireshark's own parser reads them."""

from __future__ import annotations

import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from support import Answer, killed_in_the_end

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="no tshark on the PATH")
TCPDUMP = shutil.which("tcpdump")
needs_tcpdump = pytest.mark.skipif(TCPDUMP is None, reason="no tcpdump on the PATH")
TCPTRACE = shutil.which("tcptrace")
needs_tcptrace = pytest.mark.skipif(TCPTRACE is None, reason="no tcptrace on the PATH")

SENT_AGAIN = " || ".join(
    f"tcp.analysis.{word}"
    for word in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
)
BAD_CHECKSUM = "ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0"
GOOD_CHECKSUM = "ip.checksum.status == 1 && (tcp.checksum.status == 1 || udp.checksum.status == 1)"


def lossy(variant: str, seed: int = 1, **link: Any) -> ac.Scenario:
    """Return a flow and cross-traffic over a link that drops and loses."""
    bottleneck = ac.Link("10 Mbit/s", "20 ms", queue=ac.Queue("30 packet"), loss=0.004, **link)
    return ac.Scenario(
        topology=ac.dumbbell(bottleneck=bottleneck, access=ac.Link("100 Mbit/s", "1 ms")),
        flows=[ac.Flow(variant, app=ac.Bulk(), name="a")],
        cross_traffic=[ac.CrossTraffic("bottleneck", rate="50 packet/s", size="601 B")],
        duration="20 s",
        seed=seed,
    )


def count(path: Path, display_filter: str) -> int:
    """Return how many packets of the capture tshark shows through the filter."""
    assert TSHARK is not None
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    answer = subprocess.run(
        [
            *(TSHARK, "-r", path, "-Y", display_filter, "-T", "fields", "-e", "frame.number"),
            *(word for check in checks for word in ("-o", check)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return len(answer.stdout.splitlines())


def delivered(run: ac.Run, link: str) -> int:
    """Return how many packets the link delivered, both ways."""
    rows = run.links.to_pylist()
    return sum(
        row["delivered_packets"] for row in rows if (row["measure"], row["link"]) == ("run", link)
    )


def with_payload(capture: bytes) -> bytes:
    """Return the capture with the zeros that were left out, so that checksums can be checked."""
    blocks: list[bytes] = []
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        block = capture[at : at + length]
        if kind == 1:
            block = block[:12] + struct.pack("<I", 0) + block[16:]
        elif kind == 6:
            captured, original = struct.unpack_from("<II", block, 20)
            data = block[28 : 28 + captured].ljust(original, b"\0")
            body = block[8:20] + struct.pack("<II", original, original) + data
            body += bytes(-len(body) % 4)
            size = struct.pack("<I", len(body) + 12)
            block = block[:4] + size + body + size
        blocks.append(block)
        at += length
    return b"".join(blocks)


@needs_tshark
@pytest.mark.parametrize("variant", ["newreno", "newreno+sack"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tshark_counts_the_retransmissions_that_we_count(
    variant: str, seed: int, tmp_path: Path
) -> None:
    run = ac.simulate(lossy(variant, seed), pcap=tmp_path, pcap_links="access-left-a")
    (path,) = run.captures
    assert path == tmp_path / "access-left-a.pcapng"
    ours = run.flows.to_pylist()[0]["segments_retransmitted"]
    assert ours > 20
    assert count(path, SENT_AGAIN) == ours


@needs_tshark
def test_tshark_finds_nothing_malformed_and_every_checksum_good(tmp_path: Path) -> None:
    run = ac.simulate(lossy("newreno+sack"), pcap=tmp_path)
    (path,) = run.captures
    packets = delivered(run, "bottleneck")
    assert count(path, "frame") == packets
    assert count(path, "_ws.malformed || _ws.expert.severity == error") == 0
    assert count(path, BAD_CHECKSUM) == 0
    # tshark does not check what it does not see.
    whole = tmp_path / "whole.pcapng"
    whole.write_bytes(with_payload(path.read_bytes()))
    assert count(whole, GOOD_CHECKSUM) == packets
    assert count(whole, BAD_CHECKSUM) == 0
    assert count(whole, "_ws.malformed || _ws.expert.severity == error") == 0
    (source,) = run.sources.to_pylist()
    assert count(path, "udp && ip.len == 601") == source["delivered_packets"] > 0
    assert count(path, "tcp.options.sack_perm && tcp.flags.syn == 1") == 2
    assert count(path, "tcp.options.mss && tcp.options.wscale && tcp.flags.syn == 1") == 2
    assert count(path, "tcp.options.sack_le") > 0
    assert count(path, "tcp.window_size_scalefactor > 1") > 0


@needs_tshark
def test_flags_tell_the_directions_of_the_link(tmp_path: Path) -> None:
    run = ac.simulate(lossy("newreno"), pcap=tmp_path)
    (path,) = run.captures
    rows = {row["direction"]: row for row in run.links.to_pylist() if row["link"] == "bottleneck"}
    # epb_flags: 1 is inbound, 2 is outbound.
    for direction, flag in (("forward", 2), ("reverse", 1)):
        shown = count(path, f"frame.packet_flags_direction == {flag}")
        assert shown == rows[direction]["delivered_packets"] > 0
    assert count(path, "frame.packet_flags_direction == 2 && ip.src == 10.128.0.0/9") == 0
    assert count(path, 'frame.interface_name == "bottleneck"') == count(path, "frame")
    assert count(path, "frame.time_delta < 0") == 0


@needs_tcpdump
def test_libpcap_reads_every_packet(tmp_path: Path) -> None:
    run = ac.simulate(lossy("newreno+sack"), pcap=tmp_path)
    (path,) = run.captures
    assert TCPDUMP is not None
    answer = subprocess.run(
        [TCPDUMP, "-n", "-r", path], capture_output=True, text=True, timeout=120, check=True
    )
    lines = answer.stdout.splitlines()
    assert len(lines) == delivered(run, "bottleneck")
    assert sum("UDP, length 573" in line for line in lines) > 0  # 601 B less the headers' 28.
    assert sum("sack 1 {" in line for line in lines) > 0


@needs_tcptrace
def test_tcptrace_counts_the_retransmissions_that_we_count(tmp_path: Path) -> None:
    run = ac.simulate(lossy("newreno"), pcap=tmp_path, pcap_links="access-left-a")
    (path,) = run.captures
    assert TCPTRACE is not None
    answer = subprocess.run(
        [TCPTRACE, "-l", path], capture_output=True, text=True, timeout=120, check=True
    )
    (line,) = (line for line in answer.stdout.splitlines() if "rexmt data pkts" in line)
    ours = run.flows.to_pylist()[0]["segments_retransmitted"]
    # Of the sender, and of the receiver, which sends no data.
    assert [int(word) for word in line.split() if word.isdigit()] == [ours, 0]
    assert ours > 20


def test_a_capture_is_a_function_of_scenario_and_seed(tmp_path: Path) -> None:
    scenario = lossy("newreno")
    written = [
        ac.simulate(scenario, seed=seed, pcap=tmp_path / str(n)).captures[0].read_bytes()
        for n, seed in enumerate((1, 1, 2))
    ]
    assert written[0] == written[1] != written[2]


def test_from_the_command_line(
    small_file: Path, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    folder = tmp_path / "deep" / "captures"
    answer = ackclock("run", small_file, "--pcap", folder)
    assert answer.code == 0, answer.err
    assert [path.name for path in folder.iterdir()] == ["bottleneck.pcapng"]
    assert str(folder / "bottleneck.pcapng") in answer.out
    names = ("access-left-a", "access-right-a")
    links = [word for name in names for word in ("--pcap-link", name)]
    assert ackclock("run", small_file, "--pcap", folder, *links, "--json").code == 0
    expected = sorted(f"{name}.pcapng" for name in (*names, "bottleneck"))
    assert sorted(path.name for path in folder.iterdir()) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pcap", "captures", "--pcap-link", "botleneck"], ["botleneck", "`bottleneck`?"]),
        (["--pcap", "captures", "--pcap-link", ""], ["bottleneck"]),
        (["--pcap-link", "bottleneck"], ["--pcap-link", "--pcap "]),
        (["--pcap", "small.toml"], ["small.toml", "is a file"]),
        (["--pcap", "/proc/ackclock/captures"], ["/proc/ackclock"]),
    ],
)
def test_what_cannot_be_captured(
    arguments: list[str],
    words: list[str],
    small_file: Path,
    ackclock: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(small_file.parent)
    answer = ackclock("run", small_file, *arguments)
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert all(word in answer.err for word in words), answer.err
    assert [path.name for path in small_file.parent.iterdir()] == [small_file.name]


def test_from_python_a_link_alone_is_refused() -> None:
    with pytest.raises(ac.BadInput, match="pcap_links"):
        ac.simulate(lossy("newreno"), pcap_links=["bottleneck"])


def test_an_interrupt_leaves_no_file(small_file: Path, tmp_path: Path) -> None:
    text = small_file.read_text(encoding="utf-8")
    long = text.partition("[[measure]]")[0].replace('"5 s"', '"100 h"', 1)
    small_file.write_text(long, encoding="utf-8")
    folder = tmp_path / "captures"
    with (
        subprocess.Popen(
            [sys.executable, "-m", "ackclock.cli", "run", small_file, "--pcap", folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child,
        killed_in_the_end(child),
    ):
        deadline = time.monotonic() + 60
        # The capture has begun under another name.
        while not list(folder.glob(".*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err.splitlines() == ["ackclock: interrupted"]
    assert not folder.exists(), "it was made for files of which none is left"
