"""Table I: what users of a web browser wait for, with slow start and with Quick-Start.

The paper states the link (100 Mbit/s), the round trip (200 ms), the rate asked for (5.12 Mbit/s), 4
users, an hour, the model of small pages (SURGE) and the mean size of the objects of large ones (250
kB). What it leaves open is a *reading* here; the first is judged, the others are alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import polars as pl

import ackclock as ac
from ackclock.studies.framework.claims import Claim, Observation, PartResult, Predicate
from ackclock.studies.framework.parts import Advance, Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import Tables, as_inputs, simulate
from ackclock.studies.framework.stats import estimate
from ackclock.studies.scharf2008.analysis import Results
from ackclock.studies.scharf2008.scenarios import (
    GROWTHS,
    HIGH_BPS,
    LOW_BPS,
    TCP,
    Plan,
    path,
    quickstart,
)

RTT_S = 0.2
USERS = 4
Http = Literal["1.0", "1.1", "1.1+pipelining"]
HTTPS: tuple[Http, ...] = ("1.0", "1.1", "1.1+pipelining")
MODELS = ("small", "large")
STARTUPS = ("slow-start", "quick-start")
SENDERS: Mapping[str, str] = {
    "slow-start": "",
    "quick-start": quickstart(LOW_BPS, "unchanged"),
    "quick-start, 81.92 Mbit/s": quickstart(HIGH_BPS, "unchanged"),
    "limited slow start": "+limited",
}
"""The last two only where connections are kept, to find out what a request costs there."""
GROWTH = "cubic"
"""The paper's; its Linux had CUBIC."""
LARGE = ac.Exponential("250 kB")
"""Only the mean is stated."""
KEPT = "5 s"
"""Apache's and lighttpd's time for an idle connection."""

#: By model and version of HTTP: slow start and Quick-Start, in s.
PUBLISHED: Mapping[tuple[str, str], tuple[float, float]] = {
    ("small", "1.0"): (0.97, 0.70),
    ("small", "1.1"): (0.65, 0.48),
    ("small", "1.1+pipelining"): (0.62, 0.46),
    ("large", "1.0"): (2.97, 1.47),
    ("large", "1.1"): (1.49, 0.92),
    ("large", "1.1+pipelining"): (1.36, 0.81),
}

_BATCH = 40

NEAR = 0.25
"""A page time is the published one, and a speed-up, within this share."""


@dataclass(frozen=True)
class Reading:
    """A reading of what the paper leaves open."""

    name: str
    constants: Literal["surge-1998", "surge-1999"] = "surge-1998"
    sizes: Literal["files", "requests"] = "files"
    kept: bool = False
    """Connections of HTTP/1.1 are kept for the next page."""
    connections: int | None = None
    """Of a user at a time with HTTP/1.0; 4 by default."""
    active_off: bool = False
    """The browser takes SURGE's time before it asks for an embedded object."""
    counted: bool = False
    """SURGE's number of embedded objects is that of all objects of a page."""


MAIN = Reading("SURGE of 1998")
KEPT_READING = Reading("connections kept", kept=True)
OTHERS = (
    Reading("SURGE of 1999", constants="surge-1999"),
    Reading("sizes of requests", sizes="requests"),
    KEPT_READING,
    Reading("one connection at a time", connections=1),
    Reading("active OFF times", active_off=True),
)
COUNTED = (
    Reading("base object counted", counted=True),
    Reading("base object counted, kept", counted=True, kept=True),
)
"""Made after the first run, to find out why it is not Table I's; no verdict hangs on them."""
READINGS = (MAIN, *OTHERS, *COUNTED)


@dataclass(frozen=True)
class Hour:
    """Four users for some time."""

    reading: Reading
    model: str
    http: Http
    startup: str
    seed: int
    length_s: float

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        growth = GROWTHS[GROWTH]
        if self.startup == "limited slow start":
            growth = growth.replace("+standard", "")
        users = ac.Traffic(
            "users",
            # Silence costs window (RFC 2861), as Linux has it.
            growth + "+cwv" + SENDERS[self.startup],
            arrivals=ac.Periodic("1 /s"),
            app=self._browser(),
            count=USERS,
            tcp=TCP,
            from_node="client",
            to_node="server",
        )
        return ac.Scenario(
            duration=f"{self.length_s:g} s",
            seed=self.seed,
            topology=path(RTT_S),
            flows=[],
            traffic=[users],
        )

    def _browser(self) -> ac.Browser:
        reading = self.reading
        return ac.Browser(
            constants=reading.constants,
            http=self.http,
            sizes=reading.sizes,
            active_off=None if reading.active_off else "0 s",
            size=LARGE if self.model == "large" else None,
            embedded=ac.Values(_one_less()) if reading.counted else None,
            keep_alive=KEPT if reading.kept and self.http != "1.0" else "0 s",
            connections=reading.connections if self.http == "1.0" else None,
        )


def _one_less(alpha: float = 2.43, places: int = 1000) -> list[float]:
    """Return a Pareto number from 1 on, rounded down, less one: its quantiles, equally likely."""
    quantiles = [(n + 0.5) / places for n in range(places)]
    return [math.floor((1 - p) ** (-1 / alpha)) - 1.0 for p in quantiles]


def hours(plan: Plan) -> list[Hour]:
    """Return every run; what another reading does not change is not run again."""
    seeds, length_s = (2, 300.0) if plan.quick else (5, 3600.0)
    found = []
    for reading in READINGS:
        for model in MODELS:
            for http in HTTPS:
                same = (
                    (reading.kept and http == "1.0")
                    or (reading.connections is not None and http != "1.0")
                    or (reading.sizes == "requests" and model == "large")
                )
                if same:
                    continue
                all_senders = reading == KEPT_READING and (model, http) == ("large", "1.1")
                found += [
                    Hour(reading, model, http, startup, seed, length_s)
                    for startup in (SENDERS if all_senders else STARTUPS)
                    for seed in range(1, seeds + 1)
                ]
    return found


def page_times(tables: Tables, settings: Sequence[Hour]) -> pl.DataFrame:
    """Return a row a run: the page times of its four users."""
    labels = pl.DataFrame(
        [
            {
                "cell": cell,
                "reading": s.reading.name,
                "model": s.model,
                "http": s.http,
                "startup": s.startup,
                "seed": s.seed,
            }
            for cell, s in enumerate(settings)
        ]
    )
    took = pl.col("completed_s") - pl.col("requested_s")
    seen = (
        tables.pages.filter(pl.col("completed_s").is_not_null())
        .group_by("cell")
        .agg(
            pl.len().alias("pages"),
            mean_of(pl.col("objects")).alias("objects_per_page"),
            (pl.col("bytes").sum() / pl.col("objects").sum()).alias("bytes_per_object"),
            mean_of(pl.col("connections_opened")).alias("connections_per_page"),
            mean_of(took).alias("page_s"),
            took.median().alias("page_median_s"),
            took.quantile(0.9, "linear").alias("page_p90_s"),
        )
    )
    steps = tables.quick_start.filter(pl.col("link").is_null())
    counts = [
        (pl.col("step") == step).sum().alias(name)
        for step, name in (("asked", "asked"), ("approved", "approved"))
    ]
    requests = steps.group_by("cell").agg(*counts)
    joined = labels.join(seen, on="cell", how="left", maintain_order="left").join(
        requests, on="cell", how="left", maintain_order="left"
    )
    return joined.with_columns(pl.col("asked", "approved").fill_null(0)).drop("cell")


def part(plan: Plan, threads: int | None) -> Part:
    """Return the part that runs the users."""
    settings = hours(plan)

    def compute(advance: Advance) -> pl.DataFrame:
        # In batches: a run leaves some ten thousand objects, of which only the pages are wanted.
        found = []
        for first in range(0, len(settings), _BATCH):
            batch = settings[first : first + _BATCH]
            texts = [hour.scenario() for hour in batch]
            tables = simulate(texts, threads, lambda done, first=first: advance(first + done))
            found.append(page_times(tables, batch))
        return pl.concat(found)

    return Part("pages", as_inputs([hour.scenario() for hour in settings]), len(settings), compute)


def summary(pages: pl.DataFrame) -> pl.DataFrame:
    """Return for each reading, model and version of HTTP the mean page times over the seeds.

    ``speedup`` is the mean over seeds of slow start's page time over Quick-Start's, on the same
    pages; ``saved_s`` their difference; ``_ci``: half the width of the 95 % interval.
    """
    keys = ["reading", "model", "http"]
    slow = pl.col("page_s").filter(pl.col("startup") == "slow-start")
    quick = pl.col("page_s").filter(pl.col("startup") == "quick-start")
    found = []
    for (reading, model, http), here in pages.group_by(keys, maintain_order=True):
        seeds = here.group_by("seed", maintain_order=True).agg(
            slow.first().alias("slow"), quick.first().alias("quick")
        )
        values = {
            "slow_s": seeds["slow"],
            "quick_s": seeds["quick"],
            "speedup": seeds["slow"] / seeds["quick"],
            "saved_s": seeds["slow"] - seeds["quick"],
        }
        row: dict[str, Any] = {"reading": reading, "model": model, "http": http}
        for name, column in values.items():
            over = estimate(column.to_numpy())
            row |= {name: over.mean, f"{name}_ci": over.ci}
        asked = here.filter(pl.col("startup") == "quick-start")
        for name in ("pages", "asked", "approved"):
            row[name] = int(asked[name].sum())
        for name in ("objects_per_page", "bytes_per_object", "connections_per_page"):
            mean: Any = asked[name].mean()
            row[name] = float(mean)
        found.append(row)
    return pl.DataFrame(found)


def cell(results: Results, reading: Reading, model: str, http: str) -> Mapping[str, Any]:
    """Return the row of a cell of Table I; of the main reading where it does not differ."""
    rows = results["table1"].filter(pl.col("model") == model, pl.col("http") == http)
    own = rows.filter(pl.col("reading") == reading.name)
    return (own if own.height else rows.filter(pl.col("reading") == MAIN.name)).row(0, named=True)


def _cells(results: Results, reading: Reading) -> list[tuple[str, str, str, Mapping[str, Any]]]:
    return [
        (f"{model}, HTTP/{http}", model, http, cell(results, reading, model, http))
        for model, http in PUBLISHED
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
        slow, quick = PUBLISHED[model, http]
        found.append(Observation(label, abs(row["speedup"] / (slow / quick) - 1)))
    return found


def _times(reading: Reading, results: Results) -> list[Observation]:
    found = []
    for label, model, http, row in _cells(results, reading):
        for name, published in zip(("slow_s", "quick_s"), PUBLISHED[model, http], strict=True):
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
        f"{least:.1f} s over HTTP/{http} where {PUBLISHED['small', http][1]:.2f} are published"
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
        for (model, http), (slow, quick) in PUBLISHED.items()
    },
    measured=_measured,
    explain=_explain,
    alternatives={reading.name: predicates(reading) for reading in OTHERS},
)
