"""Searches: methods, scores, the shrinking, and the corpus of finds."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.searching.corpus import replay, write_find
from ackclock.sweeps.searching.methods import METHODS, NONE, Point
from ackclock.sweeps.searching.search import BestPoint, Goal, SearchProgress
from ackclock.sweeps.searching.shrink import compact_toml, shrink
from support import ROOT
from sweeps.plans import BASE, plan

CORPUS = Path(__file__).parent / "corpus"


def hunt(**more: Any) -> dict[str, Any]:
    """Return a plan that looks for the buffer and delay at which a sender uses least of a path."""
    axes = {
        "buffer": {"from": "0.1 BDP", "to": "4 BDP", "scale": "log"},
        "rtt": {"from": "10 ms", "to": "200 ms", "scale": "log"},
        "flow.a.variant": ["cubic", "reno"],
    }
    values = {"use": "MAX(utilisation) FROM links WHERE direction = 'forward'"}
    goal = {"minimise": "use", "points": 48, "seed": 3}
    base = {**BASE, "duration": "6 s", "title": "a title"}
    made = {"scenario": base, "axes": axes, "values": values, "search": goal, "seeds": 1}
    return plan(**{**made, **more})


@pytest.mark.parametrize("name", METHODS)
def test_a_method_comes_near_the_top_of_a_hill(name: str) -> None:
    # The hill is 1 at (0.3, 0.7) and falls by the distance; one of 300 points drawn evenly is
    # within 0.05 with a chance of 1 - (1 - 0.05^2 pi)^300 = 0.906.
    method = METHODS[name](2, Random(1))  # noqa: S311

    def score(point: Point) -> float:
        return 1 - ((point[0] - 0.3) ** 2 + (point[1] - 0.7) ** 2) ** 0.5

    best = NONE
    for _ in range(15):
        points = method.ask(20)
        assert all(0 <= share < 1 for point in points for share in point)
        scores = [(point, score(point)) for point in points]
        method.tell([*scores[1:], (points[0], NONE)])
        best = max(best, *(found for _, found in scores[1:]))
    assert best > (0.9 if name == "random" else 0.95)


def test_a_search_finds_what_a_grid_would_and_goes_on_where_it_was(tmp_path: Path) -> None:
    found = ac.search(hunt(), tmp_path)
    # A tenth of a bandwidth-delay product is no buffer: the least that is offered is the worst.
    assert found.setting["buffer"] < "0.5 BDP"
    assert found.points == 48
    assert found.cpu_s > 0
    again = ac.search(hunt(), tmp_path)
    assert (again.setting, again.score) == (found.setting, found.score)
    assert again.cpu_s == 0
    further = ac.search(hunt(search={"minimise": "use", "points": 72, "seed": 3}), tmp_path)
    assert further.score <= found.score
    assert ac.results(tmp_path).frame["use"].min() == further.score


def test_across_runs_every_level_at_each_point(tmp_path: Path) -> None:
    goal: dict[str, Any] = {
        "maximise": "use_cubic - use_reno",
        "across": "sender",
        "points": 8,
        "batch": 4,
    }
    goal["method"] = "random"
    axes = {
        "sender": {"key": "flow.a.variant", "values": ["cubic", "reno"]},
        "rtt": {"from": "10 ms", "to": "200 ms"},
    }
    told: list[SearchProgress] = []
    found = ac.search(hunt(axes=axes, search=goal, seeds=2), tmp_path, progress=told.append)
    assert [each.points for each in told] == [4, 8]
    assert found.score == found.values["use_cubic"] - found.values["use_reno"]
    assert len(ac.results(tmp_path)) == 8 * 2 * 2


def test_conditions_hold_in_a_search(tmp_path: Path) -> None:
    found = ac.search(hunt(where="rtt_s > 0.1 AND buffer_bdp > 1"), tmp_path)
    assert found.values["rtt_s"] > 0.1
    frame = ac.results(tmp_path).frame
    assert frame["rtt_s"].min() > 0.1
    assert frame["buffer_bdp"].min() > 1


def test_cases_take_the_values_of_other_axes(tmp_path: Path) -> None:
    axes = {
        "wait": {"key": [], "from": "1 ms", "to": "20 ms"},
        "acks": {
            "cases": {
                "plain": {},
                "held": {"reverse": {"aggregation": {"kind": "hold", "time": "{wait}"}}},
            }
        },
    }
    found = ac.search(hunt(axes=axes, search={"minimise": "use", "points": 16}), tmp_path)
    reverse = found.scenario["topology"].get("reverse")
    if found.setting["acks"] == "held":
        assert reverse == {"aggregation": {"kind": "hold", "time": found.setting["wait"]}}
    else:
        assert reverse is None
    # Points that differ in what nothing uses are one cell.
    assert len(ac.results(tmp_path).store.rows()) < 16


def test_what_was_found_shrinks_to_a_few_lines_that_are_as_bad(tmp_path: Path) -> None:
    base = {
        **BASE,
        "duration": "6 s",
        "flow": [{"name": "a", "variant": "reno", "start": "123 ms"}],
        "measure": [{"name": "late", "from": "2 s"}],
    }
    goal = {"minimise": "use", "points": 16, "shortest": "3 s"}
    axes = {"buffer": {"from": "0.1 BDP", "to": "1 BDP"}, "rtt": ["87.654 ms"]}
    found = ac.search(hunt(scenario=base, search=goal, axes=axes), tmp_path)
    small = shrink(found)
    text = small.to_toml()
    assert small.score <= small.bound
    assert len(text.splitlines()) < 15
    assert "measure" not in small.scenario
    assert "start" not in small.scenario["flow"][0]
    assert "87.654" not in text
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    run = ac.simulate(tmp_path / "small.toml")
    use = max(row["utilisation"] for row in run.rows("links") if row["direction"] == "forward")
    assert use == small.score


def test_a_find_is_replayed_and_one_that_is_gone_is_told(tmp_path: Path) -> None:
    found = ac.search(hunt(), tmp_path / "store")
    path = write_find(tmp_path / "corpus", "idle", found, shrink(found))
    (held,) = replay(tmp_path / "corpus")
    assert held.holds
    assert held.score is not None
    assert held.score <= held.bound
    # The path is full with a deep buffer.
    cured = {**found.scenario, "topology": {**found.scenario["topology"], "buffer": "10 BDP"}}
    path.write_text(compact_toml(cured), encoding="utf-8")
    (gone,) = replay(tmp_path / "corpus")
    assert not gone.holds
    with pytest.raises(BadInput, match="no find"):
        replay(tmp_path)


@pytest.mark.parametrize(
    ("told", "scenario", "words"),
    [
        ("[]", "", "one.find.json: found a list, expected a table"),
        ("{}", "", "one.find.json: title: missing"),
        (None, "duration = ", "one.toml:1: "),
    ],
    ids=["list", "empty", "scenario"],
)
def test_a_find_that_cannot_be_read_is_told_in_one_line(
    tmp_path: Path, told: str | None, scenario: str, words: str
) -> None:
    (known, *_) = sorted(CORPUS.glob("*.find.json"))
    text = known.read_text(encoding="utf-8") if told is None else told
    (tmp_path / "one.find.json").write_text(text, encoding="utf-8")
    (tmp_path / "one.toml").write_text(scenario, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        replay(tmp_path)
    assert str(error.value).startswith(f"{tmp_path}/{words}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("each", replay(CORPUS), ids=lambda each: each.name)
def test_the_corpus_holds(each: Any) -> None:
    assert each.holds, (each.score, each.bound, each.values)


def test_the_corpus_has_the_three_finds_that_the_field_knows() -> None:
    told = {each.name: each.values for each in replay(CORPUS)}
    starved = told["search_starved"]
    assert starved["cubic_bps"] < 0.05 * (starved["cubic_bps"] + starved["bbr_bps"])
    lossy = told["search_lossy"]
    assert lossy["use_cubic"] < 0.1
    assert lossy["use_bbr"] > 0.9
    assert told["search_acks"]["use"] < 0.4
    for path in CORPUS.glob("*.toml"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 15


def expect_a_find(found: BestPoint) -> None:
    assert Goal.of(found.plan).reached(found.score)
    # Seconds of a processor.
    assert found.cpu_s < 600


@pytest.mark.parametrize(("name", "duration"), [("starved", "10 s"), ("acks", None)])
def test_a_find_is_searched_and_shrunk(name: str, duration: str | None, tmp_path: Path) -> None:
    made = tomllib.loads((ROOT / f"examples/plans/search_{name}.toml").read_text("utf-8"))
    if duration is not None:
        made["scenario"]["duration"] = duration
    found = ac.search(made, tmp_path)
    expect_a_find(found)
    assert len(shrink(found).to_toml().splitlines()) < 15


@pytest.mark.slow
def test_the_longest_find_takes_less_than_ten_minutes_of_a_core(tmp_path: Path) -> None:
    expect_a_find(ac.search(ROOT / "examples/plans/search_lossy.toml", tmp_path))


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ({}, "expected `maximise` or `minimise`"),
        ({"minimise": "use", "maximise": "use"}, "expected `maximise` or `minimise`"),
        ({"minimise": "usee"}, "no column `usee` (did you mean `use`?)"),
        ({"minimise": "use", "method": "evolve"}, "search.method: `evolve`"),
        ({"minimise": "use", "point": 3}, "unknown key `point` (did you mean `points`?)"),
        ({"minimise": "use", "points": 0}, "search.points: expected"),
        ({"minimise": "use", "across": "sendr"}, "search.across: no axis `sendr`"),
        ({"minimise": "use", "across": "rtt"}, "search.across: `rtt` is a range"),
    ],
    ids=str,
)
def test_a_mistake_in_a_search_is_one_line(
    goal: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as error:
        ac.search(hunt(search=goal), tmp_path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_plan_of_a_search_is_one_of_a_sweep_with_samples() -> None:
    made = Plan.from_dict(hunt(samples=5))
    assert json.loads(made.to_json())["search"]["minimise"] == "use"
