"""Tasks: the world of an environment, its actions, observations and rewards."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.nearest import near
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
    "numbers_of",
]

Action = Literal["rate_change", "rate_bps", "window_change", "window_bytes"]
Interval = Literal["half_latency", "rtt", "ack"]
Transport = Literal["tcp", "numbered"]

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


def numbers_of(key: str, found: Any, shape: tuple[int, ...], *, fits: bool = True) -> Numbers:
    """Return ``found`` as an array of numbers of this shape.

    Parameters
    ----------
    key
        Its name in an error.
    fits
        True if another shape of as many numbers will do.

    Raises
    ------
    BadInput
        It is no number, or of another shape.
    """
    try:
        # None would become NaN.
        numbers = np.asarray(found if found is not None else "None", float)
    except (TypeError, ValueError):
        raise BadInput(f"{key}: found {found!r:.60}, expected a number") from None
    count = math.prod(shape)
    if numbers.size != count if fits else numbers.shape != shape:
        wanted = f"numbers of the shape {shape}" if shape and count > 1 else "one number"
        if not fits:
            wanted = f"an array of the shape {shape}, such as `throughput_bps` of the records"
        raise BadInput(f"{key}: found the shape {numbers.shape}, expected {wanted}")
    return numbers.reshape(shape)


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
    action: Action = "rate_change"
    change: float = 0.025
    low: float = 40 * 8 * PAYLOAD_BYTES
    high: float = 1e9
    first: float | None = None
    interval: float | Interval = "rtt"
    features: tuple[str | tuple[str, Feature], ...] = (
        "latency_inflation",
        "latency_ratio",
        "send_ratio",
    )
    history: int = 10
    reward: Callable[[Records], Numbers] = aurora_reward
    steps: int = 400
    transport: Transport = "tcp"

    def __post_init__(self) -> None:
        """Refuse what cannot be used.

        Raises
        ------
        BadInput
            A word that is not known, or a number that is none or is too small.
        """
        self._check_kinds()
        for feature in self.features:
            if isinstance(feature, str) and feature not in FEATURES:
                known = ", ".join(FEATURES)
                raise BadInput(f"features: found `{feature}`, expected one of {known}")
        for key in ("history", "steps"):
            value = getattr(self, key)
            if value < 1 or int(value) != value:
                raise BadInput(f"{key}: found {value}, expected a whole number of at least 1")
        if not 0 < self.low <= self.high:
            raise BadInput(f"low, high: found {self.low} and {self.high}, expected 0 < low <= high")
        if not isinstance(self.interval, str) and not 0 < self.interval < math.inf:
            raise BadInput(f"interval: found {self.interval}, expected seconds above 0")

    def _check_kinds(self) -> None:
        for key, kinds in (("action", Action), ("transport", Transport), ("interval", Interval)):
            word, known = getattr(self, key), get_args(kinds)
            if word not in known and (key != "interval" or isinstance(word, str)):
                one = " or ".join(f'"{it}"' for it in known)
                also = "seconds, " if key == "interval" else ""
                close = near(str(word), known)
                hint = f" (did you mean `{close}`?)" if close else ""
                raise BadInput(f"{key}: found {word!r}, expected {also}{one}{hint}")
        for key in ("change", "low", "high", "first", "interval", "history", "steps"):
            value = getattr(self, key)
            is_word = key == "interval" and isinstance(value, str)
            if not is_word and not (key == "first" and value is None):
                numbers_of(key, value, ())
        if not 0 < self.change < math.inf:
            raise BadInput(f"change: found {self.change}, expected a number above 0")

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

    @property
    def box(self) -> tuple[np.float32, np.float32]:
        """The least and the largest action."""
        # A change makes it at most twice, or half of, what it was.
        most = 1 / self.change
        low, high = (-most, most) if self.is_change else (self.low, self.high)
        return np.float32(low), np.float32(high)

    def held(self, values: Numbers) -> Numbers:
        """Return rates or windows within the task's bounds."""
        return np.clip(values, self.low, self.high)

    def after(self, values: Numbers, actions: Any) -> Numbers:
        """Return the rates or windows to which actions lead: of environments and of senders.

        An action outside of its box is taken as the box's nearest, and a value outside of the
        bounds as the nearest bound. NaN would stay in a value that is changed step by step, and in
        the sender, until the next episode.

        Raises
        ------
        BadInput
            An action is no number, or there are not as many as values.
        """
        taken = numbers_of("action", actions, values.shape)
        if np.isnan(taken).any():
            raise BadInput(f"action: found {taken.ravel().tolist()}, expected numbers")
        low, high = self.box
        taken = np.clip(taken, float(low), float(high))
        if not self.is_change:
            return self.held(taken)
        change = self.change * taken
        factor = np.where(change >= 0, 1 + change, 1 / (1 - np.minimum(change, 0)))
        return self.held(values * factor)

    def rewards(self, records: Records, goes_on: Any = True) -> Numbers:
        """Return the rewards of an interval by world and learner.

        Parameters
        ----------
        goes_on
            True of the worlds whose records are of this interval.

        Raises
        ------
        BadInput
            The task's reward is not a number each.
        """
        shape = records.duration_s.shape
        found = numbers_of("reward", self.reward(records), shape, fits=False)
        if np.isnan(found[np.broadcast_to(goes_on, shape[:1])]).any():
            raise BadInput(
                "reward: found NaN, expected a number each: a time is NaN where nothing was "
                "measured in the interval, and `latency_s` is 0 there"
            )
        return found

    def draw(self, random: np.random.Generator) -> tuple[str, float | None]:
        """Return a scenario as JSON text, and the first rate or window if the world says it."""
        first = self.first
        world = self.world
        if callable(world):
            drawn = world(random)
            if isinstance(drawn, tuple):
                drawn, first = drawn
            if not isinstance(drawn, str | Scenario):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise BadInput(
                    f"world: it returned {drawn!r}, expected a Scenario or its JSON text"
                )
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
