"""The classes of scenarios in Python: names, the order of arguments, and the modules they are in.

``generate_scenario.py`` has the rest from the schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Class:
    """A class of a module: a table of the schema, or forms of one that differ in their `kind`.

    Attributes
    ----------
    name
        The name in Python.
    table
        The definition of the schema; empty for the scenario itself.
    keys
        The keys, in the order of the arguments; `start=from` is called `start` in Python. `*` is
        all others, in the order of the schema.
    kinds
        The values of `kind` for which the class stands, in a definition of several forms. With one
        of them `kind` is a constant of the class, with several an argument.
    defaults
        Defaults that the schema leaves out, as they are read.
    first
        The first sentence, where that of the schema does not say what a value of the class is.
    needs
        Keys that have to be given in Python, though not in a file.
    bases
        The base classes; those of `ackclock.scenario.table` beside `Table` have one key in a file.
    """

    name: str
    table: str
    keys: str
    kinds: Sequence[str] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    first: str = ""
    needs: Sequence[str] = ()
    bases: str = "Table"


@dataclass(frozen=True)
class OneOf:
    """A type that is one of several, and the function that reads it.

    Attributes
    ----------
    name
        The name of the alias in Python.
    read
        The name of the function.
    table
        The definition of the schema; several that differ in their quantity alone.
    classes
        The classes of the tables, in order.
    plain
        The types of values that are no tables, before the classes.
    items
        The class of the items of a value that is a list.
    says
        The alias as docstrings have it.
    doc
        The comment of the alias.
    """

    name: str
    read: str
    table: str
    classes: str
    plain: str = ""
    items: str = ""
    says: str = ""
    doc: str = ""

    @property
    def type(self) -> str:
        """The type in full."""
        items = f"Sequence[{self.items}]" if self.items else ""
        return " | ".join(each for each in (self.plain, items, *self.classes.split()) if each)


@dataclass(frozen=True)
class Module:
    """A module of classes.

    Attributes
    ----------
    doc
        The docstring.
    classes
        The classes and the types of one of several, in order.
    """

    doc: str
    classes: Sequence[Class | OneOf]


#: The router's keys, and others that a link has for both ways or for the way back.
_OFF = 'Literal["off"]'
_LINK = (
    "queue loss reverse reorder duplicate corrupt channel quick_start rcp xcp jitter outage "
    "aggregation ack_thinning *"
)
_LINK_DEFAULTS = {"loss": 0.0, "duplicate": 0.0, "corrupt": 0.0}

MODULES: Mapping[str, Module] = {
    "apps": Module(
        doc="Applications, which ask for data.\n",
        classes=(
            Class(
                "Bulk", "AppSpec", "size", ("bulk",), first="As much data as the connection takes."
            ),
            Class("Idle", "IdlePeriod", "at duration=for"),
            Class("Limited", "LimitedPeriod", "at duration=for rate"),
            Class("Cbr", "AppSpec", "rate message idle limited jitter stop", ("cbr",)),
            Class("OnOff", "AppSpec", "rate message on off stop", ("onoff",)),
            Class("Bursts", "AppSpec", "size every quick_start stop", ("bursts",)),
            Class("Frames", "AppSpec", "every bytes file stop", ("frames",)),
            Class(
                "Video",
                "AppSpec",
                "pictures size length picture_rate buffer start resume catch_up resize pace "
                "player group",
                ("video",),
                defaults={"pictures": None, "player": None},
            ),
            Class(
                "Dash",
                "AppSpec",
                "rates segment length pictures picture_rate buffer start resume adapt",
                ("dash",),
                defaults={"pictures": None},
            ),
            Class(
                "Program",
                "AppSpec",
                "sender receiver server port files",
                ("program",),
                defaults={"files": None},
            ),
            Class("Iperf3", "AppSpec", "options", ("iperf3",)),
            OneOf(
                "App",
                "read_app",
                "AppSpec",
                "Bulk Cbr OnOff Bursts Frames Video Dash Program Iperf3",
            ),
        ),
    ),
    "channels": Module(
        doc="""\
Channels: the losses of a link, rates in place of a constant one, and packets in frames.
""",
        classes=(
            Class("PeriodicLoss", "PeriodicLoss", "every first"),
            Class("BurstLoss", "BurstLoss", "to_bad to_good in_bad in_good"),
            OneOf("Loss", "read_loss", "LossSpec", "PeriodicLoss BurstLoss", "float | str"),
            Class("Wifi", "ChannelSpec", "bundle overhead levels hold", ("wifi",)),
            Class("Trace", "ChannelSpec", "times_ms file", ("trace",)),
            Class("Cellular", "ChannelSpec", "wander period", ("cellular",)),
            Class("Rates", "ChannelSpec", "series period file unit interval", ("rates",)),
            Class("Shaper", "ChannelSpec", "burst peak", ("shaper",)),
            OneOf("Channel", "read_channel", "ChannelSpec", "Wifi Trace Cellular Rates Shaper"),
            Class("Hold", "AggregationSpec", "packets time", ("hold",)),
            Class("Ampdu", "AggregationSpec", "packets volume airtime access", ("ampdu",)),
            Class("Grants", "AggregationSpec", "interval delay volume", ("grants",)),
            OneOf(
                "Aggregation",
                "read_aggregation",
                "AggregationSpec",
                "Hold Ampdu Grants",
            ),
        ),
    ),
    "distributions": Module(
        doc="""\
Distributions from which a scenario draws a quantity.

Parameters are written as the quantity is: text with a unit, or a number where the quantity is one.
""",
        classes=(
            Class("Uniform", "UniformBytes", "low high", bases="WrappedValue"),
            Class("Exponential", "ExponentialBytes", "mean", bases="WrappedValue"),
            Class("Pareto", "ParetoBytes", "shape scale", bases="WrappedTable"),
            Class("Weibull", "WeibullBytes", "shape scale", bases="WrappedTable"),
            Class("Lognormal", "LognormalBytes", "median sigma", bases="WrappedTable"),
            Class("Values", "ValuesOfBytes", "values", bases="WrappedValue"),
            Class("Quantiles", "QuantilesOfBytes", "quantiles", bases="WrappedValue"),
            OneOf(
                "Draw",
                "read_draw",
                "DurationDraw BytesDraw RateDraw",
                "Uniform Exponential Pareto Weibull Lognormal Values Quantiles",
                "str",
                says="str or a distribution",
                doc="A quantity as text, or a distribution of it.",
            ),
            OneOf(
                "NumberDraw",
                "read_number_draw",
                "doubleDraw",
                "Uniform Exponential Pareto Weibull Lognormal Values Quantiles",
                "float",
                says="float or a distribution",
                doc="A number, or a distribution of it.",
            ),
        ),
    ),
    "events": Module(
        doc="Flows' own events, measures that may begin with one, probes, changes of the path.\n",
        classes=(
            Class("After", "After", "after number", defaults={"number": 1}),
            OneOf("EventTime", "read_time", "EventTime", "After", "str"),
            Class(
                "Measure",
                "Measure",
                "name start=from duration=for flow crossings acks",
                defaults={"acks": False},
            ),
            Class(
                "Probe",
                "Probe",
                "flow link what every direction start=from stop=until",
                defaults={"every": "change", "start": "0 s"},
            ),
            Class("QueueChange", "QueueChange", "limit"),
            Class("LinkChange", "LinkChange", "rate delay queue loss jitter"),
            Class("Event", "PathEvent", "at link set direction flow via"),
        ),
    ),
    "flows": Module(
        doc="Flows of a scenario, and packets that no end point controls.\n",
        classes=(
            Class(
                "Flow",
                "Flow",
                "variant app name count profile tcp start stagger from_node=from to_node=to "
                "endpoint network dscp",
                defaults={"name": None, "count": 1, "network": "ipv4"},
            ),
            Class(
                "CrossTraffic",
                "CrossTraffic",
                "link rate size kind name direction phase start stop dscp",
                defaults={"kind": "poisson", "start": "0 s"},
            ),
        ),
    ),
    "jitters": Module(
        doc="Delays on top of a link's own that vary from packet to packet.\n",
        classes=(
            Class("UniformJitter", "JitterSpec", "most reorders", ("uniform",)),
            Class("NormalJitter", "JitterSpec", "sd reorders", ("normal",)),
            Class("WifiJitter", "JitterSpec", "mean", ("wifi",)),
            Class("Steps", "JitterSpec", "every most reorders", ("steps",)),
            Class("Delays", "JitterSpec", "delays_ms file every reorders", ("trace",)),
            Class("Slots", "JitterSpec", "every", ("slots",)),
            Class("NetemJitter", "JitterSpec", "mean spread law reorders", ("netem",)),
            OneOf(
                "Jitter",
                "read_jitter",
                "JitterSpec",
                "UniformJitter NormalJitter WifiJitter Steps Delays Slots NetemJitter",
            ),
        ),
    ),
    "links": Module(
        doc="Links of a scenario, and how they are joined.\n",
        classes=(
            Class("Reorder", "ReorderSpec", "share delay"),
            Class("AckThinning", "AckThinningSpec", "every within all"),
            Class(
                "Outage",
                "OutageSpec",
                "on off periodic holds direction",
                defaults={"periodic": False, "holds": False},
            ),
            Class(
                "Reverse",
                "ReverseSpec",
                "rate delay "
                + _LINK.replace("reverse ", "").replace(" outage", "").replace("*", "without *"),
            ),
            Class("Link", "LinkSpec", f"rate delay {_LINK}", defaults=_LINK_DEFAULTS),
            Class(
                "GraphLink",
                "GraphLink",
                f"name from_node=from to_node=to rate delay {_LINK}",
                defaults=_LINK_DEFAULTS,
            ),
            Class("Dumbbell", "Topology", "bottleneck access access_right", ("dumbbell",)),
            Class(
                "Path",
                "Topology",
                "rate rtt buffer queue loss reorder channel jitter outage aggregation ack_thinning "
                "reverse *",
                ("path",),
                defaults=_LINK_DEFAULTS,
            ),
            Class("Graph", "Topology", "links=link", ("graph",)),
            OneOf("Topology", "read_topology", "Topology", "Dumbbell Path Graph"),
        ),
    ),
    "queues": Module(
        doc="""\
Queues of a scenario: the packets in front of a link, and the order in which they leave.

The disciplines, and the sources of their defaults, stand in ``docs/queues``.
""",
        classes=(
            Class(
                "Queue",
                "QueueSpec",
                "limit kind counts_in_service mark drop",
                ("droptail", "fair"),
                defaults={"drop": "tail"},
            ),
            Class(
                "Red",
                "QueueSpec",
                "min_th max_th limit weight max_p gentle adaptive ecn packet_size",
                ("red",),
            ),
            Class(
                "CoDel",
                "QueueSpec",
                "target interval limit ecn ce_threshold rules",
                ("codel",),
                defaults={"rules": "rfc"},
            ),
            Class(
                "FqCoDel",
                "QueueSpec",
                "target interval limit ecn ce_threshold quantum classify queues drop_batch rules",
                ("fq_codel",),
                defaults={"rules": "rfc"},
            ),
            Class(
                "Pie",
                "QueueSpec",
                "target update limit alpha beta burst estimate packet_size byte_mode ecn "
                "mark_below derandomise",
                ("pie",),
            ),
            Class(
                "Policer",
                "QueueSpec",
                "rate burst excess peak peak_burst marks limit",
                ("policer",),
            ),
            Class(
                "Cobalt",
                "QueueSpec",
                "target interval limit ecn increase decrease blue_threshold ce_threshold",
                ("cobalt",),
            ),
            Class(
                "FqCobalt",
                "QueueSpec",
                "target interval limit ecn quantum classify queues increase decrease "
                "blue_threshold ce_threshold",
                ("fq_cobalt",),
            ),
            Class("Drr", "QueueSpec", "quantum limit", ("drr",)),
            Class("Sfq", "QueueSpec", "limit quantum flows depth divisor drop perturb", ("sfq",)),
            Class("Prio", "QueueSpec", "bands limit", ("prio",)),
            Class(
                "FqPie",
                "QueueSpec",
                "target update limit alpha beta burst byte_mode ecn mark_below quantum classify "
                "queues",
                ("fq_pie",),
            ),
            Class(
                "Cake",
                "QueueSpec",
                "bandwidth rtt tins isolation link_layer overhead mpu framing target limit "
                "ack_filter wash ingress",
                ("cake",),
            ),
            OneOf(
                "AnyQueue",
                "read_queue",
                "QueueSpec",
                "Queue Red CoDel FqCoDel Pie Policer Cobalt FqCobalt Drr Sfq Prio FqPie Cake",
            ),
        ),
    ),
    "routers": Module(
        doc="Routers that rule senders (RCP, XCP), and Quick-Start (RFC 4782) with its ends.\n",
        classes=(
            Class("RcpRouter", "RcpSpec", "alpha beta target interval rtt initial"),
            Class("XcpRouter", "XcpSpec", "alpha beta shuffle rtt"),
            Class(
                "Admission",
                "QuickStartAdmission",
                "admission capacity threshold slot history samples most denial cheat",
                defaults={"denial": "zero"},
            ),
            Class("QuickStart", "QuickStartTcp", "at_setup after_idle answer most lie"),
            OneOf(
                "Router",
                "read_router",
                "QuickStartSpec",
                "Admission",
                'Literal["approve", "deny"]',
                doc="A router's treatment of Quick-Start requests; one left out takes no part.",
            ),
        ),
    ),
    "scenario": Module(
        doc="""\
Scenarios as Python values: the keys of a scenario file, under the same names.

Quantities are text with a unit, as in a file: ``"10 Mbit/s"``, ``"30 ms"``, ``"1460 B"``. They are
read by the core, so that a wrong unit is refused in the same words wherever it stands. The values
are frozen; a variation is made with :func:`dataclasses.replace`.
""",
        classes=(
            Class(
                "Scenario",
                "",
                "topology flows=flow duration seed title traffic cross_traffic events=event "
                "measures=measure probes=probe linux",
                defaults={"title": "", "linux": ""},
                needs=("flow",),
                bases="ScenarioText, Table",
            ),
        ),
    ),
    "tcp": Module(
        doc="The transport's settings in a scenario: the table ``tcp`` of a flow or a class.\n",
        classes=(
            Class("DelayedAck", "DelayedAckOn", "timeout every quick", defaults={"quick": False}),
            OneOf("AnyDelayedAck", "read_delayed_ack", "DelayedAckSpec", "DelayedAck", _OFF),
            Class("Autotune", "AutotuneOn", "initial most"),
            OneOf("AnyAutotune", "read_autotune", "AutotuneSpec", "Autotune", _OFF),
            Class(
                "Tcp",
                "TcpSpec",
                "mss initial_window min_rto initial_rto max_rto clock_granularity delayed_ack "
                "receive_window receive_autotune window_scaling timestamps rledbat sack "
                "loss_reduces pacing nagle syn_retries syn_ack_retries data_retries "
                "lost_syns_forgiven answer_repeated_syn handshake_tick "
                "three_seconds_after_lost_syn ecn ecn_echo abe quick_start",
            ),
        ),
    ),
    "traffic": Module(
        doc="Classes of traffic: when connections open, what they do, what each has to itself.\n",
        classes=(
            Class(
                "Poisson",
                "ArrivalsSpec",
                "rate",
                ("poisson",),
                first="Connections that open as a Poisson process.",
            ),
            Class(
                "Periodic",
                "ArrivalsSpec",
                "rate phase",
                ("periodic",),
                first="Connections that open at equal intervals.",
            ),
            Class(
                "At",
                "ArrivalsSpec",
                "at",
                ("list",),
                first="Connections that open at given moments.",
            ),
            Class(
                "PackMimeArrivals",
                "ArrivalsSpec",
                "rate memory",
                ("packmime",),
                defaults={"memory": None},
                first="Connections that open as PackMime-HTTP has it.",
            ),
            OneOf(
                "Arrivals", "read_arrivals", "ArrivalsSpec", "Poisson Periodic At PackMimeArrivals"
            ),
            Class("Upload", "TrafficApp", "size", ("bulk",)),
            Class(
                "Request",
                "TrafficApp",
                "response request server_delay exchanges gap closes quick_start",
                ("request",),
            ),
            Class(
                "PackMime",
                "TrafficApp",
                "rate http memory later",
                ("packmime",),
                defaults={"memory": None, "later": None},
            ),
            Class(
                "Browser",
                "TrafficApp",
                "constants http connections keep_alive pages sizes size largest embedded think "
                "active_off request server_delay",
                ("browser",),
                defaults={"keep_alive": "0 s"},
            ),
            OneOf("Sessions", "read_sessions", "TrafficApp", "Upload Request PackMime Browser"),
            Class("Share", "VariantShare", "variant weight"),
            Class("Feedback", "VariantFeedback", "calm congested threshold memory"),
            OneOf(
                "VariantChoice",
                "read_variant",
                "VariantChoice",
                "Feedback",
                "str",
                items="Share",
                says="str, Feedback or a sequence of Share",
            ),
            Class("Utilisation", "UtilisationFull", "target within link"),
            OneOf("AnyUtilisation", "read_utilisation", "UtilisationSpec", "Utilisation", "float"),
            Class(
                "AccessLine",
                "AccessLine",
                "delay rate loss syn_loss delaybox",
                defaults={"delay": "0 s", "loss": 0.0, "syn_loss": 0.0, "delaybox": False},
            ),
            Class("Access", "AccessSpec", "client server"),
            Class(
                "Traffic",
                "Traffic",
                "name variant arrivals app utilisation profile tcp count start stop clients "
                "from_node=from to_node=to access endpoint network dscp",
                defaults={"start": "0 s", "network": "ipv4"},
            ),
        ),
    ),
}

#: Names that generated modules have from others that are written by hand.
HAND_WRITTEN = {
    "Profile": "ackclock.base.words",
    "ScenarioText": "ackclock.scenario.text",
    **dict.fromkeys(
        ("Table", "WrappedTable", "WrappedValue", "each", "key", "one_of", "pairs"),
        "ackclock.scenario.table",
    ),
    **dict.fromkeys(("Mapping", "Sequence"), "collections.abc"),
    **dict.fromkeys(("ClassVar", "Literal", "TypeAlias"), "typing"),
    "dataclass": "dataclasses",
}
