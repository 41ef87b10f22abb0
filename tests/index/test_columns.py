"""Filter columns against the reference filter."""

from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.entry import Entry
from hindsight.domain.query import Filters
from hindsight.index.columns import Columns
from hindsight.testing.index_samples import entries, filters


@given(st.lists(entries(), max_size=3), st.integers(0, 11), filters(), st.booleans(), st.booleans())
def test_a_mask_is_the_reference_filter_over_all_rows(
    batches: list[list[Entry]], gone: int, wanted: Filters, compact: bool, copy: bool
) -> None:
    columns = Columns()
    held: dict[str, Entry] = {}
    for batch in batches:
        columns.add(batch)
        held.update((one.id, one) for one in batch)
    assert columns.remove(f"e{gone:02}") == (held.pop(f"e{gone:02}", None) is not None)
    if compact or copy:
        columns.compact()
    if copy:
        columns = Columns.of(columns.ids, columns.arrays())
    mask = columns.mask(wanted)
    assert {columns.ids[row] for row in mask.nonzero()[0]} == {one.id for one in held.values() if wanted.matches(one)}
    assert columns.count == len(held)
