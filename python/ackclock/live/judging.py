"""Our end point and this machine's kernel, case by case."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.writing import Folder

__all__ = ["CaseDifference", "Judgement", "judge"]


@dataclass(frozen=True)
class CaseDifference:
    """A kind of difference between our end point and the kernel.

    Attributes
    ----------
    case
        The state and the segment, or ``random`` with the seed and the number of the case.
    kind
        The fields that differ, and the flags of both packets.
    count
        The number of cases that have it.
    sim, live
        The first packets that differ, or ``nothing``.
    script
        The case, shrunk, as a packetdrill script that the kernel passes.
    file
        The file that holds the case.
    """

    case: str
    kind: str
    count: int
    sim: str
    live: str
    script: str
    file: str | None


@dataclass(frozen=True)
class Judgement:
    """The outcome of the cases.

    Attributes
    ----------
    cases
        The number of cases that were tried.
    alike
        Those in which every packet was alike.
    unsteady
        Those that differed, and did not when they were tried again or with steps at slightly other
        times.
    meant
        The number of differences that are meant, by the reason.
    differences
        The differences that are not meant.
    """

    cases: int
    alike: int
    unsteady: int
    meant: dict[str, int]
    differences: tuple[CaseDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ackclock judge --json`` prints."""
        return asdict(self)


def judge(
    *,
    grid: bool = True,
    random: int = 1000,
    seed: int = 1,
    windows: bool = True,
    out: str | os.PathLike[str] | None = None,
    at_once: int | None = None,
) -> Judgement:
    """Give the same packets to our end point and to this machine's kernel, and compare the answers.

    The profile is ``linux``. The kernel's connections go on at once in a namespace of their own,
    which is gone afterwards. That needs root.

    Parameters
    ----------
    grid
        True if every state is tried with every segment.
    random
        The number of random cases: overlapping segments, SACKs, windows, resets.
    seed
        The seed of the random cases.
    windows
        True if windows are compared, too, in bytes: no case scales them.
    out
        A folder for the scripts of differences that are not meant.
    at_once
        Connections at once; default: 200.

    Raises
    ------
    BadInput
        A number is too small, or the folder cannot be written to.
    UnfinishedError
        The kernel cannot be asked here: no root, no TUN device, no Linux.
    """
    for name, number, least in (("random", random, 0), ("seed", seed, 0), ("at_once", at_once, 1)):
        if number is not None and number < least:
            raise BadInput(f"{name}: `{number}` is too small, expected at least {least}")
    folder = None if out is None else os.fspath(out)
    with ExitStack() as held:
        if folder is not None:
            held.enter_context(Folder(folder))
        read = _judged(grid, random, seed, windows, folder, at_once)
    differences = tuple(CaseDifference(**row) for row in read.pop("differences"))
    return Judgement(**read, differences=differences)


def _judged(
    grid: bool, random: int, seed: int, windows: bool, folder: str | None, at_once: int | None
) -> dict[str, Any]:
    try:
        return json.loads(_core.judge(grid, random, seed, windows, folder, at_once))
    except OSError as error:
        raise UnfinishedError(str(error)) from None
