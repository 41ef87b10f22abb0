"""A search looked at again: run anew beside its trace, or asked what became of one memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from hindsight.domain.episode import JsonValue
from hindsight.domain.memory import Status
from hindsight.domain.query import Weights
from hindsight.domain.ranking import PRESETS
from hindsight.domain.replay import Explanation, Move, Replay, Stage
from hindsight.errors import DeadlineExceeded, InvalidInput, NotFound
from hindsight.observe.trace import Trace
from hindsight.ports import Store
from hindsight.projection import Projection
from hindsight.search.compare import Comparison
from hindsight.search.explain import Verdict, View, kept_out, not_ranked, placed
from hindsight.search.frozen import Past
from hindsight.search.pipeline import Searcher
from hindsight.search.record import Found
from hindsight.search.recorded import Recorded, Scoring
from hindsight.search.rerank import RERANK
from hindsight.search.understand import understand

DEADLINE = 30.0  # seconds: nobody waits for a replay but the person who asked for it
THEN, NOW = "then", "now"
# Whatever a route that was missing would have found, these stages would have been the same.
SETTLED = frozenset(
    {
        Stage.GIVEN,
        Stage.STANDING,
        Stage.NOT_YET_WRITTEN,
        Stage.FORGOTTEN,
        Stage.SUPERSEDED,
        Stage.ARCHIVED,
        Stage.FILTERED,
    }
)
PARTS = tuple(part.name for part in fields(Weights))
WEIGHTS_FORM = f"{THEN}, {NOW}, a preset ({', '.join(PRESETS)}), or numbers from 0 to 1 for {', '.join(PARTS)}"


def parse_weights(given: object, *, then: Weights, now: Weights) -> Weights:
    """`then`, `now`, a preset, a mapping, or text such as `relevance=0.5,freshness=0.2`; what is not named is 0.

    Raises `InvalidInput`.
    """
    if given is None or given == THEN:
        return then
    if given == NOW:
        return now
    if isinstance(given, str) and given in PRESETS:
        return PRESETS[given]
    named: object = given
    if isinstance(given, str):
        named = dict(pair.partition("=")[::2] for pair in given.replace(" ", "").split(","))
    if not isinstance(named, Mapping) or not named or not set(named) <= set(PARTS):
        raise InvalidInput("weights", given, WEIGHTS_FORM)
    weights = Weights(**{part: _share(named.get(part, 0.0), given) for part in PARTS})
    if weights.relevance <= 0:
        raise InvalidInput("weights", given, "a relevance above 0: without it every question has one answer")
    return weights


def _share(number: object, given: object) -> float:
    try:
        share = float(number) if isinstance(number, str | int | float) and not isinstance(number, bool) else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InvalidInput("weights", given, WEIGHTS_FORM)
    return share


class Replayer:
    """Runs traced searches again. It counts no uses and keeps no traces."""

    def __init__(self, store: Store, projection: Projection, searcher: Searcher) -> None:
        self._store = store
        self._projection = projection
        self._searcher = searcher

    async def recorded(self, namespace: str, trace_id: str) -> Recorded:
        """The search of a trace; of one that was answered from the cache, the search that it was answered with."""
        body = await self._body(namespace, trace_id)
        origin = body.get("answer_of")
        return Recorded.of(await self._body(namespace, origin) if isinstance(origin, str) else body)

    async def _body(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue]:
        body = await self._store.trace(namespace, trace_id)
        if body is None:
            raise NotFound("trace_id", trace_id)
        return body

    async def replay(
        self, namespace: str, trace_id: str, *, as_of_then: bool = False, weights: object = None
    ) -> Replay:
        """The same question again with the clock, use counts and weights of then, and what is different.

        On the store of now, or as of then. `weights`: see `parse_weights`. Raises `NotFound`, `InvalidInput`,
        `Unsupported` for a trace that is no search's, `Unavailable`.
        """
        recorded = await self.recorded(namespace, trace_id)
        past = await recorded.past(self._store, namespace)
        if as_of_then and past is None:
            raise InvalidInput("as_of_then", as_of_then, "false, as that search did not reach the store")
        chosen = parse_weights(weights, then=recorded.scoring.weights, now=self._searcher.settings.weights)
        found, scoring = await self._again(namespace, recorded, chosen, past if as_of_then else None)
        before, after = View.of_trace(recorded), View.of_found(found, scoring)
        comparison = Comparison(before, after)
        moves = await self._told(namespace, comparison.moves(), past, found, after)
        return Replay(
            trace_id=trace_id,
            query=recorded.query.text,
            asked_at=recorded.query.asked_at,
            as_of_then=as_of_then,
            weights=(recorded.scoring.weights, chosen),
            changes=found.change - (recorded.change or 0),
            depth=comparison.depth,
            before=tuple(before.given),
            after=tuple(after.given),
            moves=tuple(moves),
            degraded=tuple(dict.fromkeys((*recorded.missing, *found.degraded))),
        )

    async def explain(self, namespace: str, trace_id: str, memory_id: str) -> Explanation:
        """What became of a memory in a search, whose id is whole. Raises as `replay`."""
        recorded = await self.recorded(namespace, trace_id)
        verdict, recomputed = await self._verdict(namespace, recorded, memory_id)
        if recomputed:
            verdict = _as_it_was(verdict, recorded)
        reason = verdict.reason
        if recorded.missing and verdict.stage not in SETTLED and not recomputed:
            reason += f"; that search went without: {', '.join(recorded.missing)}"
        content = (await self._contents(namespace, [memory_id])).get(memory_id, "")
        return Explanation(trace_id, memory_id, verdict.stage, reason, content, verdict.facts, recomputed)

    async def _verdict(self, namespace: str, recorded: Recorded, entry_id: str) -> tuple[Verdict, bool]:
        told = await placed(self._store, namespace, View.of_trace(recorded), entry_id)
        if told is not None:
            return told, False
        filters = understand(recorded.query).filters
        past = await recorded.past(self._store, namespace)
        out = await kept_out(self._store, namespace, filters, entry_id, past=past, then=True)
        if out is not None:
            return out, False
        found, scoring = await self._again(namespace, recorded, recorded.scoring.weights, past)
        return await self._of_found(namespace, found, View.of_found(found, scoring), entry_id), True

    async def _of_found(self, namespace: str, found: Found, view: View, entry_id: str) -> Verdict:
        told = await placed(self._store, namespace, view, entry_id)
        if told is not None:
            return told
        entry = (await self._store.entries(namespace, [entry_id]))[entry_id]
        return await not_ranked(self._projection, namespace, found, entry)

    async def _again(
        self, namespace: str, recorded: Recorded, weights: Weights, past: Past | None
    ) -> tuple[Found, Scoring]:
        trace = Trace(recorded.trace_id, namespace, "replay")
        question = understand(recorded.query)
        frozen = recorded.frozen(past)
        try:
            async with asyncio.timeout(DEADLINE):
                found = await self._searcher.find(namespace, question, trace, weights=weights, frozen=frozen)
        except TimeoutError as error:
            raise DeadlineExceeded(f"the replay took longer than {DEADLINE:g} s") from error
        noted = trace.notes.get(RERANK)
        share = noted.get("weight", 0.0) if isinstance(noted, dict) else 0.0
        reranked = float(share) if isinstance(share, int | float) else 0.0
        return found, Scoring.of(weights, found.ranking, reranked)

    async def _told(
        self, namespace: str, moves: Sequence[Move], past: Past | None, found: Found, after: View
    ) -> list[Move]:
        """Moves with their contents, and with the reason where something is gone or has come."""
        contents = await self._contents(namespace, [move.memory_id for move in moves])
        told = []
        for move in moves:
            known = replace(move, content=contents.get(move.memory_id, ""))
            if move.after is None:
                verdict = await self._gone(namespace, move.memory_id, past, found, after)
                known = replace(known, stage=verdict.stage, reason=verdict.reason)
            elif move.before is None and past is not None and move.memory_id in past.touched:
                known = replace(known, reason="new, or changed, since that search")
            told.append(known)
        return told

    async def _gone(self, namespace: str, entry_id: str, past: Past | None, found: Found, after: View) -> Verdict:
        filters = found.question.filters
        out = await kept_out(self._store, namespace, filters, entry_id, past=past, then=False)
        return out or await self._of_found(namespace, found, after, entry_id)

    async def _contents(self, namespace: str, ids: Sequence[str]) -> dict[str, str]:
        """What they say; nothing of what is forgotten."""
        entries = await self._store.entries(namespace, ids)
        return {found: entry.content for found, entry in entries.items() if entry.status is not Status.FORGOTTEN}


def _as_it_was(verdict: Verdict, recorded: Recorded) -> Verdict:
    """What a second run says, for a memory that the first did not have among its best."""
    if verdict.stage not in (Stage.GIVEN, Stage.NO_ROOM, Stage.STANDING):
        return replace(verdict, reason=f"run again as of then: {verdict.reason}")
    if recorded.missing:
        reason = f"no route found it, as that search went without: {', '.join(recorded.missing)}; run again, "
    else:
        reason = "what search rests on has changed since (its word statistics, its rules); run again, "
    return replace(verdict, stage=Stage.NOT_RECALLED, reason=reason + verdict.reason)
