"""What other files hold, brought into a store."""

from __future__ import annotations

from typing import BinaryIO

from hindsight.app import SystemClock, TimeSortedIds, open_store
from hindsight.config import Settings
from hindsight.domain.change import Batch
from hindsight.ops.imports.exported import ImportReport, bring
from hindsight.ports import Report, Store
from hindsight.write.embed import embed_later

COUNTED = 1000  # entries without a vector that are counted in a namespace


async def bring_export(
    settings: Settings, stream: BinaryIO, *, into: str | None = None, size: int = 0, report: Report | None = None
) -> ImportReport:
    """Import an export into the store of the settings; see `exported.bring`.

    What has no vector afterwards gets one by the next server's job.
    """
    store = await open_store(settings)
    clock, ids = SystemClock(), TimeSortedIds()
    try:
        done = await bring(stream, store, clock, ids, into=into, size=size, report=report)
        wanted = done.brought and settings.embedding_model != "none"
        for namespace in sorted(done.namespaces) if wanted else ():
            bare = await _without_vector(store, namespace)
            if bare:
                done.without_vector += bare
                job = embed_later(ids, clock)
                await store.apply(Batch(namespace, ids.new(), clock.now(), jobs=(job,)))
        return done
    finally:
        await store.aclose()


async def _without_vector(store: Store, namespace: str) -> int:
    # A store without a model yet will take one at its first start.
    model = await store.embedding_model() or ""
    return len(await store.unembedded(namespace, model=model, limit=COUNTED))
