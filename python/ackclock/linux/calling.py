"""A job given to a kernel: a guest that does it, and what it leaves."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.writing import write_file
from ackclock.linux import booting, kept
from ackclock.linux.building import refuse_machine
from ackclock.linux.kept import Kept

__all__ = ["Job", "Left", "Progress", "called", "kernel_of"]

#: The name of a job: a key of the table of :mod:`ackclock.linux.guest`.
Name = Literal["run", "drill", "answers", "queues", "settings"]
#: Told a guest's time in seconds; what it raises ends the guest.
Progress = Callable[[float], None]
#: The seconds of the guest's clock that a job may take beyond what it is said to take.
_BEYOND_S = 600


@dataclass(frozen=True)
class Job:
    """A job for a guest.

    Attributes
    ----------
    name
        The function of the guest's that does it.
    options
        Its arguments, as JSON can tell them.
    seed
        The seed of the kernel's random numbers, 0 to 2⁶⁴ − 1.
    lasts_s
        The seconds of the guest's clock that it takes at most, without its begin and end.
    ipv6
        True if IPv6's own traffic is to be there.
    memory
        The most memory of the guest.
    """

    name: Name
    options: Mapping[str, Any]
    seed: int = 0
    lasts_s: int = 3600
    ipv6: bool = False
    memory: str = booting.Boot.memory


@dataclass(frozen=True)
class Left:
    """The remains of a job.

    Attributes
    ----------
    told
        The answer of its function.
    folder
        The folder that was ``/run/ackclock`` in the guest.
    processor_s
        The processor's seconds of the guest, where no other guest ended beside it.
    """

    told: Any
    folder: Path
    processor_s: float


def kernel_of(word: str | None) -> Kept:
    """Return the kernel that a word means, as :func:`ackclock.linux.kept.one` does.

    Raises
    ------
    BadInput
        There is none, or this machine can boot none.
    """
    refuse_machine()
    return kept.one(word)


@contextmanager
def called(kernel: Kept, job: Job, progress: Progress | None = None) -> Generator[Left]:
    """Do a job in a guest, and give what it left; the guest's folder is gone behind the block.

    Parameters
    ----------
    kernel
        The kernel.
    job
        The job.
    progress
        Told the guest's time in seconds since its boot, as it grows; what it raises ends the guest.

    Raises
    ------
    BadInput
        The job refused its options; the line is the job's.
    UnfinishedError
        The guest hangs, did not come up, or its program died.
    """
    with tempfile.TemporaryDirectory(prefix="ackclock-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        asked = {"job": job.name, "options": dict(job.options)}
        write_file(folder / "asked.json", json.dumps(asked))
        wish = booting.Boot(
            arguments=[sys.executable, "-P", "-m", "ackclock.linux.guest"],
            variables=_variables(),
            folder=str(Path.cwd()),
            seed=job.seed,
            limit_s=job.lasts_s + _BEYOND_S,
            ipv6=job.ipv6,
            memory=job.memory,
        )
        ended = booting.boot(kernel, wish, folder, progress)
        yield Left(_told(folder, ended), folder, ended.processor_s)


def _variables() -> dict[str, str]:
    """Return the environment of the program in the guest: what finds Python and the package."""
    names = (
        "PATH",
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "LANG",
        "LC_ALL",
        "LD_LIBRARY_PATH",
        "SUDO_UID",
        "SUDO_GID",
    )
    found = {name: os.environ[name] for name in names if name in os.environ}
    return {"HOME": booting.INSIDE, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", **found}


def _told(folder: Path, ended: booting.Ended) -> Any:
    """Return what the guest's program told of a job, or raise what it refused with."""
    try:
        told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stderr = (folder / "stderr").read_text(encoding="utf-8", errors="replace").splitlines()
        last = stderr[-1] if stderr else "no word"
        raise UnfinishedError(f"the guest's program ended with code {ended.code}: {last}") from None
    if "refused" in told:
        raise BadInput(told["refused"])
    return told["told"]
