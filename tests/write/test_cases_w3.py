"""W3: what hindsight itself wrote is recognised in whatever form it comes back, and is not remembered again."""

import json

import pytest

from hindsight.domain.change import OutcomeAction
from hindsight.domain.episode import Message, Role
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN, without_own_output
from hindsight.search.wording import CHINESE, ENGLISH
from hindsight.write.request import WriteRequest
from tests.write.house import SPACE, House

ZH = (
    f'{FENCE_OPEN} type="data">\n{CHINESE.data_only}\n'
    "[用户约束] - 健康：对芒果过敏（#k7m2q9ab，重要性高，来源 2024-01-15 对话 s1）\n"
    f"[事实] - 工作：在造船厂上班（#p3x8w2cd，重要性中，来源 2024-02-20）\n{FENCE_CLOSE}"
)
EN = (
    f'{FENCE_OPEN} type="data">\n{ENGLISH.data_only}\n'
    "[User constraint] - health: allergic to mango (#k7m2q9ab, importance high, from 2024-01-15, session s1)\n"
    f"[Fact] - job: works at the shipyard (#p3x8w2cd, importance medium, from 2024-02-20)\n{FENCE_CLOSE}"
)
SPANISH = (
    f'{FENCE_OPEN} type="data">\nDatos de la memoria, solo como referencia.\n'
    f"[Límite] - salud: alergia al mango (#k7m2q9ab, importancia alta, fuente 2024-01-15)\n{FENCE_CLOSE}"
)


def quoted(text: str, mark: str = "> ") -> str:
    return "\n".join(mark + line for line in text.splitlines())


def fenceless(text: str) -> str:
    return "\n".join(text.splitlines()[1:-1])


FORMS = [
    *(block for block in (ZH, EN, SPANISH)),
    *(f"\n\n{block}\n\n" for block in (ZH, EN)),
    *(quoted(block) for block in (ZH, EN, SPANISH)),
    *(quoted(block, "> > ") for block in (ZH, EN)),
    *(fenceless(block) for block in (ZH, EN)),
    *(quoted(fenceless(block)) for block in (ZH, EN)),
    *(block.replace("<", "&lt;").replace(">", "&gt;") for block in (ZH, EN)),
    *(json.dumps(block)[1:-1] for block in (ZH, EN)),
    *(
        json.dumps(block, ensure_ascii=False)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e")
        for block in (ZH, EN)
    ),
    *(block.replace("<", "\uff1c").replace(">", "\uff1e") for block in (ZH, EN)),
    *(block.removesuffix(FENCE_CLOSE) for block in (ZH, EN)),
    *(f"```\n{block}\n```" for block in (ZH, EN)),
    *(json.dumps({"hits": [{"content": "x"}], "context": block, "trace_id": "t1"}) for block in (ZH, EN)),
    *(block.upper() for block in (ZH, EN)),
    *(f"{block}\n{block}" for block in (ZH, EN)),
    "- allergic to mango (#k7m2q9ab, importance high, from 2024-01-15)",
    "对芒果过敏（#k7m2q9ab，重要性高，来源 2024-01-15 对话）。",
    "alergia al mango (#k7m2q9ab, importancia alta, fuente 2024-01-15)",
]
AROUND = [
    ("根据记忆：\n{}\n所以今天建议吃苹果。", "所以今天建议吃苹果。"),
    ("From memory:\n{}\nSo I suggest an apple today.", "So I suggest an apple today."),
    ("我查到了这些：\n\n{}\n\n需要我订位吗？餐厅叫海风。", "餐厅叫海风。"),
    ("Here is what I know:\n\n{}\n\nThe restaurant is called Seabreeze.", "The restaurant is called Seabreeze."),
]


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.USER, Role.TOOL])
async def test_own_output_alone_is_not_remembered(text: str, role: Role) -> None:
    house = House()
    receipt = await house.write(WriteRequest((Message(text, role=role),)))
    assert [outcome.action for outcome in receipt.outcomes] == [OutcomeAction.IGNORED]
    assert await house.active() == []
    assert await house.store.head(SPACE) == 0


@pytest.mark.parametrize(("around", "own"), AROUND)
@pytest.mark.parametrize("block", [ZH, EN, SPANISH, quoted(ZH), quoted(EN), fenceless(ZH), fenceless(EN)])
async def test_what_the_agent_says_around_it_is_kept_and_nothing_else(around: str, own: str, block: str) -> None:
    house = House()
    await house.write(WriteRequest((Message(around.format(block), role=Role.ASSISTANT),)))
    (memory,) = await house.active()
    assert own in memory.content
    for gone in ("芒果", "mango", "造船厂", "shipyard", "k7m2q9ab", "hindsight-memory"):
        assert gone not in memory.content


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("记得你对芒果过敏（#k7m2q9ab，重要性高，来源 2024-01-15），今天吃苹果吧。", "今天吃苹果吧"),
        (
            "You are allergic to mango (#k7m2q9ab, importance high, from 2024-01-15), so have an apple.",
            "so have an apple",
        ),
    ],
)
def test_a_line_cited_within_a_sentence_goes_and_the_rest_stays(text: str, kept: str) -> None:
    left = without_own_output(text)
    assert kept in left
    assert "芒果" not in left
    assert "mango" not in left


@pytest.mark.parametrize("words", [CHINESE, ENGLISH])
def test_every_sentence_a_block_says_of_its_own_accord_is_known(words: object) -> None:
    for name in ("data_only", "past", "unsure", "nothing", "left_out"):
        assert without_own_output(getattr(words, name).format(count=3)).strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "我对芒果过敏",
        "see #42, importance unclear",
        "hindsight is easier than foresight",
        "the <b>bold</b> one",
        "修复了 #1234abcd 这个提交里的问题",
        "PR (#482, merged 2024-01-15) is live",
        "> 引用一句别人说的话",
        "x > y and y > z",
        '{"hits": 3, "misses": 4}',
        "```\ncode\n```",
        "我的记忆不太好",
        "Data from memory cards is for reference",
    ],
)
def test_what_is_not_own_output_is_left_as_it_is(text: str) -> None:
    assert without_own_output(text) == text
