"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulated
from ackclock_studies.laws import scenarios
from ackclock_studies.laws.published import start
from ackclock_studies.laws.scenarios import (
    BESIDE,
    BY_LOSS,
    MSS_BYTES,
    PACKET_BYTES,
    PAYLOAD_BYTES,
    RAMP_AT_S,
    RAMP_SHARE,
    RAMP_TO,
    Plan,
    Response,
    Shared,
)

CONVERGED = 0.8
"""The share of an even division that the late flow has to reach (RFC 5166 §2.5: δ-fair)."""
SMOOTHED_S = 5.0
"""The time over which its throughput is averaged for that."""
LOW_PACKETS = 2.5
"""The window below which LEDBAT++ is slowed down: it has two packets then."""


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    windows = {period: {law: start(law, 1 / period) for law in BY_LOSS} for period in plan.periods}
    return [
        *(
            simulated(threads, f"response-{period}",
                      scenarios.response(plan, period, windows[period]), _windows)
            for period in plan.periods
        ),
        simulated(threads, "hybla", scenarios.hybla(plan), _windows),
        *(
            simulated(threads, f"random-{rate:g}", scenarios.random_losses(plan, rate), _flows)
            for rate in plan.loss_rates
        ),
        simulated(threads, "delay", scenarios.alone(plan), _flows),
        *(
            simulated(threads, f"beside-{other}", scenarios.beside(plan, other), _flows)
            for other in BESIDE
        ),
        simulated(threads, "fairness", scenarios.pairs(plan), _converging),
        simulated(threads, "rtt", scenarios.unequal(plan), _flows),
        simulated(threads, "ramp", scenarios.ramps(plan), _ramping),
        simulated(threads, "growth", scenarios.growth(), _windows_over_time),
        simulated(threads, "slowdowns", scenarios.slowdowns(), _windows_over_time),
    ]  # fmt: skip


def _samples(tables: Tables) -> pl.DataFrame:
    """Return the samples of flows, with the number of the run as an integer."""
    return tables.flow_samples.select(
        pl.col("cell").cast(pl.Int64),
        "time_s",
        "flow",
        pl.col("cwnd_segments").alias("window_packets"),
        pl.col("acked_bytes").cast(pl.Int64),
    )


def _windows(tables: Tables, settings: Sequence[Response]) -> pl.DataFrame:
    """Return one row a run: the mean window over the second half of what was sent.

    A run is refused in which something other than its losses held the sender back.
    """
    dropped = tables.links.filter(pl.col("measure") == "run").group_by("cell").agg(
        pl.col("dropped_packets").sum(), pl.col("queue_delay_mean_s").max()
    ).sort("cell")  # fmt: skip
    samples = _samples(tables)
    rows = []
    for cell, setting in enumerate(settings):
        mine = samples.filter(pl.col("cell") == cell)
        size = setting.losses * setting.period * MSS_BYTES
        half = mine.filter(pl.col("acked_bytes") >= size // 2)
        under_way = half.filter(pl.col("acked_bytes") < size)
        path = dropped.row(cell, named=True)
        where = f"{setting.law}, one in {setting.period}, {setting.rtt_ms} ms"
        largest = float(under_way["window_packets"].max() or 0)  # type: ignore[arg-type]
        reasons = {
            "the flow did not end": half.height == under_way.height,
            "too few samples": under_way.height < 10,
            "the queue dropped packets": path["dropped_packets"] > 0,
            "packets waited": path["queue_delay_mean_s"] > 0.02 * setting.rtt_ms / 1e3,
            "the receive window was near": 2 * largest * MSS_BYTES > setting.receive_window_bytes,
        }
        for reason, given in reasons.items():
            if given:
                msg = f"{where}: {reason}"
                raise BrokenRunError(msg)
        first, last = under_way.row(0, named=True), under_way.row(-1, named=True)
        packets = (last["acked_bytes"] - first["acked_bytes"]) / MSS_BYTES
        rounds = (last["time_s"] - first["time_s"]) / (setting.rtt_ms / 1e3)
        rows.append(
            {
                "law": setting.law,
                "rtt_ms": setting.rtt_ms,
                "period": setting.period,
                "window_packets": packets / rounds,
                "cycle_rtts": setting.period * rounds / packets,
            }
        )
    return pl.DataFrame(rows)


def _described(settings: Sequence[Shared]) -> pl.DataFrame:
    """Return one row a run: what was varied."""
    return pl.DataFrame(
        [
            {
                "cell": cell,
                "law": each.law,
                "loss": each.loss,
                "buffer_bdp": each.buffer_bdp,
                "seed": each.seed,
                "rate_bps": 1e6 * (each.step_to_mbps or each.rate_mbps),
            }
            for cell, each in enumerate(settings)
        ]
    )


def _flows(tables: Tables, settings: Sequence[Shared]) -> pl.DataFrame:
    """Return one row a run over the steady time: goodputs, and what the bottleneck saw."""
    steady = pl.col("measure") == "steady"
    cell = pl.col("cell").cast(pl.Int64)
    goodputs = tables.flows.filter(steady).select(cell, "flow", "goodput_bps")
    wide = goodputs.pivot("flow", index="cell", values="goodput_bps", maintain_order=True)
    if "flow2" not in wide.columns:
        wide = wide.with_columns(pl.lit(None, dtype=pl.Float64).alias("flow2"))
    link = tables.links.filter(
        steady, pl.col("link") == "bottleneck", pl.col("direction") == "forward"
    ).select(
        cell, "utilisation", "queue_delay_mean_s", "queue_delay_p99_s",
        (pl.col("dropped_packets") / pl.col("offered_packets")).alias("drop_share"),
    )  # fmt: skip
    found = (
        _described(settings)
        .join(wide, on="cell", how="left", maintain_order="left")
        .join(link, on="cell", how="left", maintain_order="left")
        .rename({"flow1": "goodput_bps", "flow2": "other_bps"})
    )
    if found["goodput_bps"].null_count():
        msg = "a run has no complete result"
        raise BrokenRunError(msg)
    return found.drop("cell")


def _converging(tables: Tables, settings: Sequence[Shared]) -> pl.DataFrame:
    """Return the same with the seconds of the late flow to its share; null if it never had it."""
    rates = _rates(tables)
    found = _flows(tables, settings)
    took = []
    for cell, setting in enumerate(settings):
        late = setting.flows[1][2]
        each = [
            rates.filter(pl.col("cell") == cell, pl.col("flow") == f"flow{n}").sort("time_s")
            for n in (1, 2)
        ]
        both = each[0].join(
            each[1], on="time_s", how="inner", suffix="_late", maintain_order="left"
        )
        window = max(1, round(SMOOTHED_S / setting.sample_s))
        share = both.select(
            "time_s",
            (2 * pl.col("rate_bps_late") / (pl.col("rate_bps") + pl.col("rate_bps_late")))
            .rolling_mean(window)
            .alias("share"),
        ).filter(pl.col("time_s") >= late, pl.col("share") >= CONVERGED)
        took.append(None if share.is_empty() else share["time_s"][0] - late)
    return found.with_columns(pl.Series("converged_s", took, dtype=pl.Float64))


def _rates(tables: Tables) -> pl.DataFrame:
    """Return the rate at which each flow's data was acknowledged, between its samples."""
    key = ["cell", "flow"]
    return (
        _samples(tables)
        .sort("cell", "flow", "time_s", maintain_order=True)
        .with_columns(
            (8 * pl.col("acked_bytes").diff().over(key) / pl.col("time_s").diff().over(key)).alias(
                "rate_bps"
            )
        )
        .drop_nulls("rate_bps")
    )


def _ramping(tables: Tables, settings: Sequence[Shared]) -> pl.DataFrame:
    """Return the same with the seconds from the step to most of the new rate."""
    rates = _rates(tables)
    enough = RAMP_SHARE * RAMP_TO * 1e6 * PAYLOAD_BYTES / PACKET_BYTES
    took = []
    for cell in range(len(settings)):
        smooth = rates.filter(
            pl.col("cell") == cell, pl.col("time_s") > RAMP_AT_S
        ).with_columns(pl.col("rate_bps").rolling_mean(10))  # fmt: skip
        there = smooth.filter(pl.col("rate_bps") >= enough)
        took.append(None if there.is_empty() else there["time_s"][0] - RAMP_AT_S)
    return _flows(tables, settings).with_columns(pl.Series("took_s", took, dtype=pl.Float64))


def _windows_over_time(tables: Tables, settings: Sequence[Response | Shared]) -> pl.DataFrame:
    """Return the window over time of the only run."""
    return _samples(tables).select(
        pl.lit(settings[0].law).alias("law"), "time_s", "window_packets", "acked_bytes"
    )
