"""Fading over simulated years: half-lives, use, what never fades, and when a fact is in doubt."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.forgetting import HALF_LIVES, fades, last_verified, over, stale, strength
from hindsight.domain.memory import Kind, Layer, Memory, Statement, Status
from hindsight.domain.page import Use

START = datetime(2020, 1, 1, tzinfo=UTC)


def memory(**changes: object) -> Memory:
    plain = Memory(
        id="m" * 26, namespace="space", content="words", layer=Layer.SEMANTIC, kind=Kind.FACT, occurred_at=START,
        timezone="UTC", created_at=START, updated_at=START, content_key="key",
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]  # fields by name


def after(**span: float) -> datetime:
    return START + timedelta(**span)


@pytest.mark.parametrize("kind", [kind for kind in Kind if HALF_LIVES[kind] < inf])
def test_half_of_the_strength_is_gone_after_a_half_life(kind: Kind) -> None:
    one = memory(kind=kind, importance=0.8)

    assert strength(one, START) == pytest.approx(0.8)
    assert strength(one, after(days=HALF_LIVES[kind])) == pytest.approx(0.4)
    assert strength(one, after(days=2 * HALF_LIVES[kind])) == pytest.approx(0.2)


@pytest.mark.parametrize(
    "lasting",
    [{"kind": Kind.CONSTRAINT}, {"pinned": True}, {"importance": 0.9}],
    ids=["constraint", "pinned", "health"],
)
def test_constraints_what_is_pinned_and_health_do_not_fade_in_fifty_years(lasting: dict[str, object]) -> None:
    one = memory(**lasting)

    assert not fades(one)
    assert strength(one, after(days=50 * 365)) == pytest.approx(one.importance)


def test_forgetting_by_a_factor_takes_its_share_also_of_what_does_not_fade() -> None:
    assert strength(memory(importance=0.8, strength=0.25), START) == pytest.approx(0.2)
    assert strength(memory(importance=0.8, strength=0.25, pinned=True), START) == pytest.approx(0.2)


def test_use_strengthens_and_starts_the_fading_anew() -> None:
    one = memory(importance=0.4)
    year = after(days=365)

    assert strength(one, year, Use(10, year.timestamp())) == pytest.approx(0.8)
    assert strength(one, year, Use(5, START.timestamp())) == pytest.approx(0.2 * 1.5)
    assert strength(one, year, Use(1_000_000, year.timestamp())) <= 1.0


def test_other_half_lives_may_be_set() -> None:
    assert strength(memory(), after(days=10), None, {**HALF_LIVES, Kind.FACT: 10.0}) == pytest.approx(0.25)


@given(
    st.floats(0, 1), st.floats(0, 1), st.integers(0, 100_000), st.integers(0, 10_000), st.integers(0, 10_000),
    st.sampled_from(Kind),
)  # fmt: skip
def test_strength_stays_a_share_and_never_grows_with_time(
    importance: float, kept: float, first: int, second: int, uses: int, kind: Kind
) -> None:
    one = memory(importance=importance, strength=kept, kind=kind)
    use = Use(uses, START.timestamp())
    early, late = sorted((after(days=first / 10), after(days=second)))

    assert 0 <= strength(one, late, use) <= strength(one, early, use) <= 1


def test_what_was_said_long_before_it_was_written_counts_from_when_it_was_said() -> None:
    imported = memory(occurred_at=after(days=-900))

    assert last_verified(imported) == after(days=-900)
    assert stale(imported, after(days=1))
    assert last_verified(replace(imported, updated_at=after(days=5))) == after(days=5)


def test_a_fact_is_in_doubt_after_a_year_and_no_longer_once_it_is_confirmed() -> None:
    one = memory()

    assert not stale(one, after(days=365))
    assert stale(one, after(days=366))
    assert not stale(replace(one, updated_at=after(days=300)), after(days=366))
    assert not stale(one, after(days=366), 0)
    assert stale(one, after(days=31), 30)


@pytest.mark.parametrize(
    "certain",
    [
        {"pinned": True},
        {"importance": 0.95},
        {"kind": Kind.EVENT},
        {"kind": Kind.SUMMARY},
        {"layer": Layer.EPISODIC},
        {"verbatim": True},
        {"status": Status.SUPERSEDED},
        {"body": Statement("user", "birthday", "1 May")},
        {"body": Statement("user", "name", "Ann")},
    ],
    ids=str,
)
def test_what_does_not_change_is_never_in_doubt(certain: dict[str, object]) -> None:
    assert not stale(memory(**certain), after(days=10_000))


def test_what_was_bound_to_a_date_is_over_from_its_end_on_unless_it_is_pinned() -> None:
    plan = memory(kind=Kind.EVENT, valid_to=after(days=1))

    assert not over(plan, after(hours=23))
    assert over(plan, after(days=1))
    assert not over(replace(plan, pinned=True), after(days=2))
    assert not over(replace(plan, status=Status.ARCHIVED), after(days=2))
    assert not over(memory(), after(days=10_000))
