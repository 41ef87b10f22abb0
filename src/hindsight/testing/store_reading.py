"""What the read methods of a `Store` owe, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hindsight.domain.change import NewJob, Put, Review
from hindsight.domain.entry import entry_of_episode, entry_of_memory
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import Kind, Layer, Memory, Source, Statement, Status
from hindsight.domain.page import Order, Stats
from hindsight.domain.purge import Purge
from hindsight.domain.query import Filters
from hindsight.errors import Ambiguous, InvalidInput, NotFound
from hindsight.ports import Store
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
    filters,
    memories_called,
    new,
)
from hindsight.testing.store_opening import OpensStores
from hindsight.testing.store_writing import rich_batch

Read = Callable[[Store, str], Awaitable[Any]]

READS: Mapping[str, Read] = {
    "head": lambda store, space: store.head(space),
    "touched": lambda store, space: store.touched(space, after=0, limit=9),
    "entries": lambda store, space: store.entries(space, ["m1", "e2"]),
    "vectors": lambda store, space: store.vectors(space, ["m1", "e3"], model=MODEL),
    "unembedded": lambda store, space: store.unembedded(space, model="another", limit=9),
    "memories": lambda store, space: store.memories(space, ["m1"]),
    "resolve": lambda store, space: _resolved(store, space),
    "by_content_key": lambda store, space: store.by_content_key(space, ["content of m1"]),
    "about": lambda store, space: store.about(space, ["user|reside"], limit=9),
    "reviews": lambda store, space: store.reviews(space),
    "find": lambda store, space: _found(store, space),
    "history": lambda store, space: store.history(space, "m1"),
    "changeset": lambda store, space: store.changeset(space, "rich"),
    "episodes": lambda store, space: store.episodes(space, ["e1"]),
    "memories_and_episodes": lambda store, space: _both(store, space),
    "known_episodes": lambda store, space: store.known_episodes(space, ["key of e1"]),
    "session": lambda store, space: store.session(space, "s"),
    "memories_of": lambda store, space: _resting(store, space),
    "working": lambda store, space: store.working(space, "s", now=NOON, turns=9),
    "sessions": lambda store, space: store.sessions(space, limit=9),
    "purged": lambda store, space: store.purged(space, ["gone"]),
    "purged_keys": lambda store, space: store.purged_keys(space, ["content of gone"]),
    "tombstones": lambda store, space: store.tombstones(space),
    "stats": lambda store, space: _episode_count(store, space),
    "uses": lambda store, space: store.uses(space, ["m1"]),
    "trace": lambda store, space: store.trace(space, "t1"),
    "traces": lambda store, space: store.traces(space, limit=10),
    "jobs": lambda store, space: store.jobs(space),
}
"""A call of every read method that takes a namespace, each of which finds something after `filled`."""

WRITES = {"apply", "record_use", "save_trace", "set_working", "cancel_job"}


async def _resolved(store: Store, space: str) -> str | None:
    try:
        return await store.resolve(space, "m1")
    except NotFound:
        return None


async def _both(store: Store, space: str) -> tuple[Memory | Episode, ...]:
    memories, episodes = await store.memories_and_episodes(space, ["m1"], ["e1"])
    return (*memories.values(), *episodes.values())


async def _found(store: Store, space: str) -> tuple[Memory, ...]:
    return (await store.find(space, Filters())).items


async def _resting(store: Store, space: str) -> list[str]:
    return list((await store.memories_of(space, ["e1"]))["e1"])


async def _episode_count(store: Store, space: str) -> int:
    return (await store.stats(space)).episodes


async def filled(store: Store) -> None:
    """One namespace with something for every read method."""
    await store.apply(rich_batch())
    await store.apply(a_batch("gone", puts=(new(a_memory("gone")),)))
    await store.purge(Purge(SPACE, "purge", NOON, ("gone",)))
    await store.set_working(SPACE, "s", {"目标": ["周报", 1]}, at=NOON, expires_at=None)
    await store.record_use(SPACE, ["m1"], NOON)
    await store.save_trace(SPACE, "t1", NOON, {"text": "吃什么要小心"})


class ReadingContract(OpensStores):
    """Namespaces as walls, filters, order, pages, entries, counts."""

    # Walls ----------------------------------------------------------------------------------------------------------

    def test_the_wall_test_knows_every_method(self) -> None:
        methods = {
            name
            for name, method in inspect.getmembers(Store, inspect.isfunction)
            if not name.startswith("_") and list(inspect.signature(method).parameters)[1:2] == ["namespace"]
        }
        assert methods | {"apply"} == READS.keys() | WRITES

    @pytest.mark.parametrize("method", READS)
    async def test_nothing_is_read_through_the_wall(self, store: Store, method: str) -> None:
        await filled(store)
        assert await READS[method](store, SPACE)
        for other in ("user:l", "user:li ", "USER:LI", "user:li%", "", "other"):
            assert not await READS[method](store, other)

    async def test_ids_of_another_namespace_may_be_used_again(self, store: Store) -> None:
        await filled(store)
        batch = replace(
            rich_batch(),
            namespace="other",
            episodes=tuple(replace(episode, namespace="other") for episode in rich_batch().episodes),
            puts=tuple(
                replace(put, memory=replace(put.memory, namespace="other", content="另一个"))
                for put in rich_batch().puts
            ),
            jobs=(),
        )
        await store.apply(batch)
        assert (await store.memories("other", ["m1"]))["m1"].content == "另一个"
        assert (await store.memories(SPACE, ["m1"]))["m1"].content != "另一个"
        assert await store.namespaces() == ["other", SPACE]

    @pytest.mark.parametrize("method", READS)
    async def test_an_impossible_namespace_finds_nothing_or_is_refused(self, store: Store, method: str) -> None:
        for impossible in ("a\0b", "\ud800"):
            with pytest.raises(InvalidInput):
                await READS[method](store, impossible)

    # Filters --------------------------------------------------------------------------------------------------------

    # Not shrunk: with a store made for each example that takes minutes, and the message names the one memory.
    @settings(max_examples=40, phases=(Phase.reuse, Phase.generate))
    @given(st.tuples(*(memories_called(f"m{n}") for n in range(8))), st.lists(filters, min_size=8, max_size=8))
    async def test_filters_find_what_their_reference_matches(self, memories: Any, asked: Any) -> None:
        async with self.fresh() as store:
            await store.apply(a_batch("b", puts=tuple(map(new, memories))))
            for wanted in asked:
                page = await store.find(SPACE, wanted, limit=100)
                found = {memory.id for memory in page.items}
                for memory in memories:
                    matches = wanted.matches(entry_of_memory(memory))
                    assert (memory.id in found) == matches, f"{wanted} should {'' if matches else 'not '}find {memory}"

    async def test_min_confidence_binds_experiences_by_their_record(self, store: Store) -> None:
        tried = a_memory("m1", kind=Kind.EXPERIENCE, body=an_experience(), confidence=0.9)  # its record says 0.6
        await store.apply(a_batch("b", puts=(new(tried), new(a_memory("m2", confidence=0.1)))))
        for least, expected in ((0.6, {"m1", "m2"}), (0.61, {"m2"})):
            page = await store.find(SPACE, Filters(min_confidence=least))
            assert {memory.id for memory in page.items} == expected

    async def test_as_of_tells_what_was_true_then(self, store: Store) -> None:
        day = timedelta(days=1)
        beijing = a_memory("m1", valid_from=NOON, valid_to=NOON + 5 * day, status=Status.SUPERSEDED)
        shanghai = a_memory("m2", valid_from=NOON + 5 * day)
        await store.apply(a_batch("b", puts=(new(beijing), new(shanghai))))
        for days, expected in ((-1, []), (0, ["m1"]), (4, ["m1"]), (5, ["m2"]), (99, ["m2"])):
            page = await store.find(SPACE, Filters(as_of=NOON + days * day))
            assert [memory.id for memory in page.items] == expected
        assert [memory.id for memory in (await store.find(SPACE, Filters())).items] == ["m2"]

    # Order and pages ------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("order", Order)
    async def test_pages_are_whole_and_in_order_while_others_write(self, store: Store, order: Order) -> None:
        memories = [
            a_memory(f"m{n:02}", created_at=NOON + timedelta(hours=n % 5), importance=(n % 4) / 4) for n in range(23)
        ]
        await store.apply(a_batch("b", puts=tuple(map(new, memories))))
        seen: list[Memory] = []
        after, pages = None, 0
        while True:
            page = await store.find(SPACE, Filters(), order=order, limit=5, after=after)
            seen += page.items
            after, pages = page.next, pages + 1
            if after is None:
                break
            # Ahead of the newest, behind the oldest, most important of all: none belongs on the pages to come.
            ahead = NOON + timedelta(hours=9) if order is not Order.OLDEST else NOON - timedelta(hours=9)
            await store.apply(
                a_batch(f"w{pages}", puts=(new(a_memory(f"w{pages}", created_at=ahead, importance=1.0)),))
            )
        key = {
            Order.NEWEST: lambda memory: (memory.created_at, memory.id),
            Order.OLDEST: lambda memory: (memory.created_at, memory.id),
            Order.IMPORTANCE: lambda memory: (memory.importance, memory.id),
        }[order]
        assert seen == sorted(memories, key=key, reverse=order is not Order.OLDEST)
        assert pages == 5

    @pytest.mark.parametrize("order", Order)
    @pytest.mark.parametrize("value", ["NaN", "1e999", "true", "null", '"a"', "1" + "0" * 40, "[" * 10_000])
    async def test_a_forged_next_is_refused_by_name(self, store: Store, order: Order, value: str) -> None:
        forged = base64.urlsafe_b64encode(f'["{order}", {value}, "m1"]'.encode()).decode()
        with pytest.raises(InvalidInput) as caught:
            await store.find(SPACE, Filters(), order=order, after=forged)
        assert caught.value.field == "after"

    async def test_a_next_that_is_none_is_refused(self, store: Store) -> None:
        await store.apply(a_batch("b", puts=tuple(new(a_memory(f"m{n}")) for n in range(3))))
        page = await store.find(SPACE, Filters(), limit=1)
        for wrong in ("", "x", "WzEsMl0=", "猫"):
            with pytest.raises(InvalidInput, match="after"):
                await store.find(SPACE, Filters(), after=wrong)
        with pytest.raises(InvalidInput, match="after"):
            await store.find(SPACE, Filters(), order=Order.OLDEST, after=page.next)
        with pytest.raises(InvalidInput, match="limit"):
            await store.find(SPACE, Filters(), limit=0)

    async def test_resolve_takes_whole_and_short_ids(self, store: Store) -> None:
        ids = ("01hm00000000000000abcdefgh", "01hm00000000000000abcdefgj", "01hn00000000000000abcdefgj")
        await store.apply(a_batch("b", puts=tuple(new(a_memory(name)) for name in ids)))
        assert await store.resolve(SPACE, ids[1]) == ids[1]
        assert await store.resolve(SPACE, "abcdefgh") == ids[0]
        with pytest.raises(Ambiguous, match=ids[2]):
            await store.resolve(SPACE, "abcdefgj")
        for unknown in ("bcdefgh", "", "abcdefg%", "00000000"):
            with pytest.raises(NotFound):
                await store.resolve(SPACE, unknown)

    async def test_resolve_takes_ids_of_episodes_too(self, store: Store) -> None:
        ids = ("01hm00000000000000abcdefgh", "01hm00000000000000abcdefgj", "01hn00000000000000abcdefgj")
        episodes = tuple(an_episode(name) for name in ids[:2])
        await store.apply(
            a_batch(
                "b", episodes=episodes, puts=(new(a_memory(ids[2])),), episode_states=((ids[0], EpisodeState.COVERED),)
            )
        )
        assert await store.resolve(SPACE, ids[0]) == ids[0]
        assert await store.resolve(SPACE, "abcdefgh") == ids[0]
        with pytest.raises(Ambiguous, match=f"{ids[1]}, {ids[2]}"):
            await store.resolve(SPACE, "abcdefgj")
        for space, unknown in ((SPACE, "bcdefgh"), ("other", ids[0]), ("other", "abcdefgh")):
            with pytest.raises(NotFound):
                await store.resolve(space, unknown)

    # Entries --------------------------------------------------------------------------------------------------------

    async def test_entries_are_memories_and_episodes_that_answer_by_themselves(self, store: Store) -> None:
        await store.apply(rich_batch())
        later = NOON + timedelta(hours=1)
        await store.apply(a_batch("2", at=later, episode_states=(("e3", EpisodeState.CLOSED),)))
        memories = await store.memories(SPACE, ["m1", "m2"])
        episodes = await store.episodes(SPACE, ["e2", "e3"])
        assert await store.entries(SPACE, ["m1", "m2", "e1", "e2", "e3", "gone"]) == {
            "m1": entry_of_memory(memories["m1"], position=1),
            "m2": entry_of_memory(memories["m2"]),
            "e2": entry_of_episode(episodes["e2"], EpisodeState.OPEN, NOON),
            "e3": entry_of_episode(episodes["e3"], EpisodeState.CLOSED, later),
        }
        await store.apply(a_batch("3", at=later, episode_states=(("e3", EpisodeState.FORGOTTEN),)))
        hidden = (await store.entries(SPACE, ["e3"]))["e3"]
        assert hidden == entry_of_episode(episodes["e3"], EpisodeState.FORGOTTEN, later)
        assert hidden.status is Status.FORGOTTEN

    async def test_a_closed_episode_ends_when_the_last_of_its_facts_did(self, store: Store) -> None:
        day = timedelta(days=1)
        rests = {"sources": (Source("e1", 0, 1), Source("e2", 0, 1)), "status": Status.SUPERSEDED}
        facts = (
            a_memory("m1", valid_to=NOON + 2 * day, **rests),
            a_memory("m2", valid_to=NOON + day, **rests),
            a_memory("m3", valid_to=NOON + 9 * day, sources=(Source("e1", 0, 1),)),  # it goes on
            a_memory("m4", valid_to=NOON + 9 * day, status=Status.SUPERSEDED),
            a_memory("m5", sources=(Source("e3", 0, 1),), status=Status.SUPERSEDED),  # nobody knows when it ended
        )
        await store.apply(
            a_batch("b", episodes=tuple(an_episode(f"e{n}") for n in (1, 2, 3)), puts=tuple(map(new, facts)))
        )
        at = NOON + 5 * day
        states = (("e1", EpisodeState.CLOSED), ("e2", EpisodeState.FORGOTTEN), ("e3", EpisodeState.CLOSED))
        await store.apply(a_batch("2", at=at, episode_states=states))
        entries = await store.entries(SPACE, ["e1", "e2", "e3"])
        ends = {found: entry.valid_to for found, entry in entries.items()}
        assert ends == {"e1": NOON + 2 * day, "e2": at, "e3": at}
        await store.apply(a_batch("3", at=at, episode_states=(("e1", EpisodeState.OPEN),)))
        assert (await store.entries(SPACE, ["e1"]))["e1"].valid_to is None

    async def test_unembedded_are_those_that_answer_oldest_first(self, store: Store) -> None:
        hour = timedelta(hours=1)
        await store.apply(
            a_batch(
                "b",
                episodes=(an_episode("e1", recorded_at=NOON + hour), an_episode("e2"), an_episode("e3")),
                puts=(
                    new(a_memory("m1", created_at=NOON + 2 * hour)),
                    new(a_memory("m2", created_at=NOON - hour)),
                    new(a_memory("m3", status=Status.FORGOTTEN)),
                ),
                embeddings=(an_embedding("m2", model="another"),),
                episode_states=(("e2", EpisodeState.COVERED), ("e3", EpisodeState.CLOSED)),
            )
        )
        assert [entry.id for entry in await store.unembedded(SPACE, model=MODEL, limit=9)] == ["m2", "e1", "m1"]
        assert [entry.id for entry in await store.unembedded(SPACE, model="another", limit=1)] == ["e1"]

    async def test_memories_of_an_episode_are_found_whatever_their_status(self, store: Store) -> None:
        await store.apply(rich_batch())
        memory = a_memory("m3", sources=(Source("e1", 0, 1),) * 2, created_at=NOON - timedelta(1))
        await store.apply(a_batch("2", puts=(new(replace(memory, status=Status.FORGOTTEN)),)))
        found = await store.memories_of(SPACE, ["e1", "e2", "e3"])
        assert {episode: list(ids) for episode, ids in found.items()} == {"e1": ["m3", "m1"], "e2": ["m1"], "e3": []}
        await store.apply(a_batch("3", puts=(changed((await store.memories(SPACE, ["m1"]))["m1"], sources=()),)))
        assert list((await store.memories_of(SPACE, ["e2"]))["e2"]) == []

    # Rivals and reviews -----------------------------------------------------------------------------------------------

    async def test_active_memories_are_found_by_what_they_are_about(self, store: Store) -> None:
        def about(name: str, *topics: str, **fields: Any) -> Put:
            return new(a_memory(name, body=Statement(topics=topics), **fields))

        first, second = about("m1", "user|reside", "北京"), about("m2", "user|reside")
        gone = about("m3", "user|reside", status=Status.SUPERSEDED)
        await store.apply(a_batch("b", puts=(first, second, gone)))
        found = await store.about(SPACE, ["user|reside", "北京", "nothing", "北京"], limit=9)
        assert {topic: list(ids) for topic, ids in found.items()} == {"user|reside": ["m2", "m1"], "北京": ["m1"]}
        assert list((await store.about(SPACE, ["user|reside"], limit=1))["user|reside"]) == ["m2"]
        await store.apply(a_batch("c", puts=(changed(second.memory, status=Status.FORGOTTEN),)))
        await store.apply(a_batch("d", puts=(changed(first.memory, body=Statement(topics=("北京",))),)))
        assert await store.about(SPACE, ["user|reside"], limit=9) == {}

    async def test_a_review_is_asked_while_both_sides_stand(self, store: Store) -> None:
        later = replace(Review("m1", ("m2",), "?", NOON), at=NOON + timedelta(hours=1))
        asked = Review("m3", ("gone", "m2"), "?", NOON)
        puts = tuple(new(a_memory(name)) for name in ("m1", "m2", "m3"))
        moot = Review("m2", ("gone",), "?", NOON)
        await store.apply(a_batch("b", puts=puts, reviews=(later, asked, moot)))
        assert list(await store.reviews(SPACE)) == [asked, later]
        assert list(await store.reviews(SPACE, waiting=False)) == [moot]
        decided = replace(asked, open=False)
        await store.apply(a_batch("c", reviews=(decided,)))
        assert list(await store.reviews(SPACE)) == [later]
        assert list(await store.reviews(SPACE, waiting=False)) == [moot, decided]
        await store.apply(a_batch("d", puts=(changed(puts[1].memory, status=Status.FORGOTTEN),)))
        assert list(await store.reviews(SPACE)) == []
        assert list(await store.reviews(SPACE, waiting=False)) == [moot, decided, later]

    # Counts ---------------------------------------------------------------------------------------------------------

    async def test_stats_count_kinds_and_layers_of_what_answers(self, store: Store) -> None:
        await filled(store)
        gone = new(a_memory("m3", status=Status.FORGOTTEN, kind=Kind.EVENT, layer=Layer.EPISODIC))
        await store.apply(a_batch("2", puts=(gone,)))
        assert await store.stats(SPACE) == Stats(
            episodes=3,
            memories_by_status={"active": 2, "forgotten": 1},
            memories_by_kind={"fact": 1, "experience": 1},
            memories_by_layer={"semantic": 2},
            sessions=1,
            change=4,
        )

    async def test_each_read_takes_few_statements(self, place: Path) -> None:
        self.need("faults")
        count = 0

        def watch(_: str) -> None:
            nonlocal count
            count += 1

        store = await self.make(place, watch=watch)
        await filled(store)
        for n in range(30):
            await store.apply(a_batch(f"b{n}", puts=(new(a_memory(f"x{n}")),), jobs=(NewJob(f"x{n}", "k", {}, NOON),)))
        for method, read in READS.items():
            count = 0
            await read(store, SPACE)
            assert count <= self.capabilities.statements, method
        await store.aclose()
