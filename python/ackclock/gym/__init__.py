"""Gymnasium environments: a sender whose rate or window a learner sets (extra ``[rl]``).

The world is any scenario in which a flow has the variant ``learner``; other flows keep it company.
An observation is what a sender can know of its path. ``ackclock/Aurora-v0`` has the ranges and
formulas of PCC-RL (Jay, Rotman, Godfrey, Schapira and Tamar, "A Deep Reinforcement Learning
Perspective on Internet Congestion Control", ICML 2019)::

    import gymnasium
    import ackclock.gym

    env = gymnasium.make("ackclock/Aurora-v0")
    many = gymnasium.make_vec("ackclock/Aurora-v0", num_envs=64)

`Task` describes an environment of your own, `Env`, `VectorEnv` and `parallel_env` (PettingZoo)
make it. A policy becomes a sender by `PolicyLaw`, and `score` compares it with Reno, CUBIC and
BBR.
"""

from ackclock.base.extras import needed

with needed("ackclock.gym needs", "numpy", extra="rl"):
    import gymnasium

from ackclock.gym.environment import Env, VectorEnv
from ackclock.gym.features import FEATURES, Feature, Records
from ackclock.gym.parallel import parallel_env
from ackclock.gym.policy import PolicyLaw, register_policy
from ackclock.gym.scores import Score, score
from ackclock.gym.tasks import Task, aurora, aurora_reward

__all__ = [
    "FEATURES",
    "Env",
    "Feature",
    "PolicyLaw",
    "Records",
    "Score",
    "Task",
    "VectorEnv",
    "aurora",
    "aurora_reward",
    "parallel_env",
    "register_policy",
    "score",
]

gymnasium.register(
    id="ackclock/Aurora-v0",
    entry_point="ackclock.gym.environment:aurora_env",
    vector_entry_point="ackclock.gym.environment:aurora_vector_env",
)
