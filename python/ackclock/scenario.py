"""Scenarios as Python values: the keys of a scenario file, under the same names.

Quantities are text with a unit, as in a file: ``"10 Mbit/s"``, ``"30 ms"``, ``"1460 B"``. They are
read by the core, so that a wrong unit is refused in the same words wherever it stands. The values
are frozen; a variation is made with :func:`dataclasses.replace`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast

from ackclock import _core
from ackclock._table import Table as _Table, each as _each, key as _key
from ackclock._words import Profile
from ackclock.apps import (
    App,
    Bulk,
    Bursts,
    Cbr,
    Dash,
    Idle,
    Iperf3,
    Limited,
    OnOff,
    Program,
    Video,
    read_app,
)
from ackclock.channels import (
    BurstLoss,
    Cellular,
    Channel,
    Loss,
    PeriodicLoss,
    Rates,
    Trace,
    Wifi,
    read_channel,
    read_loss,
)
from ackclock.distributions import Draw, Exponential, Uniform, read_draw
from ackclock.errors import BadInput
from ackclock.events import After, Event, LinkChange, Measure, QueueChange
from ackclock.feedback import RcpRouter, XcpRouter
from ackclock.queues import AnyQueue, CoDel, FqCoDel, Pie, Queue, Red, read_queue
from ackclock.quick_start import Admission, QuickStart, Router, read_router
from ackclock.tcp import DelayedAck, Tcp
from ackclock.traffic import (
    Access,
    Arrivals,
    Sessions,
    Utilisation,
    VariantChoice,
    read_arrivals,
    read_sessions,
    read_utilisation,
    read_variant,
)

__all__ = [
    "Admission",
    "After",
    "App",
    "Bulk",
    "BurstLoss",
    "Bursts",
    "Cbr",
    "Cellular",
    "Channel",
    "CoDel",
    "CrossTraffic",
    "Dash",
    "DelayedAck",
    "Dumbbell",
    "Event",
    "Exponential",
    "Flow",
    "FqCoDel",
    "Graph",
    "GraphLink",
    "Idle",
    "Iperf3",
    "Limited",
    "Link",
    "LinkChange",
    "Measure",
    "OnOff",
    "PeriodicLoss",
    "Pie",
    "Probe",
    "Program",
    "Queue",
    "QueueChange",
    "QuickStart",
    "Rates",
    "RcpRouter",
    "Red",
    "Reorder",
    "Reverse",
    "Scenario",
    "Tcp",
    "Topology",
    "Trace",
    "Traffic",
    "Uniform",
    "Video",
    "Wifi",
    "XcpRouter",
    "dumbbell",
    "graph",
]

Direction: TypeAlias = Literal["forward", "reverse"]
Endpoint: TypeAlias = Literal["kernel", "ackclock"]
Network: TypeAlias = Literal["ipv4", "ipv6"]
What: TypeAlias = Literal["cwnd", "ssthresh", "srtt", "in_flight", "playout", "queue"]


@dataclass(frozen=True)
class Reorder(_Table):
    """Packets that others overtake: a share, chosen at random, is held back after it was sent.

    Attributes
    ----------
    share
        The probability that a packet is held back, 0 to 1.
    delay
        By how much it arrives later than it would, such as ``"5 ms"``.
    """

    share: float
    delay: str


@dataclass(frozen=True)
class Reverse(_Table):
    """The keys of a link's way back that differ; others are as on the way there.

    Attributes
    ----------
    rate
        The rate, such as ``"1 Mbit/s"``.
    delay
        The propagation delay, such as ``"30 ms"``.
    queue
        The queue.
    loss
        Which packets are lost after they were sent: a probability, 0 to 1, a
        :class:`PeriodicLoss` or a :class:`BurstLoss`.
    channel
        The channel that takes the place of a constant rate.
    reorder
        Packets that others overtake.
    duplicate
        The probability that a packet arrives twice, 0 to 1.
    corrupt
        The probability that a bit of a packet is flipped, 0 to 1.
    quick_start
        The treatment of Quick-Start requests by the router in front of the way back.
    rcp, xcp
        The router in front of the way back, for flows of RCP and of XCP.
    """

    rate: str | None = None
    delay: str | None = None
    queue: AnyQueue | None = _key(default=None, read=read_queue)
    loss: Loss | None = _key(default=None, read=read_loss)
    reorder: Reorder | None = _key(default=None, read=Reorder.from_table)
    duplicate: float | None = None
    corrupt: float | None = None
    channel: Channel | None = _key(default=None, read=read_channel)
    quick_start: Router | None = _key(default=None, read=read_router)
    rcp: RcpRouter | None = _key(default=None, read=RcpRouter.from_table)
    xcp: XcpRouter | None = _key(default=None, read=XcpRouter.from_table)


@dataclass(frozen=True)
class Link(_Table):
    """A link: a queue, a rate, a delay.

    Attributes
    ----------
    rate
        The rate both ways, such as ``"10 Mbit/s"``.
    delay
        The propagation delay one way, such as ``"30 ms"``.
    queue
        The queue both ways. Default: drop-tail, of one bandwidth-delay product on the bottleneck
        of a dumbbell and without limit elsewhere.
    loss
        Which packets are lost after they were sent, both ways: a probability, 0 to 1, a
        :class:`PeriodicLoss` or a :class:`BurstLoss`.
    channel
        The channel that takes the place of a constant rate.
    reverse
        The keys that differ on the way back.
    reorder
        Packets that others overtake.
    duplicate
        The probability that a packet arrives twice, 0 to 1.
    corrupt
        The probability that a bit of a packet is flipped on the way, 0 to 1: the host that it is
        for discards it, as its checksum is wrong.
    quick_start
        The treatment of Quick-Start requests by the router in front of this link: ``"approve"``,
        ``"deny"`` or an :class:`Admission`. A path's first link has no router in front. Default: it
        takes no part, and requests fail.
    rcp, xcp
        The router in front of this link, the path's first too, rules flows of RCP and of XCP:
        :class:`RcpRouter`, :class:`XcpRouter`. Every link on the way of such a flow needs it.
        Default: it takes no part.
    """

    rate: str
    delay: str
    queue: AnyQueue | None = _key(default=None, read=read_queue)
    loss: Loss = _key(default=0.0, read=read_loss)
    reverse: Reverse | None = _key(default=None, read=Reverse.from_table)
    reorder: Reorder | None = _key(default=None, read=Reorder.from_table)
    duplicate: float = 0.0
    corrupt: float = 0.0
    channel: Channel | None = _key(default=None, read=read_channel)
    quick_start: Router | None = _key(default=None, read=read_router)
    rcp: RcpRouter | None = _key(default=None, read=RcpRouter.from_table)
    xcp: XcpRouter | None = _key(default=None, read=XcpRouter.from_table)


@dataclass(frozen=True)
class GraphLink(_Table):
    """A named link between two nodes of a graph.

    Attributes
    ----------
    name
        The name by which cross-traffic, probes and results refer to it.
    from_node, to_node
        The nodes that it joins; ``from`` and ``to`` in a file.
    rate, delay, queue, loss, reverse, reorder, duplicate, corrupt, quick_start, rcp, xcp
        As those of :class:`Link`; the queue is without limit by default.
    """

    name: str
    from_node: str = _key(name="from")
    to_node: str = _key(name="to")
    rate: str = _key()
    delay: str = _key()
    queue: AnyQueue | None = _key(default=None, read=read_queue)
    loss: Loss = _key(default=0.0, read=read_loss)
    reverse: Reverse | None = _key(default=None, read=Reverse.from_table)
    reorder: Reorder | None = _key(default=None, read=Reorder.from_table)
    duplicate: float = 0.0
    corrupt: float = 0.0
    channel: Channel | None = _key(default=None, read=read_channel)
    quick_start: Router | None = _key(default=None, read=read_router)
    rcp: RcpRouter | None = _key(default=None, read=RcpRouter.from_table)
    xcp: XcpRouter | None = _key(default=None, read=XcpRouter.from_table)


@dataclass(frozen=True)
class Dumbbell(_Table):
    """Flows that share one link, ``bottleneck``, each with an access link on either side.

    Attributes
    ----------
    bottleneck
        The shared link, from the senders to the receivers.
    access
        The access links of the senders, and of the receivers unless ``access_right`` is given.
    access_right
        The access links of the receivers.
    """

    KIND: ClassVar[str | None] = "dumbbell"

    bottleneck: Link = _key(read=Link.from_table)
    access: Link = _key(read=Link.from_table)
    access_right: Link | None = _key(default=None, read=Link.from_table)


@dataclass(frozen=True)
class Graph(_Table):
    """Any nodes, joined by named links; flows take the path of least delay.

    Attributes
    ----------
    links
        The links.
    """

    KIND: ClassVar[str | None] = "graph"

    links: Sequence[GraphLink] = _key(name="link", read=_each(GraphLink.from_table), always=True)

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "links", tuple(self.links))


Topology: TypeAlias = Dumbbell | Graph


def dumbbell(*, bottleneck: Link, access: Link, access_right: Link | None = None) -> Dumbbell:
    """Return a topology in which every flow crosses one shared link.

    Parameters
    ----------
    bottleneck
        The shared link.
    access
        The access links of the senders, and of the receivers unless ``access_right`` is given.
    access_right
        The access links of the receivers.

    Returns
    -------
    Dumbbell
        The topology.
    """
    return Dumbbell(bottleneck=bottleneck, access=access, access_right=access_right)


def graph(links: Sequence[GraphLink]) -> Graph:
    """Return a topology of any nodes, joined by named links.

    Parameters
    ----------
    links
        The links; the nodes are those that they name.

    Returns
    -------
    Graph
        The topology.
    """
    return Graph(links=links)


@dataclass(frozen=True)
class Flow(_Table):
    """One TCP connection, or ``count`` alike.

    Attributes
    ----------
    variant
        The sender: a growth law and what differs from its default parts, as in ``"newreno+iw10"``.
    app
        The application, which asks for data.
    name
        The name; with ``count`` above 1 the flows are ``name-1``, ``name-2`` ... A flow without a
        name is called ``flow-1``, ``flow-2`` ... by its place in the scenario.
    count
        The number of flows of this kind.
    profile
        The profile that supplies what is not said.
    tcp
        Settings of the connection that differ from the profile's.
    start
        When the connection opens, such as ``"1 s"``, or a distribution.
    stagger
        The time between the starts of one flow of ``count`` and the next, such as ``"1 ms"``.
    from_node, to_node
        The nodes of sender and receiver, in a graph; ``from`` and ``to`` in a file.
    endpoint
        The kind of end point in a live run; default: the kernel's. A simulation has our own always.
    network
        The network protocol in a live run. A simulation's packets are those of IPv4 always.
    """

    variant: str
    app: App = _key(default=Bulk(), read=read_app)
    name: str | None = None
    count: int = 1
    profile: Profile = "rfc"
    tcp: Tcp = _key(default=Tcp(), read=Tcp.from_table)
    start: Draw = _key(default="0 s", read=read_draw)
    stagger: str | None = None
    from_node: str | None = _key(default=None, name="from")
    to_node: str | None = _key(default=None, name="to")
    endpoint: Endpoint | None = None
    network: Network = "ipv4"


@dataclass(frozen=True)
class Traffic(_Table):
    """Connections that come and go.

    Each opens, plays its session, closes, and leaves a row in the table ``connections`` and one in
    ``objects`` for each exchange.

    Attributes
    ----------
    name
        The name.
    variant
        The sender at both ends; or several, of which each connection gets one.
    arrivals
        When connections open.
    app
        The application of a connection.
    utilisation
        The share to which a dumbbell's bottleneck is to be used, or a :class:`Utilisation`: the
        rate of the arrivals is then searched for, from the one that stands there.
    profile
        The profile that supplies what is not said.
    tcp
        Settings of the connections that differ from the profile's.
    count
        The most connections that open; default: any number.
    start, stop
        When the arrivals begin and end; default: with the run.
    clients
        On which side of a dumbbell the clients are; default: where the volume crosses the
        bottleneck forward.
    from_node, to_node
        The nodes of clients and servers, in a graph; ``from`` and ``to`` in a file.
    access
        The private links of every connection at each end, before the links that all share.
    endpoint
        The kind of end point in a live run; default: the kernel's. A simulation has our own always.
    network
        The network protocol in a live run. A simulation's packets are those of IPv4 always.
    """

    name: str
    variant: VariantChoice = _key(read=read_variant, always=True)
    arrivals: Arrivals = _key(read=read_arrivals)
    app: Sessions = _key(read=read_sessions)
    utilisation: float | Utilisation | None = _key(default=None, read=read_utilisation)
    profile: Profile = "rfc"
    tcp: Tcp = _key(default=Tcp(), read=Tcp.from_table)
    count: int | None = None
    start: str = "0 s"
    stop: str | None = None
    clients: Literal["left", "right"] | None = None
    from_node: str | None = _key(default=None, name="from")
    to_node: str | None = _key(default=None, name="to")
    access: Access = _key(default=Access(), read=Access.from_table)
    endpoint: Endpoint | None = None
    network: Network = "ipv4"

    def __post_init__(self) -> None:
        """Freeze the mix of variants."""
        if not isinstance(self.variant, (str, _Table)):
            object.__setattr__(self, "variant", tuple(self.variant))


@dataclass(frozen=True)
class CrossTraffic(_Table):
    """Packets that no end point controls, entering at a link's queue and leaving at its end.

    Attributes
    ----------
    link
        The link at whose queue they enter.
    rate
        The rate of arrivals, such as ``"100 packet/s"``.
    size
        Their size on the wire, such as ``"576 B"``.
    kind
        When they come: at equal intervals, or as a Poisson process.
    name
        The name; default ``cross-1``, ``cross-2`` ...
    direction
        The direction in which they cross the link.
    phase
        The first packet of a periodic source comes this fraction of a period after ``start``;
        drawn at random when left out.
    start, stop
        When it begins, and when it ends; default: with the run.
    """

    link: str
    rate: str
    size: str
    kind: Literal["periodic", "poisson"] = _key(default="poisson", always=True)
    name: str | None = None
    direction: Direction = "forward"
    phase: float | None = None
    start: str = "0 s"
    stop: str | None = None


@dataclass(frozen=True)
class Probe(_Table):
    """Something recorded over time, of one flow or of one link.

    Attributes
    ----------
    flow, link
        The flow, or the link, by its name.
    what
        Which values: ``cwnd``, ``ssthresh``, ``srtt``, ``in_flight`` of a flow, ``queue`` of a
        link. Default: all.
    every
        ``"change"``, or an interval such as ``"10 ms"``.
    direction
        The direction across the link.
    start, stop
        When recording begins and ends; ``from`` and ``until`` in a file. Default: with the run.
    """

    flow: str | None = None
    link: str | None = None
    what: Sequence[What] = _key(default=(), read=tuple)
    every: str = _key(default="change", always=True)
    direction: Direction = "forward"
    start: str = _key(default="0 s", name="from")
    stop: str | None = _key(default=None, name="until")

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "what", tuple(self.what))


def _read_topology(table: Any) -> Topology:
    return Dumbbell.from_table(table) if table["kind"] == "dumbbell" else Graph.from_table(table)


@dataclass(frozen=True)
class Scenario(_Table):
    """Everything a run needs, as data.

    Attributes
    ----------
    topology
        The links, and how they are joined.
    flows
        The TCP connections; none if there is traffic.
    duration
        The simulated time, such as ``"60 s"``.
    seed
        The seed of every random stream, 0 to 2⁶⁴ − 1.
    title
        The title, in one line.
    traffic
        Connections that come and go.
    cross_traffic
        Traffic that no end point controls.
    events
        Changes of the path on the way.
    measures
        Windows of time over which flows and links are measured.
    probes
        The probes, which record over time.
    """

    topology: Topology = _key(read=_read_topology)
    flows: Sequence[Flow] = _key(name="flow", read=_each(Flow.from_table), always=True)
    duration: str = _key()
    seed: int = 1
    title: str = ""
    traffic: Sequence[Traffic] = _key(default=(), read=_each(Traffic.from_table))
    cross_traffic: Sequence[CrossTraffic] = _key(default=(), read=_each(CrossTraffic.from_table))
    events: Sequence[Event] = _key(default=(), name="event", read=_each(Event.from_table))
    measures: Sequence[Measure] = _key(default=(), name="measure", read=_each(Measure.from_table))
    probes: Sequence[Probe] = _key(default=(), name="probe", read=_each(Probe.from_table))

    def __post_init__(self) -> None:
        """Freeze the sequences, and name the flows that have no name."""
        flows = (
            flow if flow.name is not None else replace(flow, name=f"flow-{place}")
            for place, flow in enumerate(self.flows, start=1)
        )
        object.__setattr__(self, "flows", tuple(flows))
        for name in ("traffic", "cross_traffic", "events", "measures", "probes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the value of a table that the core has checked."""
        return super().from_table({"flow": (), **table})

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a scenario file, TOML or JSON.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Scenario
            The scenario.

        Raises
        ------
        BadInput
            The file cannot be read, or the first key that cannot be used.
        """
        return cls.from_table(json.loads(_core.load_scenario(os.fspath(path))))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """Return the scenario that ``table`` describes, with the keys of a file.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        return cls.from_table(json.loads(_core.check_scenario(_to_json(table))))

    def to_json(self) -> str:
        """Return the scenario as JSON text.

        Raises
        ------
        BadInput
            A number is not finite, or a value has no place in a scenario.
        """
        return _to_json(self.to_dict())

    def to_toml(self) -> str:
        """Return the scenario as the text of a scenario file."""
        return _to_toml(self.to_dict())

    def check(self) -> Self:
        """Return the scenario as the core reads it, every name in its canonical form.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        return self.from_dict(self.to_dict())


def _to_json(table: Mapping[str, Any]) -> str:
    try:
        return json.dumps(table, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"scenario: {error}") from None


def _to_toml(table: Mapping[str, Any]) -> str:
    lines: list[str] = []
    tables: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append((f"[{key}]", cast("Mapping[str, Any]", value)))
        elif isinstance(value, list):
            tables += [(f"[[{key}]]", item) for item in cast("list[Mapping[str, Any]]", value)]
        else:
            lines.append(f"{key} = {_toml_value(value)}")
    for header, body in tables:
        lines += ["", header, *(f"{key} = {_toml_value(value)}" for key, value in body.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return "{ " + ", ".join(f"{key} = {_toml_value(item)}" for key, item in items) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(item) for item in cast("list[object]", value)) + "]"
    # Strings, integers, finite numbers and booleans are written alike in JSON and TOML, but for
    # the characters beyond the basic plane, which JSON would write as two halves, and DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
