"""The graph route: from what a question starts from, along the relations it names, to what it asks about.

There is no graph beside the statements: each step is one look-up of the keyword index for statements that name where
the walk stands together with the relation, and each is read to see that it says so (`language.relations`). So a
filter, a namespace, `as_of` and what was superseded hold for a step as for any other search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from hindsight.domain.entry import Entry
from hindsight.language.names import aliases
from hindsight.language.relations import USER, Chain, other_end, telling_words
from hindsight.language.segment import query_terms
from hindsight.observe.trace import Trace
from hindsight.projection import Projection
from hindsight.search.understand import Question

DECAY = 0.7  # a step further from what is asked for counts so much less
LOOKED_AT = 40  # statements read at each step
MOST_NAMES = 8  # a walk goes on from: friends and colleagues may be many
_MINE = ("用户", "user")


async def graph(
    projection: Projection, namespace: str, question: Question, chain: Chain, *, head: int, limit: int, trace: Trace
) -> Mapping[str, float]:
    """What lies along the chain: 1 for what it leads to, less for each step before."""
    with trace.span("graph") as span:
        walk = _Walk(projection, namespace, question, head)
        found = await walk.along(chain)
        span.count(found=len(found), steps=len(chain.steps), reached=walk.reached)
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return dict(best)


class _Walk:
    """One walk. `reached`: how many steps it came."""

    def __init__(self, projection: Projection, namespace: str, question: Question, head: int) -> None:
        self._projection = projection
        self._namespace = namespace
        self._question = question
        self._head = head
        self._been: set[str] = set()
        self.reached = 0

    async def along(self, chain: Chain) -> dict[str, float]:
        names = list(chain.starts)
        depth_of: dict[str, int] = {}
        for depth, relation in enumerate(chain.steps, start=1):
            told, ends = await self._step(names, relation)
            for entry_id in told:
                depth_of.setdefault(entry_id, depth)
            self.reached = depth if told else self.reached
            names = [end for end in ends if end not in self._been][:MOST_NAMES]
            if not names:
                break
        if chain.rest and len(chain.steps) == 1 and not names:
            return {}  # what is asked of one who has no name here stands beside the relation: words find it
        wanted = len(chain.steps) + bool(chain.rest)
        found = {entry_id: DECAY ** (wanted - depth) for entry_id, depth in depth_of.items()}
        if chain.rest and names and self.reached == len(chain.steps):
            found |= await self._told_of(names, chain.rest)
        return found

    async def _step(self, names: Sequence[str], relation: str) -> tuple[list[str], list[str]]:
        """Ids of the statements that tell this relation of one of these names, and the names they lead to."""
        entries = await self._look(names, _terms_of(relation))
        also = [name for name in _joined(names, entries) if name not in names]
        if also:  # known by another name as well
            names = [*names, *also]
            entries = [*entries, *await self._look(also, _terms_of(relation))]
        self._been.update(names)
        told: dict[str, bool] = {}  # by name or not
        ends: dict[str, None] = {}
        for entry in entries:
            reached = other_end(said_by(entry), names, relation, mine=_speaks(entry, names))
            if reached is not None:
                told[entry.id] = bool(reached)
                ends.update(dict.fromkeys(reached))
        # Where a name is known, what only speaks of the relation leads nowhere.
        return [entry_id for entry_id, named in told.items() if named or not ends], list(ends)

    async def _told_of(self, names: Sequence[str], rest: str) -> dict[str, float]:
        """What is said of these about what is asked: as much as it fits beside the best of them."""
        hits = await self._hits(names, query_terms(rest))
        entries = await self._projection.entries(self._namespace, list(hits), head=self._head)
        told = {found: hits[found] for found, one in entries.items() if any(map(one.content.__contains__, names))}
        best = max(told.values(), default=0.0)
        return {found: score / best for found, score in told.items()} if best > 0 else {}

    async def _look(self, names: Sequence[str], terms: Sequence[str]) -> list[Entry]:
        hits = await self._hits(names, terms)
        entries = await self._projection.entries(self._namespace, list(hits), head=self._head)
        return [one for found in hits if (one := entries.get(found)) and self._question.filters.matches(one)]

    async def _hits(self, names: Sequence[str], terms: Sequence[str]) -> dict[str, float]:
        named = [term for name in names for term in (_MINE if name == USER else query_terms(name))]
        asked = list(dict.fromkeys((*named, *terms)))
        hits, _ = await self._projection.by_words(
            self._namespace, asked, self._question.filters, limit=LOOKED_AT, head=self._head
        )
        return {hit.id: hit.score for hit in hits}


@lru_cache(maxsize=256)
def _terms_of(relation: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for word in telling_words(relation) for term in query_terms(word)))


def said_by(entry: Entry) -> str:
    """Its words, with the name of who said it where the index has cut that off."""
    cut = entry.speaker and entry.content.startswith(("'s ", "’s ", "的"))
    return f"{entry.speaker}{entry.content}" if cut else entry.content


def _speaks(entry: Entry, names: Sequence[str]) -> bool:
    """Whether «我» in an entry is the one a step starts from."""
    return entry.speaker in names or (USER in names and not entry.speaker)


def _joined(names: Sequence[str], entries: Iterable[Entry]) -> list[str]:
    """Other names that one of the statements gives to one of these."""
    known = set(names)
    pairs = [pair for entry in entries for pair in aliases(entry.content)]
    return list(dict.fromkeys(name for pair in pairs if known.intersection(pair) for name in pair))
