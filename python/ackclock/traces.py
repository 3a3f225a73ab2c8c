"""Tables that follow from the samples of a run: throughput, queueing delay, transfer times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock import _core
from ackclock.errors import BadInput
from ackclock.links import Dumbbell, Link, Path

if TYPE_CHECKING:
    from ackclock.results import Run
    from ackclock.scenario import Scenario

__all__ = ["frame", "link_rates", "queues", "throughput", "transfers"]

_MOST_INTERVALS = 10_000_000


def frame(run: Run, table: str, cell: int | None = None) -> pl.DataFrame:
    """Return a table of one run as a Polars frame.

    Parameters
    ----------
    run
        The run, or many.
    table
        The name of the table.
    cell
        The number of the run, of many; default: the only one.

    Raises
    ------
    BadInput
        There are several, and none is named; or there is no such.
    """
    rows = pl.DataFrame(getattr(run, table))
    if "cell" not in rows.columns:
        return rows
    if cell is None:
        raise BadInput("expected one run, not many; name one by cell=")
    if not 0 <= cell < len(run.scenarios):
        raise BadInput(f"cell: {cell}, expected a number from 0 to {len(run.scenarios) - 1}")
    return rows.filter(pl.col("cell") == cell).drop("cell")


def throughput(run: Run, every_s: float, *, cell: int | None = None) -> pl.DataFrame:
    """Return the data that was acknowledged in each interval, over its length.

    Between two samples data is taken to be acknowledged evenly.

    Parameters
    ----------
    run
        A run with probes of flows.
    every_s
        The length of the intervals, in seconds.
    cell
        The number of the run, of many.

    Returns
    -------
    polars.DataFrame
        ``time_s`` (the beginning of the interval), ``flow``, ``throughput_bps``; a row an interval
        and a flow.
    """
    samples = frame(run, "flow_samples", cell).select("time_s", "flow", "acked_bytes")
    whole = frame(run, "flows", cell).filter(pl.col("measure") == "run")
    end_s = float(whole["duration_s"][0]) if whole.height else 0.0
    if every_s <= 0:
        raise BadInput("throughput: every: expected a time above 0")
    flows = samples.with_columns(pl.col("flow").cast(pl.String)).partition_by(
        "flow", maintain_order=True, as_dict=True
    )
    if end_s / every_s * max(len(flows), 1) > _MOST_INTERVALS:
        raise BadInput(f"throughput: every: {every_s:g} s is too short, expected fewer intervals")
    edges = np.arange(0.0, end_s + 1e-9 * every_s, every_s)
    if edges.size and end_s - edges[-1] > 1e-6 * every_s:
        edges = np.append(edges, end_s)
    parts = [
        pl.DataFrame(
            {
                "time_s": edges[:-1],
                "flow": [name] * (edges.size - 1),
                "throughput_bps": 8 * np.diff(_acked_at(of, edges)) / np.diff(edges),
            },
            schema_overrides={"flow": pl.String},
        )
        for (name,), of in flows.items()
    ]
    empty = {"time_s": pl.Float64, "flow": pl.String, "throughput_bps": pl.Float64}
    return pl.concat(parts) if parts else pl.DataFrame(schema=empty)


def _acked_at(of: pl.DataFrame, edges: np.ndarray) -> np.ndarray:
    times, acked = of["time_s"].to_numpy(), of["acked_bytes"].to_numpy()
    # The last of several samples of one moment is the state after it.
    last = np.r_[np.diff(times) > 0, True] if times.size else np.empty(0, dtype=bool)
    return np.interp(edges, times[last], acked[last].astype(float))


def link_rates(scenario: Scenario) -> dict[tuple[str, str], float]:
    """Return the rate of each link and direction in bit/s; of those alone whose rate is constant.

    A link with a channel, and one whose rate an event changes, are left out.
    """
    topology = scenario.topology
    named: Mapping[str, Any]
    if isinstance(topology, Path):
        named = {"bottleneck": topology}
    elif isinstance(topology, Dumbbell):
        named = {"bottleneck": topology.bottleneck}
    else:
        named = {link.name: link for link in topology.links}
    changed = {event.link for event in scenario.events if event.set is not None and event.set.rate}
    rates: dict[tuple[str, str], float] = {}
    for name, link in named.items():
        if name in changed:
            continue
        for direction, rate in (("forward", link.rate), ("reverse", _rate_back(link))):
            channel = _channel(link, direction)
            if channel is None:
                rates[name, direction] = _core.bits_per_second("rate", rate)
    return rates


def _rate_back(link: Link) -> str:
    back = link.reverse
    return link.rate if back is None or back.rate is None else back.rate


def _channel(link: Link, direction: str) -> object:
    back = link.reverse
    if direction == "reverse" and back is not None and (back.channel or back.rate):
        return back.channel
    return link.channel


def queues(run: Run, *, cell: int | None = None) -> pl.DataFrame:
    """Return the samples of links with the delay of a packet that came then.

    Parameters
    ----------
    run
        A run with probes of links.
    cell
        The number of the run, of many.

    Returns
    -------
    polars.DataFrame
        The table ``link_samples``, with ``queue_delay_s``: what was held, at the rate of the link;
        null where the rate is not constant.
    """
    samples = frame(run, "link_samples", cell).with_columns(
        pl.col("link").cast(pl.String), pl.col("direction").cast(pl.String)
    )
    rates = link_rates(run.scenarios[cell or 0])
    known = pl.DataFrame(
        {
            "link": [link for link, _ in rates],
            "direction": [direction for _, direction in rates],
            "rate_bps": list(rates.values()),
        },
        schema={"link": pl.String, "direction": pl.String, "rate_bps": pl.Float64},
    )
    joined = samples.join(known, on=["link", "direction"], how="left", maintain_order="left")
    delay = 8 * pl.col("queue_bytes") / pl.col("rate_bps")
    return joined.with_columns(queue_delay_s=delay).drop("rate_bps")


def transfers(run: Run, *, cell: int | None = None) -> pl.DataFrame:
    """Return the transfers that were completed, and how long each took.

    Parameters
    ----------
    run
        The run.
    cell
        The number of the run, of many.

    Returns
    -------
    polars.DataFrame
        ``name`` (the flow or the traffic class), ``bytes``, ``transfer_s``: from the request, or
        from the time at which the application gave the data, to the last byte.
    """
    objects = frame(run, "objects", cell)
    return objects.filter(pl.col("completed_s").is_not_null()).select(
        pl.col("flow").cast(pl.String).alias("name"),
        "bytes",
        (pl.col("completed_s") - pl.col("requested_s")).alias("transfer_s"),
    )
