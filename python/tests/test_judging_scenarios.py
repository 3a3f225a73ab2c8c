"""Random scenarios beside a kernel in virtual time, and how one that differs is shrunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.linux import calling, kept
from ackclock.live import judging_scenarios
from live_support import KERNEL, in_guest
from support import Answer
from test_linux import manifest


def test_scenarios_are_those_of_their_seed_and_within_their_bounds() -> None:
    drawn = [judging_scenarios.draw(7, number) for number in range(1, 101)]
    assert drawn == [judging_scenarios.draw(7, number) for number in range(1, 101)]
    assert drawn[0]["topology"] != judging_scenarios.draw(8, 1)["topology"]
    for table in drawn:
        ac.Scenario.from_dict(table)
        assert 3 <= int(table["duration"].removesuffix(" s")) <= 10
        assert 1 <= float(table["topology"]["rate"].removesuffix(" Mbit/s")) <= 20
        assert 1 <= len(table["flow"]) <= 2


LARGE: dict[str, Any] = {
    "duration": "9 s",
    "seed": 3,
    "topology": {
        "kind": "path",
        "rate": "13.7 Mbit/s",
        "rtt": "77 ms",
        "queue": {"kind": "codel"},
        "loss": {"every": 500},
    },
    "flow": [
        {"name": "f0", "variant": "cubic", "profile": "linux", "app": {"kind": "bulk"}},
        {
            "name": "f1",
            "variant": "bbr1",
            "profile": "linux",
            "tcp": {"ecn": "on"},
            "start": {"uniform": ["0 s", "2 s"]},
        },
    ],
}


def _planted(table: dict[str, Any]) -> str:
    """Return that a scenario differs if BBR has losses on a path of 77 ms for 3 s."""
    path = table["topology"]
    has = "loss" in path and path["rtt"] == "77 ms"
    laws = [flow["variant"] for flow in table["flow"]]
    lasts = int(table["duration"].removesuffix(" s"))
    return f"{len(laws)} flows" if has and "bbr1" in laws and lasts >= 3 else ""


LEAST: dict[str, Any] = {
    "duration": "3 s",
    "seed": 3,
    "topology": {
        "kind": "path",
        "rate": "10 Mbit/s",
        "rtt": "77 ms",
        "loss": {"every": 500},
    },
    "flow": [{"name": "f1", "variant": "bbr1", "profile": "linux"}],
}


def test_a_scenario_is_shrunk_to_what_a_difference_needs() -> None:
    before = repr(LARGE)
    assert judging_scenarios.shrink(LARGE, "2 flows", _planted) == (LEAST, "1 flows")
    assert repr(LARGE) == before


@dataclass
class _Compared:
    scenario: ac.Scenario

    def agreement(self) -> dict[str, str]:
        told = self.scenario.to_dict()["flow"]
        if any(flow["variant"] == "scalable" for flow in told):
            lead = f"simulation and kernel agree in 1 of {2 * len(told)}; "
            return {"x": f"{lead}f0: goodput differs, 2.000 and 1.000 Mbit/s"}
        return {"x": "simulation and kernel agree: goodput within 3 %"}


def test_what_differs_is_a_file_that_names_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kept.Kept(tmp_path, manifest())

    def compare(scenario: ac.Scenario, **_: object) -> _Compared:
        return _Compared(scenario)

    def kernel_of(_: str | None) -> kept.Kept:
        return kernel

    monkeypatch.setattr(calling, "kernel_of", kernel_of)
    monkeypatch.setattr(judging_scenarios, "compare", compare)
    found = ac.judge_scenarios(40, out=tmp_path / "out")
    drawn = [judging_scenarios.draw(1, number) for number in range(1, 41)]
    meant = [n for n, table in enumerate(drawn, 1)
             if any(flow["variant"] == "scalable" for flow in table["flow"])]  # fmt: skip
    assert meant
    assert [row.number for row in found.differences] == meant
    for row in found.differences:
        path = {"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms"}
        assert (row.scenario["topology"], row.scenario["duration"]) == (path, "1 s")
        assert [flow["variant"] for flow in row.scenario["flow"]] == ["scalable"]
        assert row.file is not None
        text = Path(row.file).read_text(encoding="utf-8")
        assert text.startswith(
            "# Simulation and Linux 7.2.13, hz 250, in virtual time (seccomp) differ.\n"
            f"# Kernel: {kernel.manifest.key}. "
        )
        assert "# f0: goodput differs, 2.000 and 1.000 Mbit/s\n" in text
        assert len(ac.Scenario.from_file(row.file).flows) == 1


def test_scenarios_need_a_kernel_in_virtual_time(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("judge", "--scenarios", "3")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "--scenarios: they run in virtual time, expected `--on linux`, not `live`" in answer.err
    with pytest.raises(BadInput, match="scenarios: `0` is too small, expected at least 1"):
        ac.judge_scenarios(0)


@pytest.mark.slow
@in_guest
def test_two_calls_have_the_same_outcome() -> None:
    one, other = (ac.judge_scenarios(3, seed=1, linux=KERNEL) for _ in range(2))
    assert one == other
    assert (one.scenarios, one.refused, one.kernel) == (3, 0, KERNEL)
