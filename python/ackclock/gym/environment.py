"""One environment, and many that are stepped together in Rust."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ackclock import _core
from ackclock.gym.features import FIELDS, Numbers, Records
from ackclock.gym.tasks import Task, aurora, capacity_bps

__all__ = ["Batch", "Env", "VectorEnv", "aurora_env", "aurora_vector_env"]

#: The longest that a sender waits for an ACK that decides.
_ACK_WITHIN_S = 10.0
#: The interval in which the first records are made.
_FIRST_S = 1e-3


class Batch:
    """Worlds of one task: their records and observations, as arrays by world and learner."""

    def __init__(
        self, task: Task, count: int, *, learners: int = 1, threads: int | None = None,
        follows: str | None = None,
    ) -> None:  # fmt: skip
        self.task, self.count, self.learners, self.follows = task, count, learners, follows
        self.features = task.chosen()
        self._core = _core.Worlds(
            count, learners, threads, not task.is_rate, follows, task.transport == "numbered"
        )
        self._random = [np.random.default_rng(n) for n in range(count)]
        self._records: Numbers = np.full((count, learners, len(FIELDS)), np.nan)
        self._over: NDArray[np.uint8] = np.zeros(count, np.uint8)
        self.value: Numbers = np.full((count, learners), float(task.low))
        self.latency_s: Numbers = np.full(count, _FIRST_S)
        self._least_mean_s: Numbers = np.full((count, learners), np.inf)
        width = len(self.features)
        self.before = np.array([it.before for it in self.features], np.float32)
        self.low = np.array([it.low for it in self.features], np.float32)
        self.high = np.array([it.high for it in self.features], np.float32)
        self.history: NDArray[np.float32] = np.empty(
            (count, learners, task.history, width), np.float32
        )
        self.names: list[str] = []
        #: The payload that a world's slowest link carries, in bit/s; NaN where that is not known.
        self.capacities_bps: Numbers = np.full(count, np.nan)

    def seed(self, number: int, random: np.random.Generator) -> None:
        """Let a world draw from these numbers."""
        self._random[number] = random

    def reset(self, numbers: NDArray[np.intp]) -> None:
        """Begin these worlds anew, and let their first two intervals pass.

        Raises
        ------
        BadInput
            A scenario that cannot be run.
        """
        for number in map(int, numbers):
            text, first = self.task.draw(self._random[number])
            self.names = self._core.reset(number, text)
            self.capacities_bps[number] = capacity_bps(text)
            self.value[number] = self.task.low if first is None else first
        self.value[:] = self.task.held(self.value)
        self.latency_s[numbers] = _FIRST_S
        self._least_mean_s[numbers] = np.inf
        self.history[numbers] = self.before
        # The handshake has measured the round-trip time.
        records = self._pass(numbers, np.full(len(numbers), _FIRST_S))
        known = np.nan_to_num(records.rtt_min_ever_s[numbers], nan=_FIRST_S).max(axis=1)
        self.latency_s[numbers] = np.maximum(self.latency_s[numbers], known)
        for _ in range(2):
            self._pass(numbers, 2 * self.latency_s[numbers])
        self.history[numbers, :, :-1] = self.before

    def act(self, actions: Any) -> None:
        """Take an action for each learner: a new value, as `Task.after` has it.

        Raises
        ------
        BadInput
            An action is no number; nothing has been done.
        """
        self.value[:] = self.task.after(self.value, actions)

    def step(self, numbers: NDArray[np.intp]) -> Records:
        """Let an interval of these worlds pass; return the records of all."""
        interval = self.task.interval
        if interval == "half_latency":
            lasts = 0.5 * self.latency_s[numbers]
        elif interval == "rtt":
            lasts = self.latency_s[numbers]
        elif interval == "ack":
            lasts = np.full(len(numbers), -_ACK_WITHIN_S)
        else:
            lasts = np.full(len(numbers), float(interval))
        return self._pass(numbers, lasts)

    def _pass(self, numbers: NDArray[np.intp], lasts: Numbers) -> Records:
        intervals = np.full(self.count, np.nan)
        intervals[numbers] = lasts
        self._core.step(self.value.ravel(), intervals, self._records.reshape(-1), self._over)
        records = Records(self._records, self._least_mean_s)
        means = records.rtt_mean_s
        known = ~np.isnan(means)
        self._least_mean_s[known] = np.minimum(self._least_mean_s[known], means[known])
        # A world's interval goes by the slowest of its learners.
        slowest = np.where(known, means, 0).max(axis=1)
        self.latency_s = np.where(slowest > 0, slowest, self.latency_s)
        self.history[numbers, :, :-1] = self.history[numbers, :, 1:]
        for n, feature in enumerate(self.features):
            values = np.clip(feature.of(records), feature.low, feature.high)
            self.history[numbers, :, -1, n] = values[numbers]
        return records

    def observations(self) -> NDArray[np.float32]:
        """Return the observations by world and learner."""
        return self.history.reshape(self.count, self.learners, -1)

    @property
    def over(self) -> NDArray[np.bool_]:
        """True of a world whose scenario is over."""
        return self._over.astype(bool)

    def action_space(self) -> gymnasium.spaces.Box[np.float32]:
        """Return the space of an action."""
        return gymnasium.spaces.Box(*self.task.box, (1,), np.float32)

    def observation_space(self) -> gymnasium.spaces.Box[np.float32]:
        """Return the space of an observation: features of each interval, the last at the end."""
        history = self.task.history
        return gymnasium.spaces.Box(np.tile(self.low, history), np.tile(self.high, history))

    def info(self, records: Records) -> dict[str, Numbers]:
        """Return numbers in their units, for people, by world and learner."""
        return {
            "throughput_bps": records.throughput_bps.copy(),
            "rtt_mean_s": records.rtt_mean_s.copy(),
            "loss": records.loss,
            "value": self.value.copy(),
        }


class Env(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """A sender on a path: an action decides its rate or window until the next decision.

    Parameters
    ----------
    task
        The world, the actions, observations and rewards.
    follows
        A growth law that the sender follows in the place of the actions, to be compared with.

    Raises
    ------
    BadInput
        The world has more than one learner.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, task: Task, *, follows: str | None = None) -> None:
        self.task = task
        self._batch = Batch(task, 1, threads=1, follows=follows)
        self.action_space = self._batch.action_space()
        self.observation_space = self._batch.observation_space()
        self._all = np.arange(1)
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode; a seed fixes it and those after it."""
        super().reset(seed=seed, options=options)
        self._batch.seed(0, self.np_random)
        self._batch.reset(self._all)
        self._steps = 0
        return self._batch.observations()[0, 0].copy(), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Act, and let an interval pass."""
        self._batch.act(action)
        records = self._batch.step(self._all)
        self._steps += 1
        reward = float(self.task.rewards(records)[0, 0])
        over = self._steps >= self.task.steps or bool(self._batch.over[0])
        info = {name: float(of[0, 0]) for name, of in self._batch.info(records).items()}
        return self._batch.observations()[0, 0].copy(), reward, False, over, info


class VectorEnv(gymnasium.vector.VectorEnv[NDArray[np.float32], NDArray[np.float32], Any]):
    """Many worlds of one task, stepped together in Rust threads with the GIL released.

    An episode that is over begins anew with the next step, whose action it ignores
    (`AutoresetMode.NEXT_STEP`).

    Parameters
    ----------
    task
        The world, the actions, observations and rewards.
    num_envs
        The number of worlds.
    threads
        Threads; default: as many as cores.
    """

    def __init__(
        self, task: Task, num_envs: int = 1, *, threads: int | None = None,
        follows: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.task, self.num_envs = task, num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self._batch = Batch(task, num_envs, threads=threads, follows=follows)
        self.single_action_space = self._batch.action_space()
        self.single_observation_space = self._batch.observation_space()
        batched = gymnasium.vector.utils.batch_space
        self.action_space = batched(self.single_action_space, num_envs)
        self.observation_space = batched(self.single_observation_space, num_envs)
        self._steps = np.zeros(num_envs, int)
        self._done = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin all episodes; world n has the seed + n, or the n-th of a list."""
        del options
        if seed is not None:
            seeds = [seed + n for n in range(self.num_envs)] if isinstance(seed, int) else seed
            for number, each in enumerate(seeds):
                if each is not None:
                    self._batch.seed(number, np_random(each)[0])
        self._batch.reset(np.arange(self.num_envs))
        self._steps[:] = 0
        self._done[:] = False
        return self._observations(), {}

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], Numbers, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Act in every world, and let an interval pass in each."""
        anew = np.flatnonzero(self._done)
        goes_on = np.flatnonzero(~self._done)
        self._batch.act(actions)
        records = self._batch.step(goes_on)
        rewards = np.where(self._done, 0.0, self.task.rewards(records, ~self._done)[:, 0])
        info = {name: of[:, 0] for name, of in self._batch.info(records).items()}
        self._steps[goes_on] += 1
        truncated = ~self._done & ((self._steps >= self.task.steps) | self._batch.over)
        if len(anew):
            self._batch.reset(anew)
            self._steps[anew] = 0
        self._done = truncated.copy()
        terminated = np.zeros(self.num_envs, bool)
        return self._observations(), rewards, terminated, truncated, info

    @property
    def capacities_bps(self) -> Numbers:
        """The payload that each world's slowest link carries, in bit/s; NaN if not known."""
        return self._batch.capacities_bps.copy()

    def _observations(self) -> NDArray[np.float32]:
        return self._batch.observations()[:, 0].copy()


def aurora_env(**options: Any) -> Env:
    """Return ``ackclock/Aurora-v0``."""
    return Env(aurora(), **options)


def aurora_vector_env(num_envs: int = 1, **options: Any) -> VectorEnv:
    """Return many ``ackclock/Aurora-v0``."""
    return VectorEnv(aurora(), num_envs, **options)
