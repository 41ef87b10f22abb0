"""The bench of experiences: its sets, its arithmetic, and one whole run over a small set."""

import json
from pathlib import Path

import pytest

from bench import experience
from bench.data import DataError
from bench.experience import Answered, auc, bm25, curve, quality
from bench.growth import HOT, SPACE, Tier, fill, growth, hot
from bench.situations import Kept, Library, Situation, lessons, read_libraries
from hindsight.app import open_engine
from hindsight.config import load
from hindsight.observe.trace import Trace
from hindsight.search.request import parse_query
from hindsight.search.understand import understand
from hindsight.storage.sqlite.store import SqliteStore
from tests.bench.made import lay


def kept(trigger: str, group: str, **more: object) -> dict[str, object]:
    return {"id": group, "trigger": trigger, "steps": ["x"], "tools": [], "outcome": "success", "group": group} | more


def asked(situation: str, group: str | None, **more: object) -> dict[str, object]:
    return {"id": situation, "situation": situation, "group": group, "lookalike_groups": []} | more


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay(
        tmp_path / "small",
        experiences=[kept("把 PDF 转成 Markdown", "pdf"), kept("reset the router", "router", outcome="failure")],
        queries=[
            asked("把 PDF 转成 Markdown", "pdf", lookalike_groups=["router"]),
            asked("reset the router", "router"),
        ],
        queries_null=[asked("bake a cake", None)],
    )


def test_a_run_measures_every_set_its_baselines_and_its_curve(folder: Path, tmp_path: Path) -> None:
    made = tmp_path / "rows.json"
    assert experience.main(["--data", str(folder.parent), "--sets", "small", "--json", str(made)]) == 0
    rows = json.loads(made.read_text(encoding="utf-8"))
    assert rows["small"] | {"search_ms": 0} == {
        "situations": 3, "top1": 1.0, "top1_or_partial": 1.0, "lookalike_first": 0.0, "null_auc": 1.0,
        "null_confident": 0.0, "right_kept": 1.0, "failure_as_advice": 0.0, "success_warned": 0.0, "search_ms": 0,
    }  # fmt: skip
    assert rows["small/bm25"]["top1"] == rows["small/vector"]["top1"] == 1.0
    assert rows["curve/small/0.10"]["right_kept"] == 1.0


def test_lessons_are_the_same_every_time_and_hold_both_outcomes_in_both_languages() -> None:
    made = lessons()
    assert made == lessons()
    for language in ("en", "zh"):
        groups = [one for one in made.kept if one.group.startswith(language)]
        assert {one.failed for one in groups} == {True, False}
    assert any(one.group is None for one in made.asked)


def test_partial_groups_count_apart_from_right_and_wrong() -> None:
    situation = Situation("s", "a", frozenset({"b"}), frozenset({"c"}))
    row = quality([Answered(situation, group, 0.5) for group in ("a", "b", "c", None)])
    assert (row["top1"], row["top1_or_partial"], row["lookalike_first"]) == (0.25, 0.5, 0.25)


@pytest.mark.parametrize(
    ("known", "null", "area"),
    [([0.9, 0.8], [0.1], 1.0), ([0.1], [0.9], 0.0), ([0.5], [0.5], 0.5), ([1, 0], [0.5], 0.5)],
)
def test_the_area_is_the_chance_that_the_right_one_is_higher(
    known: list[float], null: list[float], area: float
) -> None:
    assert auc(known, null) == area


def test_a_curve_needs_both_kinds_of_situation() -> None:
    known, null = Answered(Situation("s", "a"), "a", 0.6), Answered(Situation("s", None), "a", 0.3)
    assert curve("k", [known]) == curve("k", [null]) == {}
    assert curve("k", [known, null])["curve/k/0.50"] == {"right_kept": 1.0, "null_confident": 0.0}


def test_plain_bm25_knows_words_and_pairs_of_chinese_characters() -> None:
    library = Library(
        "k",
        (Kept("reset the router", ("x",), (), "a"), Kept("重启路由器", ("x",), (), "b")),
        (Situation("the router again", "a"), Situation("路由器坏了", "b")),
    )
    first, second = bm25(library)
    assert first[0] > first[1] == 0
    assert second[1] > second[0] == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"experiences": [kept("t", "g")]}, "no queries"),
        ({"experiences": [kept("", "g")], "queries": []}, "trigger"),
        ({"experiences": [kept("t", "g")], "queries": [asked("s", "h")]}, "group"),
        ({"queries": []}, "no experiences"),
    ],
)
def test_a_wrong_set_is_refused_by_name(tmp_path: Path, files: dict[str, list[dict[str, object]]], said: str) -> None:
    lay(tmp_path / "bad", **files)
    with pytest.raises(DataError, match=said):
        read_libraries(tmp_path / "bad")


def test_an_unknown_set_is_refused_with_those_there_are(folder: Path) -> None:
    with pytest.raises(DataError, match="small"):
        read_libraries(folder.parent, ["smal"])


async def test_a_hot_tier_changes_nothing_in_the_answers(tmp_path: Path) -> None:
    engine = await open_engine(load(data_dir=tmp_path, embedding_model="none", answer_cache=False))
    try:
        await fill(engine, 300)
        tier = Tier(await hot(engine.parts.store))
        assert 0 < len(tier.held) < 300
        assert all(one.confidence > HOT / 100 for one in tier.held.values())
        searcher, trace = engine.parts.searcher, Trace("trace", SPACE, "search")
        for situation in lessons().asked[::10]:
            query = parse_query(situation.text, now=engine.now(), timezone="UTC", filters={"types": ["experience"]})
            # Not `search`: it counts uses, which move the next answer.
            plain = await searcher.find(SPACE, understand(query), trace)
            with tier.before(SqliteStore):
                served = await searcher.find(SPACE, understand(query), trace)
            assert plain.hits
            assert (served.hits, served.block) == (plain.hits, plain.block)
        assert tier.found
    finally:
        await engine.aclose()


def test_growth_measures_a_search_with_and_without_the_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    row = growth(50)
    assert set(row) == {"search_ms", "hot_ms", "hot_share", "hot_mb"}
    assert 0 < row["hot_share"] < 1
    assert set(growth(0)) == {"search_ms"}
