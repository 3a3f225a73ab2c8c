"""Readings of studies: their declarations, the search, and what is made of it."""

from __future__ import annotations

import importlib
import itertools
import json
import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock import _core
from ackclock.base.claims import Claim, Observation, Predicate
from ackclock.base.errors import BadInput
from ackclock.report.page import Sheet
from ackclock.studies import framework
from ackclock.studies.framework.found import FILE, Share, found_in, interval
from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.readings import Axis, Budget, Readings, names
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulate
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.readings import found as readings_found, run as readings
from ackclock.sweeps.stores.store import Store
from ackclock.sweeps.tasks import studies
from support import Answer
from sweeps.plans import plan

DECLARED = ("altman1997", "biswas2010", "scharf2008", "tambuwal2018", "watanabe2013")


def declaration(key: str) -> Readings[Any, Any]:
    return importlib.import_module(f"ackclock_studies.{key}.readings").READINGS


def canonical(*scenarios: ac.Scenario) -> list[str | None]:
    return [text for text, _ in _core.canonical([each.to_json() for each in scenarios])]


# -------------------------------------------------------------------------------- declarations


@pytest.mark.parametrize("key", DECLARED)
def test_axes_say_what_they_open(key: str) -> None:
    of = declaration(key)
    assert of.key == key
    for axis in of.axes:
        assert axis.default in axis.labels, axis.name
        assert len(axis.labels) >= 2, axis.name
        assert all((axis.opens, axis.section, axis.why)), axis.name
        assert not any(mark in label for label in axis.labels for mark in ";="), axis.name
    assert len({axis.name for axis in of.axes}) == len(of.axes)
    ids = {claim.id for claim in of.claims}
    assert set(of.left_out) <= ids
    assert set(of.sizes) == {"short", "long"}
    for name in of.code:
        assert (of.folder / name).is_file(), name


def test_the_default_reading_of_altman_is_the_study() -> None:
    module = importlib.import_module("ackclock_studies.altman1997.readings")
    scenarios = importlib.import_module("ackclock_studies.altman1997.scenarios")
    of = declaration("altman1997")
    assert module.opened(of.values(of.default)) == scenarios.OWN


def test_the_default_reading_of_scharf_is_the_study() -> None:
    module = importlib.import_module("ackclock_studies.scharf2008.readings")
    scenarios = importlib.import_module("ackclock_studies.scharf2008.scenarios")
    of = declaration("scharf2008")
    assert module.opened(of.values(of.default)) == scenarios.OWN


def test_the_default_reading_of_watanabe_is_the_study() -> None:
    module = importlib.import_module("ackclock_studies.watanabe2013.readings")
    own = importlib.import_module("ackclock_studies.watanabe2013.scenarios")
    of = declaration("watanabe2013")
    choice = module.choice(of.values(of.default))
    for case in own.CASES:
        for variant in ("reno", "cubic", "compound", "ccp(1)", "ccpd(1,4000)"):
            read, study = (own.Trial(case, variant, of_, 1, 4) for of_ in (choice, own.DEFAULT))
            assert canonical(read.scenario()) == canonical(study.scenario()), (case, variant)


def test_the_default_reading_of_biswas_is_the_study() -> None:
    module = importlib.import_module("ackclock_studies.biswas2010.readings")
    own = importlib.import_module("ackclock_studies.biswas2010.scenarios")
    of = declaration("biswas2010")
    plan = own.Plan(quick=True)
    settings = [*own.idle(plan)[:3], *own.limited(plan)[:3], *own.delays(plan)[:3]]
    for setting in settings:
        read = module.read(setting, of.values(of.default))
        assert canonical(read.scenario()) == canonical(setting.scenario())


def test_the_default_reading_of_tambuwal_is_the_study() -> None:
    own = importlib.import_module("ackclock_studies.tambuwal2018.scenarios")
    of = declaration("tambuwal2018")
    plan, parts = of.runs(of.values(of.default), "short", 0)
    scenarios, counted = parts[0].inputs
    setting = own.Setting(next(iter(own.TSL.values())), 54.8, plan.connections(0.4), 1)
    assert canonical(ac.Scenario.from_dict(scenarios[0])) == canonical(setting.scenario())
    assert counted == setting.counted


def test_a_readings_film_has_as_many_bytes() -> None:
    own = importlib.import_module("ackclock_studies.watanabe2013.scenarios")
    # 409 MB in 624 s: 40 s have 26,217,948 bytes, however they lie.
    assert [sum(own.pictures(40, variation=each)) for each in (1.0, 0.5, 0.0)] == [26_217_948] * 3
    # Of a film without variation each second has a fortieth of it, to a byte.
    film = own.pictures(40, variation=0.0)
    seconds = {sum(film[at : at + 30]) for at in range(0, len(film), 30)}
    assert seconds <= {655_448, 655_449}


def test_a_film_that_takes_long_gets_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("ackclock_studies.watanabe2013.readings")
    of = declaration("watanabe2013")
    # A derivative that overshoots keeps CCPD at a few segments: its film of 32 s takes minutes.
    slow = "kd=100 us; ccp=incremental, buffer; capacity=the largest pair; acks=each; buffer=2"
    values = of.values(readings.read(of, slow))

    def found() -> tuple[dict[str, pl.DataFrame], int]:
        batches: list[int] = []

        def counted(scenarios: list[Any], threads: int) -> Tables:
            batches.append(len(scenarios))
            return simulate(scenarios, threads)

        monkeypatch.setattr(module, "simulate", counted)
        _, parts = of.runs(values, "short", 0)
        return {part.name: part.compute(lambda _: None) for part in parts}, len(batches)

    twice, batches = found()
    monkeypatch.setattr(module, "_hurried", lambda setting: setting)
    once, fewer = found()
    assert batches > fewer, "some had to be run again, and longer"
    assert twice.keys() == once.keys()
    for name, frame in once.items():
        # In minutes without a film a packet a second may be lost by chance.
        same = pl.exclude("packets_lost")
        assert frame.select(same).equals(twice[name].select(same)), name


def test_runs_are_put_in_the_place_of_others(small: ac.Scenario) -> None:
    four, other = [replace(small, seed=seed) for seed in range(4)], replace(small, seed=9)
    mixed = simulate([other, four[1], other, four[3]], 1)
    mixed = mixed.with_runs([0, 2], simulate([four[0], four[2]], 1))
    expected = simulate(four, 1)
    for name, frame in expected.frames.items():
        assert frame.equals(mixed.frames[name]), name


# ---------------------------------------------------------------------------------- the search

# Three predicates: `right` holds where a is 3, `left` where a is 0, `even` where b is yes and, of
# an odd seed, too. `right` and `left` exclude each other; c and d decide nothing.
AXES = (
    Axis("a", "an a", "1", {"0": 0, "1": 1, "2": 2, "3": 3}, "1", "why"),
    Axis("b", "a b", "2", {"no": False, "yes": True}, "no", "why"),
    Axis("c", "a c", "3", {"x": 0, "y": 1, "broken": 2}, "x", "why"),
    Axis("d", "a d", "4", {f"{n}": n for n in range(8)}, "0", "why"),
)


def _claims() -> tuple[Claim[Any], ...]:
    def test(name: str) -> Predicate[Any]:
        return Predicate(name, name, name, ">", 0.5, lambda found: [Observation(name, found[name])])

    def claim(name: str, *tests: str) -> Claim[Any]:
        return Claim(name, name, tuple(test(each) for each in tests), lambda _: {}, lambda _: {})

    return (claim("one", "right", "even"), claim("two", "left"), claim("three", "never"))


COMPUTED: list[str] = []


def _runs(values: Mapping[str, Any], size: str, seed: int) -> tuple[Any, list[Part]]:
    def of_a(_: object) -> pl.DataFrame:
        COMPUTED.append("a")
        return pl.DataFrame({"right": [float(values["a"] == 3)], "left": [float(values["a"] == 0)]})

    def of_b(_: object) -> pl.DataFrame:
        COMPUTED.append("b")
        if values["c"] == 2 and values["b"]:
            raise BrokenRunError("the film did not end")
        return pl.DataFrame({"even": [float(values["b"] or seed % 2)]})

    return None, [
        Part("a", [values["a"]], 1, of_a),
        Part("b", [values["b"], values["c"] == 2, seed, size], 1, of_b),
    ]


TOY: Readings[Any, Any] = Readings(
    key="altman1997",
    folder=Path(framework.__file__).parent,
    axes=AXES,
    runs=_runs,
    analyse=lambda _plan, found, _values: {
        **found["a"].to_dicts()[0], **found["b"].to_dicts()[0], "never": 0.0,
    },
    claims=_claims(),
    sizes={"short": "little", "long": "much"},
    budget=Budget(samples=40, best=1, seeds=1, fresh=3),
    code=("readings.py",),
)  # fmt: skip


@contextmanager
def in_this_process(plan: Plan, count: int) -> Generator[list[studies.StudyWorker]]:
    yield [studies.StudyWorker(plan) for _ in range(count)]


def _patched(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another process does not know the toy.
    monkeypatch.setattr(readings, "workers", in_this_process)
    monkeypatch.setattr(studies, "readings_of", lambda _: TOY)
    monkeypatch.setattr(readings, "readings_of", lambda _: TOY)
    monkeypatch.setattr(studies, "_SHARED", studies.SharedParts())
    studies.code.cache_clear()
    COMPUTED.clear()


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    _patched(monkeypatch)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, readings.Outcome, list[str]]:
    """Return a store, what was found in it by one thread, and the parts that were computed."""
    with pytest.MonkeyPatch.context() as patch:
        _patched(patch)
        path = tmp_path_factory.mktemp("readings")
        return path, readings.search_readings("altman1997", path, threads=1), list(COMPUTED)


Searched = tuple[Path, readings.Outcome, list[str]]


def test_the_search_finds_the_best_and_says_what_matters(searched: Searched) -> None:
    _, found, _ = searched
    best = found.readings[found.best[0]]
    # Statement one needs a = 3 and, on even seeds, b = yes.
    assert (best["a"], best["b"]) == ("3", "yes")
    made = readings_found.tables(found)
    rows = {(row["claim"], row["predicate"]): row for row in made["predicates"].to_dicts()}
    assert rows["one", "right"]["best_share"] == 1.0
    # Fresh seeds are 1000, 1001 and 1002, of which one is odd; the study's own reading has b = no.
    assert rows["one", "even"]["best_share"] == 1.0
    assert rows["one", "even"]["own_share"] == pytest.approx(1 / 3)
    statements = {row["claim"]: row for row in made["statements"].to_dicts()}
    assert statements["three"]["held"] == 0
    assert statements["two"]["held"] > 0
    # 40 samples, a quarter of them with a = 3 and a quarter with a = 0: by chance 2.5 had both,
    # less than five.
    assert made["excluded"].height == 0
    matters = {
        row["axis"]: row["explained"] for row in made["axes"].to_dicts() if row["claim"] == "two"
    }
    assert matters["a"] == pytest.approx(1.0)
    assert matters["c"] < 0.2


@pytest.mark.usefixtures("toy")
def test_predicates_that_exclude_each_other_are_found(tmp_path: Path) -> None:
    found = readings.search_readings("altman1997", tmp_path, samples=400)
    (pair,) = readings_found.tables(found)["excluded"].to_dicts()
    assert {pair["predicate"], pair["other_predicate"]} == {"right", "left"}


def test_what_no_axis_moves_is_computed_once(searched: Searched) -> None:
    # Part a depends on nothing but a, which has four values.
    assert searched[2].count("a") == 4


@pytest.mark.usefixtures("toy")
def test_finished_readings_are_not_run_again_and_threads_change_nothing(
    tmp_path: Path, searched: Searched
) -> None:
    path, one, _ = searched
    again = readings.search_readings("altman1997", path, threads=1)
    assert COMPUTED == []
    two = readings.search_readings("altman1997", tmp_path / "two", threads=2)
    for other in (again, two):
        assert other.best == one.best
        for name, frame in readings_found.tables(one).items():
            assert frame.equals(readings_found.tables(other)[name]), name


@pytest.mark.usefixtures("toy")
def test_a_search_that_was_interrupted_goes_on(tmp_path: Path, searched: Searched) -> None:
    def stop(_stage: str, now: Any) -> None:
        if now.ran >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        readings.search_readings("altman1997", tmp_path, threads=1, told=stop)
    kept = Store(tmp_path).rows().height
    assert kept >= 5
    whole = readings.search_readings("altman1997", tmp_path, threads=1)
    assert whole.judged.equals(searched[1].judged)


def test_the_store_is_that_of_sweeps(searched: Searched) -> None:
    read = ac.results(searched[0])
    assert read.plan.study == "altman1997"
    assert {"a", "b", "c", "size", "seed", "statements_held"} <= set(read.frame.columns)
    held = read.sql("SELECT a, AVG(CAST(holds AS INT)) AS share FROM predicates "
                    "WHERE predicate = 'left' GROUP BY a ORDER BY a")  # fmt: skip
    assert held["share"].to_list() == [1.0, 0.0, 0.0, 0.0]
    # A run that did not end is no reading's fault to hide: its reason is kept.
    broken = read.frame.filter(pl.col("status") == "failed")
    assert set(broken["reason"]) == {"the film did not end"}


def test_readings_are_read_from_texts() -> None:
    assert readings.read(TOY, "default") == {"a": "1", "b": "no", "c": "x", "d": "0"}
    reading = readings.read(TOY, "a=3; b = yes")
    assert readings.changed(TOY, reading) == "a=3; b=yes"
    assert readings.read(TOY, "a=3; b=yes;") == reading
    assert readings.read(TOY, readings.changed(TOY, reading)) == reading
    for text, words in (
        ("e=1", "reading: `e` is no axis, expected one of a, b, c, d"),
        ("b=yas", "reading: b: `yas`, expected one of `no`, `yes`"),
        ("b=yes; b=no", "reading: b: stands twice"),
        ("", "reading: ``, expected `axis=label; axis=label`"),
        ("b", "reading: `b`, expected `axis=label; axis=label`"),
    ):
        with pytest.raises(BadInput) as error:
            readings.read(TOY, text)
        assert str(error.value) == words


@pytest.mark.usefixtures("toy")
def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    ac.sweep(plan(seeds=1), tmp_path)
    with pytest.raises(BadInput, match="holds a sweep of scenarios, expected another folder"):
        readings.search_readings("altman1997", tmp_path)


def test_a_reading_that_was_not_tried_is_refused() -> None:
    with pytest.raises(BadInput, match="`0123ab4567`: no search is there, expected --out DIR"):
        readings.named(TOY, "0123ab4567", {})
    with pytest.raises(BadInput, match="`0123ab4567` was not tried in this search"):
        readings.named(TOY, "0123ab4567", {"76543210ab": TOY.default})


def test_ten_thousand_readings_have_ten_thousand_names() -> None:
    # Six digits are 2^24 names: 3 of the 50 million pairs would be alike.
    of = declaration("watanabe2013")
    axes = [axis.labels for axis in of.axes]
    drawn = itertools.islice(itertools.product(*axes), 0, 200_000, 20)
    named = [readings.short_id(dict(zip(of.default, each, strict=True))) for each in drawn]
    assert len(set(named)) == len(named) == 10_000


def test_of_equal_readings_the_one_with_the_fewest_changes_is_first() -> None:
    equal = (2.0, 5.0, 0.5)
    much, little = readings.read(TOY, "a=3; b=yes"), readings.read(TOY, "b=yes")
    assert readings.rank(TOY, little, equal) < readings.rank(TOY, much, equal)
    assert readings.rank(TOY, much, (2.0, 6.0, 0.5)) < readings.rank(TOY, little, equal)


@pytest.mark.usefixtures("toy")
def test_a_sweep_into_the_store_of_a_search_is_refused(tmp_path: Path) -> None:
    readings.search_readings("altman1997", tmp_path, samples=2)
    with pytest.raises(BadInput, match="holds the readings of altman1997, expected another"):
        ac.sweep(plan(seeds=1), tmp_path)


def test_a_damaged_outcome_is_one_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{", encoding="utf-8")
    with pytest.raises(BadInput, match=f"{FILE}: is no outcome of a search of readings"):
        found_in(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "9999999999"], "--budget: 9999999999, expected 1 to 10,000,000 samples"),
        (["--budget", "9" * 5000], "expected 1 to 10,000,000 samples, or a time"),
        (["--budget", "0"], "--budget: 0, expected 1 to 10,000,000 samples, or a time"),
        (["--budget", "²"], "--budget: `²`"),
        (["--size", "long"], "--size: expected --run beside it"),
        (["--seed", "3"], "--seed: expected --run beside it"),
    ],
)
def test_what_a_search_does_not_take_is_refused(
    words: list[str], said: str, ackclock: Callable[..., Answer]
) -> None:
    answer = ackclock("readings", "altman1997", *words)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_explained_variance() -> None:
    # Two groups of two, means 1 and 3, each value a half off: between 4 (1 + 1 + 1 + 1), within 1
    # (4 times a quarter); eta squared is 4/5, epsilon squared 1 - (1/5)(3/2) = 0.7.
    assert readings_found.explained(list("aabb"), [0.5, 1.5, 2.5, 3.5]) == pytest.approx(0.7)
    assert readings_found.explained(list("abab"), [1.0, 1.0, 1.0, 1.0]) == 0.0


def test_intervals_of_shares() -> None:
    # Wilson's, as in Brown, Cai and DasGupta (2001): 0 of 5 up to 0.434, 5 of 5 from 0.566 on.
    low, high = interval(0, 5)
    assert (low, high) == (0.0, pytest.approx(0.434, abs=1e-3))
    low, high = interval(5, 5)
    assert (low, high) == (pytest.approx(0.566, abs=1e-3), pytest.approx(1.0))


def test_what_was_found_is_kept_and_read_again(tmp_path: Path, searched: Searched) -> None:
    found = searched[1]
    kept = readings_found.outcome(found, readings_found.tables(found))
    (tmp_path / FILE).write_text(kept.text(), encoding="utf-8")
    assert found_in(tmp_path) == kept
    # The best has a = 3, where `left` never holds, and nothing holds `never`.
    shares = {row.claim: row.best for row in kept.statements}
    assert shares == {"one": Share(3, 3), "two": Share(0, 3), "three": Share(0, 3)}
    assert kept.never == ("three",)
    assert {"a", "b"} <= set(kept.changed)
    assert (kept.changed["a"], kept.changed["b"]) == ("3", "yes")


@pytest.mark.parametrize("key", DECLARED)
def test_what_a_study_keeps_is_of_its_axes_and_statements(key: str) -> None:
    of = declaration(key)
    found = found_in(of.folder)
    if found is None:
        pytest.skip(f"{key} keeps no outcome of a search")
    text = "; ".join(f"{axis}={label}" for axis, label in found.reading.items())
    assert readings.short_id(readings.read(of, text)) == found.best
    assert [row.claim for row in found.statements] == [claim.id for claim in of.judged]
    pairs = [(row.claim, row.predicate) for row in found.predicates]
    assert pairs == list(of.predicates())
    # Draws repeat: of n draws from n things 63 in a hundred are different (1 - 1/e).
    assert found.samples >= 0.6 * min(of.budget.samples, math.prod(len(a.labels) for a in of.axes))


def test_the_report_shows_readings_beside_verdicts() -> None:
    from ackclock.studies.framework.page import readings_section

    for key in DECLARED:
        found = found_in(declaration(key).folder)
        if found is None:
            continue
        section = readings_section(found)
        sheet = section.blocks[1]
        assert isinstance(sheet, Sheet)
        assert [row[0].text for row in sheet.rows] == list(found.changed)


@pytest.mark.parametrize("key", DECLARED)
def test_the_documents_tell_what_was_found(key: str) -> None:
    """A row of the page's first table is a statement, and its last column the best reading's."""
    of = declaration(key)
    found = found_in(of.folder)
    page = (Path(__file__).parents[2] / "docs" / "studies" / f"{key}.md").read_text("utf-8")
    table = page.partition("| the paper's statement |")[2].partition("\n\n")[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    if found is None:
        assert "under the best single reading" not in head
        pytest.skip(f"{key} keeps no outcome of a search")
    assert head[-1] == "under the best single reading"
    told = [row[-1] for row in rows]
    shares = {row.claim: row.best.words() for row in found.statements}
    # Rows may stand in another order than the claims.
    assert sorted(told) == sorted(shares.get(claim.id, "not judged") for claim in of.claims)
    assert f"`{found.best}`" in page
    assert f"{found.tried:,} readings" in page


def test_a_share_of_nothing_does_not_hold() -> None:
    def share(found: Mapping[str, float]) -> list[Observation]:
        return [Observation("lost", found["lost"] / found["sent"])]

    relative = Predicate("share", "share", "share", ">=", 0.0, share)
    claims = (Claim("losses", "losses", (relative,), lambda _: {}, lambda _: {}),)
    of = replace(TOY, claims=claims, analyse=lambda _plan, _found, values: values)
    of = replace(of, axes=(Axis("lost", "", "", {"1": 1}, "1", ""),
                           Axis("sent", "", "", {"0": 0, "4": 4}, "4", "")))  # fmt: skip
    (nothing,) = of.judge(None, {}, {"lost": "1", "sent": "0"})
    (some,) = of.judge(None, {}, {"lost": "1", "sent": "4"})
    assert (nothing.holds, nothing.observations, some.holds, some.worst) == (False, 0, True, 0.25)


def test_an_unknown_study_is_refused() -> None:
    with pytest.raises(BadInput, match="declares no readings, expected one of altman1997"):
        studies.readings_of("aqm")


def test_the_page_is_written(searched: Searched) -> None:
    from ackclock.report import render
    from ackclock.sweeps.readings.page import build

    found = searched[1]
    words = {claim.id: claim.statement for claim in TOY.claims}
    text = render(build(found, readings_found.tables(found), words))
    assert f"@misc{{ackclock-readings-{found.of.key}-" in text
    assert "Under no reading that was tried: three." in text
    assert f"{found.tried:,} readings of what the paper leaves open" in text


@pytest.mark.usefixtures("toy")
def test_the_command_searches_and_writes_a_page(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    words = ("readings", "altman1997", "--budget", 3, "--threads", 1, "--out", tmp_path, "--json")
    answer = ackclock(*words)
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)
    assert told["study"] == "altman1997"
    assert [row["claim"] for row in told["statements"]] == ["one", "two", "three"]
    assert "<html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert found_in(tmp_path) is not None


def test_an_interrupt_says_how_far_a_search_has_come(
    tmp_path: Path, ackclock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs(values: Mapping[str, Any], size: str, seed: int) -> tuple[Any, list[Part]]:
        if Store(tmp_path / "store").rows().height >= 2:
            raise KeyboardInterrupt
        return _runs(values, size, seed)

    _patched(monkeypatch)
    for module in (studies, readings):
        monkeypatch.setattr(module, "readings_of", lambda _: replace(TOY, runs=runs))
    answer = ackclock("readings", "altman1997", "--threads", 1, "--out", tmp_path)
    assert answer.code == 130
    reached, end = answer.err.splitlines()
    assert reached.startswith("ackclock: altman1997: samples, ")
    assert reached.endswith("; what has ended is kept, and the same command goes on")
    assert end == "ackclock: interrupted"


def test_one_reading_can_be_run_by_itself(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("readings", "altman1997", "--run", "exogenous=at most 10", "--json")
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)
    assert told["reading"]["exogenous"] == "at most 10"
    assert {"altman-t1", "altman-f7"} <= {row["claim"] for row in told["predicates"]}


def test_a_run_of_a_reading_is_told_in_sentences(
    ackclock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = studies.readings_of("altman1997").claims[0]
    (name, *_), predicate = names(claim), claim.predicates[0]
    row = {"claim": claim.id, "predicate": name, "holds": True, "observations": 3, "passed": 3}
    found = pl.DataFrame([{**row, "worst": 0.123}])
    monkeypatch.setattr("ackclock.sweeps.readings.run.run_one", lambda *_: found)
    answer = ackclock("readings", "altman1997", "--run", "default")
    words = " ".join(answer.out.split())
    assert answer.code == 0, answer.err
    for said in (claim.statement.split()[0], predicate.statement.split()[0], "12.3", "3 of 3"):
        assert said in words
