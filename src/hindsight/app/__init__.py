"""Composition root: settings in, a running engine out. The only importer of adapters.

The tables name every adapter; a test walks them and fails if one is not held to its contract.
"""

from hindsight.app.assembly import open_engine
from hindsight.app.clock import SystemClock, TimeSortedIds
from hindsight.app.models import (
    PROVIDERS,
    embedder_called,
    make_embedder,
    make_extractor,
    make_language_model,
    make_reranker,
    make_teller,
)
from hindsight.app.places import (
    ARCHIVES,
    CACHES,
    LEXICAL_INDEXES,
    STORES,
    VECTOR_INDEXES,
    make_archive,
    make_backups,
    make_cache,
    open_store,
)
from hindsight.app.tending import (
    BACKUP_JOB,
    SCHEDULE,
    SESSION_JOBS,
    make_backup_handler,
    make_cleaner,
    make_reflector,
    make_scheduler,
    make_sessions,
)

__all__ = [
    "ARCHIVES",
    "BACKUP_JOB",
    "CACHES",
    "LEXICAL_INDEXES",
    "PROVIDERS",
    "SCHEDULE",
    "SESSION_JOBS",
    "STORES",
    "VECTOR_INDEXES",
    "SystemClock",
    "TimeSortedIds",
    "embedder_called",
    "make_archive",
    "make_backup_handler",
    "make_backups",
    "make_cache",
    "make_cleaner",
    "make_embedder",
    "make_extractor",
    "make_language_model",
    "make_reflector",
    "make_reranker",
    "make_scheduler",
    "make_sessions",
    "make_teller",
    "open_engine",
    "open_store",
]
