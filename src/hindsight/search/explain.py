"""Why a memory was not returned: the stage that lost it, with the numbers of that stage.

What the trace tells is taken from it. A memory that it does not name is looked for in the store, and only where that
tells nothing either is the search run again, as of then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from hindsight.domain.entry import Entry
from hindsight.domain.memory import Memory, Status, short_id
from hindsight.domain.query import Filters
from hindsight.domain.replay import Fact, Stage
from hindsight.language.fold import fold
from hindsight.language.segment import index_terms
from hindsight.ports import Store
from hindsight.projection import Projection
from hindsight.search.candidates import leading
from hindsight.search.frozen import Past, as_they_were
from hindsight.search.record import BEHIND, NO_ROOM, REPEATS, WEAK, Found, cuts_of
from hindsight.search.recorded import REST, Recorded, Row, Scoring, rows_of

TELLING = 0.0005  # of a score: a smaller difference is nobody's reason
SHOWN_TERMS = 12
SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """A stage, with a sentence and numbers."""

    stage: Stage
    reason: str
    facts: Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class View:
    """A ranking with what was given of it and why the rest was cut, of a trace or of a search just run."""

    rows: Sequence[Row]
    given: Sequence[str]
    standing: Sequence[str]
    cut: Mapping[str, str]
    scoring: Scoring

    @classmethod
    def of_trace(cls, recorded: Recorded) -> View:
        """As the trace has it."""
        return cls(recorded.rows, recorded.given, recorded.standing, recorded.cut, recorded.scoring)

    @classmethod
    def of_found(cls, found: Found, scoring: Scoring) -> View:
        """Of a search just run: the whole ranking."""
        given = [one.entry.id for one in found.selection.chosen]
        standing = [hit.memory_id for hit in found.standing]
        return cls(rows_of(found), given, standing, cuts_of(found.ranking.ranked, found), scoring)

    def place(self, entry_id: str) -> int | None:
        """Its place, counted from 1."""
        return next((place for place, row in enumerate(self.rows, 1) if row.id == entry_id), None)


async def placed(store: Store, namespace: str, view: View, entry_id: str) -> Verdict | None:
    """What the ranking says of an entry; `None` where it does not have it."""
    cut = view.cut.get(entry_id, "")
    if cut.startswith(BEHIND):
        return _behind(view, entry_id, cut.removeprefix(BEHIND))
    place = view.place(entry_id)
    if place is None:
        return Verdict(Stage.STANDING, "it stands in every answer", {}) if entry_id in view.standing else None
    row = view.rows[place - 1]
    facts: dict[str, Fact] = {"place": place, "score": row.score, **row.values}
    if entry_id in view.given:
        hit = list(view.given).index(entry_id) + 1
        said = f"it was hit {hit} of {len(view.given)}"
        if cut == NO_ROOM:
            return Verdict(Stage.NO_ROOM, f"{said}, but the block had no room for it", facts | {"hit": hit})
        return Verdict(Stage.GIVEN, said, facts | {"hit": hit})
    if entry_id in view.standing:
        return Verdict(Stage.STANDING, f"it stands in every answer; its own place was {place}", facts)
    if cut == REPEATS:
        return await _repeated(store, namespace, view, entry_id, facts)
    return _behind_the_last(view, row, place, facts, weak=cut == WEAK)


def _behind(view: View, entry_id: str, other: str) -> Verdict:
    given = "which was given" if other in view.given else "which was not given either: ask about that one"
    reason = f"this turn and the memory #{short_id(other)} that came of it are one hit; it stands behind that, {given}"
    return Verdict(Stage.STANDS_BEHIND, reason, {"behind": other, "place": view.place(other)})


async def _repeated(store: Store, namespace: str, view: View, entry_id: str, facts: Mapping[str, Fact]) -> Verdict:
    entries = await store.entries(namespace, [entry_id, *view.given])
    own = fold(entries[entry_id].content).strip() if entry_id in entries else None
    same = [one for one in view.given if one in entries and fold(entries[one].content).strip() == own]
    name = f"#{short_id(same[0])}" if same else "a better one"
    return Verdict(Stage.REPEATED, f"it says the same as {name}", {**facts, "other": same[0] if same else None})


def _behind_the_last(view: View, row: Row, place: int, facts: Mapping[str, Fact], *, weak: bool) -> Verdict:
    last = next((one for one in reversed(view.rows) if one.id in view.given), None)
    if last is None:
        return Verdict(Stage.TOO_WEAK, f"its place was {place}, and nothing was given", facts)
    lost = ", ".join(
        f"{name} {row.values.get(name, 0.0):.2f} against {last.values.get(name, 0.0):.2f}"
        for name in losing_parts(row, last, view.scoring)
    )
    relevance, best = row.values["relevance"], view.rows[0].values["relevance"]
    if weak:
        reason = (
            f"its place was {place}, and its relevance of {relevance:.2f} is too little beside {best:.2f} of the best"
        )
    else:
        reason = f"its place was {place} with {row.score:.3f}; the last of {len(view.given)} hits has {last.score:.3f}"
        reason += f"; it loses by {lost}" if lost else ""
    more: dict[str, Fact] = {"last": last.id, "last_score": last.score, "best_relevance": best}
    return Verdict(Stage.TOO_WEAK if weak else Stage.BEYOND_TOP_K, reason, {**facts, **more})


def losing_parts(row: Row, other: Row, scoring: Scoring) -> list[str]:
    """The parts by which `row` is behind `other`, the heaviest first."""
    own, others = row.parts(scoring), other.parts(scoring)
    lost = {
        name: scoring.weight_of(name) * (others.get(name, 0.0) - own.get(name, 0.0))
        for name in (own | others)
        if name != REST
    }
    return [name for name in sorted(lost, key=lambda name: -lost[name]) if lost[name] > TELLING][:SHOWN_REASONS]


async def kept_out(
    store: Store, namespace: str, filters: Filters, entry_id: str, *, past: Past | None, then: bool
) -> Verdict | None:
    """What keeps an entry from being found at all, now or `then`, as of the search; `None` if nothing does."""
    now = (await store.entries(namespace, [entry_id])).get(entry_id)
    if now is None:
        covering = (await store.memories_of(namespace, [entry_id]))[entry_id]
        reason = "this turn is kept as a memory, which answers in its place"
        return Verdict(Stage.STANDS_BEHIND, reason, {"behind": covering[-1] if covering else None})
    memory = (await store.memories(namespace, [entry_id])).get(entry_id)
    if now.status is Status.FORGOTTEN:
        return await _forgotten(store, namespace, now, past)
    if then and past is not None:
        was = (await as_they_were(store, namespace, {entry_id: now}, past)).get(entry_id)
        if was is None:
            return Verdict(Stage.NOT_YET_WRITTEN, "it was written after that search", {})
        now = was
    if filters.matches(now):
        return None
    if filters.as_of is None and now.status is not Status.ACTIVE and now.status not in filters.statuses:
        return _ended(now, memory)
    refusing = refusals(filters, now)
    told = "; ".join(f"{name} asks for {_asked(filters, name)}" for name in refusing)
    return Verdict(Stage.FILTERED, f"a filter keeps it out: {told}", {"filters": refusing})


async def _forgotten(store: Store, namespace: str, entry: Entry, past: Past | None) -> Verdict:
    history = await store.history(namespace, entry.id) if entry.kind is not None else ()
    last = next((one for one in reversed(history) if one.memory.status is Status.FORGOTTEN), None)
    if last is None:
        return Verdict(Stage.FORGOTTEN, "it says what was forgotten", {})
    after = ", after that search" if past is not None and last.change > past.change else ""
    why = f" ({last.reason})" if last.reason else ""
    return Verdict(
        Stage.FORGOTTEN, f"it is forgotten since {_day(last.at)}{after}{why}", {"since": last.at.isoformat()}
    )


def _ended(entry: Entry, memory: Memory | None) -> Verdict:
    if entry.status is Status.ARCHIVED:
        return Verdict(Stage.ARCHIVED, "it is archived", {})
    if entry.status is Status.PROPOSED:
        return Verdict(Stage.NOT_YET_WRITTEN, "it is only proposed, and waits to be accepted", {})
    since = f" since {_day(entry.valid_to)}" if entry.valid_to else ""
    facts: dict[str, Fact] = {"since": entry.valid_to.isoformat() if entry.valid_to else None}
    if memory is None:
        return Verdict(Stage.SUPERSEDED, f"all that this turn says is superseded{since}", facts)
    by = memory.superseded_by
    reason = f"it is superseded{since}{f' by #{short_id(by)}' if by else ''}; only history and as_of show it"
    return Verdict(Stage.SUPERSEDED, reason, facts | {"by": by})


def refusals(filters: Filters, entry: Entry) -> list[str]:
    """The filters that an entry does not pass, by their names in a request."""
    none = Filters(statuses=())
    asked = [one.name for one in fields(filters) if getattr(filters, one.name) != getattr(none, one.name)]
    refusing = [name for name in asked if not replace(none, **{name: getattr(filters, name)}).matches(entry)]
    names = {"kinds": "types", "session_ids": "sessions"}
    return [names.get(name, name) for name in refusing if name != "statuses" or filters.as_of is None]


def _asked(filters: Filters, name: str) -> str:
    wanted = getattr(filters, {"types": "kinds", "sessions": "session_ids"}.get(name, name))
    if name == "time_range":
        return f"{_moment(wanted.start)}/{_moment(wanted.end)}"
    if isinstance(wanted, datetime):
        return wanted.isoformat()
    return ", ".join(map(str, wanted)) if isinstance(wanted, tuple) else str(wanted)


async def not_ranked(projection: Projection, namespace: str, found: Found, entry: Entry) -> Verdict:
    """Why an entry that could be found is not in the ranking: no route gave it, or it was too far down."""
    candidates = found.ranking.candidates
    if candidates is not None and entry.id in candidates.places:
        order = [candidates.ids[place] for place in leading(candidates.weighed(), len(candidates.ids))]
        place, size = order.index(entry.id) + 1, len(order) - found.ranking.outside_pool
        signals = next(candidates.signals_at([candidates.places[entry.id]]))
        reason = f"it was found, but its place was {place} of {len(order)} before ranking; the first {size} are ranked"
        facts = {name: round(value, 4) for name, value in signals.items()}
        return Verdict(Stage.OUTSIDE_POOL, reason, {"rough_place": place, "pool": size, **facts})
    asked = list(dict.fromkeys(found.question.terms))
    held = set(index_terms(entry.content))
    shared = [term for term in asked if term in held]
    facts_of: dict[str, Fact] = {"terms": asked[:SHOWN_TERMS], "shared_terms": shared}
    said = [
        f"it shares {', '.join(shared[:SHOWN_TERMS])} with the question"
        if shared
        else "it shares no word with the question"
    ]
    words, meaning = found.recalled.words, found.recalled.meaning
    if words is not None and words.hits:
        facts_of |= {"keyword_found": len(words.hits), "keyword_last": round(words.hits[-1].score, 4)}
    if meaning is not None:
        cosine = float((await projection.cosines(namespace, meaning.query, [entry.id]))[0])
        if cosine != cosine:  # NaN: not in the index
            said.append("it has no vector yet")
        else:
            last = meaning.hits[-1].score if meaning.hits else 0.0
            facts_of |= {"cosine": round(cosine, 4), "vector_found": len(meaning.hits), "vector_last": round(last, 4)}
            said.append(f"its cosine is {cosine:.2f}, the last of the {len(meaning.hits)} nearest has {last:.2f}")
    return Verdict(Stage.NOT_RECALLED, f"no route found it: {' and '.join(said)}", facts_of)


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat()
