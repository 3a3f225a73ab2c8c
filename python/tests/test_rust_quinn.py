"""The example that runs a QUIC stack in place of TCP."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support import ROOT, outside


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo on the PATH")
def test_the_page_on_quinn_has_what_the_example_prints() -> None:
    done = subprocess.run(
        ["cargo", "run", "--quiet", "--locked", "--", "quick"],
        cwd=ROOT / "examples/quinn",
        env=outside(),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs/validation/quinn.md").read_text()
    assert f"```text\n{done.stdout}```" in page
