"""``ackclock serve``: who is answered, and what is refused."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import websockets

from serving import Laboratory, ended, started
from support import SMALL

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
