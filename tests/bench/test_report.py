"""Tables and files of figures."""

import json
from pathlib import Path

from bench.report import markdown, plain, shown, write_json

ROWS = {"talk": {"mrr": 0.51234, "rss_mb": 123.456}, "phone/你好": {"recall@5": 1.0}}


def test_columns_stand_in_the_given_order_and_gaps_stay_empty() -> None:
    assert markdown(ROWS, ("recall@5", "mrr")).splitlines() == [
        "| set | recall@5 | mrr | rss_mb |",
        "| --- | ---: | ---: | ---: |",
        "| talk |  | 0.512 | 123.5 |",
        "| phone/你好 | 1.000 |  |  |",
    ]


def test_plain_columns_line_up() -> None:
    lines = plain({"a": {"x": 1, "y": 0.5}, "bb": {"y": 10.25}}).splitlines()
    assert lines == ["set  x      y", "a    1  0.500", "bb      10.25"]


def test_numbers_keep_the_digits_that_say_something() -> None:
    assert [shown(value) for value in (0.04567, 4.0, 45.678, 456.78, 4567.8, 12, None)] == [
        "0.046", "4.000", "45.68", "456.8", "4568", "12", ""
    ]  # fmt: skip


def test_the_file_holds_the_rows_and_nothing_partial_stays(tmp_path: Path) -> None:
    write_json(tmp_path / "deep" / "rows.json", ROWS)
    assert json.loads((tmp_path / "deep" / "rows.json").read_text(encoding="utf-8")) == ROWS
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["rows.json"]
