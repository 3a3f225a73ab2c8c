"""The example in Rust that stays outside of the workspace."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support import ROOT, outside


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo on the PATH")
def test_a_law_in_a_project_of_its_own_is_built_and_run() -> None:
    done = subprocess.run(
        ["cargo", "run", "--quiet", "--locked"],
        cwd=ROOT / "examples/own-law",
        env=outside(),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["mine", "cubic"]
    assert lines[2].startswith("it kept the rules in ")
