"""What is refused before it is kept."""

import json
from datetime import UTC, datetime

import pytest

from hindsight.errors import InvalidInput
from hindsight.storage.checks import encoded


@pytest.mark.parametrize("value", [{}, {"a": [1, 2.5, None, True, "吃什么"]}, {"n": 2**70}, {"t": (1, 2)}])
def test_json_values_are_encoded_as_they_are(value: dict[str, object]) -> None:
    assert json.loads(encoded("body", value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [None, float("nan")], "\ud800", {1, 2}, datetime.now(UTC), object()]
)
def test_what_json_has_no_form_for_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="body"):
        encoded("body", {"value": value})
