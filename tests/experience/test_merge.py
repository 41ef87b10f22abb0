"""Merging: one situation, several ways, the best record first; look-alikes stay apart; undo gives all of it back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hindsight import AsyncHindsight
from hindsight.config import load
from hindsight.domain.change import OutcomeAction, Receipt
from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger
from hindsight.domain.memory import Memory, Status
from hindsight.domain.query import Filters
from hindsight.experience.alike import apart
from tests.experience.test_experience import memory_id

pytestmark = pytest.mark.usefixtures("weights")

ZH = "用户要求把 PDF 转换成 Markdown"
ZH_TOO = "把 PDF 转换为 Markdown 格式"
A, B = ["用 pdftotext 抽取文本", "按标题分段"], ["用 OCR 识别每一页", "校对文字"]


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncHindsight:
    return AsyncHindsight(tmp_path)


def told(trigger: str, *steps: str, failed: bool = False) -> Experience:
    status = OutcomeStatus.FAILURE if failed else OutcomeStatus.SUCCESS
    return Experience(Trigger(trigger), Action(steps or ("act",)), Outcome(status))


def body_of(memory: Memory) -> Experience:
    assert isinstance(memory.body, Experience)
    return memory.body


async def state(memory: AsyncHindsight) -> dict[str, Memory]:
    """Everything that answers, without what counts changes."""
    page = await memory.list(filters=Filters(episodes=False), limit=500)
    return {one.id: replace(one, version=0, updated_at=one.created_at) for one in page.items}


async def merged(memory: AsyncHindsight) -> tuple[str, str, Receipt]:
    """Two that were merged on the second write: the id of the first, of the whole, and the receipt."""
    first = memory_id(await memory.write_experience(ZH, A, tools_used=["pdftotext"], tags=["pdf"], agent="planner"))
    receipt = await memory.write_experience(ZH_TOO, B, tools_used=["tesseract"], agent="coder")
    assert receipt.outcomes[0].action is OutcomeAction.MERGED
    return first, memory_id(receipt), receipt


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ZH, ZH_TOO),
        ("The user wants a PDF converted to Markdown", "convert a PDF to Markdown"),
        ("docker build times out", "Docker build timed out"),
        ("pip install fails with TLS error", "pip install fails with a TLS error"),
        ("把扫描的 PDF 转成 Markdown", "把 PDF 转成 Markdown"),
    ],
)
def test_nothing_tells_one_situation_in_two_wordings_apart(one: str, other: str) -> None:
    assert apart(told(one), told(other)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("用户要求把 PDF 转换成 Markdown", "用户要求把 Markdown 转换成 PDF"),  # the other way round
        ("convert a PDF to Markdown", "convert a PDF to HTML"),  # format
        ("pip install fails with TLS error", "npm install fails with TLS error"),  # tool
        ("convert the video using ffmpeg", "convert the video using handbrake"),
        ("在 github.com 上建仓库", "在 gitlab.com 上建仓库"),  # site
        ("Room 101 is too cold", "Room 102 is too cold"),  # number
        ("file the 2023 tax return", "file the 2024 tax return"),
        ("清理日志释放磁盘", "归档日志释放磁盘"),  # goal
        ("导出表格到 CSV", "导入表格到 CSV"),
        ("upload the report to S3", "download the report from S3"),
        ("create the branch", "delete the branch"),
        ("create the index", "create the table"),
    ],
)
def test_look_alikes_stay_apart(one: str, other: str) -> None:
    assert apart(told(one), told(other))
    assert apart(told(other), told(one))


def test_what_worked_and_what_failed_stay_apart() -> None:
    assert apart(told(ZH), told(ZH, failed=True))


async def test_two_ways_of_one_situation_become_one_with_the_ids_of_both(memory: AsyncHindsight) -> None:
    async with memory:
        first, whole, receipt = await merged(memory)
        kept = await memory.get(whole)
        body = body_of(kept)
        second = next(one for one in body.originals if one != first)
        assert receipt.outcomes[0].other_ids == (first, second)
        assert body.originals == (first, second)
        assert [way.id for way in body.ways] == [first, second]
        assert body.action == Action(tuple(A), ("pdftotext", "tesseract"))
        assert kept.content == (
            f"{body.trigger.context}\n1. 先用：用 pdftotext 抽取文本；按标题分段\n"
            "2. 失败时降级到：用 OCR 识别每一页；校对文字\n→ success"
        )
        for original in (first, second):
            held = await memory.get(original)
            assert (held.status, held.superseded_by) == (Status.SUPERSEDED, whole)
        found = await memory.search("PDF 转 Markdown 怎么做", filters={"types": ["experience"]})
        assert [hit.memory_id for hit in found.hits] == [whole]
        assert "失败时降级到" in found.context


async def test_the_way_with_the_better_record_goes_first_and_feedback_reaches_it_by_its_id(
    memory: AsyncHindsight,
) -> None:
    async with memory:
        first, whole, _ = await merged(memory)
        second = body_of(await memory.get(whole)).originals[1]
        await memory.feedback(whole, "success")  # of the first way: 1 of 1
        for _ in range(3):
            rated = await memory.feedback(second, "success", agent="coder")
        assert rated.id == whole
        body = body_of(rated)
        assert [way.id for way in body.ways] == [second, first]
        assert body.action.steps == tuple(B)
        assert (body.outcome.successes, [way.outcome.successes for way in body.ways]) == (4, [3, 1])
        assert body.outcome.confidence == 90


async def test_a_third_joins_the_general_one_under_the_same_id(memory: AsyncHindsight) -> None:
    async with memory:
        _, whole, _ = await merged(memory)
        receipt = await memory.write_experience("PDF 转换成 Markdown", ["用 marker 转换"])
        assert memory_id(receipt) == whole
        body = body_of(await memory.get(whole))
        assert (len(body.ways), len(body.originals)) == (3, 3)


async def test_the_same_steps_are_one_way(memory: AsyncHindsight) -> None:
    async with memory:
        await memory.write_experience(ZH, A)
        whole = memory_id(await memory.write_experience(ZH_TOO, A))
        kept = await memory.get(whole)
        assert (len(body_of(kept).ways), len(body_of(kept).originals)) == (1, 2)
        assert "降级" not in kept.content


async def test_undoing_the_write_gives_the_state_before_it(memory: AsyncHindsight) -> None:
    async with memory:
        await memory.write_experience(ZH, A, tools_used=["pdftotext"], tags=["pdf"], agent="planner")
        before = await state(memory)
        receipt = await memory.write_experience(ZH_TOO, B)
        assert await state(memory) != before
        assert receipt.undo is not None
        again = await memory.undo(receipt.undo)
        assert await state(memory) == before
        assert again.undo is not None
        await memory.undo(again.undo)
        assert len(await state(memory)) == 1


async def test_undoing_the_merge_alone_gives_both_back_and_they_are_not_merged_again(memory: AsyncHindsight) -> None:
    async with memory:
        first, whole, receipt = await merged(memory)
        await memory.undo(f"merge:{receipt.undo}:1")
        now = await state(memory)
        assert first in now
        assert whole not in now
        assert len(now) == 2
        assert (await memory.merge_experiences()).outcomes == ()
        assert await state(memory) == now


async def test_text_that_describes_the_same_situation_is_merged_and_undone_too(memory: AsyncHindsight) -> None:
    async with memory:
        await memory.write_experience(ZH, A)
        before = await state(memory)
        receipt = await memory.write(f"触发场景：{ZH_TOO}\n操作步骤：1. {B[0]} 2. {B[1]}\n结果：成功")
        assert [one.action for one in receipt.outcomes] == [OutcomeAction.MERGED]
        assert receipt.undo is not None
        await memory.undo(receipt.undo)
        assert await state(memory) == before


async def test_a_failure_is_no_way_to_fall_back_on(memory: AsyncHindsight) -> None:
    async with memory:
        await memory.write_experience(ZH, A)
        receipt = await memory.write_experience(ZH_TOO, B, outcome_status="failure")
        assert receipt.outcomes[0].action is OutcomeAction.ADDED


async def test_without_a_model_wording_decides(tmp_path: Path) -> None:
    async with AsyncHindsight(settings=load(data_dir=tmp_path, embedding_model="none")) as memory:
        await memory.write_experience("pip install fails with TLS error", ["set PIP_CERT"])
        near = await memory.write_experience("pip install fails with a TLS error", ["update certifi"])
        far = await memory.write_experience("npm install fails with TLS error", ["set cafile"])
    assert [one.outcomes[0].action for one in (near, far)] == [OutcomeAction.MERGED, OutcomeAction.ADDED]
