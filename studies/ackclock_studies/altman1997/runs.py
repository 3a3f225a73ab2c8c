"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

import ackclock as ac
from ackclock.studies.framework.parts import Advance, Part
from ackclock.studies.framework.reduce import sum_of
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulate
from ackclock_studies.altman1997 import runs_bursts
from ackclock_studies.altman1997.published import Case, Path, cases
from ackclock_studies.altman1997.scenarios import (
    MAP_RANGES,
    MAP_SEED,
    OWN,
    PAYLOAD_BYTES,
    Plan,
    Point,
    Setting,
    flow_probe,
    link_probe,
    map_settings,
    of_seed,
    random_points,
)

TRACED = {"f2": "1.5", "f3": "1.3", "f6": "2.3", "f7": "3.5"}
"""Which case each figure of W(t) shows; the paper names those of figures 6 and 7 alone."""

SOURCES = (2, 4)
SENDERS = ("reno", "newreno")


def measure(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run over the steady window: what TCP and the exogenous traffic got.

    Several flows count together: their throughputs are added, their round-trip times averaged by
    packet. A run that carried more than the bottleneck can is refused.
    """
    flows = tables.flows.filter(pl.col("measure") == "steady").with_columns(
        (pl.col("goodput_bps") / (8 * PAYLOAD_BYTES)).alias("thp_pps")
    )
    flow_rows = (
        flows.with_columns((pl.col("thp_pps") * pl.col(settings[0].opened.rtt)).alias("rtt_s"))
        .group_by("cell", maintain_order=True)
        .agg(
            pl.col("duration_s").first(),
            sum_of(pl.col("thp_pps", "rtt_s")),
            pl.col(
                "segments_sent",
                "segments_retransmitted",
                "timeouts",
                "congestion_events",
                "congestion_events_in_slow_start",
            ).sum(),
        )
        .with_columns(pl.col("rtt_s") / pl.col("thp_pps"))
    )
    sources = tables.sources.filter(pl.col("measure") == "steady").select(
        "cell",
        pl.col("offered_packets").alias("exogenous_offered_packets"),
        pl.col("delivered_packets").alias("exogenous_delivered_packets"),
        pl.col("dropped_packets").alias("exogenous_dropped_packets"),
    )
    links = tables.links.filter(
        pl.col("measure") == "steady",
        pl.col("link") == "bottleneck",
        pl.col("direction") == "forward",
    ).select(
        "cell",
        "utilisation",
        pl.col("dropped_packets").alias("bottleneck_dropped_packets"),
        "queue_delay_mean_s",
    )
    rows = (
        flow_rows.join(sources, on="cell", maintain_order="left")
        .join(links, on="cell", maintain_order="left")
        .sort("cell")
    )
    if rows.height != len(settings):
        msg = f"{rows.height} of {len(settings)} runs have a complete result"
        raise BrokenRunError(msg)
    cycles = pl.col("congestion_events").cast(pl.Int64) - pl.col(
        "congestion_events_in_slow_start"
    ).cast(pl.Int64)
    rows = rows.with_columns(
        pl.when(cycles > 0)
        .then(pl.col("congestion_events") / cycles)
        .otherwise(None)
        .alias("slow_starts_per_cycle"),
        (pl.col("exogenous_dropped_packets") / pl.col("exogenous_offered_packets")).alias(
            "exogenous_loss"
        ),
        (pl.col("exogenous_delivered_packets") / pl.col("duration_s")).alias(
            "exogenous_delivered_pps"
        ),
    )
    _check_capacity(tables, settings)
    return rows.drop("cell", "duration_s")


def _check_capacity(tables: Tables, settings: Sequence[Setting]) -> None:
    """Raise if TCP's throughput and the exogenous packets delivered exceed the bottleneck's rate.

    Over the whole run, where it is exact: what the bottleneck passed is at most μ times the time,
    and what the receivers gave on is at most what it passed of TCP's. A window within the run may
    count data that passed before it and lay at a receiver behind a gap.
    """
    link = tables.links.filter(
        pl.col("link") == "bottleneck", pl.col("direction") == "forward"
    ).select("cell", "measure", "duration_s", pl.col("delivered_packets").alias("passed"))
    whole = pl.col("measure") == "run"
    flows = tables.flows.filter(whole).group_by("cell").agg(pl.col("delivered_bytes").sum())
    sources = tables.sources.filter(whole).group_by("cell").agg(pl.col("delivered_packets").sum())
    for cell, measured, duration, passed in link.iter_rows():
        path = settings[cell].path
        # A few packets of a handshake are shorter than the others.
        if passed > path.mu_pps * duration * (1 + 1e-6) + 3 * settings[cell].sources + 2:
            msg = f"{path}: the bottleneck passed {passed} packets in {duration} s ({measured})"
            raise BrokenRunError(msg)
    rows = link.filter(whole).join(flows, on="cell").join(sources, on="cell")
    for row in rows.iter_rows(named=True):
        given = row["delivered_bytes"] / PAYLOAD_BYTES
        if given + row["delivered_packets"] > row["passed"]:
            msg = (
                f"{settings[row['cell']].path}: {given:.0f} packets of TCP and "
                f"{row['delivered_packets']} exogenous ones, but the bottleneck passed "
                f"{row['passed']}"
            )
            raise BrokenRunError(msg)


def describe(settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run: its path and what was varied."""
    return pl.DataFrame(
        [
            {
                **asdict(setting.path),
                "exogenous": setting.exogenous,
                "variant": setting.variant,
                "queue": setting.queue,
                "sources": setting.sources,
                "seed": setting.seed,
                "exogenous_phase": setting.phase if setting.exogenous == "periodic" else None,
                "measured_s": setting.measured_s,
            }
            for setting in settings
        ],
        schema_overrides={"exogenous_phase": pl.Float64, "buffer_packets": pl.Int64},
    )


def predict(paths: Sequence[Path]) -> list[ac.theory.Altman]:
    """Return the model's predictions."""
    return [ac.theory.altman(**asdict(path)) for path in paths]


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    return [
        *judged_parts(plan, threads),
        _bursts(plan, threads),
        _extra(plan, threads, "fair", _fair_settings(plan)),
        _extra(plan, threads, "sources", _source_settings(plan)),
        _extra(plan, threads, "senders", _sender_settings(plan)),
        *_map(plan, threads),
    ]


def judged_parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return what the paper's own statements are judged by."""
    return [
        *(_table(plan, threads, table) for table in (1, 2, 3)),
        _traces(plan, threads),
        _priority(plan, threads),
    ]


def _part(
    name: str,
    settings: Sequence[Setting],
    compute: Callable[[Advance], pl.DataFrame],
    extra: Any = None,
) -> Part:
    inputs = {"scenarios": [each.scenario().to_dict() for each in settings], "extra": extra}
    rtt = settings[0].opened.rtt
    if rtt != OWN.rtt:
        # It is in no scenario, and decides what a part holds.
        inputs["rtt"] = rtt
    return Part(name, inputs, len(settings), compute)


def _measured(
    threads: int | None, settings: Sequence[Setting], labels: pl.DataFrame
) -> Callable[[Advance], pl.DataFrame]:
    def compute(advance: Advance) -> pl.DataFrame:
        tables = simulate([setting.scenario() for setting in settings], threads, advance)
        rows = measure(tables, settings)
        return pl.concat([labels, describe(settings), rows], how="horizontal")

    return compute


def _labels(found: Iterable[Case]) -> pl.DataFrame:
    return pl.DataFrame(
        [(case.table, case.case) for case in found], schema=["table", "case"], orient="row"
    )


def _table(plan: Plan, threads: int | None, table: int) -> Part:
    pairs = [
        (case, of_seed(case.path, case.exogenous, k, plan))
        for case in cases()
        if case.table == table
        for k in range(plan.seeds)
    ]
    settings = [setting for _, setting in pairs]
    labels = _labels(case for case, _ in pairs)
    return _part(f"table-{table}", settings, _measured(threads, settings, labels))


Settings = list[tuple[Case, Setting]]


def _fair_settings(plan: Plan) -> Settings:
    return [
        (case, of_seed(case.path, case.exogenous, k, plan, queue="fair"))
        for case in cases()
        for k in range(plan.seeds)
    ]


def _source_settings(plan: Plan) -> Settings:
    return [
        (case, of_seed(case.path, case.exogenous, k, plan, sources=count))
        for case in cases()
        if case.table == 1
        for count in SOURCES
        for k in range(plan.seeds)
    ]


def _sender_settings(plan: Plan) -> Settings:
    return [
        (case, of_seed(case.path, case.exogenous, k, plan, variant=variant))
        for case in cases()
        if case.table == 1
        for variant in SENDERS
        for k in range(plan.seeds)
    ]


def _extra(plan: Plan, threads: int | None, name: str, pairs: Settings) -> Part:
    del plan
    settings = [setting for _, setting in pairs]
    labels = _labels(case for case, _ in pairs)
    return _part(name, settings, _measured(threads, settings, labels))


def _traces(plan: Plan, threads: int | None) -> Part:
    """Return W(t) at every change, of the figures' cases."""
    by_label = {case.label: case for case in cases()}
    pairs = [
        (
            by_label[label],
            of_seed(
                by_label[label].path,
                by_label[label].exogenous,
                k,
                plan,
                probes=(flow_probe(),),
            ),
        )
        for label in dict.fromkeys(TRACED.values())
        for k in range(plan.seeds)
    ]
    settings = [setting for _, setting in pairs]

    def compute(advance: Advance) -> pl.DataFrame:
        tables = simulate([setting.scenario() for setting in settings], threads, advance)
        measure(tables, settings)
        labels = _labels(case for case, _ in pairs).with_columns(
            pl.Series("exogenous", [setting.exogenous for setting in settings]),
            pl.Series("variant", [setting.variant for setting in settings]),
            pl.Series("seed", [setting.seed for setting in settings]),
            pl.int_range(len(settings)).alias("cell"),
        )
        samples = tables.flow_samples.select(
            pl.col("cell").cast(pl.Int64), "time_s", "cwnd_segments", "ssthresh_segments"
        )
        return labels.join(samples, on="cell", how="inner", maintain_order="left_right").drop(
            "cell"
        )

    return _part("traces", settings, compute)


def _priority(plan: Plan, threads: int | None) -> Part:
    """Return what leaves a standing queue in congestion avoidance and in slow start."""
    end = plan.warm_up_s + plan.probe_s
    pairs = [
        (
            case,
            of_seed(
                case.path,
                case.exogenous,
                k,
                plan,
                measured_s=plan.probe_s,
                probes=(flow_probe(), link_probe("bottleneck", "1 ms", plan.warm_up_s, end)),
            ),
        )
        for case in cases()
        if case.table == 1
        for k in range(plan.probe_seeds)
    ]
    settings = [setting for _, setting in pairs]

    def compute(advance: Advance) -> pl.DataFrame:
        return _by_case(threads, pairs, advance, runs_bursts.output_rates)

    return _part("priority", settings, compute)


def _bursts(plan: Plan, threads: int | None) -> Part:
    """Return the rate of TCP's packets at the bottleneck in each round of slow start."""
    end = plan.warm_up_s + plan.burst_probe_s
    pairs = [
        (
            case,
            of_seed(
                path,
                case.exogenous,
                k,
                plan,
                measured_s=plan.burst_probe_s,
                probes=(flow_probe(), link_probe("source", "500 us", plan.warm_up_s, end)),
            ),
        )
        for case in cases()
        if case.label in runs_bursts.CASES
        for path in (case.path, runs_bursts.fast_source(case.path))
        for k in range(plan.probe_seeds)
    ]
    settings = [setting for _, setting in pairs]

    def compute(advance: Advance) -> pl.DataFrame:
        return _by_case(threads, pairs, advance, runs_bursts.burst_rates)

    return _part("bursts", settings, compute)


def _by_case(
    threads: int | None,
    pairs: Settings,
    advance: Advance,
    reduce: Callable[[Setting, pl.DataFrame, pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """Simulate a few runs at a time, so that the samples of all need not be held at once."""
    frames: list[pl.DataFrame] = []
    size = 4
    for start in range(0, len(pairs), size):
        batch = pairs[start : start + size]
        settings = [setting for _, setting in batch]
        tables = simulate(
            [setting.scenario() for setting in settings],
            threads,
            lambda count, start=start: advance(start + count),
        )
        measure(tables, settings)
        rows = describe(settings)
        for cell, (case, setting) in enumerate(batch):
            flow = tables.flow_samples.filter(pl.col("cell") == cell)
            link = tables.link_samples.filter(pl.col("cell") == cell)
            reduced = reduce(setting, flow, link)
            labels = pl.concat([_labels([case]), rows[cell]], how="horizontal")
            frames.append(labels.join(reduced, how="cross"))
    return pl.concat(frames)


def _map(plan: Plan, threads: int | None) -> list[Part]:
    """Theory against simulation at random points, in chunks."""
    points = random_points(plan.map_points, plan.map_seeds)
    predictions = predict([point.path for point in points])
    chunks = range(0, len(points), plan.map_chunk)
    return [
        _map_part(
            plan,
            threads,
            number,
            points[start : start + plan.map_chunk],
            [answer.details["cycle_s"] for answer in predictions[start : start + plan.map_chunk]],
        )
        for number, start in enumerate(chunks)
    ]


def _map_part(
    plan: Plan,
    threads: int | None,
    number: int,
    points: Sequence[Point],
    cycles_s: Sequence[float],
) -> Part:
    pairs = [
        (point, setting)
        for point, cycle_s in zip(points, cycles_s, strict=True)
        for setting in map_settings(point, cycle_s, plan)
    ]
    settings = [setting for _, setting in pairs]
    labels = pl.DataFrame({"point": [point.index for point, _ in pairs]})
    return _part(
        f"map-{number:02d}",
        settings,
        _measured(threads, settings, labels),
        extra={"seed": MAP_SEED, "ranges": MAP_RANGES},
    )
