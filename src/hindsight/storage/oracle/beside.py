"""What the plain-Python store keeps beside memories: uses, traces, jobs, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime

from hindsight.domain.access import ApiKey
from hindsight.domain.change import Job, JobState, NewJob
from hindsight.domain.episode import EpisodeState, JsonValue
from hindsight.domain.page import Use
from hindsight.domain.schedule import Due
from hindsight.domain.session import Session, Variable, Working
from hindsight.errors import NotFound, StorageUnavailable
from hindsight.storage.checks import check_limit, check_scheduled, check_text, check_texts, check_time, encoded
from hindsight.storage.oracle.applying import add_job, owned
from hindsight.storage.oracle.space import Space
from hindsight.storage.purging import Plan, says, tells
from hindsight.storage.snapshot import dumps


class Beside:
    """All that needs no change number."""

    def __init__(self, *, traces_kept: int = 1000) -> None:
        self._spaces: dict[str, Space] = {}
        self._jobs: dict[str, Job] = {}
        self._schedule: dict[str, Due] = {}
        self._model: str | None = None
        self._uses: dict[tuple[str, str], Use] = {}
        self._traces: dict[str, dict[str, dict[str, JsonValue]]] = {}
        self._traces_kept = traces_kept
        self._keys: dict[str, ApiKey] = {}
        self._closed = False

    def _space(self, namespace: str) -> Space:
        self._check_open()
        check_text("namespace", namespace)
        return self._spaces.get(namespace, Space())

    def _check_open(self) -> None:
        if self._closed:
            raise StorageUnavailable("the store has been closed")

    async def aclose(self) -> None:
        """Nothing is accepted any more."""
        self._closed = True

    # Keys -----------------------------------------------------------------------------------------------------------

    async def put_key(self, key: ApiKey) -> None:
        """See `Keyring.put_key`."""
        self._check_open()
        check_texts("key", (key.id, key.name, key.digest, *(grant.namespace for grant in key.grants)))
        held = self._keys.get(key.id)
        if held is None:
            self._keys[key.id] = key
        elif key.revoked_at is not None:
            self._keys[key.id] = held.revoked(key.revoked_at)

    async def key(self, key_id: str) -> ApiKey | None:
        """See `Keyring.key`."""
        self._check_open()
        check_text("key_id", key_id)
        return self._keys.get(key_id)

    async def keys(self) -> Sequence[ApiKey]:
        """See `Keyring.keys`."""
        self._check_open()
        return sorted(self._keys.values(), key=lambda key: (key.created_at, key.id))

    # Beside the truth -----------------------------------------------------------------------------------------------

    async def record_use(self, namespace: str, ids: Sequence[str], at: datetime) -> None:
        """See `Store.record_use`."""
        purged = self._space(namespace).purged
        check_texts("ids", ids)
        check_time("at", at)
        for used in [one for one in ids if one not in purged]:
            use = self._uses.get((namespace, used), Use(0, None))
            last = at.timestamp() if use.last_used is None else max(use.last_used, at.timestamp())
            self._uses[namespace, used] = Use(use.count + 1, last)

    async def uses(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Use]:
        """See `Store.uses`."""
        self._space(namespace)
        check_texts("ids", ids)
        return {used: self._uses[namespace, used] for used in ids if (namespace, used) in self._uses}

    async def save_trace(self, namespace: str, trace_id: str, at: datetime, body: Mapping[str, JsonValue]) -> None:
        """See `Store.save_trace`."""
        self._space(namespace)
        check_text("trace_id", trace_id)
        check_time("at", at)
        encoded("body", body)
        traces = self._traces.setdefault(namespace, {})
        traces.pop(trace_id, None)
        traces[trace_id] = deepcopy(dict(body))
        while len(traces) > self._traces_kept:
            del traces[next(iter(traces))]

    async def trace(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
        """See `Store.trace`."""
        self._space(namespace)
        check_text("trace_id", trace_id)
        return self._traces.get(namespace, {}).get(trace_id)

    async def traces(self, namespace: str, *, limit: int) -> Sequence[Mapping[str, JsonValue]]:
        """See `Store.traces`."""
        self._space(namespace)
        return list(self._traces.get(namespace, {}).values())[-limit:] if limit > 0 else []

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def lease_job(self, kinds: Sequence[str], *, owner: str, now: datetime, until: datetime) -> Job | None:
        """See `Store.lease_job`."""
        check_texts("kinds", (owner, *kinds))
        check_time("now", now)
        check_time("until", until)
        for job in self._jobs.values():
            ready = job.state is JobState.READY and job.run_at <= now
            abandoned = job.state is JobState.LEASED and job.lease_until is not None and job.lease_until <= now
            if job.kind in kinds and (ready or abandoned):
                leased = replace(job, state=JobState.LEASED, attempts=job.attempts + 1, owner=owner, lease_until=until)
                self._jobs[job.id] = leased
                return leased
        return None

    async def renew_job(self, job_id: str, *, owner: str, until: datetime) -> None:
        """See `Store.renew_job`."""
        check_time("until", until)
        check_texts("job_id", (job_id, owner))
        self._jobs[job_id] = replace(owned(self._jobs, job_id, owner), lease_until=until)

    async def fail_job(self, job_id: str, *, owner: str, error: str, retry_at: datetime | None) -> None:
        """See `Store.fail_job`."""
        check_texts("job_id", (job_id, owner, error))
        if retry_at is not None:
            check_time("retry_at", retry_at)
        job = owned(self._jobs, job_id, owner)
        self._jobs[job_id] = replace(
            job,
            state=JobState.DEAD if retry_at is None else JobState.READY,
            run_at=job.run_at if retry_at is None else retry_at,
            last_error=error,
            owner=None,
            lease_until=None,
        )

    async def close_job(self, job_id: str, *, owner: str) -> None:
        """See `Store.close_job`."""
        check_texts("job_id", (job_id, owner))
        owned(self._jobs, job_id, owner)
        del self._jobs[job_id]

    async def cancel_job(self, namespace: str, job_id: str) -> Job:
        """See `Store.cancel_job`."""
        self._space(namespace)
        check_text("job_id", job_id)
        job = self._jobs.get(job_id)
        if job is None or job.namespace != namespace:
            raise NotFound("job_id", job_id)
        return self._jobs.pop(job_id)

    async def scheduled(self) -> Sequence[Due]:
        """See `Store.scheduled`."""
        return [self._schedule[name] for name in sorted(self._schedule)]

    async def put_scheduled(
        self, entry: Due, *, expected: datetime | None, jobs: Sequence[tuple[str, NewJob]] = ()
    ) -> bool:
        """See `Store.put_scheduled`."""
        check_scheduled(entry, expected, jobs)
        held = self._schedule.get(entry.name)
        if (None if held is None else held.due) != expected:
            return False
        changed = dict(self._jobs)
        for namespace, job in jobs:
            add_job(changed, namespace, job)
        self._jobs = changed
        self._schedule[entry.name] = entry
        return True

    async def jobs(self, namespace: str) -> Sequence[Job]:
        """See `Store.jobs`."""
        self._space(namespace)
        return [job for job in self._jobs.values() if job.namespace == namespace]

    def _take_out_beside(self, namespace: str, plan: Plan, jobs: dict[str, Job]) -> dict[str, int]:
        """What is kept beside memories of what a purge takes out; how much it was."""
        gone = [(namespace, one) for one in (*plan.memories, *plan.contents) if (namespace, one) in self._uses]
        for used in gone:
            del self._uses[used]
        traces = self._traces.get(namespace, {})
        told = [one for one, body in traces.items() if tells(dumps(body), plan)]
        for one in told:
            del traces[one]
        said = [job for job in jobs.values() if job.namespace == namespace and says(dumps(job.payload), plan)]
        for job in said:
            del jobs[job.id]
        failed = [job for job in jobs.values() if job.namespace == namespace and says(dumps(job.last_error), plan)]
        for job in failed:
            jobs[job.id] = replace(job, last_error=None)
        return {"uses": len(gone), "traces": len(told), "jobs": len(said) + len(failed)}

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
        check_texts("session_id", (session_id, *values))
        check_time("at", at)
        if expires_at is not None:
            check_time("expires_at", expires_at)
        for value in values.values():
            encoded("values", value)
        space = self._space(namespace).copy()
        space.awake(session_id, at)
        for name, value in values.items():
            space.variables.pop((session_id, name), None)
            if value is not None:
                space.variables[session_id, name] = Variable(deepcopy(value), at, expires_at)
        self._spaces[namespace] = space

    async def working(self, namespace: str, session_id: str, *, now: datetime, turns: int) -> Working | None:
        """See `Store.working`."""
        check_text("session_id", session_id)
        check_time("now", now)
        space = self._space(namespace)
        if session_id not in space.sessions:
            return None
        variables = {
            name: one
            for (owner, name), one in sorted(space.variables.items())
            if owner == session_id and (one.expires_at is None or now < one.expires_at)
        }
        said = [
            episode
            for episode in space.episodes.values()
            if episode.session_id == session_id and space.states[episode.id][0] is not EpisodeState.FORGOTTEN
        ]
        said.sort(key=lambda episode: episode.position)
        return Working(space.sessions[session_id], variables, tuple(said[max(0, len(said) - turns) :]))

    async def sessions(self, namespace: str, *, limit: int) -> Sequence[Session]:
        """See `Store.sessions`."""
        check_limit(limit)
        found = self._space(namespace).sessions.values()
        return sorted(found, key=lambda session: (session.active_at, session.id), reverse=True)[:limit]

    async def idle_sessions(self, *, before: datetime, limit: int) -> Sequence[tuple[str, Session]]:
        """See `Store.idle_sessions`."""
        check_time("before", before)
        check_limit(limit)
        found = [
            (namespace, session)
            for namespace, space in self._spaces.items()
            for session in space.sessions.values()
            if session.ended_at is None and session.active_at < before
        ]
        return sorted(found, key=lambda one: (one[1].active_at, one[0], one[1].id))[:limit]
