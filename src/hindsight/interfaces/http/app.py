"""One process over HTTP: REST under `/v1`, MCP at `/mcp`, and health. Parse, call one method, render."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from hindsight.config import Settings, not_yet_served
from hindsight.domain.access import ApiKey, Caller, Role
from hindsight.embedded import AsyncHindsight
from hindsight.errors import HindsightError
from hindsight.interfaces.auth import Doorkeeper, refuse_open_door
from hindsight.interfaces.callers import Callers
from hindsight.interfaces.http import experiences, forgetting, jobs, memories, review, sessions, traces, upkeep
from hindsight.interfaces.http.answers import Answer, http_error, known_error, unknown_error, wrong_body
from hindsight.interfaces.http.gate import REST, Gate, Watched
from hindsight.interfaces.http.request import memory_of, refuse_unknown_parameters
from hindsight.interfaces.mcp.server import build_server, http_endpoint
from hindsight.interfaces.mcp.texts import SERVER_INFO
from hindsight.interfaces.process import settle_in
from hindsight.observe.metrics import CONTENT_TYPE, Metrics

log = logging.getLogger(__name__)

VERSION = SERVER_INFO["version"]

health = APIRouter(tags=["health"])
rest = APIRouter(prefix=REST, tags=["memory"], dependencies=[Depends(refuse_unknown_parameters)])


@health.get("/metrics", response_class=Response)
async def metrics_page(request: Request) -> Response:
    """What operators watch, as Prometheus reads it."""
    caller: Caller = request.state.caller
    caller.check_everywhere(Role.ADMIN)
    engine = await request.app.state.memory.engine()
    return Response(request.app.state.metrics.page(await engine.level()), media_type=CONTENT_TYPE)


for group in (memories, forgetting, experiences, review, sessions, jobs, traces, upkeep):
    rest.include_router(group.routes)


def create_app(settings: Settings) -> FastAPI:
    """The ASGI app. `ConfigError` where it would be open to other machines without a key."""
    refuse_open_door(settings)
    metrics = Metrics()
    memory = AsyncHindsight(settings=settings, metrics=metrics)
    endpoint = http_endpoint(
        build_server(lambda request, needed: memory_of(memory, request, needed), settings.mcp_toolset)
    )

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
    app.state.metrics = metrics
    app.include_router(health)
    app.include_router(rest)
    app.router.routes.append(Route("/mcp", endpoint.app, methods=["GET", "POST", "DELETE"]))
    callers = make_callers(settings, memory)
    keyed = settings.api_key is not None or settings.require_key
    doorkeeper = Doorkeeper(keyed=keyed, allowed_hosts=settings.allowed_hosts)
    app.add_middleware(Gate, doorkeeper=doorkeeper, callers=callers)
    app.add_middleware(Watched, watch=metrics.request)
    app.add_exception_handler(HindsightError, known_error)
    app.add_exception_handler(RequestValidationError, wrong_body)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(Exception, unknown_error)
    return app


def make_callers(settings: Settings, memory: AsyncHindsight) -> Callers:
    """Who is who, by the settings and the keys of the store."""

    async def recognise(token: str) -> ApiKey | None:
        return await (await memory.engine()).key_of(token)

    async def locked() -> bool:
        return settings.require_key or bool(await (await memory.engine()).keys())

    return Callers(settings.api_key.get_secret_value() if settings.api_key else None, recognise, locked)


async def _warm(memory: AsyncHindsight, namespace: str) -> None:
    try:
        await (await memory.engine()).warm(namespace)
    except HindsightError as error:
        log.error("%s: %s %s", error.code, error, error.hint)


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
        log_config=None,  # its lines go where ours go, and look like them
        access_log=False,
        timeout_graceful_shutdown=10,
    )
