"""Stages are taken away one by one, and come back; the plain means beside them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench import ablation, baselines, recall
from bench.ablation import EVERYTHING, STAGES, Stage
from bench.data import Item, Question, read_corpora
from hindsight import Hindsight
from hindsight.domain import ranking
from tests.bench.made import lay, memory, question

PLACES = ("Lisbon", "Kyoto", "Oslo", "Quito")
ASKED = Question("q", "s", "Who went to Kyoto?", "plain", "en", frozenset({"Kyoto"}))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the encoder: keywords are enough here."""
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")


def written(folder: Path) -> Hindsight:
    view = ablation.opened(folder, {})
    for place in PLACES:
        view.namespace("s").write(f"Ann travelled to {place} by train.", session_id="s", speaker="Ann")
    return view


def relevances(view: Hindsight, stage: Stage) -> list[float]:
    with ablation.without(stage):
        return [hit.scores["relevance"] for hit in recall.ask(view, ASKED).hits]


@pytest.mark.usefixtures("quick")
def test_a_silent_signal_counts_nothing_and_counts_again_afterwards(tmp_path: Path) -> None:
    weights = ranking.SIGNAL_WEIGHTS
    with written(tmp_path) as view:
        before = relevances(view, Stage(EVERYTHING))
        assert max(before) > 0.1
        assert set(relevances(view, Stage("all", silent=tuple(weights)))) == {0.0}
        assert relevances(view, Stage(EVERYTHING)) == before
    assert weights is ranking.SIGNAL_WEIGHTS


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_stage_can_be_taken_away(stage: Stage, tmp_path: Path) -> None:
    with written(tmp_path):
        pass
    with ablation.opened(tmp_path, stage.settings) as view, ablation.without(stage):
        result = recall.ask(view, ASKED)
    assert result.degraded == ()
    assert bool(result.hits) == ("keyword" in stage.settings.get("routes", ("keyword",)))


@pytest.mark.usefixtures("quick")
def test_asking_counts_no_use(tmp_path: Path) -> None:
    with written(tmp_path) as view:
        relevances(view, Stage(EVERYTHING))
    with ablation.opened(tmp_path, {}) as view:
        result = recall.ask(view, ASKED)
        assert {hit.scores["use"] for hit in result.hits} == {0.0}


@pytest.mark.usefixtures("quick")
def test_a_run_has_a_row_for_every_stage_and_plain_mean_of_every_set(tmp_path: Path) -> None:
    memories = [memory(place, f"Ann travelled to {place} by train") for place in PLACES]
    asked = [question(f"q/{place}", [place], f"Who went to {place}?") for place in PLACES]
    (corpus,) = read_corpora(lay(tmp_path / "trips", memories=memories, queries=asked))
    stages = (Stage(EVERYTHING), Stage("words", {"routes": ("time",)}))
    rows = ablation.measure_corpus(corpus, 3, stages)
    assert list(rows) == ["trips/everything", "trips/words", "trips/bm25", "trips/vector"]
    whole = rows["trips/everything"]
    assert (whole["queries"], whole["recall@10"], whole["in_block"], rows["trips/words"]["recall@10"]) == (3, 1, 1, 0)
    assert whole["tokens_per_block"] > rows["trips/words"]["tokens_per_block"] > 0
    assert rows["trips/bm25"]["recall@10"] == rows["trips/vector"]["recall@10"] == 1


def test_each_set_is_read_by_the_measure_its_gold_is_made_for() -> None:
    keys = ("locomo", "lifebench_zh", "lifebench_crosslingual_zh_en", "realmem")
    assert [*map(ablation.measure_of, keys)] == ["recall@10", "recall@10", "hit@10", "session_recall@10"]


def turns(*texts: str) -> list[Item]:
    return [Item(str(number), "s", text) for number, text in enumerate(texts)]


@pytest.mark.parametrize("ranks", [baselines.by_bm25, baselines.by_vector])
def test_a_plain_mean_ranks_the_turns_of_one_scope(ranks: object) -> None:
    items = [*turns("It rained all day.", "我养了一只猫叫咪咪。"), Item("other", "wall", "我养了一只猫叫咪咪。")]
    asked = replace(ASKED, query="猫叫什么名字？")
    (ranked,) = ranked_by(ranks, items, [asked])
    assert ranked == ["1", "0"]


def test_the_speaker_is_part_of_a_turn_for_plain_words() -> None:
    items = [*turns("It rained."), replace(Item("1", "s", "It rained."), speaker="Bo")]
    assert baselines.by_bm25(items, [replace(ASKED, query="What did Bo say?")]) == [["1", "0"]]


def test_a_question_from_the_middle_sees_only_what_is_earlier_and_not_its_own_session() -> None:
    day = datetime(2025, 1, 3, tzinfo=UTC)
    items = [
        Item("before", "s", "to Kyoto", "one", day.replace(day=1)),
        Item("own", "s", "to Kyoto", "two", day.replace(day=2)),
        Item("then", "s", "to Kyoto", "three", day),
    ]
    asked = replace(ASKED, asked_at=day, midway=True, exclude_sessions=("two",))
    assert baselines.by_bm25(items, [asked]) == [["before"]]


def ranked_by(ranks: object, items: Sequence[Item], asked: Sequence[Question]) -> list[list[str]]:
    assert callable(ranks)
    found: list[list[str]] = ranks(items, asked)
    return found


def test_the_command_refuses_what_it_can_not_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ablation.main(["--data", str(tmp_path / "nowhere")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        ablation.main(["--data", str(tmp_path), "--limit", "-1"])
