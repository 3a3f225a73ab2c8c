"""Comparisons, sweeps, suites and files of a kernel in virtual time: with a kernel alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock.linux import kept
from live_support import in_guest, path
from support import Answer

SHORT: dict[str, Any] = {
    "duration": "2 s",
    "topology": {"kind": "path", "rate": "4 Mbit/s", "rtt": "20 ms", "buffer": "1 BDP"},
    "flow": [{"name": "a", "variant": "cubic", "profile": "linux"}],
}


@in_guest
def test_a_comparison_has_a_column_of_each_kernel_and_says_if_they_agree() -> None:
    scenario = ac.Scenario.from_dict(SHORT)
    found, again = (ac.compare(scenario, on="sim,linux", repeat=2) for _ in range(2))
    kernel = kept.one(None).manifest
    assert list(found.columns) == ["sim", "linux"]
    assert found.columns["linux"].place.key == kernel.key
    agrees = "simulation and kernel agree: goodput within 3 %, segments sent again within 25 % or"
    assert found.agreement()["linux"].startswith(agrees)
    assert found.notes[0].startswith(f"linux: Linux {kernel.version}, hz {kernel.hz}, in virtual")
    assert "linux: the seeds change nothing" in " ".join(found.notes)
    assert found.digest == again.digest
    assert found.rows() == again.rows()
    told = json.loads(json.dumps(found.as_json()))
    assert told["columns"]["linux"] == {"on": "linux", "variant": None, "kernel": kernel.key}
    assert told["live"][0]["linux"]["files"] == kernel.files


@in_guest
def test_a_sweep_keeps_its_cells_for_the_kernel(tmp_path: Path) -> None:
    axes = {"rtt": {"key": "topology.rtt", "values": ["20 ms", "40 ms"]}}
    plan = {"on": "linux", "scenario": SHORT, "axes": axes, "keep": ["flows"]}
    counts: dict[int, list[int]] = {2: [0], 1: [0]}
    tables: list[pl.DataFrame] = []
    for threads in (2, 1):
        ran = counts[threads]
        found = ac.sweep(
            plan,
            tmp_path / "store",
            threads=threads,
            progress=lambda at, ran=ran: ran.append(at.ran),
        )
        tables.append(found.frame)
    assert tables[0].equals(tables[1])
    assert tables[0]["status"].to_list() == ["ok", "ok"]
    # Nothing is left for the second.
    assert (max(counts[2]), max(counts[1])) == (2, 0)
    assert all(rate > 3.2e6 for rate in tables[0]["goodput_bps"].to_list())
    # An hour of a guest's clock would not end within a second of ours.
    slow = {**plan, "scenario": {**SHORT, "duration": "1 h"}, "limits": {"time": "1 s"}}
    late = ac.sweep(slow, tmp_path / "late", threads=2)
    assert late.frame["status"].to_list() == ["limit", "limit"]
    assert late.frame["reason"].to_list() == ["the run took longer than 1 s"] * 2


@in_guest
def test_summaries_and_files_name_the_kernel(
    ackclock: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kernel = kept.one(None).manifest
    Path("one.json").write_text(json.dumps(path(duration="1 s")), encoding="utf-8")
    answer = ackclock("run", "one.json", "--on", f"linux:{kernel.version}")
    assert answer.code == 0, answer.err
    assert f"Linux {kernel.version}, hz {kernel.hz}, in virtual time ({kernel.mode})." in answer.out
    answer = ackclock("export", "one.json", "files", "--on", "linux")
    assert answer.code == 0, answer.err
    (file,) = Path("files").iterdir()
    assert f"Linux {kernel.key} in virtual time" in file.read_text(encoding="utf-8")
