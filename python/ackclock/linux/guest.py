"""The program inside a guest: one live run, whose tables and report go into the run's folder."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file
from ackclock.linux.booting import INSIDE
from ackclock.runs.run import Run

__all__ = ["main"]

#: The seconds since the guest's boot at which a run begins.
BEGINNING_S = 2
_PR_SET_TIMERSLACK = 29
_ABSOLUTE = 1


def main(folder: Path = Path(INSIDE)) -> None:
    """Run the scenario of a folder, and leave its tables there, or the line of its refusal."""
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    _wait_for_beginning()
    try:
        run = _lived(folder, **options)
        run.write(folder / "tables")
        told = {
            "live": run.live,
            "events": run.clock_events,
            "scenarios": list(run.scenario_texts),
        }
    except BadInput as error:
        told = {"refused": str(error)}
    write_file(folder / "told.json", json.dumps(told))


def _wait_for_beginning() -> None:
    """Sleep until a moment of the guest's clock that does not depend on how Python was loaded.

    Each reading of the clock moves it by 256 ns, and there are more of them where modules have to
    be compiled.
    """
    libc = ctypes.CDLL(None)
    # The default slack of timers is 50 us, within which other timers would decide.
    libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    libc.clock_nanosleep(time.CLOCK_MONOTONIC, _ABSOLUTE, (ctypes.c_long * 2)(BEGINNING_S, 0), None)
    libc.prctl(_PR_SET_TIMERSLACK, 0, 0, 0, 0)


def _lived(folder: Path, **options: Any) -> Run:
    text = (folder / "scenario.json").read_text(encoding="utf-8")
    ours = [sys.executable, "-P", "-m", "ackclock.cli"]
    try:
        return Run(_core.live(text, ackclock=ours, **options))
    except OSError as error:
        raise BadInput(str(error)) from None


if __name__ == "__main__":
    main()
