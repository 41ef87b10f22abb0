"""Running tasks and their sessions, forgetting many things at once, and work in the background."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue, TypeAdapter

from hindsight.client.answers import Answered, Receipt
from hindsight.client.opening import Opened
from hindsight.domain.change import JobState
from hindsight.domain.episode import Role
from hindsight.domain.memory import Kind
from hindsight.errors import Unsupported


class Session(Answered):
    """One conversation or task run."""

    session_id: str
    active_at: datetime
    ended_at: datetime | None


class Turn(Answered):
    """Something that was said or done in a session."""

    episode_id: str
    role: Role
    speaker: str | None
    occurred_at: datetime
    content: str


class Working(Session):
    """What a running task has noted, and its last turns; `expires` has those variables that do."""

    variables: Mapping[str, JsonValue]
    expires: Mapping[str, datetime]
    turns: tuple[Turn, ...]


class Sessions(Answered):
    """The sessions that were active last."""

    items: tuple[Session, ...]


class Example(Answered):
    """Something that was forgotten, or would be."""

    memory_id: str
    short_id: str
    content: str
    kind: Kind


class Forgetting(Answered):
    """What was forgotten at once, or would be."""

    dry_run: bool
    memories: int
    turns: int
    touched: int
    examples: tuple[Example, ...]
    undo: str | None
    purge_after: datetime | None


class Proof(Answered):
    """What is left of something that was purged."""

    memory_id: str
    gone: bool
    purged_at: datetime | None
    removed: Mapping[str, int]
    looked: tuple[str, ...]
    left: Mapping[str, int]


class Job(Answered):
    """Work that waits or goes on in the background."""

    job_id: str
    kind: str
    namespace: str
    state: JobState
    run_at: datetime
    attempts: int
    lease_until: datetime | None
    last_error: str | None


class Due(Answered):
    """Work that comes again."""

    name: str
    cron: str
    due: datetime
    last: datetime | None


class Jobs(Answered):
    """Jobs that are not done, and what comes again."""

    items: tuple[Job, ...]
    oldest_seconds: float
    schedule: tuple[Due, ...]


RECEIPT: Final = TypeAdapter(Receipt)
WORKING: Final = TypeAdapter(Working)
SESSIONS: Final = TypeAdapter(Sessions)
FORGETTING: Final = TypeAdapter(Forgetting)
PROOF: Final = TypeAdapter(Proof)
JOB: Final = TypeAdapter(Job)
JOBS: Final = TypeAdapter(Jobs)


class Tasks(Opened):
    """Running tasks and their sessions, forgetting many things at once, and work in the background."""

    async def working(
        self,
        session_id: str,
        *,
        set: Mapping[str, object] | None = None,
        ttl: float | None = None,
        namespace: str | None = None,
    ) -> Working:
        """What a running task has noted, and its last turns; `set` notes variables first, `None` takes one away."""
        path = f"{_session(session_id)}/working"
        if set is None and ttl is None:
            return await self._call(WORKING, "GET", path, namespace)
        return await self._call(WORKING, "PUT", path, namespace, {"set": set, "ttl": ttl}, again=True)

    async def end_session(self, session_id: str, *, namespace: str | None = None) -> Receipt:
        """End a session: what it has noted becomes an episode, and its jobs start."""
        return await self._call(RECEIPT, "POST", f"{_session(session_id)}/end", namespace, again=True)

    async def sessions(self, *, limit: int = 50, namespace: str | None = None) -> tuple[Session, ...]:
        """The sessions that were active last, newest first."""
        found = await self._call(SESSIONS, "GET", "/v1/sessions", namespace, parameters={"limit": limit})
        return found.items

    async def forget_about(
        self,
        about: str | None = None,
        *,
        session_id: str | None = None,
        everything: bool = False,
        dry_run: bool = True,
        purge: bool = False,
        reason: str = "",
        namespace: str | None = None,
    ) -> Forgetting:
        """Forget everything about a name, of a session, or of the namespace. `Unsupported` for `purge`."""
        if purge:
            raise Unsupported("purge: this needs the command line or the embedded form, not a server")
        body = {
            "about": about,
            "session_id": session_id,
            "everything": everything,
            "dry_run": dry_run,
            "reason": reason,
        }
        return await self._call(FORGETTING, "POST", "/v1/forget", namespace, body)

    async def proof(self, memory_id: str, *, namespace: str | None = None) -> Proof:
        """What is left of a purged memory or turn in the store: nothing, once `gone`. `NotFound`."""
        path = f"/v1/memories/{quote(memory_id, safe='')}/forgotten"
        return await self._call(PROOF, "GET", path, namespace)

    async def jobs(self, *, whole: bool = False, namespace: str | None = None) -> tuple[Job, ...]:
        """Jobs that are not done, oldest first. `Unsupported` for those about the store as a whole."""
        _only_own(whole)
        return (await self._call(JOBS, "GET", "/v1/jobs", namespace)).items

    async def cancel_job(self, job_id: str, *, whole: bool = False, namespace: str | None = None) -> Job:
        """Take a job out, also one at work. `NotFound`."""
        _only_own(whole)
        return await self._call(JOB, "DELETE", f"/v1/jobs/{quote(job_id, safe='')}", namespace)

    async def schedule(self) -> tuple[Due, ...]:
        """When clean-up, purge and backup are due, by name."""
        return (await self._call(JOBS, "GET", "/v1/jobs", None)).schedule


def _session(session_id: str) -> str:
    return f"/v1/sessions/{quote(session_id, safe='')}"


def _only_own(whole: bool) -> None:
    if whole:
        raise Unsupported("whole: jobs about the store as a whole are seen by who owns its folder")
