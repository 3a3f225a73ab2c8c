"""Figures of a page: as SVG, PDF and PNG, with their data and the code that draws them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ackclock.report.page import Drawing
from ackclock.report.tables import parquet
from ackclock.base.writing import Folder

if TYPE_CHECKING:
    from ackclock.plots.style import Rendered

__all__ = ["FigureCode", "drawing", "stage_data", "stage_files"]

FOLDER = "figures"
"""The folder of the figures of a page, beside the one of their data."""


@dataclass(frozen=True)
class FigureCode:
    """The lines of Python that draw a figure from its data.

    Attributes
    ----------
    module
        The line that imports what draws it.
    data
        The names of the tables: ``NAME`` is read from ``data/NAME.parquet``.
    call
        The expression that draws it.
    """

    module: str
    data: tuple[str, ...]
    call: str

    def lines(self) -> str:
        """Return the lines that a page shows, to be run in the folder of the page."""
        read = [f'{name} = pl.read_parquet("data/{name}.parquet")' for name in self.data]
        imports = ["import polars as pl", self.module, ""]
        return "\n".join([*imports, *read, f"figure = {self.call}", 'figure.savefig("figure.pdf")'])

    def script(self, key: str, data: str) -> str:
        """Return a program that draws figure ``key``; ``data`` is the way to the tables from it."""
        read = [f'{name} = pl.read_parquet(DATA / "{name}.parquet")' for name in self.data]
        lines = [
            f'"""Draw the figure `{key}` again: python {key}.py [FILE.svg | FILE.pdf | FILE.png]"""',
            "",
            "import sys",
            "from pathlib import Path",
            "",
            "import polars as pl",
            "",
            self.module,
            "from ackclock.plots import save",
            "",
            f'DATA = Path(__file__).resolve().parent / "{data}"',
            "",
            *read,
            f"figure = {self.call}",
            f'save(figure, sys.argv[1] if len(sys.argv) > 1 else "{key}.pdf", "{key}")',
        ]
        return "\n".join(lines) + "\n"


def drawing(
    key: str,
    made: Rendered,
    code: FigureCode,
    *,
    label: str,
    caption: str,
    command: str = "",
    files: bool = True,
) -> Drawing:
    """Return a figure for a page, with the command and the code that make it again.

    With ``files`` the page has links to the files of :func:`stage_files`.
    """
    named = [("SVG", "svg"), ("PDF", "pdf"), ("PNG", "png"), ("code", "py")] if files else []
    return Drawing(
        key=key,
        label=label,
        caption=caption,
        svg=made.page,
        command=command,
        python=code.lines(),
        data=code.data,
        files=tuple((name, f"{FOLDER}/{key}.{end}") for name, end in named),
    )


def stage_files(
    folder: Folder, key: str, made: Rendered, code: FigureCode, *, within: str = FOLDER
) -> None:
    """Write a figure as SVG, PDF and PNG, and the program that draws it again.

    ``within`` is the folder below the page's, empty for the page's own.
    """
    at = f"{within}/{key}" if within else key
    folder.stage(f"{at}.svg", made.svg)
    folder.stage(f"{at}.pdf", made.pdf)
    folder.stage(f"{at}.png", made.png)
    folder.stage(f"{at}.py", code.script(key, "../data" if within else "data"))


def stage_data(
    folder: Folder, tables: Mapping[str, pl.DataFrame], metadata: Mapping[str, str]
) -> None:
    """Write the tables that figures are drawn from."""
    for name, frame in tables.items():
        folder.stage(f"data/{name}.parquet", parquet(frame, metadata))
