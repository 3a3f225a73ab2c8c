"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

import ackclock as ac
from ackclock.studies.framework.parts import Advance, Part
from ackclock.studies.framework.simulation import BrokenRunError, Tables, as_inputs, simulate
from ackclock_studies.scharf2008 import runs_costs, scenarios
from ackclock_studies.scharf2008.abuse import runs as runs_abuse
from ackclock_studies.scharf2008.beyond import runs as runs_beyond
from ackclock_studies.scharf2008.pages import runs as runs_pages
from ackclock_studies.scharf2008.scenarios import Attack, Plan, Trace, Transfer

PACKET_BITS = 12_000


def response(tables: Tables, settings: Sequence[Transfer]) -> pl.DataFrame:
    """Return a row a transfer: from the request on the open connection to the last byte.

    The client asks as soon as the connection is open to it.
    """
    opened = tables.connections.select("cell", "established_s")
    done = tables.objects.select("cell", "completed_s")
    rows = opened.join(done, on="cell").sort("cell")
    if rows.height != len(settings) or rows["completed_s"].null_count():
        msg = f"{rows.drop_nulls().height} of {len(settings)} transfers ended"
        raise BrokenRunError(msg)
    return pl.DataFrame(
        [
            {
                "rtt_s": s.rtt_s,
                "size_bytes": s.size_bytes,
                "growth": s.growth,
                "buffer": s.buffer,
                "startup": s.startup,
                "ssthresh_rule": s.ssthresh_rule,
                "seed": s.seed,
                "window": s.window,
                "response_s": row["completed_s"] - row["established_s"],
            }
            for s, row in zip(settings, rows.iter_rows(named=True), strict=True)
        ]
    )


def trace(tables: Tables, settings: Sequence[Trace]) -> pl.DataFrame:
    """Return the rate at which packets reach the client, averaged over each round trip.

    Times count from the client's request, and are the ends of the intervals.
    """
    labels = pl.DataFrame(
        [
            {
                "cell": cell,
                "rtt_s": s.rtt_s,
                "growth": s.growth,
                "asked_bps": s.rate_bps,
                "ssthresh_rule": s.ssthresh_rule,
            }
            for cell, s in enumerate(settings)
        ]
    )
    opened = tables.connections.select("cell", "established_s")
    samples = tables.link_samples.filter(pl.col("direction") == "forward").sort("cell", "time_s")
    arrived = pl.col("delivered_flow_packets").diff().over("cell") * PACKET_BITS
    span = pl.col("time_s").diff().over("cell")
    return (
        labels.join(samples, on="cell", how="left", maintain_order="left_right")
        .join(opened, on="cell", maintain_order="left")
        .with_columns((arrived / span).alias("rate_bps"))
        .with_columns((pl.col("time_s") - pl.col("established_s")).alias("since_request_s"))
        .filter(pl.col("since_request_s") > 0)
        .select("rtt_s", "growth", "asked_bps", "ssthresh_rule", "since_request_s", "rate_bps")
    )


def routed() -> list[tuple[str, str]]:
    """Return the runs of Figures 7 and 8: figure and growth law."""
    return [(figure, growth) for figure in ("f7", "f8") for growth in scenarios.GROWTHS]


def decisions(tables: Tables, cases: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Return a row a step of a request, and a row a slot of each link, by figure and growth.

    ``what`` is ``step`` or ``carried``: of the latter ``measured_bps`` is what the link carried.
    """
    labels = pl.DataFrame(
        [
            {"cell": n, "figure": figure, "growth": growth}
            for n, (figure, growth) in enumerate(cases)
        ]
    )
    steps = tables.quick_start.with_columns(pl.lit("step").alias("what")).select(
        "cell", "what", "time_s", "link", "step", "asked_bps", "approved_bps", "measured_bps",
        "reserved_bps",
    )  # fmt: skip
    samples = tables.link_samples.filter(pl.col("direction") == "forward").sort(
        "cell", "link", "time_s"
    )
    packets = pl.col("delivered_flow_packets") + pl.col("delivered_cross_packets")
    each = ("cell", "link")
    carried = samples.with_columns(
        pl.lit("carried").alias("what"),
        (packets.diff().over(each) * PACKET_BITS / pl.col("time_s").diff().over(each)).alias(
            "measured_bps"
        ),
    ).select("cell", "what", "time_s", "link", "measured_bps")
    return labels.join(
        pl.concat([steps, carried.drop_nulls()], how="diagonal"),
        on="cell",
        maintain_order="left_right",
    ).drop("cell")


def granted(tables: Tables, grid: Sequence[tuple[float, int]], seconds: float) -> pl.DataFrame:
    """Return a row a (slot, history): what was granted a second, and (q − u)/(D·H)."""
    rows = tables.quick_start.filter(pl.col("link") == "first", pl.col("direction") == "forward")
    found = []
    for cell, (slot_s, history) in enumerate(grid):
        # Whole histories, after the first.
        period = slot_s * history
        until = period * (seconds // period)
        here = rows.filter(
            pl.col("cell") == cell, pl.col("time_s") >= period, pl.col("time_s") < until
        )
        carried: Any = here["measured_bps"].mean()
        found.append(
            {
                "slot_s": slot_s,
                "history": history,
                "requests_per_s": here.height / (until - period),
                "granted_bps_per_s": float(here["approved_bps"].sum()) / (until - period),
                "ceiling_bps_per_s": (scenarios.LINK_BPS - float(carried)) / period,
            }
        )
    return pl.DataFrame(found)


def concluded(tables: Tables, settings: Sequence[Attack]) -> pl.DataFrame:
    """Return a row an attack: what the sender concluded."""
    steps = tables.quick_start.filter(pl.col("link").is_null(), pl.col("step") != "asked")
    last = steps.group_by("cell").agg(pl.col("step").first(), pl.col("approved_bps").first())
    labels = pl.DataFrame(
        [
            {"cell": n, "who": s.who, "steps": s.steps, "seed": s.seed}
            for n, s in enumerate(settings)
        ]
    )
    joined = labels.join(last, on="cell", how="left", maintain_order="left")
    return joined.rename({"step": "concluded"}).drop("cell")


Reduce = Callable[[Tables], pl.DataFrame]


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates and measures, in the order in which it runs."""

    def part(name: str, runs: list[ac.Scenario], reduce: Reduce) -> Part:
        def compute(advance: Advance) -> pl.DataFrame:
            return reduce(simulate(runs, threads, advance))

        return Part(name, as_inputs(runs), len(runs), compute)

    transfers, windows = scenarios.transfers(), scenarios.windows()
    traces, attacks = scenarios.traces(plan), scenarios.attacks(plan)
    grid = [(slot, history) for history in scenarios.HISTORIES for slot in scenarios.SLOTS_S]
    return [
        part("response", [s.scenario() for s in transfers], lambda t: response(t, transfers)),
        part("windows", [s.scenario() for s in windows], lambda t: response(t, windows)),
        part("traces", [s.scenario() for s in traces], lambda t: trace(t, traces)),
        part(
            "routers",
            [scenarios.downloads(cross=figure == "f8", growth=g) for figure, g in routed()],
            lambda t: decisions(t, routed()),
        ),
        part(
            "flood",
            [scenarios.flood(slot, history, plan.flood_s) for slot, history in grid],
            lambda t: granted(t, grid, plan.flood_s),
        ),
        part("attacks", [s.scenario() for s in attacks], lambda t: concluded(t, attacks)),
        runs_abuse.part(plan, threads),
        runs_pages.part(plan, threads),
        *runs_beyond.parts(plan, threads),
        runs_costs.router_part(plan),
        runs_costs.endpoint_part(plan),
    ]
