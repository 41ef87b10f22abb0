"""Sets are read as they are laid down, and what is wrong with them is said by file, line and field."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.data import DataError, read_corpora
from tests.bench.made import compress, lay, memory, question


def test_one_set_and_a_folder_of_sets_read_the_same(tmp_path: Path) -> None:
    lay(tmp_path / "talk", memories=[memory("m")], queries=[question("q", ["m"])])
    lay(tmp_path / "not_a_set", experiences=[{"id": "e"}], queries=[{"id": "q"}])
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    assert read_corpora(tmp_path) == read_corpora(tmp_path / "talk")
    assert [corpus.key for corpus in read_corpora(tmp_path)] == ["talk"]


def test_gzipped_files_read_like_plain_ones(tmp_path: Path) -> None:
    talk = lay(tmp_path / "talk", memories=[memory("m", "你好")], queries=[question("q", ["m"])])
    plain = read_corpora(talk)
    compress(talk / "memories.jsonl")
    assert read_corpora(talk) == plain
    assert plain[0].items[0].text == "你好"


def test_questions_that_nothing_answers_join_the_others(tmp_path: Path) -> None:
    talk = lay(
        tmp_path / "talk", memories=[memory("m")], queries=[question("q", ["m"])], queries_abstain=[question("r", [])]
    )
    assert [asked.abstain for asked in read_corpora(talk)[0].questions["talk"]] == [False, True]


def test_the_key_of_a_crosslingual_set_names_the_language_of_the_question_first(tmp_path: Path) -> None:
    phone = lay(
        tmp_path / "phone",
        memories_zh=[memory("mz", scope="z")],
        memories_en=[memory("me", scope="e")],
        queries_zh=[question("q", ["mz"], scope="z", language="zh")],
        queries_crosslingual=[
            question("r", ["mz"], scope="z", language="en", memory_language="zh"),
            question("t", ["me"], scope="e", language="zh", memory_language="en"),
        ],
    )
    keys = {corpus.key: list(corpus.questions) for corpus in read_corpora(phone)}
    assert keys == {"phone_zh": ["phone_crosslingual_en_zh", "phone_zh"], "phone_en": ["phone_crosslingual_zh_en"]}


def test_sets_are_picked_by_folder_or_by_key(tmp_path: Path) -> None:
    lay(tmp_path / "talk", memories=[memory("m")], queries=[question("q", ["m"])])
    files = {f"memories_{tongue}": [memory(tongue, scope=tongue)] for tongue in ("zh", "en")}
    asked = {f"queries_{tongue}": [question(tongue, [tongue], scope=tongue)] for tongue in ("zh", "en")}
    lay(tmp_path / "phone", **files, **asked)
    assert [corpus.key for corpus in read_corpora(tmp_path, ["phone"])] == ["phone_en", "phone_zh"]
    assert [corpus.key for corpus in read_corpora(tmp_path, ["phone_zh", "talk"])] == ["phone_zh", "talk"]
    with pytest.raises(DataError, match=r"sets: 'phone_fr' is not in .*; allowed: phone, phone_en, phone_zh, talk"):
        read_corpora(tmp_path, ["phone_fr"])


def test_a_question_asked_midway_knows_what_it_may_see(tmp_path: Path) -> None:
    asked = question("q", ["m"], asked_at="2025-01-02T00:00:00+00:00", exclude_sessions=["x"], gold_sessions=["y"])
    talk = lay(tmp_path / "talk", memories=[memory("m")], queries=[asked])
    read = read_corpora(talk)[0].questions["talk"][0]
    assert (read.midway, read.asked_at) == (True, datetime(2025, 1, 2, tzinfo=UTC))
    assert (read.exclude_sessions, read.gold_sessions) == (("x",), frozenset({"y"}))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"memories": [memory("m", " ")]}, r"talk/memories.jsonl line 1: text: ' ' is not accepted; allowed: a string"),
        ({"memories": [memory("m"), memory("m")]}, r"memories.jsonl: id: 'm' stands there twice"),
        (
            {"memories": [memory("m", occurred_at="2025-01-01")]},
            r"occurred_at: '2025-01-01' .* ISO 8601 with an offset",
        ),
        ({"memories": [memory("m", occurred_at="soon")]}, r"occurred_at: 'soon' is not accepted"),
        ({"memories": [memory("m", speaker=3)]}, r"speaker: 3 is not accepted"),
        ({"queries": [question("q", ["other"])]}, r"gold: \['other'\] .* ids of memories in the same scope"),
        ({"queries": [question("q", ["m"], scope="t")]}, r"scope: 't' .* a scope of the memories in this set"),
        ({"queries": [question("q", [])]}, r"queries.jsonl line 1: gold: \[\] is not accepted"),
        ({"queries": [question("q", ["m"]) | {"gold": "m"}]}, r"gold: 'm' is not accepted; allowed: a list of strings"),
        ({"queries_abstain": [question("q", ["m"])]}, r"queries_abstain.jsonl line 1: gold"),
        ({"queries": [question("q", ["m"], exclude_sessions=[])]}, r"asked_at: None is not accepted; allowed: a time"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, files: dict[str, list[dict[str, object]]], message: str) -> None:
    talk = lay(tmp_path / "talk", **({"memories": [memory("m")], "queries": [question("q", ["m"])]} | files))
    with pytest.raises(DataError, match=message):
        read_corpora(talk)


@pytest.mark.parametrize(("line", "message"), [("{", "line 2: not JSON"), ("[1]", r"line 2: \[1\] is not accepted")])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str, message: str) -> None:
    talk = lay(tmp_path / "talk", memories=[memory("m")], queries=[question("q", ["m"])])
    with (talk / "memories.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match=message):
        read_corpora(talk)


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a folder"):
        read_corpora(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"holds no memories\*.jsonl"):
        read_corpora(tmp_path)
    with pytest.raises(DataError, match=r"but no queries\*.jsonl"):
        read_corpora(lay(tmp_path / "talk", memories=[memory("m")]))


def test_a_file_that_only_says_it_is_gzipped_is_named(tmp_path: Path) -> None:
    talk = lay(tmp_path / "talk", queries=[question("q", ["m"])])
    (talk / "memories.jsonl.gz").write_bytes(b"plain")
    with pytest.raises(DataError, match=r"talk/memories.jsonl.gz: can't be read"):
        read_corpora(talk)
