"""What a question asks for: its terms, how much of an answer it wants, and whether it can be accepted at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from hindsight.domain.confidence import FLOOR
from hindsight.domain.memory import Kind
from hindsight.domain.query import Filters, Query
from hindsight.errors import InvalidInput
from hindsight.language.relations import Chain, chain_of
from hindsight.language.segment import query_terms
from hindsight.search.about import tags_named, topics_asked
from hindsight.search.asked import asked_for, asks_what_happened
from hindsight.search.dates import Window, windows_of, without_times
from hindsight.search.parts import parts_of
from hindsight.search.request import MAX_TOKENS, MAX_TOP_K, MIN_TOKENS, whole_number

MOST_CHARACTERS = 100_000  # some 15,000 words; what is longer is a document, not a question
MOST_READ_FOR_TIMES = 2_000  # characters; a longer text tells of many times, and asks for none of them
MOST_TERMS = 128  # distinct; at 10,000 memories each costs the keyword route about 0.02 ms
MOST_REST = 3  # terms
DEFAULT_TOKENS = 2000  # SPEC §4.4: min(20 % of the model's context, 2,000); any model in use has 10,000

_SURROGATE = re.compile("[\ud800-\udfff]")

# Words that ask for several things: a list, a sum, a comparison, a course of events, a reason.
_SEVERAL = re.compile(
    r"\b(?:all|every|each|list|compare|compared|comparison|difference|differences|between|both|summari[sz]e|summary|"
    r"overview|everything|history|timeline|changed?|changes|evolv\w+|how many|how often|what kinds?|which ones|why|"
    r"plan|recommend|suggest\w*|should)\b"
    r"|所有|全部|哪些|列出|列举|一共|总共|总结|概括|概述|汇总|对比|比较|区别|不同|分别|变化|经过|历史|为什么|为何|原因|推荐|建议|规划"
    r"|计划"
    r"|几次|多少次|各自|每个|每次",
    re.IGNORECASE,
)
_QUESTION_MARKS = re.compile(r"[?？]")
_LONG_QUESTION_TERMS = 14  # distinct terms; a question longer than a plain sentence asks for more than one thing


class Complexity(StrEnum):
    """How much a question asks for."""

    SIMPLE = "simple"
    COMPLEX = "complex"


# Fewest and most hits where the caller names no number (SPEC §4.4).
DYNAMIC_TOP_K = {Complexity.SIMPLE: (3, 5), Complexity.COMPLEX: (8, 12)}


@dataclass(frozen=True, slots=True)
class Question:
    """A query understood. `fewest` equals `most` where the caller chose the number of hits.

    `filters` are those in force: experiences below the floor of trust are out unless asked for. `windows`: the times
    it speaks of, on the asker's clock. `meaning`: what is embedded. `kinds`: those it asks for; `bare`: nothing else.
    `chain`: relations it follows. `parts`: the questions it is made of, where these are several. `open`: it asks for
    whatever happened in its windows. `session_id`: the session it is asked in. `topics`: keys of what it asks about
    somebody. `tags`: those it names.
    """

    text: str
    terms: tuple[str, ...]
    complexity: Complexity
    fewest: int
    most: int
    max_tokens: int
    filters: Filters
    asked_at: datetime
    windows: tuple[Window, ...] = ()
    meaning: str = ""
    kinds: tuple[Kind, ...] = ()
    bare: bool = False
    chain: Chain | None = None
    parts: tuple[str, ...] = ()
    open: bool = False
    session_id: str | None = None
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether the caller said how many hits to give."""
        return self.fewest == self.most

    @property
    def held_under(self) -> bool:
        """Whether it asks for what is kept under a kind, a tag or a key."""
        return bool(self.kinds or self.tags or self.topics)


def meaning_of(text: str) -> str:
    """What of a query's text is embedded. Raises `InvalidInput`."""
    return asked_for(_accepted(text)).text


def understand(query: Query) -> Question:
    """Check a query and make out what it wants. Raises `InvalidInput`."""
    text = _accepted(query.text)
    if query.asked_at.tzinfo is None:
        raise InvalidInput("asked_at", query.asked_at.isoformat(), "a time with its zone")
    asked = asked_for(text)
    terms = query_terms(asked.text)
    parts = parts_of(text)
    complexity = Complexity.COMPLEX if parts else complexity_of(text, len(set(terms)))
    top_k = whole_number("top_k", query.top_k, 1, MAX_TOP_K)
    fewest, most = DYNAMIC_TOP_K[complexity] if top_k is None else (top_k, top_k)
    filters = query.filters
    if filters.min_confidence is None:
        filters = replace(filters, min_confidence=FLOOR / 100)
    clock = _on_the_askers_clock(query)
    windows = windows_of(text, clock) if len(text) <= MOST_READ_FOR_TIMES else ()
    whatever = bool(windows) and asks_what_happened(without_times(text, clock))
    return Question(
        text=text,
        terms=() if asked.bare or whatever else tuple(_most_telling(terms)),
        complexity=complexity,
        fewest=fewest,
        most=most,
        max_tokens=whole_number("max_tokens", query.max_tokens, MIN_TOKENS, MAX_TOKENS) or DEFAULT_TOKENS,
        filters=filters,
        asked_at=query.asked_at,
        windows=windows,
        meaning=asked.text,
        kinds=asked.kinds,
        bare=asked.bare,
        chain=_chain_in(text),
        parts=parts,
        open=whatever,
        session_id=query.session_id,
        topics=topics_asked(text),
        tags=tags_named(text) if len(text) <= MOST_READ_FOR_TIMES and not filters.tags else (),
    )


def _chain_in(text: str) -> Chain | None:
    """The relations that a question follows. One step is a detail where much else is asked about.

    «How did Deborah's mother support her yoga practice» asks about yoga: with such questions taken along, LoCoMo lost.
    """
    chain = chain_of(text)
    if chain is not None and len(chain.steps) == 1 and len(query_terms(chain.rest)) > MOST_REST:
        return None
    return chain


def _on_the_askers_clock(query: Query) -> datetime:
    """A moment with an offset is on the asker's clock already; one in UTC is read in their zone."""
    if query.timezone is None or query.asked_at.utcoffset():
        return query.asked_at
    return query.asked_at.astimezone(ZoneInfo(query.timezone))


def complexity_of(text: str, distinct_terms: int) -> Complexity:
    """Simple: one thing is asked. Complex: several, a list, a comparison, a course of events or a reason."""
    several = len(_QUESTION_MARKS.findall(text)) > 1 or _SEVERAL.search(text) is not None
    return Complexity.COMPLEX if several or distinct_terms > _LONG_QUESTION_TERMS else Complexity.SIMPLE


def _accepted(text: object) -> str:
    allowed = f"text of 1 to {MOST_CHARACTERS:,} characters"
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("query", text, allowed)
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput("query", f"{len(text):,} characters", allowed)
    if "\x00" in text:
        raise InvalidInput("query", text, "text without NUL characters")
    if _SURROGATE.search(text):
        raise InvalidInput("query", text, "well-formed Unicode, without lone surrogates")
    return text.strip()


def _most_telling(terms: Sequence[str]) -> Sequence[str]:
    """At most `MOST_TERMS` distinct terms: those said most often, then those nearest to either end of the text.

    What a long text is about it repeats; and what it asks stands at its beginning or its end.
    """
    counts = Counter(terms)
    if len(counts) <= MOST_TERMS:
        return terms
    last = len(terms) - 1
    from_edge: dict[str, int] = {}
    for place, term in enumerate(terms):
        from_edge[term] = min(from_edge.get(term, last), place, last - place)
    return sorted(counts, key=lambda term: (-counts[term], from_edge[term]))[:MOST_TERMS]
