"""The open choices of Altman et al. (1997) as axes, written before the first search.

The simulator REAL is named and not described: its timers, its receivers and its queues are open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.readings import Axis, Budget, Readings, Size
from ackclock_studies.altman1997 import runs
from ackclock_studies.altman1997.analysis import Results, analyse
from ackclock_studies.altman1997.predicates import CLAIMS
from ackclock_studies.altman1997.scenarios import Opened, Plan

AXES = (
    Axis(
        "exogenous",
        "We have carried out simulations for different values of the input parameters",
        "5",
        {
            "as printed": (1.0, math.inf),
            "half": (0.5, math.inf),
            "at most 20": (1.0, 20.0),
            "at most 12": (1.0, 12.0),
            "at most 10": (1.0, 10.0),
            "at most 8": (1.0, 8.0),
        },
        "as printed",
        "published throughputs exceed μ − λ by up to 28 packets/s where λ is above 10, and two "
        "cases that differ in λ alone (50 and 22) have equal values: the simulation sent less",
    ),
    Axis(
        "tick",
        "the expiration of a timer",
        "2",
        {"100 ms": "100 ms", "200 ms": "200 ms", "500 ms": "500 ms"},
        "500 ms",
        "BSD's timers of that time tick each 500 ms; a simulator may have a finer clock",
    ),
    Axis(
        "min_rto",
        "the expiration of a timer",
        "2",
        {"0.2 s": "200 ms", "0.5 s": "500 ms", "1 s": "1 s", "2 s": "2 s"},
        "1 s",
        "BSD has two ticks, which is 1 s; RFC 1122 gives none, and a simulator may have less",
    ),
    Axis(
        "acks",
        "When it receives a packet, the destination TCP sends an acknowledgment (ack) packet",
        "2",
        {"each": "each", "delayed": "delayed"},
        "each",
        "read literally each packet is acknowledged; receivers of that time delayed ACKs",
    ),
    Axis(
        "way_back",
        "the rate at which acknowledgments arrive back at the source",
        "3",
        {"at the links' rates": True, "no time": False},
        "at the links' rates",
        "the model has no queue on the way back; a simulator's links have two directions",
    ),
    Axis(
        "buffer",
        "maximum buffer size",
        "2",
        {"with the packet in service": True, "those that wait": False},
        "with the packet in service",
        "no more is said of B",
    ),
    Axis(
        "source_link",
        "BW_in is not considered in the analytic models",
        "5",
        {"BW_in": False, "no limit": True},
        "BW_in",
        "the tables print BW_in, and the analytic values of case 2.1 need it",
    ),
    Axis(
        "rtt",
        "the average round trip is given by",
        "4",
        {"from transmission": "path_rtt_mean_s", "as the sender times it": "srtt_mean_s"},
        "from transmission",
        "the sender's own timer counts the wait for its link; the model has no such link",
    ),
    Axis(
        "halved",
        "the slow-start threshold is set to half the size of the window",
        "2",
        {"the window": "cwnd", "the flight": "flight_size"},
        "the window",
        "in BSD the window is the less of cwnd and the receiver's; in flight may be less than both",
    ),
    Axis(
        "receive_window",
        "The receive window indicates how much buffer space is available [...] Its size is fixed.",
        "2",
        {"no limit": "1 GiB", "64 kB": "65535 B", "32 packets": "17152 B"},
        "no limit",
        "a window field of 16 bits ends at 64 kB, 122 packets; simulators often have less",
    ),
    Axis(
        "drawn",
        "the fraction of the available throughput used by TCP",
        "3",
        {
            "W_loss and two": "utilisation",
            "W_loss": "utilisation_without_overshoot",
            "with section 4": "utilisation_with_section_4",
        },
        "W_loss and two",
        "the text of Figures 4 and 5 does not say by which formula they are drawn",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Reduced(Plan):
    """The tables' cases with fewer phases and less time; ``first`` is the first phase and seed."""

    size: Size = "short"

    @property
    def seeds(self) -> int:
        """Phases, or seeds, of each case."""
        return 2 if self.size == "short" else 10

    @property
    def warm_up_s(self) -> float:
        """The time before the measurement."""
        return 50.0 if self.size == "short" else 100.0

    @property
    def measured_s(self) -> float:
        """The time that is measured of each case."""
        return 300.0 if self.size == "short" else 1400.0

    @property
    def probe_s(self) -> float:
        """The time of a case that is recorded packet by packet."""
        return 100.0 if self.size == "short" else 400.0

    @property
    def probe_seeds(self) -> int:
        """Runs of each case that are recorded packet by packet."""
        return 1 if self.size == "short" else 5


def opened(values: Mapping[str, Any]) -> Opened:
    """Return the settings of a reading."""
    scale, most_pps = values["exogenous"]
    return Opened(
        exogenous_scale=scale,
        exogenous_most_pps=most_pps,
        tick=values["tick"],
        min_rto=values["min_rto"],
        acks=values["acks"],
        acks_serialised=values["way_back"],
        counts_in_service=values["buffer"],
        fast_source=values["source_link"],
        loss_reduces=values["halved"],
        receive_window=values["receive_window"],
        rtt=values["rtt"],
    )


def parts(values: Mapping[str, Any], size: Size, seed: int) -> tuple[Plan, list[Part]]:
    """Return what the predicates need."""
    plan = Reduced(quick=size == "short", opened=opened(values), first=seed, size=size)
    return plan, runs.judged_parts(plan, 1)


def analysed(plan: Plan, found: Mapping[str, pl.DataFrame], values: Mapping[str, Any]) -> Results:
    """Return the tables; the curves of Figures 4 and 5 are those of the reading's formula."""
    results = analyse(plan, found)
    grid = results["theory_grid"].with_columns(pl.col(values["drawn"]).alias("utilisation"))
    return replace(results, tables={**results.tables, "theory_grid": grid})


READINGS = Readings(
    key="altman1997",
    folder=Path(__file__).parent,
    axes=AXES,
    runs=parts,
    analyse=analysed,
    claims=CLAIMS,
    left_out={"altman-map": "it is ours, and about our theory and our simulation alone"},
    sizes={
        "short": "2 phases or seeds of each case, 300 s measured; 100 s packet by packet, once",
        "long": "the full study: 10 phases or seeds, 1400 s; 400 s packet by packet, five times",
    },
    budget=Budget(samples=1000, best=3, seeds=3, fresh=3),
    code=("runs.py", "runs_bursts.py", "scenarios.py", "analysis.py", "published.csv"),
)
