"""The substrate ``linux``: a live run inside a guest, in virtual time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.shown import seconds_of
from ackclock.base.writing import Folder, copy_file
from ackclock.linux import booting, calling
from ackclock.runs.run import TABLES, Run

if TYPE_CHECKING:
    from ackclock.runs.api import ScenarioFile
    from ackclock.scenario.scenario import Scenario

__all__ = ["LinuxRun", "memory_of", "run_linux"]

#: The bytes of memory that a byte of a full packet takes: 2304 of 1448, and room for the sender's.
_MEMORY_PER_BYTE = 2
_MEMORY_STEP = 256 << 20
_MOST_STEPS = 16


class _Core:
    """The core's run as it was left in files: the same names as those of ``_core.Run``."""

    theory_report = None
    random = None

    def __init__(self, folder: Path, told: Mapping[str, Any]) -> None:
        self._tables = {
            name: _core.read_table(os.fspath(folder / f"{name}.parquet"), None) for name in TABLES
        }
        self._files = {
            path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()
        }
        self.live_report = json.dumps(told["live"])
        self.events: int = told["events"]
        self.captures: list[Path] = []
        self._scenarios: list[str] = told["scenarios"]

    def table(self, name: str) -> _core.Table:
        return self._tables[name]

    def scenarios(self) -> list[str]:
        return self._scenarios

    def streamed(self) -> list[str]:
        return []

    def write(self, directory: str) -> None:
        with Folder(directory, *self._files, tables=True) as folder:
            for name, content in self._files.items():
                folder.stage(name, content)
            folder.commit()


class LinuxRun(Run):
    """The tables of a run on a kernel in virtual time; its ``live`` has ``linux``, the kernel."""


def run_linux(
    scenario: Scenario | ScenarioFile | str | os.PathLike[str],
    *,
    linux: str | None = None,
    seed: int | None = None,
    ports: Literal["tun", "veth"] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    sender: Literal["kernel", "ackclock"] | None = None,
    receiver: Literal["kernel", "ackclock"] | None = None,
    routers: Literal["ackclock", "xdp", "tc"] | None = None,
    records: bool = False,
    programs: str | os.PathLike[str] | None = None,
    allow_programs: bool = False,
    as_root: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Run a scenario on a Linux kernel in virtual time: a live run within a guest.

    Nobody's rights are needed, and no quiet machine: two runs leave the same tables. The kernel is
    one that ``ackclock linux build`` has left.

    Parameters
    ----------
    scenario
        The scenario, or the path of a scenario file.
    linux
        The kernel: its key or its beginning such as ``"7.2"``, or ``"7.2, hz 1000"``; default: the
        one that the scenario names, or else the newest.
    seed
        A seed in place of the scenario's own, 0 to 2⁶⁴ − 1. The kernel's random numbers have it,
        too.
    ports, pcap, sender, receiver, routers, records, programs, allow_programs, as_root
        As of :func:`ackclock.run_live`.
    progress
        Told the guest's time in seconds since its boot, as it grows.

    Returns
    -------
    Run
        The tables, with the columns of a simulation; ``run.live["linux"]`` says which kernel.

    Raises
    ------
    BadInput
        The first key that a live run refuses, or there is no such kernel.
    UnfinishedError
        The guest hangs or did not come up.
    """
    from ackclock.runs.api import scenario_text  # noqa: PLC0415 - a run's module, which leads here

    text = scenario_text(scenario)
    if not allow_programs and (asked := _core.programs_asked(text)):
        raise BadInput(f"{asked[0]}; expected allow_programs=True, if the file is to be trusted")
    table = json.loads(text)
    kernel = calling.kernel_of(linux or table.get("linux"))
    used_seed = int(table.get("seed", 0)) if seed is None else seed
    options = {
        "scenario": text, "seed": seed, "ports": ports,
        "sender": sender, "receiver": receiver, "routers": routers,
        "records": records, "allow_programs": allow_programs, "as_root": as_root,
        "pcap": None if pcap is None else f"{booting.INSIDE}/pcap",
        "programs": programs is not None,
        "linux": json.dumps({**kernel.about(), "seed": used_seed % 2**64}),
    }  # fmt: skip
    job = calling.Job(
        name="run",
        options=options,
        seed=used_seed % 2**64,
        lasts_s=int(seconds_of(table["duration"])),
        ipv6='"ipv6"' in text,
        memory=memory_of(table),
    )
    with calling.called(kernel, job, progress) as left:
        run = LinuxRun(core := _Core(left.folder / "tables", left.told))  # type: ignore[arg-type]
        if pcap is not None:
            core.captures = _copied(left.folder / "pcap", Path(pcap))
        if programs is not None and (left.folder / "programs").is_dir():
            _copied(left.folder / "programs", Path(programs))
    return run


def memory_of(table: Mapping[str, Any]) -> str:
    """Return the most memory of a guest whose receivers hold all that their windows allow.

    A scenario with small windows has the usual memory, on which its kernel's random numbers depend.
    """
    held = 0
    for flow in table.get("flow", ()):
        settings = flow.get("tcp") or {}
        autotune = settings.get("receive_autotune")
        most = autotune.get("most") if isinstance(autotune, dict) else None
        window = settings.get("receive_window") or most or "0 B"
        held += flow.get("count", 1) * _bytes(window)
    steps = min(_MOST_STEPS, -(-_MEMORY_PER_BYTE * held // _MEMORY_STEP))
    return booting.Boot.memory if steps <= 1 else f"{(2 + steps) * (_MEMORY_STEP >> 20)}M"


def _bytes(text: str) -> int:
    """Return a number of bytes, as the core writes it."""
    number, unit = text.split()
    base, power = (1024, unit[:-2]) if unit.endswith("iB") else (1000, unit[:-1])
    return round(float(number) * base ** ["", "K", "M", "G"].index(power.upper()))


def _copied(below: Path, to: Path) -> list[Path]:
    """Copy the files below a folder into another, and return their paths."""
    found = [path for path in sorted(below.rglob("*")) if path.is_file()]
    for path in found:
        copy_file(path, to / path.relative_to(below), make_folder=True)
    return [to / path.relative_to(below) for path in found]
