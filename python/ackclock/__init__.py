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
_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: Names that people try, and what they mean here.
_MEANT = {
    "droptail": "Queue",
    "fifo": "Queue",
    "fair": 'Queue(kind="fair")',
    "bottleneck": "path",
    "load": "Scenario.from_file",
    "load_scenario": "Scenario.from_file",
    "read_scenario": "Scenario.from_file",
    "grid": "sweep",
    "plot": "Run.plot_cwnd",
}


def __getattr__(name: str) -> object:
    """Return what is loaded as it is first named; of an unknown name say the nearest."""
    try:
        return _loaded(name)
    except AttributeError:
        if name.startswith("_") or name in __all__:
            raise
        from ackclock.base.nearest import near  # noqa: PLC0415

        close = _MEANT.get(name.lower()) or near(name, __all__)
        hint = f"; did you mean `{close}`?" if close else "; `dir(ackclock)` lists its names"
        raise AttributeError(f"ackclock has no `{name}`{hint}", name=name, obj=None) from None
