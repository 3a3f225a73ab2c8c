"""The command ``ackclock readings``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.shown import span
from ackclock.base.threads import MOST_THREADS
from ackclock.base.words import number_of
from ackclock.cli import printing
from ackclock.cli.options import AsJson

if TYPE_CHECKING:
    import polars as pl

    from ackclock.studies.framework.readings import Readings
    from ackclock.sweeps.readings.run import Outcome
    from ackclock.sweeps.stores.work import Progress

__all__ = ["readings"]

_SHOWN = 8
#: The share of a time that goes into the samples; the rest is the local search and fresh seeds.
_SAMPLES_SHARE = 0.6
_MOST_SAMPLES = 10_000_000


def readings(
    key: Annotated[
        str | None,
        typer.Argument(metavar="[KEY]", help="The study. Without it: list those that have any."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the page and of the store; default: report/readings-KEY.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="N|TIME",
            help="The samples of the search, such as 10000, or a time, "
            'such as "50 min"; default: as the study declares.',
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the open choices and the time; run one.")
    ] = False,
    show: Annotated[
        str | None,
        typer.Option(
            metavar="READING",
            help="Show a reading: its short name, `default`, `best` (of the search in --out, else "
            'of the one that the study keeps), or "axis=label; axis=label".',
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(metavar="READING", help="Run a reading by itself, and judge it."),
    ] = None,
    size: Annotated[
        Literal["short", "long"] | None,
        typer.Option(help="The size of what --run runs of the study. Default: short."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of --run. Default: 0.")] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_THREADS, help="The runs at once. Default: one for each core."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search what a paper leaves open for the reading under which most of it holds at once."""
    # Frames of a reading are small: threads of Polars would take the cores from the runs.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from ackclock.studies import STUDIES
    from ackclock.sweeps.tasks import studies

    asked = {"--show": show, "--run": run, "--dry-run": dry_run or None, "--budget": budget}
    given = [name for name, value in asked.items() if value is not None]
    if key is None and given:
        raise BadInput(f"{given[0]}: expected a study beside it")
    if len(given) > 1 and given != ["--dry-run", "--budget"]:
        raise BadInput(f"{given[1]}: stands beside {given[0]}, expected one of them")
    if run is None and (size is not None or seed is not None):
        raise BadInput(f"{'--seed' if size is None else '--size'}: expected --run beside it")
    if key is None:
        listed = studies.declared()
        if as_json:
            printing.print_json(listed)
        else:
            printing.print_values(listed)
        for line in STUDIES.all()[1]:
            printing.say(line)
        return
    of = studies.readings_of(key)
    out = Path("report", f"readings-{key}") if out is None else out
    if show is not None:
        _show(of, show, out, as_json=as_json)
    elif run is not None:
        _run(of, run, out, size or "short", seed or 0, as_json=as_json)
    elif dry_run:
        _dry_run(of, budget, threads, as_json=as_json)
    else:
        _search(of, out, budget, threads, as_json=as_json)


def _samples(of: Readings[Any, Any], text: str | None, cell_s: Callable[[], float]) -> int:
    """Return the number of samples that a budget is; ``cell_s`` is called where it is a time."""
    if text is None:
        return of.budget.samples
    if _is_number(text):
        samples = int(text) if len(text.strip()) <= len(str(_MOST_SAMPLES)) else _MOST_SAMPLES + 1
        if not 1 <= samples <= _MOST_SAMPLES:
            raise BadInput(f"--budget: {text}, expected 1 to {_MOST_SAMPLES:,} samples, or a time")
        return samples
    seconds = _core.seconds("--budget", text)
    return max(1, round(_SAMPLES_SHARE * seconds / cell_s()))


def _is_number(text: str) -> bool:
    return text.isascii() and text.strip().isdecimal()


def _measured(of: Readings[Any, Any], threads: int | None) -> float:
    """Return the time that a reading takes of all cores together."""
    from ackclock.base.threads import cores
    from ackclock.sweeps.readings.run import run_one

    run_one(of.key, of.default, "short", 0)
    began = monotonic()
    run_one(of.key, of.default, "short", 1)
    return (monotonic() - began) / (threads or cores())


def _search(
    of: Readings[Any, Any], out: Path, budget: str | None, threads: int | None, *, as_json: bool
) -> None:
    from ackclock.base.writing import Folder
    from ackclock.report import render
    from ackclock.report.figures import stage_data
    from ackclock.studies.framework.found import FILE
    from ackclock.sweeps.readings.found import outcome, tables
    from ackclock.sweeps.readings.page import build
    from ackclock.sweeps.readings.run import search_readings

    with Folder(out, "index.html"):
        pass
    samples = _samples(of, budget, lambda: _measured(of, threads))
    with printing.status(f"readings of {of.key}", printing.KEPT) as status:

        def told(stage: str, now: Progress) -> None:
            left = "" if now.left_s is None else f", {span(now.left_s)} left"
            status(f"{of.key}: {stage}, {now.done:,} of {number_of(now.whole, 'run')}{left}")

        found = search_readings(of.key, out / "store", samples=samples, threads=threads, told=told)
    made = tables(found)
    words = {claim.id: claim.statement for claim in of.claims}
    about = {"study": of.key, "core": _core.version(), "samples": str(samples)}
    with Folder(out, "index.html") as folder:
        stage_data(folder, made, about)
        folder.stage(FILE, outcome(found, made).text())
        folder.stage("index.html", render(build(found, made, words)))
        folder.commit()
    if as_json:
        printing.print_json(_as_json(found, made))
        return
    _tell(found, made)
    printing.tell(f"The page: {out / 'index.html'}")


def _as_json(found: Outcome, made: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    best = found.best[0] if found.best else None
    return {
        "study": found.of.key,
        "tried": found.tried,
        "best": best,
        "reading": None if best is None else dict(found.readings[best]),
        "statements": made["statements"].to_dicts(),
        "predicates": made["predicates"].to_dicts(),
    }


def _tell(found: Outcome, made: Mapping[str, pl.DataFrame]) -> None:
    from rich.table import Table

    from ackclock.sweeps.readings.page import share
    from ackclock.sweeps.readings.run import FRESH, changed

    table = Table(box=None, header_style="bold")
    for head in ("reading", "stage", "seeds", "statements", "predicates", "other choices"):
        table.add_column(head, justify="right" if head in ("seeds", "statements") else "left")
    for row in made["readings"].head(_SHOWN).iter_rows(named=True):
        table.add_row(
            row["reading"], row["stage"], str(row["seeds"]), f"{row['statements_held']:.3g}",
            f"{row['predicates_held']:.3g}", row["choices"],
        )  # fmt: skip
    printing.print_table(table)
    table = Table("statement", "best", "own", "readings", box=None, header_style="bold")
    for row in made["statements"].iter_rows(named=True):
        table.add_row(
            row["claim"], share(row, "best"), share(row, "own"),
            f"{row['held']:,} of {row['tried']:,}",
        )  # fmt: skip
    printing.print_table(table)
    printing.tell(
        f"{number_of(found.tried, 'reading')} tried; shares are of seeds from {FRESH} on."
    )
    if found.best:
        printing.tell(
            f"The best, {found.best[0]}: {changed(found.of, found.readings[found.best[0]])}"
        )


def _tried(of: Readings[Any, Any], out: Path) -> tuple[dict[str, dict[str, str]], pl.DataFrame]:
    """Return the readings of a store by their short names, and the table of them."""
    import polars as pl

    from ackclock.sweeps.readings.run import read

    path = out / "data" / "readings.parquet"
    if not path.is_file():
        return {}, pl.DataFrame(schema={"reading": pl.String, "choices": pl.String})
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError):
        raise BadInput(f"{path}: cannot be read as Parquet; the search makes it again") from None
    pairs = frame.select("reading", "choices").iter_rows()
    return {name: read(of, choices) for name, choices in pairs}, frame


def _reading(of: Readings[Any, Any], text: str, out: Path) -> dict[str, str]:
    from ackclock.studies.framework.found import found_in
    from ackclock.sweeps.readings.run import named, read

    found = found_in(out) or found_in(of.folder)
    if found is not None and found.study != of.key:
        raise BadInput(f"{out}: holds the readings of {found.study}, expected those of {of.key}")
    known, _ = _tried(of, out)
    if text.strip() == "best" or (found is not None and text.strip() == found.best):
        if found is None or not found.best:
            raise BadInput(f"best: nothing was searched in {out}, expected --out DIR of a search")
        # An axis that the study has had since then is as the study has it.
        return read(of, "; ".join(f"{axis}={label}" for axis, label in found.reading.items()))
    return named(of, text, known)


def _show(of: Readings[Any, Any], text: str, out: Path, *, as_json: bool) -> None:
    from rich.table import Table

    from ackclock.sweeps.readings.run import short_id

    reading = _reading(of, text, out)
    _, frame = _tried(of, out)
    scores = frame.filter(frame["reading"] == short_id(reading)).to_dicts()
    if as_json:
        printing.print_json({"name": short_id(reading), "reading": reading, "scores": scores})
        return
    table = Table("choice", "here", "own", "the paper's words", box=None, header_style="bold")
    for axis in of.axes:
        table.add_row(axis.name, reading[axis.name], axis.default, f"{axis.opens} ({axis.section})")
    printing.print_table(table)
    for row in scores:
        printing.tell(
            f"{row['reading']}: {row['statements_held']:.3g} statements and "
            f"{row['predicates_held']:.3g} predicates hold, the mean of "
            f"{number_of(row['seeds'], 'seed')} ({row['stage']})."
        )


def _run(
    of: Readings[Any, Any],
    text: str,
    out: Path,
    size: Literal["short", "long"],
    seed: int,
    *,
    as_json: bool,
) -> None:
    from rich.table import Table

    from ackclock.studies.framework.readings import names as predicate_names
    from ackclock.sweeps.readings.run import run_one, short_id

    reading = _reading(of, text, out)
    with printing.status(f"running reading {short_id(reading)} of {of.key}"):
        rows = run_one(of.key, reading, size, seed).to_dicts()
    if as_json:
        for row in rows:
            row["worst"] = None if row["worst"] != row["worst"] else row["worst"]
        printing.print_json({"name": short_id(reading), "reading": reading, "predicates": rows})
        return
    words = {claim.id: claim for claim in of.claims}
    rules = {
        (claim.id, name): one
        for claim in of.claims
        for name, one in zip(predicate_names(claim), claim.predicates, strict=True)
    }
    table = Table("statement", "predicate", "rule", "worst", "holds", "numbers", box=None,
                  header_style="bold")  # fmt: skip
    told = ""
    for row in rows:
        claim, one = words[row["claim"]], rules[row["claim"], row["predicate"]]
        statement = f"{claim.id}: {claim.statement}" if claim.id != told else ""
        told = claim.id
        table.add_row(
            statement, one.statement or row["predicate"], one.rule,
            one.show_beside_bound(row["worst"]),
            "yes" if row["holds"] else "no", f"{row['passed']} of {row['observations']}",
        )  # fmt: skip
    printing.print_table(table)
    held = sum(row["holds"] for row in rows)
    printing.tell(
        f"{held} of {len(rows)} predicates hold: {of.sizes[size]}; seed {seed}, reading "
        f"{short_id(reading)}."
    )


def _dry_run(
    of: Readings[Any, Any], budget: str | None, threads: int | None, *, as_json: bool
) -> None:
    from rich.table import Table

    from ackclock.base.threads import cores

    measured = cache(lambda: _measured(of, threads))
    samples, cell_s = _samples(of, budget, measured), measured()
    count = 1
    for axis in of.axes:
        count *= len(axis.values)
    values = {"readings": count, "samples": samples, "samples_s": samples * cell_s}
    if as_json:
        axes = [
            {"name": a.name, "values": list(a.values), "default": a.default, "opens": a.opens}
            for a in of.axes
        ]
        printing.print_json({**values, "axes": axes})
        return
    table = Table("choice", "range", "own", "the paper's words", box=None, header_style="bold")
    for axis in of.axes:
        table.add_row(
            axis.name, "; ".join(axis.labels), axis.default, f"{axis.opens} ({axis.section})"
        )
    printing.print_table(table)
    printing.tell(
        f"{number_of(count, 'reading')} in all. {number_of(samples, 'sample')} take "
        f"about {span(samples * cell_s)} on {number_of(threads or cores(), 'core')};"
        f" the local search and fresh seeds come on top."
    )
