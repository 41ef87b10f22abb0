"""A profile in one call: what holds now, of whom it was asked, with how many turns say it."""

from __future__ import annotations

import pytest

from hindsight.domain.memory import Kind, Statement
from hindsight.domain.profile import Profile
from hindsight.errors import InvalidInput
from hindsight.language.markers import without_own_output
from hindsight.upkeep.profile import MOST_LISTED, TOKENS, Profiler
from tests.upkeep.house import Home
from tests.write.house import SPACE


async def profile(home: Home, subject: str | None = None) -> Profile:
    return await Profiler(home.store, home.clock).profile(SPACE, subject)


def said(some: Profile, section: str) -> list[str]:
    return [one.memory.content for one in some.section(section)]


async def test_what_a_user_said_stands_in_its_section_and_what_has_changed_does_not() -> None:
    home = Home()
    await home.say("我住在北京", "我对花生过敏", "我喜欢喝咖啡", session_id="s1")
    await home.say("我搬到了上海", session_id="s2")

    known = await profile(home)

    assert known.subject == "user"
    assert said(known, "constraints") == ["用户对花生过敏"]
    assert any("上海" in one for one in said(known, "facts"))
    assert not any("北京" in one for one in said(known, "facts"))
    assert said(known, "preferences") == ["用户喜欢喝咖啡"]
    assert "花生过敏" in known.context
    assert without_own_output(known.context).strip() == ""


async def test_each_observation_says_how_many_turns_and_sessions_bear_it_out() -> None:
    home = Home()
    for session in ("s1", "s2", "s2"):
        await home.say("我对花生过敏", session_id=session)
        home.clock.passes(minutes=5)

    (allergy,) = (await profile(home)).constraints

    assert (allergy.proofs, allergy.sessions) == (3, 2)
    assert "提到 3 次" in (await profile(home)).context


async def test_a_profile_of_somebody_else_has_what_is_said_of_them() -> None:
    home = Home()
    await home.keeps("Alice works at Acme", body=Statement("alice", "job", "Acme"))
    await home.keeps("Alice and Bob met in Rome", kind=Kind.RELATION, entities=("Alice", "Bob"))
    await home.keeps("Bob is a baker", body=Statement("bob", "job", "baker"))
    await home.keeps("The user lives in Porto", body=Statement("user", "residence", "Porto"))

    alice = await profile(home, "ALICE")

    assert said(alice, "facts") == ["Alice works at Acme"]
    assert said(alice, "relations") == ["Alice and Bob met in Rome"]
    assert said(await profile(home, "用户"), "facts") == ["The user lives in Porto"]
    assert said(await profile(home, "nobody"), "facts") == []
    assert "No memory fits" in (await profile(home, "nobody")).context


async def test_what_is_over_is_left_out_and_what_is_old_is_marked() -> None:
    home = Home()
    await home.keeps("用户在甲公司工作", body=Statement("user", "job", "甲公司"))
    await home.keeps("用户这周吃素", valid_to=home.clock.now())
    home.clock.passes(days=400)

    known = await profile(home)

    assert [(one.memory.content, one.stale) for one in known.facts] == [("用户在甲公司工作", True)]
    assert "久未确认" in known.context


async def test_a_long_profile_has_the_strongest_and_says_how_many_more_there_are() -> None:
    home = Home()
    for number in range(MOST_LISTED + 7):
        await home.keeps(f"The user owns shelf number {number}", importance=0.2 + number / 100)

    known = await profile(home)

    assert len(known.facts) == MOST_LISTED
    assert known.facts[0].memory.content == f"The user owns shelf number {MOST_LISTED + 6}"
    assert known.left_out == 7
    assert known.tokens <= TOKENS


async def test_an_empty_subject_is_refused() -> None:
    with pytest.raises(InvalidInput, match="subject"):
        await profile(Home(), " ")
