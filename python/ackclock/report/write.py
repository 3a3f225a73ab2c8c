"""Writing the page of a run, of a comparison or of a sweep into a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import ackclock
from ackclock.runs.comparison import Comparison
from ackclock.report.content import Content
from ackclock.report.many import build_comparison
from ackclock.report.run import build
from ackclock.report.sweep import build_sweep
from ackclock.base.writing import Folder

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = ["fill", "write_report"]

PAGE = "index.html"


def write_report(
    found: Run | Comparison,
    directory: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: str = "",
) -> Path:
    """Write a page on a run, on many, or on a comparison.

    Parameters
    ----------
    found
        The runs. A run has figures of what its probes recorded.
    directory
        The folder; it is made if it is not there.
    title
        The title; default: that of the scenario.
    command
        The command that makes the page again, if there is one.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    BadInput
        The folder cannot be written to.
    """
    with Folder(directory, PAGE) as folder:
        fill(folder, found, title=title, command=command)
    return Path(directory) / PAGE


def fill(
    folder: Folder, found: Run | Comparison, *, title: str | None = None, command: str = ""
) -> None:
    """Write the page into a folder that is held already."""
    content = Content(command)
    if isinstance(found, Comparison):
        page = build_comparison(found, content, title=title or _title(found.scenario.title))
    elif len(found.scenarios) == 1 and "cell" not in found.flows.column_names:
        page = build(found, content, title=title or _title(found.scenario.title))
    else:
        titles = {scenario.title for scenario in found.scenarios}
        named = (found.scenario.title if len(titles) == 1 else "") or "A sweep of scenarios"
        page = build_sweep(found, content, title=title or named)
    content.stage(folder, page, {"core": ackclock.__version__})
    folder.commit()


def _title(text: str) -> str:
    return text or "A run of a scenario"
