"""Sums of groups: exact, and the same whatever the number of threads."""

from __future__ import annotations

import ast
import filecmp
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ackclock import studies
from ackclock.studies.framework.reduce import mean_of, sum_of

FOLDER = Path(studies.__file__).parent


def test_a_mean_is_the_exact_sum_rounded_once() -> None:
    # 10^16 + 1 - 10^16: in doubles, which are 2 apart there, a plain sum gives 0 or 2.
    frame = pl.DataFrame({"k": [1, 1, 1, 2, 2, 3], "x": [1e16, 1.0, -1e16, 0.5, None, None]})
    found = frame.group_by("k", maintain_order=True).agg(
        mean_of(pl.col("x")).alias("mean"), sum_of(pl.col("x")).alias("sum")
    )
    assert found["mean"].to_list() == [1 / 3, 0.5, None]
    assert found["sum"].to_list() == [1.0, 0.5, 0.0]


def test_several_columns_and_filters_go_as_with_polars() -> None:
    frame = pl.DataFrame({"k": [1, 1, 2], "a": [1, 2, 3], "b": [True, False, True]})
    found = frame.group_by("k", maintain_order=True).agg(
        mean_of(pl.col("a", "b")), mean_of(pl.col("a").filter("b")).alias("of_b")
    )
    assert found.rows() == [(1, 1.5, 0.5, 1.0), (2, 3.0, 1.0, 3.0)]


_SUMS = """
import polars as pl
from ackclock.studies.framework.reduce import mean_of, sum_of
n = 200_000
frame = pl.DataFrame({"k": [i % 7 for i in range(n)], "x": [(i * 0.7351) % 1 for i in range(n)]})
x = pl.col("x")
groups = frame.group_by("k", maintain_order=True)
found = groups.agg(mean_of(x).alias("m"), sum_of(x * x).alias("s"))
print([tuple(map(float.hex, row)) for row in found.select("m", "s").rows()])
"""


def test_sums_do_not_depend_on_threads() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", _SUMS],
            env={**os.environ, "POLARS_MAX_THREADS": str(threads)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in (1, 2, 3)
    }
    assert len(said) == 1


def reductions(path: Path) -> Iterator[str]:
    """Yield the calls within ``agg`` whose result may depend on Polars' threads."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "agg"):
            continue
        for part in node.args:
            for call in ast.walk(part):
                name = getattr(getattr(call, "func", None), "attr", "")
                columns = [
                    word.value
                    for word in ast.walk(call)
                    if isinstance(word, ast.Constant) and isinstance(word.value, str)
                ]
                # Whole numbers have no unit of a fraction: their sums are exact in any order.
                fractions = [name for name in columns if name.endswith(("_s", "_bps", "_pps"))]
                if name in {"mean", "std", "var", "dot"} or (name == "sum" and fractions):
                    yield f"{path.name}:{node.lineno}: {name} of {', '.join(columns)}"


def test_studies_reduce_groups_by_these_alone() -> None:
    found = [line for path in sorted(FOLDER.rglob("*.py")) for line in reductions(path)]
    assert found == []


def files(folder: Path) -> list[Path]:
    return sorted(
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and path.name != "cost.parquet"
    )


#: A study whose runs are few and short; its figures are drawn of tables, which are compared.
_STUDY = """
import sys
from pathlib import Path
from rich.console import Console
from ackclock.plots.style import Rendered
from ackclock.studies.framework import page
from ackclock_studies.response import scenarios, study
page.rendered = lambda *_, **__: Rendered("", "", b"", b"")
scenarios.Plan.periods = (100, 300, 1_000)
scenarios.Plan.random_periods = (100,)
scenarios.TRACED["period"] = 1_000
out = Path(sys.argv[1])
study.reproduce(out, quick=True, threads=int(out.name), console=Console(quiet=True))
"""


@pytest.mark.slow
def test_quick_runs_on_one_and_two_threads_are_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    for out in (one, two):
        subprocess.run(
            [sys.executable, "-c", _STUDY, out],
            env={**os.environ, "POLARS_MAX_THREADS": out.name},
            check=True,
            capture_output=True,
        )
    assert files(one) == files(two)
    _, differ, unread = filecmp.cmpfiles(one, two, map(str, files(one)), shallow=False)
    assert not differ
    assert not unread
