"""Train a small congestion control on ackclock/Aurora-v0, with numpy alone.

A linear policy learns by augmented random search (Mania, Guy and Recht, 2018): pairs of policies,
each a little to one side and to the other of the present one, play the same episodes, and the
policy moves to where the rewards are. It is then held against a fixed 80 % of the capacity, and
against Reno, CUBIC and BBR, on links that it has not seen.

    python aurora.py [--iterations 120] [--out FOLDER]
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import ackclock.gym as learn

SEED = 1
PAIRS, EPISODES = 24, 4
STEP, NOISE, BEST = 0.12, 0.25, 12
#: The seeds of links that training never sees.
HELD_OUT, HELD_OUT_EPISODES = 1_000_000, 200


def features(observations):
    """Return the observation about its resting point: nothing rises, nothing waits, all arrives."""
    rows = observations.reshape(len(observations), -1, 3) - np.array([0.0, 1.0, 1.0])
    rows = np.tanh(rows * np.array([5.0, 2.0, 2.0]))
    return np.concatenate([rows.reshape(len(rows), -1), np.ones((len(rows), 1))], axis=1)


def act(weights, observations):
    """Return actions; one row of weights for each observation, or one for all."""
    return 10 * np.tanh((features(observations) * weights).sum(axis=1, keepdims=True))


def rewards(env, weights, seeds):
    """Return the mean reward of each world's episode."""
    observations, _ = env.reset(seed=seeds)
    total = np.zeros(env.num_envs)
    for _ in range(env.task.steps):
        observations, reward, _, _, _ = env.step(act(weights, observations).astype(np.float32))
        total += reward
    return total / env.task.steps


def train(iterations, say=print):
    """Return the weights, and a list of (CPU seconds, mean reward) for the curve."""
    task = learn.aurora()
    random = np.random.default_rng(SEED)
    env = learn.VectorEnv(task, 2 * PAIRS * EPISODES)
    size = features(np.zeros((1, env.single_observation_space.shape[0]))).shape[1]
    weights, curve, began = np.zeros(size), [], time.process_time()
    for iteration in range(iterations):
        noise = random.normal(size=(PAIRS, size))
        both = np.concatenate([weights + NOISE * noise, weights - NOISE * noise])
        # Both of a pair play the same links, which are other ones in each iteration.
        links = SEED + 1 + np.arange(PAIRS * EPISODES) + iteration * PAIRS * EPISODES
        found = rewards(env, np.repeat(both, EPISODES, axis=0), [int(n) for n in np.tile(links, 2)])
        up, down = found.reshape(2, PAIRS, EPISODES).mean(axis=2)
        best = np.argsort(-np.maximum(up, down))[:BEST]
        spread = np.concatenate([up[best], down[best]]).std() + 1e-9
        weights = weights + STEP / (BEST * spread) * ((up - down)[best] @ noise[best])
        curve.append((time.process_time() - began, float(found.mean())))
        if iteration % 10 == 9:
            say(
                f"iteration {iteration + 1}: {curve[-1][0]:.0f} s of CPU, reward {found.mean():.3f}"
            )
    return weights, curve


def capacity_share(share):
    """Return the rewards of a sender at a fixed share of each held-out link's capacity."""
    task = learn.aurora()
    env = learn.VectorEnv(learn.Task(**{**vars(task), "action": "rate_bps"}), HELD_OUT_EPISODES)
    env.reset(seed=HELD_OUT)
    rates = share * env.capacities_bps[:, None]
    steps = [env.step(rates.astype(np.float32))[1] for _ in range(task.steps)]
    return np.mean(steps, axis=0)


def draw(curve, fixed, path):
    """Write the curve of training, if matplotlib is installed."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - it is not needed to train
    except ImportError:
        return
    seconds, mean = np.array(curve).T
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot(
        seconds, mean, color="#0072b2", lw=1.2, label="training episodes, other links each time"
    )
    axes.axhline(fixed, color="#d55e00", ls="--", lw=1.2, label="80 % of capacity, held-out links")
    axes.set(xlabel="CPU time (s)", ylabel="mean reward of a decision")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "aurora"
    figure.savefig(path, metadata={"Date": None})


def main():
    """Train, compare, and leave the weights and the curve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    weights, curve = train(arguments.iterations)
    policy = lambda observations: act(weights, observations)  # noqa: E731
    scores = learn.score(
        learn.aurora(), {"learned": policy}, episodes=HELD_OUT_EPISODES, seed=HELD_OUT
    )
    fixed = capacity_share(0.8)
    for score in scores:
        print(score)
    half = 1.96 * fixed.std(ddof=1) / len(fixed) ** 0.5
    print(f"80 % of capacity: reward {fixed.mean():.3f} ± {half:.3f}")
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        left = {
            "seed": SEED,
            "weights": weights.tolist(),
            "curve": curve,
            "learned": scores[0].mean,
            "fixed": float(fixed.mean()),
        }
        (arguments.out / "aurora.json").write_text(json.dumps(left))
        draw(curve, float(fixed.mean()), arguments.out / "aurora.svg")


if __name__ == "__main__":
    main()
