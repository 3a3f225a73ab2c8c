"""``ackclock serve``: who is answered, runs and their readers, and what is left behind."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import websockets

import ackclock as ac
from ackclock.serve.folder import Served
from ackclock.serve.jobs import ForbiddenError
from ackclock.serve.sweeps import expect_runnable
from live_support import live, untimed
from support import ROOT, SMALL

READERS = 200


@dataclass
class Laboratory:
    """A server of the tests: its process, its address, its token and its folder."""

    process: subprocess.Popen[str]
    url: str
    token: str
    folder: Path

    def client(self, **headers: str) -> httpx.Client:
        given = {"x-ackclock-token": self.token, **headers}
        return httpx.Client(base_url=self.url, headers=given, timeout=60)

    @property
    def socket(self) -> str:
        return self.url.replace("http", "ws", 1)


@contextmanager
def expected_within_a_minute(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process that does not do what is waited for within this: its output ends then."""
    late = threading.Timer(60, process.kill)
    late.start()
    try:
        yield
    finally:
        late.cancel()


def started(folder: Path, *options: str, **known: str) -> Laboratory:
    process = subprocess.Popen(
        [sys.executable, "-m", "ackclock.cli", "serve", str(folder), *options],
        env={**os.environ, **known}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    with expected_within_a_minute(process):
        link = next((line for line in process.stdout if line.startswith("http")), "")
    parts = urlsplit(link.strip())
    token = parts.query.removeprefix("token=")
    laboratory = Laboratory(process, f"http://{parts.netloc}", token, folder)
    # The link works from the moment that it is told.
    httpx.get(laboratory.url, timeout=30)
    return laboratory


def ended(laboratory: Laboratory, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
    if laboratory.process.poll() is None:
        laboratory.process.send_signal(number)
    try:
        _, errors = laboratory.process.communicate(timeout=60)
    finally:
        laboratory.process.kill()
    # Where there is no Node.js the package has no page, and the server says so.
    lines = [line for line in errors.splitlines(keepends=True) if "without the page" not in line]
    return laboratory.process.returncode, "".join(lines)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("1\n2\n", encoding="utf-8")
    folder = outside / "served"
    (folder / "report").mkdir(parents=True)
    (folder / "report/index.html").write_text("<h1>A report</h1>", encoding="utf-8")
    (folder / "report/figures").mkdir()
    (folder / "report/figures/b.png").write_bytes(b"b")
    (folder / "report/figures/a.png").write_bytes(b"a")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "out").symlink_to(outside, target_is_directory=True)
    laboratory = started(folder)
    yield laboratory
    ended(laboratory)


def begun(client: httpx.Client, text: str = SMALL, **more: Any) -> str:
    asked = {"text": {"file": "a.toml", "text": text}, "watch": True, **more}
    answer = client.post("/api/runs", json=asked)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def finished(client: httpx.Client, run: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        told = client.get(f"/api/runs/{run}").json()
        if told["state"] in {"done", "failed", "cancelled"}:
            return told
        time.sleep(0.02)
    raise TimeoutError(run)


def tables(answer: bytes) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of an answer of the core, each a list a column."""
    length = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + length])
    begin = -(-(4 + length) // 8) * 8
    kinds = {"number": ("d", 8), "count": ("q", 8), "word": ("i", 4)}

    def column(about: dict[str, Any]) -> list[Any]:
        letter, size = kinds[about["kind"]]
        at, count = about["data"]
        found = list(struct.unpack_from(f"<{count // size}{letter}", answer, begin + at))
        if about["kind"] == "word":
            return [None if key < 0 else about["words"][key] for key in found]
        if about.get("known"):
            at, count = about["known"]
            known = answer[begin + at : begin + at + count]
            return [each if is_known else None for each, is_known in zip(found, known, strict=True)]
        return [None if isinstance(each, float) and math.isnan(each) else each for each in found]

    return {
        table["name"]: {about["name"]: column(about) for about in table["columns"]}
        for table in header["tables"]
    }


def test_a_run_has_the_tables_of_a_simulation(lab: Laboratory) -> None:
    with lab.client() as client:
        run = begun(client, watch=False)
        assert finished(client, run)["state"] == "done"
        found = tables(client.get(f"/api/runs/{run}/result").content)
    whole = ac.simulate(lab.folder / "small.toml")
    for name in ("flows", "links"):
        assert found[name] == {each: whole.columns(name, [each])[each] for each in found[name]}


#: The requests that are refused: what is changed of a good one, the status, a piece of the line.
REFUSED = (
    ({"headers": {"x-ackclock-token": "wrong"}}, 401, "token"),
    ({"headers": {"x-ackclock-token": ""}}, 401, "token"),
    ({"headers": {"host": "evil.example"}}, 421, "evil.example"),
    ({"headers": {"origin": "https://evil.example"}}, 403, "evil.example"),
    ({"headers": {"origin": "null"}}, 403, "null"),
    ({"headers": {"sec-fetch-site": "cross-site"}}, 403, "another site"),
    ({"url": "/api/text?path=../secret.txt"}, 403, "outside"),
    ({"url": "/api/text?path=/etc/passwd"}, 403, "outside"),
    ({"url": "/api/text?path=link.txt"}, 403, "through a link"),
    ({"url": "/api/text?path=out/secret.txt"}, 403, "through a link"),
    ({"url": "/api/text?path=report/../../secret.txt"}, 403, "outside"),
    ({"url": "/api/stores?path=out"}, 403, "through a link"),
    ({"url": "/api/stores?path=report"}, 404, "plan.json`: no such file"),
    ({"url": "/api/text?path=nothing.txt"}, 404, "no such file"),
    ({"url": "/api/stores?path=../"}, 403, "outside"),
    ({"url": "/api/captures/segments?path=link.txt"}, 403, "through a link"),
    ({"url": "/api/runs/none"}, 404, "no such run"),
    ({"method": "POST", "url": "/api/ask", "content": b"{"}, 422, "JSON"),
    ({"method": "POST", "url": "/api/ask", "json": {"do": "run"}}, 422, "expected one of"),
    ({"method": "POST", "url": "/api/ask", "json": {"do": []}}, 422, "expected one of"),
    ({"method": "POST", "url": "/api/runs", "json": {"text": {}, "on": {}}}, 422, "sim or live"),
    ({"method": "POST", "url": "/api/sweeps", "content": rb'{"plan": "\ud800"}'}, 404, "no such"),
    ({"url": "/api/text?path=" + "a" * 300}, 404, "no such file"),
    ({"url": "/api/stores?path=" + "a" * 300}, 404, "no such file"),
    ({"url": "/api/captures/segments?path=" + "a" * 300}, 404, "no such file"),
    ({"url": "/api/stores/rows?path=none&begin=" + "9" * 5000}, 422, "12 digits"),
    ({"url": "/api/nothing"}, 404, "there is nothing at `/api/nothing`"),
    ({"method": "PUT", "url": "/api/state"}, 405, "PUT is not answered at `/api/state`"),
    ({"method": "POST", "url": "/api/ask", "content": b"x" * 20_000_000}, 413, "10,000,000 bytes"),
)


@pytest.mark.parametrize(("change", "status", "piece"), REFUSED)
def test_a_request_is_refused_in_a_line(
    lab: Laboratory, change: dict[str, Any], status: int, piece: str
) -> None:
    asked = {"method": "GET", "url": "/api/state", **change}
    with lab.client() as client:
        answer = client.request(**asked)
    assert answer.status_code == status, answer.text
    assert piece in answer.text
    assert answer.text.count("\n") == 1


#: Scenarios that are refused before anything runs.
BAD = {
    "a program": (
        SMALL + '[flow.app]\nkind = "program"\nsender = ["touch", "FILE"]\nreceiver = ["true"]\n',
        403,
        "would run a program",
    ),
    "a file outside": (
        SMALL.replace('rate = "10 Mbit/s", ', 'rate = "10 Mbit/s", channel = { kind = "rates", '
        'file = "../secret.txt", interval = "1 s", unit = "Mbit/s" }, '),
        422,
        "outside",
    ),
    "a wrong key": (SMALL.replace("variant", "varyant"), 422, "did you mean `variant`?"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("on", ["sim", "live"])
def test_a_scenario_is_refused_in_a_line(lab: Laboratory, name: str, on: str) -> None:
    text, status, piece = BAD[name]
    with lab.client() as client:
        asked = {"text": {"file": "a.toml", "text": text}, "on": on}
        answer = client.post("/api/runs", json=asked)
    assert (answer.status_code, answer.text.count("\n")) == (status, 1), answer.text
    assert piece in answer.text


def test_a_body_of_100_mb_is_refused_before_it_is_read(lab: Laboratory) -> None:
    address = urlsplit(lab.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        head = (
            f"POST /api/ask HTTP/1.1\r\nHost: {address.netloc}\r\nX-Ackclock-Token: {lab.token}\r\n"
            "Content-Length: 100000000\r\n\r\n"
        )
        # Nothing of the body is sent, and still there is an answer.
        raw.sendall(head.encode())
        answer = raw.recv(65536).decode()
        while "10,000,000 bytes at most" not in answer:
            more = raw.recv(65536).decode()
            assert more, answer
            answer += more
    assert answer.startswith("HTTP/1.1 413")


def test_a_body_that_does_not_say_its_length_is_not_read_either(lab: Laboratory) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(110):
            yield b"x" * 1_000_000

    with lab.client() as client:
        try:
            answer = client.post("/api/ask", content=pieces())
        except httpx.TransportError:
            # The server has closed while there was more to send.
            return
    assert answer.status_code == 413, answer.text


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    laboratory = started(tmp_path)
    with laboratory.client() as client:
        assert client.get("/api/folder").json()["scenarios"] == ["small.toml"]
        answer = client.get("/api/text?path=pipe.toml")
        assert (answer.status_code, answer.text) == (422, "`pipe.toml` is no plain file\n")
    assert ended(laboratory) == (130, "ackclock: interrupted\n")


#: Axes that put the name of a file into the scenario.
READS = (
    '"topology.bottleneck.channel.times_ms" = ["FILE"]',
    'x = { key = "topology.bottleneck.channel.times_ms", values = ["FILE"] }',
    'x = { key = ["topology.bottleneck.channel.times_ms"], values = ["FILE"] }',
    'x = { cases = { a = { "topology.bottleneck.channel.times_ms" = "FILE" } } }',
    'x = { key = "topology.bottleneck.channel", values = [{ kind = "trace", times_ms = "FILE" }] }',
)


#: The keys that take the name of a file, by crates/input/src/columns.rs.
FILE_KEYS = ("file", "quantiles", "series", "times_ms", "delays_ms", "bytes")


def test_the_keys_of_files_are_those_of_the_reader() -> None:
    source = (ROOT / "crates/input/src/columns.rs").read_text(encoding="utf-8")
    keys = re.findall(r'\bkey: "(\w+)"', source) + re.findall(r'const FILE: &str = "(\w+)"', source)
    assert sorted(keys) == sorted(FILE_KEYS)


@pytest.mark.parametrize("key", FILE_KEYS)
@pytest.mark.parametrize("value", ['"secret.txt"', '[{ FILE = "secret.txt" }]', '[["secret.txt"]]'])
def test_an_axis_that_sets_a_key_of_a_file_is_refused(tmp_path: Path, key: str, value: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    if value.startswith("[{"):
        name, value = "topology.bottleneck.channel", value.replace("FILE", key)
    else:
        name, value = f"topology.bottleneck.channel.{key}", f"[{value}]"
    plan = f'scenario = "small.toml"\n[axes]\n"{name}" = {value}\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    with pytest.raises(ForbiddenError, match="its axes would read files"):
        expect_runnable(Served(tmp_path), "plan.toml")


@pytest.mark.parametrize("axis", READS)
def test_a_sweep_reads_no_file_outside(lab: Laboratory, axis: str) -> None:
    channel = 'channel = { kind = "trace", times_ms = [1, 2] }'
    scenario = SMALL.replace('rate = "10 Mbit/s", ', f'rate = "10 Mbit/s", {channel}, ')
    (lab.folder / "times.toml").write_text(scenario, encoding="utf-8")
    outside = lab.folder.parent / "secret.txt"
    plan = f'scenario = "times.toml"\n[axes]\n{axis}\n'.replace("FILE", str(outside))
    (lab.folder / "reads.toml").write_text(plan, encoding="utf-8")
    with lab.client() as client:
        answer = client.post("/api/sweeps", json={"plan": "reads.toml", "store": "reads"})
    assert (answer.status_code, answer.text.count("\n")) == (403, 1), answer.text
    assert "would read files" in answer.text
    assert not (lab.folder / "reads").exists()
    # Other tests list the folder.
    (lab.folder / "times.toml").unlink()
    (lab.folder / "reads.toml").unlink()


def test_a_store_whose_plan_is_none_is_refused(lab: Laboratory) -> None:
    (lab.folder / "odd/plans").mkdir(parents=True)
    (lab.folder / "odd/plan.json").write_text("[]", encoding="utf-8")
    with lab.client() as client:
        answer = client.get("/api/stores", params={"path": "odd"})
    assert (answer.status_code, answer.text) == (
        422, "plan.json: expected a table with the keys of a plan\n"
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of a finished sweep that kept the table `links`."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    plan = {"scenario": str(folder / "small.toml"), "seeds": 2, "keep": ["links"]}
    ac.sweep(plan, folder / "store")
    return folder / "store"


@pytest.mark.parametrize(
    ("table", "status", "piece"),
    [
        ("cells", 200, '"of":2'),
        ("links", 200, '"of":12'),  # six of each of two runs
        # Each was a folder whose Parquet files were read.
        ("../..", 422, "was not kept"),
        ("../cells", 422, "was not kept"),
        ("ABSOLUTE", 422, "was not kept"),
        ("links/../../cells", 422, "was not kept"),
        ("", 422, "was not kept"),
    ],
)
def test_a_table_is_one_of_the_stores_own(
    lab: Laboratory, finished_store: Path, table: str, status: int, piece: str
) -> None:
    shutil.copytree(finished_store, lab.folder / "kept")
    try:
        asked = {"path": "kept", "table": table.replace("ABSOLUTE", str(finished_store / "cells"))}
        with lab.client() as client:
            answer = client.get("/api/stores/rows", params=asked)
        assert (answer.status_code, piece in answer.text) == (status, True), answer.text
    finally:
        shutil.rmtree(lab.folder / "kept")


@pytest.mark.parametrize("part", ["plan.json", "plans", "cells", "tables", "tables/links"])
def test_a_store_with_a_link_in_it_is_not_read(
    lab: Laboratory, finished_store: Path, part: str
) -> None:
    shutil.copytree(finished_store, lab.folder / "linked")
    moved = lab.folder.parent / "moved"
    (lab.folder / "linked" / part).rename(moved)
    (lab.folder / "linked" / part).symlink_to(moved)
    try:
        with lab.client() as client:
            asked = {"path": "linked", "table": "links"}
            answer = client.get("/api/stores/rows", params=asked)
        assert (answer.status_code, answer.text.count("\n")) == (403, 1), answer.text
        assert "through a link" in answer.text
    finally:
        shutil.rmtree(lab.folder / "linked")
        shutil.rmtree(moved) if moved.is_dir() else moved.unlink()


def test_the_link_is_used_once_and_then_a_cookie(lab: Laboratory) -> None:
    with httpx.Client(base_url=lab.url) as client:
        assert client.get("/api/state").status_code == 401
        answer = client.get("/", params={"token": lab.token})
        inside = answer.headers["location"]
        assert (answer.status_code, inside.startswith("/at/")) == (303, True)
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        # A browser sends it to every port of this host, but only to a path that nobody else knows.
        assert f"; Path={inside};" in cookie
        assert client.get(f"{inside}api/state").status_code == 200
        assert client.get("/api/state").status_code == 401
        # The cookie of a stranger who was sent it does not open the server without the path.
        stolen = {"cookie": cookie.partition(";")[0]}
        assert httpx.get(f"{lab.url}/api/state", headers=stolen).status_code == 401
        assert httpx.get(f"{lab.url}/at/x/api/state", headers=stolen).status_code == 401
        assert httpx.get(f"{lab.url}{inside}api/state", headers=stolen).status_code == 200
    with httpx.Client(base_url=lab.url) as client:
        assert client.get("/", params={"token": lab.token[:-1]}).status_code == 401


#: A browser that writes its arguments down, and what the file holds that it was given.
BROWSER = """#!/bin/sh
printf '%s' "$*" > "$SEEN.new"
stat -c %a "${1#file://}" > "$SEEN.rights"
cp "${1#file://}" "$SEEN.page"
mv "$SEEN.new" "$SEEN"
"""


def test_a_browser_is_opened_with_no_secret_in_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "run").mkdir(mode=0o700)
    browser = tmp_path / "browser"
    browser.write_text(BROWSER, encoding="utf-8")
    browser.chmod(0o700)
    seen = tmp_path / "seen"
    known = {
        "BROWSER": f"{browser} %s",
        "SEEN": str(seen),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }
    laboratory = started(tmp_path / "folder", "--open", **known)
    deadline = time.monotonic() + 60
    while not seen.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    given = seen.read_text(encoding="utf-8")
    assert given.startswith(f"file://{tmp_path / 'run'}/ackclock-")
    assert laboratory.token not in given
    assert (tmp_path / "seen.rights").read_text(encoding="utf-8") == "600\n"
    page = (tmp_path / "seen.page").read_text(encoding="utf-8")
    assert laboratory.token not in page
    (address,) = re.findall(r"url=(http://[^\"]+)", page)
    assert address.startswith(laboratory.url)
    answer = httpx.get(address)
    # The page leads on by itself: after a redirection of another's the cookie would not be sent.
    (inside,) = re.findall(r"url=(/at/[^\"]+)", answer.text)
    assert answer.status_code == 200
    cookie = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
    assert httpx.get(f"{laboratory.url}{inside}api/state", headers=cookie).status_code == 200
    # It works once.
    assert httpx.get(address).status_code == 401
    ended(laboratory)
    assert list((tmp_path / "run").iterdir()) == []


def test_a_socket_of_another_site_is_refused(lab: Laboratory) -> None:
    async def attempt(**headers: str) -> int:
        address = f"{lab.socket}/api/runs/none/follow"
        try:
            async with websockets.connect(address, additional_headers=headers):
                return 101
        except websockets.InvalidStatus as error:
            return error.response.status_code

    token = {"x-ackclock-token": lab.token}
    assert asyncio.run(attempt()) == 403
    assert asyncio.run(attempt(**token, origin="https://evil.example")) == 403


def test_reports_are_pages_without_rights(lab: Laboratory) -> None:
    with lab.client() as client:
        files = client.get("/api/state").json()["files"]
        found = client.get("/api/folder").json()
    (report,) = found["reports"]
    assert (report["path"], report["title"], report["picture"]) == ("report", "", "figures/a.png")
    assert found["scenarios"] == ["small.toml"]
    assert found["plans"] == []
    # No cookie: the address is the secret.
    answer = httpx.get(f"{lab.url}{files}report/index.html")
    assert answer.text == "<h1>A report</h1>"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert httpx.get(f"{lab.url}{files}link.txt").status_code == 403
    assert httpx.get(f"{lab.url}/files/{'0' * 64}/report/index.html").status_code == 401


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


PLAN = """\
scenario = "small.toml"
seeds = 3
axes."flow.a.variant" = ["newreno", "cubic"]
"""


def test_the_store_of_a_studys_readings_is_told(lab: Laboratory) -> None:
    plan = {"study": "scharf2008", "axes": {"acks": ["each", "delayed"]}}
    (lab.folder / "found").mkdir()
    (lab.folder / "found/plan.json").write_text(json.dumps(plan), encoding="utf-8")
    with lab.client() as client:
        answer = client.get("/api/stores", params={"path": "found"})
    # Its plan names no file; no search has run here.
    assert answer.status_code == 422
    assert "`ackclock readings scharf2008` with the same --out goes on" in answer.text


@pytest.mark.slow
def test_a_sweep_is_run_and_its_store_read(lab: Laboratory) -> None:
    (lab.folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with lab.client() as client:
        found = client.get("/api/folder").json()
        assert ("plan.toml" in found["plans"], "plan.toml" in found["scenarios"]) == (True, False)
        answer = client.post("/api/sweeps", json={"plan": "plan.toml", "store": "store"})
        assert answer.status_code == 201, answer.text
        deadline = time.monotonic() + 60
        while client.get("/api/folder").json()["sweeps"][0]["running"]:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert client.get("/api/folder").json()["sweeps"][0]["error"] is None
        about = client.get("/api/stores", params={"path": "store"}).json()
        # Two senders, three seeds.
        assert (about["cells"], about["finished"]) == (6, 6)
        asked = {"path": "store", "where": "\"flow.a.variant\" = 'cubic' AND seed > 1"}
        rows = client.get("/api/stores/rows", params=asked).json()
        assert rows["of"] == 2, rows
        bad = {"path": "store", "where": "seed IN (SELECT x FROM read_csv('/etc/passwd'))"}
        refused = client.get("/api/stores/rows", params=bad)
        assert (refused.status_code, refused.text.count("\n")) == (422, 1)
        (lab.folder / "bad.toml").write_text(PLAN.replace("small", "../x"), encoding="utf-8")
        answer = client.post("/api/sweeps", json={"plan": "bad.toml", "store": "bad"})
        assert (answer.status_code, answer.text.count("\n")) == (403, 1), answer.text


def test_a_capture_is_read(lab: Laboratory) -> None:
    ac.simulate(lab.folder / "small.toml", pcap=lab.folder / "captures")
    with lab.client() as client:
        (row,) = client.get("/api/folder").json()["captures"]
        answer = client.get("/api/captures/segments", params={"path": row["path"]}).content
    length = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + length])
    begin = -(-(4 + length) // 8) * 8
    width = len(header["columns"])
    data = struct.unpack_from(f"<{header['rows'] * width}d", answer, begin)
    rows = [dict(zip(header["columns"], data[n : n + width], strict=True))
            for n in range(0, len(data), width)]  # fmt: skip
    assert len(header["flows"]) == 1
    syn, syn_ack = rows[0], next(row for row in rows if not row["from_client"])
    # Bits: SYN 1, ACK 2.
    assert (syn["from_client"], syn["seq"], syn["flags"]) == (1, 0, 1)
    assert (syn_ack["seq"], syn_ack["ack"], syn_ack["flags"]) == (0, 1, 3)
    data_rows = [row for row in rows if row["len"] > 0]
    assert data_rows[0]["seq"] == 1
    assert {row["len"] for row in data_rows} <= {1460.0, 1448.0}


def test_times_of_day_count_from_the_first_packet(lab: Laboratory) -> None:
    # An interface of raw IP in microseconds, and two packets 1 ms apart on 19 November 2026.
    def block(kind: int, body: bytes) -> bytes:
        length = 12 + len(body)
        return struct.pack("<II", kind, length) + body + struct.pack("<I", length)

    def packet(at_us: int, seq: int) -> bytes:
        tcp = struct.pack("!HHIIBBHHH", 1000, 2000, seq, 0, 5 << 4, 2, 100, 0, 0)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, b"\n\0\0\1", b"\n\0\0\2")
        head = struct.pack("<IIIII", 0, at_us >> 32, at_us & 0xFFFFFFFF, 40, 40)
        return block(6, head + ip + tcp)

    begin = 1_795_000_000_000_000
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack("<HHI", 101, 0, 0)) + packet(begin + 250_000, 7)
    data += packet(begin + 251_000, 8)
    (lab.folder / "day.pcapng").write_bytes(data)
    with lab.client() as client:
        answer = client.get("/api/captures/segments", params={"path": "day.pcapng"}).content
    (lab.folder / "day.pcapng").unlink()
    length = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + length])
    width = len(header["columns"])
    values = struct.unpack_from(f"<{2 * width}d", answer, -(-(4 + length) // 8) * 8)
    assert values[0] == pytest.approx(0.25, abs=1e-6)
    assert values[width] == pytest.approx(0.251, abs=1e-6)


def test_the_beginning_of_a_capture_is_shown(lab: Laboratory) -> None:
    ac.simulate(lab.folder / "small.toml", pcap=lab.folder / "cut")
    (file,) = (lab.folder / "cut").glob("*.pcapng")
    whole = file.read_bytes()

    def told(length: int) -> httpx.Response:
        file.write_bytes(whole[:length])
        path = file.relative_to(lab.folder).as_posix()
        with lab.client() as client:
            return client.get("/api/captures/segments", params={"path": path})

    answer = told(len(whole) - 7).content
    header = json.loads(answer[4 : 4 + int.from_bytes(answer[:4], "little")])
    assert header["rows"] > 100
    assert header["whole"] is False
    # A file that was cut in its first block has no packet.
    assert (told(8).status_code, told(8).text.count("\n")) == (422, 1)


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
