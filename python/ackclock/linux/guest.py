"""The program inside a guest: one live run, whose tables and report go into the run's folder."""

from __future__ import annotations

import json
from pathlib import Path

from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file
from ackclock.linux.booting import INSIDE
from ackclock.runs.api import ScenarioFile, run_live

__all__ = ["main"]


def main(folder: Path = Path(INSIDE)) -> None:
    """Run the scenario of a folder, and leave its tables there, or the line of its refusal."""
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    try:
        run = run_live(ScenarioFile(folder / "scenario.json"), **options)
        run.write(folder / "tables")
        told = {
            "live": run.live,
            "events": run.clock_events,
            "scenarios": list(run.scenario_texts),
        }
    except BadInput as error:
        told = {"refused": str(error)}
    write_file(folder / "told.json", json.dumps(told))


if __name__ == "__main__":
    main()
