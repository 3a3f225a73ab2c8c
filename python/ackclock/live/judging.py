"""Our end point and a kernel, case by case."""

from __future__ import annotations

import json
import os
import platform
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ackclock import _core
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.writing import Folder
from ackclock.linux import calling, drilling

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
    on: Literal["live", "linux"] = "live",
    linux: str | None = None,
) -> Judgement:
    """Give the same packets to our end point and to a kernel, and compare the answers.

    The profile is ``linux``. The connections of this machine's kernel go on at once in a namespace
    of their own, which is gone afterwards. That needs root. A kernel in virtual time needs nobody's
    rights, and two calls have the same outcome.

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
        Connections at once; default: 200. On ``"linux"`` the number of guests; default: one a
        core.
    on
        The kernel: ``"live"``, this machine's, or ``"linux"``, one in virtual time.
    linux
        Which, of ``"linux"``: its key, its version such as ``"7.2"``, or ``"7.2, hz 1000"``;
        default: the newest.

    Raises
    ------
    BadInput
        A number is too small, there is no such kernel, or the folder cannot be written to.
    UnfinishedError
        The kernel cannot be asked here: no root, no TUN device, no Linux; or a guest died.
    """
    for name, number, least in (("random", random, 0), ("seed", seed, 0), ("at_once", at_once, 1)):
        if number is not None and number < least:
            raise BadInput(f"{name}: `{number}` is too small, expected at least {least}")
    if on not in ("live", "linux"):
        raise BadInput(f"on: `{on}` is no kernel, expected live or linux")
    kernels: list[Kernel] = []
    asked = f"Linux {platform.release()}, that of the machine"
    if on == "linux":
        kernels = [guests("The kernel", linux, at_once)]
        asked = f"Linux {calling.kernel_of(linux).manifest.key} in virtual time"
    elif linux is not None:
        raise BadInput("linux: a kernel is named, expected on=`linux` beside it")
    with Folder(out) if out is not None else nullcontext() as folder:
        read = judged(grid, random, seed, windows, at_once, kernels)
        found = read.pop("differences")
        for row in found:
            row["script"] = f"// Kernel: {asked}\n{row['script']}"
        files: Sequence[str | None] = [None] * len(found)
        if folder is not None and out is not None and found:
            files = write_scripts(Path(out), folder, found)
    rows = zip(found, files, strict=True)
    differences = tuple(CaseDifference(**row, file=file) for row, file in rows)
    return Judgement(**read, differences=differences)


@dataclass(frozen=True)
class Kernel:
    """A kernel in virtual time that is given cases.

    Attributes
    ----------
    name
        Its name in scripts.
    ask
        A function that takes cases as the core's JSON, and returns their answers.
    stopped
        Set if nobody waits for answers any more.
    """

    name: str
    ask: Callable[[str], str]
    stopped: threading.Event


def guests(name: str, linux: str | None, threads: int | None) -> Kernel:
    """Return a kernel as what gives cases to guests of it, so many at once."""
    kernel, stopped = calling.kernel_of(linux), threading.Event()

    def ask(cases: str) -> str:
        return drilling.answers(kernel, cases, threads, stopped)

    return Kernel(name, ask, stopped)


def judged(
    grid: bool, random: int, seed: int, windows: bool, at_once: int | None, kernels: list[Kernel]
) -> dict[str, Any]:
    """Return what the core says of cases on our end point and this machine's kernel, or on kernels.

    Raises
    ------
    UnfinishedError
        A kernel cannot be asked.
    """
    functions = [(kernel.name, kernel.ask) for kernel in kernels]
    try:
        return json.loads(_core.judge(grid, random, seed, windows, at_once, functions))
    except OSError as error:
        raise UnfinishedError(str(error)) from None
    finally:
        for kernel in kernels:
            kernel.stopped.set()


def script_names(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of the files of differences."""
    return [
        f"{n:03}_{re.sub('[^a-z0-9]', '_', row['case'].lower())}.pkt" for n, row in enumerate(found)
    ]


def write_scripts(path: Path, folder: Folder, found: Sequence[dict[str, Any]]) -> list[str]:
    """Write the script of each difference into a folder, and return the files."""
    names = script_names(found)
    for name, row in zip(names, found, strict=True):
        folder.stage(name, row["script"])
    folder.commit()
    return [str(path / name) for name in names]
