"""Several learners on one path, as a PettingZoo parallel environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.base.errors import BadInput
from ackclock.base.extras import needed
from ackclock.gym.environment import Batch
from ackclock.gym.tasks import Task, numbers_of

if TYPE_CHECKING:
    from pettingzoo import ParallelEnv

__all__ = ["parallel_env"]


def parallel_env(task: Task, learners: int) -> ParallelEnv[str, Any, Any]:
    """Return an environment in which several flows of a world learn at the same time.

    An agent has the name of its flow. All decide at the same moments: the interval goes by the
    slowest.

    Parameters
    ----------
    task
        The world, with so many flows of the variant ``learner``, the actions, observations and
        rewards.
    learners
        The number of learners.

    Raises
    ------
    BadInput
        The world has another number of learners.
    MissingPackageError
        PettingZoo is not installed.
    """
    with needed("ackclock.gym.parallel_env needs", extra="rl"):
        import pettingzoo  # noqa: PLC0415 - of all that is here this alone needs it

    class Parallel(pettingzoo.ParallelEnv[str, Any, Any]):
        """A world with several learners."""

        metadata: dict[str, Any] = {"name": "ackclock", "render_modes": []}  # noqa: RUF012

        def __init__(self) -> None:
            self._batch = Batch(task, 1, learners=learners, threads=1)
            self._all = np.arange(1)
            self._steps = 0
            self._random = np.random.default_rng()
            self._batch.seed(0, self._random)
            self._batch.reset(self._all)
            self.possible_agents = list(self._batch.names)
            self.agents = list(self.possible_agents)
            self.action_spaces = {
                agent: self._batch.action_space() for agent in self.possible_agents
            }
            self.observation_spaces = {
                agent: self._batch.observation_space() for agent in self.possible_agents
            }

        def action_space(self, agent: str) -> Any:
            return self.action_spaces[agent]

        def observation_space(self, agent: str) -> Any:
            return self.observation_spaces[agent]

        def reset(
            self, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[dict[str, Any], dict[str, Any]]:
            del options
            if seed is not None:
                self._random = np.random.default_rng(seed)
                self._batch.seed(0, self._random)
            self._batch.reset(self._all)
            self._steps = 0
            self.agents = list(self.possible_agents)
            return self._of(self._batch.observations()[0].copy()), {it: {} for it in self.agents}

        def step(
            self, actions: dict[str, Any]
        ) -> tuple[
            dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]
        ]:
            missing = [it for it in self.agents if it not in actions]
            if missing:
                raise BadInput(f"action: missing, expected one of `{missing[0]}`")
            self._batch.act([numbers_of("action", actions[it], ()) for it in self.agents])
            records = self._batch.step(self._all)
            self._steps += 1
            over = self._steps >= task.steps or bool(self._batch.over[0])
            rewards = task.rewards(records)[0]
            info = self._batch.info(records)
            agents = self.agents
            told = (
                self._of(self._batch.observations()[0].copy()),
                {it: float(rewards[n]) for n, it in enumerate(agents)},
                dict.fromkeys(agents, False),
                dict.fromkeys(agents, over),
                {
                    it: {name: float(of[0, n]) for name, of in info.items()}
                    for n, it in enumerate(agents)
                },
            )
            if over:
                self.agents = []
            return told

        def _of(self, rows: Any) -> dict[str, Any]:
            return {agent: rows[n] for n, agent in enumerate(self.agents)}

    return Parallel()
