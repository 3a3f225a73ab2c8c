"""Plans: axes, keys by dotted paths, conditions, seeds, and one line for each mistake."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.sweeps.plans.axes import Range, numbers, read_axis
from ackclock.sweeps.plans.cells import Cells, latin_hypercube
from ackclock.sweeps.plans.keys import place_of, put, steps_of
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.running import checked
from ackclock.sweeps.searching.search import Goal
from support import ROOT
from sweeps.plans import BASE, plan


def test_a_path_names_tables_entries_and_numbers() -> None:
    assert steps_of("flow.cubic.variant") == ("flow", "cubic", "variant")
    assert steps_of("flow[0].start") == ("flow", 0, "start")
    assert steps_of('flow."a.b".variant') == ("flow", "a.b", "variant")
    for bad in ("", ".rate", "rate.", "rate..x", "[0]"):
        with pytest.raises(BadInput):
            steps_of(bad)


def test_keys_of_the_topology_stand_alone() -> None:
    assert place_of("bottleneck.rate", BASE) == ("topology", "bottleneck", "rate")
    assert place_of("duration", BASE) == ("duration",)
    graph = {"topology": {"kind": "graph", "link": [{"name": "core"}]}}
    assert place_of("core.rate", graph) == ("topology", "link", "core", "rate")


def test_a_key_is_set_in_every_entry_or_makes_one() -> None:
    scenario: dict[str, Any] = {"flow": [{"name": "a"}, {"name": "b"}]}
    put(scenario, "x", ("flow", "*", "variant"), "reno")
    put(scenario, "x", ("event", 0, "at"), "1 s")
    assert scenario == {
        "flow": [{"name": "a", "variant": "reno"}, {"name": "b", "variant": "reno"}],
        "event": [{"at": "1 s"}],
    }


def test_a_range_has_its_bounds_and_equal_ratios() -> None:
    # 1, 2, 4, 8: a factor of 2 between neighbours.
    axis = read_axis("rtt", {"from": "1 ms", "to": "8 ms", "count": 4, "scale": "log"})
    assert axis.levels == ("1 ms", "2 ms", "4 ms", "8 ms")
    assert read_axis("n", {"from": 1, "to": 7, "step": 2}).levels == (1, 3, 5, 7)
    assert read_axis("x", {"from": 0.0, "to": 0.3, "step": 0.1}).levels == (0.0, 0.1, 0.2, 0.3)
    assert Range(1e6, 1e7, "bit/s").label(1e7) == "10000000 bit/s"


def test_quantities_have_a_column_of_numbers() -> None:
    assert numbers(["10 Mbit/s", "500 kbit/s"]) == ("bps", {"10 Mbit/s": 1e7, "500 kbit/s": 5e5})
    assert numbers(["0.5 BDP", "2 BDP"]) == ("bdp", {"0.5 BDP": 0.5, "2 BDP": 2.0})
    assert numbers(["10 Mbit/s", "1 s"]) is None
    assert numbers(["cubic"]) is None


def test_cells_are_every_setting_with_every_seed() -> None:
    cells = Cells(Plan.from_dict(plan()))
    assert len(cells) == 3 * 2 * 2
    assert cells.frame.columns == ["cell", "rtt", "rtt_s", "flow.a.variant", "seed"]
    last = cells.frame.row(-1, named=True)
    assert (last["rtt"], last["rtt_s"], last["seed"]) == ("40 ms", 0.04, 2)
    text = json.loads(cells.text(last))
    assert text["topology"]["rtt"] == "40 ms"
    assert (text["flow"][0]["variant"], text["seed"]) == ("reno", 2)
    # The scenario of the plan is as it was.
    assert BASE["topology"]["rtt"] == "20 ms"


def test_conditions_leave_settings_out() -> None:
    cells = Cells(Plan.from_dict(plan(where="rtt_s > 0.015 AND NOT \"flow.a.variant\" = 'reno'")))
    assert len(cells) == 2 * 1 * 2


def test_cases_set_several_keys() -> None:
    cases = {"deep": {"buffer": "4 BDP"}, "lossy": {"loss": 0.01, "buffer": "1 BDP"}}
    cells = Cells(Plan.from_dict(plan(axes={"path": {"cases": cases}}, seeds=1)))
    texts = [json.loads(cells.text(row)) for row in cells.rows(cells.frame)]
    assert "loss" not in texts[0]["topology"]
    assert texts[1]["topology"]["loss"] == 0.01


def test_a_latin_hypercube_has_one_point_in_each_part() -> None:
    points = latin_hypercube(10, 2, 1)
    for axis in range(2):
        assert sorted(int(10 * point[axis]) for point in points) == list(range(10))
    axes = {"rtt": {"from": "10 ms", "to": "100 ms"}, "rate": ["1 Mbit/s", "2 Mbit/s"]}
    assert len(Cells(Plan.from_dict(plan(axes=axes, samples=10, seeds=3)))) == 60


def test_two_spellings_of_a_cell_have_one_hash_and_titles_have_none() -> None:
    one = Cells(Plan.from_dict(plan(axes={"rate": ["2 Mbit/s"]}, seeds=1))).keys()
    other = dict(BASE, title="another")
    two = Cells(
        Plan.from_dict(plan(axes={"rate": ["2000 kbit/s"]}, seeds=1, scenario=other))
    ).keys()
    assert one.to_list() == two.to_list()
    kept = Cells(Plan.from_dict(plan(axes={"rate": ["2 Mbit/s"]}, seeds=1, keep=["links"]))).keys()
    assert one.to_list() != kept.to_list()


def test_a_plan_read_again_is_the_plan() -> None:
    axes = {
        "rtt": {"from": "10 ms", "to": "100 ms", "scale": "log"},
        "buffer": ["1 BDP", "2 BDP"],
        "path": {"cases": {"plain": {}, "lossy": {"loss": 0.01}}},
        "discipline": {"key": "queue", "values": [{"kind": "codel"}, {"kind": "red", "limit": 50}]},
    }
    limits = {"time": "2 s", "memory": "500 MB", "events": 1e6}
    made = Plan.from_dict(plan(axes=axes, samples=4, limits=limits, where="buffer_bdp > 1"))
    again = Plan.from_dict(json.loads(made.to_json()))
    assert again.to_json() == made.to_json()
    assert again.limits == made.limits
    assert made.limits.memory_bytes == 500e6
    frames = [Cells(each).frame for each in (made, again)]
    assert frames[0].equals(frames[1])


def test_a_scenario_may_be_a_file_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(ac.Scenario.from_dict(BASE).to_toml(), encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        'scenario = "base.toml"\nseeds = [3, 5]\n', encoding="utf-8"
    )
    read = Plan.from_file(tmp_path / "plan.toml")
    assert read.seeds == (3, 5)
    assert len(Cells(read)) == 2


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples/plans").glob("*.toml")), ids=lambda path: path.name
)
def test_an_example_can_be_run_and_says_where_it_is_explained(path: Path) -> None:
    read = Plan.from_file(path)
    assert read.title
    if read.search:
        Goal.of(read)
    else:
        assert len(checked(read)) > 0
    (page,) = re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    assert path.name in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axis": {}}, "unknown key `axis` (did you mean `axes`?)"),
        ({"seeds": 0}, "seeds: expected"),
        ({"on": "life"}, "on: `life` is no substrate (did you mean `live`?)"),
        ({"keep": ["flow"]}, "keep: `flow` is not a table (did you mean `flows`?)"),
        ({"limits": {"tiem": "1 s"}}, "limits: unknown key `tiem` (did you mean `time`?)"),
        (
            {"axes": {"botleneck.rate": ["1 Mbit/s"]}},
            "axes.botleneck.rate: `botleneck.rate`: no key",
        ),
        ({"axes": {"flow.b.variant": ["cubic"]}}, "no entry has the name `b`"),
        ({"axes": {"flow.a.varient": ["cubic"]}}, "did you mean `variant`"),
        ({"axes": {"flow.a.variant": ["cubic", "cubc"]}}, "axes.flow.a.variant: "),
        ({"axes": {"rtt": []}}, "axes.rtt: expected a list of one value or more"),
        ({"axes": {"rtt": [math.nan]}}, "axes.rtt: found nan, expected a finite number"),
        ({"axes": {"rtt": {"from": "1 ms", "to": "1 s", "cuont": 3}}}, "did you mean `count`"),
        (
            {"axes": {"rtt": {"from": "1 ms", "to": "1 Mbit/s", "count": 3}}},
            "axes.rtt: `from` is in",
        ),
        ({"axes": {"rtt": {"from": "1 ms", "to": "9 ms"}}}, "expected `samples` of at least 1"),
        ({"axes": {"rtt": ["10 ms", "10 ms"]}}, "axes.rtt: `10 ms` stands twice"),
        ({"where": "rtt_ss > 1"}, "no column `rtt_ss` (did you mean `rtt_s`?)"),
        ({"where": "rtt_s + 1"}, "is no condition"),
        ({"where": "rtt_s > 100"}, "where: no setting meets all conditions"),
        ({"values": {"x": "SUM(godput_bps) FROM flows"}}, "(did you mean `goodput_bps`?)"),
        ({"values": {"x": "SUM(goodput_bps) FROM flow"}}, "(did you mean `flows`?)"),
        ({"values": {"x": "goodput_bps FROM flows"}}, "is a list in each cell"),
        ({"values": {"x": "SUM(goodput_bps FROM flows"}}, "values.x: "),
        ({"values": {"x": "2 * y"}}, "values.x: `2 * y`: no column `y`"),
        ({"values": {"cell": "SUM(goodput_bps) FROM flows"}}, "`cell` is a column that"),
        (
            {"values": {"x": "(SELECT 1) FROM flows"}},
            "values.x: `(SELECT 1)`: found `SELECT` at character 2",
        ),
        ({"axes": {"rtt": ["-10 ms", "10 ms"]}}, "axes: topology.rtt: `-10 ms`"),
        ({"measure": "zz"}, "measure: `zz` is no measure of the scenario"),
        ({"limits": {"time": "0 s"}}, "limits.time: expected a time above 0"),
        ({"scenario": None}, "scenario: expected"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_mistake_is_told_in_one_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as error:
        checked(Plan.from_dict(plan(**change)))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[]", "found a list, expected a table"),
        (b"\xae\xff", "no text in UTF-8"),
        (None, "no such"),
    ],
    ids=["list", "binary", "none"],
)
def test_a_file_that_is_no_plan_is_told_in_one_line(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "plan.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput) as error:
        Plan.from_file(path)
    assert str(error.value).startswith(f"{path}: {words}")
    assert "\n" not in str(error.value)
