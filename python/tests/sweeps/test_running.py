"""Sweeps: what is run and what is not, what is kept, and the table that comes of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.sweeps.plans.cells import Cells
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.results import SweepResults
from ackclock.sweeps.stores.store import Store, Writer
from ackclock.sweeps.stores.work import Progress
from ackclock.sweeps.tasks.blocks import Block, Worker, lost
from support import Answer
from sweeps.plans import BASE, plan


def run_of(folder: Path, **change: Any) -> tuple[SweepResults, int]:
    """Return the results of a plan, and the number of cells that were run for it."""
    told: list[Progress] = []
    found = ac.sweep(plan(**change), folder, progress=told.append)
    return found, told[-1].ran if told else 0


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> SweepResults:
    return ac.sweep(plan(seeds=1), tmp_path_factory.mktemp("asked"))


def test_a_sweep_has_the_numbers_of_its_runs(tmp_path: Path) -> None:
    found = ac.sweep(plan(), tmp_path / "store")
    frame = found.frame
    assert frame.height == 12
    assert frame["cell"].to_list() == list(range(12))
    row = frame.row(7, named=True)
    scenario = ac.Scenario.from_dict(json.loads(found.scenario(7)))
    alone = ac.simulate(scenario).rows("flows")[0]["goodput_bps"]
    assert row["goodput_bps"] == alone
    # Seeds are counted from the scenario's, which is 1 where it says none: 1, 2.
    assert (row["rtt"], row["flow.a.variant"], row["seed"]) == ("20 ms", "reno", 2)
    assert repr(found).endswith("12 of 12 cells)")


def test_finished_cells_are_not_run_again_whatever_else_changes(tmp_path: Path) -> None:
    assert run_of(tmp_path)[1] == 12
    assert run_of(tmp_path)[1] == 0
    # One more seed of six settings, one more round-trip time under three seeds of two senders.
    found, ran = run_of(tmp_path, seeds=3)
    assert ran == 6
    axes = {"rtt": ["5 ms", "10 ms", "20 ms", "40 ms"], "flow.a.variant": ["cubic", "reno"]}
    found, ran = run_of(tmp_path, seeds=3, axes=axes)
    assert ran == 6
    # The key of an axis by another name, one of its values alone, and an axis that is the base's.
    axes = {
        "wait": {"key": "rtt", "values": ["20 ms"]},
        "flow.a.variant": ["reno"],
        "rate": ["2 Mbit/s"],
    }
    found, ran = run_of(tmp_path, seeds=3, axes=axes, title="other", limits={"time": "60 s"})
    assert ran == 0
    assert found.frame["rate_bps"].to_list() == [2e6] * 3
    assert found.frame["goodput_bps"].null_count() == 0
    # The tables that are kept are a part of a cell's hash.
    assert run_of(tmp_path, values={"most": "MAX(goodput_bps) FROM flows"})[1] == 12


def test_threads_and_blocks_change_nothing(tmp_path: Path) -> None:
    values = {
        "goodput_bps": "SUM(goodput_bps) FROM flows",
        "jain": "POW(SUM(goodput_bps), 2) / (COUNT(*) * SUM(POW(goodput_bps, 2))) FROM flows",
    }
    base = {**BASE, "flow": [{"name": "a", "count": 7, "variant": "cubic"}]}
    axes = {"rtt": ["10 ms", "20 ms", "40 ms"], "flow.*.variant": ["cubic", "reno"]}
    made = plan(values=values, scenario=base, axes=axes, seeds=5)
    one = ac.sweep(made, tmp_path / "one", threads=1).frame
    four = ac.sweep(made, tmp_path / "four", threads=4).frame
    assert one.equals(four)
    worker = Worker(Plan.from_dict(made))
    cells = worker.cells
    rows, keys = list(cells.rows(cells.frame)), cells.keys().to_list()
    alone = [
        pl.read_parquet(worker.run(Block.of([row], [key])).files["cells"])
        for row, key in zip(rows, keys, strict=True)
    ]
    together = pl.read_parquet(worker.run(Block.of(rows, keys)).files["cells"])
    assert pl.concat(alone).equals(together)


def test_values_take_conditions_measures_and_one_another(tmp_path: Path) -> None:
    base = {
        **BASE,
        "flow": [{"name": "a", "variant": "cubic"}, {"name": "b", "variant": "reno"}],
        "measure": [{"name": "late", "from": "500 ms"}],
    }
    values = {
        "a_bps": "SUM(goodput_bps) FROM flows WHERE flow = 'a'",
        "b_bps": "SUM(goodput_bps) FILTER (WHERE flow = 'b') FROM flows",
        "share": "a_bps / (a_bps + b_bps)",
        "of_rate": 'a_bps / "rate_bps"',
        "none": "SUM(goodput_bps) FROM flows WHERE flow = 'c'",
        # As in SQL: a count of no rows is 0, and what is summed up over no rows is nothing.
        "no_rows": "COUNT(*) FROM flows WHERE flow = 'c'",
        "rows": "COUNT(goodput_bps) FROM flows",
        "twice": "2 * COUNT(*) + 1 FROM flows WHERE flow = 'c'",
        "mean": "SUM(goodput_bps) / COUNT(*) FROM flows WHERE flow = 'c'",
    }
    axes = {"rate": ["2 Mbit/s"]}
    found = ac.sweep(
        plan(scenario=base, values=values, axes=axes, seeds=1, measure="late"), tmp_path
    )
    (row,) = found.frame.to_dicts()
    run = ac.simulate(ac.Scenario.from_dict(base))
    late = {
        each["flow"]: each["goodput_bps"] for each in run.rows("flows") if each["measure"] == "late"
    }
    assert (row["a_bps"], row["b_bps"]) == (late["a"], late["b"])
    assert row["share"] == late["a"] / (late["a"] + late["b"])
    assert row["of_rate"] == late["a"] / 2e6
    assert row["none"] is None
    assert [row[name] for name in ("no_rows", "rows", "twice", "mean")] == [0, 2, 1, None]


def test_cells_that_cannot_be_run_are_rows_with_a_reason(tmp_path: Path) -> None:
    # 10^5 s at 2 Mbit/s are 1.7e7 packets of 1500 B, each of several events.
    axes = {"duration": ["1 s", "100000 s"], "flow.a.variant": ["cubic", "bbr"]}
    found = ac.sweep(plan(axes=axes, seeds=1, limits={"events": 1e7}), tmp_path)
    assert found.frame["status"].to_list() == ["ok", "ok", "limit", "limit"]
    assert "events, more than 1.00e7" in found.frame["reason"][2]
    assert found.frame["goodput_bps"].null_count() == 2
    # Higher limits and --retry run them again, and those alone.
    axes["duration"] = ["1 s", "20 s"]
    told: list[Progress] = []
    ac.sweep(plan(axes=axes, seeds=1), tmp_path, retry=True, progress=told.append)
    assert told[-1].ran == 2


def test_a_cell_beyond_its_time_ends(tmp_path: Path) -> None:
    axes = {"duration": ["1 s", "1000000 s"]}
    found = ac.sweep(plan(axes=axes, seeds=1, limits={"time": "200 ms"}), tmp_path)
    assert found.frame["status"].to_list() == ["ok", "limit"]
    assert found.frame["reason"][1] == "the run took longer than 0.2 s"


def test_tables_that_are_kept_have_the_settings_of_their_cells(tmp_path: Path) -> None:
    found = ac.sweep(plan(keep=["flows"], seeds=1), tmp_path)
    flows = found.table("flows")
    assert flows.height == 6
    assert flows.filter(pl.col("cell") == 3)["rtt"].to_list() == ["20 ms"]
    answer = found.sql(
        "SELECT rtt, SUM(segments_sent) AS sent FROM flows GROUP BY rtt ORDER BY rtt"
    )
    assert answer.height == 3
    with pytest.raises(BadInput, match="`links` was not kept"):
        found.table("links")


def test_two_writers_share_the_cells(tmp_path: Path) -> None:
    made = Plan.from_dict(plan(seeds=20))
    store, cells = tmp_path / "store", Cells(made)
    with Writer(store, made) as one, Writer(store, made) as two, Writer(store, made) as three:
        assert (one.order, two.order, three.order) == ("forward", "backward", "shuffled")
        keys = one.keys(cells)["key"].to_list()
        rows = list(cells.rows(cells.frame))
        worker = Worker(made)
        one.add(worker.run(Block.of(rows[:5], keys[:5])))
        two.add(worker.run(Block.of(rows[-5:], keys[-5:])))
        assert two.finished() == {*keys[:5], *keys[-5:]} == one.finished()
        with pytest.raises(BadInput, match="is writing into this store"):
            Store(store).compact()
    assert len(Store(store).rows()) == 10
    assert Store(store).compact() == 2
    assert len(Store(store).parts()) == 1
    assert sorted(Store(store).rows()["key"]) == sorted({*keys[:5], *keys[-5:]})


def test_a_torn_part_or_a_table_without_its_cells_is_not_seen(tmp_path: Path) -> None:
    found = ac.sweep(plan(keep=["flows"], seeds=1), tmp_path)
    rows = found.table("flows").height
    (part, *_) = sorted((tmp_path / "tables/flows").rglob("*.parquet"))
    # A process that was killed between a table and its cells leaves the former alone.
    (part.parent / "part-0.parquet").write_bytes(part.read_bytes())
    (part.parent / ".ackclock-1-0.part").write_bytes(part.read_bytes()[:100])
    again = ac.results(tmp_path)
    assert again.table("flows").height == rows
    assert len(again) == 6


def test_a_cell_that_was_lost_is_told(tmp_path: Path) -> None:
    made = Plan.from_dict(plan(seeds=1))
    cells = Cells(made)
    with Writer(tmp_path, made) as store:
        keys = store.keys(cells)["key"].to_list()
        rows = list(cells.rows(cells.frame))
        store.add(lost(made, Block.of(rows[:2], keys[:2]), "its worker died each time"))
        assert len(store.finished()) == 2
        assert len(store.finished(retry=True)) == 2
    found = ac.sweep(plan(seeds=1), tmp_path)
    assert found.summary()["status"] == {"failed": 2, "ok": 4}
    assert found.summary()["reasons"] == {"its worker died each time": 2}
    found = ac.sweep(plan(seeds=1), tmp_path, retry=True)
    assert found.summary()["status"] == {"ok": 6}


def test_theory_is_a_substrate_of_sweeps(tmp_path: Path) -> None:
    base = {
        **BASE,
        "topology": {**BASE["topology"], "loss": 0.01},
        "flow": [{"name": "a", "variant": "reno"}],
    }
    found = ac.sweep(
        plan(scenario=base, on="theory", axes={"loss": [0.001, 0.01]}, seeds=1), tmp_path
    )
    rates = found.frame["goodput_bps"].to_list()
    assert found.frame["status"].to_list() == ["ok", "ok"]
    assert rates[0] > rates[1] > 0


def test_the_store_is_read_by_duckdb_and_pandas(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    found = ac.sweep(plan(), tmp_path)
    files = str(tmp_path / "cells/**/*.parquet")
    (count, most) = duckdb.sql(f"SELECT count(*), max(goodput_bps) FROM '{files}'").fetchall()[0]  # noqa: S608
    assert (count, most) == (12, found.frame["goodput_bps"].max())
    assert len(pandas.read_parquet(tmp_path / "cells")) == 12


def test_an_index_is_kept_and_other_rules_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ac.sweep(plan(seeds=1), tmp_path)
    monkeypatch.setattr("ackclock.runs.identity.rules_id", lambda: "0123456789abcdef")
    told: list[Progress] = []
    found = ac.sweep(plan(seeds=1), tmp_path, progress=told.append)
    assert told[-1].ran == 6
    assert len(found) == 6
    assert len(found.store.rows()) == 12
    assert {each.name for each in (tmp_path / "cells").iterdir()} >= {"core=0123456789abcdef"}


@pytest.mark.parametrize("where", ["cells", "plans"])
@pytest.mark.parametrize("content", [b"", b"PAR1 and no more"], ids=["empty", "torn"])
def test_a_damaged_file_of_a_store_is_told_by_its_name(
    tmp_path: Path, where: str, content: bytes
) -> None:
    ac.sweep(plan(seeds=1), tmp_path)
    (damaged, *_) = sorted((tmp_path / where).rglob("*.parquet"))
    damaged.write_bytes(content)
    for do in (lambda: ac.results(tmp_path).frame, lambda: ac.sweep(plan(seeds=1), tmp_path)):
        with pytest.raises(BadInput, match=re.escape(f"{damaged}: cannot be read")) as error:
            do()
        assert "\n" not in str(error.value)
    damaged.unlink()
    assert len(ac.sweep(plan(seeds=1), tmp_path)) == 6


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda found: found.pivot("rtt", "rtt", "goodput_bps"), "pivot: expected three columns"),
        (
            lambda found: found.pivot("rtt", "seed", "status"),
            "pivot: the column `status` has texts",
        ),
        (
            lambda found: found.pivot("rtt", "seed", "goodput_bps"),
            "pivot: `flow.a.variant` has 2 values, which would be brought together; choose one",
        ),
        (
            lambda found: found.plot("map", value="goodput_bps", x="rtt", by="seed"),
            "plot: `flow.a.variant` has 2 values",
        ),
        (
            lambda found: found.plot(value="goodput_bps", x="rtt_s"),
            "plot: `flow.a.variant` has 2 values",
        ),
        (
            lambda found: found.pivot("rtt", "seed", "goodput_bps", where="rtt = '7 ms'"),
            "where: no cell meets all conditions",
        ),
        (
            lambda found: found.pivot("rtt", "seed", "goodput_bps", over=["flow.variant"]),
            "pivot: over: no axis `flow.variant` (did you mean `flow.a.variant`?)",
        ),
        (
            lambda found: found.pivot("rtt", "seed", "goodput_bps", "meen"),
            "pivot: `meen` brings no cells together (did you mean `mean`?)",
        ),
        (
            lambda found: found.plot(value="status", x="rtt_s"),
            "plot: the column `status` has texts",
        ),
        (lambda found: found.plot("cdf", value="goodput_bps", x="rtt_s"), "plot: `cdf` has no `x`"),
        (
            lambda found: found.plot("cdf", value="goodput_bps", by="rtt"),
            "plot: `flow.a.variant` has 2 values, which would be brought together; choose one",
        ),
        (
            lambda found: found.plot("cdf", value="goodput_bps", over=["rtt"]),
            "plot: `flow.a.variant` has 2 values, which would be brought together; choose one",
        ),
        (
            lambda found: found.plot(value="goodput_bps", x="rtt_s", factor=float("nan")),
            "plot: factor: nan, expected a finite number",
        ),
        (lambda found: found.sql("DROP TABLE cells"), "sql: expected a question"),
        (lambda found: found.sql(""), "sql: expected a question"),
        (
            lambda found: found.sql("SELECT * FROM read_csv('/etc/hostname')"),
            "sql: Permission Error: Cannot access file",
        ),
    ],
    ids=range(16),
)
def test_a_question_that_has_no_answer_is_told_in_a_line(
    asked: SweepResults, ask: Callable[[SweepResults], object], words: str
) -> None:
    with pytest.raises(BadInput) as error:
        ask(asked)
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


def test_cells_are_brought_together_over_axes_that_are_named(asked: SweepResults) -> None:
    frame = asked.frame
    sender = "flow.a.variant"
    (mean,) = frame.filter(rtt="20 ms").select(pl.col("goodput_bps").mean()).row(0)
    found = asked.pivot("rtt", "seed", "goodput_bps", over=[sender])
    assert found.filter(rtt="20 ms").row(0)[1] == pytest.approx(mean)
    (alone,) = frame.filter(pl.col("rtt") == "20 ms", pl.col(sender) == "reno")["goodput_bps"]
    found = asked.pivot("rtt", "seed", "goodput_bps", where=f"\"{sender}\" = 'reno'")
    assert found.filter(rtt="20 ms").row(0)[1] == alone
    figure = asked.plot("map", value="goodput_bps", x="rtt", by="seed", over=[sender])
    assert figure.axes[0].get_title(loc="left") == f"Means over {sender} (2)"
    # A numeric column of an axis stands for it.
    asked.plot(value="goodput_bps", x="rtt_s", by=sender)
    made = asked.plot(
        value="half", x="rtt_s", by=sender, sql="SELECT *, goodput_bps / 2 AS half FROM cells"
    )
    heights = made.axes[0].lines[0].get_ydata()
    assert max(heights) <= float(frame["goodput_bps"].max() or 0) / 2


def test_a_key_that_no_scenario_has_is_told_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan(axes={"rttt": ["10 ms"]})), encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(f"{path}: axes.rttt: ")):
        ac.sweep(path, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_the_command_sweeps_and_answers(
    tmp_path: Path, ackclock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan()), encoding="utf-8")

    def ran(*arguments: str) -> str:
        answer = ackclock(*arguments)
        assert answer.code == 0, answer.err
        return answer.out

    dry = json.loads(ran("sweep", "plan.json", "--dry-run", "--json"))
    assert (dry["cells"], dry["finished"]) == (12, 0)
    told = json.loads(ran("sweep", "plan.json", "--out", "store", "--json"))
    assert told["status"] == {"ok": 12}
    dry = json.loads(ran("sweep", "plan.json", "--dry-run", "--out", "store", "--json"))
    assert dry["finished"] == 12
    pivot = ackclock("results", "store", "--pivot", "flow.a.variant", "rtt", "goodput_bps")
    table = pivot.out
    assert "each cell: mean over 2 seeds" in pivot.err
    assert "10 ms" in table
    assert "cubic" in table
    rows = json.loads(ran("results", "store", "--sql", "SELECT count(*) AS n FROM cells", "--json"))
    assert rows == [{"n": 12}]
    ran(
        "results",
        "store",
        "--plot",
        "cdf",
        "--value",
        "goodput_bps",
        "--by",
        "rtt",
        "--over",
        "flow.a.variant",
        "--out",
        "x.svg",
    )
    figure = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert figure.startswith("<svg")
    sender = "flow.a.variant"
    ran("results", "store", "--pivot", sender, "rtt", "goodput_bps", "--out", "x.tex")
    lines = (tmp_path / "x.tex").read_text(encoding="utf-8").splitlines()
    # Two senders and three round-trip times make a head and two rows between the rules.
    assert lines[0] == r"\begin{tabular}{lrrr}"
    assert lines[2] == r"flow.a.variant & 10 ms & 20 ms & 40 ms \\"
    assert [line.split(" & ")[0] for line in lines[4:6]] == ["cubic", "reno"]
    assert lines[6:] == [r"\bottomrule", r"\end{tabular}"]
    drawn = ["--plot", "map", "--value", "half", "--x", "rtt", "--by", "seed", "--out", "y.svg"]
    half = "SELECT *, goodput_bps / 2 AS half FROM cells"
    ran("results", "store", "--sql", half, *drawn, "--where", f"\"{sender}\" = 'reno'")
    refused = ackclock("results", "store", "--sql", half, *drawn)
    assert (refused.code, "`flow.a.variant` has 2 values" in refused.err) == (2, True)
    refused = ackclock("results", "store", "--over", sender)
    assert "--over: stands without --pivot or --plot" in refused.err
    # As a process of its own.
    words = [sys.executable, "-m", "ackclock.cli", "results", "store", "--out", "all.csv"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    assert len((tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()) == 13
    assert "1,0" not in ran("results", "store", "--compact")
