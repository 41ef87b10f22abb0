"""Other words for what a question asks, once a first look found nothing that fits, or a name that has another.

Words come from the store's own statements («小张就是张伟» was among what was found) and from the lexicon that
statements are read with, where «住» and "lives" are one concept. A question that was answered well is not asked again:
most never come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from hindsight.language.names import aliases
from hindsight.language.segment import query_terms
from hindsight.language.statement.lexicon import lexicon
from hindsight.language.statement.words import words
from hindsight.search.rank import Ranking
from hindsight.search.understand import Question

LONGEST = 200  # characters; a longer question has words enough
LOOKED_AT = 10  # of the best hits, for one that gives a name another
SHORT = 100  # characters of a statement that gives one
MOST_WORDS = 12  # for one concept, in both languages
_SAYING_LITTLE = frozenset({"be", "have", "do", "can", "plan", "in"})
_KINDS = frozenset(
    (
        "kin",
        "kin-many",
        "verb",
        "state",
        "health",
        "illness",
        "job",
        "food",
        "animal",
        "sport",
        "thing",
        "place",
        "end",
        "change",
    )
)


def by_other_names(question: Question, ranking: Ranking) -> list[Question]:
    """The question with another name in place of one of its own, where a good hit says that both are one's."""
    if len(question.text) > LONGEST:
        return []
    texts: dict[str, None] = {}
    for one in ranking.ranked[:LOOKED_AT]:
        if len(one.entry.content) > SHORT:
            continue
        for pair in aliases(one.entry.content):
            for name, other in (pair, pair[::-1]):
                if name in question.text and other not in question.text:
                    texts[question.text.replace(name, other)] = None
    return [reworded(question, text) for text in texts]


def by_other_words(question: Question) -> list[Question]:
    """The question in other words for its concepts, in both languages; empty where the lexicon knows none of them."""
    if len(question.text) > LONGEST:
        return []
    concepts = dict.fromkeys(
        word.concept for word in words(question.meaning) if word.kind in _KINDS and word.concept not in _SAYING_LITTLE
    )
    other = [term for concept in concepts for term in _terms_of(concept)]
    added = tuple(term for term in dict.fromkeys(other) if term not in question.terms)
    return [replace(plainly(question), terms=(*question.terms, *added))] if added else []


def reworded(question: Question, text: str) -> Question:
    """The same question, asked in these words."""
    return replace(plainly(question), meaning=text, terms=tuple(query_terms(text)))


def plainly(question: Question) -> Question:
    """A question for words and meaning alone: where its relations and kinds lead has been looked at."""
    return replace(question, chain=None, kinds=(), parts=(), topics=(), tags=())


@cache
def _wordings() -> dict[str, list[str]]:
    """The words of each concept."""
    known = lexicon()
    found: dict[str, list[str]] = {}
    for key, entry in known.exact.items():
        found.setdefault(entry.concept, []).append(" ".join(key))
    for word, entry in known.chinese.items():
        found.setdefault(entry.concept, []).append(word)
    return found


@cache
def _terms_of(concept: str) -> Sequence[str]:
    listed = _wordings().get(concept, [])
    latin, han = [one for one in listed if one.isascii()], [one for one in listed if not one.isascii()]
    most = MOST_WORDS // 2
    return tuple(dict.fromkeys(term for word in (*latin[:most], *han[:most]) for term in query_terms(word)))
