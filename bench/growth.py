"""What a search for a situation costs as experiences grow, and whether a hot tier in front of the store would pay.

The experiences are made up: those of `lessons` over and over, numbered, with records of their own, about half of them
trusted above 0.8; loaded in bulk, each with the vector of its trigger moved a little.

- search_ms: CPU milliseconds of a search, the best of several rounds
- hot_ms: the same where every experience trusted above 0.8 is held in memory and the rest is read from the store
- hot_share: the share of the experiences that a search reads which were held
- hot_mb: the memory that holding them takes
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np

from bench.process import rss_mb
from bench.situations import Kept, lessons
from hindsight.app import open_engine
from hindsight.config import load
from hindsight.domain.change import Act, Batch, Embedding, Put
from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger, rendered
from hindsight.domain.memory import Kind, Layer, Memory
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.engine import Engine
from hindsight.ports import Store
from hindsight.search.request import parse_query
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.write.keys import experience_key

SPACE = "bench"
HOT = 80  # hundredths; what is trusted more is hot (SPEC §5 and issue 5)
STEP = 1000
SPREAD = 0.015  # of a made-up vector in each of its dimensions
ASKED, ROUNDS, TOP_K = 40, 5, 5
SEED = 20240301


@dataclass
class Tier:
    """Experiences held in memory, and how many of those asked for were among them."""

    held: dict[str, Memory] = field(default_factory=dict)
    asked: int = 0
    found: int = 0

    @contextmanager
    def before(self, store: type[SqliteStore]) -> Iterator[None]:
        """Answer from memory what is held, and the rest from the store."""
        read = store.memories

        async def memories(one: SqliteStore, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
            cold = [each for each in ids if each not in self.held]
            self.asked, self.found = self.asked + len(ids), self.found + len(ids) - len(cold)
            rest = await read(one, namespace, cold) if cold else {}
            return {**rest, **{each: self.held[each] for each in ids if each in self.held}}

        with patch.object(store, "memories", memories):
            yield


def growth(size: int) -> dict[str, float]:
    """The costs with so many experiences kept."""
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder:
        return asyncio.run(_growth(Path(folder), size))


async def _growth(folder: Path, size: int) -> dict[str, float]:
    engine = await open_engine(load(data_dir=folder, db_path=folder / "memory.db", answer_cache=False))
    try:
        await fill(engine, size)
        await engine.warm(SPACE)
        row = {"search_ms": await _cost(engine, "plain")}
        tier = Tier()
        if size:
            gc.collect()
            before = rss_mb(os.getpid()) or 0.0
            tier.held = await hot(engine.parts.store)
            gc.collect()
            row["hot_mb"] = (rss_mb(os.getpid()) or 0.0) - before
        if tier.held:
            with tier.before(SqliteStore):
                row["hot_ms"] = await _cost(engine, "hot")
            row["hot_share"] = tier.found / tier.asked
            # What came later may have had a quieter machine: the better of before and after.
            row["search_ms"] = min(row["search_ms"], await _cost(engine, "again"))
    finally:
        await engine.aclose()
    return row


async def hot(store: Store) -> dict[str, Memory]:
    """All that a hot tier would hold."""
    found: dict[str, Memory] = {}
    after: str | None = None
    wanted = Filters(kinds=(Kind.EXPERIENCE,), min_confidence=(HOT + 1) / 100, episodes=False)
    while True:
        page = await store.find(SPACE, wanted, order=Order.OLDEST, limit=STEP // 2, after=after)
        found |= {one.id: one for one in page.items}
        after = page.next
        if after is None:
            return found


async def fill(engine: Engine, size: int) -> None:
    """Load so many made-up experiences in bulk."""
    chance, spread = random.Random(SEED), np.random.default_rng(SEED)
    base, at = lessons().kept, datetime.now(UTC)
    embedder = engine.parts.embedder
    vectors = await embedder.embed([one.trigger for one in base]) if embedder is not None else None
    for start in range(0, size, STEP):
        numbers = range(start, min(size, start + STEP))
        memories = [_made(number, base[number % len(base)], chance, at) for number in numbers]
        embeddings: list[Embedding] = []
        if vectors is not None and embedder is not None:
            rows = vectors[[number % len(base) for number in numbers]]
            rows = rows + spread.normal(0, SPREAD, rows.shape).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            embeddings = [Embedding(one.id, embedder.model, row) for one, row in zip(memories, rows, strict=True)]
        puts = tuple(Put(one, None, Act.ADDED) for one in memories)
        await engine.parts.store.apply(Batch(SPACE, f"load {start}", at, puts=puts, embeddings=tuple(embeddings)))


def _made(number: int, base: Kept, chance: random.Random, at: datetime) -> Memory:
    status = OutcomeStatus.FAILURE if base.failed else OutcomeStatus.SUCCESS
    worked, failed = chance.randrange(12), chance.randrange(3)
    trust = min(100, max(0, 50 + 10 * worked - 20 * failed))
    body = Experience(
        Trigger(f"{base.trigger} ({number})"),
        Action(base.steps, base.tools),
        Outcome(status, trust, worked, failed, at if worked + failed else None),
    )
    return Memory(
        id=f"{number:026d}",
        namespace=SPACE,
        content=rendered(body),
        layer=Layer.PROCEDURAL,
        kind=Kind.EXPERIENCE,
        occurred_at=at,
        timezone="UTC",
        created_at=at,
        updated_at=at,
        content_key=experience_key(body),
        body=body,
        confidence=trust / 100,
    )


async def _cost(engine: Engine, name: str) -> float:
    texts = [one.text for one in lessons().asked[:ASKED]]
    spent = []
    for turn in range(ROUNDS):
        begin = time.process_time()
        for text in texts:
            asked = f"{text} {name} {turn}"
            query = parse_query(asked, now=engine.now(), timezone="UTC", top_k=TOP_K, filters={"types": ["experience"]})
            await engine.search(SPACE, query)
        spent.append((time.process_time() - begin) * 1000 / len(texts))
    return min(spent)
