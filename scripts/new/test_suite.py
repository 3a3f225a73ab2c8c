"""The suite probe: its cases, and what a sender gets in them."""

from __future__ import annotations

from ackclock.suites.running import run_suite
from ackclock_studies.suites.probe.suite import cases


def test_a_case_is_a_scenario() -> None:
    (case,) = cases(quick=True)
    assert case.build("newreno", 1).to_dict()["flow"]


def test_a_sender_alone_fills_the_link() -> None:
    found = run_suite("probe", ["newreno"], quick=True)
    assert found.cell("alone", "newreno").verdict == "pass"
