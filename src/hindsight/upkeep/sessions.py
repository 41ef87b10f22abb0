"""The running task: what it has noted, and what happens when its session is over.

A session ends by call, or when it has been quiet for long enough. Its variables become one episode then, and the jobs
that a session's end starts are put in, all in one batch.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from hindsight.domain.change import Batch, NewJob, Receipt
from hindsight.domain.episode import Episode, JsonValue, Role
from hindsight.domain.session import LONGEST_TTL, Session, SessionEnd, Working
from hindsight.errors import Conflict, InvalidInput, NotFound, Unavailable
from hindsight.ports import Clock, Ids, Store
from hindsight.write.embed import embed_later
from hindsight.write.keys import digest
from hindsight.write.redact import redact_object
from hindsight.write.request import MAX_NAME, check_text

log = logging.getLogger(__name__)

IDLE = timedelta(minutes=30)  # SPEC §1
TURNS = 10  # last turns that are read with the variables
MOST_VARIABLES, LONGEST_NAME, LONGEST_VALUE = 50, 100, 8_000  # of one session; characters, of a value as JSON
TRIES = 5
LOOK = 60.0  # seconds between two looks for idle sessions
AT_ONCE = 100  # sessions ended in one look, so that an import of thousands does not start all their jobs together


@dataclass(frozen=True, slots=True)
class Sessions:
    """Working memory of one store. `jobs`: kinds that a session's end starts, payload `session_id`.

    `embeds`: there is a model, so that the episode of the variables gets its vector.
    """

    store: Store
    clock: Clock
    ids: Ids
    jobs: tuple[str, ...] = ()
    idle: timedelta = IDLE
    redacts: bool = True
    embeds: bool = True

    async def working(
        self, namespace: str, session_id: str, *, values: Mapping[str, object] | None = None, ttl: object = None
    ) -> Working:
        """The running task's variables and last turns, once `values` have been noted. `InvalidInput`, `NotFound`.

        `None` takes a variable away. `ttl`: seconds these are shown; without it they last for the session.
        """
        name = _session_name(session_id)
        seconds = _seconds(ttl)
        now = self.clock.now()
        found = await self.store.working(namespace, name, now=now, turns=TURNS)
        if values is not None:
            noted = _checked(values, found)
            await self.store.set_working(
                namespace,
                name,
                redact_object(noted) if self.redacts else noted,
                at=now,
                expires_at=None if seconds is None else now + timedelta(seconds=seconds),
            )
            found = await self.store.working(namespace, name, now=now, turns=TURNS)
        elif ttl is not None:
            raise InvalidInput("ttl", ttl, "nothing without `set`: it is the time that what is set is shown")
        if found is None:
            raise NotFound("session_id", session_id)
        return found

    async def end(self, namespace: str, session_id: str) -> Receipt:
        """End a session: its variables become an episode, its jobs start. A second time changes nothing. `NotFound`."""
        name = _session_name(session_id)
        for _ in range(TRIES):
            found = await self.store.working(namespace, name, now=self.clock.now(), turns=0)
            if found is None:
                raise NotFound("session_id", session_id)
            if found.session.ended_at is not None:
                return Receipt()
            try:
                return await self._end(namespace, found)
            except Conflict:  # a turn came in between: it belongs to the session too
                continue
        raise Conflict(f"session {name} goes on and can't be ended now", hint="Try again when it is quiet.")

    async def end_idle(self) -> int:
        """End the sessions that have been quiet for so long, of all namespaces; how many these were."""
        now = self.clock.now()
        ended = 0
        for namespace, session in await self.store.idle_sessions(before=now - self.idle, limit=AT_ONCE):
            found = await self.store.working(namespace, session.id, now=now, turns=0)
            if found is None or found.session != session:
                continue
            try:
                await self._end(namespace, found)
            except Conflict:  # it has gone on, or another process was quicker
                continue
            ended += 1
        if ended:
            log.info("%d sessions were quiet for %s and have ended", ended, self.idle)
        return ended

    async def watch(self) -> None:
        """End idle sessions from time to time, until cancelled. An outage of the store is waited out."""
        while True:
            try:
                ended = await self.end_idle()
            except Unavailable as error:
                log.warning("idle sessions wait: %s", error)
                ended = 0
            if ended < AT_ONCE:
                await asyncio.sleep(LOOK)

    async def _end(self, namespace: str, working: Working) -> Receipt:
        now = self.clock.now()
        session = working.session
        # One end of a session after one last activity: whoever comes second gets the first one's answer.
        key = f"end:{digest(session.id, session.active_at.isoformat())}"
        episodes = (self._told(namespace, working, key),) if working.variables else ()
        jobs = [self._job(kind, session, key) for kind in self.jobs]
        if episodes and self.embeds:
            jobs.append(embed_later(self.ids, self.clock))
        receipt = Receipt(episode_ids=tuple(one.id for one in episodes))
        batch = Batch(
            namespace=namespace,
            key=key,
            at=now,
            episodes=episodes,
            jobs=tuple(jobs),
            receipt=receipt,
            ends=(SessionEnd(session.id, session.active_at),),
        )
        return (await self.store.apply(batch)).receipt

    def _job(self, kind: str, session: Session, key: str) -> NewJob:
        payload: dict[str, JsonValue] = {"session_id": session.id}
        return NewJob(self.ids.new(), kind, payload, run_at=self.clock.now(), dedup_key=f"{kind}:{key}")

    def _told(self, namespace: str, working: Working, key: str) -> Episode:
        """The variables as they stood last, one a line."""
        now = self.clock.now()
        lines = [f"{name}: {_text(variable.value)}" for name, variable in working.variables.items()]
        return Episode(
            id=self.ids.new(),
            namespace=namespace,
            content="\n".join(lines),
            occurred_at=max(one.set_at for one in working.variables.values()),
            recorded_at=now,
            timezone="UTC",
            key=digest("working", key),
            session_id=working.session.id,
            role=Role.SYSTEM,
            metadata={"working": True},
        )


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _session_name(given: object) -> str:
    name = check_text("session_id", given)
    if len(name) > MAX_NAME:
        raise InvalidInput("session_id", given, f"at most {MAX_NAME} characters")
    return name


def _seconds(given: object) -> float | None:
    if given is None:
        return None
    allowed = f"a number of seconds above 0 and up to {LONGEST_TTL}"
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= LONGEST_TTL:
        raise InvalidInput("ttl", given, allowed)
    return float(given)


def _checked(values: object, found: Working | None) -> dict[str, JsonValue]:
    if not isinstance(values, Mapping):
        raise InvalidInput("set", values, 'an object of names and values, such as {"goal": "weekly report"}')
    noted: dict[str, JsonValue] = {}
    for name, value in values.items():
        if len(check_text("set", name)) > LONGEST_NAME:
            raise InvalidInput("set", name, f"names of at most {LONGEST_NAME} characters")
        noted[name] = _value(name, value)
    held = set() if found is None else set(found.variables)
    left = (held | {name for name, value in noted.items() if value is not None}) - {
        name for name, value in noted.items() if value is None
    }
    if len(left) > MOST_VARIABLES:
        raise InvalidInput("set", f"{len(left)} variables", f"at most {MOST_VARIABLES} in one session")
    return noted


def _value(name: str, value: object) -> JsonValue:
    allowed = f"JSON of at most {LONGEST_VALUE} characters; null takes a variable away"
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"set.{name}", value, allowed) from error
    if len(text) > LONGEST_VALUE:
        raise InvalidInput(f"set.{name}", f"{len(text)} characters", allowed)
    kept: JsonValue = json.loads(text)
    return kept
