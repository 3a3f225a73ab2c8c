"""The base classes of scenarios: tables of a file as values, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

import ackclock as ac
from ackclock.scenario.distributions import read_draw
from ackclock.scenario.traffic import read_variant

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("value", "table"),
    [
        (ac.Uniform("0 s", "1 s"), {"uniform": ["0 s", "1 s"]}),
        (ac.Exponential(3.0), {"exponential": 3.0}),
        (ac.Pareto(1.2, "2 kB"), {"pareto": {"shape": 1.2, "scale": "2 kB"}}),
        (ac.Weibull(0.5, "1 s"), {"weibull": {"shape": 0.5, "scale": "1 s"}}),
        (ac.Lognormal("1 kB", 2.0), {"lognormal": {"median": "1 kB", "sigma": 2.0}}),
        (ac.Values(["1 B", "2 B"]), {"values": ["1 B", "2 B"]}),
        (
            ac.Quantiles([(0.0, "1 B"), (1.0, "2 B")]),
            {"quantiles": [{"p": 0.0, "value": "1 B"}, {"p": 1.0, "value": "2 B"}]},
        ),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_a_distribution_has_one_key_in_a_file(value: object, table: dict[str, object]) -> None:
    assert value.to_dict() == table  # type: ignore[attr-defined]
    assert read_draw(table) == value


def test_sequences_are_frozen_and_pairs_are_tables() -> None:
    rates = ac.Rates([["0 s", "1 Mbit/s"], ["1 s", "0 bit/s"]])  # type: ignore[list-item]
    assert rates.series == (("0 s", "1 Mbit/s"), ("1 s", "0 bit/s"))
    steps = [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "0 bit/s"}]
    assert rates.to_dict() == {"kind": "rates", "series": steps}
    assert ac.Rates.from_table(rates.to_dict()) == rates
    assert hash(rates) == hash(ac.Rates(rates.series))


def test_keys_that_are_words_of_python_have_other_names() -> None:
    link = ac.GraphLink("a", from_node="x", to_node="y", rate="1 Mbit/s", delay="1 ms")
    assert link.to_dict()["from"] == "x"
    assert ac.GraphLink.from_table(link.to_dict()) == link
    assert ac.Idle("1 s", "2 s").to_dict() == {"at": "1 s", "for": "2 s"}


def test_a_choice_of_variants_is_a_name_a_mix_or_a_rule() -> None:
    assert read_variant("cubic") == "cubic"
    mix = [{"variant": "cubic", "weight": 1.0}, {"variant": "reno", "weight": 2.0}]
    assert read_variant(mix) == (ac.Share("cubic", 1.0), ac.Share("reno", 2.0))
    rule = {"calm": "cubic", "congested": "reno", "threshold": 0.1}
    assert read_variant(rule) == ac.Feedback("cubic", "reno", 0.1)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.name)
def test_an_example_is_the_same_after_a_round_trip(path: Path) -> None:
    scenario = ac.Scenario.from_file(path)
    assert ac.Scenario.from_dict(scenario.to_dict()) == scenario.check()
    assert scenario.check().check() == scenario.check()
