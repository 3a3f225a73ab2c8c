"""The costs of Quick-Start for a router and an end point on this machine.

The router forwards packets of 50 bytes in memory (:class:`ackclock.bench.speed.RouterBench`), one
with and one without the function, two batches each in turn, by the processor time of the thread;
what is told is the paired difference, so that a machine that slows down meanwhile slows both. A
router held against another of its own kind says what the method itself makes of nothing. These
numbers alone depend on the machine.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import polars as pl

import ackclock as ac
from ackclock.bench.speed import RouterBench
from ackclock.studies.framework.parts import Advance, Part
from ackclock.studies.framework.simulation import as_inputs
from ackclock_studies.scharf2008 import scenarios
from ackclock_studies.scharf2008.scenarios import SHARES, Plan

BATCH = 10_000
"""Packets of a batch: a slot of a millisecond."""
QUADS = 20
"""Pairs of pairs of batches with the same two routers."""
FEW = 32
"""Packets of the small batches whose times make the distribution: a clock read costs a few."""
SPACING_NS = 100
SLOT_NS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
"""Slots, of virtual time: at 10 million packets/s, from 10,000 packets to 10 million."""


def _time_ns(do: Callable[[], object], clock: Callable[[], int] = time.perf_counter_ns) -> float:
    begin = clock()
    do()
    return clock() - begin


def _middle(values: list[float]) -> tuple[float, float]:
    """Return the median and half the width of its 95 % interval, by order statistics.

    What the machine does meanwhile makes a few batches very slow; a mean would be theirs.
    """
    ordered = sorted(values)
    count = len(ordered)
    reach = 0.98 * math.sqrt(count)
    low = ordered[max(math.floor(count / 2 - reach), 0)]
    high = ordered[min(math.ceil(count / 2 + reach), count - 1)]
    return _median(ordered), (high - low) / 2


Times = tuple[list[float], list[float], list[float]]
"""ns a packet without and with the function, and the difference."""


def _quads(kind: str, share: float, slot_ns: int, seed: int) -> Times:
    """Return what two routers took, an original and one with the function, both new in memory.

    Batches come as A B B A or B A A B, drawn: a machine that slows down or speeds up steadily does
    so to both alike. Where the two lie in memory makes one the faster, too: see :func:`_row`.
    """
    order = random.Random(seed)  # noqa: S311 - which goes first
    kinds = ["ignorant", kind]
    made = [RouterBench(name, share, slot_ns, SPACING_NS, seed) for name in kinds]
    original, changed = made
    for bench in made * 2:
        bench.run(BATCH)
    times: Times = ([], [], [])
    for _ in range(QUADS):
        outer, inner = (original, changed) if order.random() < 0.5 else (changed, original)
        clock = time.thread_time_ns
        moments = [clock()]
        for bench in (outer, inner, inner, outer):
            bench.run(BATCH)
            moments.append(clock())
        outside = (moments[1] - moments[0] + moments[4] - moments[3]) / (2 * BATCH)
        inside = (moments[3] - moments[1]) / (2 * BATCH)
        without, with_it = (outside, inside) if outer is original else (inside, outside)
        for column, value in zip(times, (without, with_it, with_it - without), strict=True):
            column.append(value)
    return times


def _median(values: list[float]) -> float:
    return float(pl.Series(values).median() or 0.0)  # type: ignore[arg-type]


def _row(kind: str, share: float, slot_ns: int, blocks: int) -> dict[str, object]:
    """Return a row of Table II: medians, and the interval of the blocks' own medians."""
    medians: Times = ([], [], [])
    for seed in range(blocks):
        for column, values in zip(medians, _quads(kind, share, slot_ns, seed), strict=True):
            column.append(_median(values))
    without, with_it, differences = medians
    added, half_width = _middle(differences)
    return {
        "router": kind,
        "share": share,
        "slot_s": slot_ns / 1e9,
        "packets_per_s": 1e9 / _median(with_it),
        "ns_per_packet": _median(with_it),
        "original_packets_per_s": 1e9 / _median(without),
        "original_ns_per_packet": _median(without),
        "added_ns": added,
        "added_ci_ns": half_width,
        "pairs": 2 * QUADS * blocks,
        "blocks": blocks,
    }


def router_part(plan: Plan) -> Part:
    """Return Table II: packets/s and ns a packet by the share of requests and the slot."""
    cases = [
        ("ignorant", 0.0, SLOT_NS[-1]),
        *((kind, share, SLOT_NS[-1]) for kind in ("lowering", "admitting") for share in SHARES),
        *(("admitting", 0.5, slot) for slot in SLOT_NS[:-1]),
    ]

    def compute(advance: Advance) -> pl.DataFrame:
        rows = []
        for done, case in enumerate(cases):
            rows.append(_row(*case, plan.blocks))
            advance(done + 1)
        for share in SHARES:
            for kind in ("ignorant", "lowering"):
                bench = RouterBench(kind, share, SLOT_NS[-1], SPACING_NS, 2)
                bench.run(BATCH)
                times = [_time_ns(partial(bench.run, FEW)) / FEW
                         for _ in range(100 * plan.batches)]  # fmt: skip
                of = pl.Series(times)
                rows += [
                    {"router": f"{kind} distribution", "share": share, "quantile": q,
                     "ns_per_packet": float(of.quantile(q) or 0.0)}
                    for q in (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
                ]  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None)

    return Part(
        "router", [*map(list, cases), BATCH, QUADS, plan.blocks, plan.batches], len(cases), compute
    )


ENDPOINTS = {
    "plain": ("", "off"),
    "Quick-Start": (scenarios.quickstart(scenarios.HIGH_BPS, "unchanged"), "off"),
    "paced throughout": ("", "linux"),
}


def endpoint_part(plan: Plan) -> Part:
    """Return what a segment of a download of 30 MB costs, whole simulation and all, by sender."""
    size = 30_000_000
    texts = {}
    for name, (jump, pacing) in ENDPOINTS.items():
        variant = scenarios.GROWTHS["newreno"] + jump
        tcp = replace(scenarios.TCP, pacing=pacing)
        texts[name] = ac.Scenario(
            duration="20 s",
            topology=scenarios.path(0.1),
            flows=[],
            traffic=[scenarios.download(variant, size, tcp=tcp)],
        )

    plain = "plain"
    rounds = max(plan.batches // 6, 8)

    def compute(advance: Advance) -> pl.DataFrame:
        def ns(name: str) -> float:
            run = partial(ac.simulate_many, [texts[name]], threads=1)
            return _time_ns(run, time.process_time_ns) * 1460 / size

        times: dict[str, list[float]] = {name: [] for name in texts}
        added: dict[str, list[float]] = {name: [] for name in texts}
        for done in range(rounds):
            for name in texts:
                if name == plain:
                    continue
                # As with routers: what the machine does steadily it does to both.
                first, second, third, fourth = map(ns, (plain, name, name, plain))
                times[plain].append((first + fourth) / 2)
                times[name].append((second + third) / 2)
                added[name].append((second + third - first - fourth) / 2)
            advance(done + 1)
        rows = []
        for name, found in times.items():
            middle, half_width = _middle(added[name]) if added[name] else (0.0, 0.0)
            rows.append(
                {"sender": name, "ns_per_segment": _median(found), "added_ns": middle,
                 "added_ci_ns": half_width, "runs": 2 * len(found)}
            )  # fmt: skip
        return pl.DataFrame(rows)

    return Part("endpoint", as_inputs(list(texts.values())), rounds, compute)
