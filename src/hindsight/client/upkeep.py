"""Telling much in few words, clean-up, and what is known of somebody."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from hindsight.client.answers import Answered, Memory
from hindsight.client.opening import Opened
from hindsight.client.reading import filters as filters_of
from hindsight.client.reading import interval, moment
from hindsight.domain.cleaning import CleanAction, CleanRule
from hindsight.domain.digest import Method
from hindsight.domain.memory import Kind
from hindsight.domain.query import Filters, TimeRange


class Sentence(Answered):
    """A sentence and the ids that it rests on."""

    text: str
    memory_ids: tuple[str, ...]
    short_ids: tuple[str, ...]
    occurred_at: datetime


class Digest(Answered):
    """A session or a time, told."""

    sentences: tuple[Sentence, ...]
    method: Method
    summary: str
    context: str
    tokens: int
    examined: int
    written_by: str | None
    degraded: tuple[str, ...]


class CitedAnswer(Answered):
    """An answer with its citations."""

    sentences: tuple[Sentence, ...]
    answered: bool
    confident: bool
    citations: tuple[str, ...]
    method: Method
    answer: str
    context: str
    tokens: int
    trace_id: str
    written_by: str | None
    degraded: tuple[str, ...]


class CleanEntry(Answered):
    """One memory that a rule of clean-up names."""

    memory_id: str
    short_id: str
    content: str
    kind: Kind
    rule: CleanRule
    action: CleanAction
    reason: str
    importance: float
    strength: float
    other_ids: tuple[str, ...]


class CleanReport(Answered):
    """What was cleaned, or would be."""

    dry_run: bool
    examined: int
    entries: tuple[CleanEntry, ...]
    added: tuple[Memory, ...]
    undo: str | None
    pending: bool
    degraded: tuple[str, ...]


class Observation(Answered):
    """A memory of a profile, and how well it is borne out."""

    memory_id: str
    short_id: str
    content: str
    kind: Kind
    importance: float
    confidence: float
    strength: float
    pinned: bool
    proofs: int
    sessions: int
    last_verified: datetime
    stale: bool


class Profile(Answered):
    """What is known of a subject."""

    subject: str
    constraints: tuple[Observation, ...]
    facts: tuple[Observation, ...]
    preferences: tuple[Observation, ...]
    relations: tuple[Observation, ...]
    rules: tuple[Observation, ...]
    left_out: int
    context: str
    tokens: int


DIGEST: Final = TypeAdapter(Digest)
ANSWER: Final = TypeAdapter(CitedAnswer)
CLEANED: Final = TypeAdapter(CleanReport)
PROFILE: Final = TypeAdapter(Profile)


class Upkeep(Opened):
    """Telling much in few words, clean-up, and what is known of somebody."""

    async def summarize(
        self,
        session_id: str | None = None,
        time_range: TimeRange | str | None = None,
        *,
        namespace: str | None = None,
        max_tokens: int | None = None,
    ) -> Digest:
        """A session, a time, or a session within a time, told in few sentences that each name what they rest on."""
        body = {"session_id": session_id, "time_range": interval(time_range), "max_tokens": max_tokens}
        return await self._call(DIGEST, "POST", "/v1/summaries", namespace, body, again=True)

    async def answer(
        self,
        question: str,
        *,
        namespace: str | None = None,
        session_id: str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        asked_at: datetime | str | None = None,
    ) -> CitedAnswer:
        """An answer to a question, each sentence with the memories it rests on."""
        body = {
            "question": question,
            "session_id": session_id,
            "filters": filters_of(filters),
            "asked_at": moment(asked_at),
        }
        return await self._call(ANSWER, "POST", "/v1/answer", namespace, body, again=True)

    async def cleanup(
        self, *, namespace: str | None = None, dry_run: bool = True, agent: str | None = None
    ) -> CleanReport:
        """Name what is over, weak, said twice, long past or unconfirmed; without `dry_run`, put it away."""
        body = {"dry_run": dry_run, "agent": agent}
        return await self._call(CLEANED, "POST", "/v1/cleanup", namespace, body)

    async def profile(self, subject: str | None = None, *, namespace: str | None = None) -> Profile:
        """What is known of somebody; without a `subject`, of the user."""
        return await self._call(PROFILE, "GET", "/v1/profile", namespace, parameters={"subject": subject})
