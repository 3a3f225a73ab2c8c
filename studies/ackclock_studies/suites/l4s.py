"""The suite ``l4s``: RFC 9331's requirements of a sender, each a case with its limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ackclock as ac
from ackclock.scenario.queues import AnyQueue
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock.suites.framework.paths import PACKET_BYTES, Member, Way

RATE_BPS = 40e6
RTT_S = 0.02
STEP_S = 0.001
"""The delay above which Linux's ``dualpi2`` marks every L4S packet."""
SENDER = "flow"
OTHER = "other"

Measure = Callable[[Outcome], float]


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    seeds, long_s = (2, 30.0) if quick else (5, 80.0)

    def case(
        key: str,
        title: str,
        section: str,
        metric: str,
        measure: Measure,
        limit: Limit,
        way: Way,
        *others: tuple[str | None, float],
        rtt_s: float = RTT_S,
    ) -> Case:
        def build(variant: str, seed: int) -> ac.Scenario:
            members = [Member(variant, SENDER, rtt_s)]
            members += [
                Member(law or variant, f"{OTHER}{number}", other_rtt_s)
                for number, (law, other_rtt_s) in enumerate(others)
            ]
            return way.with_(members, seed)

        return Case(
            key=key,
            title=title,
            source=f"RFC 9331 {section}",
            kind="rule" if key == "ect1" else "ours",
            metric=metric,
            build=build,
            measure=measure,
            limit=limit,
            seeds=seeds,
        )

    def way(title: str, rate_bps: float = RATE_BPS, queue: AnyQueue | None = None) -> Way:
        return Way(title, rate_bps, RTT_S, long_s, queue=queue or ac.DualPi2())

    frame_s = 8 * PACKET_BYTES / RATE_BPS
    return [
        case(
            "ect1", "every packet of its data asks as L4S", "4.1",
            "the share of the link's packets that the L4S queue sent",
            lambda out: float(out.link["l4s_delivered_packets"]) / out.link["delivered_packets"],
            Limit(low=0.999), way("alone at a dual queue"),
        ),
        case(
            "delay", "beside CUBIC its queue is as short as the step", "5.2",
            "the 99th percentile of the L4S queueing delay, in s",
            lambda out: float(out.link["l4s_queue_delay_p99_s"] or 0.0),
            Limit(high=STEP_S + frame_s), way("beside CUBIC at a dual queue"), ("cubic", RTT_S),
        ),
        case(
            "beside-cubic", "at a dual queue it shares with CUBIC", "4.3",
            "its goodput over CUBIC's", _over_other,
            Limit(low=0.5, high=2.0), way("beside CUBIC at a dual queue"), ("cubic", RTT_S),
        ),
        case(
            "loss", "it reacts to losses as Reno does", "4.3",
            "its goodput over NewReno's", _over_other,
            Limit(low=0.5, high=2.0),
            way("beside NewReno at drop-tail", queue=ac.Queue("67 packet")), ("newreno", RTT_S),
        ),
        case(
            "classic-queue", "it adapts to a queue that marks as RFC 3168 has it", "4.3",
            "its goodput over that of CUBIC with ECN", _over_other,
            Limit(high=4.0),
            Way("beside CUBIC at CoDel with ECN", RATE_BPS, RTT_S, long_s, ecn=True,
                queue=ac.CoDel(ecn=True)), ("cubic", RTT_S),
        ),
        case(
            "rtt-independence", "its rate hardly depends on the round trip", "4.3",
            "its goodput at 5 ms over that of its like at 25 ms", _over_other,
            Limit(low=0.5, high=2.0), way("5 ms beside 25 ms"), (None, 0.025), rtt_s=0.005,
        ),
        case(
            "small-windows", "it stays responsive below two segments a round trip", "4.3",
            "the mean L4S queueing delay of ten flows at 4 Mbit/s and 5 ms, in s",
            lambda out: float(out.link["l4s_queue_delay_mean_s"] or 0.0),
            Limit(high=0.015), way("ten at 4 Mbit/s", 4e6),
            *[(None, 0.005)] * 9, rtt_s=0.005,
        ),
        case(
            "reordering", "it takes no packet that is late by less than a quarter round for lost",
            "4.3", "the share of segments that were sent again",
            lambda out: out.flows[SENDER]["segments_retransmitted"]
            / max(1, out.flows[SENDER]["segments_sent"]),
            Limit(high=0.001),
            Way("one per cent late by 4 ms", RATE_BPS, RTT_S, long_s, queue=ac.DualPi2(),
                reorder=ac.Reorder(share=0.01, delay="4 ms")),
        ),
        case(
            "marks-a-round", "marks a round trip do not fall as the rate grows", "4.3",
            "marks in a round trip of 25 ms at 100 Mbit/s", _marks_a_round,
            Limit(low=0.5, high=8.0),
            Way("alone at 100 Mbit/s", 100e6, 0.025, long_s, queue=ac.DualPi2()), rtt_s=0.025,
        ),
    ]  # fmt: skip


def _over_other(outcome: Outcome) -> float:
    return outcome.goodput(SENDER) / outcome.goodput(f"{OTHER}0")


def _marks_a_round(outcome: Outcome) -> float:
    marked = float(outcome.link["l4s_marked_packets"])
    return marked * 0.025 / float(outcome.link["duration_s"])


SUITE = Suite(
    key="l4s",
    title="L4S: the requirements of a sender",
    source="RFC 9331 sections 4 and 5; limits where it has none are ours",
    cases=cases,
)
