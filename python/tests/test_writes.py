"""The check that files go through the one writer, on files that go past it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ('open("x", "w")', "open"),
        ('open("x", mode)', "open"),
        ('Path("x").open("a")', "open"),
        ('Path("x").open(mode="r+")', "open"),
        ('os.open("x", os.O_WRONLY)', "os.open"),
        ('Path("x").write_text("y")', "write_text"),
        ('path.replace("z")', "replace"),
        ('figure.savefig("x.svg")', "savefig"),
        ('frame.write_parquet("x")', "write_parquet"),
        ('shutil.move("x", "y")', "shutil.move"),
        ("json.dump(value, file)", "json.dump"),
        ('Path("x").mkdir()', "mkdir"),
    ],
)
def test_python_that_writes_is_seen(line: str, call: str, script: Script) -> None:
    assert script("check_writes").python_calls(line) == [call]


@pytest.mark.parametrize(
    "line",
    [
        'open("x")',
        'open("x", "rb")',
        'Path("x").open(encoding="utf-8", newline="")',
        'text.replace("a", "b")',
        'frame.rename({"a": "b"})',
        "dataclasses.replace(scenario, seed=1)",
        "scenario.to_json()",
    ],
)
def test_python_that_reads_is_not(line: str, script: Script) -> None:
    assert script("check_writes").python_calls(line) == []


def test_rust_that_writes_is_seen_and_tests_are_free(script: Script) -> None:
    text = """
        use std::fs::{self, OpenOptions};
        // fs::write in a comment
        fn f() { fs::write("x", "File::create")?; File::create("y")?; fs::create_dir_all("z") }
        #[cfg(test)]
        mod tests { fn g() { fs::write("x", "y"); } }
    """
    found = script("check_writes").rust_calls(text)
    assert found == ["fs::write", "File::create", "create_dir_all"]


def test_the_product_writes_by_its_writer_and_the_list_is_short(
    tmp_path: Path, script: Script
) -> None:
    module = script("check_writes")
    assert list(module.violations(module.ROOT)) == []
    assert all(reason for _, reason in module.ALLOWED.values())
    folder = tmp_path / "crates" / "x" / "src"
    folder.mkdir(parents=True)
    (folder / "lib.rs").write_text("fn f() { fs::write(a, b) }", encoding="utf-8")
    found = list(module.violations(tmp_path))
    assert found[0] == "crates/x/src/lib.rs: `fs::write` 1 times, 0 allowed; use the writer"
