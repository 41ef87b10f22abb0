"""Reading again what an extractor could not read as it should: a model that was away, or answered rubbish.

The rules have read it already. What comes of the second reading is added only where it rests on words that no statement
rests on yet, so nothing is doubled, and nothing that was forgotten in the meantime comes back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hindsight.domain.change import Job, NewJob
from hindsight.domain.episode import Episode
from hindsight.domain.memory import Status
from hindsight.errors import HindsightError, ModelUnavailable
from hindsight.ports import Store
from hindsight.write.extract import Candidate, Unread
from hindsight.write.keys import plain
from hindsight.write.prepare import Intake
from hindsight.write.task import payload_of

REREAD_JOB = "write.reread"
PAUSE = timedelta(seconds=30)
MOST_RUBBISH = 3  # times that unreadable answers to the same text are paid for
_ROUND = re.compile(r"(?P<first>.*)/again/(?P<round>\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Known:
    """What rests on characters `[start, end)` of an episode already; `words` where it is these word for word."""

    episode_id: str
    start: int
    end: int
    words: str | None


def reread_key(key: str, number: int = 1) -> str:
    """Key of the `number`th reading again of the write with this key."""
    return f"{key}/again/{number}"


def reread_later(intake: Intake, ids: Collection[str], job_id: str, *, at: datetime) -> NewJob:
    """The job that reads these episodes again."""
    earlier = _ROUND.fullmatch(intake.key)
    key = reread_key(earlier["first"], int(earlier["round"]) + 1) if earlier else reread_key(intake.key)
    payload = payload_of(intake, ids, key=key)
    return NewJob(job_id, REREAD_JOB, payload, run_at=at + PAUSE)


async def still_there(store: Store, namespace: str, ids: Sequence[str]) -> tuple[list[Episode], list[Known]]:
    """The episodes that may still be read, without those taken back since, and what is known of them."""
    episodes = await store.episodes(namespace, ids)
    entries = await store.entries(namespace, ids)
    resting = await store.memories_of(namespace, ids)
    memories = await store.memories(namespace, list({one for some in resting.values() for one in some}))
    known = [
        Known(source.episode_id, source.start, source.end, memory.content if memory.verbatim else None)
        for memory in memories.values()
        for source in memory.sources
    ]

    def answers(episode_id: str) -> bool:
        if episode_id in entries:
            return entries[episode_id].status is Status.ACTIVE
        # It has no entry of its own while a memory says the same.
        return any(memories[one].status is Status.ACTIVE for one in resting.get(episode_id, ()) if one in memories)

    return [episodes[one] for one in ids if one in episodes and answers(one)], known


def without_known(candidates: Sequence[Candidate], known: Sequence[Known]) -> list[Candidate]:
    """The candidates that rest on words on which nothing rests yet."""
    by_episode: dict[str, list[Known]] = {}
    for one in known:
        by_episode.setdefault(one.episode_id, []).append(one)
    return [one for one in candidates if not any(_is(one, other) for other in by_episode.get(one.episode_id, ()))]


def _is(candidate: Candidate, known: Known) -> bool:
    if known.words is not None:
        return plain(candidate.content) == plain(known.words)
    common = min(candidate.end, known.end) - max(candidate.start, known.start)
    return 2 * common > min(candidate.end - candidate.start, known.end - known.start)


def check_progress(job: Job, unread: Mapping[str, Unread], episodes: Sequence[Episode]) -> None:
    """Raise if none could be read: to be tried again, or never if it is the answers that are rubbish."""
    if not episodes or any(one.id not in unread for one in episodes):
        return
    reason = next(iter(unread.values())).reason
    if job.attempts >= MOST_RUBBISH and not any(one.passing for one in unread.values()):
        raise HindsightError(f"The language model can't read it after {job.attempts} tries: {reason}")
    raise ModelUnavailable(reason)
