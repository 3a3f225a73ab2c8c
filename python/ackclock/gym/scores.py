"""The reward of a policy, and of Reno, CUBIC and BBR in the same episodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ackclock.base.estimates import with_interval
from ackclock.gym.environment import VectorEnv
from ackclock.gym.tasks import Task

__all__ = ["BatchPolicy", "Score", "score"]

#: From observations, a row an episode, to actions.
BatchPolicy = Callable[[NDArray[np.float32]], NDArray[np.float32]]


@dataclass(frozen=True)
class Score:
    """The reward of one who decides, over episodes.

    Attributes
    ----------
    name
        The policy's name, or the law's.
    rewards
        The mean reward of a decision, an episode each.
    throughput_bps, rtt_s, loss
        The means of the same episodes.
    """

    name: str
    rewards: NDArray[np.float64]
    throughput_bps: float
    rtt_s: float
    loss: float

    @property
    def mean(self) -> float:
        """The mean reward of a decision."""
        return float(self.rewards.mean())

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mean, of episodes that are independent."""
        count = len(self.rewards)
        return 1.96 * float(self.rewards.std(ddof=1)) / math.sqrt(count) if count > 1 else math.inf

    def __str__(self) -> str:
        """Return the numbers in a line."""
        return (
            f"{self.name}: reward {with_interval(self.mean, self.half_width, 3)}, "
            f"{self.throughput_bps / 1e6:.2f} Mbit/s, {self.rtt_s * 1e3:.0f} ms, "
            f"{self.loss:.2%} lost"
        )


def score(
    task: Task,
    policies: Mapping[str, BatchPolicy] | None = None,
    *,
    laws: Sequence[str] = ("reno", "cubic", "bbr"),
    episodes: int = 100,
    seed: int = 1,
    threads: int | None = None,
) -> list[Score]:
    """Run policies and growth laws in the same episodes, and return their rewards.

    Parameters
    ----------
    task
        The task.
    policies
        Policies by name, each from observations (a row an episode) to actions (a row an episode).
    laws
        Growth laws, which decide as they do in every flow; their records are of the same intervals.
    episodes
        The number of episodes; episode n has the seed ``seed`` + n.
    seed
        The first seed.
    threads
        Threads; default: as many as cores.

    Returns
    -------
    list of Score
        The policies' first, then those of the laws.
    """
    found = [
        _run(name, VectorEnv(task, episodes, threads=threads), policy, seed)
        for name, policy in (policies or {}).items()
    ]
    for law in laws:
        env = VectorEnv(task, episodes, threads=threads, follows=law)
        still = np.zeros((episodes, 1), np.float32)
        found.append(_run(law, env, lambda _, still=still: still, seed))
    return found


def _run(name: str, env: VectorEnv, policy: BatchPolicy, seed: int) -> Score:
    observations, _ = env.reset(seed=seed)
    goes_on = np.ones(env.num_envs, bool)
    rewards = np.zeros(env.num_envs)
    counts = np.zeros(env.num_envs)
    sums = {"throughput_bps": 0.0, "rtt_mean_s": 0.0, "loss": 0.0}
    while goes_on.any():
        observations, reward, _, truncated, info = env.step(policy(observations))
        rewards[goes_on] += reward[goes_on]
        counts[goes_on] += 1
        for key in sums:
            sums[key] += float(np.nansum(info[key][goes_on]))
        goes_on &= ~truncated
    total = counts.sum()
    return Score(
        name, rewards / counts, sums["throughput_bps"] / total, sums["rtt_mean_s"] / total,
        sums["loss"] / total,
    )  # fmt: skip
