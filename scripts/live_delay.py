#!/usr/bin/env python3
"""Measure the delay of docs/validation/live-kernel.md: what a path of 50 ms adds to echo requests.

``live_delay.py FILE [SERIES]`` appends one JSON line a series to FILE, alternately with a path that
sleeps and with one that polls (`--busy`), and prints the page's table. Each series is 1000
requests, 10 ms apart: 15 s. Requests are stamped as they are given to the kernel, and by the kernel
as their answers come. Needs root, `nsenter` and `chrt`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

REQUESTS = 1000
EVERY_S = 0.01
ONE_WAY_MS = 25

#: Over 1 Gbit/s the 84 bytes of a request take 0.7 us. The flow is there so that there are hosts.
SCENARIO: dict[str, Any] = {
    "duration": f"{REQUESTS * EVERY_S + 5:g} s",
    "topology": {
        "kind": "graph",
        "link": [
            {"name": "path", "from": "s", "to": "r", "rate": "1 Gbit/s"}
            | {"delay": f"{ONE_WAY_MS} ms"}
        ],
    },
    "flow": [
        {"name": "idle", "variant": "cubic", "profile": "linux", "from": "s", "to": "r"}
        | {"app": {"kind": "bulk", "size": "1 B"}}
    ],
}


def space_of(process: int, address: str) -> str | None:
    """Return the file of the namespace of a live run's host that has this address."""
    for entry in Path(f"/proc/{process}/fd").iterdir():
        try:
            if not str(entry.readlink()).startswith("net:"):
                continue
        except OSError:
            continue
        asked = ["nsenter", f"--net={entry}", "ip", "-o", "-4", "address"]
        told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        if f" {address}/" in told:
            return str(entry)
    return None


#: The word by which the script calls itself within the sender's namespace.
PING = "--ping"


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071) of an even number of bytes."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ping() -> list[float]:
    """Return how long each answered echo request took, in ms."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        # SO_TIMESTAMPNS: the kernel's stamp of what comes in.
        raw.setsockopt(socket.SOL_SOCKET, 35, 1)
        raw.connect(("10.128.0.1", 0))
        sent: dict[int, int] = {}
        took: list[float] = []
        began = time.monotonic()
        for number in range(REQUESTS + round(0.5 / EVERY_S)):
            if number < REQUESTS:
                body = struct.pack("!BBHHH56x", 8, 0, 0, 7, number)
                body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
                sent[number] = time.time_ns()
                raw.send(body)
            due = began + (number + 1) * EVERY_S
            while (left := due - time.monotonic()) > 0:
                raw.settimeout(left)
                try:
                    packet, stamps, _, _ = raw.recvmsg(200, 200)
                except TimeoutError:
                    break
                kind, _, _, _, answered = struct.unpack("!BBHHH", packet[20:28])
                if kind == 0 and answered in sent:
                    seconds, nanos = struct.unpack("qq", stamps[0][2])
                    took.append((seconds * 10**9 + nanos - sent.pop(answered)) / 1e6)
        return took


def series(*, busy: bool) -> dict[str, Any]:
    """Return what the requests of one run took beyond the path's delay, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "path.json")
        file.write_text(json.dumps(SCENARIO))
        command = [sys.executable, "-m", "ackclock.cli", "run", str(file), "--on", "live", "--json"]
        command += ["--busy"] if busy else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            space, deadline = None, time.monotonic() + 10
            while space is None and time.monotonic() < deadline:
                time.sleep(0.1)
                space = space_of(run.pid, "10.0.0.1")
            if space is None:
                run.kill()
                sys.exit("live_delay.py: no namespace with 10.0.0.1; live runs need root")
            time.sleep(0.5)
            # Before other programs, as the path is.
            ping = ["nsenter", f"--net={space}", "chrt", "--fifo", "8", sys.executable, __file__]
            told = subprocess.run([*ping, PING], capture_output=True, text=True, check=True).stdout
            answer, _ = run.communicate(timeout=60)
    took = [value - 2 * ONE_WAY_MS for value in json.loads(told)]
    live = json.loads(answer)["live"] if answer else {}
    return {"busy": busy, "load": os.getloadavg()[0], "took_ms": took, "live": live}


def table(lines: list[dict[str, Any]]) -> None:
    """Print a row a series."""
    print("| path | load | answers | p50 | p90 | p99 | most | releases late: p50 | p99, us |")
    print("|" + " --- |" * 9)
    for line in lines:
        took = sorted(line["took_ms"])
        at = quantiles(took, n=100, method="inclusive")
        late = line["live"].get("lateness", {"p50_s": 0.0, "p99_s": 0.0})
        print(
            f"| {'polls' if line['busy'] else 'sleeps'} | {line['load']:.1f} | {len(took)} "
            f"| {at[49]:.3f} | {at[89]:.3f} | {at[98]:.3f} | {took[-1]:.3f} "
            f"| {late['p50_s'] * 1e6:.0f} | {late['p99_s'] * 1e6:.0f} |"
        )


def main(file: Path, count: int) -> None:
    """Add ``count`` series of each kind, and print all."""
    with file.open("a") as out:
        for _ in range(count):
            for busy in (False, True):
                print(json.dumps(series(busy=busy)), file=out, flush=True)
    table([json.loads(line) for line in file.read_text().splitlines()])


if __name__ == "__main__":
    if sys.argv[1] == PING:
        print(json.dumps(ping()))
        sys.exit()
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
