"""Environments for learners: what Gymnasium asks of them, physics, and policies as senders."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

import ackclock as ac
from ackclock import gym
from ackclock.gym.tasks import PACKET_BYTES, PAYLOAD_BYTES, aurora_link
from support import ROOT

RNG = np.random.default_rng


def test_gymnasium_accepts_the_environment(recwarn: pytest.WarningsRecorder) -> None:
    del recwarn  # It advises a space of -1 to 1.
    check_env(gymnasium.make("ackclock/Aurora-v0").unwrapped, skip_render_check=True)


def test_a_seed_fixes_an_episode() -> None:
    def played(seed: int) -> list[float]:
        env = gymnasium.make("ackclock/Aurora-v0")
        found = [float(env.reset(seed=seed)[0].sum())]
        for n in range(40):
            observation, reward, *_ = env.step(np.array([n % 5 - 2], np.float32))
            found += [float(reward), float(observation.sum())]
        return found

    assert played(3) == played(3)
    assert played(3) != played(4)


def test_many_worlds_are_as_one_each() -> None:
    many = gymnasium.make_vec("ackclock/Aurora-v0", num_envs=6)
    ones = [gymnasium.make("ackclock/Aurora-v0") for _ in range(6)]
    first, _ = many.reset(seed=10)
    for n, env in enumerate(ones):
        assert np.array_equal(first[n], env.reset(seed=10 + n)[0])
    random = RNG(1)
    for _ in range(30):
        actions = random.normal(size=(6, 1)).astype(np.float32)
        observations, rewards, _, _, _ = many.step(actions)
        for n, env in enumerate(ones):
            observation, reward, *_ = env.step(actions[n])
            assert np.array_equal(observations[n], observation)
            assert rewards[n] == pytest.approx(reward)


def test_threads_change_nothing() -> None:
    def played(threads: int) -> Any:
        env = gym.VectorEnv(gym.aurora(), 32, threads=threads)
        env.reset(seed=5)
        return [env.step(np.full((32, 1), n % 3 - 1, np.float32))[1].copy() for n in range(50)]

    assert np.array_equal(played(1), played(2))


def test_an_episode_that_is_over_begins_anew() -> None:
    task = gym.Task(world=lambda _: aurora_link(300, 50, 100, 0.0), steps=5, interval=0.2)
    env = gym.VectorEnv(task, 2)
    env.reset(seed=1)
    ends = []
    for _ in range(12):
        _, rewards, _, truncated, _ = env.step(np.zeros((2, 1), np.float32))
        ends.append((bool(truncated[0]), rewards[0] == 0))
    # Five steps, then one that begins anew and has no reward.
    assert ends == ([(False, False)] * 4 + [(True, False), (False, True)]) * 2


def at_rate(packets_s: float, transport: str, **link: Any) -> dict[str, float]:
    """Return what a sender at a constant rate sees, after a while."""
    task = gym.Task(
        world=lambda _: aurora_link(
            **({"packets_s": 300, "delay_ms": 100, "queue": 60, "loss": 0.0} | link)
        ),
        action="rate_bps",
        interval=1.0,
        steps=100,
        transport=transport,  # type: ignore[arg-type]
    )
    env = gym.Env(task)
    env.reset(seed=1)
    action = np.array([packets_s * 8 * PAYLOAD_BYTES], np.float32)
    found: list[dict[str, Any]] = [env.step(action)[4] for _ in range(20)][5:]
    return {key: float(np.mean([it[key] for it in found])) for key in found[0]}


@pytest.mark.parametrize("transport", ["tcp", "numbered"])
def test_the_path_is_not_fooled(transport: str) -> None:
    half = at_rate(150, transport)
    # 150 packets a second arrive, in the time of the empty path: 200 ms and 3.3 ms of one packet.
    assert half["throughput_bps"] == pytest.approx(150 * 8 * PAYLOAD_BYTES, rel=0.01)
    assert half["rtt_mean_s"] == pytest.approx(0.2034, abs=0.0005)
    assert half["loss"] == 0
    above = at_rate(450, transport)
    # Never more than the link has; the queue is full, and 60 packets take 0.2 s of it.
    assert above["throughput_bps"] <= 300 * 8 * PAYLOAD_BYTES * 1.001
    assert above["rtt_mean_s"] > 0.38
    # A third of what is sent; TCP finds some of its retransmissions lost, too.
    assert above["loss"] == pytest.approx(1 / 3, abs=0.03)


def test_the_reward_is_that_of_the_formula() -> None:
    fields = len(gym.features.FIELDS)
    values = np.zeros((1, 1, fields))

    def put(name: str, value: float) -> None:
        values[..., gym.features.FIELDS.index(name)] = value

    # 200 packets delivered and 50 lost in 2 s, with 0.25 s of round-trip time.
    put("duration_s", 2.0)
    put("delivered_bytes", 200 * 1460)
    put("lost_bytes", 50 * 1460)
    put("rtt_mean_s", 0.25)
    records = gym.Records(values, np.array([[0.25]]))
    # A thousandth of 10 times 100, less 1000 times 0.25, less 2000 times 0.2.
    assert gym.aurora_reward(records)[0, 0] == pytest.approx(0.35)
    # The rise from 0.2 s to 0.3 s over 2 s; 0.25 over the least mean; 250 sent of which 200 came.
    put("rtt_first_half_s", 0.2)
    put("rtt_second_half_s", 0.3)
    put("sent_bytes", 250 * 1460)
    of = {name: float(gym.FEATURES[name].of(records)[0, 0]) for name in gym.aurora().features}
    assert of == pytest.approx(
        {"latency_inflation": 0.05, "latency_ratio": 1.0, "send_ratio": 1.25}
    )


def test_the_links_are_drawn_from_the_published_ranges() -> None:
    drawn = [json.loads(gym.aurora().draw(RNG(n))[0]) for n in range(300)]
    links = [it["topology"]["link"][0] for it in drawn]
    rates = [float(it["rate"].split()[0]) / 12_000 for it in links]
    delays = [float(it["delay"].split()[0]) for it in links]
    queues = [int(it["queue"]["limit"].split()[0]) for it in links]
    losses = [it["loss"] for it in links]
    assert (min(rates) > 100, max(rates) < 500, np.mean(rates)) == (
        True, True, pytest.approx(300, abs=25),
    )  # fmt: skip
    assert (min(delays) > 50, max(delays) < 500) == (True, True)
    # 1 + floor(exp(U(0, 8))): the median is e^4.
    assert (min(queues), np.median(queues)) == (2, pytest.approx(54.6, rel=0.4))
    assert max(queues) <= 2981
    assert (min(losses) >= 0, max(losses) < 0.05) == (True, True)


COMPANY = """\
{"duration": "30 s",
 "topology": {"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms", "buffer": "1 BDP"},
 "flow": [{"name": "one", "variant": "learner"}, {"name": "two", "variant": "learner+rack"},
          {"name": "cubic", "variant": "cubic", "start": "2 s"}]}
"""


def test_several_learners_share_a_path_with_others() -> None:
    task = gym.Task(world=lambda _: COMPANY, action="window_bytes", low=1460, high=1e6, steps=60)
    env = gym.parallel_env(task, 2)
    assert env.possible_agents == ["one", "two"]
    env.reset(seed=1)
    throughput = np.zeros(2)
    for _ in range(60):
        _, _, _, _, info = env.step({"one": 60_000.0, "two": 30_000.0})
        throughput += [info["one"]["throughput_bps"], info["two"]["throughput_bps"]]
    # A window twice as large has twice the share.
    assert throughput[0] / throughput[1] == pytest.approx(2, rel=0.15)
    parallel_api_test(gym.parallel_env(task, 2), num_cycles=50)
    with pytest.raises(ac.BadInput, match="2 flows have the variant `learner`, expected 3"):
        gym.parallel_env(task, 3)


def test_a_decision_may_come_with_each_ack() -> None:
    task = gym.Task(
        world=lambda _: COMPANY.replace("learner+rack", "reno"),
        action="window_change", low=1460, high=1e6, first=20_000, interval="ack", steps=200,
        features=("rtt_min_s", "in_flight_bytes", "duration_s"), history=1,
    )  # fmt: skip
    env = gym.Env(task)
    env.reset(seed=1)
    lasted = [env.step(np.array([0.0], np.float32))[0][2] for _ in range(200)]
    # At 10 Mbit/s two segments take 2.4 ms, and other flows are between.
    assert 0 < np.median(lasted) < 0.02


def test_a_scenario_file_is_a_world(tmp_path: Path) -> None:
    file = tmp_path / "world.json"
    file.write_text(COMPANY.replace("learner+rack", "reno"))
    env = gym.Env(gym.Task(world=file, action="rate_bps", interval="rtt", steps=10))
    env.reset(seed=1)
    *_, info = env.step(np.array([1e6], np.float32))
    assert info["value"] == 1e6


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"features": ("rtt",)}, "features: found `rtt`, expected one of latency_inflation"),
        ({"steps": 0}, "steps: found 0, expected a whole number of at least 1"),
        ({"history": 1.5}, "history: found 1.5, expected a whole number of at least 1"),
        ({"low": 0}, "low, high: found 0 and"),
        ({"interval": 0}, "interval: found 0, expected seconds above 0"),
        ({"interval": "rt"}, "interval: found 'rt', expected seconds, \"half_latency\" .*`rtt`"),
        ({"action": "rate"}, "action: found 'rate', expected \"rate_change\" or"),
        ({"transport": "udp"}, "transport: found 'udp', expected \"tcp\" or"),
        ({"change": 0}, "change: found 0, expected a number above 0"),
        ({"low": "2 kB"}, "low: found '2 kB', expected a number"),
    ],
)
def test_a_task_that_cannot_be_is_told(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ac.BadInput, match=said):
        gym.Task(world=lambda _: COMPANY, **keys)


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (lambda _: 1.0, r"reward: found the shape \(\), expected an array of the shape \(1, 1\)"),
        (lambda it: it.duration_s * np.nan, "reward: found NaN, expected a number each"),
        (lambda _: "good", "reward: found 'good', expected a number"),
    ],
)
def test_a_reward_that_is_no_number_each_is_told(reward: Any, said: str) -> None:
    task = gym.Task(world=lambda _: COMPANY.replace("learner+rack", "reno"), reward=reward)
    for env in (gym.Env(task), gym.VectorEnv(task, 1)):
        env.reset(seed=1)
        with pytest.raises(ac.BadInput, match=said):
            env.step(np.zeros(1, np.float32))


def test_actions_of_another_shape_are_told() -> None:
    env = gym.VectorEnv(gym.Task(world=lambda _: COMPANY.replace("learner+rack", "reno")), 2)
    env.reset(seed=1)
    for actions, said in (
        (np.zeros(3), r"action: found the shape \(3,\), expected numbers of the shape \(2, 1\)"),
        ("fast", "action: found 'fast', expected a number"),
    ):
        with pytest.raises(ac.BadInput, match=said):
            env.step(actions)


def test_worlds_that_cannot_be_are_told() -> None:
    none = gym.Task(world=lambda _: COMPANY.replace("learner", "cubic"))
    with pytest.raises(ac.BadInput, match="no flow has the variant `learner`"):
        gym.Env(none).reset(seed=1)
    company = gym.Task(
        world=lambda _: COMPANY.replace("learner+rack", "reno"), transport="numbered"
    )
    with pytest.raises(ac.BadInput, match="numbered packets: the scenario has flows that are not"):
        gym.Env(company).reset(seed=1)


def follow(observation: np.ndarray) -> float:
    """Go faster while the path is empty, and slower while it fills."""
    return 2.0 if observation[-2] < 1.05 else -2.0


def test_a_policy_drives_a_sender_as_in_its_environment(tmp_path: Path) -> None:
    task = gym.Task(
        world=lambda _: aurora_link(300, 50, 200, 0.0),
        interval="rtt",
        first=200 * 8 * PAYLOAD_BYTES,
        high=1000 * 8 * PAYLOAD_BYTES,
        steps=100,
    )
    env = gym.Env(task)
    observation, _ = env.reset(seed=1)
    infos = []
    for _ in range(100):
        observation, _, _, _, info = env.step(np.array([follow(observation)], np.float32))
        infos.append(info["throughput_bps"])
    gym.register_policy("followed", task, follow)
    values = json.loads(aurora_link(300, 50, 200, 0.0)) | {"duration": "20 s"}
    values["flow"][0]["variant"] = "followed"
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(values))
    run = ac.simulate(file)
    [row] = run.rows("flows")
    # Both use nearly all of 300 packets a second.
    assert np.mean(infos[50:]) > 0.85 * 300 * 8 * PAYLOAD_BYTES
    assert row["goodput_bps"] > 0.8 * 300 * 8 * PAYLOAD_BYTES
    sweep = ac.simulate_many([ac.Scenario.from_file(file)] * 2)
    assert [it["goodput_bps"] for it in sweep.rows("flows")] == [row["goodput_bps"]] * 2
    # The bound of its training's links holds it on one of 3000 packets a second, too, and another
    # lets it go on: 5 % more a round trip of 100 ms are 6 s from 200 packets a second to 3000, so
    # that the mean is lower.
    values["topology"]["link"][0]["rate"] = f"{3000 * 8 * PACKET_BYTES} bit/s"
    [row] = ac.simulate(ac.Scenario.from_dict(values)).rows("flows")
    assert 0.8 * task.high < row["goodput_bps"] <= task.high
    gym.register_policy("unbound", replace(task, high=10 * task.high), follow)
    values["flow"][0]["variant"] = "unbound"
    [row] = ac.simulate(ac.Scenario.from_dict(values)).rows("flows")
    assert row["goodput_bps"] > 2 * task.high


def test_a_policy_is_held_to_the_box_and_the_bounds_of_its_task() -> None:
    # An action of 400 is one of 40, twice the window, which is at most 1e5 bytes: 68.5 segments.
    task = gym.Task(
        world=lambda _: COMPANY, action="window_change", low=2920, high=1e5, interval="rtt"
    )
    gym.register_policy("eager", task, lambda _: 400.0)
    gym.register_policy("lost", task, lambda _: np.nan)
    gym.register_policy("many", task, lambda _: np.array([1.0, 2.0]))
    values = json.loads(aurora_link(3000, 50, 2000, 0.0)) | {"duration": "5 s"}
    values["probe"] = [{"flow": "learner", "what": ["cwnd"], "every": "change"}]

    def run(variant: str) -> ac.Run:
        values["flow"][0]["variant"] = variant
        return ac.simulate(ac.Scenario.from_dict(values))

    windows = run("eager").flow_samples["cwnd_segments"]
    assert max(it for it in windows if it) == pytest.approx(1e5 / 1460)
    with pytest.raises(ac.BadInput, match=r"the policy's action: found \[nan\], expected numbers"):
        run("lost")
    with pytest.raises(ac.BadInput, match=r"the policy's action: found the shape \(2,\)"):
        run("many")


def test_laws_are_scored_beside_policies() -> None:
    task = gym.Task(
        world=lambda _: aurora_link(300, 50, 50, 0.0), interval="rtt", first=2e6, steps=50
    )
    scores = gym.score(
        task,
        {"still": lambda it: np.zeros((len(it), 1), np.float32)},
        laws=("reno", "bbr"),
        episodes=4,
    )
    assert [it.name for it in scores] == ["still", "reno", "bbr"]
    # 2 Mbit/s of 3.5 stay as they are; BBR uses the path.
    assert scores[0].throughput_bps == pytest.approx(2e6, rel=0.02)
    assert scores[2].throughput_bps > 2.8e6
    assert all(len(it.rewards) == 4 for it in scores)


def test_a_learner_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location(
        "learn_aurora", ROOT / "python/ackclock/examples/learners/aurora.py"
    )
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    # A tenth of the example's iterations, each of a sixth of its episodes, of a quarter of its
    # decisions.
    task = replace(gym.aurora(), steps=100)
    monkeypatch.setattr(gym, "aurora", lambda: task)
    for name, value in {"PAIRS": 8, "EPISODES": 2, "BEST": 4}.items():
        monkeypatch.setattr(example, name, value)
    weights, curve = example.train(12, say=lambda _: None)
    assert len(curve) == 12
    scores = gym.score(
        task,
        {
            "untaught": lambda it: example.act(np.zeros_like(weights), it),
            "taught": lambda it: example.act(weights, it),
        },
        laws=(),
        episodes=60,
        seed=example.HELD_OUT,
    )
    untaught, taught = (np.array(it.rewards) for it in scores)
    # Both play the same links: the mean of the differences is several of its deviations above 0.
    gained = taught - untaught
    assert gained.mean() > 3 * gained.std(ddof=1) / len(gained) ** 0.5


def test_an_action_outside_of_its_space_changes_nothing_for_good() -> None:
    env = gymnasium.make("ackclock/Aurora-v0").unwrapped
    twin = gymnasium.make("ackclock/Aurora-v0").unwrapped
    for each in (env, twin):
        each.reset(seed=1)
    with pytest.raises(ac.BadInput, match=r"action: found \[nan\], expected numbers"):
        env.step(np.array([np.nan], np.float32))
    # 1000 is taken as the 40 at which the box ends, and the step that was refused left no trace.
    found, reward, *_ = env.step(np.array([1000], np.float32))
    expected, as_much, *_ = twin.step(np.array([40], np.float32))
    assert np.array_equal(found, expected)
    assert reward == as_much


def test_a_world_that_returns_no_scenario_is_told() -> None:
    task = gym.Task(
        world=lambda _: 5,  # pyright: ignore[reportArgumentType]
        action="window_change", low=2920, high=1e6, interval="rtt", features=("loss",),
        reward=lambda _: 0.0, steps=1,
    )  # fmt: skip
    with pytest.raises(ac.BadInput, match="world: it returned 5, expected a Scenario or its JSON"):
        gym.Env(task).reset(seed=1)
