"""What an error says of the value it refuses."""

import pytest

from hindsight.errors import InvalidInput

NESTED: list[object] = []
for _ in range(50_000):
    NESTED = [NESTED]


VALUES: dict[str, object] = {
    "nested": NESTED,
    "digits": 10**5000,
    "long": "x" * 10**6,
    "bytes": b"\xff" * 1000,
    "surrogate": "\ud800",
    "nothing": None,
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_every_value_can_be_named_in_an_error(value: object) -> None:
    error = InvalidInput("field", value, "something else")
    assert "field: " in str(error)
    assert len(error.value) <= 80
