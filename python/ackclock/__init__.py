"""A TCP congestion-control laboratory.

A TCP sender is written once and judged by theory and by packet simulation, on the same scenario::

    import ackclock as ac

    scenario = ac.Scenario(
        topology=ac.dumbbell(
            bottleneck=ac.Link("10 Mbit/s", "20 ms"), access=ac.Link("100 Mbit/s", "1 ms")
        ),
        flows=[ac.Flow("newreno", app=ac.Bulk())],
        duration="60 s",
    )
    print(ac.simulate(scenario).flows)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ackclock._core import version as _version

if TYPE_CHECKING:
    from ackclock import theory
    from ackclock.api import (
        Part,
        packmime,
        run_live,
        schema,
        simulate,
        simulate_many,
        variant_name,
        variants,
    )
    from ackclock.channels import read_mahimahi
    from ackclock.comparison import Comparison, compare
    from ackclock.draws import (
        Exponential,
        Lognormal,
        Pareto,
        Quantiles,
        Uniform,
        Values,
        Weibull,
    )
    from ackclock.errors import BadInput
    from ackclock.results import Run
    from ackclock.scenario import (
        Admission,
        After,
        App,
        Bulk,
        BurstLoss,
        Bursts,
        Cbr,
        Cellular,
        Channel,
        CoDel,
        CrossTraffic,
        Dash,
        DelayedAck,
        Dumbbell,
        Event,
        Flow,
        FqCoDel,
        Graph,
        GraphLink,
        Idle,
        Iperf3,
        Limited,
        Link,
        LinkChange,
        Measure,
        OnOff,
        PeriodicLoss,
        Pie,
        Probe,
        Program,
        Queue,
        QueueChange,
        QuickStart,
        RcpRouter,
        Red,
        Reorder,
        Reverse,
        Scenario,
        Tcp,
        Topology,
        Trace,
        Traffic,
        Video,
        Wifi,
        XcpRouter,
        dumbbell,
        graph,
    )
    from ackclock.scripts import Drill, ScriptFailure, ScriptOutcome, ScriptReport, drill
    from ackclock.traffic import (
        Access,
        AccessLine,
        At,
        Browser,
        Feedback,
        PackMime,
        PackMimeArrivals,
        Periodic,
        Poisson,
        Request,
        Share,
        Upload,
        Utilisation,
    )
    from ackclock.video import read_video, scale_pictures

# What a name stands for is imported when it is first asked for: a command that runs a file needs
# little of it, and pays for the rest with more time than many runs take.
_NAMES = {
    "api": (
        "Part",
        "packmime",
        "run_live",
        "schema",
        "simulate",
        "simulate_many",
        "variant_name",
        "variants",
    ),
    "channels": ("read_mahimahi",),
    "comparison": ("Comparison", "compare"),
    "draws": ("Exponential", "Lognormal", "Pareto", "Quantiles", "Uniform", "Values", "Weibull"),
    "errors": ("BadInput",),
    "results": ("Run",),
    "scenario": (
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
        "RcpRouter",
        "Red",
        "Reorder",
        "Reverse",
        "Scenario",
        "Tcp",
        "Topology",
        "Trace",
        "Traffic",
        "Video",
        "Wifi",
        "XcpRouter",
        "dumbbell",
        "graph",
    ),
    "scripts": ("Drill", "ScriptFailure", "ScriptOutcome", "ScriptReport", "drill"),
    "traffic": (
        "Access",
        "AccessLine",
        "At",
        "Browser",
        "Feedback",
        "PackMime",
        "PackMimeArrivals",
        "Periodic",
        "Poisson",
        "Request",
        "Share",
        "Upload",
        "Utilisation",
    ),
    "video": ("read_video", "scale_pictures"),
}
_HOMES = {name: f"ackclock.{module}" for module, names in _NAMES.items() for name in names}

__version__ = _version()

__all__ = [
    "Access",
    "AccessLine",
    "Admission",
    "After",
    "App",
    "At",
    "BadInput",
    "Browser",
    "Bulk",
    "BurstLoss",
    "Bursts",
    "Cbr",
    "Cellular",
    "Channel",
    "CoDel",
    "Comparison",
    "CrossTraffic",
    "Dash",
    "DelayedAck",
    "Drill",
    "Dumbbell",
    "Event",
    "Exponential",
    "Feedback",
    "Flow",
    "FqCoDel",
    "Graph",
    "GraphLink",
    "Idle",
    "Iperf3",
    "Limited",
    "Link",
    "LinkChange",
    "Lognormal",
    "Measure",
    "OnOff",
    "PackMime",
    "PackMimeArrivals",
    "Pareto",
    "Part",
    "Periodic",
    "PeriodicLoss",
    "Pie",
    "Poisson",
    "Probe",
    "Program",
    "Quantiles",
    "Queue",
    "QueueChange",
    "QuickStart",
    "RcpRouter",
    "Red",
    "Reorder",
    "Request",
    "Reverse",
    "Run",
    "Scenario",
    "ScriptFailure",
    "ScriptOutcome",
    "ScriptReport",
    "Share",
    "Tcp",
    "Topology",
    "Trace",
    "Traffic",
    "Uniform",
    "Upload",
    "Utilisation",
    "Values",
    "Video",
    "Weibull",
    "Wifi",
    "XcpRouter",
    "__version__",
    "compare",
    "drill",
    "dumbbell",
    "graph",
    "packmime",
    "read_mahimahi",
    "read_video",
    "run_live",
    "scale_pictures",
    "schema",
    "simulate",
    "simulate_many",
    "theory",
    "variant_name",
    "variants",
]


def __getattr__(name: str) -> Any:
    if name == "theory":
        return import_module("ackclock.theory")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
