"""The program inside a guest: one live run, whose tables and report go into the run's folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file
from ackclock.linux.booting import INSIDE
from ackclock.runs.run import Run

__all__ = ["main"]


def main(folder: Path = Path(INSIDE)) -> None:
    """Run the scenario of a folder, and leave its tables there, or the line of its refusal."""
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
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


def _lived(folder: Path, **options: Any) -> Run:
    text = (folder / "scenario.json").read_text(encoding="utf-8")
    ours = [sys.executable, "-P", "-m", "ackclock.cli"]
    try:
        return Run(_core.live(text, ackclock=ours, **options))
    except OSError as error:
        raise BadInput(str(error)) from None


if __name__ == "__main__":
    main()
