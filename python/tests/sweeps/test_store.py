"""Which row of a cell counts where a store has several, and which rows of its tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.report.tables import parquet
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.store import Store
from sweeps.plans import plan

#: Statuses of one cell in two parts, and the part whose row counts: one that came to its end, and
#: of two equal ones the first in the order of their names.
COUNTS = (
    (("failed", "ok"), 1),
    (("ok", "failed"), 0),
    (("limit", "ok"), 1),
    (("failed", "refused"), 1),
    (("refused", "limit"), 0),
    (("ok", "ok"), 0),
    (("failed", "failed"), 0),
)


def store_of(folder: Path, statuses: tuple[str, ...]) -> Store:
    """Return a store in which part n says the status of the cell `k`, and the value n."""
    folder.mkdir(exist_ok=True)
    (folder / "plan.json").write_text("{}", encoding="utf-8")
    for n, status in enumerate(statuses):
        cells = pl.DataFrame({"key": ["k"], "status": [status], "reason": [None], "value": [n]})
        rows = pl.DataFrame({"key": ["k", "k"], "row": [10 * n, 10 * n + 1]})
        for name, frame in (("cells", cells), ("tables/links", rows)):
            path = folder / name / "core=0" / f"part-{n}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(parquet(frame, {}))
    return Store(folder)


@pytest.mark.parametrize(("statuses", "counts"), COUNTS)
def test_a_row_that_came_to_its_end_counts(
    tmp_path: Path, statuses: tuple[str, ...], counts: int
) -> None:
    store = store_of(tmp_path, statuses)

    def told() -> tuple[list[object], list[object]]:
        table = store.table("links")
        assert table is not None
        rows = store.rows()
        return rows.select("status", "value").rows(), table["row"].to_list()

    # The rows of its tables are those of the same part.
    expected = ([(statuses[counts], counts)], [10 * counts, 10 * counts + 1])
    assert told() == expected
    # Brought together, the store says the same, and of each cell once.
    assert store.compact() == 2
    assert len(store.parts()) == 1
    assert told() == expected


def test_a_table_of_a_part_without_its_cells_is_none(tmp_path: Path) -> None:
    # A process was killed after it had written the table, and before the cells.
    store = store_of(tmp_path, ("ok", "ok"))
    (tmp_path / "cells/core=0/part-0.parquet").unlink()
    table = store.table("links")
    assert table is not None
    assert table["row"].to_list() == [10, 11]


def test_a_part_of_other_columns_is_refused(tmp_path: Path) -> None:
    ac.sweep(Plan.from_dict(plan()), tmp_path)
    (folder,) = (tmp_path / "cells").iterdir()
    part = parquet(pl.DataFrame({"key": [["k"]], "status": ["ok"]}), {})
    (folder / "part-9.parquet").write_bytes(part)
    with pytest.raises(BadInput, match="`key` and `status` of a store are texts"):
        ac.sweep(Plan.from_dict(plan()), tmp_path)
