"""The scoring of pairs and of updates, apart from what is scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import pairs, updates
from bench.data import DataError
from bench.pairs import Judged, Pair, decision, score
from bench.updates import Answered, Scope, Update
from hindsight.domain.change import OutcomeAction, Receipt, WriteOutcome
from hindsight.domain.memory import Kind


def judged(label: str, made: str, language: str = "en") -> Judged:
    return Judged(Pair("p", "a", "b", language, label), made, "")


def test_shares_and_tables_follow_from_the_judgements() -> None:
    rows = score(
        {
            "set": [
                judged("same", "same"),
                judged("same", "different"),
                judged("different", "different"),
                judged("different", "same", "zh"),
                judged("different", "supersedes"),
                judged("different", "different"),
            ]
        }
    )
    assert rows["set"] == {
        "pairs": 6,
        "accuracy": 0.5,
        "false_merge": 0.25,
        "false_retirement": 0.25,
        "other": 0.16667,
    }
    assert rows["set/zh"]["accuracy"] == 0
    assert rows["confusion/set/different"] == {"same": 1, "different": 2, "supersedes": 1}


def outcome(action: OutcomeAction, memory_id: str, *others: str) -> WriteOutcome:
    return WriteOutcome(action, memory_id, "", Kind.FACT, 0.5, others)


def test_a_decision_counts_only_if_it_is_about_the_first_statement() -> None:
    first: set[str | None] = {"m1"}
    ended = outcome(OutcomeAction.SUPERSEDED, "m3", "m1")
    assert decision(first, Receipt((outcome(OutcomeAction.MERGED, "m1"), ended)))[0] == "supersedes"
    assert decision(first, Receipt((outcome(OutcomeAction.MERGED, "m1"),)))[0] == "same"
    assert decision(first, Receipt((outcome(OutcomeAction.SUPERSEDED, "m3", "m2"),)))[0] == "different"
    assert decision(first, Receipt((outcome(OutcomeAction.ADDED, "m2"),)))[0] == "different"


def test_the_further_pairs_are_many_and_of_all_sorts() -> None:
    more = pairs.read_pairs(pairs.MORE)
    assert len(more) >= 200
    assert len({one.id for one in more}) == len(more)
    for language in ("zh", "en", "mixed"):
        assert {one.decision for one in more if one.language == language} == set(pairs.DECISIONS)


def test_a_pair_with_an_unknown_label_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"id": "1", "a": "x", "b": "y", "language": "en", "decision": "perhaps"}) + "\n")
    with pytest.raises(DataError, match="decision"):
        pairs.read_pairs(path)
    with pytest.raises(DataError, match=r"pairs\.jsonl"):
        pairs.find(tmp_path / "none", pairs.FILE, "pairs")


FACTS = (
    "The capital of Aria is Bel.",
    "Ann is a citizen of Aria.",
    "The capital of Aria is Cor.",
    "Bob is a citizen of Bel.",
)
ASKED = Update("q", "What is the capital of Aria?", ("Cor",), ("Bel",))


def test_an_outdated_value_counts_only_in_a_fact_about_the_same() -> None:
    scope = Scope("s", FACTS, (ASKED,))
    assert updates.outdated_facts(scope, ASKED) == {FACTS[0]}
    active = set(FACTS[1:])
    right, misses = updates.score(scope, [Answered(ASKED, (FACTS[2], FACTS[3]))], active)
    assert (right["current_first"], right["outdated_as_current"], right["wrongly_retired"], misses) == (1, 0, 0, [])
    wrong, _ = updates.score(scope, [Answered(ASKED, (FACTS[3], FACTS[0]))], active - {FACTS[1]})
    assert (wrong["current_first"], wrong["outdated_as_current"]) == (0, 1)
    assert wrong["wrongly_retired"] == pytest.approx(1 / 3, abs=1e-5)


def test_doubtful_rows_are_left_out(tmp_path: Path) -> None:
    fact = {"scope": "s", "order": 0, "text": FACTS[0], "occurred_at": None}
    (tmp_path / "facts_1k.jsonl").write_text(json.dumps(fact) + "\n")
    asked = {"id": "a", "scope": "s", "query": "q", "current": ["Bel"], "outdated": []}
    doubtful = {**asked, "id": "b", "doubtful": True}
    (tmp_path / "updates_1k.jsonl").write_text(json.dumps(asked) + "\n" + json.dumps(doubtful) + "\n")
    (scope,) = updates.read_scopes(tmp_path)
    assert [one.id for one in scope.updates] == ["a"]
