"""English stems."""

from concurrent.futures import ThreadPoolExecutor

from hindsight.language.stem import stem


def test_forms_of_a_word_share_a_stem() -> None:
    assert stem("running") == stem("runs") == stem("run")


def test_stems_are_right_when_many_threads_ask() -> None:
    words = [f"{letter}unning{suffix}" for letter in "abcdefgh" for suffix in ("", "s", "ly")] * 20
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(stem.__wrapped__, words))
    assert together == [stem(word) for word in words]
