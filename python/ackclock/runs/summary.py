"""The summary of a run: what the command prints, and what ``--json`` has under documented names."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from ackclock.runs.means import mean_over, open_span
from ackclock.runs.senders import notes_on, senders_of

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = ["summarise"]

#: The quantiles of times that are told.
_QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
#: The most samples that are summed up; of more the tables alone tell.
_MOST_SAMPLES = 2_000_000


def summarise(run: Run) -> dict[str, Any]:
    """Return the summary of one run as plain values; docs/reference/results.md names the keys."""
    (scenario,) = run.scenario_texts
    table = json.loads(scenario)
    senders = senders_of(scenario)
    parts: dict[str, dict[str, Any]] = {}
    for sender in senders:
        told = {"profile": sender.profile, **_parts_of(sender, run)}
        parts.update(dict.fromkeys(sender.names, told))
    objects = _by_name(run, "objects", "flow", ("bytes", "requested_s", "completed_s"))
    rows = {
        "flows": (run.rows("flows"), "flow"),
        "links": (run.rows("links"), "link"),
        "sources": (run.rows("sources"), "source"),
        "crossings": (run.rows("crossings"), "flow"),
    }
    means = _srtt_means(run, table)
    measures = dict.fromkeys(row["measure"] for part, _ in rows.values() for row in part)

    def of(measure: str) -> dict[str, Any]:
        told = {name: _rows_of(part, measure, key) for name, (part, key) in rows.items()}
        for row in told["flows"]:
            row.update(parts.get(row["name"], {}))
            row["srtt_mean_over"] = means.get(row["name"])
        return told | {"sum": _sum(told["flows"])}

    whole = of("run")
    for row in whole["flows"]:
        row.update(_transfer(objects.get(row["name"])))
    if whole["sum"] is not None:
        rates = [row["transfer_rate_bps"] for row in whole["flows"]]
        whole["sum"]["transfers_fairness"] = _jain(rates) if None not in rates else None
    notes = [] if run.live or run.theory else notes_on(senders)
    return {
        "title": table.get("title", ""),
        "seed": table.get("seed", 1),
        "duration": table["duration"],
        "random": run.random,
        "notes": notes,
        **whole,
        "traffic": _traffic(run, table.get("traffic", ()), objects, parts),
        "transfers": _transfers(objects),
        "pages": _pages(run),
        "videos": [{"name": row["flow"]} | _but(row, "flow") for row in run.rows("videos")],
        "probes": _probes(
            run, table.get("probe", ()), {row["name"]: row for row in whole["flows"]}
        ),
        "searched": _searched(table.get("traffic", ()), whole["links"]),
        "flow_events": run.rows("flow_events"),
        "measures": {measure: of(measure) for measure in measures if measure != "run"},
    }


def _parts_of(sender: Any, run: Run) -> dict[str, Any]:
    """Return recovery and first window; the kernel, and a closed form, have their own."""
    if run.live or run.theory:
        return {"recovery": None, "first_window": None}
    return {"recovery": sender.recovery, "first_window": sender.first_window}


def _rows_of(rows: Iterable[Mapping[str, Any]], measure: str, key: str) -> list[dict[str, Any]]:
    """Return the rows of a window, each with its ``key`` under ``name``."""
    return [
        {"name": row[key]} | _but(row, "measure", key) for row in rows if row["measure"] == measure
    ]


def _but(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _sum(flows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the sums over flows, and Jain's index of their goodputs; None of fewer than two."""
    rates = [row["goodput_bps"] for row in flows if row["goodput_bps"] is not None]
    if len(rates) < 2:
        return None
    counters = ("segments_sent", "segments_retransmitted", "timeouts")
    return {
        "flows": len(rates),
        "goodput_bps": sum(rates),
        "goodput_least_bps": min(rates),
        "goodput_median_bps": _median(rates),
        "goodput_most_bps": max(rates),
        "fairness": _jain(rates),
        **{name: sum(row[name] or 0 for row in flows) for name in counters},
    }


def _jain(rates: Sequence[float]) -> float | None:
    """Return Jain's index (DEC-TR-301, 1984): 1 if all are alike, 1/n if one has everything."""
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def _srtt_means(run: Run, scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return by flow over what the mean of srtt is taken: ``ACKs``, or ``time``.

    The kernel is asked for its state at times, and does not tell each ACK.
    """
    if run.theory:
        return {}
    flows = scenario.get("flow", ())
    own = {flow["name"] for flow in flows if flow.get("endpoint") == "ackclock"}
    return {
        row["flow"]: "ACKs" if not run.live or row["flow"] in own else "time"
        for row in run.rows("flows")
    }


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[-middle - 1]) / 2


#: The columns of a table, each a list.
_Columns = dict[str, list[Any]]


def _by_name(run: Run, table: str, key: str, columns: Sequence[str]) -> dict[str, _Columns]:
    """Return the columns of a large table for each name in the column ``key``."""
    if run.length(table) == 0:
        return {}
    whole = run.columns(table, (key, *columns))
    places: dict[str, list[int]] = {}
    for place, name in enumerate(whole[key]):
        places.setdefault(name, []).append(place)
    return {
        name: {column: [whole[column][place] for place in of] for column in columns}
        for name, of in places.items()
    }


def _count(of: _Columns) -> int:
    return len(next(iter(of.values())))


def _completed(of: _Columns) -> int:
    return sum(value is not None for value in of["completed_s"])


def _times(of: _Columns) -> dict[str, Any]:
    """Return mean, quantiles and the most of the times from request to completion."""
    pairs = zip(of["requested_s"], of["completed_s"], strict=True)
    took = sorted(until - since for since, until in pairs if until is not None)
    if not took:
        return {f"time_{name}_s": None for name in ("mean", *_QUANTILES, "max")}
    return {
        "time_mean_s": math.fsum(took) / len(took),
        **{f"time_{name}_s": _quantile(took, share) for name, share in _QUANTILES.items()},
        "time_max_s": took[-1],
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of values in order, between two of them in proportion."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _transfer(objects: _Columns | None) -> dict[str, float | None]:
    """Return the time that the only transfer of a flow took, and its rate over that time."""
    if objects is None or _count(objects) != 1 or objects["completed_s"][0] is None:
        return {"completion_time_s": None, "transfer_rate_bps": None}
    took = objects["completed_s"][0] - objects["requested_s"][0]
    return {
        "completion_time_s": took,
        "transfer_rate_bps": 8 * objects["bytes"][0] / took if took > 0 else None,
    }


def _transfers(objects: Mapping[str, _Columns]) -> list[dict[str, Any]]:
    """Return a row a flow or class whose application gave objects as a whole."""
    return [
        {
            "name": name,
            "objects": _count(of),
            "completed": _completed(of),
            "bytes": sum(of["bytes"]),
            **_times(of),
        }
        for name, of in objects.items()
    ]


def _traffic(
    run: Run,
    classes: Iterable[Mapping[str, Any]],
    objects: Mapping[str, _Columns],
    parts: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return a row a traffic class: its connections, and the times of its transfers."""
    counters = ("client_retransmitted", "server_retransmitted", "syn_retransmits")
    connections = _by_name(run, "connections", "class", ("variant", "outcome", *counters))
    empty: _Columns = {name: [] for name in ("bytes", "requested_s", "completed_s")}
    rows: list[dict[str, Any]] = []
    for spec in classes:
        name = spec["name"]
        of = connections.get(name, {key: [] for key in ("variant", "outcome", *counters)})
        (transfers,) = _transfers({name: objects.get(name, empty)})
        rows.append(
            {
                "name": name,
                "variants": list(dict.fromkeys(of["variant"])),
                **parts.get(name, {}),
                "connections": _count(of),
                "outcomes": dict(Counter(of["outcome"])),
                **{key: sum(of[key]) for key in counters},
                "transfers": transfers["objects"],
                **_but(transfers, "name", "objects"),
            }
        )
    return rows


def _pages(run: Run) -> list[dict[str, Any]]:
    """Return a row a class with browsers: its pages, and their times."""
    of_class = _by_name(run, "pages", "class", ("requested_s", "completed_s"))
    return [
        {"name": name, "pages": _count(of), "completed": _completed(of), **_times(of)}
        for name, of in of_class.items()
    ]


def _probes(
    run: Run, asked: Sequence[Mapping[str, Any]], flows: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return a row a flow, or a direction of a link, that was recorded.

    The mean of a flow is taken over the time in which it was open, whatever the probe's interval.
    A link that was looked at as packets came to it has no mean over time: nobody looked as they
    left, nor while none came.
    """
    at_arrivals = {one.get("link") for one in asked if one.get("every", "change") == "change"}
    flow = ("cwnd_segments", "ssthresh_segments", "srtt_s", "in_flight_segments")
    link = ("queue_packets", "queue_bytes")
    rows: list[dict[str, Any]] = []
    if run.length("flow_samples") <= _MOST_SAMPLES:
        for name, of in _by_name(run, "flow_samples", "flow", ("time_s", *flow)).items():
            span = open_span(flows[name], name, asked)
            rows.append({"flow": name, **_samples(of, flow, span)})
    if run.length("link_samples") <= _MOST_SAMPLES:
        columns = ("direction", "time_s", *link)
        for name, both in _by_name(run, "link_samples", "link", columns).items():
            for direction in dict.fromkeys(both["direction"]):
                here = [way == direction for way in both["direction"]]
                of = {key: list(compress(values, here)) for key, values in both.items()}
                told = _samples(of, link, (of["time_s"][0], of["time_s"][-1]))
                if name in at_arrivals:
                    told = {key: value for key, value in told.items() if "_mean_" not in key}
                rows.append({"link": name, "direction": direction, **told})
    return rows


def _samples(
    of: _Columns, columns: Sequence[str], span: tuple[float, float] | None
) -> dict[str, Any]:
    """Return the number of samples, and of each column its least, mean in ``span``, most."""
    told: dict[str, Any] = {"samples": _count(of)}
    for name in columns:
        known = [value for value in of[name] if value is not None]
        if known:
            stem, _, unit = name.rpartition("_")
            told |= {
                f"{stem}_least_{unit}": min(known),
                f"{stem}_mean_{unit}": mean_over(span, of["time_s"], of[name]),
                f"{stem}_most_{unit}": max(known),
            }
    return told


def _rate(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600, "Hz": 1.0}[unit]


def _searched(
    classes: Iterable[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rates of arrivals that were searched for, and the utilisation that each gave."""
    rows: list[dict[str, Any]] = []
    for spec in classes:
        wanted = spec.get("utilisation")
        if wanted is None:
            continue
        full = wanted if isinstance(wanted, Mapping) else {"target": wanted}
        link = full.get("link", "bottleneck")
        rows.append(
            {
                "class": spec["name"],
                "rate_per_s": _rate(spec["arrivals"]["rate"]),
                "link": link,
                "target": full["target"],
                "utilisation": max(
                    (row["utilisation"] for row in links if row["name"] == link), default=None
                ),
            }
        )
    return rows
