"""Values of finished runs on disk, so that a suite that was interrupted goes on."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path

from ackclock import api
from ackclock.scenario import Scenario
from ackclock.suites.case import Case
from ackclock.writing import write_file

__all__ = ["Kept"]


class Kept:
    """The values of finished runs: a file a run, whose name is a hash of what decides the value.

    These are the scenario, the case, the place where it ran, the core and the code of the suites.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, case: Case, place: str, scenario: Scenario) -> float | None:
        """Return the value of a finished run; None if there is none."""
        file = self._file(case, place, scenario)
        try:
            return None if file is None else float(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):
            return None

    def put(self, case: Case, place: str, scenario: Scenario, value: float) -> None:
        """Keep the value of a run."""
        file = self._file(case, place, scenario)
        if file is not None:
            write_file(file, json.dumps(value).encode(), make_folder=True)

    def _file(self, case: Case, place: str, scenario: Scenario) -> Path | None:
        if self.folder is None:
            return None
        state = hashlib.sha256(_code())
        for piece in (case.key, case.metric, place, scenario.to_json()):
            state.update(hashlib.sha256(piece.encode()).digest())
        return self.folder / f"{state.hexdigest()[:32]}.json"


@functools.cache
def _code() -> bytes:
    """Return a hash of the core and of the files of the suites."""
    state = hashlib.sha256(str(api.build_id()).encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        state.update(hashlib.sha256(file.read_bytes()).digest())
    return state.digest()
