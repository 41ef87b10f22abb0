"""A long document is cut by its own structure, and each piece knows where it stood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.episode import Message, Role
from hindsight.write.prepare import prepare
from hindsight.write.request import WriteRequest
from hindsight.write.split import pieces
from tests.write.house import START, CountingIds

ENGLISH = "The {} was checked twice and written down by the person on duty that day. "
CHINESE = "这一天值班的人检查了两次{}，并且把结果记在了本子上。"


def manual(sentence: str) -> str:
    """A guide with two levels of headings, a list, code with a comment that looks like a heading."""
    body = "".join(sentence.format(n) for n in range(12))
    steps = "".join(f"- {sentence.format(n)}\n" for n in range(12))
    code = "```sh\n# not a heading\n" + "echo one\n" * 40 + "```\n"
    return (
        f"# Guide\n\nShort word.\n\n## Install\n\n{body}\n\n{code}\n## Run\n\n{body}\n\n{steps}\n"
        f"# Appendix\n\n{body}\n\n### Deep\n\n{body}"
    )


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_document_is_cut_at_its_headings(sentence: str) -> None:
    text = manual(sentence)
    found = pieces(text)
    assert "".join(piece.text for piece in found) == text
    paths = list(dict.fromkeys(piece.path for piece in found))
    assert paths == [("Guide", "Install"), ("Guide", "Run"), ("Appendix",), ("Appendix", "Deep")]
    assert all(len(piece.text) <= 1_500 for piece in found)


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_comment_in_code_is_no_heading_and_code_that_fits_stays_whole(sentence: str) -> None:
    found = pieces(manual(sentence))
    assert not any("not a heading" in name for piece in found for name in piece.path)
    assert sum(piece.text.count("```") % 2 for piece in found) == 0


def test_items_of_a_list_stay_whole() -> None:
    text = "".join(f"- item {n}: {ENGLISH.format(n)}\n" for n in range(60))
    for piece in pieces(text):
        assert piece.text.lstrip().startswith("- item")


def test_chinese_chapters_are_headings() -> None:
    text = "".join(f"第{n}章 关于{n}\n" + "".join(CHINESE.format(k) for k in range(20)) + "\n" for n in "一二三")
    assert list(dict.fromkeys(piece.path for piece in pieces(text))) == [
        ("第一章 关于一",),
        ("第二章 关于二",),
        ("第三章 关于三",),
    ]


def test_chinese_paragraphs_stay_whole() -> None:
    text = "\n\n".join("".join(CHINESE.format(k) for k in range(8)) for _ in range(20))
    for piece in pieces(text)[:-1]:
        assert piece.text.endswith("\n\n")


def test_the_headings_are_kept_with_the_episode() -> None:
    request = WriteRequest((Message(manual(ENGLISH), role=Role.DOCUMENT, metadata={"file": "guide.md"}),))
    episodes = prepare("space", [request], at=START, ids=CountingIds()).episodes
    assert episodes[0].metadata["headings"] == ["Guide", "Install"]
    assert episodes[-1].metadata["headings"] == ["Appendix", "Deep"]
    assert {episode.metadata["file"] for episode in episodes} == {"guide.md"}


def test_a_short_text_is_one_piece() -> None:
    assert [piece.text for piece in pieces("# Title\n\nfew words")] == ["# Title\n\nfew words"]


@given(
    st.lists(
        st.sampled_from(["# a\n", "## b\n", "text. ", "句子。", "\n\n", "```\n", "- x\n", "  ", "第一章 x\n"]),
        max_size=200,
    ),
    st.integers(20, 60),
)
def test_pieces_joined_are_the_text_whatever_its_structure(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    found = pieces(text, limit)
    assert "".join(piece.text for piece in found) == text
    assert not text.strip() or all(piece.text.strip() for piece in found)
