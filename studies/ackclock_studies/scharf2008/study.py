"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.scharf2008 import STUDY, figures
from ackclock_studies.scharf2008.analysis import Results, analyse
from ackclock_studies.scharf2008.beyond import (
    analysis as analysis_beyond,
    figures as figures_beyond,
)
from ackclock_studies.scharf2008.linux import LINUX
from ackclock_studies.scharf2008.live import LIVE
from ackclock_studies.scharf2008.page import build
from ackclock_studies.scharf2008.pages import (
    analysis as analysis_pages,
    figures as figures_pages,
    predicates as predicates_pages,
)
from ackclock_studies.scharf2008.predicates import CLAIMS
from ackclock_studies.scharf2008.runs import parts
from ackclock_studies.scharf2008.scenarios import Plan

FIGURES: Mapping[str, FigureSpec[Results]] = {
    "f4": FigureSpec(
        lambda r: figures.rates(r["traces"], 0.1), ("traces",), ("traces",),
        "figures.rates(traces, 0.1)",
    ),
    "f6": FigureSpec(
        lambda r: figures.rates(r["traces"], 0.2), ("traces",), ("traces",),
        "figures.rates(traces, 0.2)",
    ),
    "f7": FigureSpec(
        lambda r: figures.downloads(r["routers"], "f7"), ("routers",), ("routers",),
        'figures.downloads(routers, "f7")',
    ),
    "f8": FigureSpec(
        lambda r: figures.downloads(r["routers"], "f8"), ("routers",), ("routers",),
        'figures.downloads(routers, "f8")',
    ),
    "f9": FigureSpec(
        lambda r: figures.flood(r["flood"]), ("flood",), ("flood",), "figures.flood(flood)"
    ),
    "f10": FigureSpec(
        lambda r: figures.speedup(r["speedup"]), ("response",), ("speedup",),
        "figures.speedup(speedup)",
    ),
    "t1": FigureSpec(
        lambda r: figures_pages.page_times(r["table1"]), ("pages",), ("table1",),
        "pages.figures.page_times(table1)",
    ),
    "begin": FigureSpec(
        lambda r: figures_beyond.begins(r["begins"]), ("begins",), ("begins",),
        "beyond.figures.begins(begins)",
    ),
    "compared": FigureSpec(
        lambda r: figures_beyond.compared(r["compared"]), ("response", "beyond"), ("compared",),
        "beyond.figures.compared(compared)",
    ),
    "harm": FigureSpec(
        lambda r: figures_beyond.harm(r["harm"]), ("beside",), ("harm",),
        "beyond.figures.harm(harm)",
    ),
    "waits": FigureSpec(
        lambda r: figures_beyond.waits(r["waits"]), ("users",), ("waits",),
        "beyond.figures.waits(waits)",
    ),
    "f11": FigureSpec(
        lambda r: figures.times(r["router"]), ("router",), ("router",), "figures.times(router)"
    ),
}  # fmt: skip


def _tables(plan: Plan, parts: Mapping[str, pl.DataFrame]) -> Results:
    results = analyse(plan, parts)
    if "pages" in parts:
        results.tables["table1"] = analysis_pages.summary(parts["pages"])
    if "response" in parts and "beyond" in parts:
        whole = pl.concat([results["response"], parts["beyond"]], how="vertical_relaxed")
        results.tables["response"] = whole
        results.tables["compared"] = analysis_beyond.compared(whole)
        del results.tables["beyond"]
    if "beside" in parts:
        results.tables["harm"] = analysis_beyond.harm(parts["beside"])
    if "users" in parts:
        results.tables["waits"] = analysis_beyond.waits(parts["users"])
    return results


DEFINITION = Definition(
    study=STUDY,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=_tables,
    claims=(*CLAIMS, predicates_pages.CLAIM),
    figures=FIGURES,
    build=build,
    live=LIVE,
    linux=LINUX,
    code=(
        *("runs.py", "abuse/runs.py", "beyond/runs.py", "runs_costs.py", "pages/runs.py"),
        *("scenarios.py", "abuse/scenarios.py", "beyond/scenarios.py", "pages/scenarios.py"),
    ),
)

reproduce = DEFINITION.reproduce
