"""Plans and files are judged before anything of them is made or read."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock.sweeps import results
from ackclock.sweeps.plans import axes, plan
from ackclock.sweeps.stores.footers import read_bytes_of
from ackclock.sweeps.stores.store import Store
from sweeps.plans import BASE, plan as small

MANY = {"from": 1, "to": 1_000_000, "count": 1_000_000}


@pytest.mark.parametrize(
    ("more", "cells"),
    [
        # Two axes of 10^6 each.
        ({"axes": {"a": MANY, "b": MANY}}, "1,000,000,000,000"),
        ({"axes": {"a": {"from": 1, "to": 1e6, "step": 1}, "b": MANY}}, "1,000,000,000,000"),
        # 5 million levels, ten seeds.
        ({"axes": {"a": {**MANY, "count": 5_000_000}}, "seeds": 10}, "50,000,000"),
        ({"axes": {"a": {"from": 1, "to": 2}}, "samples": 25_000_000, "seeds": 2}, "50,000,000"),
        ({"seeds": 50_000_000}, "50,000,000"),
        # 60 axes of 10^6: counted up to 10^18.
        ({"axes": {f"a{n}": MANY for n in range(60)}}, "1,000,000,000,000,000,000"),
        ({"axes": {"a": {"from": 0, "to": 1e300, "step": 1e-300}}}, "1,000,000,000,000,000,000"),
    ],
)
def test_cells_are_counted_before_a_level_is_made(
    more: dict[str, Any], cells: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(*_: object) -> None:
        raise AssertionError("an axis was read")

    monkeypatch.setattr(plan, "read_axis", made)
    with pytest.raises(ac.BadInput) as refused:
        plan.Plan.from_dict({"scenario": BASE, **more})
    assert str(refused.value) == f"plan: {cells} cells, expected 10,000,000 at most"


@pytest.mark.parametrize(
    "value",
    [
        [1, 2, 3],
        {"values": ["1 ms", "2 ms"]},
        {"from": "1 ms", "to": "8 ms", "count": 4, "scale": "log"},
        {"from": 0.0, "to": 0.3, "step": 0.1},
        {"from": "10 ms", "to": "95 ms", "step": "10 ms"},
        {"cases": {"a": {"flow.a.variant": "reno"}, "b": {"flow.a.variant": "cubic"}}},
    ],
)
def test_the_count_is_that_of_the_levels(value: object) -> None:
    levels = axes.read_axis("x", value).levels
    assert levels is not None
    assert axes.size_of(value) == len(levels)


def held(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(frame.to_arrow(), buffer, compression="zstd")
    return buffer.getvalue()


def test_a_footer_tells_the_memory(tmp_path: Path) -> None:
    # 10^7 rows of one value: 16 bytes for each, in a file of some kilobytes.
    (tmp_path / "bomb.parquet").write_bytes(held(pl.DataFrame({"x": pl.zeros(10**7, eager=True)})))
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    with (tmp_path / "bomb.parquet").open("rb") as file:
        assert 16 * 10**7 <= read_bytes_of(file, "bomb") < 17 * 10**7
        # The reader begins at its beginning.
        assert file.tell() == 0


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        (b"", "no footer"),
        (b"PAR1", "cannot be read as Parquet"),
        (b"PAR1" + struct.pack("<I", 10**6) + b"PAR1", "no footer"),
        (b"\0" * 9_000_000 + struct.pack("<I", 8_500_000) + b"PAR1", "8,000,000 at most"),
        (b"PAR1" + b"\xff" * 100 + struct.pack("<I", 100) + b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_a_footer_that_is_none_is_told_in_a_line(
    content: bytes, piece: str, tmp_path: Path
) -> None:
    (tmp_path / "odd.parquet").write_bytes(content)
    with (tmp_path / "odd.parquet").open("rb") as file, pytest.raises(ac.BadInput) as refused:
        read_bytes_of(file, "odd.parquet")
    assert piece in str(refused.value)
    assert "\n" not in str(refused.value)


def test_many_row_groups_are_refused_by_their_number(tmp_path: Path) -> None:
    # 500 groups of 201 columns: 100,500.
    table = pa.table({f"c{n}": pa.array([0] * 500, pa.int8()) for n in range(201)})
    path = tmp_path / "groups.parquet"
    pq.write_table(table, path, row_group_size=1, write_statistics=False)
    expected = "500 row groups of 201 columns"
    with path.open("rb") as file, pytest.raises(ac.BadInput, match=expected):
        read_bytes_of(file, "groups.parquet")


def test_a_store_is_not_read_beyond_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ac.sweep(small(), tmp_path)
    folder = (tmp_path / Store(tmp_path).parts()[0]).parent
    for part in folder.iterdir():
        part.unlink()
    # Each of them takes 16 MB, and the third is too much.
    for n in range(3):
        rows = pl.DataFrame({"key": [str(n)] * 10**6})
        (folder / f"part-{n}.parquet").write_bytes(held(rows))
    read: list[str] = []
    whole = pl.read_parquet

    def counted(file: Any, **more: Any) -> pl.DataFrame:
        read.append(file.name)
        return whole(file, **more)

    monkeypatch.setattr(pl, "read_parquet", counted)
    with pytest.raises(ac.BadInput, match="take more than 40,000,000 bytes of memory"):
        results(tmp_path, 40_000_000).store.rows()
    assert len(read) == 2
