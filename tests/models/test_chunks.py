"""Long text in chunks: nothing lost, nothing too wide, cut where a reader would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hindsight.models.chunks import Chunked, split, unit, width

SENTENCES = st.lists(st.text(alphabet="ab .!?\n，。！猫狗😀é", max_size=60), max_size=12)


@given(SENTENCES, st.integers(min_value=3, max_value=60))
def test_chunks_join_to_the_text_and_none_is_too_wide(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    chunks = split(text, limit)
    assert "".join(chunks) == text
    assert all(width(chunk) <= limit for chunk in chunks)
    assert all(chunks) or chunks == [""]


def test_text_is_cut_after_sentences() -> None:
    assert split("One is here. Two is here. Three.", 26) == ["One is here. Two is here.", " Three."]
    assert split("我在北京。他在上海！你呢？", 30) == ["我在北京。他在上海！", "你呢？"]


def test_a_sentence_that_is_too_wide_is_cut_before_words() -> None:
    assert split("alpha beta gamma delta", 12) == ["alpha beta ", "gamma delta"]


def test_a_chinese_character_counts_three() -> None:
    assert width("猫ab") == 5


def test_pooling_weighs_chunks_by_width_and_gives_unit_vectors() -> None:
    chunked = Chunked.of(["aaaa bb", "c"], limit=5)
    assert chunked.pieces == ["aaaa ", "bb", "c"]
    pooled = chunked.pool(np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32))
    np.testing.assert_allclose(pooled, unit(np.array([[5, 2], [0, 1]], dtype=np.float32)), rtol=1e-6)


def test_short_texts_keep_their_vectors() -> None:
    vectors = np.array([[0.6, 0.8], [1, 0]], dtype=np.float32)
    assert Chunked.of(["a", ""]).pool(vectors) is vectors


def test_a_row_of_zeros_stays_one() -> None:
    assert not unit(np.zeros((1, 3), dtype=np.float32)).any()
