"""The study from end to end: rates, parts, tables, verdicts, page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from rich.console import Console

from ackclock.report import render
from ackclock.studies._frame import ClaimResult
from ackclock.studies._frame_core import Core, core_identity
from ackclock.studies._frame_parts import Ledger, PartStore, digest, run_parts, write_text
from ackclock.studies._frame_report import Drawn, write_figure, write_tables
from ackclock.studies.tambuwal2018 import figures
from ackclock.studies.tambuwal2018.analysis import Results, analyse
from ackclock.studies.tambuwal2018.page import build
from ackclock.studies.tambuwal2018.predicates import CLAIMS
from ackclock.studies.tambuwal2018.runs import found_rate, parts, rate_part
from ackclock.studies.tambuwal2018.scenarios import GUESSES, Plan

KEY = "tambuwal2018"
DRAWS = 20_000

_ALL = ("runs",)


def _drawn(name: str, needs: Sequence[str], *tables: str) -> Drawn[Results]:
    draw = getattr(figures, name)
    return Drawn(
        lambda results: draw(*(results[table] for table in tables)),
        tuple(needs),
        tables,
        f"figures.{name}({', '.join(tables)})",
    )


FIGURES: Mapping[str, Drawn[Results]] = {
    "f2": _drawn("marginals", (), "curves"),
    "f4": _drawn("short", _ALL, "lost"),
    "f5": _drawn("high_rtt", _ALL, "lost"),
    "f6": _drawn("congested", _ALL, "lost"),
    "f7": _drawn("averages", (*_ALL, "feedback"), "runs", "feedback"),
    "f8": _drawn("loss_rates", (*_ALL, "feedback"), "runs", "feedback"),
    "f9": _drawn("seconds", _ALL, "seconds"),
    "f10": _drawn("second_tails", _ALL, "seconds"),
    "f11": _drawn("throughput", _ALL, "runs"),
    "f12": _drawn("mixed", ("mixed",), "mixed"),
    "middlebox": _drawn("middlebox", ("middlebox",), "middlebox"),
}


class _Draws(Protocol):
    def packmime(self, parameters: str) -> str: ...


def draws(core: Core) -> dict[str, Any]:
    """Return the model's draws beside the reference."""
    low = [n / 200 for n in range(1, 200)]
    tail = [1 - 10 ** (-n / 20) for n in range(47, 61)]
    question = {"rate_per_s": GUESSES[0.4], "draws": DRAWS, "probabilities": [*low, *tail]}
    return json.loads(cast("_Draws", core).packmime(json.dumps(question)))


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
    store = PartStore(out / "parts", digest(*core_identity(core), _code()), metadata)
    ledger = Ledger(out / "data" / "cost.parquet", threads)
    wanted = None if figure is None else FIGURES[figure].parts
    try:
        searches = [rate_part(core, plan, load, threads) for load in plan.loads]
        rated = run_parts(searches, store, ledger, console) if wanted != () else {}
        rates = {
            load: found_rate(frame) for load, frame in zip(plan.loads, rated.values(), strict=False)
        }
        todo = parts(core, plan, rates, threads) if rates else []
        if wanted is not None:
            todo = [part for part in todo if part.name.partition("-")[0] in wanted]
        found = {**rated, **run_parts(todo, store, ledger, console)}
    except KeyboardInterrupt:
        console.print("Interrupted; the finished parts are kept, and the next run begins there.")
        raise
    with console.status("Reducing and drawing"):
        results = analyse(plan, found, draws(core))
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
    """Return a hash of the code that decides what a part holds."""
    here = Path(__file__).parent
    names = ("runs.py", "scenarios.py")
    return digest(*(here / name for name in names), here.parent / "_frame_core.py")
