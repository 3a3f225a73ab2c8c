"""Running packetdrill scripts, and what becomes of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.threads import expect_threads
from ackclock.base.words import Profile
from ackclock.base.writing import Folder
from ackclock.linux import calling, drilling

__all__ = ["Drill", "ScriptDifference", "ScriptFailure", "ScriptOutcome", "ScriptReport", "drill"]


@dataclass(frozen=True)
class ScriptFailure:
    """Why a script failed.

    Attributes
    ----------
    line, column
        The place in the script, both from 1.
    message
        The fault, in one line.
    expected, actual
        Both packets in packetdrill's notation, if packets differ.
    """

    line: int
    column: int
    message: str
    expected: str | None
    actual: str | None


@dataclass(frozen=True)
class ScriptReport:
    """The report of a script that passed.

    Attributes
    ----------
    packets_in
        Packets of the script's that came in.
    packets_out
        Expected packets that went out.
    assertions
        Assertions that held.
    took_s
        The time that it took, in seconds: virtual ones of our end point, real ones of the kernel.
    notes
        Notes on what it asked for that has no meaning here, or was passed over; each with its
        place.
    """

    packets_in: int
    packets_out: int
    assertions: int
    took_s: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ScriptOutcome:
    """The outcome of a script.

    Attributes
    ----------
    file
        Its path.
    on
        The stack: ``"sim"``, our own end point; ``"live"``, this machine's kernel; or ``"linux"``,
        one in virtual time.
    failure
        Why it failed, if it did.
    report
        The report, if it passed.
    packets
        Its packets in packetdrill's notation, each with its time and as it was: both directions,
        up to a failure.
    """

    file: str
    on: str
    failure: ScriptFailure | None
    report: ScriptReport | None
    packets: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if everything was as the script says."""
        return self.failure is None


@dataclass(frozen=True)
class ScriptDifference:
    """The place in a script where the packets of our end point and of the kernel differ first.

    Attributes
    ----------
    file, line, column
        The script, and the place of the event.
    what
        The fields.
    sim, live
        Both packets with their times, in packetdrill's notation, or why there is none; ``live`` is
        the kernel's, in virtual time, too.
    """

    file: str
    line: int
    column: int
    what: str
    sim: str
    live: str


class Drill:
    """The outcomes of scripts.

    Attributes
    ----------
    scripts : tuple of ScriptOutcome
        In the order of the paths; of a folder, in the order of the names. On two stacks, each
        script has two.
    differences : tuple of ScriptDifference
        The places where the stacks differ, on two of them; the first of each script.
    again : int
        Scripts that were given to the kernel a second time, because the machine disturbed them.
    notes : tuple of str
        Which of the settings set nothing, and why.
    """

    def __init__(self, core: _core.Drill) -> None:
        self._core = core
        read = json.loads(core.to_json())
        self.notes: tuple[str, ...] = tuple(read["notes"])
        self.differences = tuple(ScriptDifference(**row) for row in read["differences"])
        self.again: int = read["again"]
        self.scripts: tuple[ScriptOutcome, ...] = tuple(map(_outcome, read["scripts"]))

    @property
    def passed(self) -> int:
        """The number of scripts that passed."""
        return sum(script.passed for script in self.scripts)

    @property
    def failed(self) -> int:
        """The number of scripts that failed."""
        return len(self.scripts) - self.passed

    @property
    def captures(self) -> list[Path]:
        """The packet captures that were written, in the order of the scripts."""
        return self._core.captures

    def tap(self, *, notes: bool = False, packets: bool = False) -> str:
        """Return the outcomes in the Test Anything Protocol, version 13.

        Parameters
        ----------
        notes
            True if notes follow as comments.
        packets
            True if the packets of each script follow as comments.
        """
        return self._core.tap(notes, packets)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ackclock drill --json`` prints."""
        rows = [
            {"file": script.file, "on": script.on, "passed": script.passed} | asdict(script)
            for script in self.scripts
        ]
        return {
            "passed": self.passed,
            "failed": self.failed,
            "notes": list(self.notes),
            "again": self.again,
            "differences": [asdict(difference) for difference in self.differences],
            "scripts": rows,
        }

    def __repr__(self) -> str:
        """Return how many passed, and how many failed."""
        return f"Drill(passed={self.passed}, failed={self.failed})"


def _outcome(row: Mapping[str, Any]) -> ScriptOutcome:
    failure, report = row["failure"], row["report"]
    return ScriptOutcome(
        file=row["file"],
        on=row["on"],
        failure=failure and ScriptFailure(**failure),
        report=report and ScriptReport(**report | {"notes": tuple(report["notes"])}),
        packets=tuple(row["packets"]),
    )


def drill(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    profile: Profile = "rfc",
    settings: Mapping[str, str | int] | None = None,
    compare_push: bool = False,
    strict_end: bool = False,
    threads: int | None = None,
    on: str = "sim",
    linux: str | None = None,
    pcap: str | os.PathLike[str] | None = None,
) -> Drill:
    """Run packetdrill scripts against the laboratory's own end point, or against a kernel.

    Our own end point runs in virtual time, this machine's kernel in real time: each script has a
    network namespace with a TUN device of its own, which are gone with it, and the machine's own
    settings stay as they are. That needs root. A kernel that ``ackclock linux build`` has left runs
    in virtual time and needs nobody's rights.
    Nothing of a script is executed by a shell or by Python. Other Python threads go on meanwhile.

    Parameters
    ----------
    paths
        Scripts, and folders of which every ``*.pkt`` is run.
    profile
        The profile that decides where a script says nothing.
    settings
        Settings by name that come after a script's own, such as ``{"tcp_sack": 0}``.
    compare_push
        True if the flag ``P`` is compared.
    strict_end
        True if a packet that is left over at the end of a script is a failure.
    threads
        The number of scripts at once; default: one a core, or 16 on this machine's kernel. On
        ``"linux"`` the number of guests.
    on
        The stack: ``"sim"``, ``"live"`` or ``"linux"``; ``"sim,live"`` and ``"sim,linux"`` are two,
        which are then compared.
    linux
        The kernel of ``"linux"``: its key, its version such as ``"7.2"``, or ``"7.2, hz 1000"``;
        default: the newest.
    pcap
        A folder for packet captures, ``<script>.pcapng``, with the numbers of the script.

    Returns
    -------
    Drill
        The outcomes. A script that cannot be read as one has failed like others.

    Raises
    ------
    BadInput
        A profile, a setting or a kernel that is none, or a path at which there is no script.
    UnfinishedError
        Scripts cannot be given to the kernel here: no root, no TUN device, no Linux.
    """
    expect_threads(threads)
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    how: dict[str, object] = {
        "profile": profile,
        # `True` is the setting 1.
        "settings": [
            (name, value if isinstance(value, str) else str(int(value)))
            for name, value in (settings or {}).items()
        ],
        "compare_push": compare_push,
        "strict_end": strict_end,
        "on": on,
    }
    scripts = _core.scripts([os.fspath(path) for path in several], how)
    folder = None if pcap is None else os.fspath(pcap)
    if is_linux(on, linux):
        with Folder(folder) if folder is not None else nullcontext():
            return Drill(
                drilling.drill(calling.kernel_of(linux), scripts, how, threads=threads, pcap=folder)
            )
    try:
        return Drill(_core.drill(scripts, how, threads, folder))
    except OSError as error:
        raise UnfinishedError(str(error)) from None


def is_linux(on: str, linux: str | None) -> bool:
    """Return whether a kernel in virtual time is among the stacks.

    Raises
    ------
    BadInput
        One is named, and not asked.
    """
    if "linux" in (word.strip() for word in on.split(",")):
        return True
    if linux is not None:
        raise BadInput("linux: a kernel is named, expected `linux` among the stacks")
    return False
