"""The check of studies' folders, on folders that break its rules."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from ackclock import _core", "ackclock._core"),
        ("import ackclock._core", "ackclock._core"),
        ("from ackclock._core import simulate_many", "ackclock._core.simulate_many"),
        ("from ackclock.runs.theory import _validity", "ackclock.runs.theory._validity"),
        ("import ackclock as ac\nac._core.version()", "ac._core"),
        ("from ackclock.runs import theory\ntheory._to_json({})", "theory._to_json"),
        ('import importlib\nimportlib.import_module("ackclock._core")', "ackclock._core"),
    ],
)
def test_what_is_private_is_seen(source: str, name: str, script: Script) -> None:
    found = [found for _, found in script("check_studies").private_uses(ast.parse(source))]
    assert name in found


@pytest.mark.parametrize(
    "source",
    [
        "import ackclock as ac\nac.simulate(ac.__version__)",
        "from ackclock.studies.framework.parts import Part",
        "import os\nos._exit(0)",
        "class A:\n    def f(self):\n        return self._x",
    ],
)
def test_what_is_public_passes(source: str, script: Script) -> None:
    assert not list(script("check_studies").private_uses(ast.parse(source)))


def test_a_folder_has_the_files_of_a_study(tmp_path: Path, script: Script) -> None:
    check = script("check_studies")
    folder = tmp_path / "smith2030"
    folder.mkdir()
    for name in (*check.NEEDED, "live.py", "model.py", "figures_beyond.py", "points.csv"):
        (folder / name).touch()
    assert not list(check.violations(tmp_path))
    (folder / "page.py").unlink()
    (folder / "helpers.py").touch()
    missing, odd = check.violations(tmp_path)
    assert missing == "smith2030: page.py is missing"
    assert odd.startswith("smith2030: helpers.py: expected a name")
