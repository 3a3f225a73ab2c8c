"""Every sender beside every other, and the metrics of flows that share a link."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ackclock as ac
from ackclock.cli.app import app

RUN = CliRunner()


def test_jain_by_hand() -> None:
    # (1 + 2 + 3)²/(3 · 14) = 36/42.
    assert ac.metrics.jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert ac.metrics.jain([5, 5]) == 1
    assert ac.metrics.jain([4, 0, 0, 0]) == 0.25
    assert math.isnan(ac.metrics.jain([0, 0]))


def test_harm_by_hand() -> None:
    # Goodput falls from 8 to 2: (8 − 2)/8. Delay grows from 10 to 40: (40 − 10)/40.
    assert ac.metrics.harm(8, 2) == 0.75
    assert ac.metrics.harm(10, 40, more_is_better=False) == 0.75
    assert ac.metrics.harm(8, 9) == -0.125
    assert math.isnan(ac.metrics.harm(0, 1))


def test_oscillation_by_hand() -> None:
    # Mean 4, squares of the differences 4 + 0 + 4 over 2: a deviation of 2.
    assert ac.metrics.oscillation([2, 4, 6]) == 0.5
    assert math.isnan(ac.metrics.oscillation([1]))


def test_convergence_by_hand() -> None:
    times = [0, 1, 2, 3, 4, 5]
    first = [10, 9, 5.2, 8, 5.4, 5]
    second = [0, 1, 4.8, 2, 4.6, 5]
    # |5.2 − 4.8| is 0.4 of 10, within a tenth; it stays from 4 s on.
    assert ac.metrics.convergence_s(times, first, second) == 2
    assert ac.metrics.convergence_s(times, first, second, stays=2) == 4
    assert ac.metrics.convergence_s(times, first, second, since_s=3) == 1
    assert ac.metrics.convergence_s(times, first, second, stays=3) is None
    assert ac.metrics.throughput_ratio(1, 3) == pytest.approx(1 / 3)


FAST = {"rate": "5 Mbit/s", "rtt": "20 ms", "duration": "8 s", "repeat": 2}


def test_shares_of_a_pair_add_up() -> None:
    found = ac.pairwise(
        ["newreno", "cubic", "vegas"], rate="5 Mbit/s", rtt="20 ms", duration="60 s", repeat=3
    )
    assert list(found.pairs) == [
        (one, other)
        for one, other in (
            ("newreno", "newreno"), ("newreno", "cubic"), ("cubic", "newreno"),
            ("newreno", "vegas"), ("vegas", "newreno"), ("cubic", "cubic"), ("cubic", "vegas"),
            ("vegas", "cubic"), ("vegas", "vegas"),
        )
    ]  # fmt: skip
    for one, other in (("newreno", "cubic"), ("cubic", "vegas")):
        shares = [found.pairs[a, b]["share"].mean for a, b in ((one, other), (other, one))]
        assert sum(shares) == pytest.approx(1)
    # Vegas yields to a law that fills the queue (Mo et al. 1999).
    assert found.pairs["vegas", "cubic"]["share"].mean < 0.4
    assert found.pairs["vegas", "cubic"]["harm"].mean > 0.6
    assert found.matrix("share")[2][1] == found.pairs["vegas", "cubic"]["share"].mean


def test_a_pair_is_the_simulation_of_its_scenario() -> None:
    found = ac.pairwise(["newreno", "cubic"], **FAST)  # type: ignore[arg-type]
    made = [
        dataclasses.replace(
            found.scenario,
            seed=found.scenario.seed + n,
            flows=[
                dataclasses.replace(flow, variant=variant)
                for flow, variant in zip(found.scenario.flows, ("newreno", "cubic"), strict=True)
            ],
        )
        for n in range(2)
    ]
    run = ac.simulate_many(made)
    rates = [row["goodput_bps"] for row in run.rows("flows") if row["measure"] == "pairwise"]
    first = [rates[0] / (rates[0] + rates[1]), rates[2] / (rates[2] + rates[3])]
    assert found.pairs["newreno", "cubic"]["share"].mean == pytest.approx(sum(first) / 2)


def test_the_same_numbers_whichever_way_they_leave(tmp_path: Path) -> None:
    words = ["pairwise", "newreno", "cubic", "--rate", "5 Mbit/s", "--rtt", "20 ms", "--duration",
             "8 s", "--repeat", "2"]  # fmt: skip
    printed = RUN.invoke(app, [*words, "--json"])
    assert printed.exit_code == 0
    RUN.invoke(app, [*words, "--out", str(tmp_path / "pairs")])
    written = json.loads((tmp_path / "pairs/pairwise.json").read_text(encoding="utf-8"))
    python = ac.pairwise(["newreno", "cubic"], **FAST).as_json()  # type: ignore[arg-type]
    assert json.loads(printed.stdout) == written == json.loads(json.dumps(python))
    assert "<svg" in (tmp_path / "pairs/pairwise.svg").read_text(encoding="utf-8")


def test_a_scenario_of_two_flows(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    flow = '[[flow]]\nname = "{}"\nvariant = "reno"\n'
    text = (
        'duration = "8 s"\n[topology]\nkind = "path"\nrate = "5 Mbit/s"\nrtt = "20 ms"\n'
        + flow.format("a")
        + flow.format("b")
    )
    file.write_text(text, encoding="utf-8")
    found = ac.pairwise(["newreno", "cubic"], file, repeat=1)
    assert found.pairs["newreno", "cubic"]["share"].ci is None
    file.write_text(text + flow.format("c"), encoding="utf-8")
    with pytest.raises(ac.BadInput, match="flow: found 3, expected two flows"):
        ac.pairwise(["newreno", "cubic"], file)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cubic"], "found 1, expected at least 2"),
        (["cubic", "cubic"], "`cubic` stands twice"),
        (["cubic", "cubicc"], "did you mean `cubic`?"),
        (["cubic", "reno", "--metric", "fairness"], "--metric: `fairness` is none"),
        (["cubic", "reno", "--rate", "5"], "rate"),
        (["cubic", "reno", "--buffer", "2 BPD"], "2 BPD"),
        (
            ["cubic", "reno", "--scenario", "two.toml", "--rate", "50 Mbit/s", "--duration", "9 s"],
            "--rate, --duration: not beside --scenario",
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(words: list[str], message: str) -> None:
    done = RUN.invoke(app, ["pairwise", *words])
    said = str(done.exception) if isinstance(done.exception, ac.BadInput) else done.output
    assert done.exit_code != 0
    assert message in said


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["cubic", "reno", "--rate", "0 Mbit/s"], "pairwise: topology.rate: "),
        (["cubic", "reno", "cubicc"], "pairwise: unknown part `cubicc` in `cubicc`"),
    ],
)
def test_a_fault_is_told_by_its_own_key(words: list[str], begins: str) -> None:
    done = RUN.invoke(app, ["pairwise", *words])
    assert str(done.exception).startswith(begins)
    assert "repeat" not in str(done.exception)


def test_a_pair_that_sends_nothing_has_no_delay() -> None:
    words = ["pairwise", "cubic", "newreno", "--repeat", "1", "--duration", "10ms"]
    done = RUN.invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["pairs"][0]["queue_delay_mean_s"]["mean"] is None
    for metric in ("share", "harm", "queue_delay_mean_s"):
        shown = RUN.invoke(app, [*words, "--metric", metric])
        assert shown.exit_code == 0
        assert "nan" not in shown.output
        assert "–" in shown.output


def test_a_notebook_shows_the_shares() -> None:
    found = ac.pairwise(["newreno", "cubic"], **FAST)  # type: ignore[arg-type]
    shown = found._repr_html_()
    assert "beside" in shown or "<svg" in shown
    assert repr(found) == "Pairwise(newreno, cubic; 2 runs of each pair)"
    with pytest.raises(ac.BadInput, match="is no metric"):
        found.matrix("speed")
