"""Parts: whole or not at all, resumed, the same bytes again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from ackclock.studies._frame_parts import (
    Advance,
    Ledger,
    Part,
    PartStore,
    digest,
    run_parts,
    write_atomically,
    write_parquet,
)

QUIET = Console(quiet=True)


class Work:
    """Parts that count how often they run, one of which may be interrupted."""

    def __init__(self, interrupt: str | None = None) -> None:
        self.ran: list[str] = []
        self.interrupt = interrupt

    def part(self, name: str, inputs: object = 0) -> Part:
        def compute(advance: Advance) -> pl.DataFrame:
            if name == self.interrupt:
                raise KeyboardInterrupt
            self.ran.append(name)
            advance(1)
            return pl.DataFrame({"name": [name], "value_s": [1.5]})

        return Part(name, inputs, 1, compute)


def store(folder: Path, salt: str = "core 1") -> PartStore:
    return PartStore(folder / "parts", salt, {"quick": "no"})


def run(folder: Path, parts: list[Part], salt: str = "core 1") -> dict[str, pl.DataFrame]:
    ledger = Ledger(folder / "data" / "cost.parquet", 2)
    return run_parts(parts, store(folder, salt), ledger, QUIET)


def test_an_interrupted_run_resumes_where_it_stopped(tmp_path: Path) -> None:
    broken = Work(interrupt="b")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [broken.part(name) for name in "abc"])
    assert broken.ran == ["a"]
    assert [path.name[0] for path in (tmp_path / "parts").iterdir()] == ["a"]
    again = Work()
    found = run(tmp_path, [again.part(name) for name in "abc"])
    assert again.ran == ["b", "c"]
    assert list(found) == ["a", "b", "c"]
    costs = pl.read_parquet(tmp_path / "data" / "cost.parquet")
    assert costs["part"].to_list() == ["a", "b", "c"]


def test_other_inputs_or_another_core_are_other_parts(tmp_path: Path) -> None:
    work = Work()
    run(tmp_path, [work.part("a", 1)])
    run(tmp_path, [work.part("a", 1)])
    assert work.ran == ["a"]
    run(tmp_path, [work.part("a", 2)])
    run(tmp_path, [work.part("a", 1)], salt="core 2")
    assert work.ran == ["a", "a", "a"]


def test_a_part_that_cannot_be_read_is_computed_again(tmp_path: Path) -> None:
    work = Work()
    part = work.part("a")
    run(tmp_path, [part])
    store(tmp_path).path(part).write_bytes(b"PAR1 rubbish")
    run(tmp_path, [part])
    assert work.ran == ["a", "a"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(unfinished: Path) -> None:
        unfinished.write_text("half")
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - any failure of the writer
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_tables_are_equal_bytes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    write_parquet(tmp_path / "1", frame, {"k": "v", "a": "b"})
    write_parquet(tmp_path / "2", frame, {"a": "b", "k": "v"})
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert pl.read_parquet(tmp_path / "1").equals(frame)


def test_digest_tells_pieces_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
