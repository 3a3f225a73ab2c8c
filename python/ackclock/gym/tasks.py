"""Tasks: the world of an environment, its actions, observations and rewards."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.gym.features import FEATURES, Feature, Numbers, Records
from ackclock.scenario.scenario import Scenario

__all__ = [
    "PACKET_BYTES",
    "PAYLOAD_BYTES",
    "Task",
    "World",
    "aurora",
    "aurora_link",
    "aurora_reward",
    "capacity_bps",
]

#: A packet on the wire, and its payload.
PACKET_BYTES = 1500
PAYLOAD_BYTES = 1460

#: A scenario, a file, or whatever draws a scenario from the environment's random numbers.
World = (
    Scenario
    | str
    | os.PathLike[str]
    | Callable[[np.random.Generator], "Scenario | str | tuple[str, float]"]
)


def aurora_reward(it: Records) -> Numbers:
    """Return PCC-RL's reward: 0.001 (10 throughput - 1000 latency - 2000 loss).

    Throughput is in packets a second, latency in seconds, loss a share.
    """
    packets = it.delivered_bytes / PAYLOAD_BYTES / it.duration_s
    return 0.001 * (10 * packets - 1000 * it.latency_s - 2000 * it.loss)


@dataclass(frozen=True)
class Task:
    """An environment's world, and what a learner does, sees and is rewarded for.

    Attributes
    ----------
    world
        A scenario with a flow of the variant ``learner``, its file, or a function that draws one
        for each episode from the environment's random numbers. A fixed scenario gets another seed
        each episode.
    action
        ``rate_change``: the rate becomes (1 + a δ) times itself, or for a below 0 itself over (1 -
        a δ). ``window_change``: the same of the window. ``rate_bps`` and ``window_bytes``: the
        value itself.
    change
        The δ of a change.
    low, high
        The bounds of the rate in bit/s, or of the window in bytes.
    first
        The rate or window of the first interval, or a function that draws it with the scenario.
    interval
        The time from one decision to the next: seconds, ``"half_latency"`` (half of the last mean
        round-trip time), ``"rtt"`` (the last mean), or ``"ack"`` (the next ACK).
    features
        The names of the features of an interval (`FEATURES`), or features of your own.
    history
        The number of past intervals that an observation has, the last one at its end.
    reward
        From the records of an interval; an array of the records' shape.
    steps
        The decisions of an episode.
    transport
        ``tcp``: the learner's flow repairs losses as every flow of a scenario. ``numbered``: each
        packet has a number of its own and is never sent again, as in the environments of the
        literature; it needs one drop-tail link and no other flows, and is some ten times as fast.
    """

    world: World
    action: Literal["rate_change", "rate_bps", "window_change", "window_bytes"] = "rate_change"
    change: float = 0.025
    low: float = 40 * 8 * PAYLOAD_BYTES
    high: float = 1e9
    first: float | None = None
    interval: float | Literal["half_latency", "rtt", "ack"] = "rtt"
    features: tuple[str | tuple[str, Feature], ...] = (
        "latency_inflation",
        "latency_ratio",
        "send_ratio",
    )
    history: int = 10
    reward: Callable[[Records], Numbers] = aurora_reward
    steps: int = 400
    transport: Literal["tcp", "numbered"] = "tcp"

    def __post_init__(self) -> None:
        """Refuse what cannot be used.

        Raises
        ------
        BadInput
            A feature that is not known, or a number that is too small.
        """
        for feature in self.features:
            if isinstance(feature, str) and feature not in FEATURES:
                known = ", ".join(FEATURES)
                raise BadInput(f"features: found `{feature}`, expected one of {known}")
        if self.history < 1 or self.steps < 1:
            raise BadInput("history, steps: expected at least 1")
        if not 0 < self.low <= self.high:
            raise BadInput(f"low, high: found {self.low} and {self.high}, expected 0 < low <= high")
        if not isinstance(self.interval, str) and not 0 < self.interval < math.inf:
            raise BadInput(f"interval: found {self.interval}, expected seconds above 0")

    @property
    def is_rate(self) -> bool:
        """True if an action is a rate, false if it is a window."""
        return self.action.startswith("rate")

    @property
    def is_change(self) -> bool:
        """True if an action changes the last value."""
        return self.action.endswith("change")

    def chosen(self) -> list[Feature]:
        """Return the features."""
        return [FEATURES[it] if isinstance(it, str) else it[1] for it in self.features]

    def draw(self, random: np.random.Generator) -> tuple[str, float | None]:
        """Return a scenario as JSON text, and the first rate or window if the world says it."""
        first = self.first
        world = self.world
        if callable(world):
            drawn = world(random)
            if isinstance(drawn, tuple):
                drawn, first = drawn
            text = drawn if isinstance(drawn, str) else drawn.to_json()
            return text, first
        scenario = world if isinstance(world, Scenario) else Scenario.from_file(world)
        values = json.loads(scenario.to_json())
        values["seed"] = int(random.integers(2**53))
        return json.dumps(values), first


def _aurora_world(random: np.random.Generator) -> tuple[str, float]:
    """Draw a link by PCC-RL's ranges; return the scenario and the first rate in bit/s."""
    packets_s = random.uniform(100, 500)
    delay_ms = 1e3 * random.uniform(0.05, 0.5)
    queue = 1 + math.floor(math.exp(random.uniform(0, 8)))
    loss = random.uniform(0, 0.05)
    first = random.uniform(0.3, 1.5) * packets_s
    return aurora_link(packets_s, delay_ms, queue, loss, int(random.integers(2**53))), (
        first * 8 * PAYLOAD_BYTES
    )


def aurora_link(packets_s: float, delay_ms: float, queue: int, loss: float, seed: int = 1) -> str:
    """Return the scenario of one learner on a link, as JSON text.

    Parameters
    ----------
    packets_s
        Packets of 1500 bytes that the link sends in a second.
    delay_ms
        The delay of one way, in ms.
    queue
        The packets that wait in front of the link at most.
    loss
        The share of data packets that the link loses.
    seed
        The seed of the losses.
    """
    return json.dumps(
        {
            "duration": "100000 s",
            "seed": seed,
            "topology": {
                "kind": "graph",
                "link": [
                    {
                        "name": "link",
                        "from": "a",
                        "to": "b",
                        "rate": f"{packets_s * 8 * PACKET_BYTES:.0f} bit/s",
                        "delay": f"{delay_ms:.6f} ms",
                        "loss": loss,
                        "queue": {"kind": "droptail", "limit": f"{queue} packet"},
                    }
                ],
            },
            "flow": [
                {
                    "name": "learner",
                    "variant": "learner",
                    "from": "a",
                    "to": "b",
                    "tcp": {"delayed_ack": "off"},
                },
            ],
        }
    )


def aurora() -> Task:
    """Return the task of PCC-RL: one sender on a random link, 400 decisions.

    Bandwidth U(100, 500) packets/s, one-way delay U(50, 500) ms, queue 1 + floor(exp(U(0, 8)))
    packets, loss U(0, 5 %), first rate U(0.3, 1.5) of the bandwidth; the rate stays in 40 to 1000
    packets/s. An interval is half of the last mean round-trip time. Packets are numbered and never
    sent again, as there.
    """
    return Task(
        world=_aurora_world,
        action="rate_change",
        change=0.025,
        low=40 * 8 * PAYLOAD_BYTES,
        high=1000 * 8 * PAYLOAD_BYTES,
        interval="half_latency",
        steps=400,
        transport="numbered",
    )


def capacity_bps(scenario: str) -> float:
    """Return the payload that the slowest link of a scenario (JSON text) carries, in bit/s.

    NaN where no link has a constant rate.
    """
    topology = json.loads(scenario).get("topology", {})
    links = [*topology.get("link", []), topology.get("bottleneck", {}), topology]
    rates = [_core.bits_per_second("rate", it["rate"]) for it in links if "rate" in it]
    return min(rates, default=math.nan) * PAYLOAD_BYTES / PACKET_BYTES
