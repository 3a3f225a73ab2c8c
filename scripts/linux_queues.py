#!/usr/bin/env python3
"""Hold queues against those of Linux in virtual time: docs/validation/linux-queues.md.

``linux_queues.py [--linux KERNEL]`` gives the same packets at the same moments to a discipline of
the kernel and to ours, and prints a row of what differs; a minute.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from ackclock import _core
from ackclock.base.estimates import estimate
from ackclock.linux import kept, queueing
from ackclock.linux.kept import Kept

#: The rate of all, in Mbit/s and bits a second; the burst of the token bucket, in bytes.
RATE, BPS, BURST = "10 Mbit/s", 10_000_000, 1600
TBF = f"dev out root handle 1: tbf rate 10mbit burst {BURST} limit 20000000"
#: A wire so fast that a frame takes 1.2 ns: the kernel's tokens alone hold packets.
SHAPER = {"kind": "shaper", "burst": f"{BURST} B", "peak": "10 Tbit/s"}
SEEDS = 10


@dataclass(frozen=True)
class Case:
    """A discipline of the kernel, and ours.

    Attributes
    ----------
    name
        The case, in words.
    tc
        The arguments of ``tc qdisc add``.
    queue
        Our queue.
    link
        The other keys of our link.
    ecn
        True if packets ask for ECN.
    random
        True if the discipline draws.
    """

    name: str
    tc: tuple[str, ...]
    queue: dict[str, Any]
    link: dict[str, Any] = field(default_factory=lambda: {"rate": RATE, "channel": SHAPER})
    ecn: bool = False
    random: bool = False


def below(discipline: str) -> tuple[str, ...]:
    """Return the commands of a discipline below the token bucket."""
    return (f"qdisc add {TBF}", f"qdisc add dev out parent 1: handle 2: {discipline}")


CODEL = {"kind": "codel", "rules": "linux"}
FQ_CODEL = {"kind": "fq_codel", "classify": "flow", "rules": "linux"}
FAST = {"rate": "10 Tbit/s"}
CASES = (
    Case(
        "tbf",
        ("qdisc add dev out root tbf rate 10mbit burst 15140 limit 60000",),
        {"kind": "droptail", "limit": "60 kB", "counts_in_service": True},
        {"rate": RATE, "channel": {**SHAPER, "burst": "15140 B"}},
    ),
    Case("codel", below("codel"), {**CODEL, "limit": "1000 packet"}),
    Case("codel, ECN", below("codel ecn"), {**CODEL, "ecn": True}, ecn=True),
    Case("codel, 1 ms, 20 ms", below("codel target 1ms interval 20ms"),
         {**CODEL, "target": "1 ms", "interval": "20 ms"}),
    Case("fq_codel", below("fq_codel"), FQ_CODEL),
    # The packet that waits for tokens counts against the kernel's limit.
    Case("fq_codel, 100 packets", below("fq_codel limit 100"),
         {**FQ_CODEL, "limit": "99 packet"}),
    Case("fq_codel, ECN", below("fq_codel"), FQ_CODEL, ecn=True),
    Case("cake", ("qdisc add dev out root cake bandwidth 10mbit besteffort",),
         {"kind": "cake", "bandwidth": RATE, "tins": "besteffort"}, FAST),
    Case("cake, ECN", ("qdisc add dev out root cake bandwidth 10mbit besteffort",),
         {"kind": "cake", "bandwidth": RATE, "tins": "besteffort"}, FAST, ecn=True),
    # A timer of 15 ms is one of 4 ticks of 4 ms, and goes off with the tick behind.
    Case("pie", below("pie"),
         {"kind": "pie", "limit": "1000 packet", "update": "20 ms", "derandomise": True},
         random=True),
)  # fmt: skip


def arrivals(seed: int) -> list[tuple[int, int, int]]:
    """Return packets: a flow of 6 Mbit/s, another from 1 to 4 s, small ones, and bursts of 40."""
    draw = random.Random(seed)  # noqa: S311 Not for secrets.
    found: list[tuple[float, int, int]] = []
    seconds = 6.0
    for flow, size, gap, begins, ends in (
        (0, 1514, 2.02e-3, 0.0, seconds),
        (1, 1514, 2.02e-3, 1.0, seconds - 2),
        (2, 300, 5e-3, 0.0, seconds),
    ):
        at = begins
        while (at := at + gap * draw.uniform(0.5, 1.5)) < ends:
            found.append((at, flow, size))
    for n in range(1, int(seconds)):
        found += [(n + draw.random() * 0.1 + 2e-5 * k, 3, 1514) for k in range(40)]
    return sorted((round(at * 1e9), flow, size) for at, flow, size in found)


@dataclass(frozen=True)
class Held:
    """A run of a case.

    Attributes
    ----------
    acted
        The packets that were dropped or marked: by our queue, by the kernel's.
    apart
        Those of which one queue alone did so.
    alike
        The share of packets that left both within a microsecond.
    wait_ms
        The mean time that they took: through our queue, through the kernel's.
    """

    acted: tuple[int, int]
    apart: int
    alike: float
    wait_ms: tuple[float, float]


def held(kernel: Kept, case: Case, seed: int = 1) -> Held:
    """Return how our queue and the kernel's differ with the same packets."""
    sent = arrivals(seed)
    theirs = queueing.departures(kernel, case.tc, sent, ecn=case.ecn, seed=seed)
    packets = [[came, flow, size] for (came, *_), (_, flow, size) in zip(theirs, sent, strict=True)]
    asked = {**case.link, "queue": case.queue, "ecn": case.ecn, "seed": seed, "packets": packets}
    ours: list[tuple[tuple[int, int] | None, bool]]
    ours = json.loads(_core.departures(json.dumps(asked)))
    acted = [
        (one is None or marked, other is None or other_marked)
        for (one, marked), (_, other, other_marked) in zip(ours, theirs, strict=True)
    ]
    # Linux's shaper sends a packet when its time begins, and ours when that ends.
    end = 0 if case.queue["kind"] == "cake" else 1
    both = [(one[end] - came, other - came)
            for (one, _), (came, other, _) in zip(ours, theirs, strict=True)
            if one is not None and other is not None]  # fmt: skip
    return Held(
        (sum(one for one, _ in acted), sum(other for _, other in acted)),
        sum(one != other for one, other in acted),
        sum(abs(one - other) <= 1000 for one, other in both) / len(both),
        (fmean(one for one, _ in both) / 1e6, fmean(other for _, other in both) / 1e6),
    )


def shown(values: Sequence[float], digits: int) -> str:
    """Return the mean, with its interval where there are several runs."""
    found = estimate(list(values))
    ci = f" ± {found.ci:.{digits}f}" if len(values) > 1 and found.ci is not None else ""
    return f"{found.mean:.{digits}f}{ci}"


def main() -> None:
    """Print a row a case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--linux", help="the kernel; default: the newest")
    kernel = kept.one(parser.parse_args().linux)
    print(f"{kernel.manifest.key}, {len(arrivals(1))} packets\n")
    print("| discipline | dropped or marked, ours | Linux | by one alone | departures within 1 us |"
          " mean wait, ours (ms) | Linux |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        runs = [held(kernel, case, seed) for seed in range(1, SEEDS + 1 if case.random else 2)]
        cells = [case.name]
        cells += [shown([run.acted[n] for run in runs], 0) for n in range(2)]
        alone, alike = (str(runs[0].apart), f"{runs[0].alike:.1%}".replace("%", " %"))
        cells += ["", ""] if case.random else [alone, alike]
        cells += [shown([run.wait_ms[n] for run in runs], 2) for n in range(2)]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
