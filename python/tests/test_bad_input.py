"""Bad input: one line on stderr, the exit code 2, nothing written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from support import SMALL, Answer

ALTMAN = {"mu": "170", "lambda": "10", "tau1": "0.05", "tau2": "0.05", "buffer": "5"}

#: The scenario above with one thing wrong: what is replaced, by what, and a word of the message.
FILES = {
    "unknown key": ('name = "a"', 'name = "a"\nvarient = "reno"', "variant"),
    "unknown key at the top": ("duration", "duraton", "duration"),
    "wrong unit": ('"20 ms"', '"20 Mbit/s"', "ms"),
    "unit missing": ('"20 ms"', '"20"', "unit"),
    "unit in the wrong case": ('"10 Mbit/s"', '"10 mbit/s"', "Mbit/s"),
    "number for a text": ('"20 ms"', "20", "ms"),
    "negative rate": ('"10 Mbit/s"', '"-10 Mbit/s"', "negative"),
    "rate of zero": ('"10 Mbit/s"', '"0 Mbit/s"', "at least"),
    "unknown sender": ('"newreno"', '"newrino"', "newreno"),
    "unknown kind": ('"dumbbell"', '"dumbell"', "dumbbell"),
    "loss above one": ('"20 ms",', '"20 ms", loss = 1.5,', "probability"),
    "loss that is no number": ('"20 ms",', '"20 ms", loss = true,', "a number or text such as"),
    "loss of every none": ('"20 ms",', '"20 ms", loss = { every = 0 },', "loss.every"),
    "loss of every half": ('"20 ms",', '"20 ms", loss = { every = 0.5 },', "whole number"),
    "loss from the first none on": (
        '"20 ms",',
        '"20 ms", loss = { every = 9, first = 0 },',
        "loss.first",
    ),
    "loss with an unknown key": ('"20 ms",', '"20 ms", loss = { evry = 9 },', "every"),
    "no flows": (SMALL[SMALL.index("[[flow]]") : SMALL.index("[[measure]]")], "", "flow"),
    "seed that is no number": ("duration", 'seed = "one"\nduration', "seed"),
    "negative seed": ("duration", "seed = -1\nduration", "seed"),
    "not TOML": ('"5 s"', '"5 s', "TOML"),
    "empty file": (SMALL, "", "duration"),
}


def files_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def check(answer: Answer, *words: str) -> None:
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1, answer.err
    assert answer.err.startswith("ackclock: ")
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("case", FILES)
def test_file_that_cannot_be_used(case: str, work: Path, ackclock: Callable[..., Answer]) -> None:
    old, new, word = FILES[case]
    assert old in SMALL
    (work / "bad.toml").write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    before = files_below(work)
    check(ackclock("run", "bad.toml", "--out", "out"), "bad.toml", word)
    check(ackclock("run", "bad.toml", "--json"), "bad.toml", word)
    assert files_below(work) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rubbish.toml", bytes(range(256))),
        ("rubbish.json", b"\x00\x01\x02"),
        ("nothing.json", b""),
        ("list.json", b"[1, 2]"),
        ("nan.json", b'{"duration": NaN}'),
        ("deep.json", b"[" * 100_000),
    ],
)
def test_rubbish(name: str, content: bytes, work: Path, ackclock: Callable[..., Answer]) -> None:
    (work / name).write_bytes(content)
    before = files_below(work)
    check(ackclock("run", name, "--out", "out"), name)
    assert files_below(work) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], ["FILE"]),
        (["run", "missing.toml", "--out", "out"], ["missing.toml", "no such file"]),
        (["run", ".", "--out", "out"], ["folder"]),
        (["run", "/dev/null", "--out", "out"], []),
        (["run", "", "--out", "out"], []),
        (["run", "good.toml", "--seed", "many"], ["--seed", "many"]),
        (["run", "good.toml", "--seed", "-1"], ["--seed"]),
        (["run", "good.toml", "--seed", "1.5"], ["--seed"]),
        (["run", "good.toml", "--seed", str(2**64)], ["--seed"]),
        (["run", "good.toml", "--out", "good.toml"], ["good.toml", "is a file"]),
        (["run", "good.toml", "--out", "good.toml/deeper"], ["good.toml", "is a file"]),
        (["run", "good.toml", "extra"], ["extra"]),
        (["run", "good.toml", "--sed", "1"], ["--seed"]),
        (["rnu", "good.toml"], ["run"]),
        (["--vresion"], ["--version"]),
        (["theory", "altmann"], ["altman"]),
        (["theory", "infer", "lamda"], ["lambda"]),
        (["theory", "infer", "lambda", "--mu", "170"], []),
        (["theory", "infer", "lambda", "--rtt-ci", "1"], ["--rtt"]),
        (["theory", "response", "--loss", "0", "--rtt", "0.1"], ["--loss"]),
        (["theory", "response", "--loss", "1.5", "--rtt", "0.1"], ["--loss"]),
        (["theory", "response", "--loss", "0.01", "--rtt", "-1"], ["--rtt"]),
        (["reproduce", "altman"], ["altman1997"]),
        (["reproduce", "altman1997/nothing"], ["nothing"]),
        (["reproduce", "altman1997", "--out", "good.toml"], ["is a file"]),
        (["reproduce", "altman1997", "--threads", "0"], ["--threads"]),
        (["bench", "--workload", "W(2,3)"], ["W(1,100M)"]),
        (["bench", "--variant", "cubik"], ["cubik"]),
    ],
)
def test_arguments_that_cannot_be_used(
    arguments: list[str], words: list[str], work: Path, ackclock: Callable[..., Answer]
) -> None:
    (work / "good.toml").write_text(SMALL, encoding="utf-8")
    before = files_below(work)
    check(ackclock(*arguments), *words)
    assert files_below(work) == before


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("lambda", "170"),
        ("lambda", "200"),
        ("lambda", "-1"),
        ("mu", "0"),
        ("mu", "-170"),
        ("mu", "nan"),
        ("mu", "inf"),
        ("mu", "fast"),
        ("tau1", "-0.05"),
        ("buffer", "0"),
        ("bw-in", "0"),
        ("rto", "-1"),
    ],
)
def test_parameters_out_of_range(
    option: str, value: str, work: Path, ackclock: Callable[..., Answer]
) -> None:
    values = ALTMAN | {option: value}
    arguments = [word for name, each in values.items() for word in (f"--{name}", each)]
    check(ackclock("theory", "altman", *arguments), f"--{option}")
    check(ackclock("theory", "altman", *arguments, "--json"), f"--{option}")
    assert not files_below(work)


@pytest.mark.parametrize("missing", ALTMAN)
def test_parameters_left_out(missing: str, ackclock: Callable[..., Answer]) -> None:
    rest = {name: value for name, value in ALTMAN.items() if name != missing}
    arguments = [word for name, each in rest.items() for word in (f"--{name}", each)]
    check(ackclock("theory", "altman", *arguments), f"--{missing}")


def test_folder_that_cannot_be_made(
    work: Path, small_file: Path, ackclock: Callable[..., Answer]
) -> None:
    # Where not even root can make one.
    check(ackclock("run", small_file, "--out", "/proc/ackclock/out"), "/proc/ackclock")
    assert not files_below(work)


def test_the_installed_command_leaves_no_traceback(work: Path) -> None:
    command = Path(sys.executable).parent / "ackclock"
    done = subprocess.run(
        [command, "run", "missing.toml"], capture_output=True, text=True, check=False
    )
    check(Answer(done.returncode, done.stdout, done.stderr), "missing.toml")
    assert not files_below(work)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"flow": []}, "flow"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"sead": 1}, "seed"),
        ({"duration": "5 m"}, "duration"),
        ({"duration": float("nan")}, "duration: found nan, expected a finite"),
        ({"title": object()}, "object"),
    ],
)
def test_from_python(change: dict[str, Any], word: str, small: ac.Scenario) -> None:
    with pytest.raises(ac.BadInput, match=word) as refused:
        ac.Scenario.from_dict(small.to_dict() | change)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1"])
def test_seeds_from_python(seed: Any, small: ac.Scenario) -> None:
    with pytest.raises(ac.BadInput, match="seed"):
        ac.simulate(small, seed=seed)


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), 0.0])
def test_a_rate_of_the_model_that_is_none(rate: float) -> None:
    with pytest.raises(ac.BadInput, match=r"^rate_per_s: .*, expected a number above 0$"):
        ac.packmime(rate_per_s=rate)


def test_nothing_to_compare(small: ac.Scenario) -> None:
    kept = ("duration", "topology", "cross_traffic")
    table = {key: small.to_dict()[key] for key in kept}
    with pytest.raises(ac.BadInput, match=r"^compare: flow: missing"):
        ac.compare(ac.Scenario.from_dict(table), on=["sim"])
