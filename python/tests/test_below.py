"""Names of others: below a folder, and through no link, for reading and for writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.base.below import Below, OutsideError
from support import SMALL


@pytest.fixture
def below(tmp_path: Path) -> Below:
    """Return a folder with a file, links and a pipe, beside one with a secret."""
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner/file.txt").write_text("12345", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "same.txt").symlink_to("inner/file.txt")
    (folder / "out").symlink_to(tmp_path)
    (folder / "nowhere").symlink_to(tmp_path / "nothing")
    os.mkfifo(folder / "pipe")
    return Below(folder)


def test_a_file_below_is_read(below: Below) -> None:
    assert below.read("inner/file.txt") == b"12345"
    assert below.read("./inner//file.txt") == b"12345"
    assert below.names("inner") == ["file.txt"]
    assert below.names("none") == []
    assert (below.is_folder("inner"), below.is_folder("none")) == (True, False)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt", "inner/../../secret.txt", "/etc/passwd", "inner/..", "..", "a\0b",
        "link.txt", "same.txt", "out/secret.txt", "out", "nowhere", "nowhere/x",
    ],
)  # fmt: skip
def test_a_name_that_leads_outside_or_through_a_link_is_refused(below: Below, name: str) -> None:
    for use in (below.read, below.about, below.names, below.path):
        with pytest.raises(OutsideError) as refused:
            use(name)
        assert "\n" not in str(refused.value)
        assert "secret" not in str(refused.value).replace(name, "")


@pytest.mark.parametrize(
    "name", ["none", "inner/none", "inner/file.txt/x", "n" * 300, "x/" * 3000, "\ud800"]
)
def test_a_name_of_nothing_is_no_file(below: Below, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        below.read(name)
    assert below.about(name) is None


def test_what_is_no_file_is_not_waited_for(below: Below) -> None:
    for name in ("pipe", "inner", ""):
        with pytest.raises(ac.BadInput, match="is no plain file"):
            below.read(name)


def test_a_file_is_judged_by_its_size_before_it_is_read(below: Below) -> None:
    assert below.read("inner/file.txt", most=5) == b"12345"
    with pytest.raises(ac.BadInput, match="is larger than 4 bytes"):
        below.read("inner/file.txt", most=4)


@pytest.mark.parametrize("part", ["cells", "plans", "tables", "writers"])
def test_a_sweep_writes_through_no_link(tmp_path: Path, part: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "store").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store" / part).symlink_to(tmp_path / "elsewhere")
    plan = {"scenario": str(tmp_path / "small.toml"), "keep": ["links"]}
    with pytest.raises(ac.BadInput, match="leads through a link"):
        ac.sweep(plan, tmp_path / "store")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    # Where a store lies is the user's own word.
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "disk").mkdir()
    (tmp_path / "store").symlink_to(tmp_path / "disk")
    found = ac.sweep({"scenario": str(tmp_path / "small.toml")}, tmp_path / "store")
    assert found.frame.height == 1
    assert (tmp_path / "disk/cells").is_dir()
