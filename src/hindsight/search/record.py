"""What a trace keeps of a search, so that it can be explained and run again; and how that is read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from hindsight.domain import ranking as scale
from hindsight.domain.hit import Hit, MemoryHit
from hindsight.domain.memory import Kind, Layer, Status
from hindsight.domain.query import Filters, Query, Weights
from hindsight.observe.trace import Json, Trace
from hindsight.search.pack import Block, Selection
from hindsight.search.rank import Ranked, Ranking
from hindsight.search.routes import Recalled
from hindsight.search.understand import Question

TRACED = 30  # candidates of a route, and places of the ranking beyond the hits, that a trace keeps

STORE = "store"  # in `degraded`: the store itself did not answer

REPEATS = "says the same as a better one"
BEYOND = "beyond top_k"
WEAK = "fits much less than the best"
NO_ROOM = "in hits, but no room in the block"
BEHIND = "stands behind "

MEMBERS: Mapping[str, Any] = {
    "kinds": Kind,
    "layers": Layer,
    "session_ids": str,
    "exclude_sessions": str,
    "tags": str,
    "entities": str,
    "speakers": str,
    "statuses": Status,
}
_PLAIN = ("min_confidence", "episodes", "pinned")
_NOTHING = Filters()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Everything a search came to, before it is made into an answer. `change`: the namespace's, read before all."""

    question: Question
    change: int
    recalled: Recalled
    ranking: Ranking
    selection: Selection
    hits: tuple[Hit, ...]
    standing: tuple[MemoryHit, ...]
    block: Block
    degraded: tuple[str, ...] = ()


def note_query(trace: Trace, query: Query, question: Question, now: datetime) -> None:
    """The query whole, and how it was understood."""
    trace.note("query", question.text)
    trace.note("asked_at", question.asked_at.isoformat())
    trace.note("at", now.isoformat())
    asked: dict[str, Json] = {
        "top_k": query.top_k,
        "max_tokens": query.max_tokens,
        "timezone": query.timezone,
        "session_id": query.session_id,
        "filters": _of_filters(query.filters),
    }
    trace.note("request", {name: value for name, value in asked.items() if value})
    trace.note("terms", list(question.terms))
    if question.kinds:
        trace.note("kinds", [kind.value for kind in question.kinds])
    if question.chain is not None:
        trace.note("chain", [question.chain.starts[-1], *question.chain.steps])
    trace.note("complexity", question.complexity.value)
    trace.note("windows", [[start.isoformat(), end.isoformat()] for start, end in question.windows])
    trace.note("top_k", [question.fewest, question.most])


def note_found(trace: Trace, found: Found, weights: Weights) -> None:
    """What a person asks later: who was a candidate by which route, what each place rests on, what was cut and why."""
    trace.note("change", found.change)
    routes: dict[str, Json] = {}
    for name, by in (("vector", found.recalled.meaning), ("keyword", found.recalled.words)):
        if by is not None:
            routes[name] = [[hit.id, round(hit.score, 4)] for hit in by.hits[:TRACED]]
    for name, brought in found.recalled.aside.items():
        best = sorted(brought.items(), key=lambda item: (-item[1], item[0]))[:TRACED]
        routes[name] = [[entry_id, round(value, 4)] for entry_id, value in best]
    trace.note("candidates", routes)
    trace.note("weights", {field.name: getattr(weights, field.name) for field in fields(weights)})
    trace.note("lift", round(found.ranking.lift, 6))
    trace.note("fit", round(found.ranking.fit, 4))
    trace.note("signals", {"scale": round(found.ranking.scale, 6), "weights": dict(scale.SIGNAL_WEIGHTS)})
    trace.note("uses", dict(found.ranking.uses) if weights.use else None)
    chosen = found.selection.chosen
    last = chosen[-1].entry.id if chosen else None
    kept = _as_far_as(found.ranking.ranked, last)
    trace.note("ranking", [_noted(one) for one in kept])
    trace.note("given", [one.entry.id for one in chosen])
    trace.note("standing", [hit.memory_id for hit in found.standing])
    trace.note("standing_left_out", list(found.block.unnamed))
    trace.note("cut", dict[str, Json](cuts_of(kept, found)))


def _as_far_as(ranked: Sequence[Ranked], last: str | None) -> Sequence[Ranked]:
    """`TRACED` places, or as many as it takes to have the last hit among them."""
    if last is None or any(one.entry.id == last for one in ranked[:TRACED]):
        return ranked[:TRACED]
    return ranked[: 1 + next(place for place, one in enumerate(ranked) if one.entry.id == last)]


def cuts_of(ranked: Sequence[Ranked], found: Found) -> dict[str, str]:
    """Why each of these is no hit, or a hit that is not in the block."""
    return dict(_cuts(ranked, found))


def _cuts(ranked: Sequence[Ranked], found: Found) -> Iterator[tuple[str, str]]:
    given = {one.entry.id for one in found.selection.chosen}
    repeated = frozenset(found.selection.repeated)
    left = len(given)
    for one in ranked:
        for episode_id in one.stands_for:
            yield episode_id, f"{BEHIND}{one.entry.id}"
        if one.entry.id in given:
            left -= 1
        elif one.entry.id in repeated:
            yield one.entry.id, REPEATS
        else:
            yield one.entry.id, WEAK if left or len(given) < found.question.most else BEYOND
    for left_out in found.block.left_out:
        yield left_out, NO_ROOM


def parts_of(ranked: Ranked) -> dict[str, float]:
    """The four parts of the score, and the signals that relevance was made of."""
    parts = ranked.parts
    return {
        "relevance": parts.relevance,
        "freshness": parts.freshness,
        "importance": parts.importance,
        "use": parts.use,
        **ranked.signals,
    }


def _noted(ranked: Ranked) -> Json:
    return {
        "id": ranked.entry.id,
        "score": round(ranked.score, 4),
        **{name: round(value, 4) for name, value in parts_of(ranked).items()},
    }


def _of_filters(filters: Filters) -> dict[str, Json]:
    """Those that ask for something, by the names of `Filters`."""
    asked: dict[str, Json] = {
        name: [str(one) for one in getattr(filters, name)]
        for name in MEMBERS
        if getattr(filters, name) != getattr(_NOTHING, name)
    }
    for name in _PLAIN:
        if getattr(filters, name) != getattr(_NOTHING, name):
            asked[name] = getattr(filters, name)
    if filters.as_of is not None:
        asked["as_of"] = filters.as_of.isoformat()
    if filters.time_range is not None:
        asked["time_range"] = [_moment(filters.time_range.start), _moment(filters.time_range.end)]
    return asked


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
