"""Triggers that fit everything are told from those that say something, in both languages."""

from __future__ import annotations

import pytest

from hindsight.domain.experience import Action, Experience, Trigger
from hindsight.domain.memory import Kind
from hindsight.write.vague import is_vague, missing, sharpened
from tests.write.house import House

VAGUE = [
    "用户要求处理文件",
    "用户请求帮忙",
    "遇到问题时",
    "需要处理数据",
    "解决系统中的问题",
    "user asks to handle a file",
    "The user wants help with a task",
    "some error occurred",
    "when something goes wrong",
    "use the tool",
]
TELLING = [
    "用户要求把 PDF 转换成 Markdown",
    "构建失败",
    "磁盘写满",
    "登录失败",
    "文件损坏",
    "处理文件编码",
    "文件 404",
    "Deploy fails",
    "When it rains",
    "Tests are flaky",
    "an error 500",
    "The user wants a CSV file imported into PostgreSQL",
]


@pytest.mark.parametrize("trigger", VAGUE)
def test_what_any_task_could_be_is_vague(trigger: str) -> None:
    assert is_vague(trigger)


@pytest.mark.parametrize("trigger", TELLING)
def test_what_has_a_word_of_its_own_is_not(trigger: str) -> None:
    assert not is_vague(trigger)


@pytest.mark.parametrize(
    ("trigger", "steps", "tools", "sharp"),
    [
        (
            "用户要求处理文件",
            ("用 pdftotext 抽取文本", "写成 Markdown"),
            (),
            "用户要求处理文件（pdftotext、Markdown）",
        ),
        ("用户要求处理文件", ("打开", "另存"), ("LibreOffice",), "用户要求处理文件（LibreOffice）"),
        ("handle the file.", ("run pip3 install", "open it in Excel"), (), "handle the file (pip3, Excel)"),
        ("handle the file", ("open it", "save it"), ("jq",), "handle the file (jq)"),
    ],
)
def test_a_vague_one_is_sharpened_by_what_steps_and_tools_name(
    trigger: str, steps: tuple[str, ...], tools: tuple[str, ...], sharp: str
) -> None:
    told = sharpened(Experience(Trigger(trigger), Action(steps, tools)))
    assert told is not None
    assert told.trigger.context == sharp
    assert not is_vague(sharp)
    assert all(word in sharp for word in told.trigger.keywords)


def test_where_the_steps_name_nothing_it_stays_vague_and_what_is_missing_is_told_in_its_language() -> None:
    assert sharpened(Experience(Trigger("用户要求处理文件"), Action(("打开它", "处理一下")))) is None
    assert sharpened(Experience(Trigger("handle a file"), Action(("read the file", "process it")))) is None
    for word in ("格式", "工具", "错误信息"):
        assert word in missing("用户要求处理文件")
    for word in ("goal", "format", "tool", "error"):
        assert word in missing("handle a file")


@pytest.mark.parametrize(
    "text",
    [
        "触发场景：用户要求处理文件\n操作步骤：1. 打开它 2. 处理一下\n结果：成功\n标签：文件",
        "Trigger: handle a file\nSteps: 1. read it 2. process it\nOutcome: success\nTags: files",
    ],
)
async def test_a_vague_experience_in_a_text_is_kept_word_for_word_with_the_reason(text: str) -> None:
    house = House()
    receipt = await house.say(text)
    (memory,) = await house.active()
    assert memory.kind is not Kind.EXPERIENCE
    assert memory.content == text
    assert "too vague" in receipt.outcomes[0].reason


async def test_one_that_the_steps_sharpen_becomes_an_experience() -> None:
    house = House()
    await house.say("触发场景：用户要求处理文件\n操作步骤：1. 用 pdftotext 抽取 2. 写成 Markdown\n结果：成功")
    (memory,) = await house.active()
    assert memory.kind is Kind.EXPERIENCE
    assert memory.content.startswith("用户要求处理文件（pdftotext、Markdown）")
