"""Postings against a plain dictionary."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hindsight.index.postings import Postings

TERMS = [*range(7), 2**32 - 1]
batches_of_rows = st.lists(st.lists(st.lists(st.sampled_from(TERMS[1:]), max_size=6), max_size=5), max_size=8)


def added(batches: list[list[list[int]]]) -> Postings:
    postings, row = Postings(), 0
    for batch in batches:
        rows = np.repeat(np.arange(row, row + len(batch)), [len(terms) for terms in batch])
        postings.add(np.array([term for terms in batch for term in terms], np.uint32), rows)
        row += len(batch)
    return postings


@given(batches_of_rows, st.booleans(), st.sets(st.integers(0, 24)), st.permutations(TERMS))
def test_postings_are_found_in_one_batch_or_many(
    batches: list[list[list[int]]], copy: bool, gone: set[int], asked: list[int]
) -> None:
    postings = added(batches)
    held = [terms for batch in batches for terms in batch]
    kept = [row for row in range(len(held)) if row not in gone]
    if gone:
        postings.compact(np.array(kept, np.int64), len(held))
        held = [held[row] for row in kept]
    if copy:
        postings = Postings.of(postings.arrays())
    found = postings.find(np.array(asked, np.uint32))
    triples = zip(found.which.tolist(), found.rows.tolist(), found.times.tolist(), strict=True)
    right = {
        (asked.index(term), row, times) for row, terms in enumerate(held) for term, times in Counter(terms).items()
    }
    assert Counter(triples) == Counter(right)


def test_a_term_that_occurs_very_often_counts_as_often_as_fits() -> None:
    found = added([[[5] * 1_000]]).find(np.array([5], np.uint32))
    assert found.times.tolist() == [255]
