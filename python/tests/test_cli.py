"""The output of the command."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
import typer

import ackclock as ac
from ackclock.cli import __main__ as _entry, app as cli
from support import Answer, wait_until_it_simulates

ALTMAN = ("--mu", "170", "--lambda", "10", "--tau1", "0.05", "--tau2", "0.05", "--buffer", "5")


def answer_of(answer: Answer) -> object:
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def test_version(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("--version")
    assert answer == Answer(0, f"ackclock {ac.__version__}\n", "")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["theory"], ["run", "--help"]])
def test_help(arguments: list[str], ackclock: Callable[..., Answer]) -> None:
    answer = ackclock(*arguments)
    assert answer.code == 0
    assert "Usage: ackclock" in answer.out
    assert answer.err == ""


def test_both_engines_leave_the_same(
    small_file: Path, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    answers = [ackclock("run", small_file, "--json", "--engine", e) for e in ("fast", "reference")]
    assert answers[0] == answers[1]
    assert answers[0].code == 0, answers[0].err
    for engine in ("fast", "reference"):
        ackclock("run", small_file, "--engine", engine, "--out", tmp_path / engine)
    tables = [pq.read_table(tmp_path / e / "flows.parquet") for e in ("fast", "reference")]
    assert tables[0].equals(tables[1])
    run = ac.simulate(small_file, engine="reference")
    assert run.flows == ac.simulate(small_file).flows


def test_an_engine_is_of_simulations(small_file: Path, ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("run", small_file, "--on", "live", "--engine", "reference")
    assert answer.code == 2
    assert answer.err == "ackclock: --engine: a simulation has one, expected --on sim beside it\n"
    with pytest.raises(ac.BadInput, match="engine: found `slow`, expected `fast` or `reference`"):
        ac.simulate(small_file, engine=cast("Any", "slow"))


def test_run(small_file: Path, ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("run", small_file)
    assert answer.code == 0, answer.err
    assert "newreno" in answer.out
    assert "bottleneck" in answer.out


def test_a_run_beyond_the_budget_is_refused(
    small: ac.Scenario, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    # 10 Mbit/s are some 856 segments of 1460 B a second, of 4 events each: 3.4e12 in 10^9 s.
    path = tmp_path / "long.json"
    path.write_text(
        dataclasses.replace(small, duration="1e9 s", probes=[]).to_json(), encoding="utf-8"
    )
    answer = ackclock("run", str(path))
    assert answer.code == 2
    assert "the run would take about" in answer.err
    assert "events" in answer.err
    assert len(answer.err.splitlines()) == 1
    allowed = ac.allow()
    try:
        assert ackclock("--memory", "much", "run", str(path)).code == 2
        # A budget that is too small for anything at all.
        path.write_text(small.to_json(), encoding="utf-8")
        answer = ackclock("--events", "10", "run", str(path))
        assert answer.code == 2
        assert "more than 1.00e1" in answer.err
    finally:
        ac.allow(f"{allowed[0]:.0f} B", allowed[1])
    assert ackclock("run", str(path)).code == 0


def test_compare_says_that_records_are_its_own(
    small: ac.Scenario, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    # 10^6 s of samples every 10 ms are 10^8 rows, and 5 x 10^7 the most of a probe.
    path = tmp_path / "long.json"
    long = dataclasses.replace(small, duration="1000000 s", probes=[])
    path.write_text(long.to_json(), encoding="utf-8")
    answer = ackclock("compare", str(path), "--on", "sim")
    assert answer.code == 2
    assert answer.err.startswith("ackclock: compare: its own records of windows and queues: ")


def test_a_long_run_says_how_far_it_is(small: ac.Scenario) -> None:
    told: list[float] = []
    # Some 2 s of work, told twenty times a second.
    long = dataclasses.replace(small, duration="3000 s", probes=[])
    ac.simulate(long, progress=told.append)
    assert told == sorted(told)
    assert 0.0 < told[0] < told[-1] <= 3000.0


def test_run_of_many_flows(
    small: ac.Scenario, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    table = json.loads(small.to_json())
    table["flow"][0]["count"] = 70
    table.pop("probe", None)
    file = tmp_path / "many.json"
    file.write_text(json.dumps(table))
    answer = ackclock("run", file)
    assert answer.code == 0, answer.err
    assert "a-60" in answer.out
    assert "a-61" not in answer.out
    # Of links there are two ways of the bottleneck and of 140 others.
    assert "and 10 more; --out DIR writes them all" in answer.out
    assert "and 222 more; --out DIR writes them all" in answer.out
    answer = ackclock("run", file, "--out", tmp_path / "tables")
    assert "and 10 more; all are in the tables" in answer.out


def test_run_as_json(small_file: Path, ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("run", small_file, "--json"))
    assert isinstance(answer, dict)
    (flow,) = answer["flows"]
    assert flow["name"] == "a"
    assert flow["variant"] == "newreno"
    assert set(flow) >= {
        *("goodput_bps", "segments_sent", "segments_retransmitted", "timeouts", "srtt_mean_s")
    }
    # The path carries 10 Mbit/s and no more.
    assert 0 < flow["goodput_bps"] < 10e6
    assert 0.044 < flow["srtt_mean_s"] < 0.2
    link = next(
        row
        for row in answer["links"]
        if (row["name"], row["direction"]) == ("bottleneck", "forward")
    )
    assert set(link) >= {
        *("utilisation", "offered_packets", "dropped_packets"),
        *("queue_delay_mean_s", "queue_delay_p99_s"),
    }
    assert 0 < link["utilisation"] <= 1
    assert list(answer["measures"]) == ["late"]
    # From 2 s to the end of 5 s.
    assert answer["measures"]["late"]["flows"][0]["duration_s"] == 3.0


def test_run_with_another_seed(small: ac.Scenario, tmp_path: Path) -> None:
    # Poisson cross-traffic comes at other times under another seed, at the same under the same.
    path = tmp_path / "poisson.toml"
    path.write_text(small.to_toml(), encoding="utf-8")
    one, again, other = (ac.simulate(path, seed=seed) for seed in (1, 1, 2))
    assert one.sources.equals(again.sources)
    assert not one.link_samples.equals(other.link_samples)


def test_run_writes_tables(
    small_file: Path, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    out = tmp_path / "deep" / "out"
    assert ackclock("run", small_file, "--out", out).code == 0
    tables = {path.name for path in out.iterdir()}
    assert tables == {
        *("flows.parquet", "links.parquet", "sources.parquet"),
        *("crossings.parquet", "objects.parquet", "connections.parquet", "pages.parquet"),
        *("videos.parquet", "quick_start.parquet", "flow_events.parquet"),
        *("flow_samples.parquet", "law_samples.parquet", "link_samples.parquet"),
    }
    metadata = pq.read_metadata(out / "flows.parquet").metadata
    assert json.loads(metadata[b"ackclock.scenario"])["duration"] == "5 s"
    first = {name: (out / name).read_bytes() for name in tables}
    assert ackclock("run", small_file, "--out", out).code == 0
    assert {name: (out / name).read_bytes() for name in tables} == first


def test_theory_altman(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("theory", "altman", *ALTMAN, "--json"))
    assert isinstance(answer, dict)
    assert list(answer) == ["throughput_pps", "rtt_s", "slow_starts_per_cycle", "validity"]
    assert answer["slow_starts_per_cycle"] == 2
    assert set(answer["validity"]) == {"ok", "reasons"}
    assert ackclock("theory", "altman", *ALTMAN).code == 0


def test_theory_altman_with_a_timer(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("theory", "altman", *ALTMAN, "--rto", "1", "--json"))
    assert isinstance(answer, dict)
    assert answer["throughput_with_timeout_pps"] < answer["throughput_pps"]


def test_theory_infer_gives_back_what_altman_was_told(ackclock: Callable[..., Answer]) -> None:
    told = answer_of(ackclock("theory", "altman", *ALTMAN, "--json"))
    assert isinstance(told, dict)
    known = ("--mu", "170", "--tau1", "0.05", "--tau2", "0.05", "--buffer", "5")
    measured = ("--throughput", told["throughput_pps"], "--rtt", told["rtt_s"])
    answer = answer_of(ackclock("theory", "infer", "lambda", *known, *measured, "--json"))
    assert isinstance(answer, dict)
    assert answer["identifiable"]
    assert answer["estimate"] == pytest.approx(10, rel=1e-3)
    low, high = answer["interval"]
    assert low < 10 < high


def test_theory_response(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("theory", "response", "--loss", "0.01", "--rtt", "0.1", "--json"))
    assert isinstance(answer, dict)
    # sqrt(3 / (2 * 0.01)) = 12.2474 packets each 0.1 s.
    assert answer["mathis_pps"] == pytest.approx(122.474, abs=1e-3)


def test_schema(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("schema"))
    assert isinstance(answer, dict)
    assert "topology" in answer["properties"]


def test_variants(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("variants", "--json"))
    assert isinstance(answer, list)
    assert {"tahoe", "reno", "newreno"} <= {part["word"] for part in answer}
    assert ackclock("variants").code == 0


def test_doctor(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("doctor", "--json"))
    assert isinstance(answer, list)
    found = {finding["what"]: finding for finding in answer}
    assert found["ackclock"]["found"] == ac.__version__
    for finding in answer:
        assert finding["state"] in ("ok", "missing", "info")
        # What is missing comes with what to do about it.
        assert finding["state"] != "missing" or finding["remedy"]
    assert ackclock("doctor").code == 0


def test_reproduce_lists_the_studies(ackclock: Callable[..., Answer]) -> None:
    answer = answer_of(ackclock("reproduce", "--json"))
    assert isinstance(answer, list)
    assert "altman1997" in {study["key"] for study in answer}


def test_the_package_carries_its_data() -> None:
    package = files("ackclock")
    assert (package / "py.typed").is_file()
    assert (package / "bench" / "peers" / "ns2_dumbbell.tcl").is_file()
    assert (files("ackclock_studies") / "altman1997" / "published.csv").is_file()


def test_an_interrupt_leaves_one_line(tmp_path: Path, small: ac.Scenario) -> None:
    path = tmp_path / "long.toml"
    text = small.to_toml().replace('duration = "5 s"', 'duration = "100 h"', 1)
    # Without probes, whose samples would fill the memory.
    path.write_text(text.partition("[[probe]]")[0], encoding="utf-8")
    command = Path(sys.executable).parent / "ackclock"
    with subprocess.Popen(
        [command, "run", path, "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        wait_until_it_simulates(child.pid)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert out == ""
    assert err.splitlines() == ["ackclock: interrupted"]
    assert not (tmp_path / "out").exists()


def test_an_interrupt_while_the_command_is_loaded_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        """Stands for what is loaded when the interrupt comes."""

        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "ackclock.cli.app", cast("ModuleType", Interrupted()))
    # It would end this process at once.
    monkeypatch.setattr(_entry, "_end_interrupted", lambda _: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as left:
            _entry.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.value.code == 130
    assert capsys.readouterr().err == "ackclock: interrupted\n"


#: The command, in a process that sends itself an interrupt where the text says.
_INTERRUPTED = """
import os, signal, sys, time, types, weakref

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

class Loading:
    # Python 3.11 tells any error of this as one of its own: "Error calling __set_name__".
    __set_name__ = interrupt

def load():
    type("Loaded", (), {"it": Loading()})

def swallow():
    try:
        load()
    except BaseException as error:
        raise ImportError("no such package") from error

def ignore():
    # Python ignores what is raised where a weak reference ends.
    it = Loading()
    reference = weakref.ref(it, lambda _: interrupt())
    del it
    time.sleep(30)

# A process in the background may have been begun with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from ackclock.cli import __main__ as entry, app
sys.modules["ackclock.cli.app"] = types.SimpleNamespace(main=WHEN)
entry.main()
"""


@pytest.mark.parametrize("when", ["load", "swallow", "interrupt", "ignore"])
def test_an_interrupt_of_modules_that_a_command_loads_is_one_line(when: str) -> None:
    program = _INTERRUPTED.replace("WHEN", when)
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (130, "")
    assert answer.stderr == "ackclock: interrupted\n"


def test_an_interrupt_is_one_line_whenever_it_comes(tmp_path: Path, small: ac.Scenario) -> None:
    # From the moment on at which the package is there: before, Python itself answers.
    path = tmp_path / "small.toml"
    path.write_text(small.to_toml())
    program = (
        "import ackclock.cli.__main__ as e, sys; print(1, file=sys.stderr, flush=True); e.main()"
    )
    for hundredths in range(1, 40, 6):
        with subprocess.Popen(
            [sys.executable, "-c", program, "run", path],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stderr is not None
            assert child.stderr.readline() == "1\n"
            time.sleep(hundredths / 100)
            child.send_signal(signal.SIGINT)
            said = child.stderr.read()
        assert (child.returncode, said) in {(130, "ackclock: interrupted\n"), (0, ""), (-2, "")}


# Outputs of Typer, of Rich, and of plain prints and writes.
@pytest.mark.parametrize(
    "words",
    [
        *("run --help", "variants", "new --print web", "run s.toml --csv flows"),
        *(
            pytest.param(words, marks=pytest.mark.slow)
            for words in ("--help", "doctor", "run s.toml", "run s.toml --json", "drill handshake",
                          "schema")
        ),
    ],
)  # fmt: skip
def test_an_output_that_cannot_be_written_is_one_line(
    tmp_path: Path, small: ac.Scenario, words: str
) -> None:
    (tmp_path / "s.toml").write_text(small.to_toml())
    command = [Path(sys.executable).parent / "ackclock", *words.split()]
    # A device on which every write fails with ENOSPC (full(4)).
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        answer = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert answer.returncode == 1
    assert answer.stderr == (
        "ackclock: cannot write the standard output: No space left on device\n"
    )


def test_a_closed_output_is_no_fault(tmp_path: Path, small: ac.Scenario) -> None:
    (tmp_path / "s.toml").write_text(small.to_toml())
    command = f"'{Path(sys.executable).parent}/ackclock' run s.toml --out out >&-"
    answer = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / "out" / "flows.parquet").is_file()


def test_help_shows_words_and_no_types_of_python(ackclock: Callable[..., Answer]) -> None:
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    for words in ([], *([name] for name in commands), ["theory", "response"]):
        said = ackclock(*words, "--help").out
        assert not re.search(r"<\w|\[x>=|\{\w+\}|\bbool\b", said), said
    assert "run [OPTIONS] FILE" in ackclock("run", "--help").out


def test_as_many_runs_as_no_memory_holds_are_refused(
    tmp_path: Path, small: ac.Scenario, ackclock: Callable[..., Answer]
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(small.to_toml())
    for words, key in (
        (("report", path, "--seeds", 10**9, "--out", tmp_path / "out"), "--seeds"),
        (("report", path, path, "--seeds", 10**30, "--out", tmp_path / "out"), "--seeds"),
        (("compare", path, "--on", "sim", "--repeat", 10**9), "compare: repeat"),
    ):
        answer = ackclock(*words)
        assert answer.code == 2
        assert answer.err.startswith(f"ackclock: {key}: the ")
        assert "of memory, more than 4.0 GB" in answer.err
        assert answer.err.count("\n") == 1
