"""Segmenting: what is written is found by whole and by part, in Chinese and English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.segment import index_terms, query_terms


def finds(question: str, text: str) -> bool:
    """Whether every term that is looked for stands in the index."""
    asked = query_terms(question)
    return bool(asked) and set(asked) <= set(index_terms(text))


def shares_a_term(question: str, text: str) -> bool:
    return bool(set(query_terms(question)) & set(index_terms(text)))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("汇率", "支持外币汇率换算"),
        ("外币", "支持外币汇率换算"),
        ("换算", "支持外币汇率换算"),
        ("itgc", "重跑gen-itgc后检查rerank精排"),
        ("gen-itgc", "重跑gen-itgc后检查rerank精排"),
        ("rerank", "重跑gen-itgc后检查rerank精排"),
        ("精排", "重跑gen-itgc后检查rerank精排"),
        ("猫", "我养了一只猫"),
        ("匯率", "支持外币汇率换算"),
        ("UA123", "my flight is UA123 tomorrow"),
        ("ua123", "航班UA123明天起飞"),
        ("123", "航班UA123明天起飞"),
        ("5d3+5", "The dice rule is 5d3+5."),
        ("5d3", "The dice rule is 5d3+5."),
        ("john.doe@example.com", "write to john.doe@example.com, please"),
        ("example.com", "write to john.doe@example.com, please"),
        ("doe", "write to john.doe@example.com, please"),
        ("bar-baz", "see https://github.com/foo/bar-baz?x=1"),
        ("github", "see https://github.com/foo/bar-baz?x=1"),
        ("v1.2.3", "released as v1.2.3"),
        ("1.2.3", "released as v1.2.3"),
        ("config", "set MY_CONFIG_PATH"),
        ("my_config_path", "set MY_CONFIG_PATH"),
        ("server", "class HttpServerFactory"),
        ("HttpServerFactory", "class HttpServerFactory"),
        ("http server factory", "class HttpServerFactory"),
        ("devops", "the DevOps team"),
        ("iphone", "买了iPhone15"),
        ("C++", "written in C++"),
        ("1000", "it costs $1,000"),
        ("5月", "2023年05月24日"),
        ("cafe", "the Café on the corner"),
        ("cats", "a cat"),
        ("moving", "he moved to Rome"),
        ("🍎", "likes 🍎"),
        ("東京", "東京に住んでいます"),
        ("서울", "서울에 살아요"),
        ("who are you", "who are you"),
        ("ภาษา", "ภาษาไทย"),
        ("Москва", "живёт в Москва"),
    ],
)
def test_a_text_is_found_by_whole_and_by_part(question: str, text: str) -> None:
    assert finds(question, text)


def test_an_asked_chinese_question_finds_the_statement() -> None:
    assert shares_a_term("怎么换算汇率", "支持外币汇率换算")
    assert "换算" in query_terms("怎么换算汇率")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("我的猫叫什么名字？", ["我的", "的猫", "猫叫", "名字"]),
        ("请问汇率是多少吗", ["汇率", "率是"]),
        ("What is my cat called?", ["cat", "call"]),
        ("Which job didn't she tell me about?", ["job"]),
    ],
)
def test_question_words_are_not_looked_for(question: str, expected: list[str]) -> None:
    assert query_terms(question) == expected


def test_a_question_of_nothing_but_function_words_still_looks_for_something() -> None:
    assert query_terms("what is it") == ["what", "is", "it"]
    assert query_terms("是谁") == ["是谁"]
    assert query_terms("吗") == ["吗"]


@pytest.mark.parametrize("text", ["", "   ", "?!", "，。"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert index_terms(text) == []
    assert query_terms(text) == []


def test_different_codes_share_no_whole() -> None:
    assert "ua124" not in index_terms("UA123")
    assert "102" not in index_terms("Room 101")


def test_words_repeated_are_counted() -> None:
    assert index_terms("cat and cats").count("cat") == 2


def test_a_long_word_neither_fails_nor_takes_long() -> None:
    assert index_terms("a" * 50_000)
    assert index_terms("a-" * 20_000)
    assert index_terms("1," * 20_000)


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_segmented(text: str) -> None:
    for term in index_terms(text) + query_terms(text):
        assert term
        assert not term.isspace()


@given(st.text(st.sampled_from("猫狗北京a1-_.@/'A は한0,:+\u0301"), min_size=1))
def test_terms_are_folded(text: str) -> None:
    assert all(term == term.casefold() for term in index_terms(text))


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=8))
def test_every_pair_of_neighbours_in_chinese_is_found(text: str) -> None:
    terms = set(index_terms(text))
    assert all(set(index_terms(text[i : i + 2])) <= terms for i in range(len(text) - 1))
