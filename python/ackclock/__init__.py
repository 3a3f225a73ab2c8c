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

from ackclock import theory
from ackclock._core import version as _version
from ackclock.api import Part, packmime, schema, simulate, simulate_many, variant_name, variants
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
    App,
    Bulk,
    CoDel,
    CrossTraffic,
    DelayedAck,
    Dumbbell,
    Flow,
    FqCoDel,
    Graph,
    GraphLink,
    Link,
    Measure,
    PeriodicLoss,
    Pie,
    Probe,
    Queue,
    Red,
    Reorder,
    Reverse,
    Scenario,
    Tcp,
    Topology,
    Traffic,
    Video,
    dumbbell,
    graph,
)
from ackclock.scripts import Drill, ScriptFailure, ScriptOutcome, ScriptReport, drill
from ackclock.traffic import (
    Access,
    AccessLine,
    At,
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

__version__ = _version()

__all__ = [
    "Access",
    "AccessLine",
    "App",
    "At",
    "BadInput",
    "Bulk",
    "CoDel",
    "CrossTraffic",
    "DelayedAck",
    "Drill",
    "Dumbbell",
    "Exponential",
    "Feedback",
    "Flow",
    "FqCoDel",
    "Graph",
    "GraphLink",
    "Link",
    "Lognormal",
    "Measure",
    "PackMime",
    "PackMimeArrivals",
    "Pareto",
    "Part",
    "Periodic",
    "PeriodicLoss",
    "Pie",
    "Poisson",
    "Probe",
    "Quantiles",
    "Queue",
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
    "Traffic",
    "Uniform",
    "Upload",
    "Utilisation",
    "Values",
    "Video",
    "Weibull",
    "__version__",
    "drill",
    "dumbbell",
    "graph",
    "packmime",
    "schema",
    "simulate",
    "simulate_many",
    "theory",
    "variant_name",
    "variants",
]
