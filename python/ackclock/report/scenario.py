"""A scenario on a page: its path as tables, and the probes that its figures need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from ackclock import _core
from ackclock.base.words import number_of
from ackclock.scenario.apps import Dash, Video
from ackclock.base.errors import BadInput
from ackclock.scenario.events import Probe
from ackclock.scenario.links import Dumbbell, Graph, GraphLink, Link, Path, Topology
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.topologies import link_of

__all__ = ["for_report", "path_hosts", "path_links"]

_EACH_CHANGE = 6
"""Entries of flows whose every change is recorded."""

_SPANS = 2000
"""Samples of a link, or of flows beyond those, over a run."""

_FEW_FLOWS = 50
_SPANS_OF_MANY = 400
"""Samples of each of more flows than those."""

_MOST_LINKS = 8


def for_report(scenario: Scenario) -> Scenario:
    """Return the scenario with the probes that the figures of a report need, in place of its own.

    Probes change no other result. Where records of every change would not fit into the budget of a
    run they are taken at intervals.
    """
    seconds = _core.seconds("duration", scenario.duration)
    interval = f"{max(round(seconds / _SPANS * 1e6), 100)} us"
    few = sum(flow.count for flow in scenario.flows) <= _FEW_FLOWS
    sparse = interval if few else f"{max(round(seconds / _SPANS_OF_MANY * 1e6), 100)} us"

    def probed(every: str) -> Scenario:
        flows = [
            Probe(
                flow=flow.name,
                what=_what(flow.app),
                every=every if place < _EACH_CHANGE and flow.count <= _EACH_CHANGE else sparse,
            )
            for place, flow in enumerate(scenario.flows)
        ]
        links = [Probe(link=link, every=interval) for link in _links(scenario)]
        return replace(scenario, probes=[*flows, *links])

    for every in ("change", interval):
        made = probed(every)
        try:
            _core.check_scenario(made.to_json())
        except BadInput as error:
            if not str(error).startswith("probe["):
                raise
        else:
            return made
    return replace(scenario, probes=[Probe(link=link, every="10 ms") for link in _links(scenario)])


def _what(app: object) -> tuple[Any, ...]:
    if isinstance(app, Video | Dash):
        return ("cwnd", "ssthresh", "srtt", "in_flight", "playout")
    return ()


def _links(scenario: Scenario) -> list[str]:
    """Return the links whose queues are recorded: those that hold most packets may, first."""
    topology = scenario.topology
    if not isinstance(topology, Graph):
        return ["bottleneck"]
    slowest = sorted(topology.links, key=lambda link: _core.bits_per_second("rate", link.rate))
    return [link.name for link in slowest[:_MOST_LINKS]]


def path_links(scenario: Scenario) -> pl.DataFrame:
    """Return a row a link: name, nodes, rate, delay, queue and what else differs, as texts."""
    topology = scenario.topology
    rows = list(_rows(topology))
    return pl.DataFrame(rows, schema=dict.fromkeys(_COLUMNS, pl.String))


_COLUMNS = ("link", "from", "to", "rate", "delay", "queue", "other")


def _rows(topology: Topology) -> Iterator[dict[str, str]]:
    if isinstance(topology, Path):
        yield _path(topology)
    elif isinstance(topology, Dumbbell):
        yield from _dumbbell(topology)
    else:
        yield from _graph(topology)


def _path(path: Path) -> dict[str, str]:
    return _row("bottleneck", "senders", "receivers", link_of(path), "1 BDP")


def _dumbbell(topology: Dumbbell) -> Iterator[dict[str, str]]:
    right = topology.access_right or topology.access
    yield _row("access", "senders", "router 1", topology.access)
    yield _row("bottleneck", "router 1", "router 2", topology.bottleneck, "1 BDP")
    yield _row("access, right", "router 2", "receivers", right)


def _graph(topology: Graph) -> Iterator[dict[str, str]]:
    for link in topology.links:
        yield _row(link.name, link.from_node, link.to_node, link)


def _row(name: str, begin: str, end: str, link: Link | GraphLink, queue: str = "") -> dict[str, str]:
    return {
        "link": name,
        "from": begin,
        "to": end,
        "rate": link.rate if link.channel is None else f"{link.channel.KIND}, {link.rate}",
        "delay": link.delay,
        "queue": _queue(link) or queue,
        "other": ", ".join(_other(link)),
    }


def _queue(link: Link | GraphLink) -> str:
    if link.queue is None:
        return ""
    table = link.queue.to_dict()
    kind, limit = table.get("kind", "droptail"), table.get("limit", "")
    if kind == "policer":
        # It drops by tokens, whatever waits behind it.
        return f"policer, {link.queue.burst}"  # type: ignore[union-attr]
    return str(limit) if kind == "droptail" else f"{kind} {limit}".strip()


def _percent(share: float | str) -> str:
    return share if isinstance(share, str) else f"{100 * share:g} %"


def _other(link: Link | GraphLink) -> Iterator[str]:
    if link.loss:
        shown = _percent(link.loss) if isinstance(link.loss, float | int | str) else "in bursts"
        yield f"loss {shown}"
    if link.reorder is not None:
        yield f"reordering {_percent(link.reorder.share)}"
    if link.duplicate:
        yield f"copies {_percent(link.duplicate)}"
    if link.corrupt:
        yield f"corruption {_percent(link.corrupt)}"
    if link.reverse is not None:
        yield "another way back"


def path_hosts(scenario: Scenario) -> pl.DataFrame:
    """Return a row a node at which flows begin or end, with what a drawing says of it."""
    if not isinstance(scenario.topology, Graph):
        counts = {"senders": _count(scenario), "receivers": _count(scenario)}
        sends = {"senders"}
    else:
        counts, sends = _ends(scenario)
    rows = [
        {"node": node, "says": says, "sends": node in sends} for node, says in counts.items()
    ]
    schema = {"node": pl.String, "says": pl.String, "sends": pl.Boolean}
    return pl.DataFrame(rows, schema=schema)


def _count(scenario: Scenario) -> str:
    flows = sum(flow.count for flow in scenario.flows)
    classes = len(scenario.traffic)
    said = [number_of(flows, "flow")] if flows or not classes else []
    if classes:
        said.append(number_of(classes, "class", "classes"))
    return ", ".join(said)


def _ends(scenario: Scenario) -> tuple[dict[str, str], set[str]]:
    begin: dict[str, int] = {}
    end: dict[str, int] = {}
    entries = [
        *((flow.from_node, flow.to_node, flow.count) for flow in scenario.flows),
        *((traffic.from_node, traffic.to_node, 1) for traffic in scenario.traffic),
    ]
    for source, target, count in entries:
        if source is not None:
            begin[source] = begin.get(source, 0) + count
        if target is not None:
            end[target] = end.get(target, 0) + count
    says: dict[str, str] = {}
    for node in [*begin, *end]:
        parts = [f"{begin[node]} out"] if node in begin else []
        parts += [f"{end[node]} in"] if node in end else []
        says[node] = ", ".join(parts)
    return says, set(begin)
