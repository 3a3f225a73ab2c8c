"""The check of studies' folders, on folders that break its rules."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from support import ROOT

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


def test_a_topic_has_files_of_the_same_names(tmp_path: Path, script: Script) -> None:
    check = script("check_studies")
    for name in ("figures.py", "live.py", "__init__.py", "figures_more.py"):
        path = tmp_path / "pages" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = [line for line in check.files(tmp_path) if "missing" not in line]
    assert len(found) == 1
    assert found[0].startswith("pages/figures_more.py: expected a name such as figures.py")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from ackclock_studies.laws import figures", [(1, "ackclock_studies.laws.figures")]),
        ("import ackclock_studies.laws.runs", [(1, "ackclock_studies.laws.runs")]),
        ("from ackclock_studies.aqm.runs import parts", []),
        ("from ackclock.studies.framework import parts", []),
    ],
)
def test_a_study_uses_no_other(source: str, found: list[object], script: Script) -> None:
    assert list(script("check_studies").others_used(ast.parse(source), "aqm")) == found


#: By what is wrong: the file, a text in it, the text in its place, and words that tell it.
BROKEN = {
    "another version": (
        "studies/pyproject.toml", '\nversion = "', '\nversion = "9', ", expected ",
    ),
    "another core": ("studies/pyproject.toml", "ackclock[report]==", "ackclock[report]>=", "=="),
    "another extra": ("pyproject.toml", "ackclock-studies==", "ackclock-studies>=", "=="),
    "another licence": ("studies/LICENSE-MIT", "MIT", "BSD", "studies/LICENSE-MIT: differs"),
    "a study that is not declared": (
        "studies/pyproject.toml", 'laws = "ackclock_studies.laws:STUDY"\n', "",
        "`laws` is None, expected ackclock_studies.laws:STUDY",
    ),
    "a suite that is not there": (
        "studies/pyproject.toml", 'quick = "ackclock_studies.suites.quick:', 'slow = "a:',
        "`slow` is a:SUITE, expected None",
    ),
}  # fmt: skip


def test_the_package_declares_what_it_has(script: Script) -> None:
    assert list(script("check_studies").declared(ROOT)) == []


@pytest.mark.parametrize("wrong", BROKEN)
def test_a_wrong_declaration_is_told(wrong: str, script: Script, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "Cargo.toml", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy2(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "studies", tmp_path / "studies", ignore=shutil.ignore_patterns("tests"))
    file, text, other, said = BROKEN[wrong]
    before = (tmp_path / file).read_text(encoding="utf-8")
    assert text in before
    (tmp_path / file).write_text(before.replace(text, other), encoding="utf-8")
    assert any(said in line for line in script("check_studies").declared(tmp_path))
