"""What runs in the background, and by the clock."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

from hindsight.app.places import make_backups
from hindsight.config import Settings
from hindsight.domain.change import Job
from hindsight.domain.cleaning import CleanRules
from hindsight.domain.forgetting import HALF_LIVES
from hindsight.errors import ConfigError, InvalidInput
from hindsight.experience.feedback import Feedback
from hindsight.experience.merge import MERGE_JOB, Merger
from hindsight.experience.reflect.proposals import Proposals
from hindsight.experience.reflect.reflector import REFLECT_JOB, Reflector, ReflectPolicy
from hindsight.experience.reflect.words import Worder
from hindsight.language.tokens import Ruler
from hindsight.observe.trace import Trace
from hindsight.ports import (
    Clock,
    Embedder,
    Ids,
    LanguageModel,
    Store,
)
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.cleanup import CLEAN_JOB, Cleaner
from hindsight.upkeep.consolidate import Consolidator
from hindsight.upkeep.jobs import Handler, JobPolicy
from hindsight.upkeep.purge import PURGE_JOB
from hindsight.upkeep.schedule import Entry, Scheduler, chosen, rules_in
from hindsight.upkeep.sessions import Sessions
from hindsight.upkeep.telling import Teller
from hindsight.write.embed import EMBED_JOB, embed_missing
from hindsight.write.pipeline import Writer
from hindsight.write.reread import REREAD_JOB
from hindsight.write.task import DISTIL_JOB

# With a backoff of up to an hour: a model or a disk that is away for a day loses nothing.
JOBS = JobPolicy(attempts=32)
# Kinds of jobs that the end of a session starts; their handlers get `session_id` in the payload.
SESSION_JOBS: tuple[str, ...] = (REFLECT_JOB,)
BACKUP_JOB = "backup"
# Work that comes again, on the clock of `timezone`; HINDSIGHT_SCHEDULE sets other times. The hour of the backup is a
# setting of its own.
SCHEDULE: tuple[Entry, ...] = (
    Entry("backup", "0 3 * * *", BACKUP_JOB),
    Entry("clean-up", "0 4 * * sun", CLEAN_JOB, each=True),
    Entry("purge", "30 4 * * *", PURGE_JOB),
)


def make_reflector(settings: Settings, merger: Merger, model: LanguageModel | None) -> Reflector:
    """Learning from sessions, as the settings want it, on what the merger works with."""
    store, clock, ids = merger.store, merger.clock, merger.ids
    worder = Worder(model, answer_tokens=settings.llm_answer_tokens) if model is not None else None
    policy = ReflectPolicy(settings.reflect_most, settings.reflect_auto_accept, settings.redact)
    proposals = Proposals(store, merger.embedder, clock, ids, merger)
    return Reflector(store, proposals, Feedback(store, clock, ids), worder, policy)


def make_sessions(settings: Settings, store: Store, clock: Clock, ids: Ids, *, embeds: bool) -> Sessions:
    """Working memory, and the end of sessions, as the settings want it."""
    return Sessions(
        store,
        clock,
        ids,
        jobs=tuple(kind for kind in SESSION_JOBS if settings.reflect or kind != REFLECT_JOB),
        idle=timedelta(minutes=settings.session_idle_minutes),
        redacts=settings.redact,
        embeds=embeds,
    )


def make_cleaner(settings: Settings, twins: Twins, teller: Teller | None, ruler: Ruler, owner: str) -> Cleaner:
    """Clean-up with the limits that the settings name, on what finds near copies."""
    store, embedder, clock, ids = twins.store, twins.embedder, twins.clock, twins.ids
    rules = CleanRules(
        importance=settings.clean_importance,
        unused_days=settings.clean_unused_days,
        alike=settings.clean_alike,
        episode_days=settings.clean_episode_days,
        stale_days=settings.stale_days,
        reviews=settings.clean_reviews,
        batch=settings.clean_batch,
        half_lives={**HALF_LIVES, **settings.half_lives},
    )
    consolidator = Consolidator(store, embedder, clock, ids, teller, ruler)
    return Cleaner(store, embedder, clock, ids, twins=twins, consolidator=consolidator, owner=owner, rules=rules)


def make_scheduler(settings: Settings, store: Store, clock: Clock, ids: Ids) -> Scheduler:
    """The work that comes again, as the settings want it. `ConfigError`."""
    hour = settings.backup_hour
    backup = {"backup": f"0 {hour} * * *" if hour >= 0 else "off"}
    try:
        entries = chosen(SCHEDULE, {**backup, **rules_in(settings.schedule)})
    except InvalidInput as error:
        raise ConfigError(str(error), hint="See HINDSIGHT_SCHEDULE in docs/settings.md.") from error
    return Scheduler(store, clock, ids, entries, ZoneInfo(settings.timezone))


def make_backup_handler(settings: Settings, store: Store) -> Handler:
    """The daily backup as a job."""
    backups = make_backups(settings)

    async def back_up(job: Job, owner: str) -> None:
        await backups.make()
        await store.close_job(job.id, owner=owner)

    return back_up


def handlers_of(
    store: Store, embedder: Embedder | None, writer: Writer, merger: Merger, clock: Clock, ids: Ids
) -> dict[str, Handler]:
    async def distil(job: Job, owner: str) -> None:
        await writer.distil(job, owner, Trace(ids.new(), job.namespace, job.kind))

    async def reread(job: Job, owner: str) -> None:
        await writer.reread(job, owner, Trace(ids.new(), job.namespace, job.kind))

    handlers: dict[str, Handler] = {DISTIL_JOB: distil, REREAD_JOB: reread, MERGE_JOB: merger.judge}
    if embedder is not None:

        async def embed(job: Job, owner: str) -> None:
            await embed_missing(store, embedder, ids, clock, job, owner)

        handlers[EMBED_JOB] = embed
    return handlers
