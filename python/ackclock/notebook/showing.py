"""The view of a run inside a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.base.extras import need

if TYPE_CHECKING:
    from ackclock.notebook.widget import View
    from ackclock.runs.run import Run

__all__ = ["show"]


def show(run: Run, *, height: int = 720) -> View:
    """Show a run in a notebook as the page for browsers does: charts, tables, segments.

    Parameters
    ----------
    run
        The run.
    height
        The height of the view, in pixels.

    Returns
    -------
    View
        A widget, which a cell shows whose last value it is.

    Raises
    ------
    BadInput
        There are many runs, or the package was built without the view.
    """
    need("show needs", "anywidget", extra="notebook")
    from ackclock.notebook.widget import View  # noqa: PLC0415 - the extra's

    return View(run, height=height)
