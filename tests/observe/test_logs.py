"""Log lines carry their request's id, and stay one line each."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hindsight.observe import logs

PROGRAM = """
import logging, sys
from hindsight.observe import logs
logs.log_to_stderr("INFO", as_json={as_json})
logging.getLogger("hindsight.search").info("没有 %s", "route")
logs.request_id.set("abc-1")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("hindsight").exception("two\\nlines")
"""


def lines(*, as_json: bool) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(as_json=as_json)], capture_output=True, check=True, encoding="utf-8"
    )
    assert not done.stdout
    return done.stderr.splitlines()


def test_json_lines_are_one_object_each_with_the_request_they_belong_to() -> None:
    first, second = map(json.loads, lines(as_json=True))
    assert (first["level"], first["logger"], first["message"]) == ("INFO", "hindsight.search", "没有 route")
    assert "request_id" not in first
    assert second["request_id"] == "abc-1"
    assert second["message"] == "two\nlines"
    assert "ZeroDivisionError" in second["exception"]


def test_text_lines_name_the_request_at_their_end() -> None:
    first, second = lines(as_json=False)[:2]
    assert first == "INFO hindsight.search: 没有 route"
    assert second == "ERROR hindsight: two"


@pytest.mark.parametrize("given", [None, "", "a b", "x" * 65, "line\nbreak", '"}{', "请求"])
def test_an_id_that_is_not_fit_for_a_log_line_is_replaced(given: str | None) -> None:
    made = logs.accept(given)
    assert made != given
    assert made == logs.accept(made)
