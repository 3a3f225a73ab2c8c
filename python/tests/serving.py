"""Servers of the tests, and what their clients ask."""

from __future__ import annotations

import json
import math
import os
import signal
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

from support import SMALL


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


PLAN = """\
scenario = "small.toml"
seeds = 3
axes."flow.a.variant" = ["newreno", "cubic"]
"""
