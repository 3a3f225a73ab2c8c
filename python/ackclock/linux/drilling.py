"""Scripts and cases for the kernel of a guest."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from ackclock import _core
from ackclock.base.errors import UnfinishedError
from ackclock.base.threads import side_by_side
from ackclock.base.writing import copy_file
from ackclock.linux import calling
from ackclock.linux.kept import Kept

__all__ = ["answers", "drill"]

#: A script that a guest is given, by name and text.
Script = tuple[str, str]
#: The number of scripts and of cases that a guest is given. Neither knows of the others: each has
#: the kernel alone, and begins at a whole tenth of a second of its clock.
_SCRIPTS, _CASES = 24, 200
#: The most seconds of a guest's clock. Waiting costs nothing in it.
_LASTS_S = 200_000


def drill(
    kernel: Kept,
    scripts: Sequence[Script],
    how: Mapping[str, object],
    *,
    threads: int | None = None,
    pcap: str | None = None,
) -> _core.Drill:
    """Return the outcomes of scripts on a kernel in virtual time.

    A script with which a guest dies or hangs has failed, and the others are run nonetheless.

    Parameters
    ----------
    kernel
        The kernel.
    scripts
        The scripts.
    how
        The ``how`` of :func:`ackclock._core.drill`; its ``on`` has ``linux``.
    threads
        Guests at once; default: one a core.
    pcap
        A folder for captures.

    Raises
    ------
    BadInput
        The first thing that the core refuses.
    """
    parts = [
        (first, min(first + _SCRIPTS, len(scripts))) for first in range(0, len(scripts), _SCRIPTS)
    ]
    folder = None if pcap is None else Path(pcap)
    calls = [partial(_part, kernel, scripts, how, folder, part) for part in parts]
    return _core.Drill.joined(list(side_by_side(calls, threads)))


def _part(
    kernel: Kept,
    scripts: Sequence[Script],
    how: Mapping[str, object],
    pcap: Path | None,
    part: tuple[int, int],
    progress: calling.Progress,
) -> str:
    """Return the outcomes of some scripts as a part of the core's."""
    first, end = part
    # Captures are numbered by the names of the scripts before the part.
    told = [(name, "") for name, _ in scripts[:first]] + list(scripts[first:end])
    options = {"scripts": told, "how": how, "elsewhere": first, "pcap": pcap is not None}
    job = calling.Job("drill", options, lasts_s=_LASTS_S)
    try:
        with calling.called(kernel, job, progress) as left:
            drilled = json.loads(left.told)
            if pcap is not None:
                names = [Path(path).name for path in drilled["captures"]]
                for name in names:
                    copy_file(left.folder / "pcap" / name, pcap / name)
                drilled["captures"] = [os.fspath(pcap / name) for name in names]
            return json.dumps(drilled)
    except UnfinishedError as error:
        if end - first == 1:
            return _core.undrilled(scripts[first:end], how, f"the guest: {error}").part()
    middle = (first + end) // 2
    halves = [
        _part(kernel, scripts, how, pcap, half, progress)
        for half in ((first, middle), (middle, end))
    ]
    return _core.Drill.joined(halves).part()


def answers(
    kernel: Kept, cases: str, threads: int | None = None, stopped: threading.Event | None = None
) -> str:
    """Return a kernel's answers to cases of the core's, both as JSON.

    Parameters
    ----------
    kernel, cases
        The kernel, and the cases.
    threads
        Guests at once; default: one a core.
    stopped
        Ends all guests once it is set.

    Raises
    ------
    UnfinishedError
        A guest died or hung.
    """
    listed = json.loads(cases)
    parts = [listed[first : first + _CASES] for first in range(0, len(listed), _CASES)]

    def work(part: list[object], progress: calling.Progress) -> list[object]:
        job = calling.Job("answers", {"cases": json.dumps(part)}, lasts_s=_LASTS_S)
        with calling.called(kernel, job, progress) as left:
            return json.loads(left.told)

    found = side_by_side([partial(work, part) for part in parts], threads, stopped)
    return json.dumps([answer for part in found for answer in part])
