"""The speed of environments for learners, beside an environment in pure Python on the same model.

Both play ackclock/Aurora-v0 with actions drawn alike; the measure is steps per second of CPU on one
core. The rewards of both are compared, so that a fast wrong answer does not pass.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.table import Table

__all__ = ["LearnerSpeed", "as_table", "measure_learners", "notes"]

#: The worlds that are stepped together.
_WORLDS = 256


@dataclass(frozen=True)
class LearnerSpeed:
    """The speed of an environment.

    Attributes
    ----------
    environment
        Its name.
    steps_per_cpu_s
        Decisions a second of CPU, the median of turns.
    reward
        The mean reward of a decision.
    """

    environment: str
    steps_per_cpu_s: float
    reward: float


def measure_learners(
    *, quick: bool = False, say: Callable[[str], None] = lambda _: None
) -> list[LearnerSpeed]:
    """Step environments in turns on one core, and return their speeds.

    Raises
    ------
    MissingPackageError
        Gymnasium or numpy is not installed.
    """
    turns, steps = (2, 100) if quick else (5, 400)
    names = (f"{_WORLDS} worlds", "1 world", "pure Python")
    speeds: dict[str, list[float]] = {name: [] for name in names}
    rewards: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(turns):
        for name, play in zip(names, (_many, _one, _heap), strict=True):
            say(f"{name}, turn {turn + 1} of {turns}")
            speed, reward = play(steps, turn)
            speeds[name].append(speed)
            rewards[name].append(reward)
    return [
        LearnerSpeed(name, statistics.median(speeds[name]), statistics.mean(rewards[name]))
        for name in names
    ]


def _many(steps: int, turn: int) -> tuple[float, float]:
    import numpy as np

    from ackclock import gym

    env = gym.VectorEnv(gym.aurora(), _WORLDS, threads=1)
    env.reset(seed=1000 * turn)
    random = np.random.default_rng(turn)
    actions = random.normal(size=(steps, _WORLDS, 1)).astype(np.float32)
    total, began = 0.0, time.process_time()
    for each in actions:
        total += float(env.step(each)[1].sum())
    count = steps * _WORLDS
    return count / (time.process_time() - began), total / count


def _one(steps: int, turn: int) -> tuple[float, float]:
    import numpy as np

    from ackclock import gym

    env = gym.Env(gym.aurora())
    env.reset(seed=1000 * turn)
    actions = np.random.default_rng(turn).normal(size=(steps, 1)).astype(np.float32)
    total, began = 0.0, time.process_time()
    for each in actions:
        total += env.step(each)[1]
    return steps / (time.process_time() - began), total / steps


def _heap(steps: int, turn: int) -> tuple[float, float]:
    import numpy as np

    from ackclock.bench.peers.event_heap import HeapEnv

    total, worlds, taken = 0.0, 8, 0.0
    for world in range(worlds):
        env = HeapEnv(1000 * turn + world)
        env.reset()
        actions = np.random.default_rng(1000 * turn + world).normal(size=steps).tolist()
        began = time.process_time()
        for each in actions:
            total += env.step(each)[1]
        taken += time.process_time() - began
    return worlds * steps / taken, total / (worlds * steps)


def as_table(speeds: list[LearnerSpeed]) -> Table:
    """Return the speeds as a table for a terminal."""
    table = Table(box=None, header_style="bold")
    table.add_column("ackclock/Aurora-v0", no_wrap=True)
    for column in ("steps/s", "ratio", "reward"):
        table.add_column(column, justify="right", no_wrap=True)
    base = speeds[-1].steps_per_cpu_s
    for it in speeds:
        ratio = f"{it.steps_per_cpu_s / base:.1f}"
        table.add_row(it.environment, f"{it.steps_per_cpu_s:,.0f}", ratio, f"{it.reward:.3f}")
    return table


def notes() -> list[str]:
    """Return what a reader of the table has to know."""
    columns = (
        "steps/s: decisions a second of CPU, on one core; ratio: over an environment of the same "
        "model in pure Python with an event heap; reward: the mean of a decision. Links differ, so "
        "that rewards are alike and not equal."
    )
    return [columns]
