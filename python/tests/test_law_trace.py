"""`ackclock law-trace`: windows beside those of recorded traces, and files that are none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from support import ROOT, Answer

TRACES = ROOT / "crates/tcp/tests/data/linux-laws"
BIC = TRACES / "bic.c_queue6_stretch4.csv.gz"


def test_a_law_of_linux_has_the_windows_of_the_kernel() -> None:
    # Rows in Recovery are not compared: 1,903 of 3,553 are left.
    found = ac.law_trace(BIC, "bic")
    assert found.compared == found.equal == found.within_one == 1903
    assert found.first_difference is None
    assert found.events == found.ssthresh_equal == found.state_equal


def test_another_law_is_told_where_it_leaves_the_trace(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("law-trace", BIC, "--variant", "reno", "--json")
    assert answer.code == 1
    told = json.loads(answer.out)
    assert told["equal"] < told["compared"] == 1903
    first = told["first_difference"]
    assert first["cwnd"] != first["cwnd_in_trace"]
    with gzip.open(BIC, "rt") as file:
        row = file.read().splitlines()[first["line"] - 1].split(",")
    assert int(row[13]) == first["cwnd_in_trace"]


@pytest.mark.parametrize(
    ("line", "old", "new", "expected"),
    [
        (3, "ack", "akk", "line 3: column `kind`: `akk` is not known (did you mean `ack`?)"),
        (4, ",pia|", ",pia|,1", "line 4: "),
        (1, "ssthresh", "threshold", "line 1: column `ssthresh` is missing"),
        (2, "init", "ack", "line 2: column `kind`: the first row, and no other, is `init`"),
        (5, "Open", "Shut", "line 5: column `state`: `Shut` is not known"),
    ],
)
def test_a_bad_file_is_told_by_line_and_column(
    line: int, old: str, new: str, expected: str, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    with gzip.open(BIC, "rt") as file:
        lines = file.read().splitlines()
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join(lines) + "\n", encoding="utf-8")
    answer = ackclock("law-trace", bad, "--variant", "bic")
    assert answer.code != 0
    assert expected in answer.err, answer.err
    assert len(answer.err.strip().splitlines()) == 1
