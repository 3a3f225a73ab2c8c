"""A package that answers at once, so that the framework is tested without a simulation.

Its numbers come from theorem 3.1 and a little deterministic noise: plausible, not true.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, Self

import polars as pl
import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.runs.run import TABLES
from ackclock_studies.altman1997 import model


class FakeCore:
    """The functions of the package that studies call, which it replaces while it is entered."""

    def __init__(self, interrupt_at: int | None = None, leak: int = 0) -> None:
        self.interrupt_at = interrupt_at
        self.leak = leak
        self.calls = 0
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> Self:
        self._patch.setattr(ac, "__version__", "0.0.0-fake")
        self._patch.setattr(ac, "simulate_many", self.simulate_many)
        self._patch.setattr(ac.theory, "altman", _altman)
        self._patch.setattr(ac.theory, "infer", _infer)
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.undo()

    def simulate_many(
        self,
        scenarios: Iterable[ac.Scenario],
        *,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Any:
        del threads
        self.calls += 1
        if self.interrupt_at == self.calls:
            raise KeyboardInterrupt
        tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        for cell, scenario in enumerate(scenarios):
            _run(cell, json.loads(scenario.to_json()), self.leak, tables)
            if progress is not None:
                progress(cell + 1)
        frames = {
            name: pl.DataFrame(pl.from_arrow(pa.Table.from_pylist(rows, schema=SCHEMAS.get(name))))
            for name, rows in tables.items()
        }
        return SimpleNamespace(to_polars=lambda: frames)


SCHEMAS = {
    "objects": pa.schema(
        [("cell", pa.int64()), ("flow", pa.string()), ("connection", pa.int64()),
         ("object", pa.int64()), ("bytes", pa.int64()), ("requested_s", pa.float64()),
         ("first_byte_s", pa.float64()), ("completed_s", pa.float64())]
    ),
    "flow_samples": pa.schema(
        [("cell", pa.int64()), ("time_s", pa.float64()), ("flow", pa.string()),
         ("cwnd_segments", pa.float64()), ("ssthresh_segments", pa.float64())]
    ),
    "link_samples": pa.schema(
        [("cell", pa.int64()), ("time_s", pa.float64()), ("link", pa.string()),
         ("direction", pa.string()), ("queue_packets", pa.int64()),
         ("delivered_flow_packets", pa.int64()), ("delivered_cross_packets", pa.int64())]
    ),
}  # fmt: skip


def _altman(**asked: Any) -> ac.theory.Altman:
    answer = _predict(asked)
    return ac.theory.Altman(
        throughput_pps=answer["throughput_pps"],
        rtt_s=answer["rtt_s"],
        slow_starts_per_cycle=answer["slow_starts_per_cycle"],
        validity=ac.theory.Validity(answer["valid"], ()),
        details=answer,
    )


def _infer(parameter: Any, **asked: Any) -> ac.theory.Inference:
    if asked["mu_pps"] == 170:
        other = ac.theory.Candidate(1.0, 1.0, 2.0, 0.0)
        return ac.theory.Inference(parameter, None, None, "no solution", "none", (other,))
    best = ac.theory.Candidate(10.0, 5.0, 15.0, 0.0)
    return ac.theory.Inference(parameter, best, None, None, None, ())


def _predict(asked: dict[str, Any]) -> dict[str, Any]:
    mu, exogenous = asked["mu_pps"], asked["lambda_pps"]
    tau = asked.get("tau_s") or 2 * (asked.get("tau1_s", 0.0) + asked.get("tau2_s", 0.0))
    buffer = asked["buffer_packets"]
    free = mu - exogenous
    beta = buffer / (tau * free + 1)
    two = beta <= 1 / (3 - exogenous / mu)
    w_max = (buffer / mu + tau + 1 / mu) * free + exogenous / mu + 2
    return {
        "throughput_pps": free * model.utilisation(exogenous / mu, tau * mu, buffer),
        "rtt_s": tau + 1 / mu + 0.4 * buffer / mu,
        "slow_starts_per_cycle": 2 if two else 1,
        "cycle_s": 0.375 * w_max**2 / free,
        "w_max": w_max,
        "w_b": (2 - exogenous / mu) * buffer,
        "valid": exogenous / mu < 0.5,
    }


def _seconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]


def _run(cell: int, scenario: dict[str, Any], leak: int, out: dict[str, list[Any]]) -> None:
    links = {link["name"]: link for link in scenario["topology"]["link"]}
    first = next(link for name, link in links.items() if name.startswith("source"))
    bottleneck = links["bottleneck"]
    mu = float(bottleneck["rate"].split()[0]) / 4608
    cross = scenario["cross_traffic"][0]
    exogenous = float(cross["rate"].split()[0])
    one_way = _seconds(first["delay"]) + _seconds(bottleneck["delay"])
    buffer = int(bottleneck["queue"]["limit"].split()[0])
    asked = {"mu_pps": mu, "lambda_pps": exogenous, "tau_s": 2 * one_way, "buffer_packets": buffer}
    answer = _predict(asked)
    noise = 1 + 0.002 * math.sin(scenario.get("seed", 1))
    thp = 0.95 * answer["throughput_pps"] * noise / len(scenario["flow"])
    end = _seconds(scenario["duration"])
    windows = [("run", 0.0, end)]
    windows += [(m["name"], _seconds(m["from"]), _seconds(m["for"])) for m in scenario["measure"]]
    per_cycle = answer["slow_starts_per_cycle"]
    for name, _, length in windows:
        for flow in scenario["flow"]:
            out["flows"].append(
                {"cell": cell, "measure": name, "flow": flow["name"], "variant": flow["variant"],
                 "duration_s": length, "goodput_bps": thp * 8 * 536,
                 "delivered_bytes": int(thp * length) * 536, "segments_sent": 1000,
                 "segments_retransmitted": 10, "timeouts": 0, "congestion_events": 20 * per_cycle,
                 "congestion_events_in_slow_start": 20 * (per_cycle - 1),
                 "path_rtt_mean_s": answer["rtt_s"] * noise}
            )  # fmt: skip
        offered = int(exogenous * length)
        dropped = offered // 200
        out["sources"].append(
            {"cell": cell, "measure": name, "source": "exogenous", "link": "bottleneck",
             "duration_s": length, "offered_packets": offered, "dropped_packets": dropped,
             "delivered_packets": offered - dropped}
        )  # fmt: skip
        passed = len(scenario["flow"]) * int(thp * length) + offered - dropped + 1
        out["links"].append(
            {"cell": cell, "measure": name, "link": "bottleneck", "direction": "forward",
             "duration_s": length, "utilisation": 0.99, "offered_packets": passed + 7 + leak,
             "delivered_packets": passed, "dropped_packets": 7, "queued_packets": 0,
             "offered_bytes": 576 * (passed + 7), "delivered_bytes": 576 * passed,
             "dropped_bytes": 576 * 7, "queued_bytes": 0, "queue_delay_mean_s": 0.01}
        )  # fmt: skip
    for probe in scenario.get("probe", []):
        _samples(cell, probe, scenario, answer, out)


def _samples(
    cell: int,
    probe: dict[str, Any],
    scenario: dict[str, Any],
    answer: dict[str, Any],
    out: dict[str, list[Any]],
) -> None:
    begin = _seconds(probe.get("from", "0 s"))
    end = _seconds(probe.get("until", scenario["duration"]))
    top, cycle = answer["w_max"], 6.0
    if "flow" in probe:
        time = begin
        while time < end:
            place = (time % cycle) / cycle
            climb = place / 0.1 * top / 2 if place < 0.1 else top / 2 + place * top / 2
            out["flow_samples"].append(
                {"cell": cell, "time_s": time, "flow": probe["flow"],
                 "cwnd_segments": max(1.0, climb), "ssthresh_segments": top / 2}
            )  # fmt: skip
            time += 0.1
        return
    count = int(min(end - begin, 20.0) / 0.05)
    for i in range(count):
        out["link_samples"].append(
            {"cell": cell, "time_s": begin + 0.05 * i, "link": probe["link"],
             "direction": "forward", "queue_packets": 3, "delivered_flow_packets": i - i // 5,
             "delivered_cross_packets": i // 5}
        )  # fmt: skip
