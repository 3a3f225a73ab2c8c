"""Studies and suites of installed packages: found by entry points, and told where one is broken."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoints
from pathlib import Path
from typing import TypeAlias

import pytest
from rich.console import Console

import ackclock as ac
from ackclock.base.entries import Entries
from ackclock.base.errors import MissingPackageError
from ackclock.runs import identity
from ackclock.studies.framework.study import listed
from ackclock.suites.framework.case import Suite
from support import Answer

GROUP = "ackclock.tests"
#: A module with a suite of the key `right`, and something else.
SOURCE = """
from ackclock.suites.framework.case import Suite
SUITE = Suite(key="right", title="", source="", cases=lambda quick: ())
OTHER = {}
"""

Packages: TypeAlias = Callable[[Mapping[str, Mapping[str, str]]], Entries[Suite]]


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    """Install packages, each with its entries, and return the entries of all."""

    def install(named: Mapping[str, Mapping[str, str]]) -> Entries[Suite]:
        for name, entries in named.items():
            folder = tmp_path / f"{name}-1.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
            lines = [f"[{GROUP}]", *(f"{key} = {value}" for key, value in entries.items())]
            (folder / "entry_points.txt").write_text("\n".join(lines))
        (tmp_path / "one_of_tests.py").write_text(SOURCE)
        (tmp_path / "ends_of_tests.py").write_text("raise SystemExit('bye')")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "one_of_tests", raising=False)
        return Entries(GROUP, "suite", Suite)

    return install


def test_nothing_is_imported_until_it_is_asked_for(packages: Packages, tmp_path: Path) -> None:
    found = packages({"one": {"right": "one_of_tests:SUITE"}})
    assert found.names() == ("right",)
    assert found.file("right") == tmp_path / "one_of_tests.py"
    assert "one_of_tests" not in sys.modules
    assert found.get("right").key == "right"
    assert "one_of_tests" in sys.modules


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (
            {"right": "gone_of_tests:SUITE"},
            (
                "suite: `right` of one: `gone_of_tests:SUITE` cannot be imported: "
                "ModuleNotFoundError: No module named 'gone_of_tests'"
            ),
        ),
        (
            {"right": "ends_of_tests:SUITE"},
            "suite: `right` of one: `ends_of_tests:SUITE` cannot be imported: SystemExit: bye",
        ),
        (
            {"right": "one_of_tests:SUITES"},
            (
                "suite: `right` of one: `one_of_tests:SUITES` cannot be imported: "
                "AttributeError: module 'one_of_tests' has no attribute 'SUITES'"
            ),
        ),
        (
            {"right": "one_of_tests:OTHER"},
            (
                "suite: `right` of one: `one_of_tests:OTHER` is no "
                "ackclock.suites.framework.case.Suite, but `dict`"
            ),
        ),
        (
            {"wrong": "one_of_tests:SUITE"},
            "suite: `wrong` of one: its key is `right`, expected the name of its entry",
        ),
    ],
)
def test_a_broken_entry_is_one_line_and_disturbs_no_other(
    entries: Mapping[str, str], said: str, packages: Packages
) -> None:
    (name,) = entries
    others = {"two": {"good": "good_of_tests:SUITE"}}
    found = packages({"one": entries, **others})
    (Path(sys.path[0]) / "good_of_tests.py").write_text(SOURCE.replace("right", "good"))
    with pytest.raises(ac.BadInput) as refused:
        found.get(name)
    assert str(refused.value) == said
    values, faults = found.all()
    assert [value.key for value in values] == ["good"]
    assert faults == [said]


def test_a_study_whose_module_is_broken_is_one_line(tmp_path: Path) -> None:
    study = listed("json", key="mine", title="", citation="", figures={})
    with pytest.raises(ac.BadInput) as refused:
        study.run(tmp_path, quick=True, threads=1, console=Console(quiet=True))
    assert str(refused.value) == (
        "study mine: `json.study:DEFINITION` cannot be imported: "
        "ModuleNotFoundError: No module named 'json.study'"
    )
    gone = listed("gone_of_tests.more", key="mine", title="", citation="", figures={})
    with pytest.raises(ac.BadInput, match=r"study mine: there is no package `gone_of_tests\.more`"):
        gone.folder  # noqa: B018


def test_a_name_of_two_packages_is_told_with_both(packages: Packages) -> None:
    entry = {"right": "one_of_tests:SUITE"}
    found = packages({"two": entry, "one": entry})
    said = "suite: `right` is declared more than once, by one, two: uninstall all but one"
    with pytest.raises(ac.BadInput) as refused:
        found.get("right")
    assert str(refused.value) == said
    assert found.all() == ([], [said])


def test_a_name_that_is_not_installed(packages: Packages) -> None:
    found = packages({"one": {"right": "one_of_tests:SUITE"}})
    with pytest.raises(MissingPackageError) as refused:
        found.get("quick")
    assert str(refused.value) == (
        "suite: `quick` is not installed, expected one of right; Ackclock's own: "
        "pip install 'ackclock[studies]'"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("reproduce altman1997 --quick", "study: `altman1997` is not installed"),
        ("readings altman1997", "study: `altman1997` is not installed"),
        ("suite quick cubic", "suite: `quick` is not installed"),
        ("suite quick", "suite: `quick` is not installed"),
        ("reproduce", "no study is installed"),
        ("suite --json", "no suite is installed"),
        ("readings", "no study is installed"),
    ],
)
def test_commands_without_any_package_say_what_to_install(
    words: str, said: str, monkeypatch: pytest.MonkeyPatch, ackclock: Callable[..., Answer]
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: EntryPoints())
    line = f"ackclock: {said}: pip install 'ackclock[studies]'\n"
    assert ackclock(*words.split()) == Answer(2, "", line)


def test_the_sources_of_a_study_are_its_own_and_those_that_studies_share(tmp_path: Path) -> None:
    package = tmp_path / "mine"
    files = {
        "__init__.py": "from mine import never",
        "never.py": "",
        "other/__init__.py": "WORD = 1",
        "other/room.py": "import polars",
        "other/relative.py": "from ..named import f",
        "named.py": "f = 1",
        "study.py": "from mine.other import WORD, room\nfrom mine.other import relative\n"
        "def f():\n    from ackclock.studies.framework import reduce\n",
        "taken.csv": "not python (",
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    found = identity.own_sources([package / "study.py", package / "taken.csv"])
    names = ["mine/named.py", "mine/other/__init__.py", "mine/other/relative.py"]
    names += ["mine/other/room.py", "mine/study.py", "mine/taken.csv"]
    assert [file.relative_to(tmp_path).as_posix() for file in found[1:]] == names
    assert found[0] == Path(ac.__path__[0]) / "studies/framework/reduce.py"


def test_the_source_of_a_module_alone_is_itself(tmp_path: Path) -> None:
    (tmp_path / "suite.py").write_text("import beside\nimport polars\n")
    (tmp_path / "beside.py").write_text("")
    assert identity.own_sources([tmp_path / "suite.py"]) == [tmp_path / "suite.py"]
