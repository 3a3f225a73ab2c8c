"""One scenario on theory, the simulator and the kernel: one word, the same tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.places import Place
from ackclock.runs.comparison import Column
from support import ROOT, Answer

EXAMPLES = ROOT / "examples"


@pytest.fixture
def lossy() -> dict[str, Any]:
    """One loss in 1,000 segments, 100 ms there and back, and no limit but that."""
    return {
        "duration": "120 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {
                "rate": "100 Mbit/s",
                "delay": "48 ms",
                "loss": {"every": 1000, "first": 100},
                "reverse": {"loss": 0.0},
            },
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "a", "variant": "newreno+sack", "tcp": {"delayed_ack": "off"}}],
    }


def test_a_run_on_each_substrate_has_the_same_tables(lossy: dict[str, Any]) -> None:
    scenario = ac.Scenario.from_dict(lossy)
    said, run = ac.run(scenario, on="theory"), ac.run(scenario, on="sim", seed=3)
    assert run.flows.equals(ac.simulate(scenario, seed=3).flows)
    assert said.flows.column_names == run.flows.column_names
    for name, table in said.to_polars().items():
        assert table.columns == run.to_polars()[name].columns, name
    assert said.theory is not None
    assert said.theory["valid"]
    # RFC 3649: 1.2 / sqrt(10^-3) = 37.9 segments; the study has Reno 2.4 % below at this rate.
    (told,) = said.theory["flows"]
    assert told["cwnd_mean_segments"] == pytest.approx(37.947, abs=1e-3)
    ratio = run.rows("flows")[0]["goodput_bps"] / said.rows("flows")[0]["goodput_bps"]
    assert ratio == pytest.approx(0.976, abs=0.03)
    assert run.theory is None
    assert said.live is None


def test_theory_leaves_by_every_door_alike(
    lossy: dict[str, Any], tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(lossy), encoding="utf-8")
    said = ac.run(file, on="theory")
    printed = ackclock("run", file, "--on", "theory", "--json", "--out", tmp_path / "out")
    answer = json.loads(printed.out)
    (row,) = said.rows("flows")
    assert answer["theory"] == said.theory
    assert answer["flows"][0]["goodput_bps"] == row["goodput_bps"]
    stored = pl.read_parquet(tmp_path / "out" / "flows.parquet")
    assert stored.equals(pl.DataFrame(said.flows))
    assert json.loads((tmp_path / "out" / "theory.json").read_text()) == said.theory
    shown = ackclock("run", file, "--on", "theory")
    assert "reno response function" in shown.out
    # A simulation in the same folder takes its place.
    assert ackclock("run", file, "--out", tmp_path / "out").code == 0
    assert not (tmp_path / "out" / "theory.json").exists()


def test_what_a_substrate_does_not_have_is_refused(
    lossy: dict[str, Any], tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(lossy), encoding="utf-8")
    with pytest.raises(ac.BadInput, match=r"^on: `sin` is no substrate .did you mean `sim`"):
        ac.run(file, on="sin")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ac.BadInput, match=r'^run: on="sim" has no option `ports`$'):
        ac.run(file, ports="tun")
    with pytest.raises(ac.BadInput, match=r'^run: on="theory" has no option `pcap`$'):
        ac.run(file, on="theory", pcap="x")
    for option in (("--seed", "2"), ("--pcap", str(tmp_path / "p"))):
        answer = ackclock("run", file, "--on", "theory", *option)
        assert (answer.code, answer.err.split(":")[1].strip()) == (2, option[0])
    lossy["flow"][0]["variant"] = "bbr"
    file.write_text(json.dumps(lossy), encoding="utf-8")
    answer = ackclock("run", file, "--on", "theory")
    assert answer.code == 2
    assert "no closed form has `bbr`" in answer.err


def test_flows_together_have_a_sum_and_a_fairness() -> None:
    path = ac.dumbbell(bottleneck=ac.Link("10 Mbit/s", "5 ms"), access=ac.Link("1 Gbit/s", "1 ms"))
    flows = [
        ac.Flow("cubic", name=name, app=ac.Cbr(f"{rate} Mbit/s", message="1000 B"))
        for name, rate in (("a", 3), ("b", 1))
    ]
    found = ac.compare(ac.Scenario(path, flows, duration="20 s"), on=["sim"], repeat=1)
    rows = {row["metric"]: row["sim"].mean for row in found.rows() if row["flow"] == "all flows"}
    # 3 and 1 Mbit/s: (3 + 1)² / (2 (3² + 1²)) = 0.8.
    assert rows == {
        "goodput_bps": pytest.approx(4e6, rel=0.01),
        "fairness": pytest.approx(0.8, rel=0.005),
    }


def test_videos_are_compared() -> None:
    found = ac.compare(EXAMPLES / "video_4g.toml", variants=["cubic", "bbr1"], repeat=1)
    rows = {row["metric"]: row["cubic"].mean for row in found.rows() if row["flow"] == "video"}
    (video,) = ac.simulate(EXAMPLES / "video_4g.toml").rows("videos")
    for column in ("startup_s", "underflows", "stall_s", "mean_rate_bps"):
        assert rows[column] == video[column]
    assert rows["stall_s"] > 1.0


def compared(sim: dict[str, Any], live: dict[str, Any], sims: int, lives: int) -> ac.Comparison:
    """Return a comparison whose live runs are simulations, too, with seeds of their own."""
    first, second = ac.Scenario.from_dict(sim), ac.Scenario.from_dict(live)
    found = ac.compare(first, on=["sim"], repeat=sims)
    other = ac.compare(second, on=["sim"], repeat=lives)
    columns = {title: Column(Place.of(title)) for title in ("sim", "live")}
    return replace(found, columns=columns, runs={**found.runs, "live": other.runs["sim"]})


#: Two flows of Reno, the second from a random moment on.
DRAWN: dict[str, Any] = {
    "duration": "20 s",
    "topology": {"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms", "buffer": "1 BDP"},
    "flow": [
        {"name": "a", "variant": "newreno+modern"},
        {"name": "b", "variant": "newreno+modern", "start": {"uniform": ["0 s", "0.2 s"]}},
    ],
}


def test_simulation_and_kernel_agree_only_if_their_intervals_say_so() -> None:
    alone = {**DRAWN, "flow": DRAWN["flow"][1:]}
    # One flow that fills the link has the same goodput whenever it begins.
    found = compared(alone, {**alone, "seed": 9}, 3, 3)
    assert found.agreement() == {
        "": (
            "simulation and kernel agree: goodput within 3 %, segments sent again within 25 % or 20"
        )
    }
    # A path of half the rate has half the goodput.
    half = {**alone, "topology": {**DRAWN["topology"], "rate": "5 Mbit/s"}}
    assert "b: goodput differs, " in compared(alone, half, 3, 3).agreement()[""]
    # Two flows share as chance has it: 3 % are not to be told from three runs, nor from one.
    two = compared(DRAWN, {**DRAWN, "seed": 9}, 3, 3).agreement()[""]
    assert "a: goodput cannot be told from 3 runs, " in two
    one = compared(DRAWN, DRAWN, 1, 1).agreement()[""]
    assert one.startswith(
        "simulation and kernel agree in 0 of 4; a: goodput cannot be told from one"
    )


def test_one_draw_of_several_flows_is_said_to_be_one() -> None:
    still = {**DRAWN, "flow": [{**flow, "start": "0 s"} for flow in DRAWN["flow"]]}
    (note,) = ac.compare(ac.Scenario.from_dict(still), on=["sim"], repeat=3).notes
    assert "Of several flows it is one draw of many" in note


def test_transfers_of_an_application_are_compared() -> None:
    app = {"kind": "cbr", "rate": "512 kbit/s", "message": "1460 B"}
    flow = {"name": "a", "variant": "cubic", "app": app}
    run = ac.simulate(ac.Scenario.from_dict({**DRAWN, "flow": [flow]}))
    (told,) = run.summary()["transfers"]
    found = ac.compare(ac.Scenario.from_dict({**DRAWN, "flow": [flow]}), on=["sim"], repeat=1)
    rows = {row["metric"]: row["sim"].mean for row in found.rows() if row["flow"] == "a"}
    assert (rows["transfers"], rows["time_p95_s"]) == (told["completed"], told["time_p95_s"])


def test_senders_are_compared_like_substrates(
    lossy: dict[str, Any], tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    scenario = ac.Scenario.from_dict(lossy)
    found = ac.compare(scenario, variants=["newreno+sack", "cubic"], repeat=2)
    assert list(found.columns) == ["newreno+sack", "cubic"]
    assert found.as_json()["columns"]["cubic"] == {"on": "sim", "variant": "cubic"}
    goodput = next(row for row in found.rows() if row["metric"] == "goodput_bps")
    alone = ac.run(scenario).rows("flows")[0]["goodput_bps"]
    assert goodput["newreno+sack"].mean == pytest.approx(alone)
    # Losses come at regular intervals, so that the second seed would give the same run.
    assert goodput["cubic"].runs == 1
    assert found.notes[-1] == (
        "newreno+sack, cubic: no random number was drawn, so that one run stands for all and there "
        "is no interval"
    )
    file = tmp_path / "s.json"
    file.write_text(json.dumps(lossy), encoding="utf-8")
    answer = ackclock(
        *("compare", file, "--on", "sim,theory", "--variants", "newreno+sack,cubic"),
        *("--repeat", "1", "--json", "--out", tmp_path / "out"),
    )
    told = json.loads(answer.out)
    assert list(told["columns"]) == [
        *("newreno+sack theory", "newreno+sack sim", "cubic theory", "cubic sim"),
    ]
    assert len(told["theory"]) == 2
    assert told["runs"] == dict.fromkeys(told["columns"], 1)
    assert (tmp_path / "out" / "compare.svg").read_text(encoding="utf-8").startswith("<svg")


def test_columns_that_cannot_be_are_refused(lossy: dict[str, Any]) -> None:
    scenario = ac.Scenario.from_dict(lossy)
    for options, expected in (
        ({"on": ["sim", "sim"]}, "compare: on: `sim` stands twice; leave one out"),
        ({"on": []}, "compare: on: expected at least one substrate"),
        ({"variants": "cubic"}, "compare: variants: expected a list such as"),
        ({"variants": ["cubic", "cubicc"]}, "compare: variants: unknown part `cubicc`"),
        ({"on": ["theory"], "variants": ["bbr"]}, "compare: variants: no closed form has `bbr`"),
    ):
        with pytest.raises(ac.BadInput) as refused:
            ac.compare(scenario, **options)  # pyright: ignore[reportArgumentType]
        assert str(refused.value).startswith(expected)
