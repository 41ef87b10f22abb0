"""What `Store.apply` owes, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.change import (
    Act,
    Batch,
    Embedding,
    JobDone,
    NewJob,
    OutcomeAction,
    Put,
    Receipt,
    Review,
    WriteOutcome,
)
from hindsight.domain.episode import EpisodeState
from hindsight.domain.memory import Kind, Source, Statement, Status
from hindsight.errors import Conflict, HindsightError, InvalidInput
from hindsight.ports import Store
from hindsight.testing.made import (
    MODEL,
    NOON,
    SPACE,
    a_batch,
    a_memory,
    a_vector,
    an_embedding,
    an_episode,
    an_experience,
    changed,
    episodes_called,
    memories_called,
    new,
)
from hindsight.testing.store_opening import OpensStores

FULL_RECEIPT = Receipt(
    outcomes=(
        WriteOutcome(OutcomeAction.MERGED, "m1", "对花生过敏", Kind.CONSTRAINT, 0.1 + 0.2, ("m2", "m3"), "same slot"),
        WriteOutcome(OutcomeAction.IGNORED, None, "", Kind.FACT, 0.5),
    ),
    episode_ids=("e1", "e2"),
    facts=2,
    verbatim=True,
    pending=True,
    degraded=("vectors",),
    undo="undo-1",
)


def rich_batch(key: str = "rich") -> Batch:
    """A batch that uses every part."""
    return a_batch(
        key,
        episodes=(an_episode("e1", session_id="s"), an_episode("e2", session_id="s"), an_episode("e3")),
        puts=(
            new(
                a_memory(
                    "m1",
                    sources=(Source("e2", 0, 4), Source("e1", 0, 2)),
                    tags=("猫",),
                    entities=("咪咪",),
                    body=Statement("user", "residence", "北京", topics=("user|reside", "北京")),
                )
            ),
            new(a_memory("m2", kind=Kind.EXPERIENCE, body=an_experience())),
        ),
        embeddings=(an_embedding("m1", 1), an_embedding("e3", 2)),
        jobs=(NewJob("j1", "reflect", {"session": "s"}, NOON),),
        receipt=FULL_RECEIPT,
        episode_states=(("e1", EpisodeState.COVERED),),
        reviews=(Review("m1", ("m2", "gone"), "both can't hold", NOON),),
    )


class WritingContract(OpensStores):
    """Round trips, all or nothing, repeats, conflicts."""

    # Round trips ----------------------------------------------------------------------------------------------------

    @given(st.lists(episodes_called("e"), max_size=1), memories_called("m"))
    async def test_every_field_of_any_value_comes_back_as_it_went_in(self, episodes: Any, memory: Any) -> None:
        async with self.fresh() as store:
            await store.apply(a_batch("b", episodes=tuple(episodes), puts=(new(memory),)))
            found = await store.episodes(SPACE, ["e"])
            assert [replace(found[episode.id], position=-1) for episode in episodes] == episodes
            assert (await store.memories(SPACE, ["m"]))["m"] == memory
            (revision,) = await store.history(SPACE, "m")
            assert revision.memory == memory

    @pytest.mark.parametrize(
        "content",
        ["", "x" * 1_000_000, "咪" * 300_000, "🐈\u200d⬛ ﷽ \u202e", "a\nb\r\n\t", "'; DROP TABLE memory; --"],
    )
    async def test_any_text_comes_back_letter_for_letter(self, store: Store, content: str) -> None:
        await store.apply(a_batch("b", episodes=(an_episode(content=content),), puts=(new(a_memory(content=content)),)))
        assert (await store.episodes(SPACE, ["e1"]))["e1"].content == content
        assert (await store.memories(SPACE, ["m1"]))["m1"].content == content

    async def test_times_keep_their_microseconds_and_the_zone_its_name(self, store: Store) -> None:
        said = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))
        far = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
        memory = a_memory(occurred_at=said, valid_to=far, valid_from=datetime(1, 1, 1, tzinfo=UTC))
        await store.apply(a_batch("b", puts=(new(replace(memory, timezone="America/St_Johns")),)))
        found = (await store.memories(SPACE, ["m1"]))["m1"]
        assert (found.occurred_at, found.valid_from, found.valid_to) == (said, memory.valid_from, far)
        assert found.timezone == "America/St_Johns"

    async def test_a_receipt_comes_back_whole(self, store: Store) -> None:
        first = await store.apply(rich_batch())
        assert (first.receipt, first.repeated) == (FULL_RECEIPT, False)
        again = await store.apply(rich_batch())
        assert (again.receipt, again.repeated, again.change) == (FULL_RECEIPT, True, first.change)

    async def test_a_vector_comes_back_at_the_same_angle(self, store: Store) -> None:
        vectors = [a_vector(seed, 512) for seed in range(20)]
        memories = [a_memory(f"m{n}") for n in range(20)]
        embeddings = tuple(Embedding(f"m{n}", MODEL, vector) for n, vector in enumerate(vectors))
        await store.apply(a_batch("b", puts=tuple(map(new, memories)), embeddings=embeddings))
        found = await store.vectors(SPACE, [memory.id for memory in memories], model=MODEL)
        kept = np.stack([found[memory.id] for memory in memories])
        assert kept.dtype == np.float32
        assert np.abs(kept @ np.stack(vectors).T - np.stack(vectors) @ np.stack(vectors).T).max() < 2e-4
        assert np.linalg.norm(kept, axis=1) == pytest.approx(np.ones(20), abs=1e-5)

    async def test_vectors_of_two_models_stand_side_by_side(self, store: Store) -> None:
        both = (an_embedding("m1", 1, "a"), an_embedding("m1", 2, "b"))
        await store.apply(a_batch("b", puts=(new(a_memory()),), embeddings=both))
        assert float((await store.vectors(SPACE, ["m1"], model="b"))["m1"] @ a_vector(2)) > 0.999
        assert float((await store.vectors(SPACE, ["m1"], model="a"))["m1"] @ a_vector(1)) > 0.999
        assert not await store.vectors(SPACE, ["m1"], model="c")

    # Refusals -------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("field", "batch"),
        [
            ("content", a_batch("b", episodes=(an_episode(content="a\0b"),))),
            ("content", a_batch("b", puts=(new(a_memory(content="a\ud800b")),))),
            ("metadata", a_batch("b", episodes=(an_episode(metadata={"a": ["\0"]}),))),
            ("metadata", a_batch("b", episodes=(an_episode(metadata={"a\0": 1}),))),
            ("metadata", a_batch("b", episodes=(an_episode(metadata={"a": float("nan")}),))),
            ("metadata", a_batch("b", episodes=(an_episode(metadata={"a": object()}),))),
            ("importance", a_batch("b", puts=(new(a_memory(importance=float("inf"))),))),
            ("occurred_at", a_batch("b", episodes=(an_episode(occurred_at=NOON.replace(tzinfo=None)),))),
            ("namespace", a_batch("b", episodes=(an_episode(namespace="another"),))),
            ("namespace", a_batch("b", puts=(new(a_memory(namespace="another")),))),
            ("version", a_batch("b", puts=(Put(a_memory(version=3), None, Act.ADDED),))),
            ("vector", a_batch("b", puts=(new(a_memory()),), embeddings=(Embedding("m1", MODEL, np.full(3, np.nan)),))),
            ("key", a_batch("")),
            ("namespace", replace(a_batch("b"), namespace="")),
        ],
    )
    async def test_what_cannot_be_kept_is_refused_by_field(self, store: Store, field: str, batch: Batch) -> None:
        with pytest.raises(InvalidInput) as refusal:
            await store.apply(batch)
        assert field in refusal.value.field
        assert await store.namespaces() == []

    # All or nothing -------------------------------------------------------------------------------------------------

    async def test_a_batch_that_conflicts_at_its_end_leaves_nothing(self, store: Store) -> None:
        batch = replace(rich_batch(), episode_states=(("nowhere", EpisodeState.CLOSED),))
        with pytest.raises(Conflict):
            await store.apply(batch)
        assert (await store.head(SPACE), await store.namespaces(), await store.jobs(SPACE)) == (0, [], [])
        assert not await store.entries(SPACE, ["e1", "m1"])
        assert (await store.apply(rich_batch())).change == 1

    async def test_a_fault_at_any_statement_leaves_nothing(self, place: Path) -> None:
        self.need("faults")
        allowed = 0

        def watch(_: str) -> None:
            nonlocal allowed
            allowed -= 1
            if allowed == 0:
                raise InvalidInput("statement", "this one", "any but this")

        store = await self.make(place, watch=watch)
        await store.apply(a_batch("before", episodes=(an_episode("e0", session_id="s"),)))
        failures = 0
        for step in range(1, 200):
            allowed = step
            try:
                await store.apply(rich_batch())
            except HindsightError:
                failures += 1
                allowed = 0
                assert await store.head(SPACE) == 1
                assert not await store.memories(SPACE, ["m1", "m2"])
                assert (await store.stats(SPACE)).episodes == 1
                assert await store.jobs(SPACE) == []
                assert await store.changeset(SPACE, "rich") is None
            else:
                break
        allowed = 0
        assert failures > 8
        assert (await store.episodes(SPACE, ["e2"]))["e2"].position == 2
        await store.aclose()

    async def test_batches_that_wait_together_stand_or_fall_alone(self, store: Store) -> None:
        batches = [a_batch(f"b{n}", puts=(new(a_memory(f"m{n}", content_key=f"k{n // 2}")),)) for n in range(60)]
        results = await asyncio.gather(*map(store.apply, batches), return_exceptions=True)
        assert sum(isinstance(result, Conflict) for result in results) == 30
        assert sorted(result.change for result in results if not isinstance(result, BaseException)) == [*range(1, 31)]
        assert (await store.stats(SPACE)).memories_by_status == {"active": 30}

    # Repeats --------------------------------------------------------------------------------------------------------

    async def test_the_same_key_twice_changes_nothing(self, store: Store) -> None:
        await store.apply(rich_batch())
        other = replace(rich_batch(), episodes=(an_episode("e9"),), puts=(), receipt=Receipt())
        answer = await store.apply(other)
        assert (answer.repeated, answer.receipt, await store.head(SPACE)) == (True, FULL_RECEIPT, 1)
        assert not await store.episodes(SPACE, ["e9"])

    async def test_the_same_key_at_once_is_applied_once(self, store: Store) -> None:
        answers = await asyncio.gather(*(store.apply(rich_batch()) for _ in range(8)))
        assert [answer.repeated for answer in answers].count(False) == 1
        assert {answer.change for answer in answers} == {1}

    async def test_the_same_key_in_another_namespace_is_another_batch(self, store: Store) -> None:
        await store.apply(a_batch("b"))
        answer = await store.apply(replace(a_batch("b"), namespace="other"))
        assert (answer.change, answer.repeated) == (1, False)

    # Conflicts ------------------------------------------------------------------------------------------------------

    async def test_a_stale_version_is_a_conflict(self, store: Store) -> None:
        memory = a_memory()
        await store.apply(a_batch("1", puts=(new(memory),)))
        await store.apply(a_batch("2", puts=(changed(memory, importance=0.9),)))
        for stale in (new(memory), changed(memory), changed(a_memory("m2"))):
            with pytest.raises(Conflict):
                await store.apply(a_batch("3", puts=(stale,)))
        assert (await store.memories(SPACE, ["m1"]))["m1"].importance == 0.9

    async def test_two_active_memories_never_share_a_content_key(self, store: Store) -> None:
        await store.apply(a_batch("1", puts=(new(a_memory("m1", content_key="same")),)))
        with pytest.raises(Conflict):
            await store.apply(a_batch("2", puts=(new(a_memory("m2", content_key="same")),)))
        await store.apply(a_batch("3", puts=(new(a_memory("m3", content_key="same", status=Status.SUPERSEDED)),)))
        elsewhere = a_memory("m4", content_key="same", namespace="other")
        await store.apply(replace(a_batch("4"), namespace="other", puts=(new(elsewhere),)))
        assert (await store.by_content_key(SPACE, ["same", "no"])).keys() == {"same"}

    async def test_content_keys_move_between_memories_of_one_batch_in_any_order(self, store: Store) -> None:
        one, two = a_memory("m1", content_key="x"), a_memory("m2", content_key="y")
        await store.apply(a_batch("1", puts=(new(one), new(two))))
        await store.apply(a_batch("2", puts=(changed(one, content_key="y"), changed(two, content_key="x"))))
        found = await store.by_content_key(SPACE, ["x", "y"])
        assert {key: memory.id for key, memory in found.items()} == {"x": "m2", "y": "m1"}

    async def test_a_memory_may_change_twice_in_one_batch(self, store: Store) -> None:
        memory = a_memory()
        first = changed(memory, content="then")
        await store.apply(a_batch("1", puts=(new(memory), first, changed(first.memory, content="now"))))
        assert [revision.memory.version for revision in await store.history(SPACE, "m1")] == [1, 2, 3]
        assert (await store.memories(SPACE, ["m1"]))["m1"].content == "now"

    async def test_an_episode_that_is_there_is_left_out_with_nothing_else(self, store: Store) -> None:
        await store.apply(a_batch("1", episodes=(an_episode("e1"),)))
        await store.apply(a_batch("2", episodes=(an_episode("e2", key="key of e1"), an_episode("e3"))))
        assert (await store.episodes(SPACE, ["e1", "e2", "e3"])).keys() == {"e1", "e3"}
        assert (await store.episodes(SPACE, ["e3"]))["e3"].position == 1
        assert await store.known_episodes(SPACE, ["key of e1", "no"]) == {"key of e1": "e1"}

    async def test_an_episode_left_out_may_not_be_referred_to(self, store: Store) -> None:
        await store.apply(a_batch("1", episodes=(an_episode("e1"),)))
        late = a_batch("2", episodes=(an_episode("e2", key="key of e1"),))
        for referring in (
            replace(late, puts=(new(a_memory(sources=(Source("e2", 0, 1),))),)),
            replace(late, embeddings=(an_embedding("e2"),)),
            replace(late, receipt=Receipt(episode_ids=("e2",))),
            replace(late, episode_states=(("e2", EpisodeState.COVERED),)),
        ):
            with pytest.raises(Conflict):
                await store.apply(referring)

    async def test_what_is_referred_to_must_be_there(self, store: Store) -> None:
        for referring in (
            a_batch("1", puts=(new(a_memory(sources=(Source("e1", 0, 1),))),)),
            a_batch("2", embeddings=(an_embedding("m1"),)),
            a_batch("3", episode_states=(("e1", EpisodeState.COVERED),)),
            a_batch("4", done=JobDone("j1", "me")),
        ):
            with pytest.raises(Conflict):
                await store.apply(referring)

    # What follows from a write --------------------------------------------------------------------------------------

    async def test_positions_count_within_a_session_and_without_one(self, store: Store) -> None:
        names = {"e1": "s", "e2": "t", "e3": "s", "e4": None, "e5": None}
        for name, session in names.items():
            await store.apply(a_batch(name, episodes=(an_episode(name, session_id=session),)))
        several = tuple(an_episode(f"f{n}", session_id="s") for n in range(3))
        await store.apply(a_batch("several", episodes=several))
        found = await store.episodes(SPACE, [*names, "f0", "f1", "f2"])
        assert [found[name].position for name in names] == [0, 0, 1, 0, 1]
        assert [episode.id for episode in await store.session(SPACE, "s")] == ["e1", "e3", "f0", "f1", "f2"]
        assert [episode.id for episode in await store.session(SPACE, "s", after=1, limit=2)] == ["f0", "f1"]

    async def test_each_batch_is_one_step_of_the_change_log(self, store: Store) -> None:
        await store.apply(rich_batch())
        await store.apply(a_batch("jobs only", jobs=(NewJob("j2", "k", {}, NOON),)))
        await store.apply(replace(a_batch("x"), namespace="other"))
        one, two = await store.touched(SPACE, after=0, limit=10)
        assert (one.change, set(one.entry_ids)) == (1, {"e1", "e2", "e3", "m1", "m2"})
        assert (two.change, two.entry_ids) == (2, ())
        assert (await store.head(SPACE), await store.head("other"), await store.head("none")) == (2, 1, 0)
        assert await store.touched(SPACE, after=1, limit=1) == [two]

    async def test_new_words_take_the_old_vector_away(self, store: Store) -> None:
        memory = a_memory()
        await store.apply(a_batch("1", puts=(new(memory),), embeddings=(an_embedding("m1"),)))
        stronger = changed(memory, importance=0.9)
        await store.apply(a_batch("2", puts=(stronger,)))
        assert await store.vectors(SPACE, ["m1"], model=MODEL)
        reworded = changed(stronger.memory, content="用户搬到上海了")
        await store.apply(a_batch("3", puts=(reworded,)))
        assert not await store.vectors(SPACE, ["m1"], model=MODEL)
        assert [entry.id for entry in await store.unembedded(SPACE, model=MODEL, limit=5)] == ["m1"]
        again = changed(reworded.memory, content="again")
        await store.apply(a_batch("4", puts=(again,), embeddings=(an_embedding("m1"),)))
        assert await store.vectors(SPACE, ["m1"], model=MODEL)

    async def test_history_and_changeset_tell_what_to_undo(self, store: Store) -> None:
        await store.apply(rich_batch())
        memory = (await store.memories(SPACE, ["m1"]))["m1"]
        put = replace(changed(memory, Act.SUPERSEDED, status=Status.SUPERSEDED), reason="搬家了", other_ids=("m2",))
        states = (("e1", EpisodeState.OPEN), ("e2", EpisodeState.CLOSED))
        later = NOON + timedelta(days=1)
        await store.apply(a_batch("2", at=later, puts=(replace(put, actor="li"),), episode_states=states))
        changeset = await store.changeset(SPACE, "2")
        assert changeset is not None
        (revision,) = changeset.revisions
        assert (revision.at, revision.act, revision.reason) == (later, Act.SUPERSEDED, "搬家了")
        assert (revision.other_ids, revision.actor) == (("m2",), "li")
        assert changeset.episodes == (("e1", EpisodeState.COVERED), ("e2", EpisodeState.OPEN))
        assert [r.memory.status for r in await store.history(SPACE, "m1")] == [Status.ACTIVE, Status.SUPERSEDED]
        first = await store.changeset(SPACE, "rich")
        assert first is not None
        assert first.episodes == (("e1", None), ("e2", None), ("e3", None))
        assert await store.changeset(SPACE, "never") is None
