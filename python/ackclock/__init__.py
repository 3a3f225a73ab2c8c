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
from ackclock.errors import BadInput
from ackclock.results import Run
from ackclock.scenario import (
    App,
    Bulk,
    CrossTraffic,
    DelayedAck,
    Dumbbell,
    Exponential,
    Flow,
    Graph,
    GraphLink,
    Link,
    Measure,
    PeriodicLoss,
    Probe,
    Queue,
    Reorder,
    Reverse,
    Scenario,
    Tcp,
    Topology,
    Uniform,
    dumbbell,
    graph,
)
from ackclock.scripts import Drill, ScriptFailure, ScriptOutcome, ScriptReport, drill

__version__ = _version()

__all__ = [
    "App",
    "BadInput",
    "Bulk",
    "CrossTraffic",
    "DelayedAck",
    "Drill",
    "Dumbbell",
    "Exponential",
    "Flow",
    "Graph",
    "GraphLink",
    "Link",
    "Measure",
    "Part",
    "PeriodicLoss",
    "Probe",
    "Queue",
    "Reorder",
    "Reverse",
    "Run",
    "Scenario",
    "ScriptFailure",
    "ScriptOutcome",
    "ScriptReport",
    "Tcp",
    "Topology",
    "Uniform",
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
