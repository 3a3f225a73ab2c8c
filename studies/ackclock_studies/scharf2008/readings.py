"""The open choices of Scharf, Hauger and Kögel (2008) as axes, written before the first search.

The testbed is described; the users of Table I, the routers' buffers, and the kernel after its jump
are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.readings import Axis, Budget, Readings, Size
from ackclock.studies.framework.simulation import as_inputs, simulate, simulated
from ackclock_studies.scharf2008 import runs, scenarios
from ackclock_studies.scharf2008.analysis import Results, analyse
from ackclock_studies.scharf2008.pages import (
    analysis as analysis_pages,
    predicates as predicates_pages,
)
from ackclock_studies.scharf2008.pages.runs import page_times
from ackclock_studies.scharf2008.pages.scenarios import (
    HTTPS,
    LARGE,
    MAIN,
    MODELS,
    STARTUPS,
    Hour,
)
from ackclock_studies.scharf2008.predicates import CLAIMS
from ackclock_studies.scharf2008.scenarios import HIGH_BPS, Opened, Plan, Trace

_SURGE = "we use the well-known “surge” model [17], where most objects are rather small"
_CUSTOM = "We assume a mean object size of 250 kbyte"
_DEFAULTS = "Most other IP and TCP stack parameters were set to their default values"

AXES = (
    Axis(
        "buffer",
        "connected back-to-back with a 100 Mbit/s Ethernet link",
        "IV",
        {"no losses": "lossless", "0.5 BDP": "0.5 BDP", "1 BDP": "1 BDP", "2 BDP": "2 BDP"},
        "no losses",
        "drivers of that time queued 1000 packets, which is 1.2 products at 100 ms",
    ),
    Axis(
        "main",
        "The Linux machines utilize the “Cubic” congestion control variant [15]",
        "IV",
        {"NewReno": "newreno", "CUBIC": "cubic"},
        "NewReno",
        "the study judges Figure 10 by NewReno, to leave CUBIC's details aside",
    ),
    Axis(
        "cubic",
        "The Linux machines utilize the “Cubic” congestion control variant [15]",
        "IV",
        {
            "RFC 9438": "cubic+sack+standard",
            "Linux": "cubic(linux)+sack+standard",
            "Linux, HyStart": "cubic(linux)+sack",
        },
        "RFC 9438",
        "2.6.24 has neither HyStart nor RFC 9438's beta; the patch may have met a later kernel",
    ),
    Axis(
        "after",
        "the handling of the TCP congestion window must be changed if a Quick-Start request is "
        "successful",
        "II.A",
        {"limited slow start": False, "slow start": True},
        "limited slow start",
        "RFC 4782 demands it, and the paper's list of what was changed in the kernel has it not",
    ),
    Axis(
        "acks",
        _DEFAULTS,
        "IV",
        {"each": False, "delayed": True},
        "each",
        "Linux acknowledges each segment at first, and later every second one within 40 ms",
    ),
    Axis(
        "idle",
        "As congestion window validation is enabled",
        "IV",
        {"RFC 2861": "+cwv", "Linux": "+linuxidle", "none": "+noidle"},
        "RFC 2861",
        "said of Figures 7 and 8; of Table I nothing is said",
    ),
    Axis(
        "constants",
        _SURGE,
        "IV",
        {"1998": "surge-1998", "1999": "surge-1999"},
        "1998",
        "the reference and the program that its authors gave away differ in the sizes of pages",
    ),
    Axis(
        "counted",
        _SURGE,
        "IV",
        {"embedded objects": False, "base object too": True},
        "embedded objects",
        "the model's number of \"embedded references\" may be that of all objects of a page",
    ),
    Axis(
        "sizes",
        _SURGE,
        "IV",
        {"of files": "files", "of requests": "requests"},
        "of files",
        "the model has a distribution for the files of the server, and one for what is asked for",
    ),
    Axis(
        "kept",
        "The latter can issue requests using HTTP/1.0, HTTP/1.1, and HTTP/1.1+pipelining",
        "IV",
        {"closed with the page": False, "kept for 5 s": True},
        "closed with the page",
        "lighttpd keeps an idle connection for 5 s; the generator may close it before",
    ),
    Axis(
        "parallel",
        "HTTP/1.0 transfers each object over a new connection with an initial Slow-Start",
        "IV",
        {"4": None, "2": 2, "1": 1},
        "4",
        "browsers of that time opened four, HTTP/1.1 recommends two, a plain program has one",
    ),
    Axis(
        "browser",
        "a modified “surge” load generator",
        "IV",
        {"at once": False, "active OFF times": True},
        "at once",
        "SURGE waits between the objects of a page; what was modified is not said",
    ),
    Axis(
        "large",
        _CUSTOM,
        "IV",
        {"exponential": LARGE, "constant": "250 kB"},
        "exponential",
        "the mean alone is given",
    ),
)  # fmt: skip


def opened(values: Mapping[str, Any]) -> Opened:
    """Return the settings of a reading."""
    return Opened(
        buffer="" if values["buffer"] == "lossless" else values["buffer"],
        cubic=values["cubic"],
        main=values["main"],
        unlimited=values["after"],
        delayed_ack=values["acks"],
        idle=values["idle"],
    )


def parts(values: Mapping[str, Any], size: Size, seed: int) -> tuple[Plan, list[Part]]:
    """Return what the predicates need; what no axis of theirs moves has equal runs."""
    plan = Plan(quick=size == "short")
    read = opened(values)
    transfers = [
        replace(each, opened=replace(read, idle="+cwv"))
        for each in scenarios.transfers()
        if each.growth == "newreno"
        and each.buffer == "lossless"
        and (each.startup, each.ssthresh_rule) in (
            ("slow-start", "unchanged"), ("quick-start", "unchanged")
        )
    ]  # fmt: skip
    found = [simulated(1, "response", transfers, runs.response)]
    frozen = replace(read, idle="+cwv", main="newreno")
    for growth in scenarios.GROWTHS:
        of = frozen if growth == "cubic" else replace(frozen, cubic=Opened().cubic)
        traces = [_seen(each, of) for each in scenarios.traces(plan) if each.growth == growth]
        found.append(simulated(1, f"traces-{growth}", traces, runs.trace))
    return plan, [*found, *_routers(frozen), _flood(plan), *_pages(values, size, seed)]


def _seen(trace: Trace, of: Opened) -> Trace:
    """Return a trace; one that has its rate at once is not watched for longer than is judged."""
    length_s = 6.0 if trace.rate_bps == HIGH_BPS else trace.length_s
    return replace(trace, opened=of, length_s=length_s)


def _routers(of: Opened) -> list[Part]:
    cases = runs.routed()
    texts = [scenarios.downloads(cross=figure == "f8", growth=g, opened=of) for figure, g in cases]
    return [
        Part("routers", as_inputs(texts), len(texts),
             lambda _: runs.decisions(simulate(texts, 1), cases))
    ]  # fmt: skip


def _flood(plan: Plan) -> Part:
    grid = [(slot, history) for history in scenarios.HISTORIES for slot in scenarios.SLOTS_S]
    texts = [scenarios.flood(slot, history, plan.flood_s) for slot, history in grid]
    return Part(
        "flood", as_inputs(texts), len(texts),
        lambda _: runs.granted(simulate(texts, 1), grid, plan.flood_s),
    )  # fmt: skip


def _pages(values: Mapping[str, Any], size: Size, seed: int) -> list[Part]:
    """Return the users of Table I, a part each page model: each is moved by its own axes."""
    seeds, length_s = (2, 300.0) if size == "short" else (2, 3600.0)
    reading = replace(
        MAIN,
        constants=values["constants"],
        sizes=values["sizes"],
        kept=values["kept"],
        connections=values["parallel"],
        active_off=values["browser"],
        counted=values["counted"],
    )
    read = replace(opened(values), main="newreno")
    found: list[Part] = []
    for model in MODELS:
        for http in HTTPS:
            of = replace(reading, sizes="files") if model == "large" else reading
            of = replace(of, kept=False) if http == "1.0" else replace(of, connections=None)
            hours = [
                Hour(
                    of, model, http, startup, each, length_s, read,
                    values["large"] if model == "large" else LARGE,
                )
                for startup in STARTUPS
                for each in range(1 + seed * seeds, 1 + (seed + 1) * seeds)
            ]  # fmt: skip
            found.append(simulated(1, f"pages-{model}-{http}", hours, page_times))
    return found


def analysed(plan: Plan, found: Mapping[str, pl.DataFrame], values: Mapping[str, Any]) -> Results:
    """Return the tables that predicates read."""
    del values

    def joined(name: str) -> pl.DataFrame:
        return pl.concat([frame for part, frame in found.items() if part.startswith(name)])

    whole = {name: found[name] for name in ("response", "routers", "flood")}
    results = analyse(plan, {**whole, "traces": joined("traces-")})
    results.tables["table1"] = analysis_pages.summary(joined("pages-"))
    return results


READINGS = Readings(
    key="scharf2008",
    folder=Path(__file__).parent,
    axes=AXES,
    runs=parts,
    analyse=analysed,
    claims=(*CLAIMS, predicates_pages.CLAIM),
    left_out={
        "scharf-t2": "it measures the time of a machine, which no choice of a scenario moves",
        "scharf-f11": "it measures the time of a machine, which no choice of a scenario moves",
    },
    sizes={
        "short": "rates watched for 60 s, two seeds of 300 s of the users of Table I",
        "long": "rates watched for 420 s, two seeds of an hour of the users of Table I",
    },
    budget=Budget(samples=800, best=3, seeds=2, fresh=3),
    code=("runs.py", "pages/runs.py", "scenarios.py", "pages/scenarios.py", "analysis.py",
          "pages/analysis.py"),
)  # fmt: skip
