"""A run from files to figures, on a set small enough to know what is right."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench import recall
from bench.data import Question, read_corpora
from bench.recall import Answered, Options
from tests.bench.made import Record, lay, memory, question

PLACES = ("Lisbon", "Kyoto", "Oslo", "Quito", "Dakar", "Perth", "Turin", "Hanoi", "Cusco", "Malmo")
OPEN = Question("q", "s", "which?", "plain", "en", frozenset({"a", "b"}))


def answered(question: Question, *ranked: str, sessions: tuple[str, ...] = (), confident: bool = False) -> Answered:
    return Answered(question, ranked, sessions, confident, tokens=10, milliseconds=5.0)


def test_categories_have_rows_of_their_own_under_the_whole() -> None:
    other = replace(OPEN, id="r", category="Multi hop", gold=frozenset({"c"}))
    rows = recall.score("talk", [answered(OPEN, "a", "x"), answered(other, "x", "c")], {})
    assert list(rows) == ["talk", "talk/plain", "talk/multi-hop"]
    assert rows["talk"]["recall@5"] == 0.75
    assert rows["talk/plain"]["recall@5"] == 0.5
    assert rows["talk/multi-hop"]["mrr"] == 0.5
    assert [row["queries"] for row in rows.values()] == [2, 1, 1]


def test_questions_nothing_answers_count_only_for_confidence() -> None:
    nothing = replace(OPEN, gold=frozenset())
    row = recall.quality([answered(OPEN, "a", "b", confident=True), answered(nothing, "a", confident=True)], {})
    assert (row["abstain_confident"], row["answerable_kept"], row["recall@5"]) == (1, 1, 1)
    row = recall.quality([answered(nothing, "a")], {})
    assert row["abstain_confident"] == 0
    assert "recall@5" not in row
    assert "answerable_kept" not in row


def test_sessions_are_found_by_any_of_their_turns_in_the_first_ten_ranks() -> None:
    asked = replace(OPEN, gold_sessions=frozenset({"one", "two"}))
    ranks = tuple(str(number) for number in range(12))
    sessions = ("one", *("other",) * 9, "two", "two")
    assert recall.quality([answered(asked, *ranks, sessions=sessions)], {})["session_recall@10"] == 0.5


def test_an_item_kept_under_the_episode_of_an_equal_one_is_right_there() -> None:
    asked = replace(OPEN, gold=frozenset({"twin"}))
    assert recall.quality([answered(asked, "a")], {"twin": "a", "a": "a"})["recall@5"] == 1


@pytest.mark.usefixtures("quick")
def test_the_sources_of_a_hit_take_one_rank_each_in_their_order(tmp_path: Path) -> None:
    said = ("I live in Oslo.", "I live in Oslo!", "I live in Oslo", "I keep a parrot called Pip.")
    memories = [
        memory(f"m{number}", text, speaker="User", occurred_at=f"2025-01-0{number + 1}T08:00:00+00:00")
        for number, text in enumerate(said)
    ]
    files = {"memories": memories, "queries": [question("q", ["m3"], "Do I live in Oslo with a parrot?")]}
    (corpus,) = read_corpora(lay(tmp_path / "home", **files))
    with recall.opened(tmp_path / "kept", Options()) as view:
        wrote = recall.write_all(view, corpus)
        (asked,) = corpus.questions["home"]
        result = recall.ask(view, asked)
        (answered,) = recall.ask_all(view, corpus, wrote, [asked], "home")
    sources = [[wrote.item_of[source.episode_id] for source in hit.sources] for hit in result.hits]
    assert ["m0", "m1", "m2"] in sources  # one memory of three turns
    assert list(answered.ranked) == [name for names in sources for name in names]
    assert len(answered.ranked) == len(answered.sessions) == 4
    place = sources.index(["m0", "m1", "m2"])
    row = recall.quality([replace(answered, question=replace(asked, gold=frozenset({"m2"})))], {})
    assert row["mrr"] == pytest.approx(1 / (3 + sum(map(len, sources[:place]))))


@pytest.mark.usefixtures("quick")
def test_a_block_of_fewer_hits_has_its_own_length_beside_its_recall(tmp_path: Path) -> None:
    files = trips() | {"queries": [question("q", ["Ann/Oslo"], "Who travelled by train?", scope="Ann")]}
    (corpus,) = read_corpora(lay(tmp_path / "trips", **files))
    row = recall.measure_corpus(corpus, Options())["trips/plain"]
    assert 0 < row["tokens@5"] < row["tokens@10"] == row["tokens_per_block"]


def test_a_limit_spreads_over_the_file() -> None:
    asked = [replace(OPEN, id=str(number)) for number in range(10)]
    assert [one.id for one in recall.spread(asked, 3)] == ["0", "3", "6"]
    assert recall.spread(asked, 0) == recall.spread(asked, 99) == asked


def trips() -> dict[str, list[Record]]:
    """Two people with ten trips each; the second also in the words of the first, behind the wall of the scope."""
    memories = [
        memory(f"{who}/{place}", f"{who} travelled to {place} by train", scope=who, session_id=place,
               occurred_at=f"2025-01-{number + 1:02}T08:00:00+00:00", speaker="User")
        for who in ("Ann", "Bo")
        for number, place in enumerate(PLACES)
    ]  # fmt: skip
    asked = [question(f"q/{place}", [f"Ann/{place}"], f"Who went to {place}?", scope="Ann") for place in PLACES]
    return {
        "memories": memories,
        "queries": asked,
        "queries_abstain": [question("q/none", [], "zyxgloop?", scope="Ann", category="none")],
    }


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the encoder: keywords are enough here."""
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")


@pytest.mark.usefixtures("quick")
def test_a_run_finds_what_it_wrote_behind_the_wall_of_its_scope(tmp_path: Path) -> None:
    (corpus,) = read_corpora(lay(tmp_path / "trips", **trips()))
    rows = recall.measure_corpus(corpus, Options())
    row = rows["trips"]
    assert (row["queries"], row["recall@5"], row["mrr"]) == (11, 1, 1)
    assert rows["trips/none"]["abstain_confident"] == 0
    for metric in ("search_p50_ms", "search_p95_ms", "write_per_s", "tokens_per_block", "disk_mb"):
        assert row[metric] > 0


@pytest.mark.usefixtures("quick")
def test_a_question_from_the_middle_sees_only_what_is_earlier_and_not_its_own_session(tmp_path: Path) -> None:
    files = trips()
    asked: Record = {"asked_at": "2025-01-03T08:00:00+00:00", "exclude_sessions": ["Lisbon"]}
    files["queries"] = [
        question(place, [f"Ann/{place}"], f"Who went to {place}?", scope="Ann", gold_sessions=[place], **asked)
        for place in PLACES[:3]  # the first is excluded, the third happens as it is asked
    ]
    (corpus,) = read_corpora(lay(tmp_path / "trips", **files))
    row = recall.measure_corpus(corpus, Options())["trips"]
    assert row["recall@20"] == pytest.approx(1 / 3, abs=1e-5)
    assert row["session_recall@10"] == pytest.approx(1 / 3, abs=1e-5)


@pytest.mark.usefixtures("quick")
def test_the_command_prints_a_table_and_writes_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path / "trips", **trips())
    target = tmp_path / "rows.json"
    assert recall.main(["--data", str(tmp_path), "--limit", "3", "--without", "vector", "--json", str(target)]) == 0
    assert '"trips/plain"' in target.read_text(encoding="utf-8")
    assert capsys.readouterr().out.startswith("set")
    assert recall.main(["--data", str(tmp_path), "--sets", "nothing"]) == 2
    assert "sets: 'nothing' is not in" in capsys.readouterr().err
