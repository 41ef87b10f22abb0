"""The curve of confidence, and questions put to somebody else's records."""

from bench.abstain import BARS, CURVE, area, curve, foreign
from bench.data import Corpus, Item, Question
from hindsight.domain.ranking import FITS

ASKED = Question("q", "ann", "where?", "plain", "en", frozenset({"a"}), exclude_sessions=("s",), midway=True)


def corpus(*scopes: str) -> Corpus:
    return Corpus("talk", "talk", tuple(Item(f"{scope}/1", scope, "said") for scope in scopes), {})


def test_a_foreign_question_is_put_to_the_next_scope_and_has_no_answer_there() -> None:
    (put,) = foreign(corpus("ann", "bob"), [ASKED, Question("n", "ann", "who?", "plain", "en")])
    assert (put.scope, put.query, put.abstain, put.midway, put.exclude_sessions) == ("bob", "where?", True, False, ())


def test_one_scope_has_no_foreign_questions() -> None:
    assert foreign(corpus("ann"), [ASKED]) == []
    assert foreign(corpus("ann", "bob"), []) == []


def test_the_curve_has_a_row_for_each_bar_and_the_bar_in_force_among_them() -> None:
    rows = curve("talk", [0.3, 0.6], [0.1, 0.4], [])
    assert rows["talk"] == {"abstain_auc": 0.75}
    assert rows[f"talk/{CURVE}{FITS:.2f}"] == {"abstain_confident": 0.5, "answerable_kept": 1.0}
    assert rows[f"talk/{CURVE}0.50"] == {"abstain_confident": 0.0, "answerable_kept": 0.5}
    assert len(rows) == len(BARS) + 1


def test_equal_fits_count_for_half_of_the_area() -> None:
    assert area([0.5, 0.2], [0.5]) == 0.25
