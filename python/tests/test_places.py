"""Places of a run: their words, what commands refuse, and the keys of runs on kernels."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ackclock as ac
from ackclock.base.places import Place, kernel_words, places
from ackclock.base.threads import Alive, side_by_side
from ackclock.linux import building, kept, running
from ackclock.report.run import _substrate
from ackclock.runs import identity
from ackclock.suites.framework.cells import apart, named
from ackclock.sweeps.places.cluster import _Asked, _id, _run
from ackclock.sweeps.plans.cells import Cells, about
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.tasks.blocks import Block
from live_support import path
from support import Answer
from test_linux import leads_to, manifest, put, tree


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))


def test_a_place_is_a_substrate_and_a_kernel() -> None:
    assert Place.of("sim") == Place("sim")
    assert Place.of("linux") == Place("linux")
    assert Place.of("linux:7.2") == Place("linux", "7.2")
    assert Place.of("linux: 7.2, hz 1000") == Place("linux", "7.2, hz 1000")
    assert str(Place.of("linux:7.2-hz1000")) == "linux:7.2-hz1000"
    assert [str(each) for each in places("sim, linux:6.12,linux:7.2")] == [
        *("sim", "linux:6.12", "linux:7.2"),
    ]
    assert [Place.of(word).is_real for word in ("theory", "sim", "linux:7.2", "live")] == [
        *(False, False, True, True),
    ]
    # Live runs are alone.
    assert [Place.of(word).at_once(8) for word in ("sim", "linux", "live")] == [8, 8, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lnux", "on: `lnux` is no substrate (did you mean `linux`?)"),
        ("linux7.2", "on: `linux7.2` is no substrate (did you mean `linux`?)"),
        ("sim,linux:", "on: `linux:` names no kernel, expected one such as `linux:7.2`"),
        ("sim:7.2", "on: `sim:7.2`: sim has no kernel to choose, expected `sim`"),
        ("linux:7.2,linux:7.2", "on: `linux:7.2` stands twice; leave one out"),
        ("theory", "on: `theory`, expected one of sim, live"),
        ([], "on: expected at least one substrate"),
    ],
)
def test_words_that_are_no_place_are_refused(words: str | list[str], said: str) -> None:
    with pytest.raises(ac.BadInput) as refused:
        places(words, among=("sim", "linux", "live") if words != "theory" else ("sim", "live"))
    assert str(refused.value) == said


def test_names_of_senders_have_their_places_behind_them() -> None:
    for sender, place, name in (
        ("cubic", "sim", "cubic"),
        ("cubic", "live", "cubic, live"),
        ("cubic+sack(2, 3)", "linux", "cubic+sack(2, 3), linux"),
        ('{ kind = "codel", target = "15 ms" }', "linux:7.2", None),
    ):
        said = named(sender, Place.of(place))
        assert said == (name or f"{sender}, {place}")
        assert apart(said) == (sender, Place.of(place))


#: The commands that run on a kernel.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("run", "one.json", "--on", "linux:7.2"),
    ("compare", "one.json", "--on", "sim,linux:7.2"),
    ("report", "one.json", "--on", "linux:7.2"),
    ("export", "one.json", "out", "--on", "linux:7.2"),
    ("suite", "quick", "cubic", "--on", "linux:7.2"),
    ("sweep", "plan.json", "--out", "store"),
    ("sweep", "plan.json", "--out", "store", "--dry-run"),
    ("search", "plan.json", "--out", "store"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_machine_without_a_kernel_is_told_in_a_line(
    words: tuple[str, ...],
    ackclock: Callable[..., Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = path(duration="1 s")
    (tmp_path / "one.json").write_text(json.dumps(scenario), encoding="utf-8")
    plan: dict[str, Any] = {
        "on": "linux:7.2",
        "scenario": scenario,
        "axes": {"length": {"key": "duration", "from": "1 s", "to": "2 s"}},
        "search": {"maximise": "goodput_bps", "points": 2},
    }
    if words[0] == "sweep":
        plan["axes"]["length"] = {"key": "duration", "values": ["1 s", "2 s"]}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    answer = ackclock(*words)
    assert answer.code == 2
    assert answer.err.count("\n") == 1, answer.err
    assert "no kernel is in " in answer.err
    assert "expected one: `ackclock linux build 7.2`" in answer.err
    assert not (tmp_path / "store").exists()


def test_a_kernel_stands_once_in_a_comparison() -> None:
    put(manifest())
    scenario = ac.Scenario.from_dict(path(duration="1 s"))
    with pytest.raises(
        ac.BadInput, match=r"on: linux and linux:7\.2 are one kernel; leave one out"
    ):
        ac.compare(scenario, on="sim,linux,linux:7.2")
    with pytest.raises(ac.BadInput, match=r"`6\.12` is no kernel in the cache"):
        ac.compare(scenario, on="sim,linux:6.12")


def key(on: str, text: str | None = None) -> str:
    return identity.run_keys([text or scenario_text()], on=on)[0]


def scenario_text(**more: Any) -> str:
    return ac.Scenario.from_dict(path(**{"duration": "1 s", **more})).to_json()


def test_the_key_of_a_run_knows_the_kernel_its_ticks_its_mode_and_its_bytes() -> None:
    put(manifest())
    put(manifest(hz=1000))
    put(manifest("6.12.117", mode="ptrace"))
    keys = {key(on) for on in ("sim", "live", "linux", "linux:7.2-hz1000", "linux:6.12")}
    assert len(keys) == 5
    # Three words name the same kernel.
    assert key("linux") == key("linux:7.2") == key("linux:7.2, hz 250")
    assert key("linux") == key(f"linux:{manifest().key}")
    # Another compiler leaves other bytes of the same key.
    before = key("linux")
    kept.remove(manifest().key)
    put(replace(manifest(), files=dict.fromkeys(kept.FILES, "1")))
    assert key("linux:7.2-hz250") != before
    # And its mode.
    before = key("linux")
    kept.remove(manifest().key)
    put(replace(manifest(mode="ptrace"), files=dict.fromkeys(kept.FILES, "1")))
    assert key("linux") != before


def test_the_key_of_a_run_that_is_there_is_of_the_kernel_that_it_had() -> None:
    kernel = put(manifest())
    expected = [key("linux")]
    told = {"substrate": "linux", "linux": {**kernel.about(), "seed": 3}}
    run: Any = SimpleNamespace(live=told, theory=None, scenario_texts=[scenario_text()])
    assert identity.keys_of_run(run) == expected
    # A newer one, or none, changes nothing of it.
    put(manifest("7.3.1"))
    kept.remove(manifest().key)
    assert key("linux") not in expected
    assert identity.keys_of_run(run) == expected
    assert kernel_words(told) == "Linux 7.2.13, hz 250, in virtual time (seccomp)"
    assert kernel_words({"substrate": "live"}) == kernel_words(None) == ""
    assert _substrate(run) == "on Linux 7.2.13, hz 250, in virtual time (seccomp)"


def test_a_scenario_may_name_the_kernel_which_other_runs_do_not_read() -> None:
    named_text = scenario_text(linux="6.12")
    assert key("sim", named_text) == key("sim")
    with pytest.raises(ac.BadInput, match=r"no kernel is in .* `ackclock linux build 6\.12`"):
        running.run_linux(ac.Scenario.from_dict(path(linux="6.12")))
    put(manifest())
    old = put(manifest("6.12.117", mode="ptrace")).manifest
    # The name is no part of the key; the kernel that it means is.
    assert key("linux", named_text) == key("linux:6.12") != key("linux")
    # The command decides where the file names another.
    assert key("linux:7.2", named_text) == key("linux")
    assert identity.settled("linux", named_text).key == old.key
    assert identity.settled("linux:7.2", named_text).key == manifest().key
    plan = Plan.from_dict({"on": "linux", "scenario": path(linux="6.12")})
    assert plan.settled().on == f"linux:{old.key}"
    with pytest.raises(ac.BadInput, match=r"^linux: "):
        ac.simulate(ac.Scenario.from_dict(path(linux="6.12\n")))


def test_an_axis_of_kernels_leaves_each_cell_its_own() -> None:
    put(manifest())
    put(manifest("6.12.117", mode="ptrace"))
    axes = {"kernel": {"key": "linux", "values": ["7.2", "6.12"]}}
    plan = Plan.from_dict({"on": "linux", "scenario": path(), "axes": axes})
    assert plan.settled() == plan
    keys = Cells(plan).keys().to_list()
    assert keys == [identity.run_keys([scenario_text(duration="3 s")], on=on, about=about(plan))[0]
                    for on in ("linux:7.2", "linux:6.12")]  # fmt: skip


def test_a_plan_keeps_its_kernel_though_a_newer_one_is_built() -> None:
    put(manifest())
    plan = Plan.from_dict({"on": "linux", "scenario": path(duration="1 s")})
    assert plan.on == "linux"
    settled = plan.settled()
    put(manifest("7.3.1"))
    assert settled.on == f"linux:{manifest().key}"
    assert settled.settled() == settled
    assert plan.settled().on == f"linux:{manifest('7.3.1').key}"
    simulated = Plan.from_dict({"scenario": path(duration="1 s")})
    assert simulated.settled() == simulated


def test_calls_side_by_side_end_if_nobody_waits() -> None:
    ended = threading.Event()

    def works(_: Alive) -> int:
        return 7

    def hangs(alive: Alive) -> int:
        try:
            while True:
                alive(0.0)
                ended.wait(0.01)
        finally:
            ended.set()

    def fails(_: Alive) -> int:
        raise ac.BadInput("no")

    assert list(side_by_side([works] * 5, 2)) == [7] * 5
    assert list(side_by_side([], 2)) == []
    # One at a time waits to be asked for.
    with closing(side_by_side([works, fails], 1)) as found:
        assert next(found) == 7
    with closing(side_by_side([works, hangs, hangs], 2)) as found:
        assert next(found) == 7
    assert ended.is_set()
    with pytest.raises(ac.BadInput, match="no"):
        list(side_by_side([fails, hangs], 2))
    # So do they if the caller's own event says so.
    ended.clear()
    stop = threading.Event()
    stop.set()
    with pytest.raises(Exception, match=r"^$"):
        list(side_by_side([hangs, hangs], 2, stop))
    assert ended.is_set()


def test_a_worker_without_the_kernel_says_so_in_a_line() -> None:
    pytest.importorskip("distributed")
    put(manifest())
    plan = Plan.from_dict({"on": "linux", "scenario": path()}).settled()
    asked = _Asked(plan.to_json(), (), _id(plan))
    kept.remove(manifest().key)
    with pytest.raises(RuntimeError, match=r"^scheduler: on \S+: no kernel is in .*linux build 7"):
        _run(asked, Block.of([{"seed": 0}], ["0"]))
    # One of the same name with other bytes is another.
    put(replace(manifest(), files=dict.fromkeys(kept.FILES, "1")))
    with pytest.raises(RuntimeError, match="has other rules of the engine, another text of a law"):
        _run(asked, Block.of([{"seed": 0}], ["0"]))


#: A program that begins a build, or boots a guest, in the folders that its words name.
BUILDS = """
import sys
from ackclock.linux.building import Building, build
build(Building(sys.argv[1]), print)
"""
BOOTS = """
import sys
from pathlib import Path
from ackclock.linux import booting, kept
booting.boot(kept.one(None), booting.Boot(["/bin/true"]), Path(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("program", [BUILDS, BOOTS], ids=["build", "boot"])
def test_a_signal_ends_what_a_build_or_a_guest_has_started(
    program: str, number: int, tmp_path: Path
) -> None:
    if program == BUILDS:
        if building.missing_tools():
            pytest.skip(f"no {', '.join(building.missing_tools())}")
        place = tree(tmp_path, "tinyconfig:\n\t@touch BEGUN; sleep 1000\n")
        begun, cache = "**/BEGUN", tmp_path / "cache"
    else:
        linux = put(manifest()).folder / "linux"
        linux.write_text("#!/bin/sh\ntouch BEGUN; sleep 1000\n", encoding="utf-8")
        linux.chmod(0o755)
        place = tmp_path / "guest"
        place.mkdir()
        begun, cache = "guest/BEGUN", place
    running = subprocess.Popen(
        [sys.executable, "-c", program, str(place)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not list(tmp_path.glob(begun)):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(number)
    assert running.wait() != 0
    # A process that was killed is there until the system has let it run once more.
    until = time.monotonic() + 60
    while [it for it in Path("/proc").glob("[0-9]*/cwd") if leads_to(it, cache)]:
        assert time.monotonic() < until
        time.sleep(0.02)
