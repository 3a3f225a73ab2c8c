"""The simulations of the study, each reduced to one row: numbers, and lists for the figures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Advance, Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import BrokenRunError, Tables, as_inputs, simulate
from ackclock_studies.tambuwal2018.scenarios import (
    BEST,
    BOTTLENECK_BPS,
    FTP_FLOWS,
    GUESSES,
    HIGH_RTT_S,
    INITIAL_RTO_S,
    MSS_BYTES,
    OTHER_THRESHOLDS,
    QUIET_LOAD,
    SHARES,
    STANDARD,
    SYN_LOSS,
    THRESHOLD,
    VARIANTS,
    WARM_UP_S,
    Feedback,
    Plan,
    Setting,
)

SHORT_BYTES = (1_000, 50_000)
"""The objects of Figure 4."""

LARGE_BYTES = 20_000
SMALL_BYTES = 3 * MSS_BYTES

QUANTILES = (
    *(n / 100 for n in range(1, 100)),
    *(1 - 10 ** (-n / 10) for n in range(21, 51)),
)
"""Where the distribution of all responses is kept."""

LISTS = {
    "lost_bytes": pl.Int64,
    "lost_rtts": pl.Float32,
    "lost_base_rtt_s": pl.Float32,
    "lost_protocol": pl.String,
    "seconds_plr": pl.Float32,
    "responses_s": pl.Float64,
}
"""The columns that hold a list, of the type given."""


def responses(tables: Tables) -> pl.DataFrame:
    """Return every finished object of the connections that opened after the warm-up.

    A response lasts from the request, of a connection's first object from the opening, to the last
    byte.
    """
    opened = tables.connections.filter(
        pl.col("opened_s") >= WARM_UP_S, pl.col("class").cast(pl.String) == "web"
    ).select(
        "connection",
        "variant",
        "base_rtt_s",
        "lost_synack",
        "lost_syn",
        "synack_retransmits",
        (pl.col("established_s") - pl.col("opened_s")).alias("handshake_s"),
    )
    return (
        tables.objects.filter(
            pl.col("completed_s").is_not_null(), pl.col("flow").cast(pl.String) == "web"
        )
        .select(
            "connection",
            "object",
            "bytes",
            (pl.col("completed_s") - pl.col("requested_s")).alias("response_s"),
        )
        .join(opened, on="connection", how="inner", maintain_order="left")
    )


def _is(variant: str) -> pl.Expr:
    """Return whether a connection has this variant, whose name the core prints with its window."""
    return pl.col("variant").cast(pl.String).str.ends_with(f"+{variant.rpartition('+')[2]}")


def _mean(frame: pl.DataFrame, column: str) -> float | None:
    return frame[column].mean() if frame.height else None  # type: ignore[return-value]


def _quantile(frame: pl.DataFrame, column: str, p: float) -> float | None:
    return frame[column].quantile(p, "linear") if frame.height else None


def loss_by_second(samples: pl.DataFrame) -> pl.Series:
    """Return the share of the packets offered in each second that the queue dropped."""
    counted = samples.sort("time_s").select(
        pl.col("dropped_packets").cast(pl.Int64).diff().alias("dropped"),
        sum(
            pl.col(name).cast(pl.Int64)
            for name in ("dropped_packets", "delivered_flow_packets", "queue_packets")
        )
        .diff()  # type: ignore[union-attr]
        .alias("offered"),
    )
    return counted.filter(pl.col("offered") > 0).select(
        (pl.col("dropped") / pl.col("offered")).alias("plr")
    )["plr"]


def measure(tables: Tables, counted: str = "one") -> dict[str, Any]:
    """Return the row of a run; ``counted`` says which connections lost a SYN-ACK."""
    link = tables.links.filter(pl.col("measure") == "steady", pl.col("direction") == "forward")
    if link.height != 1:
        msg = f"{link.height} rows of the bottleneck after the warm-up, expected one"
        raise BrokenRunError(msg)
    bottleneck = link.row(0, named=True)
    objects = responses(tables)
    connections = tables.connections.filter(
        pl.col("opened_s") >= WARM_UP_S, pl.col("class").cast(pl.String) == "web"
    )
    first = objects.filter(pl.col("object") == 0)
    # Where the round trip is longer than the timeout it may be the second SYN-ACK that is lost,
    # while the first is on its way: nobody waited for that one.
    waited = pl.col("handshake_s") >= INITIAL_RTO_S + pl.col("base_rtt_s") * (1 - 1e-9)
    alone = (pl.col("lost_synack") == 1) & (pl.col("lost_syn") == 0)
    some = alone if counted == "one" else pl.col("lost_synack") >= 1
    lost = first.filter(some, waited).with_columns(
        ((pl.col("response_s") - INITIAL_RTO_S) / pl.col("base_rtt_s")).alias("rtts"),
        (pl.col("response_s") - INITIAL_RTO_S).alias("waited_s"),
    )
    short = lost.filter(pl.col("bytes").is_between(*SHORT_BYTES))
    high = lost.filter(pl.col("base_rtt_s") > HIGH_RTT_S)
    beyond = pl.col("base_rtt_s") > INITIAL_RTO_S
    spurious = first.filter(
        beyond, pl.col("lost_synack") == 0, pl.col("lost_syn") == 0,
        pl.col("synack_retransmits") > 0,
    )  # fmt: skip
    seconds = loss_by_second(tables.link_samples)
    throughput = 8 * bottleneck["delivered_bytes"] / bottleneck["duration_s"]
    small_objects = first.filter(pl.col("bytes").is_between(*SHORT_BYTES))
    return {
        "connections": connections.height,
        "utilisation": throughput / BOTTLENECK_BPS,
        "plr": bottleneck["dropped_packets"] / bottleneck["offered_packets"],
        "throughput_bps": throughput,
        "response_mean_s": _mean(objects, "response_s"),
        "response_p50_s": _quantile(objects, "response_s", 0.5),
        "response_p90_s": _quantile(objects, "response_s", 0.9),
        "response_p99_s": _quantile(objects, "response_s", 0.99),
        "synack_lost_connections": lost.height,
        "synack_lost_response_rtt_mean": _mean(lost, "rtts"),
        "synack_lost_response_rtt_p50": _quantile(lost, "rtts", 0.5),
        "synack_lost_any": first.filter(pl.col("lost_synack") > 0).height,
        "synack_lost_share": connections.select((pl.col("lost_synack") > 0).mean()).item(),
        "ftp_bps": _ftp_bps(tables),
        "standard_share": connections.select(_is(STANDARD).mean()).item(),
        "connections_not_closed": connections.filter(
            ~pl.col("outcome").cast(pl.String).is_in(["closed", "open"])
        ).height,
        "lost_mean_rtts": _mean(lost, "rtts"),
        "lost_mean_s": _mean(lost, "waited_s"),
        "short_mean_rtts": _mean(short, "rtts"),
        **{
            f"short_p{round(100 * p)}_rtts": _quantile(short, "rtts", p)
            for p in (0.5, 0.7, 0.9, 0.99)
        },
        "short_all_mean_s": _mean(small_objects, "response_s"),
        "small_mean_rtts": _mean(lost.filter(pl.col("bytes") <= SMALL_BYTES), "rtts"),
        "large_mean_rtts": _mean(short.filter(pl.col("bytes") > LARGE_BYTES), "rtts"),
        "high_mean_s": _mean(high, "waited_s"),
        "high_p90_s": _quantile(high, "waited_s", 0.9),
        "high_p99_s": _quantile(high, "waited_s", 0.99),
        "high_above_10_s_share": high.select((pl.col("waited_s") > 10).mean()).item(),
        "beyond_1_s_lost_mean_s": _mean(lost.filter(beyond), "response_s"),
        "beyond_1_s_spurious_mean_s": _mean(spurious, "response_s"),
        "plr_peak": seconds.max(),
        "seconds_above_10_percent": (seconds > 0.1).mean(),
        "lost_bytes": lost["bytes"].to_list(),
        "lost_rtts": lost["rtts"].to_list(),
        "lost_base_rtt_s": lost["base_rtt_s"].to_list(),
        "seconds_plr": seconds.to_list(),
        "responses_s": [_quantile(objects, "response_s", p) for p in QUANTILES],
        "lost_protocol": lost["variant"].cast(pl.String).to_list()
        if lost["variant"].n_unique() > 1
        else [],
        **_by_protocol(lost, small_objects),
    }


def _by_protocol(lost: pl.DataFrame, short: pl.DataFrame) -> dict[str, Any]:
    """Return the means of Figure 12, of standard flows and of TSL's."""
    row: dict[str, Any] = {}
    for protocol, name in (("tcp", STANDARD), ("tsl", BEST)):
        mine = _is(name)
        row[f"lost_mean_rtts_{protocol}"] = _mean(lost.filter(mine), "rtts")
        row[f"short_all_mean_s_{protocol}"] = _mean(short.filter(mine), "response_s")
    return row


def run_all(
    settings: Sequence[Setting],
    keys: Sequence[Mapping[str, Any]],
    threads: int | None,
    advance: Advance,
) -> pl.DataFrame:
    """Run settings, two or more at once, and return a row each: its keys, then its numbers."""
    done = 0
    lock = Lock()

    def one(pair: tuple[Setting, Mapping[str, Any]]) -> dict[str, Any]:
        nonlocal done
        setting, key = pair
        row = {**key, **measure(simulate([setting.scenario()], 1), setting.counted)}
        with lock:
            done += 1
            advance(done)
        return row

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        pairs = zip(settings, keys, strict=True)
        # The place of the runs is one of the caller's context.
        futures = [pool.submit(copy_context().run, one, pair) for pair in pairs]
        rows = [future.result() for future in futures]
    lists = {name: pl.List(kind) for name, kind in LISTS.items()}
    return pl.DataFrame(rows, schema_overrides=lists, infer_schema_length=None)


def _ftp_bps(tables: Tables) -> float | None:
    """Return the goodput of the long-lived transfers together, warm-up included."""
    mine = tables.connections.filter(pl.col("class").cast(pl.String) == "ftp")
    if not mine.height:
        return None
    whole = tables.links.filter(pl.col("measure") == "run", pl.col("direction") == "forward")
    return 8 * float(mine["bytes_to_server"].sum()) / float(whole["duration_s"][0])


def _thresholds(rates: Mapping[float, float], others: bool) -> list[tuple[float, list[float]]]:
    """Return the feedback's threshold with all loads, and the ``others`` with the highest two."""
    loads = list(rates)
    high = [load for load in loads if load >= 0.9]
    more = [(threshold, high) for threshold in OTHER_THRESHOLDS] if others else []
    return [(THRESHOLD, loads), *more]


# ---------------------------------------------------------------------------------------- Rates


def search(
    evaluate: Callable[[float], float], target: float, tolerance: float, guess: float
) -> list[tuple[float, float]]:
    """Return (rate, utilisation) pairs, one of them within ``tolerance`` of ``target``.

    A secant search: utilisation rises with the rate, steeply at first and hardly near 1. Each step
    stays between what was too little and what was too much. It also ends where these are within one
    part in two hundred: closer rates differ by what a packet more or less at the beginning does
    to the rest of a run. Raises if twelve steps do not do.
    """
    tried: list[tuple[float, float]] = []
    low, high = 0.0, math.inf
    rate = guess
    for _ in range(12):
        seen = evaluate(rate)
        tried.append((rate, seen))
        if abs(seen - target) <= tolerance:
            return tried
        if seen < target:
            low = max(low, rate)
        else:
            high = min(high, rate)
        if high - low <= 0.005 * rate:
            return tried
        rate = _next(tried, target, low, high)
    msg = f"no rate gives a utilisation of {target} to {tolerance}: {tried}"
    raise BrokenRunError(msg)


def _next(tried: Sequence[tuple[float, float]], target: float, low: float, high: float) -> float:
    """Return the rate to try next: on the secant of the two nearest tries, inside the bracket."""
    nearest = sorted(tried, key=lambda each: abs(each[1] - target))[:2]
    (r0, u0), (r1, u1) = nearest[0], nearest[1] if len(nearest) > 1 else (0.0, 0.0)
    slope = (u0 - u1) / (r0 - r1) if r0 != r1 else 0.0
    rate = r0 + (target - u0) / slope if slope > 0 else math.nan
    if math.isinf(high):
        return min(rate, 2 * low) if rate > low else 1.1 * low
    edge = 0.02 * (high - low)
    inside = low + edge <= rate <= high - edge
    return rate if inside else (low + high) / 2


def rate_part(plan: Plan, load: float, threads: int | None) -> Part:
    """Return the search for a load's rate: the mean over the seeds, with standard TCP.

    Its runs at that rate are standard TCP's runs of the study.
    """

    def compute(advance: Advance) -> pl.DataFrame:
        frames: list[pl.DataFrame] = []

        def evaluate(rate: float) -> float:
            settings = [
                Setting(STANDARD, rate, plan.connections(load), seed) for seed in plan.seeds
            ]
            keys = [
                {"variant": STANDARD, "load": load, "seed": seed, "conn_rate_per_s": rate}
                for seed in plan.seeds
            ]
            offset = sum(frame.height for frame in frames)
            rows = run_all(settings, keys, threads, lambda n: advance(offset + n))
            frames.append(rows)
            return float(rows["utilisation"].mean())  # type: ignore[arg-type]

        search(evaluate, load, plan.tolerance(load), GUESSES[load])
        return pl.concat(frames)

    inputs = [load, plan.tolerance(load), plan.connections(load), plan.seeds, GUESSES[load]]
    return Part(f"rate-{100 * load:g}", inputs, 3 * len(plan.seeds), compute)


def found_rate(search_rows: pl.DataFrame) -> float:
    """Return the rate of a search whose mean utilisation is nearest to the load."""
    means = search_rows.group_by("conn_rate_per_s").agg(
        (mean_of(pl.col("utilisation")) - pl.col("load").first()).abs().alias("off")
    )
    return float(means.sort("off", "conn_rate_per_s")["conn_rate_per_s"][0])


# --------------------------------------------------------------------------------------- Studies


def parts(plan: Plan, rates: Mapping[float, float], threads: int | None) -> list[Part]:
    """Return the runs, in parts that can be kept: one a load and seed, all variants in it."""
    todo: list[Part] = []

    def add(name: str, settings: list[Setting], keys: list[dict[str, Any]]) -> None:
        scenarios = as_inputs([setting.scenario() for setting in settings])
        todo.append(
            Part(
                name,
                [scenarios, keys],
                len(settings),
                lambda advance: run_all(settings, keys, threads, advance),
            )
        )

    for seed in plan.seeds:
        for load, rate in rates.items():
            others = [variant for variant in VARIANTS if variant != STANDARD]
            settings = [Setting(variant, rate, plan.connections(load), seed) for variant in others]
            keys = [
                {"variant": variant, "load": load, "seed": seed, "conn_rate_per_s": rate}
                for variant in others
            ]
            add(f"runs-{100 * load:g}-{seed}", settings, keys)
        rate = rates[0.4]
        add(
            f"feedback-{seed}",
            [
                Setting(Feedback(threshold), rates[load], plan.connections(load), seed)
                for threshold, loads in _thresholds(rates, seed in plan.seeds[:2])
                for load in loads
            ],
            [
                {"threshold": threshold, "load": load, "seed": seed}
                for threshold, loads in _thresholds(rates, seed in plan.seeds[:2])
                for load in loads
            ],
        )
        quiet = rate * QUIET_LOAD / 0.4
        add(
            f"middlebox-{seed}",
            [
                Setting(variant, quiet, plan.beside_connections, seed, syn_loss=SYN_LOSS)
                for variant in VARIANTS
            ],
            [{"variant": variant, "seed": seed} for variant in VARIANTS],
        )
        pairs = [(variant, late) for variant in (STANDARD, BEST) for late in (False, True)]
        add(
            f"rto-{seed}",
            [
                Setting(
                    variant, rate, plan.beside_connections, seed,
                    three_seconds=late,
                )
                for variant, late in pairs
            ],
            [{"variant": variant, "three_seconds": late, "seed": seed} for variant, late in pairs],
        )  # fmt: skip
        add(
            f"ftp-{seed}",
            [
                Setting(variant, rate, plan.beside_connections, seed, ftp=FTP_FLOWS)
                for variant in (STANDARD, BEST)
            ],
            [{"variant": variant, "seed": seed} for variant in (STANDARD, BEST)],
        )
        add(
            f"mixed-{seed}",
            [
                Setting({STANDARD: 1 - share, BEST: share}, rate, plan.mixed_connections, seed)
                for share in SHARES
            ],
            [{"share": share, "seed": seed} for share in SHARES],
        )
    return todo
