"""The suite ``rfc9743``: the checklist of BCP 133 as runs.

RFC 9743 has no number anywhere: limits are ours, and the senders of today stand beside each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import ackclock as ac
from ackclock.scenario.queues import AnyQueue
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock.suites.framework.paths import Member, Way
from ackclock_studies.suites import fairness

RATES_BPS = (1e6, 10e6, 100e6)
RTT_S = 0.05
RATE_BPS = 20e6
QUEUES: dict[str, AnyQueue] = {
    "fq_codel": ac.FqCoDel(),
    "codel": ac.CoDel(),
    "pie": ac.Pie(),
}
_FLOW = "flow"


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases in the order of the document."""
    seeds = 2 if quick else 5
    whole = 30.0 if quick else 120.0
    among = [each for each in fairness.cases(quick) if each.key.startswith(("jain", "rtt"))]
    beside = [each for each in fairness.cases(quick) if each.key.startswith(("beside", "one"))]
    return [
        _collapse(whole, seeds),
        *(_bloat(buffer, whole, seeds) for buffer in ((10,) if quick else (1, 10, 100))),
        *(_drops(flows, buffer, whole, seeds)
          for flows in ((2,) if quick else (1, 2, 8, 32))
          for buffer in ((0.5,) if quick else (0.1, 0.5, 1.5))),
        *among,
        _short(whole, seeds),
        *beside,
        *(_media(buffer_s, whole, seeds) for buffer_s in ((0.3,) if quick else (0.3, 1.0))),
        *(_lossy(loss, whole, seeds) for loss in ((0.001,) if quick else (1e-5, 1e-3, 0.01, 0.03))),
        *(_managed(name, whole, seeds) for name in (("codel",) if quick else QUEUES)),
        _steps(whole, seeds),
        _constrained(whole, seeds),
        *(_far(loss, whole, seeds) for loss in ((0.0,) if quick else (0.0, 0.01))),
        *(_reordered(late, whole, seeds) for late in ((0.005,) if quick else (0.005, 0.02))),
        _transient(seeds),
        _change(seeds),
    ]  # fmt: skip


def _alone(way: Way, variant: str, seed: int, rtt_s: float = RTT_S) -> ac.Scenario:
    return way.with_([Member(variant, _FLOW, rtt_s)], seed)


def _used(outcome: Outcome) -> float:
    return float(outcome.link["utilisation"])


def _waited(outcome: Outcome) -> float:
    return float(outcome.link["queue_delay_p99_s"] or 0.0)


def _dropped(outcome: Outcome) -> float:
    offered = outcome.link["offered_packets"]
    return outcome.link["dropped_packets"] / offered if offered else 0.0


def _collapse(whole: float, seeds: int) -> Case:
    way = Way("congestion collapse", 1e6, 0.1, whole)

    def build(variant: str, seed: int) -> ac.Scenario:
        return way.with_([Member(variant, _FLOW, 0.1, count=100, stagger_s=0.01)], seed)

    def useful(outcome: Outcome) -> float:
        goodput = sum(outcome.goodputs()) / 8
        arrived = outcome.link["offered_bytes"] / outcome.link["duration_s"]
        return goodput / arrived if arrived else 0.0

    return Case(
        key="5.1.1-collapse",
        title="100 flows on 1 Mbit/s and 100 ms",
        source="RFC 9743 §5.1.1",
        kind="ours",
        metric="goodput over what comes to the link",
        digits=3,
        build=build,
        measure=useful,
        limit=Limit(low=0.5),
        seeds=seeds,
    )


def _bloat(buffer: float, whole: float, seeds: int) -> Case:
    way = Way(f"bufferbloat, {buffer:g} BDP", RATE_BPS, RTT_S, whole, buffer_bdp=buffer)
    return Case(
        key=f"5.1.2-bufferbloat-{buffer:g}bdp",
        title=f"one flow, a buffer of {buffer:g} BDP",
        source="RFC 9743 §5.1.2",
        kind="ours",
        metric="99th percentile of the delay in the queue",
        unit="ms",
        factor=1e3,
        digits=1,
        build=partial(_alone, way),
        measure=_waited,
        limit=Limit(high=1.05, of="cubic"),
        seeds=seeds,
        note="No more than CUBIC’s, and a twentieth.",
    )


def _drops(flows: int, buffer: float, whole: float, seeds: int) -> Case:
    way = Way(f"loss, {flows} flows, {buffer:g} BDP", RATE_BPS, RTT_S, whole, buffer_bdp=buffer)

    def build(variant: str, seed: int) -> ac.Scenario:
        return way.with_([Member(variant, f"flow{n}", RTT_S) for n in range(flows)], seed)

    return Case(
        key=f"5.1.3-loss-{flows}-{buffer:g}bdp",
        title=f"{flows} flows, a buffer of {buffer:g} BDP",
        source="RFC 9743 §5.1.3",
        kind="ours",
        metric="packets dropped",
        unit="%",
        factor=100,
        build=build,
        measure=_dropped,
        limit=Limit(high=2.0, of="cubic", at_least=0.02),
        seeds=seeds,
        note="2 %, or twice what CUBIC loses where that is more.",
    )


def _short(whole: float, seeds: int) -> Case:
    # Lognormal with percentiles 5 and 95 of 64 KiB and 2 MiB, as the harness ccafct has.
    size = ac.Lognormal(median="370000 B", sigma=1.0535)
    way = Way(
        "short flows",
        RATE_BPS,
        RTT_S,
        whole,
        traffic=[
            ac.Traffic(
                "web",
                "cubic",
                arrivals=ac.Poisson("1 /s"),
                app=ac.Request(size),
                from_node="right",
                to_node="at the web",
            )
        ],
    )

    def mean_s(outcome: Outcome) -> float:
        times = [
            row["completed_s"] - row["requested_s"]
            for row in outcome.objects
            if row["completed_s"] is not None and row["requested_s"] is not None
        ]
        return sum(times) / len(times) if times else float("nan")

    return Case(
        key="5.1.5-short",
        title="short CUBIC flows of 370 kB in the median, one a second, beside a long flow",
        source="RFC 9743 §5.1.5 and §5.2.3",
        kind="ours",
        metric="mean completion of the short flows",
        unit="s",
        digits=3,
        build=partial(_alone, way),
        measure=mean_s,
        limit=Limit(high=1.1, of="cubic"),
        seeds=seeds,
        note="No more than a tenth longer than beside CUBIC.",
    )


def _lossy(loss: float, whole: float, seeds: int) -> Case:
    way = Way(f"{100 * loss:g} % lost at random", RATE_BPS, RTT_S, whole, loss=loss)
    return Case(
        key=f"6.4-random-loss-{100 * loss:g}",
        title=f"{100 * loss:g} % of the packets lost at random",
        source="RFC 9743 §6.4",
        kind="ours",
        metric="use of the link",
        unit="%",
        factor=100,
        digits=1,
        build=partial(_alone, way),
        measure=_used,
        limit=Limit(low=0.9, of="newreno"),
        seeds=seeds,
        note="At least nine tenths of NewReno’s.",
    )


def _managed(name: str, whole: float, seeds: int) -> Case:
    way = Way(f"behind {name}", RATE_BPS, RTT_S, whole, queue=QUEUES[name])

    def build(variant: str, seed: int) -> ac.Scenario:
        members = [Member(variant, "newcomer", RTT_S), Member("cubic", "legacy", RTT_S)]
        return way.with_(members, seed)

    return Case(
        key=f"7.1-aqm-{name.replace('_', '-')}",
        title=f"beside CUBIC behind {name}",
        source="RFC 9743 §7.1",
        kind="ours",
        metric="its rate over an even share",
        build=build,
        measure=lambda outcome: 2 * outcome.goodput("newcomer") / (sum(outcome.goodputs()) or 1),
        limit=Limit(low=0.5, high=1.5),
        seeds=seeds,
    )


def _steps(whole: float, seeds: int) -> Case:
    way = Way(
        "delay that steps",
        RATE_BPS,
        RTT_S,
        whole,
        jitter=ac.Steps(most="50 ms", every="15 s"),
    )
    return Case(
        key="7.3-delay-steps",
        title="a delay that steps by up to 50 ms every 15 s",
        source="RFC 9743 §7.3",
        kind="ours",
        metric="use of the link",
        unit="%",
        factor=100,
        digits=1,
        build=partial(_alone, way),
        measure=_used,
        limit=Limit(low=0.8),
        seeds=seeds,
    )


def _media(buffer_s: float, whole: float, seeds: int) -> Case:
    rate_bps, rtt_s = 2e6, 0.1
    way = Way(
        f"media, {buffer_s:g} s of buffer",
        rate_bps,
        rtt_s,
        whole,
        buffer_s=buffer_s,
        cross=(ac.CrossTraffic("bottleneck", "100 packet/s", "1200 B", "periodic", name="media"),),
    )
    return Case(
        key=f"5.2.2-media-{1e3 * buffer_s:g}ms",
        title=(
            f"media of 0.96 Mbit/s beside it on 2 Mbit/s, 100 ms and {1e3 * buffer_s:g} ms of "
            "buffer (RFC 8867 §5.6)"
        ),
        source="RFC 9743 §5.2.2",
        kind="ours",
        metric="99th percentile of the delay at the queue",
        unit="ms",
        factor=1e3,
        digits=0,
        build=lambda variant, seed: _alone(way, variant, seed, rtt_s),
        measure=lambda outcome: float(outcome.link["queue_delay_p99_s"]),
        limit=Limit(high=2.0, of="cubic"),
        seeds=seeds,
        note="The media do not adapt; at most twice the delay that they have beside CUBIC.",
    )


def _constrained(whole: float, seeds: int) -> Case:
    way = Way("constrained", 64e3, 0.5, whole, buffer_s=4 * 1500 * 8 / 64e3, warm_up_s=0.0)

    def resent(outcome: Outcome) -> float:
        flow = outcome.whole[_FLOW]
        sent = flow["segments_sent"]
        return flow["segments_retransmitted"] / sent if sent else 1.0

    return Case(
        key="7.4-constrained",
        title="64 kbit/s, 500 ms, a buffer of four packets",
        source="RFC 9743 §7.4",
        kind="ours",
        metric="segments sent again",
        unit="%",
        factor=100,
        build=lambda variant, seed: _alone(way, variant, seed, 0.5),
        measure=resent,
        limit=Limit(high=0.1),
        seeds=seeds,
    )


def _far(loss: float, whole: float, seeds: int) -> Case:
    way = Way(f"600 ms, {100 * loss:g} % lost", 50e6, 0.6, whole, loss=loss)
    return Case(
        key=f"7.5-geo-{100 * loss:g}",
        title=f"50 Mbit/s, 600 ms, {100 * loss:g} % of the packets lost at random",
        source="RFC 9743 §7.5",
        kind="ours",
        metric="use of the link",
        unit="%",
        factor=100,
        digits=1,
        build=lambda variant, seed: _alone(way, variant, seed, 0.6),
        measure=_used,
        limit=Limit(low=0.9, of="cubic"),
        seeds=seeds,
        note="At least nine tenths of CUBIC’s.",
    )


def _reordered(late_s: float, whole: float, seeds: int) -> Case:
    way = Way(
        f"reordered by {1e3 * late_s:g} ms",
        RATE_BPS,
        RTT_S,
        whole,
        reorder=ac.Reorder(0.01, delay=f"{1e3 * late_s:g} ms"),
    )
    return Case(
        key=f"7.7-reordering-{1e3 * late_s:g}ms",
        title=f"1 % of the packets {1e3 * late_s:g} ms late",
        source="RFC 9743 §7.7",
        kind="ours",
        metric="use of the link",
        unit="%",
        factor=100,
        digits=1,
        build=partial(_alone, way),
        measure=_used,
        limit=Limit(low=0.9, of="newreno"),
        seeds=seeds,
        note="At least nine tenths of NewReno’s.",
    )


def _rate_at(at_s: float, rate_bps: float) -> ac.Event:
    change = ac.LinkChange(rate=f"{rate_bps:.0f} bit/s")
    return ac.Event(f"{at_s:g} s", link="bottleneck", set=change)


def _transient(seeds: int) -> Case:
    way = Way("ten times the rate", 10e6, RTT_S, 40.0, warm_up_s=20.0, buffer_bdp=4,
              events=[_rate_at(15.0, 100e6)])  # fmt: skip
    return Case(
        key="7.8-up",
        title="10 Mbit/s become 100 at 15 s",
        source="RFC 9743 §7.8",
        kind="ours",
        metric="use of the link from 5 to 25 s after",
        unit="%",
        factor=100,
        digits=1,
        build=partial(_alone, way),
        measure=_used,
        limit=Limit(low=0.9, of="cubic"),
        seeds=seeds,
        note="At least nine tenths of CUBIC’s.",
    )


def _change(seeds: int) -> Case:
    way = Way("a tenth of the rate", 100e6, RTT_S, 25.0, warm_up_s=15.0, buffer_bdp=1,
              events=[_rate_at(15.0, 10e6)])  # fmt: skip
    return Case(
        key="7.9-down",
        title="100 Mbit/s become 10 at 15 s",
        source="RFC 9743 §7.9",
        kind="ours",
        metric="packets dropped in the 10 s after",
        unit="%",
        factor=100,
        build=partial(_alone, way),
        measure=_dropped,
        limit=Limit(high=2.0, of="cubic", at_least=0.05),
        seeds=seeds,
        note="5 %, or twice what CUBIC loses where that is more.",
    )


SUITE = Suite(
    key="rfc9743",
    title="The checklist of RFC 9743 (BCP 133)",
    source="RFC 9743, March 2025",
    cases=cases,
    baselines=("cubic", "newreno", "bbr"),
    left_out=(
        "5.2.2 real-time controls: the media beside the sender do not adapt",
        "5.3 differences and deployment: a text, and no run",
        "6.2 tunnels: no encapsulation is here",
        "7.2 circuit breakers, 7.6 misbehaving receivers, 7.10 multipath: not here",
        "7.11 data centres: see the example datacentre",
    ),
)
