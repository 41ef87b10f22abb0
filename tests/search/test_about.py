"""What a question asks of somebody, and the tags it names."""

import pytest

from hindsight.search.about import in_every_case, tags_named, topics_asked


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Where do I live?", "user|reside"),
        ("So where do I live now?", "user|reside"),
        ("What is my current address?", "user|reside"),
        ("Which city does the user live in", "user|reside"),
        ("我住哪里", "user|reside"),
        ("请问我现在住在哪儿？", "user|reside"),
        ("我现在的住址", "user|reside"),
        ("用户住在哪个城市？", "user|reside"),
        ("What's my job now?", "user|work"),
        ("what do I do for a living", "user|work"),
        ("我是做什么工作的", "user|work"),
        ("我在哪家公司上班？", "user|work"),
        ("我的职业是什么呢？", "user|work"),
        ("How old am I?", "user|age"),
        ("我今年几岁了？", "user|birthday"),
        ("When was I born?", "user|birthday"),
        ("我的生日是哪天", "user|birthday"),
        ("What is my name?", "user|own_name"),
        ("我叫什么名字", "user|own_name"),
        ("Where does Bob live?", "bob|reside"),
        ("What is Alice's job?", "alice|work"),
        ("老王住在哪", "老王|reside"),
        ("王芳在哪里上班？", "王芳|work"),
        ("Where does my mother live?", "user/mother|reside"),
        ("我妈妈住在哪里？", "user/mother|reside"),
        ("Where does my brother work?", "user/brother:elder|work"),
        ("我哥哥是做什么的？", "user/brother|work"),
    ],
)
def test_a_question_about_somebody_has_the_key_that_the_answer_is_kept_under(text: str, topic: str) -> None:
    assert topic in topics_asked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where did I live before I moved?",
        "Where does Bob live and what does he eat?",
        "How do I live with a cat?",
        "我住哪里比较方便",
        "我家的猫叫什么",
        "What work did Ann show me last week?",
        "Where is the house key?",
        "住宿费是多少",
        "",
        "Where do I live? " * 20,
    ],
)
def test_a_question_for_anything_more_or_else_has_no_key_of_the_user(text: str) -> None:
    assert not [topic for topic in topics_asked(text) if topic.startswith("user|")]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("anything tagged ops?", ["ops"]),
        ("#ops", ["ops"]),
        ("show me notes with the tag deploy-prod", ["deploy-prod"]),
        ("what is labelled “urgent”?", ["urgent"]),
        ("带采购标签的有哪些", ["采购"]),
        ("标签是采购的记忆", ["采购"]),
        ("标签为「工作」的内容", ["工作"]),
        ("有没有打了旅行标签的", ["旅行"]),
        ("#travel 和 #ops", ["travel", "ops"]),
    ],
)
def test_tags_that_are_named_as_such_are_read_in_every_case(text: str, tags: list[str]) -> None:
    named = tags_named(text)
    assert set(named) == {case for tag in tags for case in in_every_case(tag)}


@pytest.mark.parametrize("text", ["issue #42", "C# code", "the ops team", "采购了什么", "it is in stage 3", "标签"])
def test_what_names_no_tag_has_none(text: str) -> None:
    assert tags_named(text) == ()
