"""Reflection on a session, whole: read it, see what failed and what then worked, word it, let it wait for a person."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from hindsight.domain.change import Batch, Job, JobDone, Receipt
from hindsight.domain.episode import Episode, JsonValue
from hindsight.domain.memory import Kind
from hindsight.domain.reflection import Proposal, ProposalChoice, Rated, Reflection
from hindsight.errors import Ambiguous, InvalidInput, NotFound
from hindsight.experience.feedback import Feedback
from hindsight.experience.reflect.draft import Draft
from hindsight.experience.reflect.proposals import Origin, Proposals
from hindsight.experience.reflect.propose import drafts
from hindsight.experience.reflect.rating import Given, followed, given_in
from hindsight.experience.reflect.reading import read_bytes, read_episodes, read_file, read_messages
from hindsight.experience.reflect.transcript import Transcript
from hindsight.experience.reflect.words import Worder
from hindsight.observe.trace import Trace
from hindsight.ports import Store
from hindsight.write.keys import digest
from hindsight.write.request import MAX_NAME, check_text

log = logging.getLogger(__name__)

REFLECT_JOB = "reflect"  # started by the end of a session
PAGE = 500  # episodes read at once
MAX_EPISODES = 20_000
MAX_MOST = 50
DEGRADED = "llm"


@dataclass(frozen=True, slots=True)
class ReflectRequest:
    """What to reflect on: a session that hindsight holds, or a transcript, which may bear a session's id."""

    session_id: str | None = None
    transcript: Transcript | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class ReflectPolicy:
    """`most`: proposals of one session. `accepts`: keep them at once, without a person."""

    most: int = 5
    accepts: bool = False
    redacts: bool = True


@dataclass(frozen=True, slots=True)
class Reflector:
    """What reflecting needs."""

    store: Store
    proposals: Proposals
    feedback: Feedback
    worder: Worder | None = None
    policy: ReflectPolicy = ReflectPolicy()

    async def reflect(self, namespace: str, request: ReflectRequest, trace: Trace) -> Reflection:
        """Propose what the session teaches; the same session a second time proposes nothing new.

        `NotFound` where hindsight holds nothing of the session.
        """
        with trace.span("read") as span:
            transcript = await self._transcript(namespace, request)
            span.count(events=len(transcript.events))
        session_id = request.session_id or transcript.session_id
        with trace.span("find") as span:
            found = await asyncio.to_thread(drafts, transcript, redacts=self.policy.redacts)
            new = [draft for draft in found if not await self.proposals.known(namespace, draft)]
            span.count(found=len(found), new=len(new))
        chosen = new[: self.policy.most]
        with trace.span("word"):
            words, worded_by, degraded = await self._worded(chosen)
        origin = Origin(session_id, request.agent, worded_by)
        kept: list[Proposal] = []
        receipts: list[Receipt] = []
        with trace.span("propose") as span:
            for draft, worded in zip(chosen, words, strict=True):
                proposal = await self.proposals.put(namespace, draft, worded, origin)
                if proposal is None:
                    continue
                kept.append(proposal)
                if self.policy.accepts:
                    accept = ProposalChoice.ACCEPT
                    receipts.append(await self.proposals.decide(namespace, proposal.memory, accept, actor=REFLECT_JOB))
            span.count(proposed=len(kept))
        with trace.span("rate"):
            rated = await self._rate(namespace, transcript, session_id, request.agent)
        return Reflection(
            session_id=session_id,
            events=len(transcript.events),
            proposals=tuple(kept),
            known=len(found) - len(new) + len(chosen) - len(kept),
            left_out=len(new) - len(chosen),
            rated=rated,
            receipts=tuple(receipts),
            passed_over=tuple((one.ref, one.reason) for one in transcript.passed_over),
            unreported=transcript.unreported,
            dropped=transcript.dropped,
            degraded=degraded,
        )

    async def run(self, job: Job, owner: str) -> None:
        """Do a job of `REFLECT_JOB`: reflect on a session that has ended. Done twice, it proposes nothing twice."""
        session_id = str(job.payload.get("session_id"))
        proposals = self.proposals
        try:
            await self.reflect(job.namespace, ReflectRequest(session_id), Trace(job.id, job.namespace, REFLECT_JOB))
        except NotFound:
            log.info("session %s is gone, so it teaches nothing", session_id)
        done = Batch(job.namespace, proposals.ids.new(), proposals.clock.now(), done=JobDone(job.id, owner))
        await self.store.apply(done)

    async def _transcript(self, namespace: str, request: ReflectRequest) -> Transcript:
        if request.transcript is not None:
            return request.transcript
        assert request.session_id is not None
        episodes: list[Episode] = []
        after = -1
        while len(episodes) < MAX_EPISODES:
            page = await self.store.session(namespace, request.session_id, limit=PAGE, after=after)
            episodes += page
            if len(page) < PAGE:
                break
            after = page[-1].position
        if not episodes:
            raise NotFound("session_id", request.session_id)
        return read_episodes(request.session_id, episodes)

    async def _worded(self, chosen: Sequence[Draft]) -> tuple[Sequence[Draft], str, tuple[str, ...]]:
        if self.worder is None or not chosen:
            return chosen, "", ()
        worded = await self.worder.word(chosen)
        return worded.drafts, self.worder.label if worded.any else "", () if worded.heard else (DEGRADED,)

    async def _rate(
        self, namespace: str, transcript: Transcript, session_id: str | None, agent: str | None
    ) -> tuple[Rated, ...]:
        found = []
        for given in given_in(transcript):
            rated = await self._rated(namespace, given, session_id, agent)
            found += [rated] if rated is not None else []
        return tuple(found)

    async def _rated(self, namespace: str, given: Given, session_id: str | None, agent: str | None) -> Rated | None:
        try:
            whole = await self.store.resolve(namespace, given.memory_id)
        except (NotFound, Ambiguous):
            return None
        memory = (await self.store.memories(namespace, [whole])).get(whole)
        if memory is None or memory.kind is not Kind.EXPERIENCE:
            return None
        end = followed(memory, given)
        if end is None:
            return None
        where = f" of session {session_id}" if session_id else ""
        reason = f"followed in the transcript{where}, {', '.join(end.refs[:6])}"[:400]
        key = f"reflected:{digest(session_id or '', given.ref, whole)}"
        if await self.store.changeset(namespace, key) is not None:
            return None
        try:
            after = await self.feedback.give(namespace, whole, end.outcome, note=reason, actor=agent or "", key=key)
        except InvalidInput:  # no longer active
            return None
        return Rated(after, end.outcome, reason)


def parse_reflect(
    *,
    session_id: str | None = None,
    transcript: PathLike[str] | bytes | str | Sequence[Mapping[str, JsonValue]] | None = None,
    agent: str | None = None,
) -> ReflectRequest:
    """What to reflect on, read. `transcript`: a path, the content of a file, or messages. `InvalidInput`."""
    if session_id is None and transcript is None:
        raise InvalidInput("session_id", None, "a session's id, or a transcript")
    if session_id is not None and len(check_text("session_id", session_id)) > MAX_NAME:
        raise InvalidInput("session_id", session_id, f"at most {MAX_NAME} characters")
    return ReflectRequest(session_id, None if transcript is None else _read(transcript), agent)


def _read(given: PathLike[str] | bytes | str | Sequence[Mapping[str, JsonValue]]) -> Transcript:
    if isinstance(given, PathLike):
        return read_file(Path(given))
    if isinstance(given, str):
        return read_bytes(given.encode("utf-8", "surrogatepass"))
    if isinstance(given, bytes):
        return read_bytes(given)
    if not isinstance(given, list | tuple):
        raise InvalidInput("transcript", given, "a path, the text of a file, or a list of messages")
    return read_messages(given)
