"""The predicates of Figures 4, 6, 7, 8 and Table I on real packets, through the kernel's TCP.

They are those of the simulation where the path carries the same, with its tolerances, and were
written before the first run of the live part that they judge.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.base.claims import Observation, Predicate
from ackclock.base.estimates import estimate
from ackclock_studies.scharf2008.pages.predicates import NEAR
from ackclock_studies.scharf2008.predicates import AT_ONCE, SLOW_START_S
from ackclock_studies.scharf2008.published import TABLE_1
from ackclock_studies.scharf2008.scenarios import HIGH_BPS, LINK_BPS

SLOW, LOW, HIGH = "kernel, CUBIC", "kernel, 5.12 Mbit/s", "kernel, 81.92 Mbit/s"
"""The ways to begin that are judged."""
TRACES, DOWNLOADS, PAGES = "Figures 4 and 6", "downloads", "pages"
NEAR_LINK = 0.95
"""The share of the link's rate at which slow start is over, headers and all."""


def _live(rows: pl.DataFrame, kind: str, way: str) -> pl.DataFrame:
    return rows.filter(pl.col("on") == "live", pl.col("kind") == kind, pl.col("way") == way)


def _at_once(rows: pl.DataFrame) -> list[Observation]:
    found = []
    for (rtt_ms,), here in _live(rows, TRACES, HIGH).group_by("rtt_ms", maintain_order=True):
        early = here.filter(pl.col("number") == 0).sort("since_request_s").head(4)
        rates = early["rate_bps"].to_list()[1:4]
        found.append(Observation(f"{rtt_ms} ms", max(rates, default=float("nan")) / HIGH_BPS))
    return found


def _slow(rows: pl.DataFrame) -> list[Observation]:
    found = []
    for (rtt_ms,), here in _live(rows, TRACES, SLOW).group_by("rtt_ms", maintain_order=True):
        full = here.filter(pl.col("rate_bps") >= NEAR_LINK * LINK_BPS)
        # Later than the run's end, if it was not reached.
        reached = full["since_request_s"].min() or here["since_request_s"].max()
        found.append(Observation(f"{rtt_ms} ms", float(reached)))  # pyright: ignore[reportArgumentType]
    return found


def _grants(case: str, wanted: Sequence[float], rows: pl.DataFrame) -> list[Observation]:
    here = _live(rows, DOWNLOADS, HIGH).filter(pl.col("case") == case).sort("number", "request")
    return [
        Observation(
            f"request {row['request'] + 1}",
            abs((row["approved_bps"] or 0) / 1e6 - wanted[row["request"] % len(wanted)])
            if row["approved_bps"] is not None
            else float("nan"),
        )
        for row in here.iter_rows(named=True)
    ]


def page_times(rows: pl.DataFrame, case: str, way: str) -> list[float]:
    """Return the page times of a way over a version of HTTP, live."""
    here = _live(rows, PAGES, way).filter(pl.col("case") == case)
    return [took for took in here["took_s"] if took is not None]


VERSIONS = {"HTTP/1.0": "1.0", "HTTP/1.1": "1.1"}


def _mean(rows: pl.DataFrame, case: str, way: str) -> float:
    return estimate(page_times(rows, case, way)).mean


def _saved(rows: pl.DataFrame) -> list[Observation]:
    """Return what Quick-Start saves at the least: the lower end of the interval."""
    found = []
    for case in VERSIONS:
        pairs = zip(page_times(rows, case, SLOW), page_times(rows, case, LOW), strict=False)
        saved = estimate([slow - quick for slow, quick in pairs])
        found.append(Observation(case, saved.mean - (saved.ci or 0.0)))
    return found


def _speedup(rows: pl.DataFrame, case: str) -> float:
    return _mean(rows, case, SLOW) / _mean(rows, case, LOW)


def _gains(rows: pl.DataFrame) -> list[Observation]:
    found = []
    for case, http in VERSIONS.items():
        slow, quick = TABLE_1["large", http]
        found.append(Observation(case, abs(_speedup(rows, case) / (slow / quick) - 1)))
    return found


def _times(rows: pl.DataFrame) -> list[Observation]:
    found = []
    for case, http in VERSIONS.items():
        for way, published in zip((SLOW, LOW), TABLE_1["large", http], strict=True):
            off = abs(_mean(rows, case, way) / published - 1)
            found.append(Observation(f"{case}, {way.removeprefix('kernel, ')}", off))
    return found


def _most(rows: pl.DataFrame) -> list[Observation]:
    ratio = _speedup(rows, "HTTP/1.0") / _speedup(rows, "HTTP/1.1")
    return [Observation("HTTP/1.0 over HTTP/1.1", ratio)]


def _ordered(rows: pl.DataFrame) -> list[Observation]:
    return [
        Observation(
            way.removeprefix("kernel, "),
            _mean(rows, "HTTP/1.0", way) / _mean(rows, "HTTP/1.1", way),
        )
        for way in (SLOW, LOW)
    ]


PREDICATES: dict[str, tuple[Predicate[pl.DataFrame], ...]] = {
    "Figures 4 and 6": (
        Predicate(
            "at-once",
            "the rate asked for is there at once",
            "rate of the first round trips over the one asked for",
            ">=",
            AT_ONCE,
            _at_once,
            100.0,
            "%",
        ),
        Predicate(
            "slow",
            "slow start takes a second",
            "time to the link's rate",
            ">=",
            SLOW_START_S,
            _slow,
            unit="s",
        ),
    ),
    "Figure 7": (
        Predicate(
            "grants",
            "all three requests get 81.92 Mbit/s",
            "largest difference",
            "<=",
            0.0,
            lambda rows: _grants("Figure 7", (81.92, 81.92, 81.92), rows),
            unit="Mbit/s",
        ),
    ),
    "Figure 8": (
        Predicate(
            "grants",
            "the requests get 40.96, 81.92 Mbit/s and nothing",
            "largest difference",
            "<=",
            0.0,
            lambda rows: _grants("Figure 8", (40.96, 81.92, 0.0), rows),
            unit="Mbit/s",
        ),
    ),
    "Table I, large objects": (
        Predicate(
            "faster", "Quick-Start shortens pages", "page time saved", ">", 0.0, _saved, unit="s"
        ),
        Predicate(
            "most", "most with HTTP/1.0", "speed-up there over that elsewhere", ">=", 1.0, _most
        ),
        Predicate(
            "ordered",
            "HTTP/1.0 takes longer than HTTP/1.1",
            "page time over that of HTTP/1.1",
            ">",
            1.0,
            _ordered,
        ),
        Predicate(
            "gain", "the speed-ups are those of Table I", "off it", "<=", NEAR, _gains, 100.0, "%"
        ),
        Predicate(
            "times", "the page times are those of Table I", "off it", "<=", NEAR, _times, 100.0, "%"
        ),
    ),
}
"""By what of the paper they are about."""
