"""The study probe: its scenarios, predicates and report."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from ackclock_studies.probe.analysis import over_seeds
from ackclock_studies.probe.runs import measure
from ackclock_studies.probe.scenarios import Plan
from ackclock_studies.probe.study import FIGURES, reproduce


def test_every_setting_is_a_scenario() -> None:
    plan = Plan(quick=True)
    assert len(plan.settings) == 4 * plan.seeds
    assert all(setting.scenario().to_dict()["flow"] for setting in plan.settings)
    assert callable(measure)
    assert callable(over_seeds)


@pytest.mark.slow
def test_the_quick_study_judges_its_claim(tmp_path: Path) -> None:
    (claim,) = reproduce(tmp_path / "out", quick=True, threads=None, console=Console(quiet=True))
    assert claim.measured["1 BDP"] > 0.9
    assert (tmp_path / "out" / "index.html").is_file()
    assert set(FIGURES) == {"utilisation"}
