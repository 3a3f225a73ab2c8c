"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.watanabe2013 import STUDY, figures, figures_beyond, model
from ackclock_studies.watanabe2013.analysis import Results, analyse
from ackclock_studies.watanabe2013.linux import LINUX
from ackclock_studies.watanabe2013.live import LIVE
from ackclock_studies.watanabe2013.page import build
from ackclock_studies.watanabe2013.predicates import CLAIMS, flips
from ackclock_studies.watanabe2013.runs import parts
from ackclock_studies.watanabe2013.scenarios import Plan

_TRIALS = ("trials", "choice")


def _drawn(
    name: str, parts: tuple[str, ...], *tables: str, module: object = figures
) -> FigureSpec[Results]:
    draw = getattr(module, name)
    of = "figures" if module is figures else "figures_beyond"
    return FigureSpec(
        lambda results: draw(*(results[table] for table in tables)),
        parts,
        tables,
        f"{of}.{name}({', '.join(tables)})",
    )


def _beyond(name: str, *more: str) -> FigureSpec[Results]:
    parts = (name, *_TRIALS) if more else (name,)
    return _drawn(name, parts, f"{name}_means", *more, module=figures_beyond)


FIGURES: Mapping[str, FigureSpec[Results]] = {
    "f2": _drawn("buffers", ("buffers",), "buffers"),
    "bars": _drawn("bars", ("trials",), "summary"),
    "windows": _drawn("windows", ("traces",), "traces"),
    "ranks": _drawn("ranks", ("trials",), "summary"),
    "rates": _beyond("rates"),
    "queues": _beyond("queues"),
    "choices": _drawn("wifi_choices", _TRIALS, "summary", module=figures_beyond),
    "streams": _beyond("streams"),
    "rivals": _beyond("rivals"),
    "resized": _beyond("resized", "summary"),
    "segmented": _beyond("segmented"),
}


def analysed(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Return the tables, and of a whole run what is made from several of them."""
    results = analyse(plan, found)
    if "shapes" in results.tables and "details" in results.tables:
        more = {"flips": flips(results), "lumps": model.table(plan)}
        return replace(results, tables={**results.tables, **more})
    return results


DEFINITION = Definition(
    study=STUDY,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analysed,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
    live=LIVE,
    linux=LINUX,
    code=(
        *("runs.py", "runs_measures.py"),
        *("scenarios.py", "scenarios_beyond.py", "published.py", "pictures.csv"),
    ),
)

reproduce = DEFINITION.reproduce
