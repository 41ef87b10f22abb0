"""Telling much in few words: a session, a time, an answer to a question."""

from __future__ import annotations

from hindsight.domain.digest import CitedAnswer, Digest
from hindsight.domain.query import Query
from hindsight.engine.parts import Running, checked
from hindsight.upkeep.answer import Answerer
from hindsight.upkeep.summarize import Summarizer, Telling


class Digests(Running):
    """Telling much in few words."""

    async def summarize(self, namespace: str, wanted: Telling) -> Digest:
        """A session or a time told in few sentences, each of which names what it rests on."""
        parts = self._parts
        summarizer = Summarizer(parts.store, parts.teller, parts.searcher.settings.ruler)
        return await summarizer.summarize(checked(namespace), wanted)

    async def answer(self, namespace: str, query: Query) -> CitedAnswer:
        """An answer to a question with its citations; the trace of its search is kept."""
        parts = self._parts
        with self._call(namespace, "answer") as trace:
            found = await parts.answers.search(namespace, query, trace)
            answerer = Answerer(parts.teller, parts.searcher.settings.ruler)
            answer = await answerer.answer(query, found)
        trace.note("answer", {"method": answer.method.value, "cited": list(answer.cited), "by": answer.written_by})
        await parts.store.save_trace(namespace, trace.id, self.now(), trace.body())
        return answer
