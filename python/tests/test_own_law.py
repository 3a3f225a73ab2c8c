"""A law of one's own: in a shared library, by the C interface."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from support import ROOT, Answer

PATH = """\
duration = "10 s"

[topology]
kind = "path"
rate = "10 Mbit/s"
rtt = "40 ms"

[[flow]]
name = "a"
variant = "NAME+partialack+rfc3390"
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the example in C, compiled."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on the PATH")
    out = tmp_path_factory.mktemp("law") / "libmine.so"
    source = ROOT / "python/ackclock/examples/laws/reno.c"
    words = ["cc", "-O2", "-shared", "-fPIC", "-I", ac.get_include(), "-o", str(out)]
    subprocess.run([*words, str(source)], check=True)
    return out


def test_a_loaded_law_is_a_sender_like_others(library: Path) -> None:
    ac.load_law("mineinc", library)

    def rows(variant: str) -> list[dict[str, object]]:
        flows = [ac.Flow(f"{variant}+partialack+rfc3390"), ac.Flow("cubic", start="2 s")]
        scenario = ac.Scenario(ac.path("10 Mbit/s", "40 ms"), flows, duration="20 s")
        return [row | {"variant": ""} for row in ac.simulate(scenario).rows("flows")]

    assert rows("mineinc") == rows("reno")
    sweep = ac.simulate_many(
        ac.Scenario(ac.path("10 Mbit/s", "40 ms"), [ac.Flow("mineinc")], duration="2 s", seed=seed)
        for seed in range(4)
    )
    assert sweep.length("flows") == 4


def test_the_command_says_what_it_loaded(
    library: Path, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    file = tmp_path / "path.toml"
    file.write_text(PATH.replace("NAME", "unloaded"))
    # The file names the law and cannot load it.
    answer = ackclock("run", file)
    assert answer.code == 2
    assert "unknown part `unloaded`" in answer.err
    answer = ackclock("run", file, "--law", f"unloaded={library}")
    assert (answer.code, answer.err) == (0, f"ackclock: law `unloaded` loaded from {library}\n")
    assert " unlo" in answer.out


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("mine", "`mine` is not NAME=FILE, such as mine=./libmine.so"),
        ("mine=none.so", "law `mine`: none.so: cannot be loaded: "),
        ("reno={library}", "`reno` is a word for a part of the house's; expected another name"),
        (
            "My-law={library}",
            "`My-law` is no name of a law; expected lower-case letters and digits",
        ),
    ],
)
def test_a_law_that_cannot_be_loaded_is_told(
    library: Path, tmp_path: Path, ackclock: Callable[..., Answer], law: str, said: str
) -> None:
    file = tmp_path / "path.toml"
    file.write_text(PATH.replace("NAME", "cubic"))
    answer = ackclock("run", file, "--law", law.replace("{library}", str(library)))
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
