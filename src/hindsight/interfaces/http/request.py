"""What a request is about: its namespace, its parameters, the fields of its body."""

# Annotations are evaluated here, not kept as text: FastAPI reads them.

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant

from hindsight.domain.access import Caller, Role
from hindsight.domain.memory import Kind, Layer
from hindsight.embedded import AsyncHindsight
from hindsight.errors import InvalidInput, shorten
from hindsight.interfaces.http import bodies

NAMESPACE_HEADER = "x-hindsight-namespace"


def memory_of(memory: AsyncHindsight, request: Request | None, needed: Role) -> AsyncHindsight:
    """The memory in the namespace that a request is about; without a request, in the one of the settings.

    `Forbidden` where the caller's key does not reach it, or may not do there what is `needed`.
    """
    if request is None:
        return memory
    caller: Caller = request.state.caller
    name = caller.within(_namespace_in(request), memory.name)
    caller.check(name, needed)
    return memory.namespace(name)


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


async def reading(request: Request) -> AsyncHindsight:
    """The memory that a request is about, to look at. Async: a plain function would run in a thread."""
    return memory_of(request.app.state.memory, request, Role.READ)


async def writing(request: Request) -> AsyncHindsight:
    """The memory that a request is about, to change."""
    return memory_of(request.app.state.memory, request, Role.WRITE)


async def administering(request: Request) -> AsyncHindsight:
    """The memory that a request is about, to do what can't be undone."""
    return memory_of(request.app.state.memory, request, Role.ADMIN)


async def refuse_unknown_parameters(request: Request) -> None:
    """A misspelled filter that was passed over would answer with everything."""
    known = list(_parameters(request.scope["route"].dependant))
    for name in request.query_params:
        if name not in known:
            allowed = f"no such parameter; the parameters are {', '.join(known) or 'none'}"
            raise InvalidInput(shorten(name)[1:-1], request.query_params[name], allowed)


def _parameters(dependant: Dependant) -> Iterator[str]:
    """The names of a route's parameters, those of what it depends on included."""
    yield from (field.alias for field in dependant.query_params)
    for other in dependant.dependencies:
        yield from _parameters(other)


async def listed_filters(
    types: Annotated[list[Kind] | None, Query()] = None,
    layers: Annotated[list[Layer] | None, Query()] = None,
    tags: Annotated[list[str] | None, Query()] = None,
    entities: Annotated[list[str] | None, Query()] = None,
    speakers: Annotated[list[str] | None, Query()] = None,
    sessions: Annotated[list[str] | None, Query()] = None,
    session_id: str | None = None,
    exclude_sessions: Annotated[list[str] | None, Query()] = None,
    min_confidence: Annotated[float | None, Query(ge=0, le=1)] = None,
    time_range: str | None = None,
    as_of: str | None = None,
) -> dict[str, object]:
    """The filters of a search as parameters of an address; `session_id` is one of `sessions`."""
    named = [*(sessions or ()), *([session_id] if session_id is not None else ())]
    return {
        "types": types,
        "layers": layers,
        "tags": tags,
        "entities": entities,
        "speakers": speakers,
        "sessions": named or None,
        "exclude_sessions": exclude_sessions,
        "min_confidence": min_confidence,
        "time_range": time_range,
        "as_of": as_of,
    }


ListedFilters: TypeAlias = Annotated[dict[str, object], Depends(listed_filters)]
ReadMemory: TypeAlias = Annotated[AsyncHindsight, Depends(reading)]
Memory: TypeAlias = Annotated[AsyncHindsight, Depends(writing)]
AdminMemory: TypeAlias = Annotated[AsyncHindsight, Depends(administering)]


def given_in(body: bodies.Body) -> dict[str, Any]:
    """The fields the caller sent, by the names of the Python API."""
    return body.model_dump(exclude_unset=True)
