"""The cost of a law of one's own: Reno built in, in C and in Python, on one scenario in turns.

The scenario is one bulk flow over 100 Mbit/s with a base round trip of 100 ms. All three leave the
same table, which is checked, so that they heard of the same ACKs.
"""

from __future__ import annotations

import gc
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rich.table import Table

from ackclock.laws.own import Growth, get_include, load_law, register_law
from ackclock.runs.api import simulate
from ackclock.runs.run import Run
from ackclock.scenario.flows import Flow
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.topologies import path

__all__ = ["LawCost", "as_table", "measure_laws", "notes"]

#: The parts that the word `reno` brings under the profile rfc.
_PARTS = "partialack+rfc3390"
_BUILT_IN = "reno"


@dataclass(frozen=True)
class LawCost:
    """The cost of a law.

    Attributes
    ----------
    law
        ``built in``, ``C`` or ``Python``.
    ns_per_packet
        CPU time of a run over its data packets, the median.
    ratio
        The same over that of the built-in law in the run before, the median.
    acks_per_s
        Calls of the law's `on_ack` a second of CPU time, all else of the run counted.
    """

    law: str
    ns_per_packet: float
    ratio: float
    acks_per_s: float


def measure_laws(
    *, quick: bool = False, say: Callable[[str], None] = lambda _: None
) -> list[LawCost]:
    """Run Reno built in, in C and in Python in turns, and return the cost of each.

    Without a C compiler there is none in C.
    """
    turns, duration = (3, "20 s") if quick else (9, "60 s")
    laws = {"built in": _BUILT_IN}
    with tempfile.TemporaryDirectory() as folder:
        if _load_c(Path(folder)):
            laws["C"] = "benchc"
        with as_file(files("ackclock") / "examples" / "laws" / "reno.py") as source:
            load_law("benchpy", source)
        laws["Python"] = "benchpy"
        acks = _count(duration)
        times: dict[str, list[float]] = {law: [] for law in laws}
        tables: dict[str, Any] = {}
        packets = 0
        for turn in range(turns):
            for law, word in laws.items():
                say(f"{law}, turn {turn + 1} of {turns}")
                run, taken = _timed(word, duration)
                times[law].append(taken)
                [row] = run.rows("flows")
                tables[law] = row | {"variant": ""}
                packets = int(row["segments_sent"])
        if any(table != tables["built in"] for table in tables.values()):
            raise AssertionError("the same law in other languages left other tables")
    base = times["built in"]
    return [
        LawCost(
            law,
            1e9 * statistics.median(of) / packets,
            statistics.median(one / other for one, other in zip(of, base, strict=True)),
            acks / statistics.median(of),
        )
        for law, of in times.items()
    ]


def _scenario(word: str, duration: str) -> Scenario:
    flow = Flow(f"{word}+{_PARTS}", name="flow")
    return Scenario(path("100 Mbit/s", "100 ms"), [flow], duration=duration, seed=1)


def _timed(word: str, duration: str) -> tuple[Run, float]:
    """Return a run and the CPU time of it, in seconds."""
    scenario = _scenario(word, duration)
    gc.collect()
    before = time.process_time()
    run = simulate(scenario)
    return run, time.process_time() - before


def _count(duration: str) -> int:
    """Return the number of ACKs on which the law is called."""
    calls = [0]

    class Counting(Growth):
        """The law of the example, and a count."""

        def __init__(self) -> None:
            self._law = sys.modules["_ackclock_law_benchpy"].Reno()

        def on_ack(self, ack: Any) -> None:
            calls[0] += 1
            self._call("on_ack", ack)

        def on_congestion(self, congestion: Any) -> None:
            self._call("on_congestion", congestion)

        def on_spurious(self) -> None:
            self._call("on_spurious")

        def _call(self, event: str, *arguments: Any) -> None:
            law = self._law
            law.cwnd_bytes, law.ssthresh_bytes = self.cwnd_bytes, self.ssthresh_bytes
            getattr(law, event)(*arguments)
            self.cwnd_bytes, self.ssthresh_bytes = law.cwnd_bytes, law.ssthresh_bytes

    register_law("benchcount", Counting)
    simulate(_scenario("benchcount", duration))
    return calls[0]


def _load_c(folder: Path) -> bool:
    """Compile and load the example in C; false without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return False
    out = folder / "libreno.so"
    with as_file(files("ackclock") / "examples" / "laws" / "reno.c") as source:
        words = [compiler, "-O2", "-shared", "-fPIC", "-I", get_include(), "-o", out, source]
        subprocess.run(words, check=True)
    load_law("benchc", out)
    return True


def as_table(costs: list[LawCost]) -> Table:
    """Return the costs as a table for a terminal."""
    table = Table(box=None, header_style="bold")
    table.add_column("reno", no_wrap=True)
    for column in ("ns/packet", "ratio", "ACKs/s"):
        table.add_column(column, justify="right", no_wrap=True)
    for cost in costs:
        acks = f"{cost.acks_per_s / 1e6:.2f} M"
        table.add_row(cost.law, f"{cost.ns_per_packet:.0f}", f"{cost.ratio:.2f}", acks)
    return table


def notes(costs: list[LawCost]) -> list[str]:
    """Return what a reader of the table has to know."""
    columns = (
        "One bulk flow over 100 Mbit/s and 100 ms. ns/packet: CPU time of a whole run for each "
        "data packet; ratio: over the built-in law, in turns; ACKs/s: calls of the law a second, "
        "all else of the run counted. The tables of all are the same."
    )
    found = [columns]
    if all(cost.law != "C" for cost in costs):
        found.append("No C compiler (`cc`) is on the PATH, so that there is no law in C.")
    return found
