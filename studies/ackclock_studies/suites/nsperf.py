"""The suite ``nsperf``: the tests that google/bbr has for its senders."""

from __future__ import annotations

from collections.abc import Sequence

import ackclock as ac
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock.suites.framework.paths import Member, Way

SOURCE = "google/bbr, gtests/net/tcp/bbr/nsperf"
COEXIST_BDP = (0.1, 1, 2, 4, 8, 16)
LOSSES_PERCENT = (1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.2, 0.5, 1, 2, 3, 10, 15, 20)
SHALLOW_FLOWS = (1, 10, 30)
BLOAT_BDP = (1, 10, 50, 100)
ECN_FLOWS = (1, 4, 10, 40, 100)
MARKED_ABOVE = "242 us"


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    return [
        *(_coexist(buffer, quick) for buffer in ((1, 4) if quick else COEXIST_BDP)),
        *(_random_loss(loss, quick) for loss in ((0.01, 1) if quick else LOSSES_PERCENT)),
        *(_shallow(flows, quick) for flows in ((1,) if quick else SHALLOW_FLOWS)),
        *(_ecn_bulk(flows, quick) for flows in ((4,) if quick else ECN_FLOWS)),
        *(_bufferbloat(buffer, quick) for buffer in ((10,) if quick else BLOAT_BDP)),
    ]


def _coexist(buffer: float, quick: bool) -> Case:
    way = Way(f"coexist, {buffer:g} BDP", 50e6, 0.03, 40.0 if quick else 180.0, buffer_bdp=buffer,
              warm_up_s=2.0)  # fmt: skip

    def build(variant: str, seed: int) -> ac.Scenario:
        members = [Member("cubic", "cubic", 0.03), Member(variant, "newcomer", 0.03, 2.0)]
        return way.with_(members, seed)

    return Case(
        key=f"coexist-{buffer:g}bdp",
        title=f"50 Mbit/s, 30 ms, beside CUBIC, which begins 2 s before; {buffer:g} BDP",
        source=f"{SOURCE}: coexist",
        kind="ours",
        metric="its rate over an even share",
        build=build,
        measure=lambda outcome: 2 * outcome.goodput("newcomer") / (sum(outcome.goodputs()) or 1),
        limit=Limit(low=0.5, high=2.0) if buffer >= 1 else None,
        seeds=2 if quick else 5,
        note="The source publishes curves and no limits.",
    )


def _random_loss(percent: float, quick: bool) -> Case:
    rate = 100e6 if quick else 1e9
    way = Way(f"random loss, {percent:g} %", rate, 0.1, 20.0 if quick else 60.0, loss=percent / 100,
              warm_up_s=0.0)  # fmt: skip
    return Case(
        key=f"random-loss-{percent:g}",
        title=f"{rate / 1e6:g} Mbit/s, 100 ms, 1 BDP; {percent:g} % lost at random",
        source=f"{SOURCE}: random_loss",
        kind="ours",
        metric="goodput",
        unit="Mbit/s",
        factor=1e-6,
        digits=1,
        build=lambda variant, seed: way.with_([Member(variant, "flow", 0.1)], seed),
        measure=lambda outcome: outcome.goodput("flow"),
        seeds=2 if quick else 3,
        note="The source has medians of ten runs, and no limits.",
    )


def _shallow(flows: int, quick: bool) -> Case:
    rate = 100e6 if quick else 1e9
    way = Way(f"shallow buffer, {flows} flows", rate, 0.1, 30.0 if quick else 60.0, buffer_bdp=0.02,
              warm_up_s=0.0)  # fmt: skip

    def build(variant: str, seed: int) -> ac.Scenario:
        member = Member(variant, "flow", 0.1, count=flows, stagger_s=0.139)
        return way.with_([member], seed)

    def resent(outcome: Outcome) -> float:
        sent = sum(row["segments_sent"] for row in outcome.whole.values())
        again = sum(row["segments_retransmitted"] for row in outcome.whole.values())
        return again / sent if sent else 0.0

    return Case(
        key=f"shallow-{flows}",
        title=f"{rate / 1e6:g} Mbit/s, 100 ms, a buffer of 2 ms; {flows} flows, one each 139 ms",
        source=f"{SOURCE}: shallow",
        kind="ours",
        metric="segments sent again",
        unit="%",
        factor=100,
        build=build,
        measure=resent,
        limit=Limit(high=0.02),
        seeds=2 if quick else 3,
        note="60 s in place of 300.",
    )


def _bufferbloat(buffer: float, quick: bool) -> Case:
    way = Way(f"bufferbloat, {buffer:g} BDP", 50e6, 0.03, 40.0 if quick else 120.0,
              buffer_bdp=buffer, warm_up_s=0.0)  # fmt: skip

    def build(variant: str, seed: int) -> ac.Scenario:
        member = Member(variant, "flow", 0.03, count=2, stagger_s=2.0)
        return way.with_([member], seed)

    def over_base(outcome: Outcome) -> float:
        times = [row["srtt_mean_s"] for row in outcome.flows.values()]
        return sum(times) / len(times) / 0.03

    return Case(
        key=f"bufferbloat-{buffer:g}bdp",
        title=f"50 Mbit/s, 30 ms, two flows, a buffer of {buffer:g} BDP",
        source=f"{SOURCE}: bufferbloat",
        kind="ours",
        metric="mean round-trip time over the empty path’s",
        build=build,
        measure=over_base,
        limit=Limit(high=2.0),
        seeds=2 if quick else 3,
        note="The source has medians, and no limits.",
    )


def _ecn_bulk(flows: int, quick: bool) -> Case:
    rtt_s = 0.001
    way = Way(
        f"marks, {flows} flows",
        1e9,
        rtt_s,
        2.0 if quick else 10.0,
        queue=ac.CoDel(limit="1000 packet", target="100 ms", ce_threshold=MARKED_ABOVE),
        warm_up_s=0.0,
        ecn=True,
        jitter_starts_s=0.001,
    )

    def build(variant: str, seed: int) -> ac.Scenario:
        member = Member(variant, "flow", rtt_s, count=flows, stagger_s=0.005)
        return way.with_([member], seed)

    def mean_time(outcome: Outcome) -> float:
        times = [row["srtt_mean_s"] for row in outcome.flows.values()]
        return sum(times) / len(times)

    return Case(
        key=f"ecn-bulk-{flows}",
        title=f"1 Gbit/s, 1 ms, marks above {MARKED_ABOVE}; {flows} flows, one each 5 ms",
        source=f"{SOURCE}: ecn_bulk",
        kind="ours",
        metric="mean round-trip time",
        unit="ms",
        factor=1e3,
        build=build,
        measure=mean_time,
        # The path, and twice the threshold.
        limit=Limit(high=rtt_s + 2 * 242e-6),
        seeds=2 if quick else 5,
        note="The source has medians of ten runs, and no limits; it is meant for senders such as "
        "dctcp.",
    )


SUITE = Suite(
    key="nsperf",
    title="The tests of google/bbr",
    source=SOURCE,
    cases=cases,
)
