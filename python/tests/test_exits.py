"""One scenario, every way out of it: the same numbers.

The ways are the table in memory, the JSON that the command prints, the Parquet files of ``--out``
and of ``Run.write``, ``simulate_many``, captures, and what ``compare`` runs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ackclock as ac
from support import Answer

PATH = {
    "kind": "dumbbell",
    "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"},
    "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
}
REQUEST = {"kind": "request", "response": "10 kB"}


def web(rate: float = 10, **more: Any) -> dict[str, Any]:
    return {
        "name": "web",
        "variant": "cubic",
        "arrivals": {"kind": "poisson", "rate": f"{rate} /s"},
        "app": REQUEST,
        **more,
    }


def drawn(seed: int) -> dict[str, Any]:
    """Return a random scenario of few packets."""
    draw = random.Random(seed)  # noqa: S311 - nothing is secret
    scenario: dict[str, Any] = {
        "duration": f"{draw.randint(2, 5)} s",
        "seed": draw.randrange(2**32),
        "topology": json.loads(json.dumps(PATH)),
    }
    scenario["topology"]["bottleneck"]["rate"] = f"{draw.randint(1, 10)} Mbit/s"
    if draw.random() < 0.3:
        scenario["topology"]["bottleneck"]["loss"] = round(draw.uniform(0, 0.05), 4)
    if draw.random() < 0.7:
        variants = ("newreno", "cubic", "newreno+sack", "bbr")
        scenario["flow"] = [
            {"name": "f", "count": draw.randint(1, 3), "variant": draw.choice(variants)}
        ]
        if draw.random() < 0.5:
            scenario["probe"] = [{"flow": "f", "every": "change"}]
        if draw.random() < 0.5:
            scenario["measure"] = [{"name": "late", "from": "1 s"}]
    if draw.random() < 0.4 or "flow" not in scenario:
        scenario["traffic"] = [web(draw.randint(5, 40))]
    if draw.random() < 0.3:
        scenario["cross_traffic"] = [
            {"link": "bottleneck", "kind": "poisson", "rate": "50 packet/s", "size": "400 B"}
        ]
    return scenario


# The first is of a class that asks for a load: the rate of its arrivals is searched for.
SCENARIOS = [
    {"duration": "20 s", "topology": PATH, "traffic": [web(utilisation=0.8)]},
    {"duration": "5 s", "topology": PATH, "traffic": [web(20, utilisation={"target": 0.3})]},
    *(drawn(seed) for seed in range(8)),
]


@pytest.mark.parametrize("number", range(len(SCENARIOS)))
def test_every_way_out_has_the_same_numbers(
    number: int,
    tmp_path: Path,
    ackclock: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))
    table = SCENARIOS[number]
    file = tmp_path / "s.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    scenario = ac.Scenario.from_file(file)
    run = ac.simulate(scenario)
    plain = run.to_polars()

    out = ackclock("run", file, "--out", tmp_path / "out", "--json")
    assert out.code == 0, out.err
    printed = ackclock("run", file, "--json")
    assert printed.out == out.out
    row = json.loads(printed.out)["links"][0]
    assert row["utilisation"] == run.rows("links")[0]["utilisation"]
    shown = ackclock("run", file)
    stored = ackclock("run", file, "--out", tmp_path / "again")
    assert shown.out.splitlines()[1] == stored.out.splitlines()[1]

    run.write(tmp_path / "written")
    for name, frame in plain.items():
        for folder in ("out", "written", "again"):
            there = pl.read_parquet(tmp_path / folder / f"{name}.parquet")
            assert there.equals(frame), (folder, name)
        content = (tmp_path / "out" / f"{name}.parquet").read_bytes()
        if not name.endswith("samples"):
            # Samples are written while the run lasts, in row groups of other lengths.
            assert content == (tmp_path / "written" / f"{name}.parquet").read_bytes()

    many = ac.simulate_many([scenario, scenario], threads=2).to_polars()
    for name, frame in plain.items():
        for cell in (0, 1):
            assert many[name].filter(pl.col("cell") == cell).drop("cell").equals(frame), name

    if "traffic" not in table:
        captured = ac.simulate(scenario, pcap=tmp_path / "pcap")
        assert captured.rows("flows") == run.rows("flows")
    if "flow" in table:
        found = ac.compare(scenario, on=["sim"], repeat=1)
        (compared,) = found.runs["sim"]
        assert compared.rows("flows") == run.rows("flows")
        assert compared.rows("links") == run.rows("links")


@pytest.mark.parametrize("number", range(len(SCENARIOS)))
def test_the_summary_is_the_same_at_every_way_out(
    number: int,
    tmp_path: Path,
    ackclock: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "s.json"
    file.write_text(json.dumps(SCENARIOS[number]), encoding="utf-8")
    run = ac.simulate(file)
    summary = json.loads(json.dumps(run.summary()))
    printed = ackclock("run", file, "--json")
    assert json.loads(printed.out) == summary
    assert ackclock("run", file, "--json", "--out", tmp_path / "out").out == printed.out
    shown = ackclock("run", file)
    # The last line says where the tables are.
    stored = ackclock("run", file, "--out", tmp_path / "out")
    where = "--out DIR writes them all", "all are in the tables"
    assert stored.out.replace(where[1], where[0]).startswith(shown.out)
    # The files name the scenario that was run, with the rate that a search found.
    metadata = pq.read_metadata(tmp_path / "out" / "flows.parquet").metadata
    assert metadata[b"ackclock.scenario"].decode() == run.scenario_texts[0]
    # Run again as it is, without a search, it is the same run.
    again = json.loads(run.scenario_texts[0])
    for spec in again.get("traffic", ()):
        spec.pop("utilisation", None)
    assert ac.simulate(ac.Scenario.from_dict(again)).rows("links") == run.rows("links")
    for row in summary["searched"]:
        assert (
            ackclock("run", file, "--csv", "searched").out.splitlines()[1].startswith(row["class"])
        )


@pytest.mark.live
def test_a_live_run_is_the_same_at_every_way_out(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    table = {
        "duration": "1 s",
        "topology": PATH,
        "flow": [{"name": "f", "variant": "cubic", "profile": "linux"}],
        "probe": [{"flow": "f", "every": "10 ms"}],
    }
    file = tmp_path / "s.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    # One run, two ways out: what is printed and what is written.
    answer = ackclock("run", file, "--on", "live", "--json", "--out", tmp_path / "out")
    (flow,) = json.loads(answer.out)["flows"]
    (row,) = pl.read_parquet(tmp_path / "out" / "flows.parquet").to_dicts()
    assert flow["name"] == row.pop("flow")
    row.pop("measure")
    assert {key: flow[key] for key in row} == row
    run = ac.run_live(file)
    run.write(tmp_path / "again")
    for name, frame in run.to_polars().items():
        assert pl.read_parquet(tmp_path / "again" / f"{name}.parquet").equals(frame), name
    # Searching for a rate would take runs; a live run refuses it rather than ignoring it.
    file.write_text(json.dumps(SCENARIOS[0]), encoding="utf-8")
    answer = ackclock("run", file, "--on", "live")
    assert answer.code == 2
    assert "utilisation: a live run searches no rate" in answer.err


def test_a_load_that_is_asked_for_is_met_in_the_files_too(
    tmp_path: Path, ackclock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    # 0.8 within the tolerance, which is 0.02 unless the file says otherwise; the rate that the
    # file begins with, 10 /s of 10 kB and headers, 83 kbit each, would use 0.083 of 10 Mbit/s.
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "s.json"
    file.write_text(json.dumps(SCENARIOS[0]), encoding="utf-8")
    assert ackclock("run", file, "--out", tmp_path / "out").code == 0
    links = pl.read_parquet(tmp_path / "out" / "links.parquet")
    used = links.filter(pl.col("link") == "bottleneck")["utilisation"].max()
    assert isinstance(used, float)
    assert abs(used - 0.8) <= 0.02


def test_pages_of_tables_have_checksums(small: ac.Scenario, tmp_path: Path) -> None:
    ac.simulate(small).write(tmp_path)
    path = tmp_path / "flow_samples.parquet"
    whole = path.read_bytes()
    table = pq.read_table(path, page_checksum_verification=True)
    assert table.num_rows > 0
    # Behind zstd's magic number (RFC 8878 section 3.1.1) is a page's content.
    damaged = bytearray(whole)
    damaged[whole.index(b"\x28\xb5\x2f\xfd") + 8] ^= 1
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(pa.BufferReader(bytes(damaged)), page_checksum_verification=True)
