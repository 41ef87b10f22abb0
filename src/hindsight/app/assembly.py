"""The engine put together: every part with those it needs."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta

from hindsight.app.clock import SystemClock, TimeSortedIds
from hindsight.app.models import (
    embedder_of_store,
    make_embedder,
    make_extractor,
    make_language_model,
    make_reranker,
    make_teller,
)
from hindsight.app.places import (
    LEXICAL_INDEXES,
    VECTOR_INDEXES,
    make_cache,
    open_store,
)
from hindsight.app.tending import (
    BACKUP_JOB,
    JOBS,
    handlers_of,
    make_backup_handler,
    make_cleaner,
    make_reflector,
    make_scheduler,
    make_sessions,
)
from hindsight.config import Settings, Wording
from hindsight.domain.ranking import PRESETS
from hindsight.engine import Engine, Parts
from hindsight.errors import ConfigError
from hindsight.experience.arbiter import LlmArbiter
from hindsight.experience.merge import Merger
from hindsight.experience.prune import Pruner
from hindsight.experience.record import Recorder
from hindsight.experience.reflect.reflector import REFLECT_JOB
from hindsight.language.tokens import ESTIMATE, Ruler, exact
from hindsight.models.tokenizer import load_counter
from hindsight.observe.metrics import Metrics
from hindsight.ports import (
    Embedder,
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
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.forget import Forgetter
from hindsight.upkeep.jobs import Worker
from hindsight.upkeep.purge import PURGE_JOB, Purger
from hindsight.write.amend import Amender
from hindsight.write.extract.llm_judge import LlmJudge
from hindsight.write.extract.rules import RuleExtractor
from hindsight.write.pipeline import WritePolicy, Writer

# What an answer depends on beside question and memories.
_ANSWERING = {
    "embedding_model", "expansion", "llm_model", "routes", "ranking", "context_window", "tokenizer",
    "reranker_url", "reranker_model", "reranker_path", "reranker_candidates", "reranker_weight",
}  # fmt: skip


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
        embedder = await embedder_of_store(store, wanted, settings)
    except BaseException:
        await store.aclose()
        raise
    folder = settings.database.parent / "index"
    lexical = LEXICAL_INDEXES["embedded"](folder)
    vector = VECTOR_INDEXES["embedded"](folder)
    engine = _assemble(settings, store, lexical, vector, embedder, model, reranker, ruler, metrics)
    engine.start()
    return engine


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
    writer, amender = _writing(settings, store, projection, embedder, model, owner)
    twins = Twins(store, embedder, projection.near_each if embedder is not None else None, clock, ids)
    teller = make_teller(settings, model) if model is not None else None
    cleaner = make_cleaner(settings, twins, teller, ruler, owner)
    arbiter = LlmArbiter(model, answer_tokens=settings.llm_answer_tokens) if model is not None else None
    alike = projection.near_experiences if embedder is not None else None
    merger = Merger(store, embedder, alike, clock, ids, arbiter)
    reflector = make_reflector(settings, merger, model)
    handlers = {**handlers_of(store, embedder, writer, merger, clock, ids), **cleaner.handlers}
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


def _writing(
    settings: Settings,
    store: Store,
    projection: Projection,
    embedder: Embedder | None,
    model: LanguageModel | None,
    owner: str,
) -> tuple[Writer, Amender]:
    """What takes in new words, and what changes old ones."""
    clock, ids = SystemClock(), TimeSortedIds()
    rules, near, policy = RuleExtractor(), projection.near_each, WritePolicy(redacts=settings.redact)
    extractor = make_extractor(settings, model) if model is not None else rules
    judge = LlmJudge(model, answer_tokens=settings.llm_answer_tokens) if model is not None else None
    writer = Writer(
        store, embedder, clock, ids, extractor=extractor, neighbours=near, owner=owner, policy=policy, judge=judge
    )
    # New words for one memory are read by rule: their author waits for the answer.
    return writer, Amender(store, embedder, clock, ids, extractor=rules, neighbours=near, policy=policy)


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
