"""Searching, and what is known of searches that were made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue, TypeAdapter

from hindsight.client.answers import Answered, SearchResult
from hindsight.client.opening import Opened
from hindsight.client.reading import filters as filters_of
from hindsight.client.reading import interval, moment
from hindsight.domain.query import Filters, TimeRange

RESULT: Final = TypeAdapter(SearchResult)
TRACE: Final = TypeAdapter(dict[str, JsonValue])
ANSWERED: Final = TypeAdapter(Answered)


class Searches(Opened):
    """Searching, and what is known of searches that were made."""

    async def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        top_k: int | None = None,
        session_id: str | None = None,
        time_range: TimeRange | str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        asked_at: datetime | str | None = None,
        max_tokens: int | None = None,
        as_of: datetime | str | None = None,
    ) -> SearchResult:
        """What matters for a question, ranked, with the context block. `session_id` asks for that session only."""
        body = {
            "query": query,
            "top_k": top_k,
            "session_id": session_id,
            "time_range": interval(time_range),
            "filters": filters_of(filters),
            "asked_at": moment(asked_at),
            "max_tokens": max_tokens,
            "as_of": moment(as_of),
        }
        return await self._call(RESULT, "POST", "/v1/search", namespace, body, again=True)

    async def trace(self, trace_id: str, *, namespace: str | None = None) -> dict[str, JsonValue]:
        """The record of one search by the `trace_id` of its result. `NotFound` once it is no longer kept."""
        return await self._call(TRACE, "GET", _path(trace_id), namespace)

    async def replay(
        self,
        trace_id: str,
        *,
        namespace: str | None = None,
        as_of_then: bool = False,
        weights: str | Mapping[str, float] | None = None,
    ) -> Answered:
        """Run a traced search again with the clock, use counts and weights of then, and tell what is different."""
        body = {"as_of_then": as_of_then, "weights": dict(weights) if isinstance(weights, Mapping) else weights}
        return await self._call(ANSWERED, "POST", f"{_path(trace_id)}/replay", namespace, body, again=True)

    async def explain(self, trace_id: str, memory_id: str, *, namespace: str | None = None) -> Answered:
        """Why a traced search did, or did not, return a memory: the stage that lost it."""
        path = f"{_path(trace_id)}/explain/{quote(memory_id, safe='')}"
        return await self._call(ANSWERED, "GET", path, namespace)


def _path(trace_id: str) -> str:
    return f"/v1/traces/{quote(trace_id, safe='')}"
