"""The open choices of Tambuwal and Muhammed (2018) as axes, written before the first search.

The simulation is of ns-2 with PackMime-HTTP and DelayBox; the queue, the timers and the way in
which a load is set are open, and so is whether DelayBox had its defects: ns-2.35's forgets a
connection with the first FIN of either way, loses what is behind it and delays nothing after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.readings import Axis, Budget, Readings, Size
from ackclock.studies.framework.simulation import as_inputs
from ackclock_studies.tambuwal2018.analysis import Results, analyse
from ackclock_studies.tambuwal2018.predicates import CLAIMS
from ackclock_studies.tambuwal2018.runs import run_all
from ackclock_studies.tambuwal2018.scenarios import (
    BEST,
    LONG_LOADS,
    SHARES,
    STANDARD,
    TSL,
    Plan,
    Setting,
)
from ackclock_studies.tambuwal2018.study import draws

CARRIED: Mapping[float, float] = {0.4: 54.8, 0.9: 125.0, 0.98: 138.7}
"""Connections a second by which the study's own search met the loads."""
OFFERED: Mapping[float, float] = {load: 137.0 * load for load in LONG_LOADS}
"""The rate that gives a connection the volume that it has at 40 % (54.8 / 0.4)."""

AXES = (
    Axis(
        "load",
        "Each set of simulations is run with a constant average traffic load",
        "3",
        {"carried": CARRIED, "offered": OFFERED},
        "carried",
        '"link utilisation" is measured, "traffic load" is set: at 98 % they differ',
    ),
    Axis(
        "memory",
        "The Packmime-HTTP traffic generator is used",
        "2.2",
        {"ns-2's": "ns2", "the model's": "long"},
        "ns-2's",
        "ns-2's generators forget after a thousand connections; the published model does not",
    ),
    Axis(
        "http",
        "random request and response size, and number of objects associated to it",
        "2.2",
        {"1.1": "1.1", "1.0": "1.0"},
        "1.1",
        "PackMime has both; without a switch it has one object a connection",
    ),
    Axis(
        "sizes",
        "random request and response size, and number of objects associated to it",
        "2.2",
        {"alike": None, "each drawn": "drawn"},
        "alike",
        "the later responses of a connection are near a size of its own, unless ns-2 is told "
        "no-pm-persistent-rspsz",
    ),
    Axis(
        "delaybox",
        "The delay box models the propagation and queuing delay incurred from the clients",
        "2.3",
        {"sound": False, "ns-2's": True},
        "sound",
        "ns-2.35's forgets a connection's delay with its first FIN; the paper's may be mended",
    ),
    Axis(
        "queue",
        "the single bottleneck, dumbbell topology",
        "2.1",
        {"50 packets": 50, "100 packets": 100, "200 packets": 200},
        "100 packets",
        "ns-2's default is 50; the product at 100 ms is 83",
    ),
    Axis(
        "min_rto",
        "Initial Retransmission Timeout (RTO) 1 Second",
        "2.4",
        {"0.2 s": None, "1 s": "1 s"},
        "0.2 s",
        "ns-2's default is 0.2 s, RFC 6298 has 1 s; the table gives the initial one alone",
    ),
    Axis(
        "after_lost_syn",
        "Initial Retransmission Timeout (RTO) 1 Second",
        "2.4",
        {"1 s": None, "3 s": True},
        "1 s",
        "RFC 6298 takes three seconds for data after a lost SYN; ns-2 does not",
    ),
    Axis(
        "counted",
        "the response times of web connections that experience SYN-ACK loss",
        "3.1",
        {"one SYN-ACK lost": "one", "one or more": "any"},
        "one SYN-ACK lost",
        'response times "do not include the 1-second initial RTO": one loss, or the first of '
        "several",
    ),
)


@dataclass(frozen=True)
class Reduced(Plan):
    """Fewer connections; ``first`` is the first seed."""

    size: Size = "short"
    first: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds."""
        count = 1 if self.size == "short" else 2
        return tuple(range(1 + self.first * count, 1 + (self.first + 1) * count))

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads that the paper's figures show."""
        return LONG_LOADS

    def connections(self, load: float) -> int:
        """Return how many connections a run opens after its warm-up, on average."""
        del load
        return 5_000 if self.size == "short" else 100_000

    @property
    def mixed_connections(self) -> int:
        """Connections of a run with a mixed population."""
        return self.connections(0.4)


def parts(values: Mapping[str, Any], size: Size, seed: int) -> tuple[Plan, list[Part]]:
    """Return what the predicates need, at rates that are not searched for again."""
    plan = Reduced(quick=size == "short", size=size, first=seed)
    rates: Mapping[float, float] = values["load"]
    found: list[Part] = []

    def add(name: str, settings: list[Setting], keys: list[dict[str, Any]]) -> None:
        inputs = [as_inputs([each.scenario() for each in settings]), values["counted"]]
        found.append(
            Part(name, inputs, len(settings), lambda advance: run_all(settings, keys, 1, advance))
        )

    def read(variant: str | Mapping[str, float], load: float, connections: int, n: int) -> Setting:
        return Setting(
            variant, rates[load], connections, n,
            three_seconds=values["after_lost_syn"], memory=values["memory"],
            queue_packets=values["queue"], min_rto=values["min_rto"], http=values["http"],
            counted=values["counted"], later=values["sizes"], delaybox=values["delaybox"],
        )  # fmt: skip

    for n in plan.seeds:
        for load in plan.loads:
            add(
                f"runs-{100 * load:g}-{n}",
                [read(variant, load, plan.connections(load), n) for variant in TSL.values()],
                [
                    {"variant": variant, "load": load, "seed": n, "conn_rate_per_s": rates[load]}
                    for variant in TSL.values()
                ],
            )
        mixed = [share for share in SHARES if share != 0.5]
        add(
            f"mixed-{n}",
            [
                read({STANDARD: 1 - share, BEST: share}, 0.4, plan.mixed_connections, n)
                for share in mixed
            ],
            [{"share": share, "seed": n} for share in mixed],
        )
    return plan, found


def analysed(plan: Plan, found: Mapping[str, pl.DataFrame], values: Mapping[str, Any]) -> Results:
    """Return the tables that predicates read."""
    del values
    return analyse(plan, found, draws())


READINGS = Readings(
    key="tambuwal2018",
    folder=Path(__file__).parent,
    axes=AXES,
    runs=parts,
    analyse=analysed,
    claims=CLAIMS,
    sizes={
        "short": "three loads, 5000 connections a run, one seed, at the study's rates",
        "long": "three loads, 100,000 connections a run, two seeds, at the study's rates",
    },
    budget=Budget(samples=200, fresh=3),
    code=("runs.py", "scenarios.py", "analysis.py"),
)
