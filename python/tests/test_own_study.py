"""The guide's package of a study and a test set: made, installed and run as the guide says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from run_documents import blocks
from support import ROOT

PAGE = ROOT / "docs/guides/own-study.md"

Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder into which the guide's package was installed."""
    folder = tmp_path_factory.mktemp("own")
    saved = {title: content for _, title, content in blocks(PAGE) if title}
    assert len(saved) == 4
    for title, content in saved.items():
        path = folder / title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    pip += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(site)]
    subprocess.run([*pip, folder / "mine"], check=True)
    return site


@pytest.fixture
def ask(installed: Path, tmp_path: Path) -> Ask:
    """Run the command where the package is installed; a result of another code is an error."""

    def asked(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "ackclock.cli", *words],
            check=False, capture_output=True, text=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done

    return asked


@pytest.mark.slow
def test_the_study_of_the_guide_is_listed_and_runs(ask: Ask, tmp_path: Path) -> None:
    listed = json.loads(ask("reproduce", "--json").stdout)
    assert {"key": "mine", "title": "Buffers and utilisation"} in listed
    assert "altman1997" in {study["key"] for study in listed}
    ask("reproduce", "mine", "--quick")
    report = tmp_path / "report" / "mine"
    (claim,) = json.loads((report / "claims.json").read_text(encoding="utf-8"))
    assert (claim["id"], claim["verdict"]) == ("mine-full", "reproduced")
    assert "from ackclock_mine import study" in (report / "index.html").read_text(encoding="utf-8")
    # A finished part is kept, and taken the second time.
    assert "1 of 1 parts were finished before" in ask("reproduce", "mine", "--quick").stderr


def test_the_suite_of_the_guide_is_listed_and_runs(ask: Ask) -> None:
    assert "mine" in {suite["suite"] for suite in json.loads(ask("suite", "--json").stdout)}
    found = json.loads(ask("suite", "mine", "newreno", "--quick", "--json").stdout)
    (cell,) = found["cells"]
    assert (cell["case"], cell["verdict"]) == ("alone", "pass")


@pytest.mark.slow
def test_the_values_of_a_suite_are_kept_until_its_source_is_another(
    ask: Ask, installed: Path
) -> None:
    words = ("suite", "mine", "newreno", "--quick", "--json", "--out", "out")
    before = json.loads(ask(*words).stdout)
    source = installed / "ackclock_mine" / "suite.py"
    text = source.read_text(encoding="utf-8")
    try:
        # Half of the share: a value that is kept would be the whole one.
        source.write_text(text.replace("/ RATE_BPS", "/ RATE_BPS / 2"), encoding="utf-8")
        after = json.loads(ask(*words, code=1).stdout)
    finally:
        source.write_text(text, encoding="utf-8")
    assert after["cells"][0]["mean"] == pytest.approx(before["cells"][0]["mean"] / 2)
    assert after["digest"] != before["digest"]


def test_an_error_in_a_suite_of_others_names_their_package(ask: Ask, installed: Path) -> None:
    source = installed / "ackclock_mine" / "suite.py"
    text = source.read_text(encoding="utf-8")
    try:
        source.write_text(text.replace("/ RATE_BPS", "/ None"), encoding="utf-8")
        said = ask("suite", "mine", "newreno", "--quick", code=1).stderr
    finally:
        source.write_text(text, encoding="utf-8")
    assert "a fault of the package ackclock-mine: TypeError: unsupported operand" in said
    assert "(suite.py:" in said
    assert "report it to its authors" in said
