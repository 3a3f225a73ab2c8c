"""The suite ``aqm``: the scenarios of RFC 7928, for queue disciplines in the place of senders."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import ackclock as ac
from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.runs import api
from ackclock.scenario.queues import AnyQueue, read_queue
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock.suites.framework.paths import PACKET_BYTES, Member, Way

SOURCE = "RFC 7928"
RATE_BPS = 10e6
RTT_S = 0.1
PATH_PACKETS = round(RATE_BPS * RTT_S / (8 * PACKET_BYTES))
"""The packets that the path holds: 83. Drop-tail has as much room."""
HELD = ("droptail", "red", "fair", "drr")
"""Disciplines that have no limit of their own, or one of another time."""
LEVELS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
"""The flows for each packet of path and buffer (§8.2.2 to §8.2.4)."""
OTHER_RTTS_S = (0.005, 0.02, 0.25, 0.56)
LOADS = (0.75, 1.2)
"""The load of packets that answer to nothing, over the rate."""
NAME = "droptail"
"""The discipline that others are held against (§3.1)."""

Members = Callable[[int], Sequence[Member]]
"""The flows of a case, by the seed."""
Build = Callable[[str, int], ac.Scenario]
"""The scenario of a case, by the discipline and the seed."""


def expect_a_queue(text: str) -> None:
    """Refuse what is no queue discipline.

    Raises
    ------
    BadInput
        A word or a table that names none.
    """
    queue_of_text(text)


def queue_of_text(text: str) -> AnyQueue:
    """Return a discipline by its word, or by a table as a scenario file has it.

    Raises
    ------
    BadInput
        A word or a table that names none.
    """
    table: Mapping[str, Any] = {"kind": text}
    if text.lstrip().startswith("{"):
        try:
            table = tomllib.loads(f"queue = {text}")["queue"]
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"suite: `{text}` is no table of TOML: {error}") from None
        if "kind" not in table:
            raise BadInput(f"suite: `{text}`: kind: missing, expected a queue discipline")
    known, kind = _kinds(), str(table.get("kind", NAME))
    if kind not in known:
        raise BadInput(f"suite: `{kind}` is no queue discipline{nearest(kind, known)}")
    for key in table:
        if key not in known[kind]:
            raise BadInput(f"suite: `{kind}` has no key `{key}`{nearest(key, known[kind])}")
    if kind in HELD and "limit" not in table:
        table = {**table, "limit": f"{PATH_PACKETS} packet"}
    try:
        return read_queue(dict(table))
    except (BadInput, TypeError, ValueError) as error:
        raise BadInput(f"suite: `{text}`: {error}") from None


def _kinds() -> Mapping[str, Sequence[str]]:
    """Return the disciplines and their keys."""
    forms = cast("Mapping[str, Any]", api.schema()["$defs"])["QueueSpec"]["oneOf"]
    return {form["properties"]["kind"]["const"]: list(form["properties"]) for form in forms}


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases; those of one scenario share their runs."""
    return [
        *_alone("5.1.1-friendly", "§5.1.1", "newreno", "One NewReno flow", quick),
        *_alone("5.2-aggressive", "§5.2", "cubic", "One CUBIC flow", quick),
        *(case for first in (3, 10) for case in _short(first, quick)),
        *(_unresponsive(load, quick) for load in LOADS),
        _scavenger(quick),
        *(_rtt(rtt_s, quick) for rtt_s in (OTHER_RTTS_S[-1:] if quick else OTHER_RTTS_S)),
        *_mix("7.2-web", "§7.2 I", "Web and voice", (), quick),
        *_mix("7.2-web-bulk", "§7.2 II", "Web, voice and a bulk flow", BULK[:1], quick),
        *_mix("7.2-web-video", "§7.2 III", "Web, voice and a video by segments", VIDEO, quick),
        *_mix("9.1-mix", "§7.2 IV and §9.1", "Web, voice, a video and five bulk flows",
              (*BULK, *VIDEO), quick),
        *(case for level in LEVELS for case in _level(level, quick)),
        *_capacity("8.2.6-seconds", 20.0, "every 20 s", quick),
        *_capacity("8.2.6-milliseconds", 0.1, "every 100 ms", quick),
    ]  # fmt: skip


def _way(title: str, seconds: float, quick: bool) -> Way:
    return Way(title, RATE_BPS, RTT_S, seconds / 2 if quick else seconds)


def _build(way: Way, members: Members) -> Build:
    def build(queue: str, seed: int) -> ac.Scenario:
        behind = replace(way, queue=queue_of_text(queue))
        return behind.with_(members(seed), seed)

    return build


def _use(outcome: Outcome) -> float:
    return float(outcome.link["utilisation"])


def _delay(outcome: Outcome) -> float:
    return float(outcome.link["queue_delay_mean_s"] or 0.0)


@dataclass(frozen=True)
class _Metric:
    """A metric with its unit and its limit over drop-tail's."""

    words: str
    measure: Callable[[Outcome], float]
    limit: Limit | None
    unit: str = ""
    factor: float = 1.0
    digits: int = 1


def _against(**bounds: float) -> Limit:
    return Limit(of=NAME, **bounds)


USE = _Metric("use of the link over the measured time", _use, _against(low=0.95), "%", 100)
DELAY = _Metric("mean delay at the queue", _delay, _against(high=1.0, plus=0.005), "ms", 1e3)


def _case(
    key: str, section: str, title: str, build: Build, metric: _Metric, quick: bool, note: str = ""
) -> Case:
    return Case(
        key=key,
        title=title,
        source=f"{SOURCE} {section}",
        kind="ours",
        metric=metric.words,
        unit=metric.unit,
        factor=metric.factor,
        digits=metric.digits,
        build=build,
        measure=metric.measure,
        limit=metric.limit,
        seeds=2 if quick else 10,
        note=note or "The RFC compares with drop-tail, and has no limit.",
    )


def _both(key: str, section: str, title: str, build: Build, quick: bool) -> Sequence[Case]:
    return [
        _case(f"{key}-use", section, title, build, USE, quick),
        _case(f"{key}-delay", section, title, build, DELAY, quick),
    ]


def _alone(key: str, section: str, sender: str, title: str, quick: bool) -> Sequence[Case]:
    way = _way(title, 120, quick)
    build = _build(way, lambda _seed: [Member(sender, "long", RTT_S)])
    return _both(key, section, title, build, quick)


def _short(first: int, quick: bool) -> Sequence[Case]:
    title = f"Flows of 10 to 100 packets with a first window of {first}, beside a long one"
    way = _way(title, 80, quick)

    def members(seed: int) -> Sequence[Member]:
        sizes = random.Random(seed)  # noqa: S311
        return [
            Member("newreno", "long", RTT_S),
            *(
                Member(
                    f"newreno+iw{first}",
                    f"short{n}",
                    RTT_S,
                    way.duration_s / 4 + 2 * n,
                    sizes.randint(10, 100) * 1448,
                )
                for n in range(int((way.duration_s * 3 / 4 - 4) / 2))
            ),
        ]

    metric = _Metric(
        "mean time to completion of the short flows",
        partial(_mean_time, names=lambda flow: flow != "long"),
        _against(high=1.05),
        "s",
        digits=3,
    )
    build = _build(way, members)
    return [_case(f"5.1.2-short-iw{first}", "§5.1.2", title, build, metric, quick)]


def _mean_time(outcome: Outcome, names: Callable[[str], bool]) -> float:
    """Return the mean time of the objects of some flows that were complete."""
    times = [
        row["completed_s"] - row["requested_s"]
        for row in outcome.objects
        if names(row["flow"]) and row["completed_s"] is not None
    ]
    return sum(times) / len(times) if times else float("inf")


def _unresponsive(load: float, quick: bool) -> Case:
    title = f"A NewReno flow beside packets at {load:g} of the rate that answer to nothing"
    way = replace(
        _way(title, 80, quick),
        cross=(
            ac.CrossTraffic(
                "bottleneck",
                f"{load * RATE_BPS / (8 * PACKET_BYTES):g} packet/s",
                f"{PACKET_BYTES} B",
                name="unresponsive",
                start="5 s",
            ),
        ),
    )
    metric = _Metric(
        "goodput of the flow over the rate",
        lambda outcome: outcome.goodput("long") / RATE_BPS,
        _against(low=0.95),
        "%",
        100,
    )
    build = _build(way, lambda _seed: [Member("newreno", "long", RTT_S)])
    return _case(f"5.3-unresponsive-{load:g}", "§5.3", title, build, metric, quick)


def _scavenger(quick: bool) -> Case:
    title = "LEDBAT beside NewReno"
    way = _way(title, 120, quick)
    members = [Member("ledbat", "scavenger", RTT_S), Member("newreno", "other", RTT_S)]
    metric = _Metric(
        "share of LEDBAT",
        lambda outcome: outcome.goodput("scavenger") / (sum(outcome.goodputs()) or 1),
        None,
        "%",
        100,
    )
    build = _build(way, lambda _seed: members)
    note = "The RFC has 5 ms as LEDBAT's target; here it is RFC 6817's 100 ms."
    return _case("5.4-scavenger", "§5.4", title, build, metric, quick, note)


def _rtt(rtt_s: float, quick: bool) -> Case:
    title = f"Two NewReno flows of 100 ms and {1e3 * rtt_s:g} ms"
    way = _way(title, 160, quick)
    members = [Member("newreno", "first", RTT_S), Member("newreno", "second", rtt_s)]
    metric = _Metric(
        "Jain’s index of the two rates",
        lambda outcome: ac.metrics.jain(outcome.goodputs()),
        _against(low=0.95),
        digits=3,
    )
    build = _build(way, lambda _seed: members)
    return _case(f"6.2-rtt-{1e3 * rtt_s:g}", "§6.2", title, build, metric, quick)


BULK = tuple(Member("cubic", f"bulk{n}", RTT_S, 0.2 * n) for n in range(5))
VIDEO = (
    Member("cubic", "video", RTT_S, 1.0,
           app=ac.Dash(("1 Mbit/s", "2 Mbit/s", "4 Mbit/s"), length="120 s")),
)  # fmt: skip


def _mix(
    key: str, section: str, title: str, members: Sequence[Member], quick: bool
) -> Sequence[Case]:
    way = replace(
        _way(title, 120, quick),
        # Eight objects a page: the RFC has 50 on six connections.
        traffic=(
            ac.Traffic(
                "web",
                "cubic",
                arrivals=ac.Poisson("0.4 /s"),
                app=ac.Request("20 kB", exchanges=8),
                from_node="right",
                to_node="at the web",
            ),
        ),
        # G.711: 160 bytes every 20 ms, with 40 of headers.
        cross=(ac.CrossTraffic("bottleneck", "50 packet/s", "200 B", "periodic", name="voice"),),
    )
    build = _build(way, lambda _seed: members)

    metric = _Metric(
        "mean time of a web object",
        partial(_mean_time, names=lambda flow: flow == "web"),
        _against(high=1.05),
        "ms",
        1e3,
        0,
    )
    return [
        _case(f"{key}-response", section, title, build, metric, quick),
        _case(f"{key}-delay", section, title, build, DELAY, quick),
    ]


def _level(level: str, quick: bool) -> Sequence[Case]:
    flows = round(LEVELS[level] * 2 * PATH_PACKETS)
    title = f"{flows} NewReno flows: {level} congestion"
    way = _way(title, 80, quick)
    member = Member("newreno", "flow", RTT_S, count=flows, stagger_s=0.2)
    build = _build(way, lambda _seed: [member])
    return _both(f"8.2-{level}", "§8.2.2 to §8.2.4", title, build, quick)


def _capacity(key: str, every_s: float, often: str, quick: bool) -> Sequence[Case]:
    title = f"Five NewReno flows on a rate that changes {often} between 100 and 10 Mbit/s"
    seconds = 80.0 if quick else 160.0
    way = Way(title, 10 * RATE_BPS, RTT_S, seconds, warm_up_s=20.0).changing(
        [
            ac.Event(
                f"{1e3 * n * every_s:.0f} ms",
                link="bottleneck",
                set=ac.LinkChange(rate=f"{RATE_BPS * (1 if n % 2 else 10):.0f} bit/s"),
            )
            for n in range(1, round(seconds / every_s))
        ]
    )
    member = Member("newreno", "flow", RTT_S, count=5, stagger_s=0.2)
    build = _build(way, lambda _seed: [member])
    return _both(key, "§8.2.6", title, build, quick)


SUITE = Suite(
    key="aqm",
    title="RFC 7928’s scenarios for queue disciplines, beside drop-tail",
    source="RFC 7928, Characterization Guidelines for Active Queue Management",
    cases=cases,
    baselines=(NAME,),
    subject="queue",
    expect=expect_a_queue,
    left_out=(
        "§8.2.5, congestion in phases: flows that leave after a time",
        "§9.2, the mix both ways; §10.2, several disciplines in a row",
        "the ellipses of delay and goodput: `reproduce aqm` draws both",
    ),
)
