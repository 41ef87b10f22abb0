"""In front of every route: Host, Origin, key and size."""

from __future__ import annotations

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight.errors import HindsightError, shorten
from hindsight.interfaces.auth import Doorkeeper
from hindsight.interfaces.http.answers import error_answer

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
MAX_BODY = 16 * 1024 * 1024  # bytes; the largest batch of ordinary turns is about 1 MB


class Gate:
    """In front of everything: Host, Origin, key and size, before a byte of the body is read by anyone."""

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper) -> None:
        self._app = app
        self._doorkeeper = doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            self._doorkeeper.check(request, open_to_all=scope["path"] in OPEN_PATHS)
            _check_length(request)
        except HindsightError as error:
            await error_answer(error)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)


class TooLarge(HindsightError):
    """A body beyond what one request may carry."""

    code = "too_large"


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
