"""The substrate ``linux``: a live run inside a guest, in virtual time."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock import _core
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.shown import seconds_of
from ackclock.base.writing import Folder, copy_file, write_file
from ackclock.linux import booting, kept
from ackclock.linux.building import refuse_machine
from ackclock.runs.run import TABLES, Run

if TYPE_CHECKING:
    from ackclock.runs.api import ScenarioFile
    from ackclock.scenario.scenario import Scenario

__all__ = ["LinuxRun", "run_linux"]

#: The seconds of the guest's clock that a run may take beyond its duration, for its begin and end.
_BEYOND_S = 600


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

    refuse_machine()
    text = scenario_text(scenario)
    if not allow_programs and (asked := _core.programs_asked(text)):
        raise BadInput(f"{asked[0]}; expected allow_programs=True, if the file is to be trusted")
    table = json.loads(text)
    kernel = kept.one(linux or table.get("linux"))
    used_seed = int(table.get("seed", 0)) if seed is None else seed
    options = {
        "seed": seed, "ports": ports, "sender": sender, "receiver": receiver, "routers": routers,
        "records": records, "allow_programs": allow_programs, "as_root": as_root,
        "pcap": None if pcap is None else f"{booting.INSIDE}/pcap",
        "programs": None if programs is None else f"{booting.INSIDE}/programs",
        "linux": json.dumps({**kernel.about(), "seed": used_seed % 2**64}),
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="ackclock-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        write_file(folder / "scenario.json", text)
        write_file(folder / "options.json", json.dumps(options))
        wish = booting.Boot(
            arguments=[sys.executable, "-P", "-m", "ackclock.linux.guest"],
            variables=_variables(),
            folder=str(Path.cwd()),
            seed=used_seed % 2**64,
            limit_s=int(seconds_of(table["duration"])) + _BEYOND_S,
            ipv6='"ipv6"' in text,
        )
        ended = booting.boot(kernel, wish, folder, progress)
        told = _told(folder, ended)
        run = LinuxRun(core := _Core(folder / "tables", told))  # type: ignore[arg-type]
        if pcap is not None:
            core.captures = _copied(folder / "pcap", Path(pcap))
        if programs is not None and (folder / "programs").is_dir():
            _copied(folder / "programs", Path(programs))
    return run


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


def _told(folder: Path, ended: booting.Ended) -> dict[str, Any]:
    """Return what the guest's program left of a run, or raise what it refused with."""
    try:
        told: dict[str, Any] = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stderr = (folder / "stderr").read_text(encoding="utf-8", errors="replace").splitlines()
        last = stderr[-1] if stderr else "no word"
        raise UnfinishedError(f"the guest's program ended with code {ended.code}: {last}") from None
    if "refused" in told:
        raise BadInput(told["refused"])
    return told


def _copied(below: Path, to: Path) -> list[Path]:
    """Copy the files below a folder into another, and return their paths."""
    found = [path for path in sorted(below.rglob("*")) if path.is_file()]
    for path in found:
        copy_file(path, to / path.relative_to(below), make_folder=True)
    return [to / path.relative_to(below) for path in found]
