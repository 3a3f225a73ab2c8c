"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from ackclock.report import render
from ackclock.studies._frame import ClaimResult
from ackclock.studies._frame_core import Core, core_identity
from ackclock.studies._frame_parts import Ledger, PartStore, digest, run_parts, write_text
from ackclock.studies._frame_report import Drawn, write_figure, write_tables
from ackclock.studies.watanabe2013 import figures
from ackclock.studies.watanabe2013.analysis import Results, analyse
from ackclock.studies.watanabe2013.page import build
from ackclock.studies.watanabe2013.predicates import CLAIMS
from ackclock.studies.watanabe2013.runs import parts
from ackclock.studies.watanabe2013.scenarios import Plan

KEY = "watanabe2013"

FIGURES: Mapping[str, Drawn[Results]] = {
    "bars": Drawn(
        lambda r: figures.bars(r["summary"]), ("trials",), ("summary",), "figures.bars(summary)"
    ),
    "windows": Drawn(
        lambda r: figures.windows(r["traces"]), ("traces",), ("traces",), "figures.windows(traces)"
    ),
    "ranks": Drawn(
        lambda r: figures.ranks(r["summary"]), ("trials",), ("summary",), "figures.ranks(summary)"
    ),
}


def reproduce(
    core: Core,
    out: Path,
    *,
    quick: bool,
    threads: int | None,
    console: Console,
    figure: str | None = None,
) -> list[ClaimResult]:
    """Run what is not finished yet, judge every claim, write page, claims and data.

    With ``figure`` only that figure's parts run, and ``FIGURE.svg`` and its data are written.
    """
    plan = Plan(quick=quick)
    metadata = {"study": KEY, "core": core.version(), "quick": "yes" if quick else "no"}
    todo = parts(core, plan, threads)
    if figure is not None:
        todo = [part for part in todo if part.name.partition("-")[0] in FIGURES[figure].parts]
    store = PartStore(out / "parts", digest(*core_identity(core), _code()), metadata)
    ledger = Ledger(out / "data" / "cost.parquet", threads)
    try:
        found = run_parts(todo, store, ledger, console)
    except KeyboardInterrupt:
        console.print("Interrupted; the finished parts are kept, and the next run begins there.")
        raise
    with console.status("Reducing and drawing"):
        results = analyse(plan, found)
        if figure is not None:
            recipe = FIGURES[figure]
            data = {name: results[name] for name in recipe.data}
            write_figure(out, figure, recipe.draw(results), data, metadata)
            return []
        judged = [claim.judge(results) for claim in CLAIMS]
        write_tables(out, results.tables, judged, metadata)
        drawn = {key: recipe.draw(results) for key, recipe in FIGURES.items()}
        page = build(results, judged, drawn, FIGURES, core.version())
        write_text(out / "index.html", render(page))
    return judged


def _code() -> str:
    """Return a hash of the code, and of the video, that decide what a part holds."""
    here = Path(__file__).parent
    names = ("runs.py", "scenarios.py", "pictures.csv")
    return digest(*(here / name for name in names), here.parent / "_frame_core.py")
