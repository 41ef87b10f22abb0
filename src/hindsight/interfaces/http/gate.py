"""In front of every route: Host, Origin, key and size; and a note of every request, with an id to find it by."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeAlias

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight.errors import HindsightError, TooLarge, shorten
from hindsight.interfaces.auth import Doorkeeper
from hindsight.interfaces.callers import Callers
from hindsight.interfaces.http.answers import error_answer
from hindsight.observe.logs import accept, request_id

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
MAX_BODY = 16 * 1024 * 1024  # bytes; the largest batch of ordinary turns is about 1 MB


REQUEST_ID = "x-request-id"
NO_ROUTE = "none"
REST = "/v1"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

Watch: TypeAlias = Callable[[str, str, int, float], None]
"""Is told method, route, status and seconds of each request."""


class Watched:
    """Gives each request an id, which its answer and its log lines carry, and tells how it went."""

    def __init__(self, app: ASGIApp, watch: Watch) -> None:
        self._app = app
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 500
        named = accept(Headers(scope=scope).get(REQUEST_ID))
        held = request_id.set(named)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = named
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            request_id.reset(held)
            self._watch(_method(scope), _route(scope), status, perf_counter() - started)


def _method(scope: Scope) -> str:
    """The method of a request; anyone may make up more of them."""
    method: str = scope["method"]
    return method if method in METHODS else "other"


def _route(scope: Scope) -> str:
    """The route that took a request, as it is written in the program: a path holds ids.

    What the framework leaves behind knows the route without the prefix of the router that it was put into.
    """
    path = getattr(scope.get("route"), "path", None)
    if not isinstance(path, str):
        return NO_ROUTE
    inside = scope["path"].startswith(f"{REST}/") and not path.startswith(f"{REST}/")
    return f"{REST}{path}" if inside else path


class Gate:
    """In front of everything: Host, Origin, key and size, before a byte of the body is read by anyone."""

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper, callers: Callers) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            self._doorkeeper.check(request)
            _check_length(request)
            if scope["path"] not in OPEN_PATHS:
                request.state.caller = await self._callers.caller(request.headers.get("authorization", ""))
        except HindsightError as error:
            await error_answer(error)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)


def _check_length(request: Request) -> None:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY:
        raise TooLarge(f"Content-Length: {shorten(length)} is not accepted; allowed: at most {MAX_BODY} bytes")


def _bounded(receive: Receive) -> Receive:
    """A body without a declared length is counted as it comes."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MAX_BODY:
            raise HTTPException(413, f"body: at most {MAX_BODY} bytes")
        return message

    return counted
