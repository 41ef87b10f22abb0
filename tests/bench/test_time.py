"""Scoring of times: what counts as right, and how misses are grouped."""

import json
from pathlib import Path

import pytest

from bench import results, time
from bench.report import write_json

MENTION: dict[str, object] = {
    "start": "2024-05-14T00:00:00",
    "end": "2024-05-15T00:00:00",
    "grain": "day",
    "span": "yesterday",
}


def row(text: str, *expected: dict[str, object], **more: object) -> dict[str, object]:
    at = "2024-05-15T10:00:00"
    return {"text": text, "reference": at, "language": "en", "source": "made", "expected": [*expected] or None} | more


def lay(folder: Path, *rows: dict[str, object]) -> Path:
    (folder / "time").mkdir()
    text = "\n".join(json.dumps(one) for one in rows)
    (folder / "time" / "time.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, True),
        ({"end": "2024-05-16T00:00:00"}, True),
        ({"end": "2024-05-14T00:00:00"}, True),
        ({"end": "2024-05-17T00:00:00"}, False),
        ({"start": "2024-05-13T00:00:00"}, False),
        ({"end": None}, False),
        ({"start": "2024-05-13T00:00:00", "alt": [MENTION]}, True),
    ],
)
def test_the_start_must_be_equal_and_the_end_within_a_grain(
    tmp_path: Path, changes: dict[str, object], right: bool
) -> None:
    figures, misses = time.score(time.read_rows(lay(tmp_path, row("yesterday", MENTION | changes))))
    assert figures["time"]["exact_en"] == right
    assert len(misses) == (not right)


def test_all_times_of_a_text_must_be_found_and_no_other(tmp_path: Path) -> None:
    rows = time.read_rows(lay(tmp_path, row("yesterday and tomorrow", MENTION), row("yesterday", MENTION, MENTION)))
    figures, misses = time.score(rows)
    assert figures["time"]["exact_en"] == 0
    assert [miss.kind for miss in misses] == ["another number of times"] * 2


def test_festivals_count_only_in_the_figure_with_them(tmp_path: Path) -> None:
    rows = time.read_rows(lay(tmp_path, row("yesterday", MENTION), row("no such feast", MENTION, festival=True)))
    figures, misses = time.score(rows)
    assert figures["time"] == {"exact_en": 1.0, "exact_en_all": 0.5}
    assert list(time.grouped(misses)) == ["en, festival: nothing found"]


def test_texts_without_a_time_count_apart(tmp_path: Path) -> None:
    figures, misses = time.score(time.read_rows(lay(tmp_path, row("nothing here"), row("yesterday"))))
    assert figures["time"] == {"no_time_kept": 0.5}
    assert [miss.kind for miss in misses] == ["a time where there is none"]


def test_a_run_prints_and_writes_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = lay(tmp_path, row("yesterday", MENTION), row("never mind", MENTION))
    written = tmp_path / "time.json"
    assert time.main(["--data", str(data), "--json", str(written), "--misses"]) == 0
    rows = json.loads(written.read_text(encoding="utf-8"))
    assert rows["time"]["exact_en"] == 0.5
    assert rows["misses/en, made: nothing found"] == {"rows": 1}
    assert "never mind" in capsys.readouterr().out


def test_missing_data_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert time.main(["--data", str(tmp_path)]) == 2
    assert "time.jsonl" in capsys.readouterr().err


def test_a_broken_row_is_named_by_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert time.main(["--data", str(lay(tmp_path, {"text": "x"}))]) == 2
    assert "time.jsonl:1" in capsys.readouterr().err


def test_misses_have_a_table_of_their_own_on_the_page(tmp_path: Path) -> None:
    write_json(tmp_path / "time.json", {"time": {"exact_en": 0.5}, "misses/en, made: nothing found": {"rows": 3}})
    page = results.page(tmp_path)
    assert "| time | 0.500 |" in page
    assert "| en, made: nothing found | 3 |" in page
