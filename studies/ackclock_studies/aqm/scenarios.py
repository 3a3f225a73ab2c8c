"""The study's scenarios: a bottleneck of 10 Mbit/s with one discipline, by RFC 7928's sections."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import ackclock as ac
from ackclock.scenario.queues import AnyQueue
from ackclock_studies.aqm.published import LEVELS

RATE_BPS = 10_000_000
PACKET_BYTES = 1500
MSS_BYTES = 1460
RTT_MS = 100
BOTTLENECK_DELAY_MS = 1
PATH_PACKETS = RATE_BPS * RTT_MS // 1000 // (8 * PACKET_BYTES)
"""The packets that 100 ms of the path hold: 83. The drop-tail buffer has as many."""
SAMPLE_S = 0.1

QUEUES: dict[str, tuple[str, AnyQueue]] = {
    "droptail": ("drop-tail", ac.Queue(f"{PATH_PACKETS} packet")),
    "red": ("RED", ac.Red(limit=f"{PATH_PACKETS} packet")),
    "codel": ("CoDel", ac.CoDel()),
    "cobalt": ("COBALT", ac.Cobalt()),
    "pie": ("PIE", ac.Pie()),
    "fair": ("fair queueing", ac.Queue(f"{PATH_PACKETS} packet", "fair")),
    "drr": ("DRR", ac.Drr(limit=f"{PATH_PACKETS} packet")),
    "sfq": ("SFQ", ac.Sfq()),
    "fq_codel": ("FQ-CoDel", ac.FqCoDel()),
    "fq_cobalt": ("FQ-COBALT", ac.FqCobalt()),
    "fq_pie": ("FQ-PIE", ac.FqPie()),
    "cake": ("CAKE", ac.Cake()),
}
"""The disciplines, each with its own defaults."""

ONE_LINE = ("droptail", "red", "codel", "cobalt", "pie")
BY_FLOW = ("fair", "drr", "sfq", "fq_codel", "fq_cobalt", "fq_pie", "cake")
"""Disciplines with a queue for each flow."""

SENDERS = {"reno": "newreno", "cubic": "cubic"}
SECOND_RTTS_MS = (5, 20, 100, 250, 560)
"""Round-trip times of RFC 7928 §6.2's category II, beside one of 100 ms."""
SHORT_PACKETS = (10, 100)
SHORT_EVERY_S = 2
FIRST_WINDOWS = (3, 10)
UNRESPONSIVE = (0.75, 1.2)
"""The load of packets that answer to nothing, over the rate (RFC 7928 §5.3)."""
PHASE_S = 20
LOW_BPS, HIGH_BPS = 10_000_000, 100_000_000
"""The rates between which the capacity changes (RFC 7928 §8.2.6)."""
MIXES = ("web + voice", "+ bulk", "+ video", "all")


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool

    @property
    def seeds(self) -> int:
        """Runs of each setting."""
        return 2 if self.quick else 10

    def span(self, whole_s: int) -> int:
        """Return how long a run is, in seconds."""
        return whole_s // 2 if self.quick else whole_s


@dataclass(frozen=True)
class Member:
    """A flow: its variant, round-trip time, second of starting, volume and application."""

    name: str
    variant: str
    rtt_ms: int = RTT_MS
    start_s: float = 0.0
    packets: int = 0
    """0: as much as the run takes."""
    video: bool = False


@dataclass(frozen=True)
class Setting:
    """One run behind one discipline."""

    experiment: str
    queue: str
    case: str
    members: tuple[Member, ...]
    duration_s: int
    measure_from_s: int
    seed: int = 1
    load: float = 0.0
    """Packets that answer to nothing, over the rate."""
    every_s: float = 0.0
    """The time between changes of the rate; 0: it stays."""
    web: bool = False
    voice: bool = False

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        draws = random.Random(f"{self.experiment} {self.case} {self.seed}")  # noqa: S311
        links = [
            ac.GraphLink(
                "bottleneck",
                from_node="left",
                to_node="right",
                rate=f"{HIGH_BPS if self.every_s else RATE_BPS} bit/s",
                delay=f"{BOTTLENECK_DELAY_MS} ms",
                queue=QUEUES[self.queue][1],
                reverse=ac.Reverse(queue=ac.Queue("1000 packet")),
            )
        ]
        flows = []
        for member in self.members:
            node = f"at {member.name}"
            links.append(_access(node, member.rtt_ms))
            at = member.start_s + (draws.random() * 0.1 if member.start_s >= 0 else 0)
            app: ac.App = (
                ac.Bulk(f"{member.packets * MSS_BYTES} B") if member.packets else ac.Bulk()
            )
            if member.video:
                app = ac.Dash(("1 Mbit/s", "2 Mbit/s", "4 Mbit/s"), length="120 s")
            flows.append(
                ac.Flow(
                    member.variant,
                    name=member.name,
                    from_node=node,
                    to_node="right",
                    start=f"{round(1e6 * at)} us",
                    app=app,
                    tcp=ac.Tcp(mss=f"{MSS_BYTES} B"),
                )
            )
        return ac.Scenario(
            title=f"{self.experiment}, {self.case}: {QUEUES[self.queue][0]}",
            duration=f"{self.duration_s} s",
            seed=self.seed,
            topology=ac.graph(links + ([_access("web", RTT_MS)] if self.web else [])),
            flows=flows,
            traffic=_web() if self.web else (),
            cross_traffic=self._cross(),
            events=self._events(),
            measures=[
                ac.Measure("warmup", start="0 s", duration=f"{self.measure_from_s} s"),
                ac.Measure("steady", start=f"{self.measure_from_s} s"),
            ],
            probes=[ac.Probe(link="bottleneck", what=["queue"], every=f"{SAMPLE_S:g} s")],
        )

    def _cross(self) -> Sequence[ac.CrossTraffic]:
        found = []
        if self.load:
            rate = self.load * RATE_BPS / (8 * PACKET_BYTES)
            found.append(
                ac.CrossTraffic("bottleneck", f"{rate:g} packet/s", f"{PACKET_BYTES} B",
                                name="unresponsive", start="5 s")
            )  # fmt: skip
        if self.voice:
            # G.711: 160 bytes every 20 ms, with 40 of headers.
            found.append(
                ac.CrossTraffic("bottleneck", "50 packet/s", "200 B", "periodic", name="voice")
            )
        return found

    def _events(self) -> Sequence[ac.Event]:
        if not self.every_s:
            return ()
        count = int(self.duration_s / self.every_s)
        return [
            ac.Event(
                f"{round(1e3 * n * self.every_s)} ms",
                link="bottleneck",
                set=ac.LinkChange(rate=f"{LOW_BPS if n % 2 else HIGH_BPS} bit/s"),
            )
            for n in range(1, count)
        ]


def _access(node: str, rtt_ms: int) -> ac.GraphLink:
    return ac.GraphLink(
        f"access of {node}",
        from_node=node,
        to_node="left",
        rate="1 Gbit/s",
        delay=f"{rtt_ms * 500 - BOTTLENECK_DELAY_MS * 1000} us",
    )


def _web() -> Sequence[ac.Traffic]:
    """Return web connections of eight objects each, 0.4 a second (RFC 7928 §7.2 has 50 a page)."""
    return [
        ac.Traffic(
            "web",
            "cubic",
            arrivals=ac.Poisson("0.4 /s"),
            app=ac.Request("20 kB", exchanges=8),
            from_node="right",
            to_node="web",
        )
    ]


def _each(plan: Plan) -> Sequence[tuple[str, int]]:
    return [(queue, seed) for queue in QUEUES for seed in range(1, plan.seeds + 1)]


def friendly(plan: Plan) -> list[Setting]:
    """Return one long flow (RFC 7928 §5.1.1 and §5.2)."""
    whole = plan.span(120)
    return [
        Setting("friendly", queue, sender, (Member("long", variant),), whole, whole // 4, seed)
        for sender, variant in SENDERS.items()
        for queue, seed in _each(plan)
    ]


def short(plan: Plan) -> list[Setting]:
    """Return short flows beside a long one (§5.1.2), one every two seconds."""
    whole = plan.span(80)
    found = []
    for first in FIRST_WINDOWS:
        for queue, seed in _each(plan):
            sizes = random.Random(seed)  # noqa: S311
            flows = [
                Member(
                    f"short{n}",
                    f"newreno+iw{first}",
                    start_s=20 + SHORT_EVERY_S * n,
                    packets=sizes.randint(*SHORT_PACKETS),
                )
                for n in range((whole - 24) // SHORT_EVERY_S)
            ]
            found.append(
                Setting("short", queue, f"first window {first}",
                        (Member("long", "newreno"), *flows), whole, 20, seed)
            )  # fmt: skip
    return found


def unresponsive(plan: Plan) -> list[Setting]:
    """Return a flow beside packets that answer to nothing (§5.3)."""
    whole = plan.span(80)
    return [
        Setting("unresponsive", queue, f"{load:g}", (Member("long", "newreno"),), whole,
                whole // 4, seed, load=load)
        for load in UNRESPONSIVE
        for queue, seed in _each(plan)
    ]  # fmt: skip


def rtts(plan: Plan) -> list[Setting]:
    """Return two flows with different round-trip times (§6.2)."""
    whole = plan.span(160)
    return [
        Setting("rtt", queue, f"{rtt_ms}",
                (Member("first", "newreno"), Member("second", "newreno", rtt_ms)), whole,
                whole // 4, seed)
        for rtt_ms in SECOND_RTTS_MS
        for queue, seed in _each(plan)
    ]  # fmt: skip


def flows_of(level: str) -> int:
    """Return the flows of a level of congestion, with a drop-tail buffer of the path's packets."""
    return round(LEVELS[level][0] * 2 * PATH_PACKETS)


def levels(plan: Plan) -> list[Setting]:
    """Return three levels of congestion (§8.2.2 to §8.2.4)."""
    whole = plan.span(80)
    return [
        Setting("levels", queue, level,
                tuple(Member(f"flow{n}", "newreno", start_s=0.2 * n)
                      for n in range(flows_of(level))), whole, whole // 4, seed)
        for level in LEVELS
        for queue, seed in _each(plan)
    ]  # fmt: skip


def capacity(plan: Plan) -> list[Setting]:
    """Return five flows on a rate that changes every 20 s, and every 100 ms (§8.2.6)."""
    return [
        Setting("capacity", queue, case,
                tuple(Member(f"flow{n}", "newreno", start_s=0.2 * n) for n in range(5)),
                PHASE_S * (4 if plan.quick else 8), PHASE_S, seed, every_s=every_s)
        for case, every_s in (("20 s", PHASE_S), ("100 ms", 0.1))
        for queue, seed in _each(plan)
    ]  # fmt: skip


def scavenger(plan: Plan) -> list[Setting]:
    """Return LEDBAT beside Reno (§5.4)."""
    whole = plan.span(120)
    return [
        Setting("scavenger", queue, "LEDBAT beside Reno",
                (Member("scavenger", "ledbat"), Member("other", "newreno")), whole,
                whole // 4, seed)
        for queue, seed in _each(plan)
    ]  # fmt: skip


def mixes(plan: Plan) -> list[Setting]:
    """Return web, voice, video and bulk (§7.2 and §9.1)."""
    whole = plan.span(120)
    bulk = tuple(Member(f"bulk{n}", "cubic", start_s=0.2 * n) for n in range(5))
    video = (Member("video", "cubic", start_s=1.0, video=True),)
    members = {"web + voice": (), "+ bulk": bulk[:1], "+ video": video, "all": bulk + video}
    return [
        Setting("mix", queue, case, members[case], whole, whole // 4, seed, web=True, voice=True)
        for case in MIXES
        for queue, seed in _each(plan)
    ]
