"""The open choices of Biswas et al. (2010) as axes, written before the first search.

The simulation is of ns-2, whose timers, window before the silence and restart have switches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.readings import Axis, Budget, Readings, Size
from ackclock.studies.framework.simulation import simulated
from ackclock_studies.biswas2010 import runs, scenarios
from ackclock_studies.biswas2010.analysis import Results, analyse
from ackclock_studies.biswas2010.predicates import CLAIMS
from ackclock_studies.biswas2010.scenarios import CWV, CWV_RTOS, STANDARD, Plan, Setting

AXES = (
    Axis(
        "cwv_rto",
        "When the idle period is less than one RTO (about 0.5 sec in the simulations)",
        "3.1.1",
        {"1 s at least": CWV_RTOS["clamped"], "0.5 s": CWV_RTOS["500 ms"],
         "no minimum": CWV_RTOS["unclamped"]},
        "1 s at least",
        "the text names 0.5 s, Table 1 a minimum of 1 s, and ns-2's estimate at 0.2 s is 0.24 s",
    ),
    Axis(
        "min_rto",
        "Minimum Retransmission Timeout (sec) 1",
        "3.1",
        {"1 s": "1 s", "0.5 s": "500 ms", "0.2 s": "200 ms"},
        "1 s",
        "the text contradicts the table: one RTO is about 0.5 s; 0.2 s is ns-2's own",
    ),
    Axis(
        "standard",
        "An application that is idle for a period greater than the RTO using standard TCP",
        "2",
        {"the timer": STANDARD, "RFC 5681's clock": scenarios.RFC5681,
         "the timer, full windows grow": "newreno+rfc5681(timer,rw=1,full)"},
        "the timer",
        "ns-2 restarts by its timer, and control_increase_ decides whether an unused window grows",
    ),
    Axis(
        "buffer",
        "Router Buffer Size BDP",
        "3.1",
        {"0.5": 0.5, "1": 1.0, "2": 2.0, "50": 50.0},
        "1",
        "the product of which path: that of 2 Mbit/s, or the former one of 100, fifty times it",
    ),
    Axis(
        "capacity",
        "the common path changes from 100 Mb/s to 2 Mb/s",
        "3.1",
        {"2 Mbit/s": 2_000_000, "4 Mbit/s": 4_000_000, "8 Mbit/s": 8_000_000, "stays": None},
        "2 Mbit/s",
        "32 flows of 512 kbit/s need 16 Mbit/s: \"high congestion\" may mean less",
    ),
    Axis(
        "acks",
        "(nothing is said of delayed ACKs)",
        "3.1",
        {"each": False, "delayed": True},
        "each",
        "ns-2's sinks acknowledge each packet unless they are told to delay",
    ),
    Axis(
        "sack",
        "(nothing is said of the TCP's recovery)",
        "3.1",
        {"without": False, "with": True},
        "without",
        "the TCP of Table 1 has no name",
    ),
    Axis(
        "jitter",
        "The interrupt and restart time of each flow was chosen from a uniform random distribution",
        "3.1",
        {"none": 0.0, "10 ms": 0.01},
        "none",
        "sources that send in step lock onto one another; ns-2's CBR has random_",
    ),
    Axis(
        "measured",
        "The performance is measured over 5 RTT following an idle period",
        "3.1",
        {"as stated": None, "5 RTT": 5, "10 RTT": 10, "20 RTT": 20},
        "as stated",
        "\"several RTTs\" in the limited case, and a monitor of 5 or 10 in the tables",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Reduced(Plan):
    """Fewer seeds; ``first`` is the first of them."""

    size: Size = "short"
    first: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of every setting."""
        count = 2 if self.size == "short" else 10
        return tuple(range(1 + self.first * count, 1 + (self.first + 1) * count))

    @property
    def flows(self) -> tuple[int, ...]:
        """The numbers of flows that share the path."""
        return (4, 16, 32) if self.size == "short" else scenarios.FLOWS


JUDGED = (STANDARD, CWV)
IDLES_S = (0.5, 1.5, 5.0)
LIMITED_S = 5.0


def parts(values: Mapping[str, Any], size: Size, seed: int) -> tuple[Plan, list[Part]]:
    """Return what the predicates need: standard TCP and CWV alone."""
    plan = Reduced(quick=size == "short", size=size, first=seed)

    def of(settings: Sequence[Setting]) -> list[Setting]:
        return [read(each, values) for each in settings if set(each.variants) <= set(JUDGED)]

    idle = [each for each in of(scenarios.idle(plan)) if each.period_s in IDLES_S]
    limited = [each for each in of(scenarios.limited(plan)) if each.period_s == LIMITED_S]
    # Figure 8 is judged on the path that stays.
    delays = [each for each in of(scenarios.delays(plan)) if each.changed_bps is None]
    return plan, [
        simulated(1, "traces", of(scenarios.traces(plan)), runs.trace),
        simulated(1, "idle", idle, runs.restart),
        simulated(1, "long", of(scenarios.long_path(plan)), runs.restart),
        simulated(1, "limited", limited, runs.restart),
        simulated(1, "delay", delays, runs.delay),
    ]


def read(setting: Setting, values: Mapping[str, Any]) -> Setting:
    """Return a setting under a reading, with the names by which predicates find it."""
    return replace(
        setting,
        senders=((STANDARD, values["standard"]), (CWV, values["cwv_rto"])),
        min_rto=values["min_rto"],
        buffer_bdp=values["buffer"],
        # The paths of Figures 1 and 8 stay.
        changed_bps=None if setting.changed_bps is None else values["capacity"],
        delayed_ack=values["acks"],
        sack=values["sack"],
        jitter_s=values["jitter"],
        measured_rtts=values["measured"],
    )


def analysed(plan: Plan, found: Mapping[str, pl.DataFrame], values: Mapping[str, Any]) -> Results:
    """Return the tables that predicates read."""
    del values
    return analyse(plan, found)


READINGS = Readings(
    key="biswas2010",
    folder=Path(__file__).parent,
    axes=AXES,
    runs=parts,
    analyse=analysed,
    claims=CLAIMS,
    sizes={
        "short": "4, 16 and 32 flows, 2 seeds",
        "long": "all numbers of flows, ten seeds",
    },
    budget=Budget(samples=1000),
    code=("runs.py", "scenarios.py", "analysis.py"),
)
