"""Beyond the paper: requests that nobody means, and requests that nobody checks.

*Flood*: the 200 requests a second of Figure 9, none of them used, beside an honest client's
downloads: what is left for those who mean it. *Crowd*: clients who all ask and all use it, with
routers that approve everything and with routers that admit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

import ackclock as ac
from ackclock.report.page import Cell, Sheet
from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock.studies.framework.stats import estimate
from ackclock.studies.scharf2008.analysis import Results
from ackclock.studies.scharf2008.scenarios import (
    FLOOD_PER_S,
    GROWTHS,
    HIGH_BPS,
    LOW_BPS,
    Plan,
    Router,
    download,
    path,
    quickstart,
    router,
)

RTT_S = 0.1
SIZE = 1_000_000
SECONDS = 60.0
FIRST_S = 5.0
"""The flood has begun by then."""
CROWD_PER_S = 6.0
"""Downloads a second: 48 Mbit/s of 100."""
HONEST_PER_S = 0.5
ROUTERS: dict[str, Router] = {
    "D 1 s, H 2": router(1.0, 2),
    "D 0.2 s, H 2": router(0.2, 2),
    "target": ac.Admission("target"),
}
"""The paper's defaults, those of its Figures 7 and 8, and RFC 4782's algorithm."""
ALL = "approves all"


@dataclass(frozen=True)
class Abuse:
    """Downloads of 1 MB over router 1."""

    case: str
    """``quiet`` and ``flood`` have one client at a time, ``crowd`` many."""
    router: str
    startup: str
    seed: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        crowd = self.case == "crowd"
        asks = quickstart(HIGH_BPS, "unchanged") if self.startup == "quick-start" else ""
        often = ac.Poisson(f"{CROWD_PER_S:g} /s")
        honest = replace(
            download(GROWTHS["newreno"] + asks, SIZE),
            name="honest",
            start=f"{FIRST_S:g} s",
            stop=f"{SECONDS - 10:g} s",
            arrivals=often if crowd else ac.Periodic(f"{HONEST_PER_S:g} /s"),
        )
        false = replace(
            download(GROWTHS["newreno"] + quickstart(LOW_BPS, "unchanged"), 1),
            name="flood",
            arrivals=ac.Periodic(f"{FLOOD_PER_S} /s"),
        )
        first = ROUTERS.get(self.router, "approve")
        return ac.Scenario(
            duration=f"{SECONDS:g} s",
            seed=self.seed,
            topology=path(RTT_S, first=first, buffer="1 BDP" if crowd else "lossless"),
            flows=[],
            traffic=[honest, false] if self.case == "flood" else [honest],
        )


def abuses(plan: Plan) -> list[Abuse]:
    """Return every run."""
    ways = [("quiet", ALL, "slow-start")]
    ways += [(case, name, "quick-start") for case in ("quiet", "flood") for name in ROUTERS]
    ways += [("crowd", ALL, "slow-start"), ("crowd", ALL, "quick-start")]
    ways += [("crowd", name, "quick-start") for name in ROUTERS]
    seeds = range(1, 3 if plan.quick else 11)
    return [Abuse(*way, seed) for way in ways for seed in seeds]


def outcomes(tables: Tables, settings: Sequence[Abuse]) -> pl.DataFrame:
    """Return a row a run: response times, what the honest were approved, what was dropped."""
    labels = pl.DataFrame(
        [
            {"cell": n, "case": s.case, "router": s.router, "startup": s.startup, "seed": s.seed}
            for n, s in enumerate(settings)
        ]
    )
    opened = tables.connections.filter(pl.col("class") == "honest")
    took = (
        tables.objects.filter(pl.col("flow") == "honest")
        .join(opened, on=["cell", "connection"], maintain_order="left")
        .with_columns((pl.col("completed_s") - pl.col("established_s")).alias("response_s"))
        .group_by("cell")
        .agg(
            pl.len().alias("downloads"),
            mean_of(pl.col("response_s")),
            pl.col("response_s").quantile(0.95, "linear").alias("response_p95_s"),
        )
    )
    decided = tables.quick_start.filter(
        pl.col("flow") == "honest", pl.col("link") == "first", pl.col("direction") == "forward"
    )
    approved = decided.group_by("cell").agg(
        mean_of(pl.col("approved_bps") == HIGH_BPS).alias("whole"),
        mean_of(pl.col("approved_bps") == 0).alias("refused"),
        mean_of(pl.col("approved_bps")).alias("approved_bps"),
    )
    dropped = (
        tables.links.filter(pl.col("measure") == "run", pl.col("direction") == "forward")
        .group_by("cell")
        .agg((pl.col("dropped_packets").sum() / pl.col("offered_packets").max()).alias("dropped"))
    )
    joined = labels
    for more in (took, approved, dropped):
        joined = joined.join(more, on="cell", how="left", maintain_order="left")
    return joined.drop("cell")


def part(plan: Plan, threads: int | None) -> Part:
    """Return the part that runs them."""
    return simulated(threads, "abuse", abuses(plan), outcomes)


_CASE = {"quiet": "alone", "flood": "beside a flood", "crowd": "many"}


def sheet(results: Results) -> Sheet:
    """Return what the honest have of it."""
    rows = results["abuse"]
    found = []
    for (case, name, startup), here in rows.group_by(
        "case", "router", "startup", maintain_order=True
    ):
        asks = startup == "quick-start"
        response = estimate(here["response_s"].to_numpy())
        late = estimate(here["response_p95_s"].to_numpy())
        found.append(
            (
                Cell(_CASE[str(case)]),
                Cell(str(name) if asks else "–"),
                Cell("Quick-Start" if asks else "slow start"),
                Cell(_share(here["whole"]) if asks and name != ALL else "–"),
                Cell(_share(here["refused"]) if asks and name != ALL else "–"),
                Cell(f"{response.mean:.2f} ± {response.ci or 0:.2f}"),
                Cell(f"{late.mean:.2f} ± {late.ci or 0:.2f}"),
                Cell(f"{100 * estimate(here['dropped'].to_numpy()).mean:.2f} %"),
            )
        )
    return Sheet(
        key="abuse",
        label="Requests that nobody means, and requests that nobody checks",
        caption=(
            "Downloads of 1 MB at 100 ms, requests for 81.92 Mbit/s. Alone and beside the flood: "
            "one each two seconds, no losses; many: 48 Mbit/s of them, buffers of 1 BDP. Means "
            "over seeds of the mean and of the 95th percentile, and their 95 % intervals."
        ),
        heads=(
            "downloads", "router 1", "sender", "approved whole", "refused", "response, s",
            "95th, s", "dropped",
        ),
        rows=tuple(found),
        data=("abuse",),
    )  # fmt: skip


def _share(column: pl.Series) -> str:
    return f"{100 * estimate(column.to_numpy()).mean:.0f} %"
