"""Parts: whole or not at all, resumed, the same bytes again."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from ackclock.studies.framework.parts import (
    Advance,
    Ledger,
    Part,
    PartStore,
    digest,
    parquet,
    run_parts,
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


def test_a_byte_that_has_changed_in_a_part_is_noticed(tmp_path: Path) -> None:
    work = Work()
    part = work.part("a")
    run(tmp_path, [part])
    path = store(tmp_path).path(part)
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert store(tmp_path).load(part) is None, at
    path.write_bytes(whole[: len(whole) // 2])
    assert store(tmp_path).load(part) is None
    path.write_bytes(whole)
    assert store(tmp_path).load(part) is not None


def test_the_part_of_another_run_is_not_taken_for_this(tmp_path: Path) -> None:
    work = Work()
    one, other = work.part("a", 1), work.part("a", 2)
    run(tmp_path, [other])
    store(tmp_path).path(other).rename(store(tmp_path).path(one))
    assert store(tmp_path).load(one) is None
    # A file of somebody's by that name, and what is no file: nobody waits for a FIFO.
    store(tmp_path).path(one).unlink()
    pl.DataFrame({"a": [1]}).write_parquet(store(tmp_path).path(one))
    assert store(tmp_path).load(one) is None
    store(tmp_path).path(one).unlink()
    os.mkfifo(store(tmp_path).path(one))
    assert store(tmp_path).load(one) is None
    run(tmp_path, [one])
    assert work.ran == ["a", "a"]


def test_a_damaged_ledger_begins_anew(tmp_path: Path) -> None:
    work = Work()
    run(tmp_path, [work.part("a")])
    path = tmp_path / "data" / "cost.parquet"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    run(tmp_path, [work.part("b")])
    assert pl.read_parquet(path)["part"].to_list() == ["b"]


def test_equal_tables_are_equal_bytes_with_checksums_of_their_pages() -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    content = parquet(frame, {"k": "v", "a": "b"})
    assert content == parquet(frame, {"a": "b", "k": "v"})
    assert pl.read_parquet(content).equals(frame)
    # A page's byte, not the footer's: the file begins with PAR1 and the header of the first page.
    damaged = bytearray(content)
    damaged[content.index(b"\x28\xb5\x2f\xfd") + 8] ^= 1  # behind zstd's magic number (RFC 8878)
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(pa.BufferReader(bytes(damaged)), page_checksum_verification=True)


def test_digest_tells_pieces_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
