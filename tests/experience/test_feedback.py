"""Feedback: who gave it and why is kept, risk is heeded, and what falls below the floor becomes a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight import AsyncHindsight
from hindsight.config import load
from hindsight.domain.experience import Credit, Experience, OutcomeStatus
from hindsight.domain.memory import Memory, Status
from hindsight.errors import InvalidInput
from hindsight.interfaces.shapes import memory_shape
from tests.experience.test_experience import memory_id


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncHindsight:
    return AsyncHindsight(settings=load(data_dir=tmp_path, embedding_model="none"))


def body_of(memory: Memory) -> Experience:
    assert isinstance(memory.body, Experience)
    return memory.body


async def test_agents_of_one_namespace_share_a_record_and_each_is_named(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("磁盘写满导致服务停止", ["清理日志"], agent="planner"))
        await memory.feedback(one, "success", agent="coder", note="清了 40 GB")
        await memory.feedback(one, "success", agent="coder")
        await memory.feedback(one, "failure", agent="tester")
        kept = await memory.get(one)
        history = await memory.history(one)
        (hit,) = (await memory.search("磁盘写满导致服务停止", filters={"types": ["experience"]})).hits
    assert body_of(kept).credits == (Credit("coder", 2, 0), Credit("tester", 0, 1))
    assert [(one.actor, one.reason) for one in history] == [
        ("planner", ""),
        ("coder", "success: 清了 40 GB"),
        ("coder", "success"),
        ("tester", "failure"),
    ]
    assert hit.confidence == pytest.approx(0.5)
    assert memory_shape(kept)["contributors"] == [
        {"agent": "planner", "wrote": True, "successes": 0, "failures": 0},
        {"agent": "coder", "wrote": False, "successes": 2, "failures": 0},
        {"agent": "tester", "wrote": False, "successes": 0, "failures": 1},
    ]


async def test_an_agent_is_named_once_in_the_settings(tmp_path: Path) -> None:
    settings = load(data_dir=tmp_path, embedding_model="none", agent="reviewer")
    async with AsyncHindsight(settings=settings) as memory:
        one = memory_id(await memory.write_experience("合并请求被拒绝", ["重新变基"]))
        rated = await memory.feedback(one, "success")
    assert (rated.agent, body_of(rated).credits) == ("reviewer", (Credit("reviewer", 1, 0),))


async def test_when_it_was_last_used_is_told(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("Printer jams on A3", ["open the tray"]))
        assert body_of(await memory.get(one)).outcome.last_used is None
        rated = await memory.feedback(one, "success")
        kept = await memory.get(one)
    assert body_of(kept).outcome.last_used == rated.updated_at


async def test_a_workflow_below_the_floor_is_a_warning_and_can_be_written_anew(memory: AsyncHindsight) -> None:
    trigger, steps = "Deploy to the staging cluster hangs", ["restart the agent"]
    async with memory:
        one = memory_id(await memory.write_experience(trigger, steps))
        await memory.feedback(one, "failure")
        await memory.feedback(one, "failure")
        turned = await memory.get(one)
        assert body_of(turned).outcome.status is OutcomeStatus.FAILURE
        assert turned.content.endswith("failure")
        asked = {"types": ["experience"], "min_confidence": 0}
        (hit,) = (await memory.search(trigger, filters=asked)).hits
        assert hit.warning
        assert (await memory.search(trigger, filters={"types": ["experience"]})).hits == ()
        again = memory_id(await memory.write_experience(trigger, steps))
        assert again != one
        assert (await memory.get(again)).status is Status.ACTIVE


async def test_what_becomes_a_known_warning_is_kept_once(memory: AsyncHindsight) -> None:
    trigger, steps = "Deploy to the staging cluster hangs", ["restart the agent"]
    async with memory:
        lesson = memory_id(await memory.write_experience(trigger, steps, outcome_status="failure"))
        one = memory_id(await memory.write_experience(trigger, steps))
        await memory.feedback(one, "failure")
        rated = await memory.feedback(one, "failure")
        assert (rated.status, rated.superseded_by) == (Status.SUPERSEDED, lesson)
        assert (await memory.get(lesson)).status is Status.ACTIVE


async def test_a_lesson_that_is_heeded_is_trusted_more_and_stays_a_warning(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("数据库迁移超时", ["直接重启数据库"], outcome_status="failure"))
        rated = await memory.feedback(one, "success")
        (hit,) = (await memory.search("数据库迁移超时", filters={"types": ["experience"]})).hits
    assert (rated.confidence, hit.warning is not None) == (0.6, True)


async def test_one_failure_of_a_high_risk_entry_takes_it_to_the_floor(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("生产库要改表结构", ["先备份", "再改表"], tags=["高风险"]))
        for _ in range(5):
            await memory.feedback(one, "success")
        assert (await memory.feedback(one, "failure")).confidence == pytest.approx(0.3)


async def test_an_agent_without_a_name_or_with_a_long_one_is_refused(memory: AsyncHindsight) -> None:
    async with memory:
        one = memory_id(await memory.write_experience("Cache is cold", ["warm it"]))
        for wrong in ("  ", "x" * 201):
            with pytest.raises(InvalidInput, match="agent"):
                await memory.feedback(one, "success", agent=wrong)
