"""What a `Store` owes to an import, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight.domain.change import Act, Batch, Revision
from hindsight.domain.episode import EpisodeState
from hindsight.domain.kept import Kept, KeptEpisode, KeptMemory, KeptSession
from hindsight.domain.memory import Memory, Source, Status
from hindsight.domain.page import Use
from hindsight.domain.query import Filters
from hindsight.domain.session import Session, Variable
from hindsight.errors import Conflict, InvalidInput
from hindsight.ports import Store
from hindsight.testing.made import NOON, SPACE, a_batch, a_memory, an_embedding, an_episode, an_experience, new
from hindsight.testing.store_opening import OpensStores

HOUR = timedelta(hours=1)


def of_an_export(key: str = "import", **fields: object) -> Batch:
    """A batch that takes over part of an export, an hour past noon."""
    return replace(a_batch(key, kept=replace(Kept(), **fields)), at=NOON + HOUR)  # type: ignore[arg-type]  # by name


def kept_episode(name: str, position: int = 0, **fields: object) -> KeptEpisode:
    """An open episode of the session `s`."""
    episode = an_episode(name, session_id="s", position=position)
    return replace(KeptEpisode(episode, EpisodeState.OPEN, NOON), **fields)  # type: ignore[arg-type]  # by name


def with_past(memory: Memory, **fields: object) -> KeptMemory:
    """A memory in its second version, with both states."""
    first = replace(memory, content=f"{memory.content}, at first", version=1)
    last = replace(memory, version=2)
    past = (
        Revision(7, NOON, Act.ADDED, first),
        Revision(9, NOON + HOUR / 2, Act.UPDATED, last, "said so", ("x",), "a"),
    )
    return replace(KeptMemory(last, past), **fields)  # type: ignore[arg-type]  # by name


class KeepingContract(OpensStores):
    """Entries with their past, in one step of the change log."""

    async def test_what_an_export_held_is_taken_over_as_it_was(self, store: Store) -> None:
        memory = a_memory(sources=(Source("e1", 0, 2),), tags=("t",), entities=("咪咪",), version=2)
        kept = with_past(memory, use=Use(3, NOON.timestamp()))
        episodes = (
            kept_episode("e0"),
            kept_episode("e1", 1, state=EpisodeState.CLOSED, since=NOON - HOUR, use=Use(2, NOON.timestamp())),
        )
        await store.apply(of_an_export(episodes=episodes, memories=(kept,)))
        assert await store.memories(SPACE, ["m1"]) == {"m1": memory}
        assert await store.history(SPACE, "m1") == [replace(one, change=1) for one in kept.revisions]
        assert list(await store.session(SPACE, "s")) == [one.episode for one in episodes]
        entry = (await store.entries(SPACE, ["e1"]))["e1"]
        assert (entry.status, entry.valid_to) == (Status.SUPERSEDED, NOON - HOUR)
        assert await store.uses(SPACE, ["m1", "e1"]) == {"m1": kept.use, "e1": episodes[1].use}
        assert [step.entry_ids for step in await store.touched(SPACE, after=0, limit=9)] == [("e0", "e1", "m1")]
        found = await store.find(SPACE, Filters(tags=("t",), entities=("咪咪",)))
        assert [one.id for one in found.items] == ["m1"]
        assert await store.memories_of(SPACE, ["e1"]) == {"e1": ["m1"]}
        assert await store.sessions(SPACE, limit=9) == []

    async def test_what_was_taken_over_goes_on_as_any_other(self, store: Store) -> None:
        memory = a_memory(version=2)
        vectors = (an_embedding("m1"), an_embedding("e0"))
        batch = of_an_export(episodes=(kept_episode("e0"),), memories=(with_past(memory),))
        await store.apply(replace(batch, embeddings=vectors))
        assert (await store.apply(batch)).repeated
        await store.apply(a_batch("on", episodes=(an_episode("e9", session_id="s"),)))
        assert [one.position for one in await store.session(SPACE, "s")] == [0, 1]
        update = replace(new(replace(memory, version=3, pinned=True), Act.PINNED), expected_version=2)
        await store.apply(a_batch("pin", puts=(update,)))
        assert [one.memory.version for one in await store.history(SPACE, "m1")] == [1, 2, 3]
        assert len(await store.vectors(SPACE, ["m1", "e0"], model=vectors[0].model)) == 2

    async def test_an_experience_is_taken_over_with_its_record(self, store: Store) -> None:
        memory = a_memory(body=an_experience(), status=Status.ARCHIVED, version=2)
        await store.apply(of_an_export(memories=(with_past(memory),)))
        assert (await store.memories(SPACE, ["m1"]))["m1"] == memory

    async def test_a_position_that_is_taken_moves_to_the_end(self, store: Store) -> None:
        await store.apply(a_batch("b", episodes=tuple(an_episode(f"e{n}", session_id="s") for n in range(2))))
        await store.apply(of_an_export(episodes=(kept_episode("x", 1), kept_episode("y", 5), kept_episode("z", 5))))
        found = [(one.id, one.position) for one in await store.session(SPACE, "s")]
        assert found == [("e0", 0), ("e1", 1), ("x", 2), ("y", 5), ("z", 6)]

    async def test_what_is_there_already_is_a_conflict_and_nothing_of_the_part_is_kept(self, store: Store) -> None:
        await store.apply(a_batch("b", episodes=(an_episode("e1"),), puts=(new(a_memory("m1")),)))
        same_key = kept_episode("other", episode=an_episode("other", key="key of e1"))
        twin = with_past(a_memory("m2", content_key="content of m1"))
        adrift = with_past(a_memory("m3", sources=(Source("nowhere", 0, 1),)))
        for number, part in enumerate(
            (
                of_an_export(episodes=(kept_episode("e5"), kept_episode("e1"))),
                of_an_export(episodes=(kept_episode("e5"), same_key)),
                of_an_export(memories=(with_past(a_memory("m5")), with_past(a_memory("m1")))),
                of_an_export(memories=(with_past(a_memory("m5")), twin)),
                of_an_export(memories=(with_past(a_memory("m5")), adrift)),
            )
        ):
            with pytest.raises(Conflict):
                await store.apply(replace(part, key=f"part {number}"))
        assert await store.head(SPACE) == 1
        assert not await store.memories(SPACE, ["m2", "m3", "m5"])
        assert not await store.episodes(SPACE, ["e5", "other"])

    async def test_an_ended_memory_may_say_what_an_active_one_says(self, store: Store) -> None:
        await store.apply(a_batch("b", puts=(new(a_memory("m1")),)))
        past = with_past(a_memory("m2", content_key="content of m1", status=Status.SUPERSEDED))
        await store.apply(of_an_export(memories=(past,)))
        assert set(await store.memories(SPACE, ["m1", "m2"])) == {"m1", "m2"}

    async def test_sessions_come_with_their_variables_unless_they_are_known(self, store: Store) -> None:
        await store.set_working(SPACE, "known", {"a": 1}, at=NOON, expires_at=None)
        value = Variable({"步骤": [1, None]}, NOON, NOON + HOUR)
        ended = KeptSession(Session("old", NOON - HOUR, NOON))
        running = KeptSession(Session("new", NOON), (("plan", value),))
        known = KeptSession(Session("known", NOON - HOUR, NOON), (("a", value),))
        await store.apply(of_an_export(sessions=(ended, running, known)))
        assert {one.id: one for one in await store.sessions(SPACE, limit=9)} == {
            "old": ended.session,
            "new": running.session,
            "known": Session("known", NOON),
        }
        working = await store.working(SPACE, "new", now=NOON, turns=0)
        assert working is not None
        assert dict(working.variables) == {"plan": value}
        working = await store.working(SPACE, "known", now=NOON, turns=0)
        assert working is not None
        assert [one.value for one in working.variables.values()] == [1]

    async def test_a_part_of_another_namespace_or_with_what_no_store_can_hold_is_refused(self, store: Store) -> None:
        foreign = an_episode("e1", namespace="other", position=0)
        stranger = with_past(a_memory("m1"))
        past = tuple(replace(one, memory=replace(one.memory, namespace="other")) for one in stranger.revisions)
        for part, field in (
            (of_an_export(episodes=(kept_episode("e", episode=foreign),)), r"episodes\[0\].episode.namespace"),
            (of_an_export(memories=(replace(stranger, revisions=past),)), r"revisions\[0\].memory.namespace"),
            (of_an_export(memories=(with_past(a_memory(content="a\0b")),)), "content"),
            (of_an_export(episodes=(kept_episode("e", since=NOON.replace(tzinfo=None)),)), "since"),
        ):
            with pytest.raises(InvalidInput, match=field):
                await store.apply(part)
        assert await store.head(SPACE) == 0
