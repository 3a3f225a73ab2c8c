"""The example of a law in Rust."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support import ROOT


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo on the PATH")
def test_a_law_in_a_project_of_its_own_is_built_and_run() -> None:
    done = subprocess.run(
        # The Rust tests have compiled it.
        ["cargo", "run", "--quiet", "--locked", "--package", "own-law"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["mine", "cubic"]
    assert lines[2].startswith("it kept the rules in ")
