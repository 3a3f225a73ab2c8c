"""The study's scenarios: a source link, a bottleneck with exogenous traffic, Tahoe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import ackclock as ac
from ackclock_studies.altman1997.published import Exogenous, Path

PACKET_BYTES = 576
PAYLOAD_BYTES = 536
SEEDS = 10
FAST = 20.0
"""A source link that is no limit has so many times the bottleneck's rate."""
WARM_UP_S = 100.0
MEASURED_S = 1400.0


@dataclass(frozen=True)
class Opened:
    """A choice each of what the paper leaves open; the defaults are the study's own."""

    exogenous_scale: float = 1.0
    """The factor of a case's exogenous rate in the simulation."""
    exogenous_most_pps: float = math.inf
    """The most of it that the simulation sends."""
    tick: str = "500 ms"
    min_rto: str = "1 s"
    acks: Literal["each", "delayed"] = "each"
    acks_serialised: bool = True
    """ACKs take time on the links of the way back."""
    counts_in_service: bool = True
    """B counts the packet that is being sent."""
    fast_source: bool = False
    """The source link is no limit: BW_in is not used."""
    loss_reduces: Literal["cwnd", "flight_size"] = "cwnd"
    receive_window: str = "1 GiB"
    rtt: Literal["path_rtt_mean_s", "srtt_mean_s"] = "path_rtt_mean_s"
    """Without the wait for the source link, or all that the sender sees."""

    def exogenous_pps(self, printed: float) -> float:
        """Return the rate that the simulation sends of a case's exogenous traffic."""
        return min(self.exogenous_scale * printed, self.exogenous_most_pps)


OWN = Opened()


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool
    opened: Opened = OWN
    first: int = 0
    """Which seeds and phases the runs of a case have: other numbers, other ones."""

    @property
    def seeds(self) -> int:
        """Phases of a periodic exogenous stream, or seeds of a Poisson one, for each case."""
        return 3 if self.quick else SEEDS

    @property
    def warm_up_s(self) -> float:
        """The time that is simulated before the measurement."""
        return 50.0 if self.quick else WARM_UP_S

    @property
    def measured_s(self) -> float:
        """The time that is measured of each case."""
        return 300.0 if self.quick else MEASURED_S

    @property
    def map_points(self) -> int:
        """Random points at which theory meets simulation."""
        return 200 if self.quick else 2400

    @property
    def map_seeds(self) -> int:
        """Runs of each point with each kind of exogenous traffic."""
        return 1 if self.quick else 2

    @property
    def map_chunk(self) -> int:
        """Points in one part of the map."""
        return 100

    @property
    def map_cycles(self) -> float:
        """Cycles of the window that a point's run should see, within its limits of time."""
        return 15.0 if self.quick else 40.0

    @property
    def map_limits_s(self) -> tuple[float, float]:
        """The shortest and the longest measurement of a point."""
        return (150.0, 300.0) if self.quick else (400.0, 1500.0)

    @property
    def probe_s(self) -> float:
        """The time of a case that is recorded packet by packet."""
        return 150.0 if self.quick else 400.0

    @property
    def burst_probe_s(self) -> float:
        """The time of a case that is recorded for the bursts of slow start."""
        return 100.0 if self.quick else 200.0

    @property
    def probe_seeds(self) -> int:
        """Runs of each case that are recorded packet by packet."""
        return 2 if self.quick else 5


@dataclass(frozen=True)
class Setting:
    """One run: a path, what shares it, how it is measured."""

    path: Path
    exogenous: Exogenous
    seed: int
    phase: float
    variant: str = "tahoe"
    queue: Literal["droptail", "fair"] = "droptail"
    sources: int = 1
    warm_up_s: float = WARM_UP_S
    measured_s: float = MEASURED_S
    probes: tuple[ac.Probe, ...] = ()
    opened: Opened = OWN

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        path, opened = self.path, self.opened
        source_pps = FAST * path.mu_pps if opened.fast_source else path.bw_in_pps
        names = (
            ["source"] if self.sources == 1 else [f"source-{i + 1}" for i in range(self.sources)]
        )
        rate = f"{_bits(path.mu_pps)} bit/s"
        links = [
            ac.GraphLink(
                name,
                from_node=name,
                to_node="hub",
                rate=f"{_bits(source_pps)} bit/s",
                delay=_milliseconds(path.tau1_s),
                queue=ac.Queue("unlimited"),
            )
            for name in names
        ]
        bottleneck = ac.GraphLink(
            "bottleneck",
            from_node="hub",
            to_node="sink",
            rate=rate,
            delay=_milliseconds(path.tau2_s),
            queue=ac.Queue(
                f"{path.buffer_packets} packet",
                kind=self.queue,
                counts_in_service=opened.counts_in_service,
            ),
            reverse=ac.Reverse(
                rate=rate if opened.acks_serialised else "1 Tbit/s", queue=ac.Queue("unlimited")
            ),
        )
        warm_up = _seconds(self.warm_up_s)
        return ac.Scenario(
            title=f"altman1997: {self.variant} beside {self.exogenous} exogenous traffic",
            duration=_seconds(self.warm_up_s + self.measured_s),
            seed=self.seed,
            topology=ac.graph([*links, bottleneck]),
            flows=[self._flow(name) for name in names],
            cross_traffic=[self._exogenous()],
            measures=[
                ac.Measure("warmup", start="0 s", duration=warm_up),
                ac.Measure("steady", start=warm_up, duration=_seconds(self.measured_s)),
            ],
            probes=self.probes,
        )

    def _flow(self, node: str) -> ac.Flow:
        alone, opened = self.sources == 1, self.opened
        return ac.Flow(
            self.variant,
            name=self.variant if alone else f"{self.variant}-{node.removeprefix('source-')}",
            tcp=ac.Tcp(
                mss=f"{PAYLOAD_BYTES} B",
                initial_window=1,
                delayed_ack="off" if opened.acks == "each" else ac.DelayedAck("200 ms"),
                min_rto=opened.min_rto,
                clock_granularity=opened.tick,
                receive_window=opened.receive_window,
                loss_reduces=opened.loss_reduces,
            ),
            from_node=node,
            to_node="sink",
            start="0 s" if alone else ac.Uniform("0 s", "10 s"),
        )

    def _exogenous(self) -> ac.CrossTraffic:
        return ac.CrossTraffic(
            "bottleneck",
            name="exogenous",
            kind=self.exogenous,
            rate=f"{self.opened.exogenous_pps(self.path.lambda_pps):g} packet/s",
            size=f"{PACKET_BYTES} B",
            phase=self.phase if self.exogenous == "periodic" else None,
        )


def of_seed(path: Path, exogenous: Exogenous, k: int, plan: Plan, **changes: Any) -> Setting:
    """Return run ``k`` of a case: seed k, and of a periodic stream the k-th phase."""
    # The golden section: phases of every ``first`` lie between those of the others.
    shift = 0.618034 * plan.first % 1
    times: dict[str, Any] = {
        "warm_up_s": plan.warm_up_s,
        "measured_s": plan.measured_s,
        "opened": plan.opened,
    }
    return Setting(
        path=path,
        exogenous=exogenous,
        seed=k + plan.first * plan.seeds,
        phase=round((k + shift) / plan.seeds, 6) if plan.quick else (k + shift) / SEEDS,
        **{**times, **changes},
    )


def flow_probe(flow: str = "tahoe") -> ac.Probe:
    """Return a probe of a flow's window at every change."""
    return ac.Probe(flow=flow, what=["cwnd", "ssthresh"])


def link_probe(link: str, every: str, from_s: float, until_s: float) -> ac.Probe:
    """Return a probe of a link's queue and counters."""
    return ac.Probe(
        link=link, what=["queue"], every=every, start=_seconds(from_s), stop=_seconds(until_s)
    )


def _bits(pps: float) -> int:
    return round(pps * 8 * PACKET_BYTES)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.9g} ms"


def _seconds(seconds: float) -> str:
    return f"{seconds:.9g} s"


# ------------------------------------------------------------------ the random points of the map

MAP_SEED = 1997
MAP_RANGES = {
    "mu_pps": (40.0, 200.0, "logarithmic"),
    "lambda_over_mu": (0.02, 0.85, "uniform"),
    "tau_s": (0.1, 0.8, "logarithmic"),
    "tau1_share": (0.25, 0.75, "uniform"),
    "beta": (0.08, 3.0, "logarithmic"),
    "bw_in_over_free": (0.4, 16.0, "logarithmic"),
}
"""Where the points of the map are drawn; the published cases lie inside."""

MAP_BUFFER_PACKETS = (3, 60)
"""A point whose buffer, rounded to whole packets, lies outside is drawn again."""


@dataclass(frozen=True)
class Point:
    """A random point: a path and the phases of its periodic runs."""

    index: int
    path: Path
    phases: tuple[float, ...]


def random_points(count: int, phases: int) -> list[Point]:
    """Return the first ``count`` random points; they do not depend on any library's generator."""
    stream = _splitmix64(MAP_SEED)
    points: list[Point] = []
    while len(points) < count:
        drawn = {name: _place(next(stream), *span) for name, span in MAP_RANGES.items()}
        offsets = tuple(round(next(stream), 6) for _ in range(4))
        path = _path(drawn)
        if MAP_BUFFER_PACKETS[0] <= path.buffer_packets <= MAP_BUFFER_PACKETS[1]:
            points.append(Point(len(points), path, offsets[:phases]))
    return points


def _path(drawn: dict[str, float]) -> Path:
    mu = round(drawn["mu_pps"], 1)
    exogenous = float(f"{mu * drawn['lambda_over_mu']:.4g}")
    free = mu - exogenous
    one_way = drawn["tau_s"] / 2
    tau1 = round(one_way * drawn["tau1_share"], 4)
    tau2 = round(one_way - tau1, 4)
    return Path(
        buffer_packets=round(drawn["beta"] * (2 * (tau1 + tau2) * free + 1)),
        bw_in_pps=round(drawn["bw_in_over_free"] * free, 1),
        mu_pps=mu,
        lambda_pps=exogenous,
        tau1_s=tau1,
        tau2_s=tau2,
    )


def _place(u: float, low: float, high: float, scale: str) -> float:
    if scale == "uniform":
        return low + u * (high - low)
    place: float = low * (high / low) ** u
    return place


def _splitmix64(seed: int) -> Iterator[float]:
    """Yield uniform numbers in [0, 1) by SplitMix64 (Steele, Lea and Flood, 2014)."""
    mask = (1 << 64) - 1
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        yield (z >> 11) / float(1 << 53)


def map_settings(point: Point, cycle_s: float, plan: Plan) -> Sequence[Setting]:
    """Return the runs of a point, long enough for ``plan.map_cycles`` cycles of the window."""
    shortest, longest = plan.map_limits_s
    measured = round(min(max(plan.map_cycles * cycle_s, shortest), longest))
    kinds: tuple[Exogenous, Exogenous] = ("periodic", "poisson")
    return [
        Setting(
            path=point.path,
            exogenous=kind,
            seed=1000 * point.index + k,
            phase=point.phases[k],
            warm_up_s=plan.warm_up_s,
            measured_s=float(measured),
        )
        for kind in kinds
        for k in range(plan.map_seeds)
    ]
