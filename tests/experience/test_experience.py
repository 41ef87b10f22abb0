"""Experiences: kept once, found by their situation, trusted by their record."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from hindsight import AsyncHindsight
from hindsight.domain.change import OutcomeAction, Receipt
from hindsight.domain.experience import Experience, Outcome, OutcomeStatus
from hindsight.errors import InvalidInput

STEPS = ["用 pdftotext 抽取文本", "按标题分段", "写成 Markdown"]

pytestmark = pytest.mark.usefixtures("weights")


def memory_id(receipt: Receipt) -> str:
    found = receipt.outcomes[0].memory_id
    assert found is not None
    return found


async def outcome_of(memory: AsyncHindsight, one: str) -> Outcome:
    body = (await memory.get(one)).body
    assert isinstance(body, Experience)
    return replace(body.outcome, last_used=None)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncHindsight:
    return AsyncHindsight(tmp_path)


@pytest.mark.parametrize(
    ("trigger", "asked"),
    [
        ("用户要求把 PDF 转换成 Markdown", "帮我把这个 pdf 变成 markdown 文件"),
        ("The user wants a CSV file imported into PostgreSQL", "please import this csv into postgresql"),
        ("部署到 k8s 失败，镜像拉取超时", "k8s 镜像拉取超时了怎么办"),
    ],
)
async def test_an_experience_is_found_by_its_situation_with_its_steps_in_order(
    memory: AsyncHindsight, trigger: str, asked: str
) -> None:
    async with memory:
        await memory.write_experience(trigger, STEPS, tools_used=["pdftotext"])
        result = await memory.search(asked, filters={"types": ["experience"]})
    assert list(result.hits[0].steps) == STEPS  # type: ignore[union-attr]  # experiences are memories


async def test_the_same_experience_twice_stays_one(memory: AsyncHindsight) -> None:
    async with memory:
        first = await memory.write_experience("Deploy fails", ["roll back"])
        second = await memory.write_experience("deploy fails.", ["Roll back"])
        other = await memory.write_experience("Deploy fails", ["roll back"], outcome_status="failure")
        assert second.outcomes[0].action is OutcomeAction.IGNORED
        assert second.outcomes[0].memory_id == memory_id(first)
        assert other.outcomes[0].action is OutcomeAction.ADDED


async def test_the_same_experience_from_two_at_once_stays_one(memory: AsyncHindsight) -> None:
    async with memory:
        receipts = await asyncio.gather(*(memory.write_experience("构建失败", ["清缓存"]) for _ in range(8)))
        assert len({memory_id(receipt) for receipt in receipts}) == 1


async def test_feedback_moves_trust_in_whole_hundredths_within_bounds(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("Tests are flaky", ["run them alone"]))
        for _ in range(7):
            await memory.feedback(one, "success")
        assert await outcome_of(memory, one) == Outcome(confidence=100, successes=7)
        for _ in range(6):
            await memory.feedback(one, "failure", note="did not help")
        assert await outcome_of(memory, one) == Outcome(OutcomeStatus.FAILURE, confidence=0, successes=7, failures=6)
        assert (await memory.history(one))[-1].reason == "failure: did not help"


async def test_at_the_floor_it_is_still_returned_and_below_it_not(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("Printer jams", ["open the tray"]))
        await memory.feedback(one, "failure")
        found = await memory.search("the printer jams", filters={"types": ["experience"]})
        assert [hit.memory_id for hit in found.hits] == [one]
        assert found.hits[0].confidence == pytest.approx(0.3)
        await memory.feedback(one, "failure")
        gone = await memory.search("the printer jams", filters={"types": ["experience"]})
        assert gone.hits == ()


async def test_feedback_of_many_at_once_counts_every_one(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("Cache is cold", ["warm it"]))
        await asyncio.gather(*(memory.feedback(one, "success") for _ in range(5)))
        assert await outcome_of(memory, one) == Outcome(confidence=100, successes=5)


async def test_a_failure_comes_back_as_a_warning(memory: AsyncHindsight) -> None:
    async with memory:
        await memory.write_experience("数据库迁移超时", ["直接重启数据库"], outcome_status="failure")
        found = await memory.search("数据库迁移超时怎么处理", filters={"types": ["experience"]})
    assert found.hits[0].warning


async def test_secrets_in_steps_are_redacted(memory: AsyncHindsight) -> None:
    token = "ghp_" + "a1B2" * 10
    async with memory:
        one = memory_id(await memory.write_experience("Push is refused", [f"git push with {token}"]))
        kept = await memory.get(one)
    assert token not in repr(kept)
    assert "[REDACTED:github_token]" in kept.content


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"trigger_context": "  "}, "trigger_context"),
        ({"action_steps": []}, "action_steps"),
        ({"action_steps": ["a", " "]}, "action_steps"),
        ({"action_steps": "one text"}, "action_steps"),
        ({"outcome_status": "maybe"}, "outcome_status"),
        ({"tags": ["x" * 200]}, "tags"),
    ],
)
async def test_what_is_no_experience_is_refused_by_field(
    memory: AsyncHindsight, arguments: dict[str, object], field: str
) -> None:
    given = {"trigger_context": "When it rains", "action_steps": ["take an umbrella"], **arguments}
    async with memory:
        with pytest.raises(InvalidInput) as caught:
            await memory.write_experience(**given)  # type: ignore[arg-type]  # wrong on purpose
        assert caught.value.field == field
        assert (await memory.stats()).change == 0


async def test_feedback_is_refused_for_what_is_no_experience(memory: AsyncHindsight) -> None:
    async with memory:
        fact = memory_id(await memory.write("The dice rule is 5d3+5"))
        with pytest.raises(InvalidInput, match="experience"):
            await memory.feedback(fact, "success")
        with pytest.raises(InvalidInput, match="success, failure"):
            await memory.feedback(fact, "perhaps")
