"""The statement on Table I, and the predicates that judge it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.pages.scenarios import HTTPS, MAIN, MODELS, OTHERS, RTT_S, Reading
from ackclock_studies.scharf2008.published import TABLE_1

NEAR = 0.25
"""A page time is the published one, and a speed-up, within this share."""


def cell(results: Results, reading: Reading, model: str, http: str) -> Mapping[str, Any]:
    """Return the row of a cell of Table I; of the main reading where it does not differ."""
    rows = results["table1"].filter(pl.col("model") == model, pl.col("http") == http)
    own = rows.filter(pl.col("reading") == reading.name)
    return (own if own.height else rows.filter(pl.col("reading") == MAIN.name)).row(0, named=True)


def _cells(results: Results, reading: Reading) -> list[tuple[str, str, str, Mapping[str, Any]]]:
    return [
        (f"{model}, HTTP/{http}", model, http, cell(results, reading, model, http))
        for model, http in TABLE_1
    ]


def _saved(reading: Reading, results: Results) -> list[Observation]:
    """Return what Quick-Start saves at the least: the lower end of the interval."""
    return [
        Observation(label, row["saved_s"] - (row["saved_s_ci"] or 0.0))
        for label, _model, _http, row in _cells(results, reading)
    ]


def _most(reading: Reading, results: Results) -> list[Observation]:
    best = cell(results, reading, "large", "1.0")["speedup"]
    return [
        Observation(label, best / row["speedup"])
        for label, model, http, row in _cells(results, reading)
        if (model, http) != ("large", "1.0")
    ]


def _ordered(reading: Reading, results: Results) -> list[Observation]:
    found = []
    for model in MODELS:
        for startup in ("slow_s", "quick_s"):
            times = [cell(results, reading, model, http)[startup] for http in HTTPS]
            found += [
                Observation(f"{model}, {startup[:-2]}, HTTP/{http}", before / after)
                for http, before, after in zip(HTTPS[1:], times, times[1:], strict=False)
            ]
    return found


def _gains(reading: Reading, results: Results) -> list[Observation]:
    found = []
    for label, model, http, row in _cells(results, reading):
        slow, quick = TABLE_1[model, http]
        found.append(Observation(label, abs(row["speedup"] / (slow / quick) - 1)))
    return found


def _times(reading: Reading, results: Results) -> list[Observation]:
    found = []
    for label, model, http, row in _cells(results, reading):
        for name, published in zip(("slow_s", "quick_s"), TABLE_1[model, http], strict=True):
            found.append(Observation(f"{label}, {name[:-2]}", abs(row[name] / published - 1)))
    return found


def predicates(reading: Reading) -> tuple[Predicate[Results], ...]:
    """Return what Table I and the text beside it say, of one reading."""
    return (
        Predicate(
            "faster",
            "Quick-Start shortens pages in every case",
            "page time saved",
            ">",
            0.0,
            partial(_saved, reading),
            unit="s",
        ),
        Predicate(
            "most",
            "most with HTTP/1.0 and large objects",
            "speed-up there over that elsewhere",
            ">=",
            1.0,
            partial(_most, reading),
        ),
        Predicate(
            "ordered",
            "HTTP/1.0 takes longer than HTTP/1.1, and that than pipelining",
            "page time over that of the version before",
            ">",
            1.0,
            partial(_ordered, reading),
        ),
        Predicate(
            "gain",
            "the speed-ups are those of Table I",
            "off it",
            "<=",
            NEAR,
            partial(_gains, reading),
            100.0,
            "%",
        ),
        Predicate(
            "times",
            "the page times are those of Table I",
            "off it",
            "<=",
            NEAR,
            partial(_times, reading),
            100.0,
            "%",
        ),
    )


def _explain(_results: Results, parts: tuple[PartResult, ...]) -> str:
    if all(part.holds for part in parts):
        return ""
    bounds = {"1.0": 4 * RTT_S, "1.1+pipelining": 3 * RTT_S}
    below = ", ".join(
        f"{least:.1f} s over HTTP/{http} where {TABLE_1['small', http][1]:.2f} are published"
        for http, least in bounds.items()
    )
    return (
        "On new connections a page with an embedded object takes its round trips whatever the "
        f"sender, {below}: the paper's pages must often have a single object, or its connections "
        "of HTTP/1.1 outlive a page."
    )


def _measured(results: Results) -> dict[str, Any]:
    return {
        label: {"ss": round(row["slow_s"], 3), "qs": round(row["quick_s"], 3)}
        for label, _model, _http, row in _cells(results, MAIN)
    }


CLAIM: Claim[Results] = Claim(
    "scharf-t1",
    "With 5.12 Mbit/s requests pages of four users take 0.97, 0.65 and 0.62 s with slow start and "
    "0.70, 0.48 and 0.46 s with Quick-Start over HTTP/1.0, HTTP/1.1 and pipelining where objects "
    "are small, and 2.97, 1.49, 1.36 and 1.47, 0.92, 0.81 s where they have 250 kB on average; "
    "HTTP/1.0 and large objects gain most.",
    predicates(MAIN),
    published=lambda _r: {
        f"{model}, HTTP/{http}": {"ss": slow, "qs": quick}
        for (model, http), (slow, quick) in TABLE_1.items()
    },
    measured=_measured,
    explain=_explain,
    alternatives={reading.name: predicates(reading) for reading in OTHERS},
)
