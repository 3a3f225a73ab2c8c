"""Sweeps: plans of many runs, their store, and the search for what breaks a sender.

``keys`` finds keys of a scenario by dotted paths, ``axes`` and ``plan`` read plans, ``cells`` has
their cells and hashes, ``values`` what is kept of a run, ``blocks`` runs cells, ``store`` is what
they leave, ``local`` and ``cluster`` are where they are run, ``running`` brings these together and
``results`` asks the store. ``search`` looks for the worst setting by one of ``methods``, ``shrink``
makes it small, and ``corpus`` keeps it.
"""

from ackclock.base.extras import REPORT, needed

with needed("sweeps need", "polars", *REPORT, extra="sweeps"):
    from ackclock.sweeps.forecasting import Forecast, forecast
    from ackclock.sweeps.plans.plan import Plan
    from ackclock.sweeps.running import sweep
    from ackclock.sweeps.searching.search import BestPoint, SearchProgress, search
    from ackclock.sweeps.stores.results import SweepResults, results
    from ackclock.sweeps.stores.work import Progress

__all__ = [
    "BestPoint",
    "Forecast",
    "Plan",
    "Progress",
    "SearchProgress",
    "SweepResults",
    "forecast",
    "results",
    "search",
    "sweep",
]
