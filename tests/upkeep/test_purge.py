"""What was forgotten goes for good after the grace; until then it can be taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hindsight.domain.change import Batch, NewJob
from hindsight.domain.memory import Memory, Status
from hindsight.domain.query import Filters
from hindsight.embedded import AsyncHindsight
from hindsight.errors import Conflict, InvalidInput, NotFound
from hindsight.ports import Clock
from hindsight.upkeep.forget import parse_meant

DAY = timedelta(days=1)


@dataclass
class Later:
    """The engine's clock, moved on."""

    inner: Clock
    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return self.inner.now() + self.ahead


@pytest.fixture
async def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncHindsight]:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    async with AsyncHindsight(tmp_path) as memory:
        yield memory


async def days_pass(memory: AsyncHindsight, days: float) -> None:
    """The purge that is due after so many days."""
    parts = (await memory.engine()).parts
    object.__setattr__(parts.purger, "clock", Later(parts.clock, days * DAY))
    await (await memory.engine()).purge_due()


async def only(memory: AsyncHindsight, words: str) -> Memory:
    (found,) = [one for one in (await memory.list(filters=Filters(statuses=()))).items if words in one.content]
    return found


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_forgotten_memory_goes_after_the_grace_and_not_before(memory: AsyncHindsight, tmp_path: Path) -> None:
    await memory.write("我住在积水潭附近。我喜欢喝茉莉花茶。")
    place = await only(memory, "积水潭")
    receipt = await memory.forget(place.id)
    await days_pass(memory, 29)
    assert (await memory.get(place.id)).status is Status.FORGOTTEN
    await days_pass(memory, 30.1)
    with pytest.raises(NotFound):
        await memory.get(place.id)
    assert "积水潭".encode() not in bytes_of(tmp_path)
    assert (await memory.proof(place.id)).gone
    with pytest.raises(Conflict, match="purged"):
        await memory.undo(receipt.undo or "")
    assert (await only(memory, "茉莉花茶")).status is Status.ACTIVE


async def test_what_is_taken_back_in_time_stays(memory: AsyncHindsight) -> None:
    await memory.write("我住在积水潭附近")
    place = await only(memory, "积水潭")
    receipt = await memory.forget(place.id)
    await days_pass(memory, 29)
    await memory.undo(receipt.undo or "")
    await days_pass(memory, 100)
    assert (await memory.get(place.id)).status is Status.ACTIVE


async def test_a_pruned_experience_goes_after_the_grace(memory: AsyncHindsight, tmp_path: Path) -> None:
    receipt = await memory.write_experience("打印机在 A3 纸上卡住", ["打开下纸盒"], outcome_status="success")
    one = receipt.outcomes[0].memory_id or ""
    for _ in range(2):
        await memory.feedback(one, "failure")
    await memory.prune(dry_run=False)
    await days_pass(memory, 29)
    assert (await memory.get(one)).status is Status.ARCHIVED
    await days_pass(memory, 30.1)
    assert (await memory.proof(one)).gone
    assert "下纸盒".encode() not in bytes_of(tmp_path)


async def test_a_purge_at_once_leaves_no_byte_and_the_search_nothing(memory: AsyncHindsight, tmp_path: Path) -> None:
    await memory.write("我住在积水潭附近。我喜欢喝茉莉花茶。", session_id="s")
    before = await memory.search("我住在哪里", session_id="s")
    assert "积水潭" in before.context
    place = await only(memory, "积水潭")
    done = await memory.purge(place.id)
    assert done.scrubbed
    assert done.removed["rows"] == 1
    assert "积水潭".encode() not in bytes_of(tmp_path)
    after = await memory.search("我住在哪里", session_id="s")
    assert "积水潭" not in after.context
    proof = await memory.proof(place.short_id)
    assert (proof.id, proof.gone) == (place.id, True)
    assert not (await memory.proof((await only(memory, "茉莉花茶")).id)).gone


async def test_the_same_may_be_told_again_after_a_purge(memory: AsyncHindsight) -> None:
    await memory.write("我住在积水潭附近")
    await memory.purge((await only(memory, "积水潭")).id)
    await memory.write("我住在积水潭附近")
    assert (await only(memory, "积水潭")).status is Status.ACTIVE


async def test_a_transcript_imported_again_does_not_bring_it_back(memory: AsyncHindsight) -> None:
    said = {"content": "我住在积水潭附近", "occurred_at": "2024-01-15T09:00:00+08:00", "session_id": "s"}
    await memory.write_many([said])
    await memory.purge((await only(memory, "积水潭")).id)
    await memory.write_many([said])
    assert not [one for one in (await memory.list()).items if "积水潭" in one.content]


async def test_a_retried_job_makes_nothing_of_a_purged_turn(memory: AsyncHindsight) -> None:
    receipt = await memory.write("我住在积水潭附近")
    turn = receipt.episode_ids[0]
    await memory.purge(turn)
    engine = await memory.engine()
    job = engine.parts.ids.new()
    payload = {"key": "k", "actor": "", "told": [
        {"request": 0, "kind": None, "importance": None, "tags": [], "episodes": [turn]}
    ]}  # fmt: skip
    now = engine.now()
    await engine.parts.store.apply(
        Batch("default", "late", now, jobs=(NewJob(job, "write.distil", payload, now),))  # type: ignore[arg-type]  # JSON
    )
    await engine.parts.worker.run_one()
    assert await engine.parts.store.jobs("default") == []
    assert (await memory.list()).items == ()


# Many at once -----------------------------------------------------------------------------------------------------


async def test_everything_about_somebody_is_shown_forgotten_and_taken_back(memory: AsyncHindsight) -> None:
    await memory.write("Ann lives in Lisbon. Anna works at Acme.")
    await memory.write("我喜欢喝茉莉花茶")
    shown = await memory.forget_about("ann")
    assert (shown.dry_run, shown.memories) == (True, 1)
    assert ["Ann lives in Lisbon" in one.content for one in shown.examples[:1]] == [True]
    assert (await memory.stats()).memories_by_status == {"active": 3}
    done = await memory.forget_about("ann", dry_run=False)
    assert (await only(memory, "Ann lives")).status is Status.FORGOTTEN
    assert (await only(memory, "Anna")).status is Status.ACTIVE
    assert "Lisbon" not in (await memory.search("Where does Ann live?")).context
    await memory.undo(done.undo or "")
    assert (await only(memory, "Ann lives")).status is Status.ACTIVE


async def test_everything_of_a_session_goes_and_what_rests_elsewhere_stays(
    memory: AsyncHindsight, tmp_path: Path
) -> None:
    await memory.write("我住在积水潭附近", session_id="a")
    await memory.write("我喜欢喝茉莉花茶", session_id="a")
    await memory.write("我喜欢喝茉莉花茶", session_id="b")
    await memory.working("a", set={"目标": "搬离积水潭"})
    shown = await memory.forget_about(session_id="a")
    assert (shown.memories, shown.turns, shown.touched) == (1, 2, 1)
    await memory.forget_about(session_id="a", dry_run=False)
    assert {one.content for one in (await memory.list()).items if "积水潭" in one.content} == set()
    tea = await only(memory, "茉莉花茶")
    assert (tea.status, len(tea.sources)) == (Status.ACTIVE, 1)
    assert not (await memory.working("a")).variables
    await days_pass(memory, 31)
    assert "积水潭".encode() not in bytes_of(tmp_path)
    assert (await only(memory, "茉莉花茶")).status is Status.ACTIVE


async def test_everything_of_a_namespace_goes_for_good_and_no_other_is_touched(
    memory: AsyncHindsight, tmp_path: Path
) -> None:
    await memory.write("我住在积水潭附近", session_id="a")
    await memory.write("我住在安贞桥边", session_id="a", namespace="b")
    before = await memory.list(namespace="b")
    done = await memory.forget_about(everything=True, dry_run=False, purge=True)
    assert done.purged is not None
    assert done.purged.scrubbed
    held = bytes_of(tmp_path)
    assert "积水潭".encode() not in held
    assert "安贞桥".encode() in held
    assert await memory.list(namespace="b") == before
    assert (await memory.stats()).memories_by_status == {}


async def test_more_than_one_transaction_is_taken_back_as_one(
    memory: AsyncHindsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight.upkeep.forget.SLICE", 3)
    await memory.write_many([{"content": f"Ann has {n} cats in house {n}", "kind": "fact"} for n in range(2, 9)])
    done = await memory.forget_about("ann", dry_run=False)
    assert (await memory.stats()).memories_by_status == {"forgotten": 7}
    await memory.undo(done.undo or "")
    assert (await memory.stats()).memories_by_status == {"active": 7}


@pytest.mark.parametrize(
    ("about", "session_id", "everything"),
    [
        (None, None, False),
        ("x", "s", False),
        ("x", None, True),
        ("  ", None, False),
        ("!", None, False),
        (None, None, 1),
    ],
)
def test_exactly_one_thing_is_meant(about: object, session_id: object, everything: object) -> None:
    with pytest.raises(InvalidInput):
        parse_meant(about, session_id, everything)
