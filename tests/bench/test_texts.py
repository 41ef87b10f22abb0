"""Texts for growth: real ones first, whole sessions, then recombined; all distinct and the same every time."""

from itertools import islice
from pathlib import Path

import pytest

from bench.data import DataError, read_corpora
from bench.texts import growing, questions
from tests.bench.made import lay, memory, question


def talk(tmp_path: Path, sessions: int = 6, turns: int = 4) -> Path:
    rows = [
        memory(f"{s}/{t}", f"session {s} begins and turn {t} of it ends {s}{t}", session_id=str(s), speaker="Ann")
        for s in range(sessions)
        for t in range(turns)
    ]
    asked = [question(f"q{n}", ["0/0"], f"what {n % 5}?") for n in range(10)]
    return lay(tmp_path / "talk", memories=rows, queries=asked)


def test_real_texts_come_first_and_sessions_stay_whole(tmp_path: Path) -> None:
    corpora = read_corpora(talk(tmp_path))
    first = list(islice(growing(corpora), 24))
    assert {row["content"] for row in first} == {item.text for item in corpora[0].items}
    assert [row["session_id"] for row in first[:4]] == [first[0]["session_id"]] * 4
    assert {row["speaker"] for row in first} == {"Ann"}


def test_what_is_recombined_is_distinct_and_repeats_from_run_to_run(tmp_path: Path) -> None:
    corpora = read_corpora(talk(tmp_path))
    rows = list(islice(growing(corpora), 80))
    assert len({row["content"] for row in rows}) == 80
    assert rows == list(islice(growing(corpora), 80))


def test_too_few_texts_are_said_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fewer than two sessions"):
        list(growing(read_corpora(talk(tmp_path / "one", sessions=1))))
    with pytest.raises(DataError, match="too few texts"):
        list(growing(read_corpora(talk(tmp_path / "two", sessions=2, turns=1))))


def test_no_question_comes_twice(tmp_path: Path) -> None:
    mixed = questions(read_corpora(talk(tmp_path)))
    assert sorted(mixed) == [f"what {n}?" for n in range(5)]
