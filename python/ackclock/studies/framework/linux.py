"""A study's statements on a real Linux: its own parts, analysis and predicates, a third time.

Each part is computed at three places: simulated as the study has it, simulated with the sender that
the kernel is asked for, and on Linux in virtual time. The second one tells what Linux's recovery
and habits change from what the kernel alone does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import polars as pl

import ackclock as ac
from ackclock.base.claims import Claim, ClaimResult, Observation, PartResult, R
from ackclock.base.errors import UnfinishedError
from ackclock.base.places import LINUX, Place
from ackclock.base.threads import Alive, side_by_side
from ackclock.report.page import Cell, Drawing, Page, Prose, Section, Sheet, pill
from ackclock.runs import identity
from ackclock.runs.run import TABLES
from ackclock.studies.framework.parts import (
    Advance,
    Ledger,
    Part,
    PartStore,
    digest,
    run_parts,
)
from ackclock.studies.framework.simulation import Bench, Tables, on_bench
from ackclock.studies.framework.study import LINUX as KEY, P, T

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from ackclock.base.claims import Study
    from ackclock.base.writing import Folder
    from ackclock.report.figures import FigureCode

OWN, ALIKE, REAL = "simulated", "simulated as Linux", "on Linux"
"""The places: the study's scenarios, those that Linux is asked for, and Linux."""

Asked = Callable[[ac.Scenario], ac.Scenario]
"""The scenario that the kernel is asked for in place of one of the study's."""


@dataclass(frozen=True)
class OnLinux(Generic[P, T]):
    """A study's part on Linux in virtual time.

    ``parts`` are those of the study's that its statements on Linux need, of a plan that a kernel
    can carry. ``table`` makes the rows of the figure from the results at each place, which ``draw``
    draws. ``not_asked`` says of the other statements why a kernel cannot be asked.
    """

    file: Path
    plan: Callable[[bool], P]
    parts: Callable[[P, int | None], list[Part]]
    asked: Asked
    claims: Sequence[str]
    not_asked: Mapping[str, str]
    table: Callable[[Mapping[str, T]], pl.DataFrame]
    draw: Callable[[pl.DataFrame], Figure]
    caption: str
    closed: Sequence[str] = ()
    """The predicates that no run decides, as they hold closed forms against print."""
    also: Sequence[str | Callable[[pl.DataFrame], str]] = ()
    """Sentences of the page, as HTML, or what makes them of the figure's rows."""


@dataclass(frozen=True)
class Compared:
    """A predicate at the three places, and in how many numbers the simulation agrees with Linux.

    Two numbers agree if both pass, if neither does, or if they are no farther apart than the
    predicate's tolerance.
    """

    at: Mapping[str, PartResult]
    agree: int
    numbers: int

    @classmethod
    def of(cls, at: Mapping[str, PartResult]) -> Compared:
        """Return the comparison of one predicate's findings."""
        real = at[REAL]
        beside = {seen.label: passed for seen, passed in _numbers(at[ALIKE])}
        values = {seen.label: seen.value for seen, _ in _numbers(at[ALIKE])}
        bound = abs(real.predicate.tolerance)
        both = [(seen, passed) for seen, passed in _numbers(real) if seen.label in beside]
        agree = sum(
            passed == beside[seen.label] or abs(seen.value - values[seen.label]) <= bound
            for seen, passed in both
        )
        return cls(at, agree, len(both))


def _nothing(_: object) -> dict[str, Any]:
    return {}


def _numbers(part: PartResult) -> list[tuple[Observation, bool]]:
    return list(zip(part.observations, part.passed, strict=True))


@dataclass(frozen=True)
class Statement:
    """A statement with its verdict at each place."""

    id: str
    text: str
    at: Mapping[str, ClaimResult]
    tests: Sequence[Compared] = field(default_factory=tuple)

    @classmethod
    def of(cls, claim: Claim[R], results: Mapping[str, R], closed: Sequence[str] = ()) -> Statement:
        """Judge a claim at each place by its predicates, under the study's own reading alone.

        Those that are ``closed`` decide the verdict with the others, and are not compared.
        """
        bare = Claim(claim.id, claim.statement, claim.predicates, _nothing, _nothing)
        at = {place: bare.judge(found) for place, found in results.items()}
        tests = [
            Compared.of(dict(zip(at, parts, strict=True)))
            for parts in zip(*(judged.parts for judged in at.values()), strict=True)
            if parts[0].predicate.id not in closed
        ]
        return cls(claim.id, claim.statement, at, tests)

    def nearer(self) -> str:
        """Return which of simulation and Linux has more of the paper's numbers, where they part."""
        own, real = self.at[OWN], self.at[REAL]
        if own.verdict == real.verdict:
            return "the same verdict"
        shares = [judged.passed / max(1, _of(judged)) for judged in (own, real)]
        if shares[0] == shares[1]:
            return "neither"
        return "simulation" if shares[0] > shares[1] else "Linux"

    def because(self) -> str:
        """Return what makes the difference, by the simulated sender with the kernel's habits."""
        own, alike, real = (self.at[place].verdict for place in (OWN, ALIKE, REAL))
        if own == real:
            return ""
        if alike == real:
            return "Linux’s recovery and habits: the simulated sender that has them says the same"
        if alike == own:
            return "the kernel: the simulated sender with its habits says what the study’s does"
        return "both the habits of Linux and the kernel"

    def as_json(self) -> dict[str, Any]:
        """Return the entry of ``claims-linux.json``."""
        return {
            "id": self.id,
            "verdicts": {place: judged.verdict for place, judged in self.at.items()},
            "holds": {place: judged.share() for place, judged in self.at.items()},
            "nearer": self.nearer(),
            "because": self.because(),
            "tests": [
                {
                    "metric": test.at[REAL].predicate.metric,
                    "bound": test.at[REAL].predicate.rule,
                    "observed": {place: part.summary() for place, part in test.at.items()},
                    "agree": test.agree,
                    "numbers": test.numbers,
                }
                for test in self.tests
            ],
        }


def _of(judged: ClaimResult) -> int:
    return sum(len(part.passed) for part in judged.parts)


def claims_file(out: Path) -> Path:
    """Return the file of the verdicts on Linux of a study's report."""
    return out / f"claims-{KEY}.json"


def verdicts_in(out: Path) -> dict[str, str]:
    """Return each statement's verdict on Linux that lies in a report; none without that part."""
    try:
        told = json.loads(claims_file(out).read_text())
        return {each["id"]: each["verdicts"][REAL] for each in told["statements"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def measure(
    on: OnLinux[P, T],
    study: Study,
    claims: Sequence[Claim[T]],
    analyse: Callable[[P, Mapping[str, pl.DataFrame]], T],
    out: Path,
    folder: Folder,
    *,
    quick: bool,
    threads: int | None,
    console: Console,
) -> list[Statement]:
    """Run what is not finished, judge the statements, and write page, verdicts, figure and data.

    Raises
    ------
    BadInput
        There is no kernel in virtual time, or it does not take a scenario.
    """
    from ackclock.plots.style import rendered  # noqa: PLC0415 - slow imports
    from ackclock.report import render  # noqa: PLC0415
    from ackclock.report.figures import stage_data, stage_files  # noqa: PLC0415

    kernel = identity.kernel_at(Place(LINUX))
    guest = Place(LINUX, key=kernel["key"])
    plan = on.plan(quick)
    parts = on.parts(plan, threads)
    code = digest(identity.rules_id(), *identity.own_sources([on.file]))
    benches: dict[str, tuple[Bench | None, str]] = {
        OWN: (None, ""),
        ALIKE: (partial(_simulated, on.asked), ""),
        REAL: (partial(_guests, on.asked, guest), identity.place_id(guest)),
    }
    results: dict[str, T] = {}
    for place, (bench, decided) in benches.items():
        console.print(f"{study.key}, {place}")
        word = place.replace(" ", "-")
        store = PartStore(out / "parts", digest(code, place, decided), {"part of": word})
        ledger = Ledger(out / "data" / f"cost-{word}.parquet", threads)
        with on_bench(bench):
            results[place] = analyse(plan, run_parts(parts, store, ledger, console))
    by_id = {claim.id: claim for claim in claims}
    statements = [Statement.of(by_id[name], results, on.closed) for name in on.claims]
    rows = on.table(results)
    metadata = {"study": study.key, "quick": "yes" if quick else "no"}
    stage_data(folder, {KEY: rows}, metadata)
    made = rendered(on.draw(rows), KEY, title="Three ways", description=on.caption)
    code_of = _code(study, on)
    stage_files(folder, KEY, made, code_of, within="")
    also = [each if isinstance(each, str) else each(rows) for each in on.also]
    page = _page(on, study, statements, kernel, made.page, code_of, also, quick=quick)
    folder.stage(f"{KEY}.html", render(page))
    told = {
        "study": study.key,
        "kernel": kernel["key"],
        "quick": quick,
        "statements": [statement.as_json() for statement in statements],
        "not asked": dict(on.not_asked),
    }
    folder.stage(claims_file(out).name, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    folder.commit()
    return statements


def _simulated(
    asked: Asked, scenarios: Sequence[ac.Scenario], threads: int | None, progress: Advance | None
) -> Tables:
    runs = ac.simulate_many(map(asked, scenarios), threads=threads, progress=progress)
    return Tables(runs.to_polars())


def _guests(
    asked: Asked,
    place: Place,
    scenarios: Sequence[ac.Scenario],
    threads: int | None,
    progress: Advance | None,
) -> Tables:
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    calls = [partial(_guest, asked(each), place) for each in scenarios]
    for cell, tables in enumerate(side_by_side(calls, threads)):
        for name, frame in tables.items():
            frames[name].append(frame.select(pl.lit(cell, pl.Int64).alias("cell"), pl.all()))
        if progress is not None:
            progress(cell + 1)
    return Tables({name: pl.concat(found) for name, found in frames.items()})


def _guest(scenario: ac.Scenario, place: Place, alive: Alive) -> dict[str, pl.DataFrame]:
    run = ac.run(scenario, on=place, progress=alive)
    report = run.live or {}
    if not report.get("valid"):
        msg = f"{scenario.title or KEY}: no measurement: {'; '.join(report.get('doubts', ()))}"
        raise UnfinishedError(msg)
    frames = run.to_polars()
    return {
        name: frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
        for name, frame in frames.items()
    }


# ---------------------------------------------------------------------------------------- the page


def _code(study: Study, on: OnLinux[P, T]) -> FigureCode:
    from ackclock.report.figures import FigureCode  # noqa: PLC0415 - slow imports

    module = on.file.stem
    return FigureCode(f"from {study.package} import {module}", (KEY,), f"{module}.draw({KEY})")


def _page(
    on: OnLinux[P, T],
    study: Study,
    statements: Sequence[Statement],
    kernel: Mapping[str, Any],
    svg: str,
    code: FigureCode,
    also: Sequence[str],
    *,
    quick: bool,
) -> Page:
    command = f"ackclock reproduce {study.key}/{KEY}" + (" --quick" if quick else "")
    figure = Drawing(
        KEY, "Three ways", on.caption, svg, f"{command} --out DIR", code.lines(), code.data
    )
    same = sum(each.at[OWN].verdict == each.at[REAL].verdict for each in statements)
    agree, numbers = (
        sum(getattr(test, name) for each in statements for test in each.tests)
        for name in ("agree", "numbers")
    )
    return Page(
        title=f"{study.title}: on a real Linux",
        subtitle="The statements of the paper by simulation and by Linux’s own TCP.",
        citation=study.citation,
        banner="Fewer or shorter runs than the whole comparison has." if quick else "",
        kicker="a published study, judged by a kernel",
        lead=(
            Prose(
                f"Linux {kernel['version']} in virtual time was asked "
                f"<strong>{len(statements)}</strong> of the paper’s statements, over the study’s "
                "own paths, with its applications and its tests. "
                f"<strong>{same}</strong> have the verdict of the simulation. Of {numbers} numbers "
                f"behind them, {agree} are on the same side of their bound as the simulated "
                "sender’s with Linux’s habits, or as near to it as the bound is wide."
            ),
            *map(Prose, also),
        ),
        summary=(),
        sections=(
            Section("statements", "Statements", (_statements(statements), *_left_out(on))),
            Section("figure", "Three ways", (figure,)),
            Section("tests", "Tests", (_tests(statements),)),
        ),
        footer=(
            Prose(
                f"Made by Ackclock {ac.__version__} with <code>{command}</code> on "
                f"<code>{kernel['key']}</code>. The same kernel and version give the same "
                f"bytes; what the runs cost is in <code>data/cost-{REAL.replace(' ', '-')}.parquet"
                "</code> alone."
            ),
        ),
    )


def _statements(statements: Sequence[Statement]) -> Sheet:
    return Sheet(
        key="statements",
        label="The statements",
        caption="“simulated as Linux” is the simulator’s sender with the recovery, the timers and "
        "the habits of the kernel’s.",
        heads=("claim", "statement", OWN, ALIKE, REAL, "nearer to the paper", "the difference"),
        rows=tuple(
            (
                Cell(each.id),
                Cell(each.text),
                *(Cell(pill(judged.verdict), title=judged.share()) for judged in each.at.values()),
                Cell(each.nearer()),
                Cell(each.because()),
            )
            for each in statements
        ),
        text_columns=frozenset(range(1, 7)),
    )


def _tests(statements: Sequence[Statement]) -> Sheet:
    return Sheet(
        key="tests",
        label="The tests",
        caption="How many numbers pass, the worst of them, and in how many the simulated sender "
        "with Linux’s habits agrees with Linux.",
        heads=("claim", "measured", "bound", OWN, ALIKE, REAL, "agree"),
        rows=tuple(
            (
                Cell(each.id),
                Cell(test.at[REAL].predicate.metric),
                Cell(test.at[REAL].predicate.rule),
                *(Cell(part.summary()) for part in test.at.values()),
                Cell(f"{test.agree} of {test.numbers}"),
            )
            for each in statements
            for test in each.tests
        ),
        stubs=2,
        text_columns=frozenset(range(2, 7)),
    )


def _left_out(on: OnLinux[P, T]) -> Sequence[Sheet]:
    rows = tuple((Cell(name), Cell(why)) for name, why in on.not_asked.items())
    label, heads = "Statements that no kernel can be asked", ("claim", "reason")
    sheet = Sheet("not-asked", label, "", heads, rows, text_columns=frozenset({1}))
    return (sheet,) if rows else ()
