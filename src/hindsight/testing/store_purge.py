"""Purge: no byte of the text is left anywhere; as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from hindsight.domain.change import (
    Act,
    JobDone,
    NewJob,
    OutcomeAction,
    Receipt,
    Review,
    WriteOutcome,
)
from hindsight.domain.episode import EpisodeState
from hindsight.domain.experience import Way
from hindsight.domain.memory import Kind, Memory, Source, Status
from hindsight.domain.purge import Purge
from hindsight.domain.summary import Told, content_of, metadata_of, told_in
from hindsight.errors import Conflict, HindsightError, InvalidInput
from hindsight.ports import Store
from hindsight.testing.machine import everything
from hindsight.testing.made import (
    MODEL,
    NOON,
    SPACE,
    a_batch,
    a_memory,
    an_embedding,
    an_episode,
    an_experience,
    changed,
    new,
)
from hindsight.testing.store_opening import OpensStores

MINUTE = timedelta(minutes=1)
GRACE = timedelta(days=30)

SECRET = "张小敏在积水潭医院做过心脏搭桥手术"
OLD_SECRET = "张小敏在安贞医院做过心脏支架手术"
STAYS = "她喜欢喝茉莉花茶"
SAID = f"今天聊了很久。{SECRET}，{STAYS}。"
DISTINCTIVE = ("积水潭", "安贞", "搭桥", "支架", "Herzoperation")
"""Words that stand in nothing but what is purged."""


def at(text: str, part: str, episode_id: str) -> Source:
    """The span of a part of a turn's text."""
    return Source(episode_id, text.index(part), text.index(part) + len(part))


def a_purge(*ids: str, key: str = "purge", **fields: object) -> Purge:
    """A purge of these an hour past noon."""
    return replace(Purge(SPACE, key, NOON + 60 * MINUTE, ids), **fields)  # type: ignore[arg-type]  # fields by name


TURNS = (
    an_episode("e1", session_id="s", content=SAID, metadata={"title": SECRET, "lang": "zh"}),
    an_episode("e2", session_id="s", content=OLD_SECRET, metadata={"note": "Herzoperation"}),
    an_episode("e3", session_id="s", content=STAYS),
)
FIRST = a_memory("m1", content=OLD_SECRET, sources=(Source("e2", 0, len(OLD_SECRET)),), entities=("安贞医院",))
OTHER = a_memory("m2", content=STAYS, sources=(at(SAID, STAYS, "e1"), Source("e3", 0, len(STAYS))), tags=("茶",))


async def told(store: Store) -> Memory:
    """A memory that has left traces everywhere; as it is now."""
    receipt = Receipt(
        (WriteOutcome(OutcomeAction.ADDED, "m1", OLD_SECRET, Kind.FACT, 0.5, reason=f"said «{OLD_SECRET}»"),),
        ("e1", "e2"),
    )
    await store.apply(
        a_batch(
            "write",
            episodes=TURNS,
            puts=(new(FIRST), new(OTHER)),
            embeddings=(an_embedding("m1", 1), an_embedding("m2", 2), an_embedding("e1", 3), an_embedding("e2", 1)),
            receipt=receipt,
            reviews=(Review("m1", ("m2",), f"«{OLD_SECRET}»", NOON), Review("m2", ("m1", "m9"), "why", NOON)),
            jobs=(NewJob("job-1", "k", {"text": f"a {OLD_SECRET} b"}, NOON), NewJob("job-2", "k", {"id": "m1"}, NOON)),
        )
    )
    put = changed(FIRST, content=SECRET, sources=(at(SAID, SECRET, "e1"),), entities=("积水潭医院",))
    await store.apply(a_batch("reword", puts=(put,), embeddings=(an_embedding("m1", 4),)))
    await store.record_use(SPACE, ["m1", "m2"], NOON)
    await store.save_trace(SPACE, "t1", NOON, {"query": "医院", "hits": [{"id": "m1", "content": SECRET}]})
    await store.save_trace(SPACE, "t2", NOON, {"query": f"«{SECRET}»?"})
    await store.save_trace(SPACE, "t3", NOON, {"query": "茶", "hits": ["m2"]})
    await store.set_working(SPACE, "s", {"a": f"x {SECRET}", "b": "茶", "c": None}, at=NOON, expires_at=None)
    return put.memory


class PurgeContract(OpensStores):
    """What goes, what stays, what is refused afterwards."""

    def bytes_left(self, place: Path, store: Store) -> bytes:
        """Everything that the backend has kept, wherever it lies."""
        return b"".join(path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file())

    def words_left(self, place: Path, store: Store) -> list[str]:
        """Distinctive words of what was purged that are still somewhere."""
        left = self.bytes_left(place, store)
        return [word for word in DISTINCTIVE if word.encode() in left]

    # Nothing is left ------------------------------------------------------------------------------------------------

    async def test_no_byte_of_a_purged_memory_is_left_anywhere(self, place: Path, store: Store) -> None:
        await told(store)
        await store.session(SPACE, "s")  # a reader has seen it
        done = await store.purge(a_purge("m1"))
        assert done.scrubbed
        assert set(done.ids) == {"m1", "e2"}
        assert self.words_left(place, store) == []
        assert await store.history(SPACE, "m1") == []
        assert await store.vectors(SPACE, ["m1", "e1", "e2"], model=MODEL) == {}
        assert [await store.trace(SPACE, one) is None for one in ("t1", "t2", "t3")] == [True, True, False]
        assert [job.id for job in await store.jobs(SPACE)] == ["job-2"]
        assert set(await store.uses(SPACE, ["m1", "m2"])) == {"m2"}

    async def test_no_byte_is_left_among_many_other_rows(self, place: Path, store: Store) -> None:
        for number in range(12):
            await store.apply(
                a_batch(
                    f"before {number}",
                    puts=tuple(new(a_memory(f"x{number}-{n}", content=f"{n} " * 40)) for n in range(20)),
                )
            )
            if number == 6:
                await told(store)
        grown = [changed(a_memory(f"x{n}-{n}", content=f"{n} " * 40), content=f"{n} " * 400) for n in range(12)]
        await store.apply(a_batch("grow", puts=tuple(grown)))
        assert (await store.purge(a_purge("m1"))).scrubbed
        assert self.words_left(place, store) == []
        assert (await store.stats(SPACE)).memories_by_status == {"active": 241}

    async def test_nothing_is_left_after_a_restart_either(self, place: Path) -> None:
        self.need("reopens")
        store = await self.make(place)
        await told(store)
        await store.purge(a_purge("m1"))
        before = await everything(store, SPACE)
        await store.aclose()
        assert self.words_left(place, store) == []
        store = await self.make(place)
        assert await everything(store, SPACE) == before
        assert (await store.purged(SPACE, ["m1"]))["m1"].removed["rows"] == 1
        await store.aclose()

    async def test_another_namespace_is_untouched(self, place: Path, store: Store) -> None:
        await told(store)
        mine = an_episode("e1", namespace="other", content="积木和搭桥游戏")
        own = a_memory("m1", namespace="other", content="积木和搭桥游戏", sources=(Source("e1", 0, 7),))
        await store.apply(replace(a_batch("b", episodes=(mine,), puts=(new(own),)), namespace="other"))
        before = await everything(store, "other")
        await store.purge(a_purge("m1"))
        assert await everything(store, "other") == before
        assert (await store.memories("other", ["m1"]))["m1"] == own

    # What goes and what stays ---------------------------------------------------------------------------------------

    async def test_its_spans_are_blanked_and_other_spans_stay_where_they_were(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("m1"))
        episodes = await store.episodes(SPACE, ["e1", "e2", "e3"])
        assert episodes["e1"].content == SAID.replace(SECRET, " " * len(SECRET))
        assert episodes["e1"].metadata == {"lang": "zh"}
        assert (episodes["e2"].content, episodes["e2"].metadata) == ("", {})
        assert episodes["e3"].content == STAYS
        other = (await store.memories(SPACE, ["m2"]))["m2"]
        assert other == OTHER
        source = other.sources[0]
        assert episodes["e1"].content[source.start : source.end] == STAYS
        assert [turn.position for turn in await store.session(SPACE, "s")] == [0, 1, 2]

    async def test_a_receipt_says_what_went_where(self, store: Store) -> None:
        await told(store)
        done = await store.purge(a_purge("m1"))
        assert done.removed == {
            "rows": 1, "history": 2, "vectors": 3, "links": 2, "spans": 1, "turns": 1, "reviews": 2, "uses": 1,
            "receipts": 1, "traces": 2, "jobs": 1, "variables": 1,
        }  # fmt: skip
        stones = await store.tombstones(SPACE)
        assert [(stone.id, stone.at, stone.removed) for stone in stones] == [
            (one, NOON + 60 * MINUTE, done.removed) for one in ("e2", "m1")
        ]
        assert set(done.episodes) == {"e1", "e2"}

    async def test_indexes_hear_of_it_by_the_change_log(self, store: Store) -> None:
        await told(store)
        head = await store.head(SPACE)
        done = await store.purge(a_purge("m1"))
        assert done.change == head + 1
        (touched,) = await store.touched(SPACE, after=head, limit=9)
        assert set(touched.entry_ids) == {"m1", "e1", "e2"}
        entries = await store.entries(SPACE, ["m1", "e1", "e2"])
        assert "m1" not in entries
        assert entries["e2"].status is Status.FORGOTTEN
        assert SECRET not in entries["e1"].content
        assert "e1" in [entry.id for entry in await store.unembedded(SPACE, model=MODEL, limit=9)]

    async def test_the_first_answer_of_a_call_no_longer_says_it(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("m1"))
        again = await store.apply(a_batch("write"))
        assert again.repeated
        assert [(one.action, one.memory_id, one.content, one.reason) for one in again.receipt.outcomes] == [
            (OutcomeAction.ADDED, "m1", "", "")
        ]

    async def test_reviews_go_or_lose_a_side(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("m1"))
        found = [*await store.reviews(SPACE), *await store.reviews(SPACE, waiting=False)]
        assert found == [Review("m2", ("m9",), "", NOON)]

    async def test_a_turn_goes_with_what_rests_on_it_alone(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("e1", "e2"))
        memories = await store.memories(SPACE, ["m1", "m2"])
        assert set(memories) == {"m2"}
        assert (memories["m2"].sources, memories["m2"].version) == ((Source("e3", 0, len(STAYS)),), 2)
        assert (await store.memories_of(SPACE, ["e1", "e3"])) == {"e1": [], "e3": ["m2"]}
        episodes = await store.episodes(SPACE, ["e1"])
        assert episodes["e1"].content == ""
        assert [revision.act for revision in await store.history(SPACE, "m2")] == [Act.ADDED, Act.UPDATED]

    async def test_a_summary_loses_the_sentence_that_tells_of_it(self, place: Path, store: Store) -> None:
        await told(store)
        sentences = (Told(f"据说{SECRET}", ("m1",), date(2024, 1, 15)), Told(STAYS, ("m2",), date(2024, 1, 15)))
        summary = a_memory(
            "sum",
            kind=Kind.SUMMARY,
            content=content_of(sentences),
            metadata=metadata_of(sentences, ("m1", "m2")),
            sources=(Source("e1", 0, len(SAID)), Source("e3", 0, len(STAYS))),
        )
        only = replace(
            summary, id="only", content_key="only", content=content_of(sentences[:1]),
            metadata=metadata_of(sentences[:1], ("m1",)),
        )  # fmt: skip
        await store.apply(a_batch("sum", puts=(new(summary), new(only)), embeddings=(an_embedding("sum", 1),)))
        done = await store.purge(a_purge("m1"))
        assert (set(done.ids), done.changed) == ({"m1", "only", "e2"}, ("sum",))
        left = (await store.memories(SPACE, ["sum", "only"]))["sum"]
        assert [one.text for one in told_in(left)] == [STAYS]
        assert left.version == 2
        assert all(SECRET not in revision.memory.content for revision in await store.history(SPACE, "sum"))
        assert self.words_left(place, store) == []

    async def test_purging_a_summary_leaves_what_it_was_made_of(self, store: Store) -> None:
        await told(store)
        sentences = (Told(STAYS, ("m2",), date(2024, 1, 15)),)
        summary = a_memory(
            "sum", kind=Kind.SUMMARY, metadata=metadata_of(sentences, ("m2",)), sources=(Source("e3", 0, len(STAYS)),)
        )
        await store.apply(a_batch("sum", puts=(new(summary),)))
        await store.purge(a_purge("sum"))
        assert (await store.episodes(SPACE, ["e3"]))["e3"].content == STAYS
        assert "m2" in await store.memories(SPACE, ["m2"])

    async def test_a_merged_experience_loses_the_way_of_the_one_that_goes(self, store: Store) -> None:
        one, two = an_experience(), an_experience(action=replace(an_experience().action, steps=("other way",)))
        ways = tuple(Way(name, body.action, body.outcome) for name, body in (("x1", one), ("x2", two)))
        merged = an_experience(ways=ways, originals=("x1", "x2"))
        puts = [
            new(a_memory(name, kind=Kind.EXPERIENCE, body=body, content_key=name))
            for name, body in (("x1", one), ("x2", two), ("x3", merged))
        ]
        await store.apply(a_batch("b", puts=tuple(puts)))
        await store.purge(a_purge("x1"))
        left = (await store.memories(SPACE, ["x3"]))["x3"]
        assert left.body == replace(merged, action=two.action, ways=(), originals=("x2",))

    # Once, and never again ------------------------------------------------------------------------------------------

    async def test_a_second_purge_changes_nothing(self, store: Store) -> None:
        await told(store)
        first = await store.purge(a_purge("m1"))
        for key in ("purge", "another"):
            assert (await store.purge(a_purge("m1", key=key))).change == first.change
        assert await store.head(SPACE) == first.change

    async def test_what_was_never_there_gets_a_tombstone(self, store: Store) -> None:
        done = await store.purge(a_purge("m7"))
        assert (done.ids, done.removed) == (("m7",), {})
        with pytest.raises(Conflict):
            await store.apply(a_batch("b", puts=(new(a_memory("m7")),)))

    async def test_what_was_purged_does_not_come_back_under_its_id_or_its_turn(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("m1"))
        with pytest.raises(Conflict):
            await store.apply(a_batch("again", puts=(new(a_memory("m1")),)))
        resting = a_memory("m8", sources=(Source("e2", 0, 3),))
        with pytest.raises(Conflict):
            await store.apply(a_batch("late job", puts=(new(resting),)))
        # The user may say the same again: that is a new memory.
        await store.apply(a_batch("anew", puts=(new(a_memory("m8", content_key=FIRST.content_key)),)))

    async def test_a_second_import_of_its_turns_is_known(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("m1"))
        assert await store.known_episodes(SPACE, [turn.key for turn in TURNS]) == {t.key: t.id for t in TURNS}
        again = [replace(turn, id=f"{turn.id} again") for turn in TURNS]
        await store.apply(a_batch("import", episodes=tuple(again)))
        assert len(await store.session(SPACE, "s")) == 3

    async def test_keys_of_what_was_purged_are_known_again_and_are_not_kept(self, place: Path, store: Store) -> None:
        await told(store)
        asked = (FIRST.content_key, OTHER.content_key, "key of e1", "key of e2", "key of e3", "")
        assert await store.purged_keys(SPACE, asked) == frozenset()
        await store.purge(a_purge("m1"))
        assert await store.purged_keys(SPACE, asked) == {FIRST.content_key, "key of e1", "key of e2"}
        assert await store.purged_keys("other", asked) == frozenset()
        left = self.bytes_left(place, store)
        assert b"content of m1" not in left
        assert b"key of e2" not in left

    async def test_a_change_tells_what_of_it_is_gone_for_good(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("m1"))
        write, reword = await store.changeset(SPACE, "write"), await store.changeset(SPACE, "reword")
        assert write is not None
        assert reword is not None
        assert (set(write.purged), set(reword.purged)) == ({"m1", "e2"}, {"m1"})
        assert [revision.memory.id for revision in write.revisions] == ["m2"]

    async def test_a_version_read_before_a_purge_is_stale_after_it(self, store: Store) -> None:
        await told(store)
        await store.purge(a_purge("e1"))
        with pytest.raises(Conflict):
            await store.apply(a_batch("late", puts=(changed(OTHER, content="late"),)))
        current = (await store.memories(SPACE, ["m2"]))["m2"]
        await store.apply(a_batch("now", puts=(changed(current, content="now"),)))

    # With jobs, all or nothing ----------------------------------------------------------------------------------------

    async def test_a_purge_closes_its_job_and_puts_in_others(self, store: Store) -> None:
        await told(store)
        await store.apply(a_batch("j", jobs=(NewJob("p", "purge", {}, NOON, owner="w", lease_until=NOON + MINUTE),)))
        for owner, goes in (("x", False), ("w", True)):
            more = a_purge("m1", done=JobDone("p", owner), jobs=(NewJob("embed", "embed", {}, NOON),))
            if not goes:
                with pytest.raises(Conflict):
                    await store.purge(more)
                assert "m1" in await store.memories(SPACE, ["m1"])
            else:
                await store.purge(more)
        assert [job.id for job in await store.jobs(SPACE)] == ["job-2", "embed"]

    async def test_what_cannot_be_purged_is_refused(self, store: Store) -> None:
        for wrong in (a_purge(), a_purge("a\0"), a_purge("m1", key=""), a_purge("m1", at=NOON.replace(tzinfo=None))):
            with pytest.raises(InvalidInput):
                await store.purge(wrong)

    async def test_a_fault_at_any_statement_of_a_purge_leaves_all_or_nothing(self, place: Path) -> None:
        self.need("faults")
        countdown = 10**9

        def watch(_: str) -> None:
            nonlocal countdown
            countdown -= 1
            if countdown == 0:
                raise OSError("the disk has gone")

        store = await self.make(place, watch=watch)
        await told(store)
        await store.scrub()
        before = await everything(store, SPACE)
        for statement in range(1, 100):
            countdown = statement
            try:
                await store.purge(a_purge("m1"))
            except (HindsightError, OSError):
                countdown = 10**9
                now = await everything(store, SPACE)
                if now == before:
                    continue
            countdown = 10**9
            break
        # The transaction went through; what was left to clear is cleared now, or when the store is opened again.
        assert statement > 10
        assert "m1" not in await store.memories(SPACE, ["m1"])
        assert await store.scrub()
        assert self.words_left(place, store) == []
        await store.aclose()

    async def test_purges_and_writes_at_once_leave_nothing(self, place: Path, store: Store) -> None:
        await told(store)
        writes = [store.apply(a_batch(f"w{n}", puts=(new(a_memory(f"w{n}")),))) for n in range(20)]
        reads = [store.session(SPACE, "s") for _ in range(20)]
        await asyncio.gather(*writes[:10], store.purge(a_purge("m1")), *writes[10:], *reads)
        await store.scrub()
        assert self.words_left(place, store) == []
        assert (await store.stats(SPACE)).memories_by_status == {"active": 21}

    # What waits to be purged -----------------------------------------------------------------------------------------

    async def test_hidden_is_what_has_been_out_of_sight_for_the_time_of_grace(self, store: Store) -> None:
        gone = {"status": Status.FORGOTTEN, "updated_at": NOON}
        until = (NOON + GRACE).isoformat()
        puts = (
            new(a_memory("old", sources=(Source("e1", 0, 2),), **gone)),
            new(a_memory("fresh", status=Status.FORGOTTEN, updated_at=NOON + MINUTE, sources=(Source("e4", 0, 2),))),
            new(a_memory("pruned", status=Status.ARCHIVED, metadata={"purge_after": until})),
            new(a_memory("archived", status=Status.ARCHIVED)),
            new(a_memory("odd", status=Status.ARCHIVED, metadata={"purge_after": "soon"})),
            new(a_memory("alive", sources=(Source("e2", 0, 2),))),
        )
        states = tuple((f"e{n}", EpisodeState.FORGOTTEN) for n in (1, 2, 3, 4))
        episodes = tuple(an_episode(f"e{n}") for n in range(1, 6))
        await store.apply(a_batch("b", episodes=episodes, puts=puts, episode_states=states))
        found = await store.hidden(now=NOON + GRACE, grace=GRACE, limit=9)
        assert list(found) == [(SPACE, one) for one in ("e1", "e3", "old", "pruned")]
        assert await store.hidden(now=NOON + GRACE - MINUTE, grace=GRACE, limit=9) == []
        assert len(await store.hidden(now=NOON + GRACE, grace=GRACE, limit=2)) == 2
        await store.purge(a_purge(*(one for _, one in found)))
        later = NOON + GRACE + 2 * MINUTE
        assert list(await store.hidden(now=later, grace=GRACE, limit=9)) == [(SPACE, "e4"), (SPACE, "fresh")]
