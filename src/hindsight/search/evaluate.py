"""Questions whose answers are known, searched under two settings: nothing is written, no use is counted.

Known answers come from a file, or from feedback: an experience that a search gave and that was then found to work
answers that search's question; one that then failed does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from hindsight.domain.change import Act
from hindsight.domain.episode import JsonValue
from hindsight.domain.evaluation import Evaluation, Judged, Measured, Setting
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.measures import mean, ndcg, recall, reciprocal_rank
from hindsight.domain.memory import Kind
from hindsight.domain.query import Query
from hindsight.errors import InvalidInput, NotFound
from hindsight.observe.trace import Trace
from hindsight.ports import Clock, Store
from hindsight.search.frozen import Frozen
from hindsight.search.pack import select
from hindsight.search.pipeline import Searcher
from hindsight.search.rank import NOW, Ranked
from hindsight.search.record import Found
from hindsight.search.recorded import Recorded
from hindsight.search.replay import parse_weights
from hindsight.search.request import parse_moment
from hindsight.search.understand import understand

TRACES = 1000  # the latest searches that are looked at for feedback
QUESTION = {"query", "relevant", "asked_at"}
LEAST = 10  # questions with a known answer; a mean of fewer says nothing
DEPTH = 20
COMPARED = 10  # hits that make two answers different
ON = {"on": True, "off": False}
FORM = (
    "parts joined by ;: weights=PRESET or weights=relevance=0.5,freshness=0.2, routes=vector,keyword, rerank=on or off"
)


def parse_setting(name: str, given: str | None, in_force: Setting, routes: Sequence[str]) -> Setting:
    """A setting from text such as `weights=balanced;routes=keyword;rerank=off`; what is not named is as in force.

    A preset alone stands for its weights. Raises `InvalidInput`.
    """
    setting = in_force
    for part in (given or "").replace(" ", "").split(";"):
        key, equals, value = part.partition("=")
        if not part:
            continue
        if not equals or key == "weights":
            weights = parse_weights(value if equals else part, then=in_force.weights, now=in_force.weights)
            setting = replace(setting, weights=weights)
        elif key == "routes":
            chosen = frozenset(value.split(","))
            if not chosen <= set(routes):
                raise InvalidInput(name, value, f"routes of {', '.join(routes)}")
            setting = replace(setting, routes=chosen)
        elif key == "rerank" and value in ON:
            if ON[value] and not in_force.rerank:
                raise InvalidInput(name, part, "rerank=off, as no reranker is set up (HINDSIGHT_RERANKER_URL or _PATH)")
            setting = replace(setting, rerank=ON[value])
        else:
            raise InvalidInput(name, part, FORM)
    return setting


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question under one setting: the names of each hit in order, and what the answer would have been."""

    ranked: tuple[frozenset[str], ...]
    tokens: int
    confident: bool
    degraded: bool


class Evaluator:
    """Measures a searcher on judged questions."""

    def __init__(self, store: Store, searcher: Searcher, clock: Clock, *, least: int = LEAST) -> None:
        self._store = store
        self._searcher = searcher
        self._clock = clock
        self._least = least

    async def of_feedback(self, namespace: str, sides: Sequence[Setting]) -> Evaluation:
        """The settings over stored searches with feedback."""
        bodies = await self._store.traces(namespace, limit=TRACES)
        judged = await self._judged(namespace, bodies)
        searches = sum(body.get("operation") == "search" for body in bodies)
        known = {one.trace_id for one in judged}
        recorded = {body["trace_id"]: Recorded.of(body) for body in bodies if body.get("trace_id") in known}
        return await self._compare(namespace, judged, sides, searches, recorded)

    async def of_questions(
        self, namespace: str, questions: Sequence[Mapping[str, object]], sides: Sequence[Setting]
    ) -> Evaluation:
        """The settings over questions with known answers: `query`, `relevant` ids, and `asked_at` if not now.

        Raises `InvalidInput`.
        """
        judged = [await self._read(namespace, number, given) for number, given in enumerate(questions, 1)]
        return await self._compare(namespace, judged, sides, 0, {})

    async def _read(self, namespace: str, number: int, given: Mapping[str, object]) -> Judged:
        where = f"question {number}"
        if not isinstance(given, Mapping) or not set(given) <= QUESTION or not {"query", "relevant"} <= set(given):
            raise InvalidInput(where, given, "an object with query, relevant (a list of ids), and asked_at if not now")
        query, relevant, asked_at = given["query"], given["relevant"], given.get("asked_at")
        if not isinstance(query, str) or not query.strip():
            raise InvalidInput(f"{where}: query", query, "text")
        if (
            not isinstance(relevant, Sequence)
            or isinstance(relevant, str)
            or not all(isinstance(one, str) and one for one in relevant)
        ):
            raise InvalidInput(f"{where}: relevant", relevant, "a list of ids; an empty one where nothing answers")
        whole = set()
        for one in relevant:
            try:
                whole.add(await self._store.resolve(namespace, one.strip().removeprefix("#")))
            except NotFound as error:
                raise InvalidInput(f"{where}: relevant", one, "ids of memories or turns of this namespace") from error
        return Judged(query, frozenset(whole), parse_moment(f"{where}: asked_at", asked_at, ZoneInfo("UTC")))

    async def _judged(self, namespace: str, bodies: Sequence[Mapping[str, JsonValue]]) -> list[Judged]:
        """Each search one of whose hits then had feedback: what worked answers it. The latest word on a hit counts."""
        searches = [body for body in bodies if body.get("operation") == "search" and "request" in body]
        given = {str(body["trace_id"]): _strings(body.get("given")) for body in searches}
        memories = await self._store.memories(namespace, sorted({one for ids in given.values() for one in ids}))
        worked: dict[str, set[str]] = {}
        for memory in memories.values():
            if memory.kind is not Kind.EXPERIENCE:
                continue
            mine = [body for body in searches if memory.id in given[str(body["trace_id"])]]
            for revision in await self._store.history(namespace, memory.id):
                before = [body for body in mine if datetime.fromisoformat(str(body["at"])) <= revision.at]
                if revision.act is not Act.FEEDBACK or not before:
                    continue
                answers = worked.setdefault(str(before[-1]["trace_id"]), set())
                succeeded = revision.reason.startswith(OutcomeStatus.SUCCESS.value)
                (answers.add if succeeded else answers.discard)(memory.id)
        return [
            Judged(str(body["query"]), frozenset(worked[trace_id]), trace_id=trace_id)
            for body in searches
            if worked.get(trace_id := str(body["trace_id"]))
        ]

    async def _compare(
        self,
        namespace: str,
        judged: Sequence[Judged],
        sides: Sequence[Setting],
        traces: int,
        recorded: Mapping[JsonValue, Recorded],
    ) -> Evaluation:
        answerable = [one for one in judged if one.relevant]
        unanswerable = len(judged) - len(answerable)
        if len(answerable) < self._least:
            return Evaluation(len(answerable), unanswerable, traces, reason=self._too_few(len(answerable), traces))
        asked = [
            [await self._ask(namespace, one, side, recorded.get(one.trace_id)) for one in judged] for side in sides
        ]
        measured = tuple(_measured(side, judged, answers) for side, answers in zip(sides, asked, strict=True))
        differ = sum(len({answers[place].ranked[:COMPARED] for answers in asked}) > 1 for place in range(len(judged)))
        return Evaluation(len(answerable), unanswerable, traces, measured, differ)

    def _too_few(self, answerable: int, traces: int) -> str:
        where = f"of {traces} stored searches, {answerable}" if traces else f"{answerable} questions"
        return f"{where} with a known answer: {self._least} are the least that a mean says something of"

    async def _ask(self, namespace: str, one: Judged, side: Setting, recorded: Recorded | None) -> _Asked:
        query = recorded.query if recorded is not None else Query(one.query, one.asked_at or self._clock.now())
        frozen: Frozen = NOW if recorded is None else recorded.frozen(None)
        searcher = self._searcher.under(side)
        found = await searcher.find(namespace, understand(query), Trace("", namespace, "eval"), frozen=frozen)
        return _Asked(_first(found), found.block.tokens, found.ranking.confident, bool(found.degraded))


def _first(found: Found) -> tuple[frozenset[str], ...]:
    """The first `DEPTH` hits, however many the answer has: each with the turns it came from."""
    counted = replace(found.question, fewest=DEPTH, most=DEPTH)
    return tuple(_names(one) for one in select(found.ranking.ranked, counted).chosen)


def _names(one: Ranked) -> frozenset[str]:
    return frozenset((one.entry.id, *one.entry.episode_ids, *one.stands_for))


def _measured(side: Setting, judged: Sequence[Judged], answers: Sequence[_Asked]) -> Measured:
    known = [(one, answer, _as_known(one, answer)) for one, answer in zip(judged, answers, strict=True) if one.relevant]
    unknown = [answer.confident for one, answer in zip(judged, answers, strict=True) if not one.relevant]
    recalls = [mean([recall(ranks, one.relevant, k) for one, _, ranks in known]) for k in (5, 10, 20)]
    return Measured(
        setting=side,
        recall_5=recalls[0],
        recall_10=recalls[1],
        recall_20=recalls[2],
        mrr=mean([reciprocal_rank(ranks, one.relevant) for one, _, ranks in known]),
        ndcg_10=mean([ndcg(ranks, one.relevant, 10) for one, _, ranks in known]),
        tokens=mean([answer.tokens for answer in answers]),
        kept=mean([float(answer.confident) for _, answer, _ in known]),
        confident_wrong=mean([float(one) for one in unknown]) if unknown else None,
        degraded=sum(answer.degraded for answer in answers),
    )


def _as_known(one: Judged, answer: _Asked) -> list[str]:
    """A name for each rank: the one that the question's answer knows it by, if it is right. No answer counts twice."""
    seen: set[str] = set()
    ranks = []
    for names in answer.ranked:
        right = min((names & one.relevant) - seen, default=None)
        seen.update(() if right is None else (right,))
        ranks.append(right or "")
    return ranks


def _strings(value: JsonValue) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []
