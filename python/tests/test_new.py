"""`make new-law`: what it writes, and that the law works in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

Script = Callable[[str], ModuleType]


def copy_of_the_crates(folder: Path) -> Path:
    """Copy what the workspace needs in order to build."""
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml", ".ci"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.exists():
            shutil.copy2(source, folder / name)
    shutil.copytree(ROOT / "crates", folder / "crates")
    (folder / "docs" / "algorithms").mkdir(parents=True)
    return folder


def test_a_new_law_is_one_file_its_page_and_one_line(tmp_path: Path, script: Script) -> None:
    root = copy_of_the_crates(tmp_path)
    table = root / "crates/tcp/src/growth.rs"
    before = table.read_text().splitlines()
    written = script("new").write_law(root, "probe")
    assert {str(path.relative_to(root)) for path in written} == {
        "crates/tcp/src/growth.rs",
        "crates/tcp/src/growth/probe.rs",
        "docs/algorithms/probe.md",
    }
    after = table.read_text().splitlines()
    assert [line for line in after if line not in before] == ["    probe::Probe,"]
    assert [line for line in after if line != "    probe::Probe,"] == before
    with pytest.raises(SystemExit, match="is there already"):
        script("new").write_law(root, "probe")
    assert list(script("check_layers").module_violations("tcp", root / "crates/tcp/src")) == []
    assert list(script("check_names").violations(root)) == []


@pytest.mark.slow
def test_a_new_law_builds_and_runs(tmp_path: Path, script: Script) -> None:
    root = copy_of_the_crates(tmp_path)
    law = next(path for path in script("new").write_law(root, "probe") if path.stem == "probe")
    subprocess.run(["rustfmt", "--edition", "2024", "--check", law], check=True, cwd=root)
    # The test of the law itself, and those that every law of the table has to pass.
    environment = {"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ}
    command = ["cargo", "test", "--quiet", "--locked", "-p", "ackclock-tcp", "--lib", "--"]
    done = subprocess.run(
        [*command, "probe", "variant::"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # The law's own, and those of names.
    passed = re.search(r"test result: ok\. (\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 10


def test_names_that_are_no_words(script: Script) -> None:
    for name in ("Probe", "my-law", "9lives", ""):
        with pytest.raises(SystemExit):
            script("new").main(["law", name])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("let law = GrowthChoice::Cubic(form);", "Cubic"),
        ("use ackclock_tcp::growth::Bbr;", "Bbr"),
        ("match recovery { RecoveryChoice::Rack(()) => {} }", "Rack"),
        ('if word == "bbr1" {}', "bbr1"),
        ('const LAW: &str = "ccp(1)";', "ccp"),
        ("// GrowthChoice::Cubic\nlet law = choice.about();", None),
        ('#[cfg(test)]\nmod tests { const LAW: &str = "cubic"; }', None),
        ('const TEXT: &str = "expected a law such as `cubic`";', None),
    ],
)
def test_who_knows_a_part_by_name(text: str, found: str | None, script: Script) -> None:
    names = script("check_names")
    lines = list(names.violations_in("crates/sim/src/a.rs", text, list(names.parts(ROOT))))
    assert [found] == [line.split("`")[1] for line in lines] if found else lines == []


def test_every_table_is_read(script: Script) -> None:
    known = list(script("check_names").parts(ROOT))
    counts = [sum(part.family == family for part in known) for family in ("growth", "recovery")]
    # Of growth laws there are 18, five of them Linux's forms; SACK and PRR are one type.
    assert counts == [18, 5]
    assert all(part.words for part in known)
