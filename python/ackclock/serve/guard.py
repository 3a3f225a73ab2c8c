"""The door of the server: who is answered, and how much is read of what they send.

A browser sends requests of any page to this machine. A request is answered if it names this host
(or another name could be bound to this address), comes from this page, and has the token, which
the link has once and a cookie from then on. A browser sends a cookie to every port of a host; this
one goes with a path that nobody else knows, and so to this server alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from ackclock.serve.opening import page_leading_to

__all__ = ["MOST_BYTES", "App", "Guard", "TooMuchError"]

#: The most bytes of a request.
MOST_BYTES = 10_000_000
#: The most bytes, and seconds, for which a request that is refused is listened to.
_MOST_DRAINED = 1_000_000_000
_PATIENCE_S = 5.0

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The headers of every answer.
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class TooMuchError(Exception):
    """The body of a request is longer than what is read; its text is one line."""


class Guard:
    """An application behind the door.

    Parameters
    ----------
    app
        The application.
    token
        The secret of this server.
    port
        The port that it listens at.
    open_paths
        The beginnings of paths that carry a secret of their own, and need no token.
    """

    def __init__(self, app: App, token: str, port: int, open_paths: Iterable[str] = ()) -> None:
        self._app = app
        self._token = token
        self._cookie = f"ackclock-{port}"
        # Drawn apart from the token: addresses are kept in histories.
        self._base = f"/at/{secrets.token_urlsafe(16)}"
        self._codes: set[str] = set()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._open = tuple(open_paths)

    def code(self) -> str:
        """Return a code that lets one browser in, once, at ``/?code=``."""
        code = secrets.token_urlsafe(32)
        self._codes.add(code)
        return code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in a line."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if scope["type"] == "http" and scope["path"] == "/":
            if self._is_link(scope, headers):
                await self._let_in(send, 303)
                return
            if self._is_code(scope, headers):
                await self._let_in(send, 200)
                return
        is_inside = scope["path"].startswith(f"{self._base}/")
        if is_inside:
            scope = {**scope, "path": scope["path"].removeprefix(self._base)}
        else:
            headers.pop("cookie", None)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _refuse(scope, receive, send, *refused)
            return
        await self._pass(scope, receive, send)

    def _is_link(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Return True for the link that was printed, whoever opened it."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return (
            scope["method"] == "GET"
            and headers.get("host") in self._hosts
            and self._is_token(given)
        )

    def _is_code(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Return True for a code that was not used, and use it up."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("code", [""])[0]
        if scope["method"] != "GET" or headers.get("host") not in self._hosts:
            return False
        known = [code for code in self._codes if hmac.compare_digest(given.encode(), code.encode())]
        self._codes.difference_update(known)
        return bool(known)

    async def _let_in(self, send: Send, status: int) -> None:
        """Give a browser the cookie, and lead it to the page."""
        inside = f"{self._base}/"
        cookie = f"{self._cookie}={self._token}; Path={inside}; HttpOnly; SameSite=Strict"
        body = page_leading_to(inside).encode()
        headers = [
            (b"location", inside.encode()),
            (b"set-cookie", cookie.encode()),
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            *_HEADERS,
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return the status and the line of a request that is refused."""
        host = headers.get("host", "")
        if host not in self._hosts:
            return 421, f"this server is {min(self._hosts)}, not `{_plain(host)}`"
        if any(scope["path"].startswith(path) for path in self._open):
            return None if scope["method"] in {"GET", "HEAD"} else (405, "this is only read")
        return self._stranger(host, headers) or _length(headers)

    def _stranger(self, host: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return the refusal of a request that is not of this server's page."""
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}", f"https://{host}"}:
            return 403, f"the request comes from `{_plain(origin)}`, expected this server's page"
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return 403, "the request comes from another site, expected this server's page"
        if not any(self._is_token(given) for given in self._tokens(headers)):
            return 401, "the token is missing or wrong: open the link that `ackclock serve` printed"
        return None

    def _tokens(self, headers: dict[str, str]) -> Iterable[str]:
        yield headers.get("x-ackclock-token", "")
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return
        if cookie is not None:
            yield cookie.value

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            if message["type"] == "http.request":
                read += len(message.get("body", b""))
                if read > MOST_BYTES:
                    raise TooMuchError(_too_much(f"of more than {MOST_BYTES:,} bytes"))
            return message

        async def sealed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            await self._app(scope, counted, sealed)
        except TooMuchError as error:
            if not begun:
                await _refuse(scope, receive, send, 413, str(error))


def _length(headers: dict[str, str]) -> tuple[int, str] | None:
    """Return the refusal of a request that says that it is too long."""
    length = headers.get("content-length", "0")
    if not length.isdecimal():
        return 400, "content-length: expected a number of bytes"
    if int(length) > MOST_BYTES:
        return 413, _too_much(f"of {int(length):,} bytes")
    return None


def _too_much(of: str) -> str:
    return f"a request {of}, expected {MOST_BYTES:,} bytes at most"


def _plain(text: str) -> str:
    """Return a text of a stranger's, fit for a line."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:100])


async def _drain(receive: Receive) -> None:
    """Throw the rest of a request away, up to a length that only a mistake has."""
    read = 0
    while read < _MOST_DRAINED:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, line: str) -> None:
    if scope["type"] == "websocket":
        # Closing before it is accepted is an answer 403 of HTTP.
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": line[:120]})
        return
    body = f"{line}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    # Whoever still sends when the connection is closed would lose the line with it.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            await _drain(receive)
    await send({"type": "http.response.body", "body": b""})
