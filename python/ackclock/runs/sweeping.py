"""Plans of many runs: the functions that are there whether their packages are installed or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.sweeps import BestPoint, Forecast, Plan, Progress, SearchProgress, SweepResults

__all__ = ["forecast", "results", "search", "sweep"]


def sweep(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    scheduler: str | None = None,
    threads: int | None = None,
    retry: bool = False,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: Callable[[Progress], None] | None = None,
    told: Callable[[str], None] | None = None,
) -> SweepResults:
    """Run a plan: every cell that is not in the store yet.

    A cell's hash is that of its scenario, its seed, the engine's rules, the laws of one's own that
    it names and what is kept. A cell that is finished is not run again, whatever else changes in
    the plan.

    Parameters
    ----------
    plan
        The plan: a file, or a table with its keys.
    out
        The folder of the store, which is made if it is not there. Several processes may write into
        it at once.
    scheduler
        The place where cells run: ``"local:4"`` (four processes), the address of a Dask scheduler
        such as ``"tcp://10.0.0.1:8786"``, or ``"slurm"``; default: the cores of this machine, in
        this process.
    threads
        The cores that are used without a scheduler; default: all.
    retry
        True to run cells again that failed or came to a limit.
    laws
        Laws of one's own, by the names that the plan has for them: files, which workers read, too.
    progress
        Called as cells end.
    told
        Called with a line that a user should see, such as that the scheduler is gone.

    Returns
    -------
    SweepResults
        The results of the plan.

    Raises
    ------
    BadInput
        The first key of the plan that cannot be used.
    """
    from ackclock.sweeps import sweep as run  # noqa: PLC0415 - its packages are an extra

    return run(
        plan, out, scheduler=scheduler, threads=threads, retry=retry, laws=laws,
        progress=progress, told=told,
    )  # fmt: skip


def forecast(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Forecast:
    """Count the cells of a plan, and estimate their time by running a few; nothing is written.

    Parameters
    ----------
    plan
        The plan.
    out
        The folder of a store, whose finished cells are not counted.
    threads
        The cores that are used; default: all.
    laws
        Laws of one's own, by their names: files.

    Returns
    -------
    Forecast
        The number of cells and the time.
    """
    from ackclock.sweeps import forecast as run  # noqa: PLC0415

    return run(plan, out, threads=threads, laws=laws)


def results(path: str | os.PathLike[str]) -> SweepResults:
    """Return the results in the store of a sweep.

    Parameters
    ----------
    path
        The folder that ``ackclock sweep`` wrote.

    Returns
    -------
    SweepResults
        The table, pivots, questions in SQL and figures.

    Raises
    ------
    BadInput
        There is no store.
    """
    from ackclock.sweeps import results as read  # noqa: PLC0415

    return read(path)


def search(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    scheduler: str | None = None,
    threads: int | None = None,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    told: Callable[[str], None] | None = None,
) -> BestPoint:
    """Search the settings of a plan for the one with the largest or the least score.

    Every cell goes into the store. A search that was interrupted goes on, as it is a function of
    the plan: its first points are in the store.

    Parameters
    ----------
    plan
        The plan, with a table ``search``; its ranges need no ``count``.
    out
        The folder of the store.
    scheduler, threads, laws, told
        As those of :func:`ackclock.sweep`.
    progress
        Called after each batch.

    Returns
    -------
    BestPoint
        The best point.

    Raises
    ------
    BadInput
        The first key of the plan that cannot be used, or no point that can be run.
    """
    from ackclock.sweeps import search as run  # noqa: PLC0415

    return run(
        plan, out, scheduler=scheduler, threads=threads, laws=laws, progress=progress, told=told
    )
