"""The commands ``ackclock sweep`` and ``ackclock results``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ackclock.base.errors import BadInput
from ackclock.base.shown import span
from ackclock.base.threads import MOST_THREADS
from ackclock.base.words import number_of
from ackclock.cli import printing
from ackclock.cli.options import AsJson, Laws, named_laws

if TYPE_CHECKING:
    import polars as pl

    from ackclock.sweeps import Forecast, Progress
    from ackclock.sweeps.stores.results import Plot, SweepResults

__all__ = ["results", "sweep"]

EXIT_FAILED = 1
_MOST_ROWS = 200

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML or JSON file.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="local:4 (so many processes), the address of a Dask scheduler such as "
        "tcp://host:8786, or slurm. Default: the cores of this machine, in this process.",
    ),
]


def sweep(
    plan: PlanFile,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the store, in which finished cells stay."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Count the cells, and estimate their time by running a few."
        ),
    ] = False,
    scheduler: Scheduler = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="The cores that are used without a scheduler. Default: all.",
        ),
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run cells again that failed or came to a limit.")
    ] = False,
    law: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Run a plan of many cells, but for those that are finished.

    The exit code is 1 if a cell failed, came to a limit or was no measurement.
    """
    from ackclock.sweeps import Plan, forecast, sweep as run

    laws = named_laws(law)
    if dry_run:
        _tell_forecast(forecast(plan, out, threads=threads, laws=laws), as_json=as_json)
        return
    if out is None:
        raise BadInput("--out: expected the folder of the store, or --dry-run")
    read = Plan.from_file(plan)
    with told_progress(f"sweep {plan.stem}") as progress:
        found = run(
            read, out, scheduler=scheduler, threads=threads, retry=retry, laws=laws,
            progress=progress, told=printing.say,
        )  # fmt: skip
    summary = found.summary()
    if as_json:
        printing.print_json(summary)
    else:
        _tell_summary(summary)
        printing.tell(f"The store: {out}. `ackclock results {out}` asks it.")
    if any(summary["status"].get(word) for word in ("failed", "limit", "invalid")):
        raise typer.Exit(EXIT_FAILED)


@contextmanager
def told_progress(title: str) -> Generator[Callable[[Progress], None]]:
    """Say how far a sweep is: on a terminal by a bar, elsewhere a line a minute."""
    if not sys.stderr.isatty():
        with printing.status(title, printing.KEPT) as line:
            yield lambda now: line(f"{title}: {_progress_words(now)}")
        return
    from rich.progress import BarColumn, Progress as Bar, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    bar = Bar(*columns, console=printing.console(), transient=True)
    task = bar.add_task(title, total=None, words="reading the plan")
    try:
        with bar:
            yield lambda now: bar.update(
                task, total=now.whole, completed=now.done, words=_progress_words(now)
            )
    except KeyboardInterrupt:
        printing.say(f"{title}: {bar.tasks[task].fields['words']}; {printing.KEPT}")
        raise


def _progress_words(now: Progress) -> str:
    rate = f"{now.per_second:,.0f}" if now.per_second >= 10 else f"{now.per_second:.2g}"
    words = f"{now.done:,} of {number_of(now.whole, 'cell')}, {rate} a second"
    if now.left_s is not None:
        words += f", {span(now.left_s)} left"
    return words + (f", {now.failed:,} failed" if now.failed else "")


def _tell_forecast(found: Forecast, *, as_json: bool) -> None:
    values: dict[str, Any] = {
        "cells": found.cells,
        "finished": found.finished,
        "cell_s": found.cell_s,
        "sampled": found.sampled,
        "cores": found.cores,
        "left_s": found.left_s,
    }
    if as_json:
        printing.print_json(values)
        return
    left = found.cells - found.finished
    printing.tell(
        f"{number_of(found.cells, 'cell')}, {found.finished:,} finished. "
        f"What is left ({left:,}) takes about "
        f"{span(found.left_s)} on {number_of(found.cores, 'core')}: "
        f"{1e3 * found.cell_s:,.3g} ms a cell, the mean of {found.sampled}."
    )


def results(
    store: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the store.")],
    sql: Annotated[
        str | None,
        typer.Option(help="A question in SQL, over `cells` and over each table that was kept."),
    ] = None,
    pivot: Annotated[
        tuple[str, str, str] | None,
        typer.Option(metavar="ROW COLUMN VALUE", help="A value over two columns of settings."),
    ] = None,
    how: Annotated[
        str, typer.Option(help="The cells of a pair: mean, median, min, max, sum, std or count.")
    ] = "mean",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="A condition over the columns that cells have to meet, such as "
            "\"buffer = '1 BDP'\"; may be repeated.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS",
            help="An axis over whose values --pivot and --plot take means; may be repeated. "
            "Default: the seeds alone.",
        ),
    ] = None,
    plot: Annotated[
        Literal["lines", "map", "cdf", "panels"] | None,
        typer.Option(
            help="A figure of --value over --x, by --by; `panels` has one each of --panel."
        ),
    ] = None,
    value: Annotated[str | None, typer.Option(help="The column that is drawn.")] = None,
    x: Annotated[str | None, typer.Option("--x", help="The column of the axis.")] = None,
    by: Annotated[
        str | None, typer.Option(help="The column of lines, or of the map's rows.")
    ] = None,
    panel: Annotated[str | None, typer.Option(help="The column of panels.")] = None,
    label: Annotated[str | None, typer.Option(help="The name of the value in the figure.")] = None,
    factor: Annotated[
        float | None, typer.Option(help="A factor to the value, such as 1e-6; default: 1.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the table (.parquet, .csv, .tex) or the figure (.svg, .pdf, .png) to this "
            "file.",
        ),
    ] = None,
    cell: Annotated[
        int | None, typer.Option(min=0, help="Print the scenario of this cell, as JSON.")
    ] = None,
    compact: Annotated[
        bool, typer.Option("--compact", help="Bring the parts of the store together.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the store of a sweep: a summary, SQL, a pivot, a figure."""
    from ackclock.sweeps import results as read

    found = read(store)
    drawing = {
        "value": value, "x": x, "by": by, "panel": panel, "label": label, "factor": factor,
    }  # fmt: skip
    drawing = {name: given for name, given in drawing.items() if given is not None}
    asked = {
        "--sql": sql, "--pivot": pivot, "--plot": plot, "--cell": cell,
        "--compact": compact or None,
    }  # fmt: skip
    _expect_together([name for name, given in asked.items() if given is not None],
                     where=bool(where), over=bool(over), drawing=drawing)  # fmt: skip
    chosen = {"where": where or (), "over": over or ()}
    if cell is not None:
        print(found.scenario(cell))
    elif compact:
        printing.tell(f"{found.compact():,} parts were brought together.")
    elif plot is not None:
        _draw(found, plot, {**drawing, **chosen, "sql": sql}, into)
    elif pivot is not None:
        _tell_frame(found.pivot(*pivot, how, **chosen), into, as_json=as_json)
        together = [*(over or ()), *found.seeds_beside(pivot[:2])]
        if together:
            printing.say(f"each cell: {how} over {', '.join(together)}")
    elif sql is not None or where or into is not None:
        frame = found.cells_where(where or ()) if sql is None else found.sql(sql)
        _tell_frame(frame, into, as_json=as_json)
    elif as_json:
        printing.print_json(found.summary())
    else:
        _tell_summary(found.summary())


def _expect_together(
    asked: Sequence[str], *, where: bool, over: bool, drawing: Mapping[str, Any]
) -> None:
    """Refuse questions, and words to them, that do not go together."""
    if len(asked) > 1 and asked != ["--sql", "--plot"]:
        raise BadInput(f"{asked[1]}: stands beside {asked[0]}, expected one of them")
    if drawing and "--plot" not in asked:
        raise BadInput(f"--{next(iter(drawing))}: stands without --plot")
    if over and not {"--pivot", "--plot"} & set(asked):
        raise BadInput("--over: stands without --pivot or --plot")
    if where and asked in (["--sql"], ["--cell"], ["--compact"]):
        raise BadInput(f"--where: stands beside {asked[0]}, which takes no conditions")


def _draw(found: SweepResults, kind: Plot, drawing: Mapping[str, Any], out: Path | None) -> None:
    if "value" not in drawing or out is None:
        raise BadInput("--plot: expected --value and --out beside it")
    from ackclock.plots import save

    save(found.plot(kind, **drawing), out)
    printing.tell(f"The figure: {out}")


def _tell_frame(frame: pl.DataFrame, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        _write(frame, out)
        printing.tell(f"{number_of(frame.height, 'row')}: {out}")
        return
    if as_json:
        printing.print_json(
            [dict(zip(frame.columns, _plain(row), strict=True)) for row in frame.rows()]
        )
        return
    from rich.table import Table

    table = Table()
    for name, kind in frame.schema.items():
        table.add_column(name, justify="right" if kind.is_numeric() else "left")
    for row in frame.head(_MOST_ROWS).rows():
        table.add_row(*(_shown(cell) for cell in row))
    printing.print_table(table)
    if frame.height > _MOST_ROWS:
        printing.say(
            f"{_MOST_ROWS} of {number_of(frame.height, 'row')}; --out FILE.parquet writes all"
        )


def _write(frame: pl.DataFrame, out: Path) -> None:
    from ackclock.base.writing import write_file
    from ackclock.report.tables import parquet

    if out.suffix == ".parquet":
        write_file(out, parquet(frame, {}))
    elif out.suffix == ".csv":
        write_file(out, frame.write_csv())
    elif out.suffix == ".tex":
        write_file(out, _latex(frame))
    else:
        raise BadInput(f"--out: {out}: expected a name that ends in .parquet, .csv or .tex")


_OF_LATEX = str.maketrans(
    {each: f"\\{each}" for each in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def _latex(frame: pl.DataFrame) -> str:
    """Return a table for LaTeX, with the rules of the package booktabs."""
    align = "".join("r" if kind.is_numeric() else "l" for kind in frame.dtypes)

    def line(cells: Iterable[str]) -> str:
        return " & ".join(cell.translate(_OF_LATEX) for cell in cells) + r" \\"

    rows = [line(_shown(cell) for cell in row) for row in frame.rows()]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{align}}}", r"\toprule", line(frame.columns), r"\midrule",
            *rows, r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip


def _plain(row: tuple[Any, ...]) -> list[Any]:
    return [None if isinstance(cell, float) and cell - cell != 0 else cell for cell in row]


def _shown(cell: object) -> str:
    if cell is None:
        return "–"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _tell_summary(summary: dict[str, Any]) -> None:
    from rich.table import Table

    status = (
        ", ".join(f"{count:,} {word}" for word, count in summary["status"].items()) or "none yet"
    )
    axes = (
        ", ".join(f"{name} ({count})" for name, count in summary["axes"].items())
        or "the seed alone"
    )
    title = f"{summary['title']}: " if summary["title"] else ""
    printing.tell(
        f"{title}{number_of(summary['cells'], 'cell')}; {status}. Varied: {axes}; "
        f"seeds: {summary['seeds']}."
    )
    if summary["values"]:
        table = Table()
        for head in ("value", "cells", "least", "median", "most"):
            table.add_column(head, justify="left" if head == "value" else "right")
        for name, row in summary["values"].items():
            table.add_row(
                name, f"{row['cells']:,}", *(_shown(row[k]) for k in ("min", "median", "max"))
            )
        printing.print_table(table)
    for reason, count in summary["reasons"].items():
        printing.say(f"{number_of(count, 'cell')}: {reason}")
