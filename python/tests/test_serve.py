"""``ackclock serve``: runs and their readers, and what is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import websockets

import ackclock as ac
from live_support import live, untimed
from serving import PLAN, Laboratory, begun, ended, finished, started, tables
from support import SMALL

READERS = 200


def test_a_run_has_the_tables_of_a_simulation(lab: Laboratory) -> None:
    with lab.client() as client:
        run = begun(client, watch=False)
        assert finished(client, run)["state"] == "done"
        found = tables(client.get(f"/api/runs/{run}/result").content)
    whole = ac.simulate(lab.folder / "small.toml")
    for name in ("flows", "links"):
        assert found[name] == {each: whole.columns(name, [each])[each] for each in found[name]}


def test_a_run_is_cancelled_and_others_go_on(lab: Laboratory) -> None:
    long = SMALL.replace('"5 s"', '"100000 s"')
    with lab.client() as client:
        run = begun(client, long, watch=False)
        other = begun(client)
        client.delete(f"/api/runs/{run}")
        assert finished(client, run)["state"] == "cancelled"
        assert finished(client, other)["state"] == "done"
        answer = client.get(f"/api/runs/{run}/result")
    assert (answer.status_code, answer.text) == (404, "the run has no result: it is cancelled\n")


async def read(lab: Laboratory, run: str, pause_s: float = 0.0) -> tuple[list[bytes], list[Any]]:
    """Return the parts and the states that a reader of a run is told."""
    parts: list[bytes] = []
    states: list[Any] = []
    token = {"x-ackclock-token": lab.token}
    address = f"{lab.socket}/api/runs/{run}/follow"
    async with websockets.connect(address, additional_headers=token, max_size=None) as heard:
        async for message in heard:
            if isinstance(message, bytes):
                parts.append(message)
            else:
                states.append(json.loads(message))
            await asyncio.sleep(pause_s)
    return parts, states


async def read_by_many(lab: Laboratory, run: str) -> list[tuple[list[bytes], list[Any]]]:
    # One takes a tenth of a second for each message: it is behind all the time.
    return await asyncio.gather(*(read(lab, run, 0.1 if n == 0 else 0) for n in range(READERS)))


@pytest.mark.slow
def test_many_readers_of_a_simulation_hear_of_its_end(lab: Laboratory) -> None:
    text = SMALL.replace('"5 s"', '"2000 s"')
    with lab.client() as client:
        run = begun(client, text, watch=False)
        told = asyncio.run(read_by_many(lab, run))
        result = client.get(f"/api/runs/{run}/result").content
    assert {states[-1]["state"] for _, states in told} == {"done"}
    assert {states[-1]["bytes"] for _, states in told} == {len(result)}
    # Time does not go back for anybody.
    for _, states in told:
        reached = [state["reached_s"] for state in states]
        assert reached == sorted(reached)


LIVE = (
    SMALL.replace('"5 s"', '"3 s"')
    .replace('from = "2 s"', 'from = "1 s"')
    .replace('variant = "newreno"', 'variant = "newreno"\nprofile = "linux"')
)


@live
@untimed
@pytest.mark.slow
def test_many_readers_of_a_live_run_lose_nothing(lab: Laboratory) -> None:
    with lab.client() as client:
        run = begun(client, LIVE, on="live")
        told = asyncio.run(read_by_many(lab, run))
        state = client.get(f"/api/runs/{run}").json()
        whole = tables(client.get(f"/api/runs/{run}/result").content)
    assert state["state"] == "done", state
    first, _ = told[0]
    assert all(parts == first for parts, _ in told)
    assert {states[-1]["parts"] for _, states in told} == {len(first)}
    # Rows that came while it lasted are those of the run's own tables, in their order; the last of
    # them came with the end.
    assert len(first) >= 10
    for name in ("flow_samples", "link_samples"):
        parts = [found[name] for found in map(tables, first) if name in found]
        for column in ("time_s", "queue_packets" if name == "link_samples" else "cwnd_segments"):
            came = [value for part in parts for value in part[column]]
            assert len(came) > 100
            assert came == whole[name][column][: len(came)]


@live
@untimed
def test_a_live_run_is_cancelled_and_leaves_no_namespace(lab: Laboratory) -> None:
    with lab.client() as client:
        run = begun(client, LIVE.replace('"3 s"', '"60 s"'), on="live")
        deadline = time.monotonic() + 20
        while client.get(f"/api/runs/{run}").json()["parts"] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert len(namespaces(lab.process.pid)) > 1
        client.delete(f"/api/runs/{run}")
        assert finished(client, run)["state"] == "cancelled"
    deadline = time.monotonic() + 10
    while len(namespaces(lab.process.pid)) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def namespaces(pid: int) -> set[str]:
    """Return the network namespaces that a process has: of its threads, and by descriptors."""
    found = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        found.add(str((task / "ns/net").readlink()))
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            to = str(descriptor.readlink())
        except FileNotFoundError:
            continue
        if to.startswith("net:"):
            found.add(to)
    return found


@pytest.mark.parametrize(
    ("number", "expected", "said"),
    [
        (signal.SIGINT, 130, "ackclock: interrupted\n"),
        (signal.SIGTERM, -signal.SIGTERM, ""),
        (signal.SIGHUP, 0, ""),
    ],
)
def test_an_interrupt_leaves_nothing(
    tmp_path: Path, number: signal.Signals, expected: int, said: str
) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    before = set(tmp_path.rglob("*"))
    laboratory = started(tmp_path)
    with laboratory.client() as client:
        for _ in range(3):
            # Each would take minutes.
            begun(client, SMALL.replace('"5 s"', '"1000000 s"'), watch=False)
    code, errors = ended(laboratory, number)
    assert (code, errors) == (expected, said)
    assert set(tmp_path.rglob("*")) == before
    # No process of its session is left.
    with pytest.raises(ProcessLookupError):
        os.killpg(laboratory.process.pid, 0)


def test_a_folder_that_is_none_is_told_in_a_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ackclock.cli", "serve", str(tmp_path / "none")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no such folder" in done.stderr


def test_a_server_that_is_killed_leaves_no_sweep(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL.replace('"5 s"', '"500 s"'), encoding="utf-8")
    plan = PLAN.replace("seeds = 3", "seeds = 1000")
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    laboratory = started(tmp_path)
    with laboratory.client() as client:
        answer = client.post("/api/sweeps", json={"plan": "plan.toml", "store": "store"})
        assert answer.status_code == 201, answer.text
        deadline = time.monotonic() + 30
        while not list((tmp_path / "store/cells").rglob("*.parquet")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    # The server, a reader of files, and the sweep.
    assert len(naming(tmp_path)) == 3
    ended(laboratory, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while naming(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@live
@untimed
@pytest.mark.slow
def test_an_interrupt_ends_a_live_run_and_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL.replace('"5 s"', '"500 s"'), encoding="utf-8")
    plan = PLAN.replace("seeds = 3", "seeds = 1000")
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    laboratory = started(tmp_path)
    with laboratory.client() as client:
        run = begun(client, LIVE.replace('"3 s"', '"60 s"'), on="live")
        begun_sweep = client.post("/api/sweeps", json={"plan": "plan.toml", "store": "store"})
        assert begun_sweep.status_code == 201, begun_sweep.text
        deadline = time.monotonic() + 30
        while client.get(f"/api/runs/{run}").json()["parts"] == 0 or len(naming(tmp_path)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    code, errors = ended(laboratory)
    assert (code, errors) == (130, "ackclock: interrupted\n")
    assert naming(tmp_path) == []
    assert not list(tmp_path.rglob(".*"))


def naming(folder: Path) -> list[str]:
    """Return the commands of the processes whose arguments name a folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in command:
            found.append(command.decode(errors="replace"))
    return found
