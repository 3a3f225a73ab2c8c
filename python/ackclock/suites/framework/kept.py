"""Values of finished runs on disk, so that a suite that was interrupted goes on."""

from __future__ import annotations

import json
from pathlib import Path

from ackclock.base.places import Place
from ackclock.base.writing import write_file
from ackclock.runs import identity
from ackclock.scenario.scenario import Scenario
from ackclock.suites.framework.case import Case

__all__ = ["Kept"]


class Kept:
    """The values of finished runs: a file a run, under the key of the run and of the case.

    ``sources`` is a hash of the suite's own sources, which turn tables into values.
    """

    def __init__(self, folder: Path | None, sources: str) -> None:
        self.folder = folder
        self.sources = sources

    def get(self, case: Case, place: Place, scenario: Scenario) -> float | None:
        """Return the value of a finished run; None if there is none."""
        file = self._file(case, place, scenario)
        try:
            return None if file is None else float(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):
            return None

    def put(self, case: Case, place: Place, scenario: Scenario, value: float) -> None:
        """Keep the value of a run."""
        file = self._file(case, place, scenario)
        if file is not None:
            write_file(file, json.dumps(value).encode(), make_folder=True)

    def _file(self, case: Case, place: Place, scenario: Scenario) -> Path | None:
        if self.folder is None:
            return None
        about = f"{case.key} {case.metric} {identity.readers_id()} {self.sources}"
        (key,) = identity.run_keys([scenario.to_json()], on=place, about=about)
        return self.folder / f"{key}.json"
