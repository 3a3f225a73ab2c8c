"""Train PPO of stable-baselines3 on ackclock/Aurora-v0, and score it beside Reno, CUBIC and BBR.

It needs stable-baselines3 (``pip install stable-baselines3``), which brings torch::

    python stable_baselines.py
"""

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

import ackclock.gym as learn


def main():
    """Train for 200,000 decisions, and print the scores on links that training has not seen."""
    env = make_vec_env("ackclock/Aurora-v0", n_envs=8, seed=1)
    model = PPO("MlpPolicy", env, policy_kwargs={"net_arch": [32, 16]}, gamma=0.99, seed=1)
    model.learn(200_000)

    def policy(observations):
        return np.asarray(model.predict(observations, deterministic=True)[0])

    for score in learn.score(learn.aurora(), {"ppo": policy}, episodes=100, seed=1_000_000):
        print(score)


if __name__ == "__main__":
    main()
