"""Plausible mistakes are told in one line, with what to write first.

They stand in scenario files, on the command line and in Python.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from support import Answer

FILE = """\
duration = "30 s"
seed = 1

[topology]
kind = "dumbbell"
access = { rate = "1 Gbit/s", delay = "1 ms" }

[topology.bottleneck]
rate = "20 Mbit/s"
delay = "18 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[flow]]
name = "download"
variant = "cubic"
profile = "linux"

[[flow]]
name = "file"
variant = "cubic"
profile = "linux"
start = "5 s"
app = { kind = "bulk", size = "5 MB" }

[[measure]]
name = "steady"
from = "10 s"

[[probe]]
flow = "download"
every = "change"
"""

RATE = 'rate = "20 Mbit/s"'
DELAY = 'delay = "18 ms"'
QUEUE = 'queue = { kind = "droptail", limit = "1 BDP" }'
LIMIT = 'limit = "1 BDP"'
VARIANT = 'variant = "cubic"\nprofile = "linux"\n\n'
APP = 'app = { kind = "bulk", size = "5 MB" }'

#: A piece of the file, the mistake in its place, and the words that the refusal begins with.
IN_FILES = [
    # Units.
    (RATE, 'rate = "10 MB/s"', '`10 MB/s`: write "80 Mbit/s"'),
    (RATE, 'rate = "1.5 MBps"', '`1.5 MBps`: write "12 Mbit/s"'),
    (RATE, 'rate = "20 mbit/s"', '`20 mbit/s`: write "20 Mbit/s"'),
    (RATE, 'rate = "20 Mbit"', '`20 Mbit`: write "20 Mbit/s"'),
    (RATE, 'rate = "20"', '`20` is not a rate such as "10 Mbit/s" (the unit is missing'),
    (RATE, "rate = 20", 'found the number 20, which has no unit; write it as in "10 Mbit/s"'),
    (RATE, "rate = 20000000", 'which has no unit; write it as in "10 Mbit/s"'),
    (RATE, 'rate = "20M"', '`20M`: write "20 Mbit/s"'),
    (RATE, 'rate = "20,5 Mbit/s"', '`20,5 Mbit/s`: write "20.5 Mbit/s"'),
    (RATE, 'rate = "20 MBit/s"', 'write "20 Mbit/s"'),
    (RATE, 'rate = "20 Mbit/sec"', 'write "20 Mbit/s"'),
    (RATE, 'rate = "20 MiB/s"', 'write "167.77216 Mbit/s"'),
    (RATE, 'rate = "-20 Mbit/s"', "must not be negative"),
    (RATE, 'rate = "0 Mbit/s"', "at least 1 bit/s"),
    (RATE, "rate = 20 Mbit/s", 'write `rate = "20 Mbit/s"`: a text stands in quotes'),
    (DELAY, 'delay = "18"', 'is not a duration such as "30 ms" (the unit is missing'),
    (DELAY, "delay = 0.018", 'which has no unit; write it as in "30 ms"'),
    (DELAY, 'delay = "18 msec"', '`18 msec`: write "18 ms"'),
    (DELAY, 'delay = "18 milliseconds"', 'write "18 ms"'),
    (DELAY, 'delay = "18 Ms"', 'write "18 ms"'),
    (DELAY, 'delay = "-1 ms"', "must not be negative"),
    ('"30 s"', "30", 'which has no unit; write it as in "30 ms"'),
    ('"30 s"', '"30 sec"', '`30 sec`: write "30 s"'),
    ('"30 s"', '"30 seconds"', '`30 seconds`: write "30 s"'),
    (LIMIT, "limit = 100", 'found the number 100, which has no unit; write it as in "50 packet"'),
    (LIMIT, 'limit = "100"', '`100`: write "100 packet"'),
    (LIMIT, 'limit = "100 pkts"', '`100 pkts`: write "100 packet"'),
    (LIMIT, 'limit = "64 KB"', '`64 KB`: write "64 kB"'),
    (LIMIT, 'limit = "64k"', '`64k`: write "64 kB"'),
    (LIMIT, 'limit = "1 bdp"', '`1 bdp`: write "1 BDP"'),
    (QUEUE, 'queue = { kind = "codel", target = 5 }', 'has no unit; write it as in "30 ms"'),
    (APP, 'app = { kind = "bulk", size = 5000000 }', 'has no unit; write it as in "1460 B"'),
    (APP, 'app = { kind = "bulk", size = "5 Mbit" }', '`5 Mbit`: write "0.625 MB"'),
    (QUEUE, 'loss = "1 percent"', '`1 percent`: write "1 %"'),
    (QUEUE, 'loss = "150 %"', "it is more than 100 %"),
    (QUEUE, "loss = 1.5", "1.5 is not a probability, expected a number from 0 to 1"),
    (QUEUE, 'loss = "0.01"', "a number without a unit stands without quotes"),
    ('start = "5 s"', "start = 5", 'has no unit; write it as in "30 ms"'),
    ('from = "10 s"', "from = 10", 'has no unit; write it as in "30 ms"'),
    ('"change"', "0.1", 'has no unit; write it as in "10 ms"'),
    ('"change"', '"changes"', '`changes` is not "change" or an interval such as "10 ms"'),
    ("seed = 1", 'seed = "7"', "write `seed = 7`, without quotes"),
    ("seed = 1", 'seed = "one"', "expected a whole number"),
    ("seed = 1", "seed = -1", "expected a whole number"),
    ("seed = 1", "seed = 1.5", "expected a whole number"),
    # Keys by another name.
    (RATE, 'bandwidth = "20 Mbit/s"', "unknown key; did you mean `rate`?"),
    (RATE, 'bw = "20 Mbit/s"', "did you mean `rate`?"),
    (RATE, 'capacity = "20 Mbit/s"', "did you mean `rate`?"),
    (DELAY, 'latency = "18 ms"', "did you mean `delay`?"),
    (DELAY, 'rtt = "36 ms"', "did you mean `delay`? It is one way, half of a round trip."),
    ('duration = "30 s"', 'time = "30 s"', "did you mean `duration`?"),
    ('duration = "30 s"', 'duraton = "30 s"', "did you mean `duration`?"),
    ("seed = 1", "seeds = [1, 2]", "did you mean `seed`?"),
    ("[[flow]]\nname", "[[flows]]\nname", "did you mean `flow`?"),
    ('[[flow]]\nname = "file"', '[[Flow]]\nname = "file"', "did you mean `flow`?"),
    (LIMIT, 'size = "100 packet"', "did you mean `limit`?"),
    (LIMIT, 'buffer = "100 packet"', "did you mean `limit`?"),
    (VARIANT, 'cc = "cubic"\n\n', "did you mean `variant`?"),
    (VARIANT, 'algorithm = "cubic"\n\n', "did you mean `variant`?"),
    (VARIANT, 'congestion_control = "cubic"\n\n', "did you mean `variant`?"),
    ('start = "5 s"', 'begin = "5 s"', "did you mean `start`?"),
    (APP, 'app = { kind = "bulk", bytes = "5 MB" }', "did you mean `size`?"),
    ('from = "10 s"', 'start = "10 s"', "did you mean `from`?"),
    ('from = "10 s"', 'from = "10 s"\nuntil = "20 s"', "did you mean `for`?"),
    ('flow = "download"', 'flows = ["download"]', "did you mean `flow`?"),
    ('"change"', '"change"\ninterval = "100 ms"', "did you mean `every`?"),
    ("[[measure]]", '[[crosstraffic]]\nrate = "5 Mbit/s"\n[[measure]]', "mean `cross_traffic`?"),
    ("[[measure]]", '[[traffic]]\nload = "60 %"\n[[measure]]', "did you mean `utilisation`?"),
    # Keys in another table.
    (QUEUE, 'buffer = "100 packet"', 'write `queue = { kind = "droptail", limit = "100 packet" }`'),
    (QUEUE, 'limit = "100 packet"', 'write `queue = { kind = "droptail", limit = "100 packet" }`'),
    (QUEUE, 'aqm = "codel"', 'write `queue = { kind = "codel" }`'),
    (QUEUE, 'queue = { kind = "codel", mark = "3 packet" }', "a key of the kind `droptail`"),
    ("[topology.bottleneck]", "[bottleneck]", "write `[topology.bottleneck]`"),
    ("[topology.bottleneck]", "[link]", "write `[topology.bottleneck]`"),
    ('profile = "linux"\n\n', "sack = true\n\n", "write `tcp = { sack = true }`"),
    ('profile = "linux"\n\n', 'mss = "1460 B"\n\n', 'write `tcp = { mss = "1460 B" }`'),
    ('profile = "linux"\n\n', "initial_window = 10\n\n", "write `tcp = { initial_window = 10 }`"),
    ('profile = "linux"\n\n', "iw = 10\n\n", "write `tcp = { initial_window = 10 }`"),
    ('profile = "linux"\n\n', 'rcvbuf = "4 MB"\n\n', 'write `tcp = { receive_window = "4 MB" }`'),
    (APP, 'size = "5 MB"', 'write `app = { kind = "bulk", size = "5 MB" }`'),
    ('kind = "dumbbell"', 'kind = "dumbbell"\nduration = "3 s"', "belongs to the file itself"),
    ('start = "5 s"', 'rtt = "50 ms"', "`rtt` is a key of `topology`"),
    ("[[measure]]", '[[event]]\nat = "10 s"\nrate = "5 Mbit/s"\n[[measure]]', "`set = { rate = "),
    # Brackets, tables and lists.
    ('[[flow]]\nname = "download"', '[flow]\nname = "download"', "write `[[flow]]`, with two"),
    ("[[measure]]", "[measure]", "write `[[measure]]`, with two brackets"),
    ("[[probe]]", "[probe]", "write `[[probe]]`, with two brackets"),
    ("[topology]", "[[topology]]", "write `[topology]`, with one bracket"),
    (QUEUE, 'queue = "droptail"', 'write `queue = { kind = "droptail" }`'),
    (QUEUE, 'queue = "fifo"', 'write `queue = { kind = "droptail" }`'),
    (APP, 'app = "bulk"', 'write `app = { kind = "bulk" }`'),
    (QUEUE, "loss = { rate = 0.01 }", "write `loss = 0.01`"),
    (QUEUE, 'loss = { kind = "random", p = 0.01 }', "write `loss = 0.01`"),
    (QUEUE, "reorder = 0.01", 'write `reorder = { share = 0.01, delay = "30 ms" }`'),
    ("[[probe]]", "[[probe]", "expected `]`"),
    ("seed = 1", "seed: 1", "expected `=`"),
    # Words.
    ('"dumbbell"', '"dumbell"', "did you mean `dumbbell`?"),
    ('"dumbbell"', '"Dumbbell"', "did you mean `dumbbell`?"),
    ('kind = "droptail"', 'kind = "fifo"', "did you mean `droptail`?"),
    ('kind = "droptail"', 'kind = "pfifo"', "did you mean `droptail`?"),
    ('kind = "droptail"', 'kind = "drop-tail"', "did you mean `droptail`?"),
    ('kind = "droptail"', 'kind = "fq-codel"', "did you mean `fq_codel`?"),
    ('kind = "droptail"', 'kind = "fqcodel"', "did you mean `fq_codel`?"),
    (APP, 'app = { kind = "ftp", size = "5 MB" }', "did you mean `bulk`?"),
    (APP, 'app = { size = "5 MB" }', "expected one of `bulk`"),
    (VARIANT, 'variant = "new-reno"\n\n', "did you mean `newreno`?"),
    (VARIANT, 'variant = "Cubic"\n\n', "did you mean `cubic`?"),
    (VARIANT, 'variant = "bbrv2"\n\n', "did you mean `bbr`?"),
    (VARIANT, 'variant = "newreno-sack"\n\n', "did you mean `newreno+sack`?"),
    (VARIANT, 'variant = "newreno sack"\n\n', "did you mean `newreno+sack`?"),
    (VARIANT, 'variant = "cubic+iw0"\n\n', "does not take `0`; expected `iw<N>`: N segments, 1 to"),
    (VARIANT, 'variant = "cubic+iw1001"\n\n', "`iw<N>`: N segments, 1 to 1000"),
    ('start = "5 s"', "count = 1e9", "expected a whole number from 1 to 1000000"),
    ('start = "5 s"', "count = 1000001", "expected a whole number from 1 to 1000000"),
    (LIMIT, 'limit = "1e18 packet"', "(packets are a whole number, in digits alone)"),
    (LIMIT, 'limit = "1e18 GB"', "(it is too large)"),
    (LIMIT, 'limit = "-3 packet"', "(it must not be negative)"),
    (LIMIT, 'limit = "0 BDP"', "(expected a finite number above 0)"),
    (
        RATE,
        'channel = { kind = "trace", times_ms = [3] }',
        "the mean rate of the channel, by which",
    ),
    ('profile = "linux"\n\n', 'profile = "Linux"\n\n', "did you mean `linux`?"),
    ('profile = "linux"\n\n', 'profile = "freebsd"\n\n', "`rfc`, `linux` or `ns2`"),
    ('"download"\nevery', '"dowload"\nevery', "did you mean `download`?"),
    ('flow = "download"', 'link = "bottlneck"', "did you mean `bottleneck`?"),
    ("[topology.bottleneck]", '[topology.bottleneck]\nchannel = "mahimahi"', 'kind = "trace"'),
    # Keys that are missing, and values that cannot be.
    (RATE, "", 'missing, expected text such as "10 Mbit/s"'),
    ('duration = "30 s"\n', "", "duration: missing"),
    (VARIANT, "", "variant: missing"),
    ('name = "file"', 'name = "download"', "is the name of another flow"),
    ('start = "5 s"', 'start = "40 s"', "expected a moment before the end of the run"),
    ('duration = "30 s"', 'duration = "1000000 h"', "more than 4.0 GB"),
    (
        "[topology.bottleneck]",
        '[topology.bottleneck]\nchannel = { kind = "trace" }',
        'expected `file = "NAME"`, or `times_ms`',
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), IN_FILES, ids=range(len(IN_FILES)))
def test_a_mistake_in_a_file_is_told_with_what_to_write(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in FILE
    path = tmp_path / "s.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ac.BadInput) as raised:
        ac.simulate(path)
    text = str(raised.value).replace(str(path), "s.toml")
    assert "\n" not in text
    assert text.startswith("s.toml:"), text
    first = text.split("Known: ", maxsplit=1)[0]
    assert said in first, text


PATH_FILE = """\
duration = "1 s"
[topology]
kind = "path"
rate = "20 Mbit/s"
rtt = "40 ms"
%s
[[flow]]
variant = "cubic"
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('buffer = { kind = "codel" }', 'found a table; write `queue = { kind = "codel" }`'),
        (
            'buffer = { kind = "droptail", limit = "9 packet" }',
            'found a table; write `queue = { kind = "droptail", ... }`',
        ),
        ("buffer = { limit = 3 }", "found a table, expected text such as"),
    ],
)
def test_a_queue_in_the_place_of_a_buffer_is_told(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(PATH_FILE % line)
    with pytest.raises(ac.BadInput) as raised:
        ac.simulate(path)
    assert f"s.toml:6: topology.buffer: {said}" in str(raised.value)


ON_THE_COMMAND_LINE = [
    ("simulate s.toml", "Did you mean `ackclock run`?"),
    ("plot s.toml", "Did you mean `ackclock report`?"),
    ("live s.toml", "Did you mean `ackclock run --on live`?"),
    ("help", "Did you mean `ackclock --help`?"),
    ("run", "Missing argument 'FILE'"),
    ("run t.toml", "t.toml: no such file (did you mean `s.toml`?), expected a scenario file"),
    ("run none.toml", "none.toml: no such file, expected a scenario file"),
    ("run s.toml --seeds 3", "--seed"),
    ("run s.toml --seed x", "expected a whole number"),
    ("run s.toml --on kernel", "--on"),
    ("run s.toml --engine fasst", "did you mean `fast`?"),
    ("run s.toml --csv flow", "did you mean `flows`?"),
    ("run s.toml --out /proc/x", "cannot write"),
    ("compare s.toml --variants newreno,cubik", "did you mean `cubic`?"),
    ("compare s.toml --variant cubic", "--variants"),
    ("reproduce altman", "did you mean `altman1997`?"),
    ("reproduce altman1997 --out /proc/x --quick", "cannot write"),
    ("new webb", "did you mean `web`?"),
    ("drill nosuch", "no such file"),
    ("drill fast-retransmitt", "no such file; did you mean the exercise `fast-retransmit`?"),
    ("run s.toml --seed", "--seed"),
    ("theory response --loss x --rtt 0.1", "a share such as"),
    ("theory response --loss 0.01 --rtt x", "a duration such as"),
]


@pytest.mark.parametrize(("words", "said"), ON_THE_COMMAND_LINE)
def test_a_mistake_on_the_command_line_is_told_in_one_line(
    tmp_path: Path,
    ackclock: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    said: str,
) -> None:
    (tmp_path / "s.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    answer = ackclock(*words.split())
    assert answer.code in {1, 2}, answer.out
    assert answer.err.startswith("ackclock: ")
    assert answer.err.count("\n") == 1, answer.err
    assert said in answer.err


def test_a_mistake_in_a_process_of_its_own_is_told_in_one_line(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "ackclock"), "run", "none.toml"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = "ackclock: none.toml: no such file, expected a scenario file (.toml or .json)\n"
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", said)


NAN = float("nan")


def path_of(rate: object = "20 Mbit/s", rtt: object = "40 ms") -> ac.Path:
    return ac.path(rate, rtt)  # type: ignore[arg-type]


IN_PYTHON = [
    (lambda: ac.Codel, AttributeError, "did you mean `CoDel`?"),
    (lambda: ac.Droptail, AttributeError, "did you mean `Queue`?"),
    (lambda: ac.load, AttributeError, "did you mean `Scenario.from_file`?"),
    (lambda: ac.Flow("cubic", varient="x"), TypeError, "did you mean `variant`?"),
    (lambda: ac.Flow("cubic", foo=1), TypeError, "expected one of `variant`"),
    (lambda: ac.simulate({"duration": "10 s"}), ac.BadInput, "ac.Scenario.from_dict"),
    (lambda: ac.simulate(3), ac.BadInput, "expected an ac.Scenario"),
    (
        lambda: ac.Scenario(topology=path_of(), flows=ac.Flow("cubic"), duration="1 s"),
        TypeError,
        "write `flows=[...]`",
    ),
    (
        lambda: ac.Scenario(topology=path_of(), flows=["cubic"], duration="1 s"),
        TypeError,
        "write `ac.Flow('cubic')`",
    ),
    (lambda: run(path_of(rate=10e6)), ac.BadInput, 'write it as in "10 Mbit/s"'),
    (lambda: run(path_of(rtt=0.04)), ac.BadInput, 'write it as in "30 ms"'),
    (lambda: run(path_of(rate="10 MB/s")), ac.BadInput, 'write "80 Mbit/s"'),
    (lambda: run(path_of(), "new-reno"), ac.BadInput, "did you mean `newreno`?"),
    (lambda: run(path_of(), seed="a"), ac.BadInput, "seed: "),
    (lambda: ac.simulate("none.toml"), ac.BadInput, "no such file"),
    (lambda: run(path_of(rtt=NAN)), ac.BadInput, "topology.rtt: found nan, expected a finite"),
    (lambda: run(lossy(NAN)), ac.BadInput, "topology.loss: found nan, expected a finite number"),
    (lambda: made(duration=10**400).check(), ac.BadInput, "duration: found a whole number of more"),
    (lambda: made(seed=10**5000).check(), ac.BadInput, "seed: found a whole number of more digits"),
    (lambda: made(title=object()).check(), ac.BadInput, "title: found an object, which has no"),
    (lambda: made(flows=[3]), TypeError, "`flows[0]` is an int; write `ac.Flow(...)`"),
    (lambda: made(flows=[None]), TypeError, "`flows[0]` is None; write `ac.Flow(...)`"),
    (lambda: made(flows=None), TypeError, "`flows` is None; write `flows=[...]`, a list"),
    (lambda: made(probes=3), TypeError, "`probes` is one int; write `probes=[...]`, a list"),
    (lambda: ac.simulate_many(None), ac.BadInput, "scenarios: found None, expected a list of ac."),
    (lambda: ac.simulate_many(made()), ac.BadInput, "scenarios: found a Scenario, expected a list"),
    (lambda: ac.simulate_many([3]), ac.BadInput, "scenario: found an int, expected an ac.Scenario"),
    (lambda: ac.simulate(made()).flows["x"], KeyError, "flows: 'x' is not a column, expected one"),
    (
        lambda: ac.simulate(made()).flows["goodput"],
        KeyError,
        "'goodput' is not a column; did you mean `goodput_bps`?",
    ),
    (lambda: ac.compare(made(), on="sim,lab"), ac.BadInput, "`lab` is no substrate, expected one"),
    (lambda: ac.compare(made(), on="sim", repeat=0), ac.BadInput, "repeat: found 0, expected at"),
    (lambda: ac.theory.response(loss_rate="1 %", rtt_s=0.1), ac.BadInput, "loss_rate = 0.01"),
    (lambda: ac.theory.response(loss_rate=0.01, rtt_s="100 ms"), ac.BadInput, "rtt_s = 0.1"),
]


def lossy(loss: float) -> ac.Path:
    return ac.Path("20 Mbit/s", "40 ms", loss=loss)


def made(**more: object) -> ac.Scenario:
    keys: dict[str, object] = {"topology": path_of(), "flows": [ac.Flow("cubic")]}
    return ac.Scenario(**{**keys, "duration": "1 s", **more})  # type: ignore[arg-type]


def run(topology: ac.Topology, variant: str = "cubic", **more: object) -> ac.Run:
    scenario = ac.Scenario(topology=topology, flows=[ac.Flow(variant)], duration="1 s")
    return ac.simulate(scenario, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("wrong", "error", "said"), IN_PYTHON, ids=range(len(IN_PYTHON)))
def test_a_mistake_in_python_is_told_in_one_line(
    wrong: object, error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as raised:
        wrong()  # type: ignore[operator]
    assert "\n" not in str(raised.value)
    assert said in str(raised.value)


def test_there_are_a_hundred_mistakes() -> None:
    assert len(IN_FILES) + len(ON_THE_COMMAND_LINE) + len(IN_PYTHON) >= 150


@pytest.mark.parametrize("before", range(10))
def test_a_number_that_is_too_long_is_seen_wherever_it_stands(before: int) -> None:
    # The least of them: 2^1024 has 309 digits. A scenario's text has its seed before its names.
    table = {"title": "x" * before, "seed": 2**1024}
    with pytest.raises(ac.BadInput, match="seed: found a whole number of more digits"):
        ac.Scenario.from_dict(table)
