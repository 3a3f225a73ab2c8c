"""The study's scenarios: one or two flows of a law on a bottleneck, by what is asked of it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import ackclock as ac

MSS_BYTES = 1460
PACKET_BYTES = 1500
PAYLOAD_BYTES = 1448
"""The payload of a packet with timestamps, which LP and LEDBAT need."""
RECEIVE_WINDOW_BYTES = 1_000_000_000
BOTTLENECK_DELAY_MS = 1
"""The part of the way that all flows share; the rest is on the access links."""

LAWS = {
    "reno": "Reno",
    "cubic": "CUBIC",
    "highspeed": "HighSpeed",
    "scalable": "Scalable",
    "bic": "BIC",
    "htcp": "H-TCP",
    "hybla": "Hybla",
    "westwood": "Westwood+",
    "veno": "Veno",
    "yeah": "YeAH",
    "illinois": "Illinois",
    "compound": "Compound",
    "cdg": "CDG",
    "vegas": "Vegas",
    "nv": "NV",
    "copa": "Copa",
    "lp": "LP",
    "ledbat": "LEDBAT",
    "ledbatpp": "LEDBAT++",
    "bbr1": "BBR v1",
    "bbr": "BBR v3",
    "c4": "C4",
}
"""The laws, each with the same recovery and first window, so that they differ in growth alone."""

BY_LOSS = (
    "reno",
    "cubic",
    "highspeed",
    "scalable",
    "bic",
    "htcp",
    "hybla",
    "veno",
    "illinois",
    "compound",
)
"""The laws whose window on a path without a queue is a function of the loss rate alone."""

PERIODS = (100, 1_000, 10_000, 100_000)
"""Packets from one loss to the next, 1/p."""
RESPONSE_RTT_MS = 100
HYBLA_RTTS_MS = (25, 100, 300, 600)
HYBLA_PERIODS = (1_000, 10_000, 100_000)
HYBLA_RECEIVE_WINDOW = 127
"""A bound to Hybla's slow start, which adds 2^24 segments an ACK at 600 ms: so many segments times
the root of the period, where the window is 29 times that root at most (24 times Reno's)."""

LOSS_RATES = (1e-4, 1e-3, 1e-2, 5e-2)
BUFFERS_BDP = (0.5, 1.0, 4.0)
BESIDE = ("cubic", "reno")
SHORT_RTT_MS, LONG_RTT_MS = 40, 160

RAMP_FROM, RAMP_TO = 100, 1_000
"""The rates before and after the step, in Mbit/s."""
RAMP_AT_S = 20
RAMP_SHARE = 0.9

BLOAT_MBPS = 20
BLOAT_BDP = 8.0

HTCP_FIRST = 2_000
"""The packet that is lost, the only one."""
SLOWDOWN_RTT_MS = 137
SLOWDOWN_S = 30


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool

    @property
    def periods(self) -> tuple[int, ...]:
        """The loss rates with periodic losses, as packets from one loss to the next."""
        return PERIODS[:3] if self.quick else PERIODS

    @property
    def hybla_periods(self) -> tuple[int, ...]:
        """The loss rates at which Hybla meets several round-trip times."""
        return HYBLA_PERIODS[:2] if self.quick else HYBLA_PERIODS

    @property
    def loss_rates(self) -> tuple[float, ...]:
        """The rates of random losses."""
        return LOSS_RATES[1:3] if self.quick else LOSS_RATES

    @property
    def buffers_bdp(self) -> tuple[float, ...]:
        """The buffers that two laws share, in bandwidth-delay products."""
        return BUFFERS_BDP[1:] if self.quick else BUFFERS_BDP

    @property
    def seeds(self) -> int:
        """Runs of each setting with something random: losses, or the moments of starting."""
        return 2 if self.quick else 5

    @property
    def losses(self) -> int:
        """Periodic losses of a run; the second half is measured."""
        return 60 if self.quick else 200

    def span(self, whole_s: int) -> int:
        """Return how long a run is, in seconds."""
        return whole_s // 2 if self.quick else whole_s


@dataclass(frozen=True)
class Response:
    """One flow on an empty path that loses exactly one data packet in ``period``.

    The flow ends after ``losses`` such periods. The path carries 10 Gbit/s and never drops.
    """

    law: str
    period: int
    losses: int
    rtt_ms: int = RESPONSE_RTT_MS
    first: int = 1
    receive_window_bytes: int = RECEIVE_WINDOW_BYTES

    @property
    def sample_s(self) -> float:
        """The time between samples of what was acknowledged."""
        return max(0.05, self.longest_s / 40_000)

    @property
    def longest_s(self) -> float:
        """The end of the run, which no law needs: at half of Reno's window."""
        window = 0.6 * self.period**0.5
        return max(60.0, self.losses * self.period / window * self.rtt_ms / 1e3)

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        size = self.losses * self.period * MSS_BYTES
        path = ac.GraphLink(
            "path",
            from_node="sender",
            to_node="receiver",
            rate="10 Gbit/s",
            delay=f"{self.rtt_ms * 500} us",
            loss=ac.PeriodicLoss(self.period, first=self.first),
            reverse=ac.Reverse(loss=0.0),
        )
        return ac.Scenario(
            title=f"{self.law}, one loss in {self.period}, {self.rtt_ms} ms",
            duration=f"{self.longest_s:g} s",
            topology=ac.graph([path]),
            flows=[
                _flow(
                    self.law,
                    "flow",
                    "sender",
                    "receiver",
                    receive_window_bytes=self.receive_window_bytes,
                    app=ac.Bulk(f"{size} B"),
                )
            ],
            probes=[ac.Probe(flow="flow", what=["cwnd"], every=_micros(self.sample_s))],
        )


@dataclass(frozen=True)
class Shared:
    """Flows behind one bottleneck with a drop-tail queue.

    ``flows`` are law, round-trip time in ms, and second of starting. A seed moves each start by a
    random part of 100 ms, as two flows that keep step are no rule.
    """

    experiment: str
    law: str
    flows: tuple[tuple[str, int, float], ...]
    rate_mbps: int
    buffer_bdp: float
    buffer_rtt_ms: int
    duration_s: int
    measure_from_s: int
    loss: float = 0.0
    seed: int = 1
    sample_s: float = 0.0
    step_to_mbps: int = 0
    """The rate from second ``RAMP_AT_S`` on, if there is another."""

    @property
    def buffer_packets(self) -> int:
        """The most packets that wait."""
        bdp = self.rate_mbps * 1e6 * self.buffer_rtt_ms / 1e3 / (8 * PACKET_BYTES)
        return max(2, round(self.buffer_bdp * bdp))

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        draws = random.Random(f"{self.experiment} {self.seed}")  # noqa: S311
        links = [
            ac.GraphLink(
                "bottleneck",
                from_node="left",
                to_node="right",
                rate=f"{self.rate_mbps} Mbit/s",
                delay=f"{BOTTLENECK_DELAY_MS} ms",
                queue=ac.Queue(f"{self.buffer_packets} packet"),
                loss=self.loss,
                reverse=ac.Reverse(loss=0.0),
            )
        ]
        flows, probes = [], []
        for n, (law, rtt_ms, start_s) in enumerate(self.flows, 1):
            links.append(
                ac.GraphLink(
                    f"access{n}",
                    from_node=f"sender{n}",
                    to_node="left",
                    rate="10 Gbit/s",
                    delay=f"{rtt_ms * 500 - BOTTLENECK_DELAY_MS * 1000} us",
                )
            )
            at = start_s + draws.random() * 0.1 if self.seed else start_s
            name = f"flow{n}"
            flows.append(
                _flow(law, name, f"sender{n}", "right", timestamps=True, start=_micros(at))
            )
            if self.sample_s:
                probes.append(ac.Probe(flow=name, what=["cwnd"], every=_micros(self.sample_s)))
        events = []
        if self.step_to_mbps:
            change = ac.LinkChange(rate=f"{self.step_to_mbps} Mbit/s")
            events.append(ac.Event(f"{RAMP_AT_S} s", link="bottleneck", set=change))
        return ac.Scenario(
            title=f"{self.experiment}: {' beside '.join(law for law, _, _ in self.flows)}",
            duration=f"{self.duration_s} s",
            seed=self.seed,
            topology=ac.graph(links),
            flows=flows,
            events=events,
            measures=[
                ac.Measure("warmup", start="0 s", duration=f"{self.measure_from_s} s"),
                ac.Measure("steady", start=f"{self.measure_from_s} s"),
            ],
            probes=probes,
        )


def _flow(
    law: str,
    name: str,
    sender: str,
    receiver: str,
    receive_window_bytes: int = RECEIVE_WINDOW_BYTES,
    *,
    timestamps: bool = False,
    **more: object,
) -> ac.Flow:
    return ac.Flow(
        f"{law}+rack+iw10",
        name=name,
        from_node=sender,
        to_node=receiver,
        tcp=ac.Tcp(
            mss=f"{MSS_BYTES} B",
            delayed_ack="off",
            timestamps=timestamps,
            receive_window=f"{receive_window_bytes} B",
        ),
        **more,  # type: ignore[arg-type]
    )


def _micros(seconds: float) -> str:
    return f"{round(seconds * 1e6)} us"


def response(plan: Plan, period: int, start: dict[str, float]) -> list[Response]:
    """Return the runs at one loss rate; ``start`` is the window of a law at the first loss."""
    return [
        Response(law, period, plan.losses, first=max(20, round(2 * start[law]))) for law in BY_LOSS
    ]


def hybla(plan: Plan) -> list[Response]:
    """Return Hybla's runs by loss rate and round-trip time."""
    return [
        Response("hybla", period, 2 * plan.losses, rtt_ms=rtt_ms, first=200,
                 receive_window_bytes=round(HYBLA_RECEIVE_WINDOW * period**0.5) * MSS_BYTES)
        for period in plan.hybla_periods
        for rtt_ms in HYBLA_RTTS_MS
    ]  # fmt: skip


def random_losses(plan: Plan, rate: float) -> list[Shared]:
    """Return one flow a law with random losses: 100 Mbit/s and 100 ms, as in the BBR paper."""
    return [
        Shared("random", law, ((law, 100, 0.0),), 100, 1.0, 100, plan.span(60), 1, loss=rate,
               seed=seed)
        for law in LAWS
        for seed in range(1, plan.seeds + 1)
    ]  # fmt: skip


def alone(plan: Plan) -> list[Shared]:
    """Return one flow a law behind a buffer of eight bandwidth-delay products."""
    whole = plan.span(120)
    return [
        Shared("delay", law, ((law, 40, 0.0),), BLOAT_MBPS, BLOAT_BDP, 40, whole, whole // 4)
        for law in LAWS
    ]


def beside(plan: Plan, other: str) -> list[Shared]:
    """Return one flow a law beside one of ``other``, by buffer."""
    whole = plan.span(120)
    return [
        Shared(f"beside {other}", law, ((law, 40, 0.0), (other, 40, 0.0)), 100, buffer, 40, whole,
               whole // 4, seed=seed)
        for law in LAWS
        for buffer in plan.buffers_bdp
        for seed in range(1, plan.seeds + 1)
    ]  # fmt: skip


def pairs(plan: Plan) -> list[Shared]:
    """Return two flows of each law, of which the second comes at 30 s."""
    whole = plan.span(240)
    return [
        Shared("fairness", law, ((law, 100, 0.0), (law, 100, 30.0)), 100, 1.0, 100, whole,
               whole - 60, seed=seed, sample_s=0.5)
        for law in LAWS
        for seed in range(1, plan.seeds + 1)
    ]  # fmt: skip


def unequal(plan: Plan) -> list[Shared]:
    """Return two flows of each law, of 40 and 160 ms."""
    whole = plan.span(240)
    return [
        Shared("rtt", law, ((law, SHORT_RTT_MS, 0.0), (law, LONG_RTT_MS, 0.0)), 100, 1.0, 100,
               whole, whole // 4, seed=seed)
        for law in LAWS
        for seed in range(1, plan.seeds + 1)
    ]  # fmt: skip


def ramps(plan: Plan) -> list[Shared]:
    """Return one flow a law whose bottleneck becomes ten times as fast."""
    return [
        Shared("ramp", law, ((law, 100, 0.0),), RAMP_FROM, 2.4, 100, plan.span(140), RAMP_AT_S,
               sample_s=0.1, step_to_mbps=RAMP_TO)
        for law in LAWS
    ]  # fmt: skip


def growth() -> list[Response]:
    """Return H-TCP's run with one loss."""
    return [Response("htcp", 200_000, 1, first=HTCP_FIRST)]


def slowdowns() -> list[Shared]:
    """Return LEDBAT++'s run at 137 ms: some 16 packets fill 1 Mbit/s and 60 ms of its queue."""
    return [
        Shared("slowdowns", "ledbatpp", (("ledbatpp", SLOWDOWN_RTT_MS, 0.0),), 1, 8.0,
               SLOWDOWN_RTT_MS, SLOWDOWN_S + 5, 1, sample_s=0.01)
    ]  # fmt: skip
