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

import lazy_loader

from ackclock._core import version as _version

__version__ = _version()

# A command that runs a file needs few of these names, and pays for the rest with more time than
# many runs take. They stand in `__init__.pyi`.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
