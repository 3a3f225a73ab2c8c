"""The imports of a command, and what the package does without being asked."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.runs.run import TABLES

#: Each takes a tenth of a second and more to import.
HEAVY = {
    *("pyarrow", "polars", "numpy", "matplotlib", "jinja2", "pandas", "duckdb"),
    *("ackclock.studies", "ackclock.suites", "ackclock_studies"),
    *("ackclock.plots", "ackclock.report"),
}

_PROGRAM = """
import sys
from pathlib import Path
from ackclock.cli import app as cli
try:
    cli.main(sys.argv[2:])
finally:
    Path(sys.argv[1]).write_text("\\n".join(sys.modules), encoding="utf-8")
"""


def imported_by(*arguments: str, folder: Path) -> set[str]:
    """Return the modules that are loaded when a command has run."""
    told = folder / "modules.txt"
    command = [sys.executable, "-c", _PROGRAM, str(told), *arguments]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return set(told.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "small.toml"],
        ["run", "small.toml", "--json"],
        ["run", "small.toml", "--out", "tables", "--seed", "2"],
        ["run", "small.toml", "--pcap", "packets"],
        ["variants"],
        ["doctor"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_a_command_imports_what_it_needs(arguments: list[str], small_file: Path) -> None:
    loaded = imported_by(*arguments, folder=small_file.parent)
    assert "ackclock._core" in loaded
    assert not loaded & HEAVY


def test_a_run_makes_no_value_of_each_part_of_a_scenario(small_file: Path) -> None:
    # The dataclasses of a scenario alone take as long as Python itself.
    loaded = imported_by("run", "small.toml", "--out", "tables", folder=small_file.parent)
    assert "ackclock.scenario.scenario" not in loaded


def test_every_name_is_there_when_it_is_asked_for() -> None:
    for name in ac.__all__:
        assert getattr(ac, name) is not None
    assert set(ac.__all__) <= set(dir(ac))
    assert ac.Link is import_module("ackclock.scenario.links").Link
    assert ac.theory is import_module("ackclock.runs.theory")
    with pytest.raises(AttributeError, match="did you mean `Link`"):
        ac.Lnik  # noqa: B018 # pyright: ignore[reportAttributeAccessIssue]


def test_all_of_the_package_can_be_imported_at_once() -> None:
    program = "from ackclock import *; print(sorted(set(globals()) - set(dir(__builtins__))))"
    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    for name in ac.__all__:
        assert f"'{name}'" in said


def test_rows_are_those_of_the_arrow_table(small: ac.Scenario) -> None:
    runs = [ac.simulate(small), ac.simulate_many([small, small])]
    for run in runs:
        for name in TABLES:
            assert run.rows(name) == getattr(run, name).to_pylist(), name
    # Texts, whole numbers, numbers, names by number, and None.
    (flow, *_) = runs[0].rows("flows")
    assert (flow["measure"], flow["flow"], flow["variant"]) == ("run", "a", "newreno")
    assert type(flow["segments_sent"]) is int
    assert type(flow["goodput_bps"]) is float
    (sample, *_) = runs[0].rows("flow_samples")
    assert (sample["flow"], sample["srtt_s"]) == ("a", None)
    assert [row["cell"] for row in runs[1].rows("flows")] == [0, 1]


def test_rows_of_a_table_that_there_is_not(small: ac.Scenario) -> None:
    run = ac.simulate(small)
    with pytest.raises(ac.BadInput, match="rows: `flow` is not a table \\(did you mean `flows`"):
        run.rows("flow")
