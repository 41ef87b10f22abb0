"""Composition root: settings in, a running engine out. The only importer of adapters.

The tables name every adapter; a test walks them and fails if one is not held to its contract.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from hindsight.cache.local import LocalCache
from hindsight.config import Provider, Reading, Settings, Wording
from hindsight.domain.change import Job
from hindsight.domain.cleaning import CleanRules
from hindsight.domain.forgetting import HALF_LIVES
from hindsight.domain.ranking import PRESETS
from hindsight.engine import Engine, Parts
from hindsight.errors import ConfigError, Conflict, InvalidInput, StorageUnavailable
from hindsight.experience.arbiter import LlmArbiter
from hindsight.experience.feedback import Feedback
from hindsight.experience.merge import MERGE_JOB, Merger
from hindsight.experience.prune import Pruner
from hindsight.experience.record import Recorder
from hindsight.experience.reflect.proposals import Proposals
from hindsight.experience.reflect.reflector import REFLECT_JOB, Reflector, ReflectPolicy
from hindsight.experience.reflect.words import Worder
from hindsight.index.embedded import EmbeddedVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.language.tokens import ESTIMATE, Ruler, exact
from hindsight.models.cross_encoder import CrossEncoder
from hindsight.models.embedder import FastEmbedEmbedder, OpenAIEmbedder, UseMultilingual
from hindsight.models.endpoint import Endpoint
from hindsight.models.ledger import Ledger
from hindsight.models.llm import ChatModel, LlmPolicy
from hindsight.models.rerank_wire import Documents, Texts
from hindsight.models.reranker import HttpReranker
from hindsight.models.tokenizer import load_counter
from hindsight.models.wire import AnthropicMessages, OpenAIChat, Wire
from hindsight.observe.metrics import Metrics
from hindsight.observe.trace import Trace
from hindsight.ports import (
    Archive,
    Cache,
    Clock,
    Embedder,
    Ids,
    LanguageModel,
    LexicalIndex,
    Reranker,
    Store,
    VectorIndex,
)
from hindsight.projection import Projection
from hindsight.search.answers import Answers
from hindsight.search.look import Expansion
from hindsight.search.pipeline import Searcher, SearchSettings
from hindsight.search.replay import Replayer
from hindsight.search.request import MIN_TOKENS
from hindsight.search.rerank import Reranking
from hindsight.search.rewrite import Rewriter
from hindsight.search.routes import Routes
from hindsight.search.understand import DEFAULT_TOKENS
from hindsight.storage.sqlite.archive import SqliteArchive
from hindsight.storage.sqlite.aside import Retention
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.backup import BackupPolicy, Backups
from hindsight.upkeep.cleanup import CLEAN_JOB, Cleaner
from hindsight.upkeep.consolidate import Consolidator
from hindsight.upkeep.forget import Forgetter
from hindsight.upkeep.jobs import Handler, JobPolicy, Worker
from hindsight.upkeep.purge import PURGE_JOB, Purger
from hindsight.upkeep.schedule import Entry, Scheduler, chosen, rules_in
from hindsight.upkeep.sessions import Sessions
from hindsight.upkeep.telling import ANSWER_TOKENS, Teller
from hindsight.write.amend import Amender
from hindsight.write.embed import EMBED_JOB, embed_missing
from hindsight.write.extract.llm import LlmExtractor, ReadPolicy
from hindsight.write.extract.llm_judge import LlmJudge
from hindsight.write.extract.rules import RuleExtractor
from hindsight.write.pipeline import WritePolicy, Writer
from hindsight.write.reread import REREAD_JOB
from hindsight.write.task import DISTIL_JOB

log = logging.getLogger(__name__)

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"

STORES: Mapping[str, type[SqliteStore]] = MappingProxyType({"sqlite": SqliteStore})
ARCHIVES: Mapping[str, Callable[[Path], Archive]] = MappingProxyType({"sqlite": SqliteArchive})
VECTOR_INDEXES: Mapping[str, Callable[[Path], VectorIndex]] = MappingProxyType(
    {"embedded": lambda _folder: EmbeddedVectorIndex()}
)
PROVIDERS: Mapping[Provider, Callable[[], Wire]] = MappingProxyType(
    {Provider.OPENAI: OpenAIChat, Provider.ANTHROPIC: AnthropicMessages}
)
_BASE_URLS = {Provider.OPENAI: "https://api.openai.com/v1", Provider.ANTHROPIC: "https://api.anthropic.com/v1"}
ANTHROPIC_VERSION = "2023-06-01"
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
LEXICAL_INDEXES: Mapping[str, Callable[[Path], LexicalIndex]] = MappingProxyType({"embedded": EmbeddedLexicalIndex})
CACHES: Mapping[str, Callable[[Clock], Cache]] = MappingProxyType({"local": LocalCache})
# What an answer depends on beside question and memories.
_ANSWERING = {
    "embedding_model", "expansion", "llm_model", "routes", "ranking", "context_window", "tokenizer",
    "reranker_url", "reranker_model", "reranker_path", "reranker_candidates", "reranker_weight",
}  # fmt: skip


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """This moment, in UTC."""
        return datetime.now(UTC)


class TimeSortedIds:
    """Ids as ULIDs have them: 48 bits of milliseconds, then 80 random bits, in lower-case Crockford base32."""

    def new(self) -> str:
        """A fresh id of 26 characters."""
        number = (int(time.time() * 1000) << 80) | secrets.randbits(80)
        return "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))


async def open_engine(settings: Settings, metrics: Metrics | None = None) -> Engine:
    """An engine on the data folder of the settings, its job worker running. `metrics`: where it counts, else its own.

    Raises `ConfigError`, `StorageUnavailable`, `StorageCorrupt`, `SchemaMismatch`.
    """
    if settings.ranking not in PRESETS:
        raise ConfigError(f"ranking: {settings.ranking!r} is not accepted; allowed: {', '.join(PRESETS)}")
    wanted = make_embedder(settings)
    metrics = metrics or Metrics()
    model = make_language_model(settings, SystemClock(), metrics)
    reranker = make_reranker(settings)
    ruler = exact(await asyncio.to_thread(load_counter, settings.tokenizer)) if settings.tokenizer else ESTIMATE
    store = await open_store(settings)
    try:
        embedder = await _embedder_of_store(store, wanted, settings)
    except BaseException:
        await store.aclose()
        raise
    folder = settings.database.parent / "index"
    lexical = LEXICAL_INDEXES["embedded"](folder)
    vector = VECTOR_INDEXES["embedded"](folder)
    engine = _assemble(settings, store, lexical, vector, embedder, model, reranker, ruler, metrics)
    engine.start()
    return engine


async def open_store(settings: Settings) -> Store:
    """The store of the settings alone, made or migrated where needed: for tools that look at what it holds."""
    _make_folder(settings.database.parent)
    traces = Retention(settings.traces_kept, timedelta(days=settings.traces_days))
    return await SqliteStore.open(settings.database, traces=traces)


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; `None` for `none`. Nothing is loaded yet."""
    name = settings.embedding_model
    if name == "none":
        return None
    if name in ("usem3", UseMultilingual.model):
        return UseMultilingual()
    if name.startswith("openai:"):
        return OpenAIEmbedder(
            _embedding_endpoint(settings), name.removeprefix("openai:"), dimensions=settings.embedding_dimensions
        )
    return FastEmbedEmbedder(name, cache_folder=settings.data_dir / "models")


def make_language_model(settings: Settings, clock: Clock, metrics: Metrics | None = None) -> LanguageModel | None:
    """The language model that the settings name; `None` without `llm_model`. Nothing is asked yet. `ConfigError`."""
    if not settings.llm_model:
        if settings.llm_api_key is not None or settings.llm_base_url:
            log.warning("LLM_MODEL is not set, so no language model is used: rules extract the statements")
        return None
    provider = settings.llm_provider
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key is not None else None
    if key is None and not settings.llm_base_url:
        raise ConfigError(
            f"LLM_API_KEY: missing, and {_BASE_URLS[provider]} wants one",
            hint="Set LLM_API_KEY, or LLM_BASE_URL for a server of your own, or unset LLM_MODEL.",
        )
    url = settings.llm_base_url or _BASE_URLS[provider]
    if provider is Provider.ANTHROPIC:
        headers = {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}
        endpoint = Endpoint(url, headers=headers, timeout=settings.llm_timeout)
    else:
        endpoint = Endpoint(url, key=key, timeout=settings.llm_timeout)
    policy = LlmPolicy(concurrency=settings.llm_concurrency, daily_tokens=settings.llm_daily_tokens)
    log.info("statements are extracted by %s at %s", settings.llm_model, url)
    ledger = Ledger(settings.database.parent / "usage")
    wire = PROVIDERS[provider]()
    return ChatModel(endpoint, wire, settings.llm_model, clock, ledger=ledger, policy=policy, metrics=metrics)


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name; `None` without a URL and a path. Nothing is loaded or asked yet."""
    url, path = settings.reranker_url, settings.reranker_path
    if url and path:
        raise ConfigError(
            f"reranker_path: {str(path)!r} is not accepted beside reranker_url; allowed: one of the two",
            hint="Unset HINDSIGHT_RERANKER_URL or HINDSIGHT_RERANKER_PATH.",
        )
    if path:
        return CrossEncoder(path)
    if url:
        key = settings.reranker_key.get_secret_value() if settings.reranker_key is not None else None
        # One more try at most: a search waits for it.
        endpoint = Endpoint(
            url.rstrip("/").removesuffix("/rerank"), key=key, timeout=settings.reranker_deadline, retries=1
        )
        return HttpReranker(endpoint, Documents(settings.reranker_model) if settings.reranker_model else Texts())
    if settings.reranker_key is not None or settings.reranker_model:
        log.warning("HINDSIGHT_RERANKER_URL is not set, so no reranker is used")
    return None


def make_extractor(settings: Settings, model: LanguageModel) -> LlmExtractor:
    """The extractor with a language model that the settings describe."""
    longest = settings.llm_answer_tokens
    policy = ReadPolicy(answer_tokens=(min(ReadPolicy().answer_tokens[0], longest), longest))
    return LlmExtractor(model, joined=settings.llm_extraction is Reading.JOINED, policy=policy)


def _assemble(
    settings: Settings,
    store: Store,
    lexical: LexicalIndex,
    vector: VectorIndex,
    embedder: Embedder | None,
    model: LanguageModel | None,
    reranker: Reranker | None,
    ruler: Ruler,
    metrics: Metrics,
) -> Engine:
    clock, ids = SystemClock(), TimeSortedIds()
    owner = f"{os.getpid()}-{ids.new()}"
    projection = Projection(store, lexical, vector, model=embedder.model if embedder else "")
    rules, near, policy = RuleExtractor(), projection.near_each, WritePolicy(redacts=settings.redact)
    extractor = make_extractor(settings, model) if model is not None else rules
    judge = LlmJudge(model, answer_tokens=settings.llm_answer_tokens) if model is not None else None
    writer = Writer(
        store, embedder, clock, ids, extractor=extractor, neighbours=near, owner=owner, policy=policy, judge=judge
    )
    # New words for one memory are read by rule: their author waits for the answer.
    amender = Amender(store, embedder, clock, ids, extractor=rules, neighbours=near, policy=policy)
    twins = Twins(store, embedder, near if embedder is not None else None, clock, ids)
    teller = make_teller(settings, model) if model is not None else None
    cleaner = make_cleaner(settings, twins, teller, ruler, owner)
    arbiter = LlmArbiter(model, answer_tokens=settings.llm_answer_tokens) if model is not None else None
    alike = projection.near_experiences if embedder is not None else None
    merger = Merger(store, embedder, alike, clock, ids, arbiter)
    reflector = make_reflector(settings, merger, model)
    handlers = {**_handlers(store, embedder, writer, merger, clock, ids), **cleaner.handlers}
    handlers[REFLECT_JOB] = reflector.run
    purger = Purger(store, clock, ids, grace=timedelta(days=settings.grace_days), embeds=embedder is not None)
    handlers |= {PURGE_JOB: purger.run, BACKUP_JOB: make_backup_handler(settings, store)}
    searcher = Searcher(
        store, projection, embedder, clock, _searching(settings, model, ruler), _reranking(settings, reranker)
    )
    return Engine(
        Parts(
            store=store,
            indexes=(lexical, vector),
            projection=projection,
            embedder=embedder,
            clock=clock,
            ids=ids,
            writer=writer,
            amender=amender,
            searcher=searcher,
            answers=Answers(searcher, store, clock, make_cache(settings, clock), _answering(settings)),
            replayer=Replayer(store, projection, searcher),
            recorder=Recorder(store, embedder, clock, ids, merger=merger, redacts=settings.redact),
            merger=merger,
            pruner=Pruner(store, clock, ids, grace=purger.grace),
            cleaner=cleaner,
            teller=teller,
            feedback=reflector.feedback,
            reflector=reflector,
            purger=purger,
            forgetter=Forgetter(store, clock, ids, purger, grace=purger.grace),
            scheduler=make_scheduler(settings, store, clock, ids),
            sessions=make_sessions(settings, store, clock, ids, embeds=embedder is not None),
            worker=Worker(store, clock, handlers, owner=owner, policy=JOBS, watch=metrics.job),
            language_model=model,
            reranker=reranker,
            metrics=metrics,
            slow_search=settings.slow_search,
        )
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


def make_teller(settings: Settings, model: LanguageModel) -> Teller:
    """What writes summaries and answers, within the bounds that the settings name."""
    return Teller(model, deadline=settings.llm_timeout, answer_tokens=min(ANSWER_TOKENS, settings.llm_answer_tokens))


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


def make_cache(settings: Settings, clock: Clock) -> Cache | None:
    """The cache of answers that the settings name; `None` where it is off."""
    return CACHES["local"](clock) if settings.answer_cache else None


def make_archive(settings: Settings) -> Archive:
    """Copies of the store that the settings name. Nothing is opened yet."""
    return ARCHIVES["sqlite"](settings.database)


def make_backups(settings: Settings) -> Backups:
    """The backups of that store."""
    return Backups(
        make_archive(settings), SystemClock(), BackupPolicy(settings.backups, timedelta(settings.backup_days))
    )


def _answering(settings: Settings) -> str:
    return settings.model_dump_json(include=_ANSWERING)


def _expansion(settings: Settings, model: LanguageModel | None) -> Expansion:
    if settings.expansion is Wording.AUTO and model is not None:
        return Expansion(rewriter=Rewriter(model, deadline=settings.expansion_deadline))
    return Expansion(on=settings.expansion is not Wording.OFF)


def _searching(settings: Settings, model: LanguageModel | None, ruler: Ruler) -> SearchSettings:
    return SearchSettings(
        weights=PRESETS[settings.ranking],
        routes=Routes(on=frozenset(settings.routes)),
        expansion=_expansion(settings, model),
        budget=max(MIN_TOKENS, min(DEFAULT_TOKENS, settings.context_window // 5)),
        ruler=ruler,
        stale_days=settings.stale_days,
        idle=timedelta(minutes=settings.session_idle_minutes),
    )


def _reranking(settings: Settings, reranker: Reranker | None) -> Reranking | None:
    if reranker is None:
        return None
    return Reranking(reranker, settings.reranker_candidates, settings.reranker_deadline, settings.reranker_weight)


def _handlers(
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


async def _embedder_of_store(store: Store, wanted: Embedder | None, settings: Settings) -> Embedder | None:
    """The wanted embedder if its vectors are the store's; a new store takes it. Vectors of two models never meet.

    A store with those of another model is served by that one, where it can be had, until they have been made anew.
    """
    if wanted is None:
        return None
    held = await store.embedding_model()
    if held is None:
        try:
            await store.set_embedding_model(wanted.model, expected=None)
        except Conflict:
            held = await store.embedding_model()  # another process was first
        else:
            held = wanted.model
    if held == wanted.model:
        return wanted
    await wanted.aclose()
    former = None if held is None else embedder_called(held, settings)
    how = "by keywords alone" if former is None else "with the former"
    log.warning(
        "this store holds vectors of %s, the settings name %s: search goes on %s until `hindsight reindex` has made "
        "the new ones and this process is started again",
        held,
        wanted.model,
        how,
    )
    return former


def embedder_called(model: str, settings: Settings) -> Embedder | None:
    """The embedder whose vectors are marked with this name, if it can be had here; `None` if not."""
    if model == UseMultilingual.model:
        return UseMultilingual()
    kind, _, name = model.partition(":")
    if kind == "fastembed":
        try:
            return FastEmbedEmbedder(name, cache_folder=settings.data_dir / "models")
        except ConfigError:
            return None  # the extra was taken away
    name, _, dimensions = name.rpartition(":")
    if kind == "openai" and name and dimensions.isdecimal():
        return OpenAIEmbedder(_embedding_endpoint(settings), name, dimensions=int(dimensions))
    return None


def _embedding_endpoint(settings: Settings) -> Endpoint:
    key = settings.embedding_api_key
    return Endpoint(settings.embedding_base_url, key=key.get_secret_value() if key else None)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageUnavailable(
            f"the data folder {folder} can't be made: {error.strerror}", hint="Set HINDSIGHT_DATA_DIR to another."
        ) from error
