"""Tables that follow from those of a run, as Polars frames: queueing delay, transfer times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.base.extras import needed
from ackclock.runs.run import one_cell
from ackclock.scenario.links import Dumbbell, Link, Path
from ackclock.scenario.topologies import link_of

with needed("tables of traces need"):
    import polars as pl

if TYPE_CHECKING:
    from ackclock.runs.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["frame", "link_rates", "queues", "transfers"]


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
    rows: pl.DataFrame = getattr(run, table).to_polars()
    found = one_cell(run, cell)
    return rows if found is None else rows.filter(pl.col("cell") == found).drop("cell")


def link_rates(scenario: Scenario) -> dict[tuple[str, str], float]:
    """Return the rate of each link and direction in bit/s; of those alone whose rate is constant.

    A link with a channel, and one whose rate an event changes, are left out.
    """
    topology = scenario.topology
    named: Mapping[str, Any]
    if isinstance(topology, Path):
        named = {"bottleneck": link_of(topology)}
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
