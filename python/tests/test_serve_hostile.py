"""Files and requests that ask for more than a server has: a line each, and it goes on."""

from __future__ import annotations

import asyncio
import io
import json
import os
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pyarrow.parquet as pq
import pytest
import uvicorn
from uvicorn.server import ServerState

import ackclock as ac
from ackclock.serve import app, patience, reading
from ackclock.serve.app import Laboratory
from ackclock.serve.folder import OutsideError, Served
from ackclock.serve.patience import Patient
from ackclock.serve.reading import Readers
from support import SMALL

TOKEN = "a-token"  # noqa: S105 - of a server that nobody reaches


async def asked(laboratory: Laboratory, *requests: tuple[str, str, Any]) -> list[httpx.Response]:
    """Return the answers to requests that are sent at once: methods, addresses and bodies."""
    transport = httpx.ASGITransport(app=laboratory.app)  # type: ignore[arg-type]
    headers = {"x-ackclock-token": TOKEN, "host": "127.0.0.1:80"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:80", headers=headers, timeout=60
    ) as client:
        sent = [client.request(method, url, json=body) for method, url, body in requests]
        return await asyncio.gather(*sent)


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Laboratory]:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    made = Laboratory(tmp_path, TOKEN, 80)
    yield made
    made.close()


def got(laboratory: Laboratory, url: str) -> httpx.Response:
    return asyncio.run(asked(laboratory, ("GET", url, None)))[0]


#: Texts of scenario files over which a reader of super-linear cost took minutes; a reader of ours
#: has ten seconds, in which it reads them a thousand times.
LONG = {
    "blank lines": "\n" * 80_000,
    "blanks": " " * 1_000_000,
    "blank lines of blanks": "   \n" * 100_000,
    "brackets": "[" * 500_000,
    "brackets in lines": "[\n" * 200_000,
    "axes without an end": "axes " * 200_000,
    "axes in lines": "axes\n" * 200_000,
    "studies": "study " * 100_000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_folder_of_long_files_is_listed(
    laboratory: Laboratory, tmp_path: Path, name: str
) -> None:
    (tmp_path / "long.toml").write_text(LONG[name], encoding="utf-8")
    (tmp_path / "plan.toml").write_text("\n" * 1000 + " [ axes ]\nseed = [1]\n", encoding="utf-8")
    found = got(laboratory, "/api/folder").json()
    assert (found["scenarios"], found["plans"]) == (["long.toml", "small.toml"], ["plan.toml"])


AXES = 'scenario = "small.toml"\n[axes]\n"bottleneck.rate" = ["1 Mbit/s"]\n'
#: Plans that are refused: what stands in the file, and a piece of the line.
PLANS = {
    "10^12 cells": (
        'scenario = "small.toml"\nseeds = 1000000\naxes.a = {from = 1, to = 2, count = 1000000}',
        "1,000,000,000,000 cells, expected 10,000,000 at most",
    ),
    "a text for a topology": (
        '[scenario]\nduration = "1 s"\ntopology = "x"\n[axes]\n"bottleneck.rate" = ["1 Mbit/s"]\n',
        "topology",
    ),
    "tables within tables": ("x = " + "[" * 100_000, "plan.toml: "),
    "NUL": ("scenario = \0", "plan.toml: "),
    "a list for a scenario": ("scenario = []", "scenario"),
    "a scenario outside": ('scenario = "../small.toml"', "outside"),
    "an absolute scenario": ('scenario = "/etc/passwd"', "outside"),
    "a scenario that is a pipe": ('scenario = "/dev/stdin"', "outside"),
    "a study that is none": ('study = "none"', "simulations"),
    "a value that reads a file": (
        f"{AXES}[values]\nx = \"FROM read_csv('/etc/passwd')\"\n",
        "plan.toml: values.x: `FROM read_csv('/etc/passwd')`: found `(` at character 14",
    ),
    "a condition that reads a file": (
        "where = [\"seed IN (FROM read_csv('/etc/passwd'))\"]\n" + AXES,
        "plan.toml: where",
    ),
    "a value that no cell can have": (
        'scenario = "small.toml"\n[axes]\n"bottleneck.rate" = ["no rate"]\n',
        "plan.toml: axes: topology.bottleneck.rate: ",
    ),
    "larger than is read": ("#" * 5_000_000, "larger than 4,000,000 bytes"),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_refused_in_a_line(laboratory: Laboratory, tmp_path: Path, name: str) -> None:
    text, piece = PLANS[name]
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    body = {"plan": "plan.toml", "store": "store"}
    (answer,) = asyncio.run(asked(laboratory, ("POST", "/api/sweeps", body)))
    assert (answer.status_code, answer.text.count("\n")) in {(403, 1), (422, 1)}, answer.text
    assert piece in answer.text
    assert not (tmp_path / "store").exists()


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(frame.to_arrow(), buffer, compression="zstd")
    return buffer.getvalue()


#: Parts of a store that none of ours is.
PARTS = {
    # 4 * 10^7 rows of 16 bytes, in a file of kilobytes.
    "a table of 640 MB": (
        lambda: parquet(pl.DataFrame({"key": pl.zeros(4 * 10**7, pl.Int8, eager=True)})),
        "take more than 500,000,000 bytes of memory",
    ),
    "no Parquet": (lambda: b"x" * 1000, "cannot be read as Parquet"),
    "a footer of nothing": (
        lambda: b"PAR1" + b"\0" * 8 + struct.pack("<I", 8) + b"PAR1",
        "cannot be read as Parquet",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_store_is_refused_in_a_line(
    laboratory: Laboratory, tmp_path: Path, name: str
) -> None:
    content, piece = PARTS[name]
    plan = {"scenario": str(tmp_path / "small.toml"), "seeds": 1}
    ac.sweep(plan, tmp_path / "store")
    (folder,) = (tmp_path / "store/cells").iterdir()
    (folder / "part-0.parquet").write_bytes(content())
    answer = got(laboratory, "/api/stores/rows?path=store")
    assert (answer.status_code, answer.text.count("\n")) == (422, 1), answer.text
    assert piece in answer.text
    assert str(tmp_path) not in answer.text


#: A reader that never answers, and one that ends as one does that has no memory left.
HANGING = """
import sys, time
from multiprocessing.connection import Connection
with Connection(int(sys.argv[1])) as ends:
    ends.send(None)
    ends.recv()
    {}
"""


@pytest.mark.parametrize(
    ("does", "piece"),
    [("time.sleep(1e6)", "more than 0.2 s"), ("sys.exit(1)", "more than 2,000,000,000 bytes")],
)
def test_a_reader_that_does_not_answer_ends_and_another_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, piece: str
) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    readers = Readers(tmp_path)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(reading, "_CHILD", HANGING.format(does))
            patched.setattr(reading, "MOST_S", 0.2)
            for _ in range(3):
                with pytest.raises(ac.BadInput, match=piece):
                    asyncio.run(readers.do("folder"))
        # All of them have ended, and others are begun.
        assert asyncio.run(readers.do("folder"))["scenarios"] == ["small.toml"]
    finally:
        readers.stop()


def test_an_answer_has_a_limit_of_time(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MOST_ASKED_S", 0.1)
    text = {"file": "a.toml", "text": SMALL.replace('"5 s"', '"1000000 s"')}
    asks = ("POST", "/api/ask", {"do": "segments", "text": text, "from_s": 0.0, "until_s": 1e-9})
    told, state = asyncio.run(asked(laboratory, asks, ("GET", "/api/state", None)))
    assert (told.status_code, told.text) == (422, "no answer after 0.1 s; begin it as a run\n")
    assert state.status_code == 200
    # Its thread ends as well, since nobody waits for it.
    laboratory.close()
    laboratory.jobs.join()
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("ask")]


def test_others_are_answered_while_readers_are_busy(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_CHILD", HANGING.format("time.sleep(1e6)"))
    monkeypatch.setattr(reading, "MOST_S", 1.0)
    came: list[str] = []

    async def one(url: str) -> None:
        (answer,) = await asked(laboratory, ("GET", url, None))
        came.append(f"{url} {answer.status_code}")

    async def both() -> None:
        slow = [asyncio.ensure_future(one("/api/folder")) for _ in range(3)]
        await asyncio.sleep(0)
        await one("/api/state")
        await one("/api/text?path=small.toml")
        await asyncio.gather(*slow)

    asyncio.run(both())
    # The order says it: nobody waits for those that hang.
    assert came[:2] == ["/api/state 200", "/api/text?path=small.toml 200"]
    assert came[2:] == ["/api/folder 422"] * 3


def test_captures_leave_readers_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = threading.Event()

    def do(_: Readers, what: str, __: tuple[object, ...]) -> str:
        if what == "folder":
            listed.set()
        # A capture is done once the folder has been listed, and no reader would be left for that.
        return what if listed.wait(60) else "late"

    monkeypatch.setattr(Readers, "_do", do)
    readers = Readers(tmp_path)

    async def every() -> list[str]:
        captures = [readers.do("segments", f"{n}.pcapng") for n in range(3)]
        return await asyncio.gather(*captures, readers.do("folder"))

    assert asyncio.run(every()) == [*["segments"] * 3, "folder"]
    readers.stop()


#: A sweep that says more than a pipe holds, 64 kB, and then why it ends.
TALKING = """
import sys
for n in range(20_000):
    print("cell", n, "is done", file=sys.stderr)
print("ackclock: no space left", file=sys.stderr)
sys.exit(1)
"""


def test_a_sweep_that_says_much_is_not_held_up(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ackclock.serve.sweeps._TIED", (sys.executable, "-c", TALKING))
    laboratory.sweeps.begin("plan.toml", "store")
    (sweep,) = laboratory.sweeps._known.values()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    assert sweep.process.wait(60) == 1
    assert laboratory.sweeps.told() == [
        {
            "store": "store",
            "plan": "plan.toml",
            "running": False,
            "error": "ackclock: no space left",
        }
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b'{"do": "read", "text": ' + b"[" * 100_000 + b"}",
        b'{"do": "read", "text": {"file": "a.json", "text": "' + b"[" * 100_000 + b'"}}',
        b'{"do": "read", "text": {"file": "a.toml", "text": "x = ' + b"[" * 100_000 + b'"}}',
        b'{"do": "read", "text": {"file": "\\u0000", "text": "\\u0000"}}',
        b'{"do": "read", "text": {"file": "\\ud800", "text": "\\ud800"}}',
        b'{"do": "read", "text": 1e999}',
        b'{"do": "segments"}',
        b"\xff\xfe",
        b"",
    ],
)
def test_a_body_that_is_none_is_told_in_a_line(laboratory: Laboratory, body: bytes) -> None:
    async def sent() -> tuple[int, bytes]:
        transport = httpx.ASGITransport(app=laboratory.app)  # type: ignore[arg-type]
        headers = {"x-ackclock-token": TOKEN, "host": "127.0.0.1:80"}
        base = "http://127.0.0.1:80"
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers) as client:
            answer = await client.post("/api/ask", content=body)
            return answer.status_code, answer.content

    status, content = asyncio.run(sent())
    if status == 200:
        # The core's answer: the line stands in its header.
        length = int.from_bytes(content[:4], "little")
        content = json.loads(content[4 : 4 + length])["error"].encode() + b"\n"
    assert status in {200, 422}
    assert content.count(b"\n") == 1


async def hung_on(laboratory: Laboratory, sent: bytes) -> bytes:
    """Return all that a connection is answered on which so much is sent, and no more."""
    config = uvicorn.Config(laboratory.app, lifespan="off", log_level="critical", http=Patient)
    config.load()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Patient(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        try:
            return await reader.read()
        finally:
            writer.close()


HEAD = b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-Ackclock-Token: a-token\r\n"


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (HEAD[:30], b"HTTP/1.1 408 "),
        (HEAD, b"HTTP/1.1 408 "),
        (HEAD + b"Content-Length: 100\r\n\r\n{", b"HTTP/1.1 408 "),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n10\r\n{", b"HTTP/1.1 408 "),
        # Whoever says nothing is no request.
        (b"", b""),
        # The second request on a connection is half of one.
        (HEAD + b"Content-Length: 0\r\n\r\n" + HEAD, b"HTTP/1.1 422 "),
    ],
)
def test_half_a_request_is_not_kept(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, sent: bytes, answered: bytes
) -> None:
    monkeypatch.setattr(patience, "MOST_S", 0.2)
    # It comes to an end, whenever that is.
    answer = asyncio.run(hung_on(laboratory, sent))
    assert answer.startswith(answered) if answered else answer == b""


def test_connections_without_a_word_do_not_keep_others_out(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "MOST", 8)
    # No connection ends because it has waited.
    monkeypatch.setattr(patience, "MOST_S", 1e6)
    config = uvicorn.Config(laboratory.app, lifespan="off", log_level="critical", http=Patient)
    config.load()
    state = ServerState()

    async def asked() -> tuple[bytes, list[bytes | BaseException], int]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Patient(config, state, {}), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"Content-Length: 0\r\n\r\n")
            answer = await reader.readline()
            # The oldest 13 of 21 connections are ended: eight are left.
            reads = (one.read() for one, _ in silent[:13])
            ends = asyncio.gather(*reads, return_exceptions=True)
            ended = await asyncio.wait_for(ends, 60)
            left = len(state.connections)
            for each in (writer, *(one for _, one in silent)):
                each.close()
            return answer, [one for one in ended if one and not isinstance(one, OSError)], left

    answer, said, left = asyncio.run(asked())
    assert answer.startswith(b"HTTP/1.1 422 ")
    assert (said, left) == ([], 8)


@pytest.mark.parametrize("path", ["/api/state", "/api/text?path=small.toml", "FILE"])
def test_what_is_read_has_a_head(laboratory: Laboratory, path: str) -> None:
    files = json.loads(got(laboratory, "/api/state").text)["files"]
    path = f"{files}small.toml" if path == "FILE" else path
    head = f"{path} HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-Ackclock-Token: a-token\r\n"
    answers = [
        asyncio.run(hung_on(laboratory, f"{method} {head}Connection: close\r\n\r\n".encode()))
        for method in ("GET", "HEAD")
    ]
    whole, alone = (
        [line for line in answer.partition(b"\r\n\r\n")[0].splitlines() if b"date" not in line]
        for answer in answers
    )
    assert whole[0] == b"HTTP/1.1 200 OK"
    assert whole == alone
    assert [len(answer.partition(b"\r\n\r\n")[2]) > 0 for answer in answers] == [True, False]


def test_a_name_that_is_no_text_hides_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.toml")).write_text("", encoding="utf-8")
    served = Served(tmp_path)
    json.dumps(vars(served.found())).encode()
    with pytest.raises(OutsideError):
        served.path("\ud800")


def test_a_file_is_closed_with_a_reader_that_goes_early(tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(bytes(10_000_000))
    file = (tmp_path / "big.bin").open("rb")
    answer = app._Pieces(file, "application/octet-stream", {})  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        # The reader takes nothing, and goes.
        await asyncio.sleep(0)

    asyncio.run(answer({"type": "http", "method": "GET"}, receive, send))  # type: ignore[arg-type]
    assert file.closed
