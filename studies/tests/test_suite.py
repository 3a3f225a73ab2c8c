"""The field's test sets: their cases, their limits, their results."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import ackclock as ac
from ackclock.base.places import Place
from ackclock.cli.app import app
from ackclock.suites import SUITES
from ackclock.suites.framework.case import Case, Limit, Outcome
from ackclock.suites.framework.cells import Cell, judged
from ackclock.suites.framework.history import History
from ackclock.suites.framework.kept import Kept
from ackclock.suites.framework.paths import Member, Way
from ackclock.suites.page import _command
from ackclock.suites.running import SuiteResult, _case, run_suite
from ackclock_studies.suites.c4.suite import SPECS, limit_s
from test_linux import manifest, put

RUN = CliRunner()


def case(**more: object) -> Case:
    way = Way("a path", 5e6, 0.02, 4.0)
    made = Case(
        key="a",
        title="a case",
        source="here",
        kind="ours",
        metric="goodput",
        build=lambda variant, seed: way.with_([Member(variant, "flow", 0.02)], seed),
        measure=lambda outcome: outcome.goodput("flow"),
        seeds=2,
    )
    return dataclasses.replace(made, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limit", "values", "base", "verdict"),
    [
        (Limit(low=2.0), [2.0, 2.0], None, "pass"),
        # Two values have an interval of 12.706 * 0.7071 |a - b| / 1.4142 = 6.353 |a - b|.
        (Limit(low=2.0), [1.0, 2.0], None, "cannot tell"),
        (Limit(low=2.0), [1.0, 1.1], None, "fail"),
        (Limit(high=1.5), [1.0, 2.0], None, "cannot tell"),
        (Limit(high=1.5), [0.8, 0.85], None, "pass"),
        # 0.79 ± 1.43, which two seeds gave within 0.5 to 2, says nothing of either bound.
        (Limit(low=0.5, high=2.0), [0.79 - 0.1125, 0.79 + 0.1125], None, "cannot tell"),
        # One run has no interval.
        (Limit(low=2.0), [3.0], None, "cannot tell"),
        # 1.1 times 2.0 is 2.2; and 0.1 more than 0.5 of it is 1.1.
        (Limit(high=1.1, of="base"), [2.1, 2.3], [2.0, 2.0], "cannot tell"),
        (Limit(high=1.1, of="base"), [2.3, 2.3], [2.0, 2.0], "fail"),
        # A seed acts on both alike, and cancels: 2.0 and 3.0 are within 1.5 times 1.9 and 2.9 by
        # 0.85 and 1.35, 1.1 ± 3.2 with two seeds; ten have 2.262 * 0.2635 / 3.162 = 0.19.
        (Limit(high=1.5, of="base"), [2.0, 3.0], [1.9, 2.9], "cannot tell"),
        (Limit(high=1.5, of="base"), [2.0, 3.0] * 5, [1.9, 2.9] * 5, "pass"),
        (Limit(high=0.5, of="base", plus=0.1), [1.1, 1.1], [2.0, 2.0], "pass"),
        (Limit(high=2.0, of="base", at_least=0.5), [0.4, 0.4], [0.1, 0.1], "pass"),
        # A sender that never ended, and one of which nothing was measured.
        (Limit(high=9.0), [math.inf, 1.0], None, "fail"),
        (Limit(high=9.0), [math.nan], None, "fail"),
        # Nothing to be held against: the baseline was refused.
        (Limit(high=9.0, of="base"), [1.0], None, "no limit: reported"),
        (None, [1.0], None, "no limit: reported"),
    ],
)
def test_a_limit_judges(
    limit: Limit | None, values: list[float], base: list[float] | None, verdict: str
) -> None:
    found = {"mine": values} | ({} if base is None else {"base": base})
    assert judged(case(limit=limit), "mine", found).verdict == verdict


def test_what_cannot_be_told_says_how_many_seeds_would() -> None:
    # Values of 0 and 2 have the deviation 1.414; half of it is the distance to 0.293, so that the
    # interval of n runs has to be within 0.707: t / sqrt(n) <= 0.5. With 18 it is 2.110 / 4.243 =
    # 0.497, with 17 it is 2.120 / 4.123 = 0.514.
    made = judged(case(limit=Limit(low=1 - math.sqrt(0.5))), "mine", {"mine": [0.0, 2.0]})
    assert made.judgement == "cannot tell with 2 seeds: at this spread 18 would tell"
    alone = judged(case(limit=Limit(low=2.0)), "mine", {"mine": [3.0]})
    assert alone.judgement == "cannot tell with 1 seed: an interval takes two or more"
    on_it = judged(case(limit=Limit(low=1.0)), "mine", {"mine": [0.0, 2.0]})
    assert on_it.judgement == "cannot tell with 2 seeds: the mean is on the bound"


def test_each_run_may_have_to_keep_a_limit() -> None:
    made = case(limit=Limit(high=1.5), every=True)
    assert judged(made, "mine", {"mine": [1.0, 2.0]}).verdict == "fail"
    assert judged(made, "mine", {"mine": [1.0, 1.4]}).verdict == "pass"


def test_a_way_by_hand() -> None:
    way = Way("a path", 50e6, 0.03, 40.0, buffer_bdp=2)
    # 50 Mbit/s for 30 ms are 187,500 bytes, 125 packets; two of these.
    assert way.limit() == "250 packet"
    # 80 ms of 20 Mbit/s are 200,000 bytes.
    assert Way("another", 20e6, 0.08, 1.0, buffer_s=0.08).limit() == "133 packet"
    scenario = way.with_([Member("cubic", "a", 0.03), Member("reno", "b", 0.06)], 1).to_dict()
    bottleneck, first, second = scenario["topology"]["link"]
    # A hundredth of 30 ms each way on the shared link, the rest of each flow's on its own.
    assert bottleneck["delay"] == "300000 ns"
    assert (first["delay"], second["delay"]) == ("14700000 ns", "29700000 ns")
    assert scenario["measure"][0]["from"] == "10000000000 ns"


def test_the_times_of_c4_for_tcp() -> None:
    alone = next(spec for spec in SPECS if spec.key == "alone")
    # 5 s for QUIC; 1514/1448 is 1.0456; and 80 ms of a handshake: 5.228 + 0.08.
    assert alone.limit_s is not None
    assert limit_s(alone, alone.limit_s) == pytest.approx(5.308, abs=1e-3)
    # 10 MB at 20 Mbit/s take 4 s without any header: no limit is below that.
    for spec in SPECS:
        for limit in (spec.limit_s, *spec.own.values()):
            assert limit is None or limit_s(spec, limit) > 8 * spec.size_mb / spec.rate_mbps


def test_a_sender_has_its_own_limit() -> None:
    cases = {each.key: each for each in SUITES.get("c4").cases(False)}
    made = cases["media-mean"]
    # The source has 31 ms for C4 and CUBIC, and 32 for BBR.
    assert made.limit_of("bbr") == Limit(high=0.032)
    assert made.limit_of("cubic+iw4, live") == Limit(high=0.031)
    assert made.limit_of("newreno") == Limit(high=0.031)
    # One for BBR alone: others are reported.
    short = cases["alone-30ms"]
    assert short.limit_of("cubic") is None
    assert judged(short, "cubic", {"cubic": [4.0]}).verdict == "no limit: reported"


def test_media_are_given_as_the_draft_has_them() -> None:
    cases = {each.key: each for each in SUITES.get("c4").cases(False)}
    run = ac.simulate(cases["media-mean"].build("newreno", 1))
    by_stream: dict[str, list[int]] = {}
    for row in run.rows("objects"):
        by_stream.setdefault(row["flow"], []).append(row["bytes"])
    # 5 s: 250 frames of audio, and 150 of each video, of which each thirtieth is ten times larger.
    assert by_stream["audio"] == [80] * 250
    assert len(by_stream["vlow"]) == len(by_stream["vmid"]) == 150
    assert [n for n, size in enumerate(by_stream["vmid"]) if size == 62_500] == [0, 30, 60, 90, 120]
    # 6250 bytes, 5 packets, take 5 * 1514 * 8 / 100 Mbit/s = 0.6 ms, and 15 ms of the path.
    small = [row for row in run.rows("objects") if row["flow"] == "vmid" and row["bytes"] == 6250]
    assert min(row["completed_s"] - row["requested_s"] for row in small) == pytest.approx(
        0.0156, abs=2e-4
    )


def test_a_path_of_c4_becomes_longer() -> None:
    cases = {each.key: each for each in SUITES.get("c4").cases(False)}
    made = cases["short-long"].build("newreno", 1)
    assert made.events[0].set is not None
    # 15 ms one way, a hundredth of the 30 ms of it on the bottleneck; then 100 ms.
    access = made.to_dict()["topology"]["link"][1]["delay"]
    assert access == "14700000 ns"
    assert made.events[0].set.delay == "0.085300000 s"
    # 200 ms of 10 Mbit/s are 167 packets of 1500 bytes.
    assert made.events[0].set.queue == ac.QueueChange("167 packet")


# Each of tcpeval's 207 cases is built and read several times, which takes 5 s.
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=pytest.mark.slow if key == "tcpeval" else ())
        for key in SUITES.names()
    ],
)
def test_a_suite_is_whole(key: str) -> None:
    check_suite(key, (False, True))


def test_the_quick_suite_of_tcpeval_is_whole() -> None:
    check_suite("tcpeval", (True,))


def check_suite(key: str, versions: Sequence[bool]) -> None:
    suite = SUITES.get(key)
    for quick in versions:
        cases = suite.cases(quick)
        keys = [each.key for each in cases]
        assert len(keys) == len(set(keys))
        for each in cases:
            assert re.fullmatch(r"[a-z0-9.+-]+", each.key), each.key
            assert each.source
            assert each.metric
            sender = "bbr" if each.unfit("cubic") else "cubic"
            if suite.subject == "queue":
                sender = "codel"
            text = each.build(sender, 1).to_json()
            assert each.build(sender, 1).to_json() == text
            made = ac.Scenario.from_dict(json.loads(text))
            assert made.flows or made.traffic


def test_a_sender_that_a_case_cannot_take_is_refused() -> None:
    made = case()
    scenarios = {
        sender: [made.build(sender, seed) for seed in (1, 2)] for sender in ("xcp", "reno")
    }
    xcp, reno = _case(made, scenarios, 1, {}, Kept(None, ""))
    assert (xcp.verdict, reno.verdict) == ("refused", "no limit: reported")
    assert "xcp" in xcp.reason
    assert (xcp.text, len(reno.values)) == ("refused", 2)


def test_a_case_is_the_simulation_of_its_scenarios() -> None:
    found = run_suite("quick", ["cubic"], cases=["alone", "coexist-1bdp"], threads=1)
    (made,) = [each for each in SUITES.get("quick").cases(False) if each.key == "coexist-1bdp"]
    runs = ac.simulate_many([made.build("cubic", seed) for seed in range(1, 6)])
    rows = [row for row in runs.rows("flows") if row["measure"] == "suite"]
    shares = [
        2 * mine["goodput_bps"] / (mine["goodput_bps"] + other["goodput_bps"])
        for other, mine in zip(rows[::2], rows[1::2], strict=True)
    ]
    assert found.cell("coexist-1bdp", "cubic").values == tuple(shares)
    again = run_suite("quick", ["cubic"], cases=["alone", "coexist-1bdp"], threads=2)
    assert again.digest == found.digest
    assert again.as_json() == found.as_json()
    other = run_suite("quick", ["reno"], cases=["alone"])
    assert other.digest != found.digest


def test_the_same_numbers_whichever_way_they_leave(tmp_path: Path) -> None:
    words = ["suite", "quick", "cubic", "--case", "alone", "--case", "7.4-constrained"]
    done = RUN.invoke(app, [*words, "--out", str(tmp_path / "out")])
    printed = json.loads(RUN.invoke(app, [*words, "--json"]).stdout)
    written = json.loads((tmp_path / "out/suite.json").read_text(encoding="utf-8"))
    assert printed == written
    values = pl.read_parquet(tmp_path / "out/suite.parquet").filter(pl.col("case") == "alone")
    (cell,) = [each for each in written["cells"] if each["case"] == "alone"]
    assert values["value"].to_list() == cell["values"]
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert written["digest"] in page
    # A failing case is told by the exit code.
    assert done.exit_code == (1 if any(c["verdict"] == "fail" for c in written["cells"]) else 0)
    # A kept scenario is the first run of its case.
    scenario = ac.Scenario.from_file(tmp_path / "out/scenarios/alone/cubic.json")
    (flow,) = ac.run(scenario).rows("flows")[:1]
    assert flow["completed_s"] == cell["values"][0]
    assert written["digest"] in (tmp_path / "out/suite.bib").read_text(encoding="utf-8")


def test_suites_are_listed() -> None:
    listed = json.loads(RUN.invoke(app, ["suite", "--json"]).stdout)
    assert [each["suite"] for each in listed] == list(SUITES.names())
    assert all(each["cases"] for each in listed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fairnes", "cubic"], "`fairnes` is none (did you mean `fairness`?)"),
        (["fairness"], "expected at least one sender"),
        (["fairness", "cubic", "--case", "jain-2"], "no case of fairness"),
        (["quick", "cubicc", "--case", "alone"], "did you mean `cubic`?"),
    ],
)
def test_what_cannot_be_run_is_one_line(words: list[str], message: str) -> None:
    done = RUN.invoke(app, ["suite", *words])
    assert isinstance(done.exception, ac.BadInput)
    assert message in str(done.exception)


def test_completion_of_a_flow_that_never_ends() -> None:
    whole = {"main": {"completed_s": None}}
    path = ac.Path("10 Mbit/s", "20 ms")
    scenario = ac.Scenario(topology=path, flows=[ac.Flow("cubic")], duration="1 s")
    outcome = Outcome({}, whole, {}, {}, [], [], [], History([]), scenario)
    assert math.isinf(outcome.completion_s("main"))


def test_a_sender_that_no_case_takes_leaves_the_others_running() -> None:
    told: list[str] = []
    found = run_suite("quick", ["cubic", "xcp"], cases=["alone"], told=told.append)
    assert found.cell("alone", "xcp").verdict == "refused"
    assert found.cell("alone", "cubic").verdict in ("pass", "fail", "cannot tell")
    assert told == [f"alone: xcp is refused: {found.cell('alone', 'xcp').reason}"]
    with pytest.raises(ac.BadInput, match="suite: no case takes xcp: "):
        run_suite("quick", ["xcp"], cases=["alone"])
    with pytest.raises(ac.BadInput, match="did you mean `cubic`"):
        run_suite("quick", ["cubic", "cubicc"], cases=["alone"])


def test_a_part_of_a_suite_is_cited_as_a_part() -> None:
    suite = SUITES.get("fairness")
    cases = suite.cases(True)
    whole = tuple(Cell(case, "cubic", (), 0.0, None, 0.0, 1.0, "pass") for case in cases)
    found = SuiteResult(suite, ("cubic",), (), True, whole, {}, "0123456789")
    assert "{Suite fairness, quick: cubic}" in found.bibtex()
    assert ", digest of scenarios and rules 0123456789}" in found.bibtex()
    part = dataclasses.replace(found, cells=whole[:1], seeds=2)
    of = f"{cases[0].key} of its {len(cases)} cases"
    assert f"{{Suite fairness, quick, {of}, 2 seeds: cubic}}" in part.bibtex()


def test_senders_that_differ_are_told_with_the_cases_in_which_they_do() -> None:
    # Only in `one` a sender has no parts of today: they are told, and where.
    def alone(variant: str) -> ac.Scenario:
        return ac.Scenario(
            ac.path("8 Mbit/s", "40 ms"), [ac.Flow(variant, name="a")], duration="1 s"
        )

    names = [("one", "cubic"), ("one", "newreno"), ("two", "cubic"), ("two", "bbr")]
    scenarios = {(case, variant): alone(variant) for case, variant in names}
    suite = SUITES.get("fairness")
    found = SuiteResult(suite, ("cubic",), (), True, (), scenarios, "")
    (note,) = found.notes
    assert note == (
        "in one of 2 cases the senders differ in more than their laws: recovery rack (cubic), "
        "partialack (newreno); first window iw10 (cubic), rfc3390 (newreno); write "
        "`newreno+modern` for the parts of today, or name the part in each sender"
    )
    # Nobody compares senders of different cases.
    del scenarios["one", "cubic"]
    assert dataclasses.replace(found, scenarios=scenarios).notes == ()


def test_a_card_has_the_whole_command_that_runs_it_again() -> None:
    suite = SUITES.get("fairness")
    found = SuiteResult(suite, ("mine", "lp(paper)"), (), True, (), {}, "", ("mine=my law.so",))
    words = "ackclock suite fairness mine &#x27;lp(paper)&#x27; --case a --quick"
    assert _command(found, "a") == f"{words} --law &#x27;mine=my law.so&#x27; --out DIR"


def test_a_law_of_another_kind_of_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("x = 1", encoding="utf-8")
    done = RUN.invoke(app, ["suite", "quick", "mine", "--law", f"mine={file}"])
    assert "expected a shared library (.so) or a file of Python (.py)" in str(done.exception)


class Lived:
    """A live run as far as suites look at it: a simulation, and whether it is a measurement."""

    def __init__(self, scenario: ac.Scenario, valid: bool) -> None:
        assert {flow.profile for flow in scenario.flows} == {"linux"}
        # Without the kernel's habits, so that the values are those of the simulation.
        flows = [dataclasses.replace(flow, profile="rfc") for flow in scenario.flows]
        self.made = ac.simulate(dataclasses.replace(scenario, flows=flows))
        self.live = {"valid": valid, "doubts": ["the path was late"]}

    def rows(self, table: str) -> list[dict[str, object]]:
        return self.made.rows(table)


def test_live_senders_stand_beside_simulated_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    tries: dict[str, int] = {}

    def live(scenario: ac.Scenario, *, seed: int | None = None) -> Lived:
        assert seed is None
        variant = str(scenario.flows[0].variant)
        if variant == "bbr":
            raise ac.BadInput("flow[0].variant: the kernel has no `bbr` of the draft")
        tries[variant] = tries.get(variant, 0) + 1
        # The first run is no measurement, and those of NewReno never are.
        return Lived(scenario, tries[variant] > 1 and variant != "newreno")

    monkeypatch.setattr("ackclock.runs.api.run_live", live)
    found = run_suite(
        "quick", ["cubic", "newreno", "bbr"], cases=["alone"], on=["sim", "live"], told=told.append
    )
    assert found.variants[:4] == ("cubic", "newreno", "bbr", "cubic, live")
    simulated, lived = found.cell("alone", "cubic"), found.cell("alone", "cubic, live")
    assert lived.values == simulated.values
    seeds = simulated.case.seeds
    assert tries["cubic"] == seeds + 1
    refused = found.cell("alone", "newreno, live")
    assert refused.reason == "no measurement in 3 runs: the path was late"
    assert tries["newreno"] == 3
    assert "alone: bbr, live is refused: flow[0].variant: the kernel has no `bbr`" in told[-1]
    # Three senders and five seeds: the cases of `quick` have as many.
    assert told[0].startswith("live: 15 runs, one after another, take ")
    assert "--on sim,live" in _command(found)
    assert "--seeds" not in _command(found)


def test_senders_on_a_kernel_in_virtual_time_stand_beside_simulated_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))
    kernels = [put(manifest()).manifest.key, put(manifest("6.12.117")).manifest.key]
    told: list[str] = []
    tries: dict[tuple[str, str], int] = {}

    def guest(
        scenario: ac.Scenario,
        *,
        linux: str,
        seed: int | None = None,
        progress: Callable[[float], None],
    ) -> Lived:
        assert seed is None
        assert scenario.flows[0].profile == "linux"
        progress(1.0)
        variant = str(scenario.flows[0].variant)
        tries[linux, variant] = tries.get((linux, variant), 0) + 1
        return Lived(scenario, variant != "newreno")

    monkeypatch.setattr("ackclock.linux.running.run_linux", guest)

    def result() -> SuiteResult:
        return run_suite(
            "quick", ["cubic", "newreno"], cases=["alone"], on="sim,linux,linux:6.12",
            told=told.append, keep=tmp_path / "kept", threads=1,
        )  # fmt: skip

    found = result()
    assert found.variants == tuple(
        f"{sender}{place}"
        for place in ("", ", linux", ", linux:6.12")
        for sender in ("cubic", "newreno")
    )
    assert found.kernel == ", ".join(kernels)
    assert "--on sim,linux,linux:6.12" in _command(found)
    seeds = found.cell("alone", "cubic").case.seeds
    for place in ("linux", "linux:6.12"):
        assert found.cell("alone", f"cubic, {place}").values
        # A guest's run that is no measurement would be the same again.
        refused = found.cell("alone", f"newreno, {place}")
        assert refused.reason == "no measurement in 1 run: the path was late"
    assert [tries[key, "cubic"] for key in kernels] == [seeds, seeds]
    assert [tries[key, "newreno"] for key in kernels] == [1, 1]
    assert told[0] == f"alone: newreno, linux is refused: {refused.reason}"
    # Values are kept for the kernel that left them.
    assert result().digest == found.digest
    assert [tries[key, "cubic"] for key in kernels] == [seeds, seeds]
    put(manifest("7.3.1"))
    assert result().digest != found.digest
    assert tries[manifest("7.3.1").key, "cubic"] == seeds


def test_disciplines_stand_in_the_place_of_senders(tmp_path: Path) -> None:
    done = RUN.invoke(
        app,
        ["suite", "aqm", "codel", '{ kind = "pie", target = "30 ms" }', "--quick",
         "--case", "5.2-aggressive-delay", "--out", str(tmp_path / "out")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "out/suite.json").read_text(encoding="utf-8"))
    means = {cell["variant"]: cell["mean"] for cell in found["cells"]}
    # CoDel aims at 5 ms and PIE here at 30; a CUBIC flow fills the 100 ms of drop-tail.
    assert means["codel"] < 0.01 < means['{ kind = "pie", target = "30 ms" }'] < 0.045
    assert means["droptail"] > 0.06


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("codle", "suite: `codle` is no queue discipline (did you mean `codel`?)"),
        ("cubic", "suite: `cubic` is no queue discipline"),
        ("{ kind = ", "is no table of TOML"),
        ('{ kind = "codel", goal = "5 ms" }', "`codel` has no key `goal`"),
        ('{ kind = "codel", target = "5 apples" }', "no case takes"),
    ],
)
def test_a_discipline_that_is_none_is_refused(name: str, said: str) -> None:
    with pytest.raises(ac.BadInput) as caught:
        run_suite("aqm", [name], quick=True, cases=["5.2-aggressive-delay"])
    assert said in str(caught.value)


def test_finished_runs_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_suite("quick", ["cubic"], cases=["alone"], seeds=2, keep=tmp_path)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 2
    # One more run: the two that are kept are not among those that the core is given.
    asked: list[int] = []
    real = ac.simulate_many

    def counted(many: Sequence[ac.Scenario], *, threads: int | None = None) -> ac.Run:
        asked.append(len(many))
        return real(many, threads=threads)

    monkeypatch.setattr("ackclock.runs.api.simulate_many", counted)
    second = run_suite("quick", ["cubic"], cases=["alone"], seeds=3, keep=tmp_path)
    assert asked == [1]
    assert "--seeds 3" in _command(second)
    values = second.cell("alone", "cubic").values
    assert values[:2] == first.cell("alone", "cubic").values
    # A torn file is none.
    kept[0].write_text("4.", encoding="utf-8")
    kept[1].write_text("", encoding="utf-8")
    third = run_suite("quick", ["cubic"], cases=["alone"], seeds=3, keep=tmp_path)
    assert third.cell("alone", "cubic").values[2] == values[2]


def test_a_value_is_kept_for_the_sources_that_made_it(tmp_path: Path) -> None:
    made = case()
    scenario = made.build("newreno", 1)
    Kept(tmp_path, "a").put(made, Place.of("sim"), scenario, 0.5)
    assert Kept(tmp_path, "a").get(made, Place.of("sim"), scenario) == 0.5
    assert Kept(tmp_path, "b").get(made, Place.of("sim"), scenario) is None


def test_cases_that_look_at_variables_are_not_live() -> None:
    told: list[str] = []
    found = run_suite(
        "bbr-draft", ["bbr"], cases=["07-startup"], on=["live"], quick=True, told=told.append
    )
    assert told[0] == "07-startup: live senders are refused: they publish no variables"
    assert found.cell("07-startup", "bbr, live").verdict == "refused"


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(ac.BadInput, match="suite: on: `lives` is no substrate"):
        run_suite("quick", ["cubic"], on=["lives"])


def test_a_live_baseline_is_live() -> None:
    made = case(limit=Limit(high=1.1, of="base"))
    found = {"mine, live": [2.1, 2.1], "base": [1.0, 1.0], "base, live": [2.0, 2.0]}
    # 1.1 times 2.0 is 2.2, and of the simulated one 1.1.
    assert judged(made, "mine, live", found).verdict == "pass"
    assert judged(made, "mine, live", found).rule == "≤ 2.20 by seed"
    # Without it there is nothing to be held against.
    del found["base, live"]
    alone = judged(made, "mine, live", found)
    assert alone.verdict == "no limit: reported"
    assert alone.reason == "its limit is relative to base, live, which was refused"


def test_parts_that_nobody_asked_for_are_told() -> None:
    # The baseline newreno recovers without SACK under the profile rfc; cubic has RACK.
    told = run_suite("rfc9743", ["cubic"], cases=["5.1.1-collapse"], quick=True).notes
    assert any("differ in more than their laws" in note and "newreno" in note for note in told)
