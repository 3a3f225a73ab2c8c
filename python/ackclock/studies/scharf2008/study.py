"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ackclock.studies._frame_report import Drawn
from ackclock.studies._frame_study import Definition
from ackclock.studies.scharf2008 import figures
from ackclock.studies.scharf2008.analysis import Results, analyse
from ackclock.studies.scharf2008.live import LIVE
from ackclock.studies.scharf2008.page import build
from ackclock.studies.scharf2008.predicates import CLAIMS
from ackclock.studies.scharf2008.runs import parts
from ackclock.studies.scharf2008.scenarios import Plan

KEY = "scharf2008"

FIGURES: Mapping[str, Drawn[Results]] = {
    "f4": Drawn(
        lambda r: figures.rates(r["traces"], 0.1), ("traces",), ("traces",),
        "figures.rates(traces, 0.1)",
    ),
    "f6": Drawn(
        lambda r: figures.rates(r["traces"], 0.2), ("traces",), ("traces",),
        "figures.rates(traces, 0.2)",
    ),
    "f7": Drawn(
        lambda r: figures.downloads(r["routers"], "f7"), ("routers",), ("routers",),
        'figures.downloads(routers, "f7")',
    ),
    "f8": Drawn(
        lambda r: figures.downloads(r["routers"], "f8"), ("routers",), ("routers",),
        'figures.downloads(routers, "f8")',
    ),
    "f9": Drawn(
        lambda r: figures.flood(r["flood"]), ("flood",), ("flood",), "figures.flood(flood)"
    ),
    "f10": Drawn(
        lambda r: figures.speedup(r["speedup"]), ("response",), ("speedup",),
        "figures.speedup(speedup)",
    ),
    "f11": Drawn(
        lambda r: figures.times(r["router"]), ("router",), ("router",), "figures.times(router)"
    ),
}  # fmt: skip

DEFINITION = Definition(
    key=KEY,
    folder=Path(__file__).parent,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analyse,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
    live=LIVE,
    code=("runs.py", "scenarios.py", "costs.py"),
)

reproduce = DEFINITION.reproduce
