"""A study from end to end: its parts are run, reduced, judged, drawn and written.

A study's folder says what differs: a :class:`Definition`, and in ``__init__.py`` what a list of
studies shows, by :func:`listed`, which imports the rest when it is asked to run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import ackclock as ac
from ackclock.base.claims import Claim, ClaimResult, Study
from ackclock.base.entries import loaded
from ackclock.base.extras import REPORT, need
from ackclock.runs import identity

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from ackclock.base.writing import Folder
    from ackclock.report.page import Page
    from ackclock.studies.framework.linux import OnLinux
    from ackclock.studies.framework.live import Live
    from ackclock.studies.framework.page import PageContext
    from ackclock.studies.framework.parts import Part
    from ackclock.studies.framework.report import FigureSpec


class ResultTables(Protocol):
    """Results that are tables by name."""

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The tables."""
        ...

    def __getitem__(self, name: str, /) -> pl.DataFrame:
        """Return a table."""
        ...


T = TypeVar("T", bound=ResultTables)


class Sized(Protocol):
    """A plan: how much is run."""

    @property
    def quick(self) -> bool:
        """True if it is less than what the study asks for."""
        ...


class Build(Protocol[T]):
    """The signature of what writes a study's page."""

    def __call__(self, results: T, context: PageContext[T], /) -> Page:
        """Return the page."""
        ...


P = TypeVar("P", bound=Sized)
"""A study's plan."""


def _nothing(_plan: Any, _found: Mapping[str, pl.DataFrame], _threads: int | None) -> list[Part]:
    return []


@dataclass(frozen=True)
class ByName(Generic[P]):
    """A study's tables by name; each is a file under ``data/``."""

    plan: P
    tables: Mapping[str, pl.DataFrame]

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return a table."""
        return self.tables[name]


@dataclass(frozen=True)
class Definition(Generic[P, T]):
    """The definition of a study.

    ``code`` are the files of its folder that decide what a part holds, with all that they import of
    studies: with another text of theirs a finished part is not taken for finished. A figure names
    the parts that it needs by their whole names, or by what comes before the first ``-``.

    ``then`` are parts that can be named only when those of ``parts`` are finished.
    """

    study: Study
    plan: Callable[[bool], P]
    parts: Callable[[P, int | None], list[Part]]
    analyse: Callable[[P, Mapping[str, pl.DataFrame]], T]
    claims: Sequence[Claim[T]]
    figures: Mapping[str, FigureSpec[T]]
    build: Build[T]
    code: tuple[str, ...] = ("runs.py", "scenarios.py")
    then: Callable[[P, Mapping[str, pl.DataFrame], int | None], list[Part]] = _nothing
    live: Live | None = None
    """What it runs on real packets, as its figure ``live``; no part of the study's own run."""
    linux: OnLinux[P, T] | None = None
    """Its part on Linux in virtual time, as its figure ``linux``."""

    @property
    def key(self) -> str:
        """The study's key."""
        return self.study.key

    def reproduce(
        self,
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
        from ackclock.base.writing import Folder  # noqa: PLC0415 - slow imports

        plan = self.plan(quick)
        whole = ("index.html", "claims.json") if figure is None else (f"{figure}.svg",)
        with Folder(out, *whole) as folder:
            return self._reproduce(out, folder, plan, threads, console, figure)

    def _reproduce(
        self,
        out: Path,
        folder: Folder,
        plan: P,
        threads: int | None,
        console: Console,
        figure: str | None,
    ) -> list[ClaimResult]:
        from ackclock.plots.style import rendered  # noqa: PLC0415
        from ackclock.report import render  # noqa: PLC0415 - slow imports
        from ackclock.report.figures import stage_data, stage_files  # noqa: PLC0415
        from ackclock.studies.framework.linux import verdicts_in  # noqa: PLC0415 - leads back here
        from ackclock.studies.framework.page import PageContext, cited  # noqa: PLC0415
        from ackclock.studies.framework.parts import (  # noqa: PLC0415
            Ledger,
            PartStore,
            digest,
            run_parts,
        )
        from ackclock.studies.framework.report import stage_tables  # noqa: PLC0415

        quick = plan.quick
        if self.live is not None and figure == LIVE:
            self.live.measure(self.study, out, quick=quick, console=console)
            return []
        if self.linux is not None and figure == LINUX:
            from ackclock.studies.framework import linux  # noqa: PLC0415 - it leads back here

            linux.measure(
                self.linux, self.study, self.claims, self.analyse, out, folder,
                quick=quick, threads=threads, console=console,
            )  # fmt: skip
            return []
        metadata = {"study": self.key, "core": ac.__version__, "quick": "yes" if quick else "no"}
        wanted = None if figure is None else self.figures[figure].parts

        def needed(parts: list[Part]) -> list[Part]:
            return [part for part in parts if wanted is None or _is_needed(part.name, wanted)]

        code = digest(*identity.own_sources(self.study.folder / name for name in self.code))
        store = PartStore(out / "parts", digest(identity.rules_id(), code), metadata)
        ledger = Ledger(out / "data" / "cost.parquet", threads)
        try:
            parts = needed(self.parts(plan, threads))
            first = run_parts(parts, store, ledger, console)
            second = needed(self.then(plan, first, threads)) if wanted != () else []
            found = {**first, **run_parts(second, store, ledger, console)} if second else first
        except KeyboardInterrupt:
            console.print(
                "Interrupted; the finished parts are kept, and the next run begins there."
            )
            raise
        with console.status("Reducing and drawing"):
            results = self.analyse(plan, found)
            if figure is not None:
                recipe = self.figures[figure]
                stage_data(folder, {name: results[name] for name in recipe.data}, metadata)
                made = rendered(recipe.draw(results), figure)
                stage_files(folder, figure, made, recipe.code(self.study.package), within="")
                folder.commit()
                return []
            judged = [claim.judge(results) for claim in self.claims]
            stage_tables(folder, results.tables, judged, metadata)
            drawn = {key: recipe.draw(results) for key, recipe in self.figures.items()}
            context = PageContext(
                self.study, judged, drawn, self.figures, ac.__version__, plan.quick
            )  # fmt: skip
            page = self.build(results, context)
            runs = identity.digest(store.path(part).name for part in [*parts, *second])
            page = cited(page, self.study, runs, quick=plan.quick)
            if self.live is not None:
                page = self.live.added(page, self.study, out, quick=quick)
            if self.linux is not None:
                page = replace(page, linux=verdicts_in(out))
            for key, made in context.rendered.items():
                stage_files(folder, key, made, self.figures[key].code(self.study.package))
            folder.stage("index.html", render(page))
            folder.commit()
        return judged


LIVE = "live"
"""The figure that is made on real packets."""

LINUX = "linux"
"""The figure that is made on Linux in virtual time."""


def _is_needed(part: str, names: tuple[str, ...]) -> bool:
    return part in names or part.partition("-")[0] in names


@contextmanager
def budget(needed: str) -> Generator[None]:
    """Raise the budget of memory to what is needed, for as long as it lasts."""
    before, _ = ac.allow()
    after, _ = ac.allow(needed)
    if after < before:
        ac.allow(f"{before:.0f} B")
    try:
        yield
    finally:
        ac.allow(f"{before:.0f} B")


def listed(
    package: str,
    *,
    key: str,
    title: str,
    citation: str,
    figures: Mapping[str, str],
    memory: str = "4 GB",
) -> Study:
    """Return a study as lists show it; the module ``study`` of its package has the ``DEFINITION``.

    ``memory`` is the budget that its runs need, which they have if the process has no larger one.
    """

    def run(
        out: Path,
        *,
        quick: bool,
        threads: int | None,
        console: Console,
        figure: str | None = None,
    ) -> list[ClaimResult]:
        need("studies need", *REPORT, extra="studies")
        definition: Definition[Any, Any] = loaded(f"study {key}", f"{package}.study:DEFINITION")
        with budget(memory):
            return definition.reproduce(
                out, quick=quick, threads=threads, console=console, figure=figure
            )

    return Study(key=key, title=title, citation=citation, run=run, figures=figures, package=package)
