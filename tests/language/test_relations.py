"""Chains of relations in questions, and the relations that statements tell."""

from __future__ import annotations

import pytest

from hindsight.language.relations import USER, chain_of, other_end

CHAINS = [
    ("用户的同事的上级是谁", USER, ("colleague", "boss")),
    ("我同事的老板叫什么？", USER, ("colleague", "boss")),
    ("李雷的上级的丈夫是谁", "李雷", ("boss", "spouse")),
    ("我的邻居的女儿在哪上学", USER, ("neighbour", "daughter")),
    ("小李的妹妹的老公在哪上班", "小李", ("sister:younger", "spouse")),
    ("同事的上级是谁", USER, ("colleague", "boss")),
    ("李雷向谁汇报", "李雷", ("boss",)),
    ("who is the boss of my colleague", USER, ("colleague", "boss")),
    ("Who is my colleague's boss?", USER, ("colleague", "boss")),
    ("Where does my brother's wife's mother live?", USER, ("brother", "spouse", "mother")),
    ("the mother of the wife of my boss", USER, ("boss", "spouse", "mother")),
    ("What is the name of Ann's husband's sister?", "Ann", ("spouse", "sister")),
    ("Who does Li Lei's wife report to?", "Li Lei", ("spouse", "boss")),
    ("Who is the manager of Li Lei?", "Li Lei", ("boss",)),
]


@pytest.mark.parametrize(("question", "start", "steps"), CHAINS)
def test_a_question_is_read_as_steps_from_whom_it_starts(question: str, start: str, steps: tuple[str, ...]) -> None:
    chain = chain_of(question)
    assert chain is not None
    assert start in chain.starts
    assert chain.steps == steps


@pytest.mark.parametrize(
    "question",
    [
        "Where did Ann buy the bicycle?", "汇率怎么换算", "上周发生了什么", "What does Ann eat?", "我喜欢喝什么",
        "Which database do we use?", "花生过敏的是谁", "会议定在几点", "What did they talk about?", "车停在哪",
        "A story of my wife's brother. " * 8,
    ],
)  # fmt: skip
def test_a_question_without_somebody_s_relation_has_no_chain(question: str) -> None:
    assert chain_of(question) is None


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("我的邻居的女儿在哪上学", "在哪上学"),
        ("Where does my colleague's boss live?", "Where does live"),
        ("用户的同事的上级是谁", ""),
        ("Who is my colleague's boss?", ""),
        ("我老板的助理叫什么", ""),
    ],
)
def test_what_is_asked_beyond_the_chain_is_its_rest(question: str, rest: str) -> None:
    chain = chain_of(question)
    assert chain is not None
    assert chain.rest == rest


TOLD = [
    ("用户的同事是李雷", USER, "colleague", "李雷"),
    ("我老板是张总，他很忙", USER, "boss", "张总"),
    ("我同事小李的老婆是护士", USER, "colleague", "小李"),
    ("用户和李雷是同事", USER, "colleague", "李雷"),
    ("用户妻子叫王芳", USER, "spouse", "王芳"),
    ("李雷的上级是韩梅梅", "李雷", "boss", "韩梅梅"),
    ("韩梅梅是李雷的上级", "李雷", "boss", "韩梅梅"),
    ("李雷是韩梅梅的下属", "李雷", "boss", "韩梅梅"),
    ("李雷向韩梅梅汇报", "李雷", "boss", "韩梅梅"),
    ("王芳嫁给了李明", "王芳", "spouse", "李明"),
    ("My colleague is Li Lei.", USER, "colleague", "Li Lei"),
    ("I have a brother named Tom", USER, "brother", "Tom"),
    ("The user's sister Anna is married to Peter", USER, "sister", "Anna"),
    ("The user's sister Anna is married to Peter", "Anna", "spouse", "Peter"),
    ("Li Lei's boss is Han Meimei.", "Li Lei", "boss", "Han Meimei"),
    ("Li Lei reports to Han Meimei", "Li Lei", "boss", "Han Meimei"),
    ("Han Meimei manages Li Lei", "Li Lei", "boss", "Han Meimei"),
    ("Tom is the manager of Li Lei", "Li Lei", "boss", "Tom"),
]


@pytest.mark.parametrize(("content", "start", "relation", "end"), TOLD)
def test_a_statement_tells_whom_a_relation_leads_to(content: str, start: str, relation: str, end: str) -> None:
    assert other_end(content, [start], relation, mine=start == USER) == (end,)


@pytest.mark.parametrize(
    ("content", "start", "relation"),
    [
        ("李雷今天很累", "李雷", "boss"),
        ("王芳的上级是陈伟", "李雷", "boss"),
        ("李雷的同事是王芳", "李雷", "boss"),
        ("Anna's boss is Tom", "Ann", "boss"),
        ("Bob has a brother named Tom", "Ann", "brother"),
        ("Li Lei likes his job", "Li Lei", "boss"),
        ("Max is Ann's mother's cat", "Bob", "mother"),
    ],
)
def test_a_statement_of_others_or_of_another_relation_tells_nothing(content: str, start: str, relation: str) -> None:
    assert other_end(content, [start], relation, mine=False) is None


@pytest.mark.parametrize(
    "content",
    ["Max is my mother's cat", "Yeah, my mother loved flowers", "It was my mother`s old house", "小黑是我妈妈的猫"],
)
def test_what_only_speaks_of_a_relation_leads_to_no_name(content: str) -> None:
    assert other_end(content, [USER], "mother", mine=True) == ()


def test_a_relation_told_without_a_name_is_told_all_the_same() -> None:
    assert other_end("李雷的上级很严格", ["李雷"], "boss", mine=False) == ()
    assert other_end("我 means another here: 我老板是张总", [USER], "boss", mine=False) is None
