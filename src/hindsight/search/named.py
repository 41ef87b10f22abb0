"""Names in a filter under which else the same is kept: as somebody may write them, and as the store joins them."""

from __future__ import annotations

from dataclasses import replace

from hindsight.domain.query import Filters
from hindsight.language.names import aliases
from hindsight.ports import Store
from hindsight.search.about import in_every_case

MOST_JOINED = 10  # statements looked at for one name


async def known_as(store: Store, namespace: str, filters: Filters) -> Filters:
    """The filters with every other name of those they ask for; the same where they ask for none.

    «小张就是张伟» makes what is kept of one be found under the other. One step: names joined to a joined one are not.
    """
    if not filters.entities:
        return filters
    names = list(dict.fromkeys(case for name in filters.entities for case in in_every_case(name)))
    about = await store.about(namespace, [f"alias:{name}" for name in names], limit=MOST_JOINED)
    ids = list({memory_id for found in about.values() for memory_id in found})
    said = await store.memories(namespace, ids) if ids else {}
    asked = set(names)
    joined = [pair for memory in said.values() for pair in aliases(memory.content) if asked.intersection(pair)]
    return replace(filters, entities=tuple(dict.fromkeys((*names, *(name for pair in joined for name in pair)))))
