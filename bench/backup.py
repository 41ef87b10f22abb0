"""How long a backup, a restore, an export and an import take, how large they are, and whether anybody waits.

The texts are made, not real: how many there are and how long they are is what counts here. Every memory rests on a turn
of its own and has a vector of 512 numbers; the store is written as a server writes it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.process import MB
from bench.report import plain, progress, rounded, write_json
from hindsight import config
from hindsight.config import Settings
from hindsight.domain.change import Act, Batch, Embedding, Put
from hindsight.domain.episode import Episode
from hindsight.domain.memory import Kind, Layer, Memory, Source
from hindsight.errors import HindsightError
from hindsight.ops.backup import back_up, restore
from hindsight.ops.exports import checksums, export
from hindsight.ops.imports import bring_export
from hindsight.storage.sqlite.store import SqliteStore

SPACE, MODEL, DIMENSIONS = "bench", "made-1", 512
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
PER_BATCH = 500
TEXT = "the report of the team in Berlin was sent to the office before noon and read by all 用户 住在 北京 朝阳区"
WORDS = TEXT.split()
ORDER = (
    "store_mb", "backup_s", "backup_mb", "writes_meanwhile", "write_alone_ms", "write_meanwhile_p95_ms",
    "write_meanwhile_max_ms", "restore_s", "export_s", "export_mb", "import_s", "import_again_s", "equal",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """A store that was made, and where."""

    settings: Settings
    count: int


def batch(start: int, count: int, dice: np.random.Generator) -> Batch:
    """So many memories, each with its turn and its vector."""
    episodes, puts, vectors = [], [], []
    for n in range(start, start + count):
        content = f"{n}: " + " ".join(dice.choice(WORDS, 40))
        at = BEGIN + timedelta(minutes=n)
        episodes.append(Episode(f"e{n:025d}", SPACE, content, at, at, "UTC", f"key {n}", session_id=f"s{n // 20}"))
        memory = Memory(
            f"m{n:025d}", SPACE, content[:120], Layer.SEMANTIC, Kind.FACT, at, "UTC", at, at, f"content {n}",
            sources=(Source(f"e{n:025d}", 0, 120),), session_id=f"s{n // 20}",
        )  # fmt: skip
        puts.append(Put(memory, None, Act.ADDED))
        vector = dice.standard_normal(DIMENSIONS).astype(np.float32)
        vectors.append(Embedding(memory.id, MODEL, vector / np.linalg.norm(vector)))
    return Batch(SPACE, f"b{start}", BEGIN, episodes=tuple(episodes), puts=tuple(puts), embeddings=tuple(vectors))


async def fill(made: Made) -> None:
    """Write the store."""
    dice = np.random.default_rng(1)
    store = await SqliteStore.open(made.settings.database)
    await store.set_embedding_model(MODEL, expected=None)
    for start in range(0, made.count, PER_BATCH):
        await store.apply(batch(start, min(PER_BATCH, made.count - start), dice))
        progress(f"filling: {start + PER_BATCH} of {made.count}")
    await store.aclose()
    progress(f"filled: {made.count}", done=True)


async def writes_until(done: asyncio.Event, store: SqliteStore, start: int, most: int) -> list[float]:
    """Milliseconds of single writes, one after another."""
    dice = np.random.default_rng(2)
    taken = []
    for n in range(start, start + most):
        if done.is_set():
            break
        one = batch(n, 1, dice)
        begin = time.perf_counter()
        await store.apply(one)
        taken.append((time.perf_counter() - begin) * 1000)
        await asyncio.sleep(0.005)
    return taken


async def measure(folder: Path, count: int) -> dict[str, float]:
    """All figures of one size."""
    made = Made(config.load(data_dir=folder / "data", embedding_model="none", log_level="ERROR"), count)
    await fill(made)
    row: dict[str, float] = {"store_mb": made.settings.database.stat().st_size / MB}
    row |= await _backup(made, folder)
    row |= await _export(made, folder)
    return dict(rounded(row.items(), 3))


async def _backup(made: Made, folder: Path) -> dict[str, float]:
    store = await SqliteStore.open(made.settings.database)
    over = asyncio.Event()
    alone = await writes_until(over, store, made.count, 50)
    writing = asyncio.create_task(writes_until(over, store, made.count + 100, 100_000))
    begin = time.perf_counter()
    backup = await back_up(made.settings, to=folder / "backups", report=_told)
    seconds = time.perf_counter() - begin
    over.set()
    meanwhile = sorted(await writing)
    await store.aclose()
    begin = time.perf_counter()
    await restore(made.settings, backup.path, report=_told)
    progress("restored", done=True)
    return {
        "backup_s": seconds,
        "backup_mb": backup.size / MB,
        "writes_meanwhile": len(meanwhile),
        "write_alone_ms": sorted(alone)[len(alone) // 2],
        "write_meanwhile_p95_ms": meanwhile[int(len(meanwhile) * 0.95)] if meanwhile else 0.0,
        "write_meanwhile_max_ms": meanwhile[-1] if meanwhile else 0.0,
        "restore_s": time.perf_counter() - begin,
    }


async def _export(made: Made, folder: Path) -> dict[str, float]:
    file, other = folder / "all.jsonl", config.load(data_dir=folder / "other", embedding_model="none")
    seconds = []
    begin = time.perf_counter()
    await export(made.settings, file, vectors=True, report=_told)
    seconds.append(time.perf_counter() - begin)
    for _ in range(2):
        begin = time.perf_counter()
        with file.open("rb") as stream:
            done = await bring_export(other, stream, size=file.stat().st_size, report=_told)
        seconds.append(time.perf_counter() - begin)
        assert not done.rejected
    progress("imported twice", done=True)
    equal = await checksums(other) == await checksums(made.settings)
    return {
        "export_s": seconds[0],
        "export_mb": file.stat().st_size / MB,
        "import_s": seconds[1],
        "import_again_s": seconds[2],
        "equal": int(equal),
    }


def _told(stage: str, done: int, total: int) -> None:
    progress(f"{stage}: {done} of {total}" if total else f"{stage}: {done}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.backup", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--n", type=int, nargs="+", default=[10_000, 100_000], help="numbers of memories")
    made.add_argument("--data", type=Path, metavar="DIR", help="taken as by every bench; not used by this one")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    rows: dict[str, dict[str, float]] = {}
    try:
        for count in options.n:
            with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder:
                rows[f"n{count}"] = asyncio.run(measure(Path(folder), count))
    except HindsightError as error:
        print(f"bench.backup: {error}", file=sys.stderr)
        return 2
    print(plain(rows, ORDER, head="size"))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
