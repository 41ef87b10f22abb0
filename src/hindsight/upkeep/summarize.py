"""Telling a session or a time in few sentences: by a language model where there is one, else by choosing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from hindsight.domain.digest import Digest, Method, Passage, Sentence
from hindsight.domain.query import TimeRange
from hindsight.errors import InvalidInput, Unavailable
from hindsight.language.tokens import ESTIMATE, Ruler
from hindsight.ports import Store
from hindsight.search.request import MAX_TOKENS, MIN_TOKENS, parse_time_range, whole_number
from hindsight.upkeep.choose import choose
from hindsight.upkeep.cite import Layout, layout_for
from hindsight.upkeep.passages import of_session, of_time
from hindsight.upkeep.telling import MOST_SHOWN, SUMMARY, Teller
from hindsight.write.extract.items import UnreadableAnswer
from hindsight.write.request import MAX_NAME, check_text

log = logging.getLogger(__name__)

TOKENS = 600  # of a digest where none is asked for
MOST_SENTENCES = 12
LLM = "llm"  # in `degraded`: a language model is set and did not do its part


@dataclass(frozen=True, slots=True)
class Telling:
    """What is to be told: a session, a time, or a session within a time. Made by `parse_telling`."""

    session_id: str | None = None
    within: TimeRange | None = None
    max_tokens: int = TOKENS


@dataclass(frozen=True, slots=True)
class Summarizer:
    """What telling needs. Without a `teller` sentences are chosen."""

    store: Store
    teller: Teller | None = None
    ruler: Ruler = ESTIMATE

    async def summarize(self, namespace: str, wanted: Telling) -> Digest:
        """A digest of what answers about now. Never fails for the model's sake: `degraded` says so."""
        if wanted.session_id is not None:
            passages = await of_session(self.store, namespace, wanted.session_id, wanted.within)
        else:
            assert wanted.within is not None  # as `parse_telling` makes sure
            passages = await of_time(self.store, namespace, wanted.within)
        layout = layout_for([one.text for one in passages], self.ruler)
        written: tuple[Sentence, ...] | None = None
        degraded: tuple[str, ...] = ()
        label = None
        if self.teller is not None and passages:
            try:
                written = (await self.teller.tell(SUMMARY, await shortlist(passages))).sentences
                label = self.teller.label(SUMMARY)
            except (Unavailable, UnreadableAnswer) as error:
                log.warning("a digest was made by choosing sentences: %s", error)
            if not written:
                written, degraded, label = None, (LLM,), None
        if written is not None:
            method, sentences = Method.ABSTRACTIVE, _first(written, layout, wanted.max_tokens)
        else:
            method, sentences = Method.EXTRACTIVE, await chosen(passages, layout, wanted.max_tokens)
        context = layout.block(sentences, method=method)
        text = "\n".join(map(layout.line, sentences))
        return Digest(
            tuple(sentences), method, text, context, self.ruler.tokens(context), len(passages), label, degraded
        )


def parse_telling(
    *, session_id: object = None, time_range: object = None, max_tokens: object = None, now: datetime, timezone: str
) -> Telling:
    """What a caller wants told. `InvalidInput` names the field; one of session and time has to be there."""
    if session_id is None and time_range is None:
        raise InvalidInput("session_id", None, "the id of a session, or a time_range in its place")
    if session_id is not None and len(check_text("session_id", session_id)) > MAX_NAME:
        raise InvalidInput("session_id", session_id, f"at most {MAX_NAME} characters")
    tokens = whole_number("max_tokens", max_tokens, MIN_TOKENS, MAX_TOKENS)
    within = parse_time_range("time_range", time_range, ZoneInfo(timezone), now=now)
    return Telling(str(session_id) if session_id is not None else None, within, tokens or TOKENS)


async def shortlist(passages: Sequence[Passage]) -> Sequence[Passage]:
    """As many passages as a model is shown: those that tell the most, in their order."""
    if len(passages) <= MOST_SHOWN:
        return passages
    found = await _in_thread(lambda: choose(passages, fits=lambda _: True, most=MOST_SHOWN))
    kept = {one for sentence in found for one in sentence.ids}
    return [one for one in passages if one.id in kept]


async def chosen(
    passages: Sequence[Passage], layout: Layout, tokens: int, *, most: int = MOST_SENTENCES, asked: str = ""
) -> list[Sentence]:
    """The sentences that tell the most within a budget, without holding up other tasks."""
    return await _in_thread(
        lambda: choose(passages, fits=lambda some: layout.fits(some, tokens), most=most, asked=asked)
    )


async def _in_thread(work: Callable[[], list[Sentence]]) -> list[Sentence]:
    return await asyncio.to_thread(work)


def _first(sentences: Sequence[Sentence], layout: Layout, tokens: int) -> list[Sentence]:
    """As many of a model's sentences, which come with the most important first, as the budget holds."""
    kept: list[Sentence] = []
    for one in sentences:
        if layout.fits([*kept, one], tokens):
            kept.append(one)
    return kept
