"""Keys reach what they are made for and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.access import ApiKey, Caller, Grant, Role, digest_of, parts_of, token_of
from hindsight.errors import Forbidden

NOON = datetime(2024, 1, 15, 12, tzinfo=UTC)
SECRET = "s" * 43
TEAM = ApiKey(
    "abcd2345", "laptop", digest_of(SECRET), (Grant("team", Role.READ), Grant("me", Role.WRITE)), NOON
)  # reads a team's, writes its own


def test_one_key_reads_a_teams_namespace_and_writes_its_own() -> None:
    caller = Caller(TEAM)
    caller.check("team", Role.READ)
    caller.check("me", Role.WRITE)
    with pytest.raises(Forbidden, match="needs write"):
        caller.check("team", Role.WRITE)
    with pytest.raises(Forbidden, match="does not reach"):
        caller.check("other", Role.READ)


def test_a_call_that_names_no_namespace_is_about_the_one_that_is_written() -> None:
    assert Caller(TEAM).within(None, "default") == "me"
    assert Caller(TEAM).within("team", "default") == "team"
    assert Caller(replace(TEAM, grants=(Grant("team", Role.READ),))).within(None, "default") == "team"
    assert Caller(replace(TEAM, grants=(Grant("*", Role.ADMIN),))).within(None, "default") == "default"
    assert Caller().within(None, "default") == "default"


def test_only_a_key_for_every_namespace_is_for_the_server() -> None:
    Caller(replace(TEAM, grants=(Grant("*", Role.ADMIN),))).check_everywhere(Role.ADMIN)
    Caller().check_everywhere(Role.ADMIN)
    for grants in ((Grant("me", Role.ADMIN),), (Grant("*", Role.WRITE), Grant("me", Role.ADMIN))):
        with pytest.raises(Forbidden):
            Caller(replace(TEAM, grants=grants)).check_everywhere(Role.ADMIN)


def test_a_key_ends_when_it_is_over_or_revoked() -> None:
    ending = replace(TEAM, expires_at=NOON + timedelta(days=1))
    assert ending.holds(NOON)
    assert not ending.holds(NOON + timedelta(days=1))
    revoked = TEAM.revoked(NOON)
    assert not revoked.holds(NOON)
    assert revoked.revoked(NOON + timedelta(days=1)) == revoked


def test_a_secret_is_kept_as_its_digest_alone() -> None:
    assert SECRET not in repr(TEAM)
    assert TEAM.answers_to(SECRET)
    assert not TEAM.answers_to(SECRET[:-1] + "t")


@given(st.text(st.sampled_from("0123456789abcdefghjkmnpqrstvwxyz"), min_size=8, max_size=8), st.text())
def test_only_a_whole_token_is_read(key_id: str, noise: str) -> None:
    assert parts_of(token_of(key_id, SECRET)) == (key_id, SECRET)
    assert parts_of(noise + token_of(key_id, SECRET) + "!") is None


@given(st.sampled_from(list(Role)), st.sampled_from(list(Role)), st.sampled_from(["a", "b", "*"]))
def test_a_role_includes_those_below_it_and_no_other(held: Role, needed: Role, where: str) -> None:
    caller = Caller(replace(TEAM, grants=(Grant(where, held),)))
    allowed = where in ("a", "*") and list(Role).index(needed) <= list(Role).index(held)
    if allowed:
        caller.check("a", needed)
    else:
        with pytest.raises(Forbidden):
            caller.check("a", needed)
