"""A write as programs hand it in."""

from datetime import UTC, datetime

import pytest

from hindsight.domain.episode import Message, Role
from hindsight.errors import InvalidInput
from hindsight.write.parse import parse_write


def test_a_message_may_name_its_role_and_time_as_text() -> None:
    message = Message("Noted.", role="assistant", occurred_at="2024-01-15T09:30:00Z")  # type: ignore[arg-type]  # as callers do
    for content in (message, [message]):
        (parsed,) = parse_write({"content": content}, timezone="UTC").messages
        assert (parsed.role, parsed.occurred_at) == (Role.ASSISTANT, datetime(2024, 1, 15, 9, 30, tzinfo=UTC))


def test_a_role_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="role: 'king'"):
        parse_write({"content": Message("x", role="king")}, timezone="UTC")  # type: ignore[arg-type]  # wrong on purpose
