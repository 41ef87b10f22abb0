"""Telling much in few words: a session, a time, an answer to a question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from hindsight.domain.digest import CitedAnswer, Digest
from hindsight.domain.query import Filters, TimeRange
from hindsight.embedded.opening import Opened
from hindsight.search.request import parse_query
from hindsight.upkeep.summarize import parse_telling


class Digests(Opened):
    """Telling much in few words."""

    async def summarize(
        self,
        session_id: str | None = None,
        time_range: TimeRange | str | None = None,
        *,
        namespace: str | None = None,
        max_tokens: int | None = None,
    ) -> Digest:
        """A session, a time, or a session within a time, told in few sentences that each name what they rest on.

        `time_range`: an ISO interval or a phrase («上周», "last week"). A language model writes it where one is set;
        else sentences are chosen as they were said, and the digest says so.
        """
        engine = await self.engine()
        wanted = parse_telling(
            session_id=session_id,
            time_range=time_range,
            max_tokens=max_tokens,
            now=engine.now(),
            timezone=self._settings.timezone,
        )
        return await engine.summarize(self._within(namespace), wanted)

    async def answer(
        self,
        question: str,
        *,
        namespace: str | None = None,
        session_id: str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        asked_at: datetime | str | None = None,
    ) -> CitedAnswer:
        """An answer to a question, each sentence with the memories it rests on.

        Without a language model the memories that answer best, as they are. `answered` is false where none does.
        """
        engine = await self.engine()
        query = parse_query(
            question,
            now=engine.now(),
            timezone=self._settings.timezone,
            session_id=session_id,
            filters=filters,
            asked_at=asked_at,
        )
        return await engine.answer(self._within(namespace), query)
