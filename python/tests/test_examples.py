"""The examples run, and the tutorials show them as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

import ackclock as ac
from support import ROOT, Answer

EXAMPLES = ROOT / "examples"
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_a_scenario_runs_and_says_where_it_is_explained(
    path: Path, ackclock: Callable[..., Answer]
) -> None:
    answer = ackclock("run", path)
    assert answer.code == 0
    # A note says that BBR of the draft is another law.
    assert all("not the kernel's" in line for line in answer.err.splitlines())
    (page,) = re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    assert (ROOT / page).is_file()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, marks=pytest.mark.slow if path.name == "response.py" else (), id=path.name
        )
        for path in sorted(EXAMPLES.glob("*.py"))
    ],
)
def test_a_program_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", path, "figure.svg"],
        cwd=tmp_path,
        env=os.environ | {"MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    # The output that the tutorial shows, to the last digit: runs are pure functions.
    shown = [page for page in TUTORIALS if f"examples/{path.name}" in page.read_text("utf-8")]
    assert shown
    assert any(f"```text\n{done.stdout}```" in page.read_text("utf-8") for page in shown)
    if path.name == "response.py":
        ET.parse(tmp_path / "figure.svg")  # noqa: S314 - our own


def test_the_first_tutorial_shows_its_scenario_and_its_table(
    ackclock: Callable[..., Answer],
) -> None:
    page = (ROOT / "docs/tutorials/first-scenario.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml title=[^\n]*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    path = EXAMPLES / "first.toml"
    assert tomllib.loads(shown) == tomllib.loads(path.read_text(encoding="utf-8"))
    printed = [line.split() for line in ackclock("run", path).out.splitlines()]
    # Its heading and the first row of either table.
    rows = [line.split() for line in page.splitlines() if line.startswith((" f", " l", " b"))]
    assert len(rows) == 4
    assert all(row in printed for row in rows)


def test_the_table_of_seeds_is_so() -> None:
    page = (ROOT / "docs/tutorials/compare-two-senders.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 3
    for seed, *shown in rows:
        run = ac.simulate(EXAMPLES / "two_senders.toml", seed=int(seed))
        flows = [row for row in run.rows("flows") if row["measure"] == "shared"]
        rates = {row["flow"]: f"{row['goodput_bps'] / 1e6:.2f}" for row in flows}
        assert [rates["cubic"], rates["bbr"]] == shown


def test_new_lists_and_writes_the_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ackclock: Callable[..., Answer]
) -> None:
    monkeypatch.chdir(tmp_path)
    scenarios = sorted(EXAMPLES.glob("*.toml"))
    listed = [line.split()[0] for line in ackclock("new").out.splitlines()]
    assert listed == [path.stem.replace("_", "-") for path in scenarios]
    for path, kind in zip(scenarios, listed, strict=True):
        text = path.read_text(encoding="utf-8")
        assert ackclock("new", kind).code == 0
        assert Path(f"{kind}.toml").read_text(encoding="utf-8") == text
        assert ackclock("new", kind, "--print").out == text
        # Whoever begins with it is told why.
        assert text.count("\n# ") >= 1
    answer = ackclock("new", "web")
    assert answer == Answer(
        2, "", "ackclock: web.toml is there already; name another file with --out\n"
    )
    assert ackclock("new", "web", "--out", "other.toml").code == 0
    answer = ackclock("new", "video-5g")
    expected = "ackclock: `video-5g` is no kind of scenario (did you mean `video-4g`?)\n"
    assert (answer.code, answer.err) == (2, expected)


def test_the_examples_of_the_repository_are_those_of_the_package() -> None:
    """One set and not two: the folder at the top is a link."""
    assert EXAMPLES.is_symlink()
    assert EXAMPLES.resolve() == ROOT / "python" / "ackclock" / "examples"
    installed = files("ackclock") / "examples"
    for path in EXAMPLES.iterdir():
        if path.suffix in {".toml", ".py", ".ipynb"}:
            assert (installed / path.name).read_text("utf-8") == path.read_text("utf-8")
