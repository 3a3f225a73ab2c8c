"""The application: addresses, and what is answered at each.

Errors are one line of text with the status of HTTP that says their kind.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import mimetypes
import os
import threading
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote

from fastapi import FastAPI, Request, Response, WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

import ackclock
from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.base.shown import shortened
from ackclock.serve.folder import NoFileError, OutsideError, Served
from ackclock.serve.guard import App, Guard, TooMuchError
from ackclock.serve.jobs import ForbiddenError, Job, Jobs, TooManyError
from ackclock.serve.page import MISSING, POLICY_OF_FILES, page, policy
from ackclock.serve.reading import Readers
from ackclock.serve.sweeps import Sweeps

__all__ = ["MOST_ASKED_S", "Laboratory"]

#: Requests of the page that are answered at once; runs have addresses of their own.
_ASKED = {"about", "read", "write", "choices", "segments", "capture"}
#: Seconds of such a request.
MOST_ASKED_S = 30.0
#: Seconds between two looks at whether somebody still waits for an answer.
_LOOK_S = 0.2

_BYTES = "application/octet-stream"
_JSON = "application/json"
_PIECE_BYTES = 1 << 18
_MOST_DIGITS = 12
#: The longest line of a refusal: what was sent is not sent back.
_LONGEST_LINE = 2000


class _NotFoundError(Exception):
    """There is nothing at an address; its text is one line."""


#: The errors that are told, and their status.
_STATUS: dict[type[Exception], int] = {
    OutsideError: 403,
    NoFileError: 404,
    BadInput: 422,
    ClientDisconnect: 408,
    ForbiddenError: 403,
    _NotFoundError: 404,
    TooMuchError: 413,
    TooManyError: 429,
    MissingPackageError: 501,
}


def _line(status: int, text: object) -> Response:
    return PlainTextResponse(shortened(" ".join(str(text).split()), _LONGEST_LINE) + "\n", status)


def _refusal(error: Exception) -> Response:
    """Return the line of an error, with its status."""
    text = str(error)
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    if status is None:
        # The error is a fault of ours: the terminal has all of it, the page a line.
        traceback.print_exception(error)
        return _line(
            500, f"a fault of Ackclock's ({type(error).__name__}: {text}); please report it"
        )
    if isinstance(error, TooManyError):
        text = "too many runs are under way: wait for some, or cancel them"
    return _line(status, text)


def _told(
    answer: Callable[..., Awaitable[Response]],
) -> Callable[..., Awaitable[Response]]:
    """Have a refusal, and a fault, be one line."""

    @wraps(answer)
    async def lined(*given: Any, **named: Any) -> Response:
        try:
            return await answer(*given, **named)
        except Exception as error:  # noqa: BLE001 - the server goes on, and says what happened
            return _refusal(error)

    return lined


class Laboratory:
    """The laboratory of a folder: its application, and what goes on in it.

    Parameters
    ----------
    folder
        The folder.
    token
        The secret of this server.
    port
        The port that it listens at.
    """

    def __init__(self, folder: Path, token: str, port: int) -> None:
        self._served = Served(folder)
        self.jobs = Jobs(self._served.root)
        self.sweeps = Sweeps(self._served)
        self._readers = Readers(self._served.root)
        # Files of reports come to pages that have no cookie: their addresses are secrets.
        key = hmac.new(token.encode(), b"files", hashlib.sha256).hexdigest()
        self._files = f"/files/{key}/"
        app = FastAPI(
            title="Ackclock", docs_url=None, redoc_url=None, openapi_url=None,
            lifespan=self._lifespan,
        )  # fmt: skip
        self._route(app)
        app.add_exception_handler(HTTPException, _no_answer)
        self.app = Guard(cast("App", app), token, port, [self._files])

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncGenerator[None]:
        yield
        self.close()

    def close(self) -> None:
        """End runs, sweeps and readers."""
        self.jobs.stop()
        self.sweeps.stop()
        self._readers.stop()

    def _route(self, app: FastAPI) -> None:
        for method, path, answer in (
            ("GET", "/", self._page),
            ("GET", "/api/state", self._state),
            ("POST", "/api/ask", self._ask),
            ("GET", "/api/runs", self._runs),
            ("POST", "/api/runs", self._begin),
            ("GET", "/api/runs/{name}", self._run),
            ("GET", "/api/runs/{name}/result", self._result),
            ("DELETE", "/api/runs/{name}", self._cancel),
            ("GET", "/api/folder", self._folder),
            ("GET", "/api/text", self._text),
            ("GET", "/api/stores", self._stores),
            ("GET", "/api/stores/rows", self._rows),
            ("POST", "/api/sweeps", self._sweep),
            ("DELETE", "/api/sweeps", self._stop_sweep),
            ("GET", "/api/captures/segments", self._capture),
            ("GET", f"{self._files}{{path:path}}", self._file),
        ):
            # Whoever may read may ask for the head alone (RFC 9110 section 9.1).
            methods = ["GET", "HEAD"] if method == "GET" else [method]
            app.add_api_route(path, _told(answer), methods=methods, response_model=None)
        app.add_api_websocket_route("/api/runs/{name}/follow", self._follow)

    async def _page(self) -> Response:
        found = page()
        if found is None:
            return _line(501, MISSING)
        return HTMLResponse(found, headers={"content-security-policy": policy()})

    async def _state(self) -> Response:
        return JSONResponse(
            {
                "version": ackclock.__version__,
                "folder": self._served.root.name,
                "files": self._files,
                "runs": [job.told() for job in self.jobs.known()],
            }
        )

    async def _ask(self, request: Request) -> Response:
        asked = await _json(request)
        if str(asked.get("do")) not in _ASKED:
            raise BadInput(f"do: expected one of {', '.join(sorted(_ASKED))}")
        gone = threading.Event()
        answer = asyncio.ensure_future(self.jobs.ask(asked, gone))
        late = asyncio.get_running_loop().time() + MOST_ASKED_S
        while not (await asyncio.wait([answer], timeout=_LOOK_S))[0]:
            if await request.is_disconnected():
                gone.set()
            if asyncio.get_running_loop().time() > late:
                gone.set()
                # Its end is nobody's any more.
                answer.add_done_callback(lambda done: done.cancelled() or done.exception())
                raise BadInput(f"no answer after {MOST_ASKED_S:g} s; begin it as a run")
        return Response(await answer, media_type=_BYTES)

    async def _runs(self) -> Response:
        return JSONResponse([job.told() for job in self.jobs.known()])

    async def _begin(self, request: Request) -> Response:
        asked = await _json(request)
        text, on = asked.get("text"), asked.get("on", "sim")
        if not isinstance(text, dict) or str(on) not in {"sim", "live"}:
            raise BadInput("runs: expected `text` with `file` and `text`, and `on`: sim or live")
        given = cast("dict[str, Any]", text)
        job = await self.jobs.begin(
            str(given.get("file", "scenario.toml")),
            str(given.get("text", "")),
            on,
            watch=bool(asked.get("watch", True)),
        )
        return JSONResponse(job.told(), 201)

    def _known(self, name: str) -> Job:
        job = self.jobs.find(name)
        if job is None:
            raise _NotFoundError("no such run: the server may have been started anew")
        return job

    async def _run(self, name: str) -> Response:
        job = self._known(name)
        return JSONResponse({**job.told(), "text": job.text, "watch": job.watch})

    async def _result(self, name: str) -> Response:
        job = self._known(name)
        if job.error is not None:
            raise BadInput(job.error)
        if job.result is None:
            raise _NotFoundError(
                "the run's result was given up for later ones: run it again"
                if job.state == "done"
                else f"the run has no result: it is {job.state}"
            )
        return Response(job.result, media_type=_BYTES)

    async def _cancel(self, name: str) -> Response:
        job = self._known(name)
        self.jobs.cancel(job)
        return JSONResponse(job.told())

    async def _follow(self, socket: WebSocket, name: str) -> None:
        job = self.jobs.find(name)
        if job is None:
            await socket.close(1008, "no such run")
            return
        await socket.accept()
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            try:
                begin = _count("from", socket.query_params.get("from", "0"))
            except BadInput as error:
                await socket.close(1008, str(error))
                return
            await _tell(socket, job, begin)
            await socket.close()

    async def _folder(self) -> Response:
        found = await self._readers.do("folder")
        return JSONResponse({**found, "sweeps": self.sweeps.told()})

    async def _text(self, request: Request) -> Response:
        name = request.query_params.get("path", "")
        return PlainTextResponse(await run_in_threadpool(self._served.text, name))

    async def _stores(self, request: Request) -> Response:
        name = request.query_params.get("path", "")
        return Response(await self._readers.do("about", name), media_type=_JSON)

    async def _rows(self, request: Request) -> Response:
        asked = request.query_params
        found = await self._readers.do(
            "rows",
            asked.get("path", ""),
            asked.get("table", "cells"),
            asked.get("where", ""),
            _count("begin", asked.get("begin", "0")),
        )
        return Response(found, media_type=_JSON)

    async def _sweep(self, request: Request) -> Response:
        asked = await _json(request)
        plan, store = str(asked.get("plan", "")), str(asked.get("store", ""))
        await self._readers.do("plan", plan)
        told = await run_in_threadpool(self.sweeps.begin, plan, store)
        return JSONResponse(told, 201)

    async def _stop_sweep(self, request: Request) -> Response:
        name = request.query_params.get("store", "")
        if not await run_in_threadpool(self.sweeps.cancel, name):
            raise _NotFoundError(f"no such sweep: `{name}` is not run by this server")
        return JSONResponse(self.sweeps.told())

    async def _capture(self, request: Request) -> Response:
        name = request.query_params.get("path", "")
        return Response(await self._readers.do("segments", name), media_type=_BYTES)

    async def _file(self, request: Request, path: str) -> Response:
        file = self._served.opened(path)
        kind, _ = mimetypes.guess_type(path)
        headers = {
            "content-security-policy": POLICY_OF_FILES,
            "content-length": str(os.fstat(file.fileno()).st_size),
        }
        if request.method == "HEAD":
            file.close()
            return Response(media_type=kind or _BYTES, headers=headers)
        return _Pieces(file, kind or _BYTES, headers)


class _Pieces(StreamingResponse):
    """A file in pieces, which is closed with the answer, though its reader goes early."""

    def __init__(self, file: BinaryIO, kind: str, headers: Mapping[str, str]) -> None:
        super().__init__(_pieces(file), media_type=kind, headers=headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and close the file."""
        with self._file:
            await super().__call__(scope, receive, send)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE_BYTES):
        yield piece


async def _tell(socket: WebSocket, job: Job, begin: int) -> None:
    """Tell a reader of a run: parts of rows from ``begin`` on, and its state when that changes."""
    at, told = begin, None
    while True:
        changed = job.changed
        # Parts that come meanwhile are told in the next turn, the state once.
        for part in job.parts[at:]:
            await socket.send_bytes(part)
            at += 1
        over, state = job.over, job.told()
        if state != told:
            await socket.send_text(json.dumps(state))
            told = state
        if over and at >= len(job.parts):
            return
        await changed.wait()


def _count(name: str, text: str) -> int:
    """Return a number of rows or parts."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise BadInput(f"{name}: `{text[:20]}`, expected a number of at most {_MOST_DIGITS} digits")
    return int(text)


async def _no_answer(request: Request, error: Exception) -> Response:
    """Return the line of an address, or of a method, that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    path = quote(request.url.path[:100])
    if status == 405:
        return _line(405, f"{request.method} is not answered at `{path}`")
    return _line(status, f"there is nothing at `{path}`")


async def _json(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadInput("expected an object in JSON")
    return cast("dict[str, Any]", found)
