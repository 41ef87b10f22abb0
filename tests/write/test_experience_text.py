"""Text that describes an experience becomes one; text that only sounds like it does not."""

import pytest

from hindsight.domain.episode import Message, Role
from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.memory import Kind, Layer
from hindsight.write.extract.experience_text import read
from hindsight.write.request import WriteRequest
from tests.write.house import House

DESCRIBED = [
    (
        "触发场景：Docker "
        "构建时 pip 超时\n操作步骤：1. 换成内网源 2. 加大超时 3. 重新构建\n结果：成功，十分钟内完成\n标签：docker, pip",
        ("Docker 构建时 pip 超时", ("换成内网源", "加大超时", "重新构建"), True, ("docker", "pip")),
    ),
    (
        "触发场景：要把PDF里的表格导出；操作步骤：先用pdfplumber提取，再转成CSV，最后核对列数；结果：成功；标签：pdf、表格",
        ("要把PDF里的表格导出", ("用pdfplumber提取", "转成CSV", "核对列数"), True, ("pdf", "表格")),
    ),
    (
        "【触发场景】合并时有冲突【操作步骤】变基 → 解决冲突 → 重新测试【结果】失败，测试仍然报错【标签】git",
        ("合并时有冲突", ("变基", "解决冲突", "重新测试"), False, ("git",)),
    ),
    ("场景：磁盘写满\n步骤：\n- 清理日志\n- 扩容\n结果：恢复正常", ("磁盘写满", ("清理日志", "扩容"), True, ())),
    (
        "当数据库连接超时时，先检查连接池大小，再重启服务，结果成功恢复",
        ("数据库连接超时", ("检查连接池大小", "重启服务"), True, ()),
    ),
    (
        "遇到登录失败，先清理cookie再重新登录，结果还是失败。标签：登录",
        ("登录失败", ("清理cookie", "重新登录"), False, ("登录",)),
    ),
    (
        "Trigger: CI runs out of memory\nSteps:\n- use fewer workers\n- "
        "run again\nOutcome: failure, still killed\nTags: ci, memory",
        ("CI runs out of memory", ("use fewer workers", "run again"), False, ("ci", "memory")),
    ),
    (
        "**Trigger:** flaky login test\n**Steps:** 1) pin the clock 2) run "
        "it 20 times\n**Outcome:** worked\n**Tags:** tests",
        ("flaky login test", ("pin the clock", "run it 20 times"), True, ("tests",)),
    ),
    (
        "When the API answers 429, wait 30 seconds, then retry with half the batch; result: success. Tags: api, limits",
        ("the API answers 429", ("wait 30 seconds", "retry with half the batch"), True, ("api", "limits")),
    ),
    (
        "Situation: export is too large. Steps: split by month; zip each part; upload. Result: it worked. Tags: export",
        ("export is too large", ("split by month", "zip each part", "upload"), True, ("export",)),
    ),
    (
        "触发场景 用户要求把 PDF 转换成 Markdown 操作步骤 1. 用 pdftotext 抽取文本 2. 按标题分段 "
        "结果 success 标签 pdf, markdown",
        (
            "用户要求把 PDF 转换成 Markdown",
            ("用 pdftotext 抽取文本", "按标题分段"),
            True,
            ("pdf", "markdown"),
        ),
    ),
    (
        "请记住：触发场景磁盘写满导致服务停止，操作步骤 1. 清理日志 2. 重启服务，结果失败，标签 磁盘 运维",
        ("磁盘写满导致服务停止", ("清理日志", "重启服务"), False, ("磁盘", "运维")),
    ),
    (
        "请记住这条经验：触发场景：磁盘写满。操作步骤：1. 清理日志 2. 重启。结果：成功。标签：磁盘",
        ("磁盘写满", ("清理日志", "重启"), True, ("磁盘",)),
    ),
    (
        "Trigger the build fails with OOM. Steps 1. use fewer workers 2. run again. Outcome success. Tags ci, memory",
        ("the build fails with OOM", ("use fewer workers", "run again"), True, ("ci", "memory")),
    ),
    (
        "Whenever the deploy hangs, do the following: drain node 3, then restart the agent, result: did not work",
        ("the deploy hangs", ("drain node 3", "restart the agent"), False, ()),
    ),
]


@pytest.mark.parametrize(("text", "expected"), DESCRIBED)
def test_trigger_steps_outcome_and_tags_are_read(
    text: str, expected: tuple[str, tuple[str, ...], bool, tuple[str, ...]]
) -> None:
    told = read(text)
    assert told is not None
    body = told.experience
    succeeded = body.outcome.status is OutcomeStatus.SUCCESS
    assert (body.trigger.context, body.action.steps, succeeded, told.tags) == expected


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.TOOL])
@pytest.mark.parametrize("text", [text for text, _ in DESCRIBED[::3]])
async def test_it_is_kept_as_a_procedural_memory_once(text: str, role: Role) -> None:
    house = House()
    for _ in range(2):
        await house.write(WriteRequest((Message(text, role=role),)))
    (memory,) = await house.active()
    assert (memory.kind, memory.layer) == (Kind.EXPERIENCE, Layer.PROCEDURAL)
    assert isinstance(memory.body, Experience)
    assert memory.body.outcome.confidence == 50
    assert memory.content.startswith(memory.body.trigger.context)


@pytest.mark.parametrize(
    "text",
    [
        "我的操作步骤是什么？结果如何？",
        "结果：3比1，主队胜",
        "When I was young I lived in Rome, and the result was great",
        "Steps: open the door",
        "Trigger: unknown\nTags: none",
        "标签：工作",
        "触发场景我还没想好，步骤也没有",
        "The result is 42",
        "当我回家的时候，我先洗手",
        "When you have time, please call me",
        "The situation: bad. The outcome: worse.",
        "触发场景我还没想好，操作步骤也没有，结果以后再说",
        "I pulled the trigger and the steps are slippery, outcome unclear",
        "A trigger in the database logs the steps of each job and its result failed to load",
    ],
)
def test_what_lacks_a_trigger_or_steps_is_no_experience(text: str) -> None:
    assert read(text) is None


def test_tools_are_read_where_they_stand() -> None:
    told = read("Trigger: slow query\nSteps: explain it; add an index\nTools: psql, pgbadger\nOutcome: success")
    assert told is not None
    assert told.experience.action.tools_used == ("psql", "pgbadger")
