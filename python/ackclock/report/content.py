"""Parts of the pages of runs, comparisons and sweeps: figures from tables, and sheets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import Markup, escape

from ackclock import plots
from ackclock.base.shown import cells
from ackclock.plots.style import rendered
from ackclock.report.figures import FigureCode, drawing, stage_data, stage_files
from ackclock.report.page import Cell, Drawing, Page, Section, Sheet, render

if TYPE_CHECKING:
    from ackclock.plots.style import Picture, Rendered
    from ackclock.base.writing import Folder

__all__ = ["Content", "PageFigure", "sections", "sheet", "shown_source"]

MOST_ROWS = 30

_MOST_LETTERS = 40_000
_LONG_LIST = 40
_LIST = re.compile(r"\[([^\[\]{}\"=]{80,})\]")
"""A list of numbers in a file."""


@dataclass(frozen=True)
class PageFigure:
    """A figure that a function of :mod:`ackclock.plots` draws from tables.

    Attributes
    ----------
    key
        Its name, and that of its files.
    label, caption
        The words below it.
    function
        The name of the function.
    tables
        The tables that the function takes, in order, each under the name of its file.
    options
        Its further arguments, by name.
    """

    key: str
    label: str
    caption: str
    function: str
    tables: Mapping[str, pl.DataFrame]
    options: Mapping[str, Any] = field(default_factory=dict)

    def draw(self) -> Picture:
        """Return the figure."""
        function = getattr(plots, self.function)
        return function(*self.tables.values(), **self.options)

    def code(self) -> FigureCode:
        """Return the lines that draw it again."""
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        call = f"plots.{self.function}({', '.join([*self.tables, *options])})"
        return FigureCode("from ackclock import plots", tuple(self.tables), call)


@dataclass
class Content:
    """The figures of a page as they are gathered: each is drawn once, and written with it."""

    command: str = ""
    figures: dict[str, tuple[PageFigure, Rendered]] = field(default_factory=dict)

    def draw(self, figure: PageFigure) -> Drawing:
        """Draw a figure, and return its place on the page."""
        made = rendered(
            figure.draw(), figure.key, title=figure.label, description=figure.caption
        )
        self.figures[figure.key] = (figure, made)
        return drawing(
            figure.key,
            made,
            figure.code(),
            label=figure.label,
            caption=figure.caption,
            command=self.command,
        )

    def stage(self, folder: Folder, page: Page, metadata: Mapping[str, str]) -> None:
        """Write the page, its figures and their data."""
        for figure, made in self.figures.values():
            stage_data(folder, figure.tables, metadata)
            stage_files(folder, figure.key, made, figure.code())
        folder.stage("index.html", render(page))


def sheet(
    key: str,
    label: str,
    caption: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    stubs: int = 1,
) -> Sheet:
    """Return rows as a table of the page, units in the heads; the first thirty of them.

    A column that has no value in any row is left out.
    """
    columns = [
        name
        for place, name in enumerate(columns)
        if place < stubs or any(row[name] is not None for row in rows)
    ]
    heads, texts = cells(rows[:MOST_ROWS], columns)
    beyond = len(rows) - MOST_ROWS
    if beyond > 0:
        caption = escape(caption) + Markup(
            " The first {}; {} more are in the tables of <code>ackclock run --out DIR</code>."
        ).format(MOST_ROWS, f"{beyond:,}")
    words = frozenset(
        place for place, name in enumerate(columns) if any(isinstance(r[name], str) for r in rows)
    )
    return Sheet(
        key=key,
        label=label,
        caption=caption,
        heads=tuple(heads),
        rows=tuple(tuple(Cell(text) for text in row) for row in texts),
        stubs=stubs,
        text_columns=words,
    )


def shown_source(text: str) -> str:
    """Return a scenario file as a page shows it: of a long list the first and its length."""
    text = _LIST.sub(_shortened, text)
    beyond = len(text) - _MOST_LETTERS
    if beyond <= 0:
        return text
    return text[:_MOST_LETTERS] + f"\n… {beyond:,} more characters"


def _shortened(found: re.Match[str]) -> str:
    values = [value.strip() for value in found[1].split(",") if value.strip()]
    if len(values) <= _LONG_LIST:
        return found[0]
    return f"[{', '.join(values[:3])}, …]  # {len(values):,} values"


def sections(*parts: tuple[str, str, Sequence[Any]]) -> tuple[Section, ...]:
    """Return the sections that have something in them."""
    return tuple(Section(anchor, title, blocks) for anchor, title, blocks in parts if blocks)
