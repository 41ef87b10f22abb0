"""Keeping an experience: in which situation, which steps, how it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hindsight.domain.change import Act, Batch, Embedding, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.entry import searchable_text
from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger, rendered
from hindsight.domain.memory import Kind, Layer, Memory
from hindsight.errors import Conflict, InvalidInput, ModelUnavailable
from hindsight.experience.merge import Merger
from hindsight.observe.trace import Trace
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.keys import experience_key
from hindsight.write.redact import redact
from hindsight.write.request import MAX_NAME, MAX_TAG, MAX_TAGS, check_text
from hindsight.write.vague import SHARPENED, is_vague, missing, sharpened

MAX_TRIGGER = 4_000  # characters
MAX_STEP = 4_000
MAX_STEPS = 100
MAX_TOOLS = 50
MAX_ECHO = 4_000  # characters of a refused experience that are given back


@dataclass(frozen=True, slots=True)
class ExperienceRequest:
    """An experience as its caller hands it in, checked and whole."""

    experience: Experience
    tags: tuple[str, ...] = ()
    session_id: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Recorder:
    """What recording needs."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    merger: Merger
    redacts: bool = True

    async def record(self, namespace: str, request: ExperienceRequest, trace: Trace) -> Receipt:
        """Keep an experience; one that is there word for word is not doubled, one for the same situation is merged.

        `VagueTrigger` where the situation can't be told from any other and the steps don't help.
        """
        with trace.span("prepare"):
            memory, note = self._memory(namespace, request)
        if held := await self._held(memory):
            return _already_there(held)
        with trace.span("embed"):
            embeddings, degraded = await self._embedded(memory)
        key = self.ids.new()
        receipt = Receipt(
            outcomes=(
                WriteOutcome(
                    OutcomeAction.ADDED, memory.id, memory.content, memory.kind, memory.importance, reason=note
                ),
            ),
            facts=1,
            degraded=degraded,
            undo=key,
        )
        batch = Batch(
            namespace=namespace,
            key=key,
            at=memory.created_at,
            puts=(Put(memory, None, Act.ADDED, note, actor=request.agent or ""),),
            embeddings=embeddings,
            receipt=receipt,
        )
        with trace.span("apply"):
            try:
                receipt = (await self.store.apply(batch)).receipt
            except Conflict:
                # Somebody wrote the same experience between the look and the write.
                if held := await self._held(memory):
                    return _already_there(held)
                raise
        with trace.span("merge"):
            return await self.merger.settle(namespace, receipt)

    async def _held(self, memory: Memory) -> Memory | None:
        known = await self.store.by_content_key(memory.namespace, [memory.content_key])
        return known.get(memory.content_key)

    def _memory(self, namespace: str, request: ExperienceRequest) -> tuple[Memory, str]:
        now = self.clock.now()
        body, note = _told(self._clean(request.experience))
        memory = Memory(
            id=self.ids.new(),
            namespace=namespace,
            content=rendered(body),
            layer=Layer.PROCEDURAL,
            kind=Kind.EXPERIENCE,
            occurred_at=now,
            timezone="UTC",
            created_at=now,
            updated_at=now,
            content_key=experience_key(body),
            body=body,
            confidence=body.outcome.confidence / 100,
            session_id=request.session_id,
            agent=request.agent,
            tags=request.tags,
        )
        return memory, note

    def _clean(self, body: Experience) -> Experience:
        if not self.redacts:
            return body
        return replace(
            body,
            trigger=Trigger(redact(body.trigger.context), tuple(redact(word) for word in body.trigger.keywords)),
            action=replace(body.action, steps=tuple(redact(step) for step in body.action.steps)),
        )

    async def _embedded(self, memory: Memory) -> tuple[tuple[Embedding, ...], tuple[str, ...]]:
        if self.embedder is None:
            return (), ()
        try:
            vectors = await self.embedder.embed([searchable_text(memory)])
        except ModelUnavailable:
            return (), ("embedder",)
        return (Embedding(memory.id, self.embedder.model, vectors[0]),), ()


class VagueTrigger(InvalidInput):
    """A situation that can't be known again. The message says what is missing, the hint gives everything back."""

    def __init__(self, body: Experience) -> None:
        context = body.trigger.context
        super().__init__("trigger_context", context, missing(context))
        given = {
            "trigger_context": context,
            "action_steps": body.action.steps,
            "outcome_status": body.outcome.status,
            "tools_used": body.action.tools_used,
        }
        self.hint = f"Nothing was kept. Write it again with a sharper trigger_context; what you gave: {_shown(given)}"


def _shown(given: Mapping[str, object]) -> str:
    text = json.dumps(given, ensure_ascii=False)
    return text if len(text) <= MAX_ECHO else f"{text[:MAX_ECHO]}…"


def _told(body: Experience) -> tuple[Experience, str]:
    """The experience with a trigger that can be known again, and what was done for that. `VagueTrigger`."""
    if not is_vague(body.trigger.context):
        return body, ""
    sharp = sharpened(body)
    if sharp is None:
        raise VagueTrigger(body)
    return sharp, SHARPENED


def parse_experience(
    trigger_context: str,
    action_steps: Sequence[str],
    *,
    outcome_status: OutcomeStatus | str = OutcomeStatus.SUCCESS,
    tags: Sequence[str] = (),
    tools_used: Sequence[str] = (),
    keywords: Sequence[str] = (),
    session_id: str | None = None,
    agent: str | None = None,
) -> ExperienceRequest:
    """Check an experience as callers write it. `InvalidInput` names the field."""
    if outcome_status not in tuple(OutcomeStatus):
        raise InvalidInput("outcome_status", outcome_status, f"one of {', '.join(OutcomeStatus)}")
    return ExperienceRequest(
        experience=Experience(
            trigger=Trigger(
                _bounded("trigger_context", trigger_context, MAX_TRIGGER),
                _texts("keywords", keywords, most=MAX_TAGS, longest=MAX_TAG),
            ),
            action=Action(
                steps=_texts("action_steps", action_steps, most=MAX_STEPS, longest=MAX_STEP, least=1),
                tools_used=_texts("tools_used", tools_used, most=MAX_TOOLS, longest=MAX_NAME),
            ),
            outcome=Outcome(OutcomeStatus(outcome_status)),
        ),
        tags=_texts("tags", tags, most=MAX_TAGS, longest=MAX_TAG),
        session_id=None if session_id is None else _bounded("session_id", session_id, MAX_NAME),
        agent=None if agent is None else _bounded("agent", agent, MAX_NAME),
    )


def agent_name(given: object) -> str:
    """The name of an agent. `InvalidInput`."""
    return _bounded("agent", given, MAX_NAME)


def _already_there(held: Memory) -> Receipt:
    outcome = WriteOutcome(
        OutcomeAction.IGNORED, held.id, held.content, held.kind, held.importance, reason="already kept, word for word"
    )
    return Receipt(outcomes=(outcome,))


def _bounded(field: str, given: object, longest: int) -> str:
    text = check_text(field, given).strip()
    if len(text) > longest:
        raise InvalidInput(field, given, f"at most {longest} characters")
    return text


def _texts(field: str, given: object, *, most: int, longest: int, least: int = 0) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or not least <= len(given) <= most:
        raise InvalidInput(field, given, f"a list of {least} to {most} texts")
    return tuple(_bounded(field, text, longest) for text in given)
