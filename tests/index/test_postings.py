"""Postings against a plain dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hindsight.index import postings as module
from hindsight.index.postings import Postings

rows_of_counts = st.lists(
    st.dictionaries(st.integers(0, 6) | st.just(2**32 - 1), st.integers(1, 400), max_size=5), max_size=25
)


@given(rows_of_counts, st.integers(1, 7), st.booleans(), st.sets(st.integers(0, 24)))
def test_postings_are_found_sealed_or_not(
    counts: list[dict[int, int]], seal_at: int, copy: bool, gone: set[int]
) -> None:
    usual, module._SEAL_AT = module._SEAL_AT, seal_at
    try:
        postings = Postings()
        for row, count in enumerate(counts):
            postings.add(row, count)
    finally:
        module._SEAL_AT = usual
    kept = [row for row in range(len(counts)) if row not in gone]
    if gone:
        postings.compact(np.array(kept, np.int64), len(counts))
        counts = [counts[row] for row in kept]
    if copy:
        postings = Postings.of(postings.arrays())
    for term in (*range(8), 2**32 - 1):
        rows, times = postings.find(term)
        right = {row: min(255, count[term]) for row, count in enumerate(counts) if term in count}
        assert dict(zip(rows.tolist(), times.tolist(), strict=True)) == right
        assert rows.tolist() == sorted(rows.tolist())
