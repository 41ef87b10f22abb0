"""`hindsight reindex`: the vectors of the model that the settings name."""

from __future__ import annotations

from hindsight.app import SystemClock, TimeSortedIds, make_embedder, open_store
from hindsight.config import Settings
from hindsight.errors import ConfigError
from hindsight.ports import Report
from hindsight.upkeep.reindex import Reindexed, Reindexer, ReindexPolicy


async def reindex(settings: Settings, *, report: Report | None = None) -> Reindexed:
    """Make what is missing and switch; see `Reindexer.run`. May run beside a server. `ConfigError` without a model."""
    embedder = make_embedder(settings)
    if embedder is None:
        raise ConfigError(
            "embedding_model: none has no vectors to make", hint="Set HINDSIGHT_EMBEDDING_MODEL to the model you want."
        )
    try:
        store = await open_store(settings)
        try:
            policy = ReindexPolicy(per_minute=settings.reindex_per_minute)
            return await Reindexer(store, embedder, SystemClock(), TimeSortedIds(), policy).run(report)
        finally:
            await store.aclose()
    finally:
        await embedder.aclose()
