"""What the SQLite store keeps beside memories: uses, traces, jobs, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hindsight.domain.change import Job, NewJob
from hindsight.domain.episode import JsonValue
from hindsight.domain.page import Use
from hindsight.domain.schedule import Due
from hindsight.domain.session import Session, Working
from hindsight.storage.checks import check_limit, check_scheduled, check_text, check_texts, check_time, encoded
from hindsight.storage.snapshot import loads
from hindsight.storage.sqlite import jobs, sessions
from hindsight.storage.sqlite.aside import merged, stored_trace, stored_traces, stored_uses
from hindsight.storage.sqlite.channel import Channel
from hindsight.storage.sqlite.jobs import put_scheduled


class Beside(Channel):
    """All that needs no change number."""

    # Beside the truth -----------------------------------------------------------------------------------------------

    async def record_use(self, namespace: str, ids: Sequence[str], at: datetime) -> None:
        """See `Store.record_use`. Returns at once."""
        self._check_open()
        check_texts("ids", (namespace, *ids))
        check_time("at", at)
        self._gathered.use(namespace, ids, at)

    async def uses(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Use]:
        """See `Store.uses`. Counts what this process has not yet written, too."""
        check_texts("ids", (namespace, *ids))
        while True:
            steps = self._gathered.steps()
            stored, purged = await self._read(stored_uses, namespace, ids)
            waiting = self._gathered.waiting_uses(namespace, [one for one in ids if one not in purged])
            # A flush that ran meanwhile would be counted twice or not at all.
            if steps == self._gathered.steps() and steps % 2 == 0:
                return merged(stored, waiting)

    async def save_trace(self, namespace: str, trace_id: str, at: datetime, body: Mapping[str, JsonValue]) -> None:
        """See `Store.save_trace`. Returns at once."""
        self._check_open()
        check_texts("trace_id", (namespace, trace_id))
        check_time("at", at)
        self._gathered.trace(namespace, trace_id, at, encoded("body", body))

    async def trace(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
        """See `Store.trace`."""
        check_texts("trace_id", (namespace, trace_id))
        waiting = self._gathered.waiting_trace(namespace, trace_id)
        return waiting if waiting is not None else await self._read(stored_trace, namespace, trace_id)

    async def traces(self, namespace: str, *, limit: int) -> Sequence[Mapping[str, JsonValue]]:
        """See `Store.traces`."""
        check_texts("namespace", (namespace,))
        if limit <= 0:
            return []
        waiting = self._gathered.waiting_traces(namespace)  # before the file: none is missed in between
        stored = await self._read(stored_traces, namespace, limit)
        return [loads(text) for text in {**stored, **waiting}.values()][-limit:]

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def lease_job(self, kinds: Sequence[str], *, owner: str, now: datetime, until: datetime) -> Job | None:
        """See `Store.lease_job`."""
        check_texts("kinds", (owner, *kinds))
        check_time("now", now)
        check_time("until", until)
        if not await self._read(jobs.is_due, kinds, now):
            return None
        return await self._write(jobs.lease_job, kinds, owner, now, until)

    async def renew_job(self, job_id: str, *, owner: str, until: datetime) -> None:
        """See `Store.renew_job`."""
        check_texts("job_id", (job_id, owner))
        check_time("until", until)
        await self._write(jobs.renew_job, job_id, owner, until)

    async def fail_job(self, job_id: str, *, owner: str, error: str, retry_at: datetime | None) -> None:
        """See `Store.fail_job`."""
        check_texts("job_id", (job_id, owner, error))
        if retry_at is not None:
            check_time("retry_at", retry_at)
        await self._write(jobs.fail_job, job_id, owner, error, retry_at)

    async def close_job(self, job_id: str, *, owner: str) -> None:
        """See `Store.close_job`."""
        check_texts("job_id", (job_id, owner))
        await self._write(jobs.close_job, job_id, owner)

    async def cancel_job(self, namespace: str, job_id: str) -> Job:
        """See `Store.cancel_job`."""
        check_texts("job_id", (namespace, job_id))
        return await self._write(jobs.cancel_job, namespace, job_id)

    async def scheduled(self) -> Sequence[Due]:
        """See `Store.scheduled`."""
        return await self._read(jobs.scheduled)

    async def put_scheduled(
        self, entry: Due, *, expected: datetime | None, jobs: Sequence[tuple[str, NewJob]] = ()
    ) -> bool:
        """See `Store.put_scheduled`."""
        check_scheduled(entry, expected, jobs)
        return await self._write(put_scheduled, entry, expected, jobs)

    async def jobs(self, namespace: str) -> Sequence[Job]:
        """See `Store.jobs`."""
        check_text("namespace", namespace)
        return await self._read(jobs.jobs, namespace)

    # Sessions -------------------------------------------------------------------------------------------------------

    async def set_working(
        self,
        namespace: str,
        session_id: str,
        values: Mapping[str, JsonValue],
        *,
        at: datetime,
        expires_at: datetime | None,
    ) -> None:
        """See `Store.set_working`."""
        check_texts("session_id", (namespace, session_id, *values))
        check_time("at", at)
        if expires_at is not None:
            check_time("expires_at", expires_at)
        texts = {name: None if value is None else encoded("values", value) for name, value in values.items()}
        await self._write(sessions.set_working, namespace, session_id, texts, at, expires_at)

    async def working(self, namespace: str, session_id: str, *, now: datetime, turns: int) -> Working | None:
        """See `Store.working`."""
        check_texts("session_id", (namespace, session_id))
        check_time("now", now)
        return await self._read(sessions.working, namespace, session_id, now, turns)

    async def sessions(self, namespace: str, *, limit: int) -> Sequence[Session]:
        """See `Store.sessions`."""
        check_text("namespace", namespace)
        check_limit(limit)
        return await self._read(sessions.sessions, namespace, limit)

    async def idle_sessions(self, *, before: datetime, limit: int) -> Sequence[tuple[str, Session]]:
        """See `Store.idle_sessions`."""
        check_time("before", before)
        check_limit(limit)
        return await self._read(sessions.idle_sessions, before, limit)
