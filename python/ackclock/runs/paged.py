"""Results that have a page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.runs.comparison import Comparison
    from ackclock.runs.run import Run

__all__ = ["Paged"]


class Paged:
    """A result that has a page: a run, many runs, or a comparison."""

    def report(self, directory: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a page of figures and tables, with the data and the code behind them.

        Parameters
        ----------
        directory
            The folder; it is made if it is not there.
        title
            The title of the page; default: the scenario's.

        Returns
        -------
        Path
            The page, ``DIRECTORY/index.html``.

        Raises
        ------
        BadInput
            The folder cannot be written to.
        """
        from ackclock.report import write_report  # noqa: PLC0415

        return write_report(cast("Run | Comparison", self), directory, title=title)
