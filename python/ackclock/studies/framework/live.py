"""A study's part on real packets: the same scenarios live and simulated, side by side.

It is no part of a study's own run, as it takes the time that its scenarios say, and rights that
not everybody has: ``ackclock reproduce STUDY/live`` makes it, and the study's page shows what lies
finished in the same folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from rich.text import Text

import ackclock as ac
from ackclock.base.writing import plain
from ackclock.report.page import Block, Cell, Drawing, Page, Prose, Section, Sheet
from ackclock.studies.framework.parts import Part, PartStore, digest
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.study import LIVE as KEY

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from ackclock.base.claims import Study
    from ackclock.report.figures import FigureCode
    from ackclock.runs.run import Run

MOST_TRIES = 4
"""The most runs that are made until the path of one has kept its promises."""


@dataclass(frozen=True)
class SimAndLive:
    """The scenario that is simulated and the one that is run live, where these must differ."""

    sim: ac.Scenario
    live: ac.Scenario


@dataclass(frozen=True)
class Trial:
    """A scenario that is simulated once and run live ``repeat`` times.

    With programs as its ends the two differ: ``prepare`` makes both of ``scenario``. It is given
    the folder of the report, and may put files there, which the programs' user, an ordinary one,
    has to be able to read. It raises ``BadInput`` with what is missing.
    """

    name: str
    labels: Mapping[str, Any]
    """The first columns of its rows."""
    scenario: ac.Scenario
    repeat: int = 1
    prepare: Callable[[Path, ac.Scenario], SimAndLive] | None = None
    routers: Literal["xdp", "tc"] | None = None
    """The Quick-Start routers of the live runs, if they are the kernel's."""


def _code(study: Study) -> FigureCode:
    from ackclock.report.figures import FigureCode  # noqa: PLC0415 - slow imports

    return FigureCode(f"from {study.package} import live", (KEY,), f"live.LIVE.draw({KEY})")


@dataclass(frozen=True)
class Live:
    """A study's runs on real packets, and how they are shown.

    ``reduce`` makes the rows of one run; ``draw`` and ``blocks`` see the rows of all trials, which
    begin with the trial's labels, then ``on`` (``sim`` or ``live``) and ``number``, the run's.
    """

    file: Path
    title: str
    caption: str
    trials: Callable[[bool], Sequence[Trial]]
    reduce: Callable[[Run], pl.DataFrame]
    draw: Callable[[pl.DataFrame], Figure]
    blocks: Callable[[pl.DataFrame], Sequence[Block]]

    def measure(self, study: Study, out: Path, *, quick: bool, console: Console) -> None:
        """Make what is not finished yet, and write ``live.svg`` and ``data/live.parquet``.

        Raises
        ------
        BadInput
            A lack of this machine or this user for live runs, or no run that was a measurement.
        """
        from ackclock.base.errors import BadInput  # noqa: PLC0415 - slow imports
        from ackclock.base.writing import Folder  # noqa: PLC0415 - slow imports
        from ackclock.plots.style import rendered  # noqa: PLC0415
        from ackclock.report.figures import stage_data, stage_files  # noqa: PLC0415

        store = self._store(out)
        refused: list[str] = []
        for trial in self.trials(quick):
            part = self._part(trial)
            if store.load(part) is not None:
                continue
            with console.status(Text(f"{trial.name}, {trial.scenario.duration} a run")):
                frame, doubts = self._run(trial, out)
            if frame is None:
                refused.append(f"{trial.name}: {doubts[-1]}")
                said = plain(f"live: {trial.name} is left out: {'; '.join(doubts)}")
                console.print(said, soft_wrap=True)
            else:
                store.save(part, frame)
        found = self._found(out, quick=quick)
        if found is None:
            raise BadInput(f"{study.key}/{KEY}: no run was a measurement ({refused[0]})")
        metadata = {"study": study.key, "quick": "yes" if quick else "no"}
        with Folder(out) as folder:
            stage_data(folder, {KEY: found}, metadata)
            stage_files(folder, KEY, rendered(self.draw(found), KEY), _code(study), within="")
            folder.commit()

    def added(self, page: Page, study: Study, out: Path, *, quick: bool) -> Page:
        """Return the page with a section on what lies finished in ``out``."""
        from dataclasses import replace  # noqa: PLC0415 - beside its one use

        command = f"ackclock reproduce {study.key}/{KEY}" + (" --quick" if quick else "")
        found = self._found(out, quick=quick)
        blocks: Sequence[Block] = (
            Prose(
                "Not measured here. Live runs need rights, and take the time that they take: "
                f"<code>{command}</code> makes them in the same folder, and the next report shows "
                "them."
            ),
        )
        if found is not None:
            blocks = (*self.blocks(found), self._drawing(study, found, command))
        return replace(
            page, sections=(*page.sections, Section(KEY, "On real packets: " + self.title, blocks))
        )

    def _drawing(self, study: Study, found: pl.DataFrame, command: str) -> Drawing:
        from ackclock.plots.style import rendered  # noqa: PLC0415 - slow imports
        from ackclock.report.figures import drawing  # noqa: PLC0415

        made = rendered(self.draw(found), KEY, title=self.title, description=self.caption)
        return drawing(
            KEY, made, _code(study), label="Simulated and on real packets",
            caption=self.caption, command=f"{command} --out DIR", files=False,
        )  # fmt: skip

    def _store(self, out: Path) -> PartStore:
        # Neither the simulator's version nor the machine's: the kernel is what is measured.
        return PartStore(out / "parts", digest(self.file), {"part of": KEY})

    def _part(self, trial: Trial) -> Part:
        inputs: list[Any] = [trial.scenario.to_dict(), trial.repeat]
        if trial.routers is not None:
            inputs.append(trial.routers)
        return Part(f"{KEY}-{trial.name}", inputs, 0, lambda _advance: pl.DataFrame())

    def _found(self, out: Path, *, quick: bool) -> pl.DataFrame | None:
        store = self._store(out)
        frames = [store.load(self._part(trial)) for trial in self.trials(quick)]
        there = [frame for frame in frames if frame is not None]
        return pl.concat(there) if there else None

    def _run(self, trial: Trial, out: Path) -> tuple[pl.DataFrame | None, list[str]]:
        """Return the rows of a trial, or why there are none."""
        from ackclock.base.errors import BadInput  # noqa: PLC0415 - slow imports

        both = SimAndLive(trial.scenario, trial.scenario)
        if trial.prepare is not None:
            try:
                both = trial.prepare(out, trial.scenario)
            except BadInput as error:
                return None, [f"skipped: {error}"]
        doubts: list[str] = []
        rows = [self._rows(trial, "sim", 0, ac.simulate(both.sim))]
        for number in range(trial.repeat):
            for _ in range(MOST_TRIES):
                # The programs are the study's own, and not those of a file.
                try:
                    run = ac.run_live(both.live, allow_programs=True, routers=trial.routers)
                except BadInput as error:
                    if trial.prepare is None:
                        raise
                    # One that an ordinary user may not run, such as a Python in root's home.
                    return None, [f"skipped: {error}"]
                report = run.live or {}
                if report.get("valid"):
                    rows.append(self._rows(trial, "live", number, run))
                    break
                doubts = list(report.get("doubts", ()))
            else:
                return None, doubts
        return pl.concat(rows), doubts

    def _rows(self, trial: Trial, on: str, number: int, run: Run) -> pl.DataFrame:
        labels = {**trial.labels, "on": on, "number": number}
        reduced = self.reduce(run)
        return reduced.select(
            *(pl.lit(value).alias(name) for name, value in labels.items()), pl.all()
        )


def compared(
    key: str,
    label: str,
    caption: str,
    rows: pl.DataFrame,
    heads: Mapping[str, str],
    value: str,
    show: Callable[[float], str],
) -> Sheet:
    """Return a table of a row a trial: ``value`` simulated and live, and how far they are apart.

    ``heads`` are the columns of ``rows`` that tell trials apart, and what they are called.
    """
    by = list(heads)
    means = rows.group_by(*by, "on", maintain_order=True).agg(
        mean_of(pl.col(value)), pl.col("number").n_unique().alias("runs")
    )
    cells: list[tuple[Cell, ...]] = []
    for names, here in means.group_by(by, maintain_order=True):
        of = {row["on"]: row for row in here.iter_rows(named=True)}
        if len(of) < 2 or any(row[value] is None for row in of.values()):
            continue
        apart = of["live"][value] / of["sim"][value] - 1 if of["sim"][value] else float("nan")
        cells.append(
            (
                *(Cell(str(name)) for name in names),
                Cell(show(of["sim"][value])),
                Cell(show(of["live"][value])),
                Cell(f"{100 * apart:+.1f} %".replace("-", "−")),
                Cell(str(of["live"]["runs"])),
            )
        )
    return Sheet(
        key=key,
        label=label,
        caption=caption,
        heads=(*heads.values(), "simulated", "live", "apart", "live runs"),
        rows=tuple(cells),
        stubs=len(heads),
        data=(KEY,),
    )
