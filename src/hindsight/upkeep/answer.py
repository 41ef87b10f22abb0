"""An answer to a question with citations: written by a language model from what a search found, or chosen from it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from hindsight.domain.digest import CitedAnswer, Method, Sentence
from hindsight.domain.hit import Hit
from hindsight.domain.query import Query, SearchResult
from hindsight.errors import Unavailable
from hindsight.language.tokens import ESTIMATE, Ruler
from hindsight.upkeep.cite import layout_for
from hindsight.upkeep.passages import of_hits
from hindsight.upkeep.summarize import LLM, chosen
from hindsight.upkeep.telling import ANSWER, MOST_SHOWN, Teller
from hindsight.write.extract.items import UnreadableAnswer

log = logging.getLogger(__name__)

TOKENS = 600
MOST_CHOSEN = 4  # memories that stand in for an answer where no model writes one
NEAR_BEST = 0.6  # of the best one's relevance; what fits worse is no part of an answer


@dataclass(frozen=True, slots=True)
class Answerer:
    """What answering needs beside a search. Without a `teller` memories are chosen."""

    teller: Teller | None = None
    ruler: Ruler = ESTIMATE

    async def answer(self, query: Query, found: SearchResult) -> CitedAnswer:
        """An answer from what was found. Limits of health and safety count among it, whatever was asked."""
        passages = of_hits((*found.hits, *found.standing))
        layout = layout_for([one.text for one in passages], self.ruler, answer=True, asked=query.text)
        degraded = found.degraded
        sentences: tuple[Sentence, ...] | None = None
        label = None
        if self.teller is not None and passages:
            try:
                told = await self.teller.tell(
                    ANSWER, passages[:MOST_SHOWN], question=query.text.strip(), today=_today(query)
                )
                sentences, label = told.sentences, self.teller.label(ANSWER)
            except (Unavailable, UnreadableAnswer) as error:
                log.warning("a question was answered by choosing memories: %s", error)
                degraded = (*degraded, LLM)
        method = Method.EXTRACTIVE if sentences is None else Method.ABSTRACTIVE
        if sentences is None:
            near = of_hits(_nearest(found.hits))
            sentences = tuple(await chosen(near, layout, TOKENS, most=MOST_CHOSEN, asked=query.text))
        # Without a model nobody can tell whether the nearest memories answer; how well they fit has to do.
        answered = bool(sentences) and (method is Method.ABSTRACTIVE or found.confident)
        context = layout.block(sentences, method=method, doubt="" if answered else layout.words.unsure)
        return CitedAnswer(
            sentences=sentences,
            answered=answered,
            confident=found.confident,
            method=method,
            text="\n".join(map(layout.line, sentences)),
            context=context,
            tokens=self.ruler.tokens(context),
            trace_id=found.trace_id,
            written_by=label,
            degraded=degraded,
        )


def _nearest(hits: Sequence[Hit]) -> list[Hit]:
    best = max((hit.scores.get("relevance", 0.0) for hit in hits), default=0.0)
    return [hit for hit in hits if hit.scores.get("relevance", 0.0) >= NEAR_BEST * best]


def _today(query: Query) -> str:
    zone = ZoneInfo(query.timezone) if query.timezone else query.asked_at.tzinfo
    return query.asked_at.astimezone(zone).date().isoformat()
