"""What was true then: asked about a past moment, the history answers, through every interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from hindsight import AsyncHindsight, Hindsight, config
from hindsight.config import Settings
from hindsight.domain.hit import MemoryHit
from hindsight.interfaces.cli import main as cli
from hindsight.interfaces.mcp.tools import SEARCH
from tests.serving import running_server


class Life(NamedTuple):
    """Somebody who moved twice, told on the day, the first time among other words."""

    first: str
    second: str
    third: str
    asked: str
    places: tuple[str, str, str]


CHINESE = Life(
    "你好！跟你说一下，我住在北京。今天天气怎么样？",
    "我搬到上海了",
    "我搬到深圳了",
    "用户住在北京、上海还是深圳",
    ("北京", "上海", "深圳"),
)
ENGLISH = Life(
    "Hello there! By the way, I live in Berlin. What is the weather today?",
    "I moved to Lisbon",
    "I moved to Oslo",
    "does the user live in Berlin, Lisbon or Oslo?",
    ("Berlin", "Lisbon", "Oslo"),
)
LIVES = pytest.mark.parametrize("life", [CHINESE, ENGLISH], ids=("zh", "en"))
BEFORE, FIRST, SECOND, THIRD = "2023-12-01", "2024-03-01", "2024-07-01", "2024-12-01"
MOVES = ("2024-01-10", "2024-05-10", "2024-09-10")


def settings_of(folder: Path) -> Settings:
    return config.load(data_dir=folder, embedding_model="none")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Hindsight]:
    with Hindsight(settings=settings_of(tmp_path)) as opened:
        yield opened


def tell(memory: Hindsight, life: Life) -> None:
    for day, text in zip(MOVES, life[:3], strict=True):
        memory.write(text, occurred_at=f"{day}T09:00:00+00:00", session_id=day)


def named(life: Life, text: str) -> list[str]:
    return [place for place in life.places if place in text]


@LIVES
@pytest.mark.parametrize("at_once", [False, True])
def test_who_moved_twice_lived_at_each_time_where_they_did(memory: Hindsight, life: Life, at_once: bool) -> None:
    if at_once:  # imported later, so that nothing but the day it was said on tells the order
        memory.write_many(
            [
                {"content": text, "occurred_at": day, "session_id": day}
                for day, text in zip(MOVES, life[:3], strict=True)
            ]
        )
    else:
        tell(memory, life)
    for moment, place in ((FIRST, 0), (SECOND, 1), (THIRD, 2), (None, 2)):
        found = memory.search(life.asked, as_of=moment)
        assert named(life, found.context) == [life.places[place]], moment
        assert named(life, " ".join(hit.content for hit in found.hits)) == [life.places[place]]
    assert memory.search(life.asked, as_of=BEFORE).hits == ()


@LIVES
def test_the_end_of_what_was_true_belongs_to_what_came_after(memory: Hindsight, life: Life) -> None:
    tell(memory, life)
    for moment, place in (("2024-05-10T08:59:59+00:00", 0), ("2024-05-10T09:00:00+00:00", 1)):
        assert named(life, memory.search(life.asked, as_of=moment).context) == [life.places[place]]


@LIVES
def test_a_turn_whose_fact_had_ended_does_not_answer_about_later(memory: Hindsight, life: Life) -> None:
    tell(memory, life)
    found = {moment: memory.search(life.places[0], as_of=moment).hits for moment in (FIRST, SECOND, THIRD)}
    assert [len(found[moment]) for moment in (FIRST, SECOND, THIRD)] == [1, 0, 0]
    assert isinstance(found[FIRST][0], MemoryHit)


@LIVES
def test_what_is_forgotten_is_in_no_time(memory: Hindsight, life: Life) -> None:
    tell(memory, life)
    (hit,) = memory.search(life.places[0], as_of=FIRST).hits
    receipt = memory.forget(hit.memory_id)
    for moment in (FIRST, SECOND, THIRD, None):
        assert life.places[0] not in repr(memory.search(life.places[0], as_of=moment))
    memory.undo(str(receipt.undo))
    assert named(life, memory.search(life.asked, as_of=FIRST).context) == [life.places[0]]


@LIVES
def test_one_who_takes_a_move_back_never_moved(memory: Hindsight, life: Life) -> None:
    memory.write(life.first, occurred_at=MOVES[0])
    moved = memory.write(life.second, occurred_at=MOVES[1])
    memory.undo(str(moved.undo))
    for moment in (FIRST, SECOND, THIRD, None):
        assert named(life, memory.search(life.asked, as_of=moment).context) == [life.places[0]]


@LIVES
def test_the_filter_by_name_means_the_same(memory: Hindsight, life: Life) -> None:
    tell(memory, life)
    found = memory.search(life.asked, filters={"as_of": SECOND})
    assert named(life, found.context) == [life.places[1]]


@LIVES
async def test_it_can_be_asked_over_mcp(tmp_path: Path, life: Life) -> None:
    async with AsyncHindsight(settings=settings_of(tmp_path)) as memory:
        for day, text in zip(MOVES, life[:3], strict=True):
            await memory.write(text, occurred_at=day)
        for moment, place in ((FIRST, 0), (SECOND, 1), (THIRD, 2)):
            for filters in ({"as_of": moment}, json.dumps({"as_of": moment})):
                reply = await SEARCH.run(memory, {"query": life.asked, "filters": filters})
                assert named(life, reply.text) == [life.places[place]]


@LIVES
def test_it_can_be_asked_on_the_command_line(
    tmp_path: Path, life: Life, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    with Hindsight(settings=settings_of(tmp_path)) as memory:
        tell(memory, life)
    for moment, place in ((FIRST, 0), (SECOND, 1), (THIRD, 2)):
        assert cli.main(["search", life.asked, "--as-of", moment, "--data-dir", str(tmp_path)]) == 0
        assert named(life, capsys.readouterr().out) == [life.places[place]]


def test_it_can_be_asked_over_rest(tmp_path: Path) -> None:
    with (
        running_server(tmp_path / "data", {"HINDSIGHT_EMBEDDING_MODEL": "none"}) as url,
        httpx2.Client(base_url=url, timeout=30) as client,
    ):
        for life in (CHINESE, ENGLISH):
            space = {"X-Hindsight-Namespace": life.places[2] if life is ENGLISH else "zh"}
            for day, text in zip(MOVES, life[:3], strict=True):
                client.post("/v1/memories", json={"content": text, "occurred_at": day}, headers=space)
            for moment, place in ((FIRST, 0), (SECOND, 1), (THIRD, 2)):
                for asked in ({"as_of": moment}, {"filters": {"as_of": moment}}):
                    answer = client.post("/v1/search", json={"query": life.asked, **asked}, headers=space)
                    assert named(life, answer.json()["context"]) == [life.places[place]]
