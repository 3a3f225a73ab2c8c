"""The suite ``tcpeval``: the Common TCP Evaluation Suite, with substitute traffic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ackclock as ac
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock_studies.suites.tcpeval.network import (
    CENTRE,
    PACKET_BYTES,
    Centre,
    between,
    everywhere,
    links,
    packets,
    scenario,
)

SOURCE = "draft-irtf-iccrg-tcpeval-01"
STANDARD = "newreno"
"""The standard TCP of the draft, beside which new ones are put."""

_TRAFFIC = "Substitute traffic: the draft’s traces (Tmix) are not to be had."
_LONGEST_S = 60.0
_SHORT = 0.2


@dataclass(frozen=True)
class Place:
    """A network of the draft's table, with the warm-up and the test of each load, in seconds."""

    key: str
    title: str
    centre: Centre
    times: tuple[tuple[float, float], ...]
    longest_s: float = _LONGEST_S


_NEAR = (tuple(1e-5 for _ in range(3)), tuple(1e-4 for _ in range(3)))
_ACCESS = Centre(100e6, 0.002, 0.1, 100e6)
LOADS = (0.6, 0.85, 1.1)
_MIDDLE = 0.85
PLACES = (
    Place(
        "datacentre",
        "a data centre: 1 Gbit/s, edges of 10 and 100 us, a buffer of 10 ms",
        Centre(1e9, 0.0, 0.01, 1e9, edges=_NEAR),
        ((63, 69), (19, 328), (8, 663)),
        longest_s=10.0,
    ),
    Place(
        "access",
        "an access link: 100 Mbit/s, 2 ms, a buffer of 100 ms",
        _ACCESS,
        ((84, 479), (179, 829), (34, 1423)),
    ),
    Place(
        "oceanic",
        "a trans-oceanic link: 1 Gbit/s, 65 ms, a buffer of 100 ms",
        Centre(1e9, 0.065, 0.1, 1e9),
        ((140, 82.5), (64, 252), (82, 326)),
        longest_s=20.0,
    ),
    Place(
        "satellite",
        "a geostationary satellite: 40 Mbit/s down and 4 up, 300 ms, buffers of 100 ms and 1 s",
        Centre(40e6, 0.3, 0.1, 100e6, back_bps=4e6, back_buffer_s=1.0),
        ((163, 2513), (230, 2184), (298, 2481)),
        longest_s=120.0,
    ),
    Place(
        "wlan",
        "a wireless LAN: 6 Mbit/s in bundles, 2 ms",
        Centre(6e6, 0.002, 0.5, 100e6, channel=ac.Wifi()),
        ((20, 4147), (20, 5397), (620, 1797)),
        longest_s=300.0,
    ),
    Place(
        "dialup",
        "a dial-up link: 64 kbit/s, 5 ms, a buffer of 1.25 s",
        Centre(64e3, 0.005, 1.25, 100e6),
        ((280, 168_804), (400, 88_094), (512, 69_891)),
        longest_s=4000.0,
    ),
)

_DIRECTIONS = (("down", "forward"), ("up", "reverse"))


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    return [
        *(
            case
            for place in PLACES
            for load, times in zip(LOADS, place.times, strict=True)
            if load == _MIDDLE or not quick
            for case in _place(place, load, times, quick)
        ),
        *(
            case
            for share in ((0.5,) if quick else (0.1, 0.2, 0.5, 1.0, 2.0))
            for case in _tradeoff(share, quick)
        ),
        *(
            _ramp_up(rate, rtts, quick)
            for rate in ((10e6,) if quick else (10e6, 1e9))
            for rtts in ((0.08, 0.08), (0.12, 0.03), (0.03, 0.12))
        ),
        *(_transient(key, quick) for key in _STEPS),
        *(case for load in ((0.5,) if quick else (0.5, 1.0)) for case in _impact(load, quick)),
        *(
            _fairness(rtts, buffer, quick)
            for rtts in (((0.04, 0.04), (0.16, 0.04)) if quick else _RTTS)
            for buffer in ((1.0,) if quick else (0.25, 1.0, 2.0))
        ),
        *(_parking_lot(load, quick) for load in ((0.8,) if quick else (0.6, 0.8, 1.0))),
    ]


def _case(key: str, source: str, quick: bool, **more: Any) -> Case:
    given: dict[str, Any] = {"kind": "ours", "seeds": 2 if quick else 5, "note": _TRAFFIC} | more
    return Case(key=key, source=f"{SOURCE}, {source}", **given)


def _of_direction(direction: str) -> dict[str, Callable[[Outcome], float]]:
    """Return the metrics of the centre link in a direction."""

    def row(outcome: Outcome) -> Any:
        return outcome.links[CENTRE, direction]

    def dropped(outcome: Outcome) -> float:
        offered = float(row(outcome)["offered_packets"])
        return float(row(outcome)["dropped_packets"]) / offered if offered else 0.0

    return {
        "use": lambda outcome: float(row(outcome)["utilisation"]),
        "drops": dropped,
        "delay": lambda outcome: float(row(outcome)["queue_delay_mean_s"] or 0.0),
    }


_METRICS: dict[str, tuple[str, str, float, int]] = {
    "use": ("use of the centre link", "%", 100, 1),
    "drops": ("packets dropped", "%", 100, 2),
    "delay": ("mean queueing delay", "ms", 1e3, 1),
}


def _each_direction(key: str, title: str, source: str, build: Any, quick: bool) -> list[Case]:
    return [
        _case(
            f"{key}-{way}-{metric}",
            source,
            quick,
            title=f"{title}; {'right to left' if way == 'down' else 'left to right'}",
            metric=words,
            unit=unit,
            factor=factor,
            digits=digits,
            build=build,
            measure=_of_direction(direction)[metric],
        )
        for way, direction in _DIRECTIONS
        for metric, (words, unit, factor, digits) in _METRICS.items()
    ]


def _place(place: Place, load: float, times: tuple[float, float], quick: bool) -> list[Case]:
    longest_s = place.longest_s * (_SHORT if quick else 1.0)
    warm_up_s, test_s = (min(seconds, longest_s) for seconds in times)

    def build(variant: str, seed: int) -> ac.Scenario:
        return scenario(
            f"{place.key}, load {load:.0%}",
            place.centre,
            everywhere(variant, place.centre, load),
            seed=seed,
            warm_up_s=warm_up_s,
            test_s=test_s,
        )

    title = f"{place.title}; load {load:.0%}"
    return _each_direction(
        f"{place.key}-{load:.0%}".rstrip("%"), title, "basic scenarios", build, quick
    )


def _tradeoff(share: float, quick: bool) -> list[Case]:
    centre = replace(_ACCESS, buffer_s=0.1 * share)
    longest_s = _LONGEST_S * (_SHORT if quick else 1.0)

    def build(variant: str, seed: int) -> ac.Scenario:
        return scenario(
            f"delay and throughput, {share:.0%}",
            centre,
            everywhere(variant, centre, 0.85),
            seed=seed,
            warm_up_s=longest_s,
            test_s=longest_s,
        )

    title = f"the access link at 85 %, with a buffer of {share:.0%} of 100 ms"
    made = _each_direction(
        f"tradeoff-{100 * share:g}", title, "delay/throughput trade-off", build, quick
    )
    return [case for case in made if "-down-" in case.key]


def _ramp_up(rate_bps: float, rtts: tuple[float, float], quick: bool) -> Case:
    """Build two long flows; the second begins when the first has the path."""
    centre = Centre(rate_bps, 0.002, 0.08, max(1e9, 10 * rate_bps), edges=_edges(rtts))
    begins_s = 20.0
    volume = 1500 * 10 ** (3 if rate_bps < 100e6 else 4)
    lasts_s = 60.0 if quick or rate_bps > 100e6 else 120.0

    def build(variant: str, seed: int) -> ac.Scenario:
        web = [
            *between(variant, "left3", "right3", 0.5 * rate_bps, "background down"),
            *between(variant, "right3", "left3", 0.25 * rate_bps, "background up"),
        ]
        acked = ac.Probe(flow="second", what=["in_flight"], every="20 ms", start=f"{begins_s:g} s")
        return scenario(
            f"ramp-up, {rate_bps / 1e6:g} Mbit/s",
            centre,
            web,
            seed=seed,
            warm_up_s=begins_s,
            test_s=lasts_s,
            flows=[_long(variant, "first", 1), _long(variant, "second", 2, begins_s)],
            probes=[acked],
        )

    def measure(outcome: Outcome) -> float:
        rows = outcome.samples
        done = (row["time_s"] for row in rows if row["acked_bytes"] >= volume)
        return next((float(at) - begins_s for at in done), math.inf)

    first, second = (f"{1e3 * rtt:g}" for rtt in rtts)
    return _case(
        f"ramp-up-{rate_bps / 1e6:g}M-{first}-{second}".lower(),
        "ramp-up time",
        quick,
        title=f"{rate_bps / 1e6:g} Mbit/s, half of it background; a flow of {second} ms begins "
        f"beside one of {first} ms",
        metric=f"time until {volume / 1e6:g} MB of the new flow are acknowledged",
        unit="s",
        digits=1,
        build=build,
        measure=measure,
        note=f"{_TRAFFIC} The draft has the new flow begin in congestion avoidance; here it has "
        "its slow start.",
    )


def _edges(rtts: tuple[float, float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return edges with which the flows have these round trips over a centre of 2 ms."""
    first, second = (rtt / 2 - 0.002 for rtt in rtts)
    return (0.0, 0.0, 0.0), (first, second, 0.048)


def _long(variant: str, name: str, edge: int, start_s: float = 0.0) -> ac.Flow:
    return ac.Flow(
        variant,
        name=name,
        from_node=f"right{edge}",
        to_node=f"left{edge}",
        start=f"{start_s:g} s",
        app=ac.Bulk(),
        tcp=ac.Tcp(receive_window="1 GB"),
    )


_STEPS: dict[str, tuple[str, tuple[tuple[float, float, float], ...]]] = {
    "transient-down": ("75 Mbit/s of other traffic end", ((75e6, 0.0, 60.0),)),
    "transient-up": ("75 Mbit/s of other traffic begin", ((75e6, 60.0, 160.0),)),
    "transient-steps": (
        "other traffic grows by 2.5 Mbit/s each second, 30 times",
        tuple((2.5e6, 60.0 + n, 160.0) for n in range(30)),
    ),
}


def _transient(key: str, quick: bool) -> Case:
    told, steps = _STEPS[key]
    centre = Centre(100e6, 0.002, 1024 * 8 * PACKET_BYTES / 100e6, 1e9, edges=_edges((0.1, 0.1)))
    change_s, end_s = 60.0, 160.0

    def build(variant: str, seed: int) -> ac.Scenario:
        cross = [
            ac.CrossTraffic(
                CENTRE,
                rate=f"{rate / 8 / PACKET_BYTES:.3f} packet/s",
                size=f"{PACKET_BYTES} B",
                kind="periodic",
                name=f"other {n}",
                start=f"{start:g} s",
                stop=f"{stop:g} s",
            )
            for n, (rate, start, stop) in enumerate(steps)
        ]
        acked = ac.Probe(flow="long", what=["in_flight"], every="100 ms", start=f"{change_s:g} s")
        return scenario(
            told,
            centre,
            (),
            seed=seed,
            warm_up_s=change_s,
            test_s=end_s - change_s,
            flows=[_long(variant, "long", 1)],
            cross=cross,
            probes=[acked],
        )

    def reaches(outcome: Outcome) -> float:
        """Return the time until a second's rate is 80 % of the link's."""
        rows = outcome.samples
        for earlier, later in zip(rows, rows[10:], strict=False):
            passed = float(later["time_s"]) - float(earlier["time_s"])
            if (
                8 * (later["acked_bytes"] - earlier["acked_bytes"]) / passed
                >= 0.8 * centre.rate_bps
            ):
                return float(earlier["time_s"]) - change_s
        return math.inf

    def dropped(outcome: Outcome) -> float:
        return float(outcome.links[CENTRE, "forward"]["dropped_packets"])

    ends = key == "transient-down"
    return _case(
        key,
        "transients",
        quick,
        title=f"100 Mbit/s, 100 ms, a buffer of 1024 packets: {told}",
        metric="time until a second has 80 % of the link" if ends else "packets dropped in 100 s",
        unit="s" if ends else "",
        digits=1 if ends else 0,
        build=build,
        measure=reaches if ends else dropped,
        seeds=1,
        note="The draft counts the other traffic’s drops; these are all. Nothing is drawn."
        if not ends
        else "Nothing is drawn.",
    )


def _impact(load: float, quick: bool) -> list[Case]:
    """Build two camps: the standard TCP with itself, and beside the new one."""
    lasts_s = 20.0 if quick else 60.0

    def camps(variant: str, seed: int) -> ac.Scenario:
        pairs = [(left, right) for left in (1, 2, 3) for right in (1, 2, 3)]
        each = load * _ACCESS.rate_bps / len(pairs) / 2
        web = [
            part
            for left, right in pairs
            for camp, sender in (("standard", STANDARD), ("new", variant))
            for part in between(
                sender, f"left{left}", f"right{right}", each, f"{camp} {left}{right}"
            )
        ]
        return scenario(
            f"impact on standard TCP, load {load:.0%}",
            _ACCESS,
            web,
            seed=seed,
            warm_up_s=lasts_s,
            test_s=lasts_s,
        )

    def mean_rate(camp: str) -> Callable[[Outcome], float]:
        """Return the mean over a camp's answers of size over time."""

        def measure(outcome: Outcome) -> float:
            rates = [
                8 * row["bytes"] / (row["completed_s"] - row["requested_s"])
                for row in outcome.objects
                if str(row["flow"]).startswith(camp)
                and row["completed_s"] is not None
                and row["requested_s"] >= lasts_s
                and row["bytes"] >= 10_000
            ]
            return sum(rates) / len(rates) if rates else math.nan

        return measure

    title = f"two camps of connections on the access link, load {load:.0%}"
    return [
        _case(
            f"impact-{100 * load:g}-{camp}",
            "impact on standard TCP",
            quick,
            title=f"{title}: {who}",
            metric="mean rate of an answer of 10 kB and more",
            unit="Mbit/s",
            factor=1e-6,
            digits=3,
            build=camps,
            measure=mean_rate(camp),
            limit=Limit(low=0.9, of=STANDARD) if camp == "standard" else None,
            note=f"{_TRAFFIC} With `{STANDARD}` both camps are the standard’s: the baseline.",
        )
        for camp, who in (("standard", f"the camp of `{STANDARD}`"), ("new", "the new one’s"))
    ]


_RTTS = (
    *((rtt, rtt) for rtt in (0.01, 0.04, 0.16)),
    *((0.16, rtt) for rtt in (0.01, 0.04, 0.08)),
)


def _fairness(rtts: tuple[float, float], buffer: float, quick: bool) -> Case:
    centre = Centre(100e6, 0.002, 0.1 * buffer, 1e9, edges=_edges(rtts))
    lasts_s = 30.0 if quick else 120.0

    def build(variant: str, seed: int) -> ac.Scenario:
        starts = 0.1 * seed
        return scenario(
            f"fairness, {buffer:.0%} of 100 ms",
            centre,
            (),
            seed=seed,
            warm_up_s=lasts_s / 2,
            test_s=lasts_s / 2,
            flows=[_long(variant, "first", 1), _long(variant, "second", 2, starts)],
        )

    def ratio(outcome: Outcome) -> float:
        first, second = outcome.goodput("first"), outcome.goodput("second")
        return max(first, second) / max(min(first, second), 1.0)

    first, second = (f"{1e3 * rtt:g}" for rtt in rtts)
    return _case(
        f"fairness-{first}-{second}-{100 * buffer:g}",
        "intra-protocol and inter-RTT fairness",
        quick,
        title=f"two flows of {first} and {second} ms on 100 Mbit/s, a buffer of {buffer:.0%} of "
        "100 ms",
        metric="the larger goodput over the smaller",
        build=build,
        measure=ratio,
        note="A seed moves the start of the second flow.",
    )


def _parking_lot(load: float, quick: bool) -> Case:
    """Build three links in a row: connections over one of them, and over all three."""
    lasts_s = 20.0 if quick else 60.0
    rate_bps = 100e6

    def build(variant: str, seed: int) -> ac.Scenario:
        names = (CENTRE, "second", "third")
        centre = Centre(rate_bps, 0.01, 0.1, 1e9)
        middle = links(centre)[0]
        row = [
            replace(
                middle,
                name=name,
                from_node=f"node{n}",
                to_node=f"node{n + 1}",
                queue=ac.Queue(packets(rate_bps, 0.1)),
            )
            for n, name in enumerate(names)
        ]
        # Round trips of 60 ms for all: 30 ms of them on the three links, or 10 and 20 beside.
        web, edges = [], []
        spans = [("through", 0, 3, 0.0), *((f"hop {n}", n, n + 1, 0.02) for n in range(3))]
        for name, begin, end, beside in spans:
            edges += [
                _edge(f"server of {name}", f"node{begin}", 1e9, beside / 2),
                _edge(f"client of {name}", f"node{end}", 1e9, beside / 2),
            ]
            share = load * rate_bps / 2
            web += between(variant, f"client of {name}", f"server of {name}", share, name)
        made = scenario("parking lot", centre, web, seed=seed, warm_up_s=lasts_s, test_s=lasts_s)
        return replace(made, topology=ac.graph([*row, *edges]))

    def ratio(outcome: Outcome) -> float:
        def carried(name: str) -> float:
            return sum(
                float(row["bytes"])
                for row in outcome.objects
                if str(row["flow"]).startswith(name)
                and row["completed_s"] is not None
                and row["requested_s"] >= lasts_s
            )

        single = sum(carried(f"hop {n}") for n in range(3)) / 3
        return carried("through") / single if single else math.nan

    return _case(
        f"parking-lot-{100 * load:g}",
        "multiple bottlenecks",
        quick,
        title=f"three links of 100 Mbit/s in a row, load {load:.0%}: connections over all three, "
        "and over one",
        metric="volume over three links over that over one",
        build=build,
        measure=ratio,
        note=_TRAFFIC,
    )


def _edge(node: str, inner: str, rate_bps: float, delay_s: float) -> ac.GraphLink:
    return ac.GraphLink(
        f"edge of {node}",
        from_node=node,
        to_node=inner,
        rate=f"{rate_bps:.0f} bit/s",
        delay=f"{round(1e9 * delay_s)} ns",
    )


SUITE = Suite(
    key="tcpeval",
    title="The Common TCP Evaluation Suite",
    source=SOURCE,
    cases=cases,
    baselines=("newreno",),
    left_out=(
        "Tmix traces: connections of our own with the draft’s loads stand for them",
        "tests of up to 168,804 s: a minute, and more on slow links",
        "802.11g: a link of 6 Mbit/s in bundles stands for it",
        "the new flow of the ramp-up in congestion avoidance: it has its slow start",
    ),
)
