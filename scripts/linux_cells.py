#!/usr/bin/env python3
"""Hold the simulation against Linux in virtual time, and print docs/validation/linux-cells.md.

``linux_cells.py run FILE [--linux KERNEL] [--set NAME] [--threads N]`` appends one JSON line a run
to FILE and goes on where it stopped; ``linux_cells.py table FILE`` prints the tables of all kernels
in it, and how many cells agree.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

import ackclock as ac
from ackclock.base.estimates import estimate
from ackclock.linux import kept

LAWS = (
    *("reno", "cubic", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp"),
    *("nv", "scalable", "vegas", "veno", "westwood", "yeah", "bbr1"),
)
#: The bounds of agreement: shares of goodput and of segments sent again, and a number of these.
GOODPUT, AGAIN, AGAIN_LEAST = 0.03, 0.25, 20.0
#: The verdicts, the worst first; ``not told`` is where intervals reach into the bounds.
VERDICTS = ("**no**", "not told", "yes")
#: Runs of a cell in which something is random, each with a seed of its own.
SEEDS = 5


@dataclass(frozen=True)
class Cell:
    """A path and its flows.

    Attributes
    ----------
    of
        The table that it stands in.
    name
        The cell, in words.
    path
        The keys of the path.
    flows
        The keys of each flow.
    duration
        The time that is run.
    random
        True if the seed decides something of the path.
    more
        Other tables of the scenario.
    """

    of: str
    name: str
    path: dict[str, Any]
    flows: tuple[dict[str, Any], ...] = ({"variant": "cubic"},)
    duration: str = "10 s"
    random: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    def scenario(self, hz: int) -> ac.Scenario:
        """Return the scenario, with ends as those of a kernel of so many ticks a second."""
        tcp = {} if hz == 250 else {"clock_granularity": f"{1000 / hz:g} ms"}
        flows = [
            {"name": f"f{n}", "profile": "linux", **each, "tcp": {**tcp, **each.get("tcp", {})}}
            for n, each in enumerate(self.flows)
        ]
        path = {"kind": "path", **self.path}
        return ac.Scenario.from_dict(
            {"duration": self.duration, "topology": path, "flow": flows, **self.more}
        )


def cells() -> Iterator[Cell]:
    """Yield every cell."""
    for rate, rtt, bdps, law in product((20, 100), (40, 100), (0.5, 1, 2), ("reno", "cubic")):
        path = {"rate": f"{rate} Mbit/s", "rtt": f"{rtt} ms", "buffer": f"{bdps} BDP"}
        path |= {"reverse": {"rate": "1 Gbit/s"}}
        name = f"{law}, {rate} Mbit/s, {rtt} ms, {bdps} BDP"
        yield Cell("grid", name, path, ({"variant": law},), "30 s")
    for law in LAWS:
        path = {"rate": "20 Mbit/s", "rtt": "60 ms", "buffer": "0.5 BDP"}
        # CDG draws its back-offs, and LP reads timestamps, to which Linux adds a random number.
        random = law in ("cdg", "lp")
        yield Cell("laws", law, path, ({"variant": law},), random=random)
    path = {"rate": "20 Mbit/s", "rtt": "40 ms"}
    ecn = {"ecn": "on"}
    for name, queue, tcp, random in (
        ("codel", {"kind": "codel"}, {}, False),
        ("codel, ECN", {"kind": "codel", "ecn": True}, ecn, False),
        ("fq_codel", {"kind": "fq_codel"}, {}, False),
        ("pie", {"kind": "pie"}, {}, True),
        ("red", {"kind": "red", "limit": "200 packet", "min_th": "20 packet",
                 "max_th": "60 packet"}, {}, True),
        ("cake", {"kind": "cake"}, {}, False),
        ("drop-tail, 20 packets", {"kind": "droptail", "limit": "20 packet"}, {}, False),
        ("drop-tail, from the head", {"kind": "droptail", "limit": "50 packet", "drop": "head"},
         {}, False),
        ("policer", {"kind": "policer", "rate": "15 Mbit/s", "burst": "64 kB"}, {}, False),
        ("step of 30 packets, ECN", {"kind": "droptail", "limit": "400 packet",
                                     "mark": "30 packet"}, ecn, False),
    ):  # fmt: skip
        for law in ("cubic", "reno") if name in ("codel", "pie") else ("cubic",):
            flow = {"variant": law, "tcp": tcp}
            yield Cell("queues", f"{name}, {law}", {**path, "queue": queue}, (flow,), random=random)
    for name, keys, random in (
        ("loss 0.1 %", {"loss": 0.001}, True),
        ("loss 1 %", {"loss": 0.01}, True),
        ("loss of every 500th", {"loss": {"every": 500}}, False),
        ("bursts of losses", {"loss": {"to_bad": 0.0005, "to_good": 0.3}}, True),
        ("jitter up to 5 ms", {"jitter": {"kind": "uniform", "most": "5 ms"}}, True),
        ("1 % late by 40 ms", {"reorder": {"share": 0.01, "delay": "40 ms"}}, True),
        ("1 % twice", {"duplicate": 0.01}, True),
        ("every 4th ACK", {"reverse": {"ack_thinning": {"every": 4}}}, False),
        ("ACKs held for 10 ms", {"reverse": {"aggregation": {"kind": "hold", "time": "10 ms"}}},
         False),
        ("a shaper", {"channel": {"kind": "shaper", "burst": "64 kB", "peak": "100 Mbit/s"}},
         False),
        ("off for 1 s in 5", {"outage": {"on": "4 s", "off": "1 s", "periodic": True}}, False),
    ):  # fmt: skip
        yield Cell("paths", name, {**path, **keys}, random=random)
    path = {"rate": "10 Mbit/s", "rtt": "40 ms"}
    later = {"start": {"uniform": ["1 s", "3 s"]}}
    for one, other in (
        *(("cubic", "cubic"), ("reno", "reno"), ("cubic", "reno"), ("bbr1", "cubic")),
        ("vegas", "reno"),
    ):
        flows = ({"variant": one}, {"variant": other, **later})
        yield Cell("two flows", f"{one}, then {other}", path, flows, "20 s", random=True)


def outcome(run: ac.Run) -> dict[str, Any]:
    """Return what is compared: of each flow goodput, segments sent, and segments sent again."""
    rows = [row for row in run.rows("flows") if row["measure"] == "run"]
    return {
        "goodput_bps": [row["goodput_bps"] for row in rows],
        "sent": [row["segments_sent"] for row in rows],
        "again": [row["segments_retransmitted"] for row in rows],
        "valid": run.live is None or run.live["valid"],
    }


def run(file: Path, linux: str | None, of: str | None, threads: int) -> None:
    """Add the runs of a kernel, and those of the simulation beside it, that FILE lacks."""
    kernel = kept.one(linux).manifest
    place = f"{kernel.version} at {kernel.hz}"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    there = {(line["on"], line["of"], line["cell"], line["seed"]) for line in lines}
    writing = Lock()
    with file.open("a") as out:

        def one(on: str, cell: Cell, seed: int) -> None:
            scenario = cell.scenario(kernel.hz)
            if on == "linux":
                made = ac.run(scenario, on="linux", linux=kernel.key, seed=seed)
            else:
                made = ac.run(scenario, seed=seed)
            where = place if on == "linux" else f"sim at {kernel.hz}"
            told = {"on": where, "of": cell.of, "cell": cell.name, "seed": seed, **outcome(made)}
            with writing:
                print(json.dumps(told), file=out, flush=True)
                print(*list(told.values())[:-1], flush=True)

        with ThreadPoolExecutor(threads) as pool:
            waits = [
                pool.submit(one, on, cell, seed)
                for cell in cells()
                if of is None or cell.of == of
                for seed in range(1, SEEDS + 1 if cell.random else 2)
                for on, where in (("sim", f"sim at {kernel.hz}"), ("linux", place))
                if (where, cell.of, cell.name, seed) not in there
            ]
            for wait in waits:
                wait.result()


def verdict(sim: list[list[float]], linux: list[list[float]], share: float, least: float) -> str:
    """Return whether the means of each flow are as near as they must be, with their intervals.

    A flow of one run each has none: nothing in it is random.
    """
    told = set()
    for ours, theirs in zip(sim, linux, strict=True):
        one, other = estimate(ours), estimate(theirs)
        apart, most = abs(one.mean - other.mean), max(share * abs(other.mean), least)
        spread = math.hypot(one.ci or 0.0, other.ci or 0.0)
        told.add("yes" if apart <= most else "**no**" if apart - spread > most else "not told")
    return next(word for word in VERDICTS if word in told)


def shown(values: list[list[float]], factor: float, digits: int) -> str:
    """Return the mean of each flow, with its interval where there are several runs."""
    told = []
    for each in values:
        found = estimate(each)
        ci = f" ± {found.ci * factor:.{digits}f}" if found.ci and math.isfinite(found.ci) else ""
        told.append(f"{found.mean * factor:.{digits}f}{ci}")
    return "; ".join(told)


def table(file: Path) -> None:
    """Print the tables of the kernels in FILE."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for place in sorted({line["on"] for line in lines if not line["on"].startswith("sim")}):
        ours = f"sim {place.partition(' ')[2]}"
        counted: dict[str, int] = {}
        for of in dict.fromkeys(cell.of for cell in cells()):
            print(f"\n### {place}: {of}\n")
            print("| cell | goodput, simulated | Linux | sent again, simulated | Linux | agrees |")
            print("| --- | --- | --- | --- | --- | --- |")
            for cell in (each for each in cells() if each.of == of):
                here = [x for x in lines if (x["of"], x["cell"]) == (of, cell.name)]
                sides = [[x for x in here if x["on"] == on] for on in (ours, place)]
                if not all(sides):
                    continue
                values = {
                    key: [[list(column) for column in zip(*(x[key] for x in side), strict=True)]
                          for side in sides]
                    for key in ("goodput_bps", "again")
                }  # fmt: skip
                (rates, theirs), (again, again_there) = values["goodput_bps"], values["again"]
                both = (
                    verdict(rates, theirs, GOODPUT, 0.0),
                    verdict(again, again_there, AGAIN, AGAIN_LEAST),
                )
                said = next(word for word in VERDICTS if word in both)
                counted[said] = counted.get(said, 0) + 1
                cols = [shown(side, 1e-6, 3) for side in values["goodput_bps"]]
                cols += [shown(side, 1, 1 if cell.random else 0) for side in values["again"]]
                print("|", " | ".join([cell.name, *cols, said]), "|")
        print(f"\n{place}: {counted}")


def main() -> None:
    """Run or print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--linux")
    parser.add_argument("--set", dest="of", choices=list(dict.fromkeys(c.of for c in cells())))
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if given.what == "run":
        run(given.file, given.linux, given.of, given.threads)
    else:
        table(given.file)


if __name__ == "__main__":
    sys.exit(main())
