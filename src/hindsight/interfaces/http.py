"""One process over HTTP: REST under `/v1`, MCP at `/mcp`, and health. Parse, call one method, render."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

import orjson
import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight.config import Settings, not_yet_served
from hindsight.domain.memory import Kind
from hindsight.domain.page import Order
from hindsight.embedded import AsyncHindsight
from hindsight.errors import HindsightError, InvalidInput, shorten
from hindsight.interfaces import rest_schemas as bodies
from hindsight.interfaces.auth import Doorkeeper, refuse_open_door
from hindsight.interfaces.http_review import review_routes
from hindsight.interfaces.http_trace import trace_routes
from hindsight.interfaces.mcp import build_server, http_endpoint
from hindsight.interfaces.mcp_texts import SERVER_INFO
from hindsight.interfaces.process import settle_in
from hindsight.interfaces.shapes import Shape, memory_shape, receipt_shape, result_shape, revision_shape, stats_shape
from hindsight.interfaces.shapes_prune import prune_shape

log = logging.getLogger(__name__)

VERSION = SERVER_INFO["version"]

STATUS_OF_CODE = {
    "invalid_input": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "ambiguous": 409,
    "conflict": 409,
    "too_large": 413,
    "unsupported": 501,
    "storage_full": 507,
    "deadline_exceeded": 504,
    "unavailable": 503,
    "storage_unavailable": 503,
    "model_unavailable": 503,
}
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
MAX_BODY = 16 * 1024 * 1024  # bytes; the largest batch of ordinary turns is about 1 MB
NAMESPACE_HEADER = "x-hindsight-namespace"
JSON_BODY = "one JSON object in UTF-8, nested at most some hundreds deep"
MAX_FIELD = 200  # characters of the way to a field that an error names


class Answer(JSONResponse):
    """JSON as people read it: Chinese stays Chinese."""

    media_type = "application/json; charset=utf-8"

    def render(self, content: Any) -> bytes:
        """The body. What orjson refuses, such as a whole number beyond 64 bits, the standard library may write."""
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError:
            return super().render(content)


def create_app(settings: Settings) -> FastAPI:
    """The ASGI app. `ConfigError` where it would be open to other machines without a key."""
    refuse_open_door(settings)
    memory = AsyncHindsight(settings=settings)
    endpoint = http_endpoint(build_server(lambda request: _memory_of(memory, request), settings.mcp_toolset))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Opening the store and loading the embedder go on while the first calls come in.
        warming = asyncio.create_task(_warm(memory, settings.namespace))
        async with endpoint.run():
            try:
                yield
            finally:
                await warming
                await memory.aclose()

    # The two pages that come with FastAPI load their scripts from elsewhere; /openapi.json stays.
    pages: dict[str, Any] = {"docs_url": None, "redoc_url": None}
    app = FastAPI(title="hindsight", version=VERSION, lifespan=lifespan, default_response_class=Answer, **pages)
    app.state.memory = memory
    app.include_router(health)
    app.include_router(rest)
    app.router.routes.append(Route("/mcp", endpoint.app, methods=["GET", "POST", "DELETE"]))
    key = settings.api_key.get_secret_value() if settings.api_key else None
    app.add_middleware(Gate, doorkeeper=Doorkeeper(key=key, allowed_hosts=settings.allowed_hosts))
    app.add_exception_handler(HindsightError, _known_error)
    app.add_exception_handler(RequestValidationError, _wrong_body)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unknown_error)
    return app


async def _warm(memory: AsyncHindsight, namespace: str) -> None:
    try:
        await (await memory.engine()).warm(namespace)
    except HindsightError as error:
        log.error("%s: %s %s", error.code, error, error.hint)


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
            await _error_answer(error)(scope, receive, send)
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


def _memory_of(memory: AsyncHindsight, request: Request | None) -> AsyncHindsight:
    name = _namespace_in(request) if request is not None else None
    return memory.namespace(name) if name is not None else memory


def _namespace_in(request: Request) -> str | None:
    """The namespace that a request names. What can't be read is refused: read loosely, two names could be one."""
    given = request.headers.getlist(NAMESPACE_HEADER)
    if len(given) > 1:
        raise InvalidInput("X-Hindsight-Namespace", given, "one name")
    try:
        # Beyond ASCII a name comes percent-encoded or as raw UTF-8, which the server has read byte by byte.
        return unquote_to_bytes(given[0].encode("latin-1")).decode() if given else None
    except UnicodeDecodeError as error:
        raise InvalidInput("X-Hindsight-Namespace", given[0], "UTF-8, percent-encoded where it is not ASCII") from error


async def of_request(request: Request) -> AsyncHindsight:
    """The memory in the namespace that the request names. Async: a plain function would run in a thread."""
    return _memory_of(request.app.state.memory, request)


async def refuse_unknown_parameters(request: Request) -> None:
    """A misspelled filter that was passed over would answer with everything."""
    known = [field.alias for field in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            allowed = f"no such parameter; the parameters are {', '.join(known) or 'none'}"
            raise InvalidInput(shorten(name)[1:-1], request.query_params[name], allowed)


Memory = Annotated[AsyncHindsight, Depends(of_request)]

health = APIRouter(tags=["health"])
rest = APIRouter(prefix="/v1", tags=["memory"], dependencies=[Depends(refuse_unknown_parameters)])


@health.get("/healthz")
async def alive() -> Answer:
    """The process runs."""
    return Answer({"status": "ok", "version": VERSION})


@health.get("/readyz")
async def ready(request: Request) -> Answer:
    """The store is open and answers; 503 until then."""
    engine = await request.app.state.memory.engine()
    await engine.ping()
    return Answer({"status": "ready"})


@rest.post("/memories")
async def write(body: bodies.WriteBody, memory: Memory) -> Answer:
    """Keep what was said or done."""
    return Answer(receipt_shape(await memory.write(**_given(body))))


@rest.post("/memories/batch")
async def write_batch(body: bodies.BatchBody, memory: Memory) -> Answer:
    """Keep many things at once; one receipt each, in order."""
    receipts = await memory.write_many([_given(one) for one in body.writes])
    return Answer({"receipts": [receipt_shape(receipt) for receipt in receipts]})


@rest.post("/experiences")
async def write_experience(body: bodies.ExperienceBody, memory: Memory) -> Answer:
    """Keep what worked or failed."""
    return Answer(receipt_shape(await memory.write_experience(**_given(body))))


@rest.post("/search")
async def search(body: bodies.SearchBody, memory: Memory) -> Answer:
    """What matters for a question."""
    return Answer(result_shape(await memory.search(**_given(body))))


@rest.get("/memories")
async def listing(
    memory: Memory,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: str | None = None,
    order: Order = Order.NEWEST,
    types: Annotated[list[Kind] | None, Query()] = None,
    tags: Annotated[list[str] | None, Query()] = None,
    session_id: str | None = None,
) -> Answer:
    """Active memories, a page at a time; `after` is the `next` of the page before."""
    filters: dict[str, object] = {
        "types": types,
        "tags": tags,
        "sessions": [session_id] if session_id is not None else None,
    }
    page = await memory.list(filters=filters, order=order, limit=limit, after=after)
    return Answer({"items": [memory_shape(item) for item in page.items], "next": page.next})


@rest.get("/memories/{memory_id}")
async def get(memory_id: str, memory: Memory) -> Answer:
    """One memory."""
    return Answer(memory_shape(await memory.get(memory_id)))


@rest.get("/memories/{memory_id}/history")
async def history(memory_id: str, memory: Memory) -> Answer:
    """Every state of a memory, oldest first."""
    return Answer({"revisions": [revision_shape(revision) for revision in await memory.history(memory_id)]})


@rest.patch("/memories/{memory_id}")
async def update(memory_id: str, body: bodies.UpdateBody, memory: Memory) -> Answer:
    """Change a memory."""
    return Answer(receipt_shape(await memory.update(memory_id, **_given(body))))


@rest.delete("/memories/{memory_id}")
async def forget(memory_id: str, memory: Memory, reason: str = "") -> Answer:
    """Hide a memory; the receipt's `undo` takes it back."""
    return Answer(receipt_shape(await memory.forget(memory_id, reason=reason)))


@rest.post("/memories/{memory_id}/decay")
async def decay(memory_id: str, body: bodies.DecayBody, memory: Memory) -> Answer:
    """Let a memory fade by a factor."""
    return Answer(receipt_shape(await memory.forget(memory_id, **_given(body))))


@rest.post("/memories/{memory_id}/pin")
async def pin(memory_id: str, body: bodies.PinBody, memory: Memory) -> Answer:
    """Pin or unpin a memory."""
    return Answer(receipt_shape(await memory.pin(memory_id, pinned=body.pinned)))


@rest.post("/memories/{memory_id}/feedback")
async def feedback(memory_id: str, body: bodies.FeedbackBody, memory: Memory) -> Answer:
    """Say whether following an experience worked."""
    return Answer(memory_shape(await memory.feedback(memory_id, **_given(body))))


@rest.post("/experiences/merge")
async def merge(memory: Memory) -> Answer:
    """Merge experiences that are for the same situation; the receipt's `undo` takes it back."""
    return Answer(receipt_shape(await memory.merge_experiences()))


@rest.post("/prune")
async def prune(body: bodies.PruneBody, memory: Memory) -> Answer:
    """Name, or archive, the experiences that are not trusted, or old and hardly used."""
    return Answer(prune_shape(await memory.prune(**_given(body))))


@rest.post("/undo")
async def undo(body: bodies.UndoBody, memory: Memory) -> Answer:
    """Take back what a receipt's token stands for."""
    return Answer(receipt_shape(await memory.undo(body.token)))


@rest.get("/stats")
async def stats(memory: Memory) -> Answer:
    """Counts of the namespace."""
    return Answer(stats_shape(await memory.stats()))


rest.include_router(review_routes(of_request))
rest.include_router(trace_routes(of_request))


def _given(body: bodies.Body) -> dict[str, Any]:
    """The fields the caller sent, by the names of the Python API."""
    return body.model_dump(exclude_unset=True)


def _error_answer(error: HindsightError) -> Answer:
    shape: Shape = {
        "code": error.code,
        "message": str(error),
        "hint": error.hint,
        "retryable": error.retryable,
    }
    if isinstance(error, InvalidInput):
        shape |= {"field": error.field, "value": error.value, "allowed": error.allowed}
    return Answer({"error": shape}, status_code=STATUS_OF_CODE.get(error.code, 500))


async def _known_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HindsightError)
    if STATUS_OF_CODE.get(error.code, 500) >= 500:
        log.error("%s %s: %s: %s", request.method, request.url.path, error.code, error)
    return _error_answer(error)


async def _wrong_body(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fault = error.errors()[0]
    where, *path = fault["loc"]  # "body", "query" or "path" first, then the way to the field
    kind = request.headers.get("content-type", "")
    if where == "body" and not path and "json" not in kind.lower():  # `curl -d` alone says it sends a form
        return _error_answer(InvalidInput("Content-Type", kind, "application/json"))
    if fault["type"] == "json_invalid":
        fault_at = f"{fault['ctx']['error']} at character {path[0]}"
        return _error_answer(InvalidInput("body", fault_at, JSON_BODY))
    field = ".".join(str(part) for part in path)[:MAX_FIELD] or str(where)
    return _error_answer(InvalidInput(field, fault.get("input"), fault["msg"]))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # the framework could not make JSON of it: bytes, numbers or nesting out of bounds
        return _error_answer(InvalidInput("body", str(error.detail), JSON_BODY))
    shape: Shape = {
        "code": "http_error",
        "message": str(error.detail),
        "hint": "",
        "retryable": False,
    }
    return Answer({"error": shape}, status_code=error.status_code, headers=error.headers)


async def _unknown_error(request: Request, error: Exception) -> Response:
    """A fault of this program: the server logs it with its trace, and the caller gets an answer of the usual shape."""
    return _error_answer(HindsightError("The server met an error of its own.", hint="Its log tells more."))


def serve(settings: Settings) -> None:
    """Serve until a signal asks to stop; calls in flight are finished first."""
    settle_in()
    app = create_app(settings)
    for name in not_yet_served():
        log.warning("%s is set, but this release does not serve it", name)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level.lower(),
        access_log=False,
        timeout_graceful_shutdown=10,
    )
