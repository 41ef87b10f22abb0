"""The keyword index under its contract, and its snapshots."""

import os
from pathlib import Path

from hindsight.domain.query import Filters
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.testing.index_contract import LexicalIndexContract
from hindsight.testing.index_samples import SPACE, entry


class TestEmbeddedLexicalIndex(LexicalIndexContract):
    def make(self, folder: Path) -> EmbeddedLexicalIndex:
        return EmbeddedLexicalIndex(folder)


class TestEmbeddedLexicalIndexWithoutAFolder(LexicalIndexContract):
    examples = 10

    def make(self, folder: Path) -> EmbeddedLexicalIndex:
        return EmbeddedLexicalIndex()


async def saved(folder: Path) -> Path:
    index = EmbeddedLexicalIndex(folder)
    await index.apply(SPACE, [entry("one"), entry("two")], [], cursor=8)
    await index.aclose()
    return next(path for path in (folder / "lexical").iterdir())


async def test_a_snapshot_spares_the_next_start_the_work(tmp_path: Path) -> None:
    await saved(tmp_path)
    index = EmbeddedLexicalIndex(tmp_path)
    assert await index.cursor(SPACE) == 8
    assert len(await index.search(SPACE, ["cat"], Filters(), limit=5)) == 2
    await index.aclose()


async def test_a_damaged_snapshot_is_dropped(tmp_path: Path) -> None:
    for damage in (lambda b: b[:-1], lambda b: b"", lambda b: b[:100] + b"\xff" + b[101:], lambda b: b + b"x"):
        file = await saved(tmp_path)
        file.write_bytes(damage(file.read_bytes()))
        index = EmbeddedLexicalIndex(tmp_path)
        assert (await index.cursor(SPACE), await index.count(SPACE)) == (0, 0)
        assert not file.exists()
        await index.aclose()


async def test_a_snapshot_of_another_namespace_is_not_used(tmp_path: Path) -> None:
    file = await saved(tmp_path)
    other = EmbeddedLexicalIndex(tmp_path / "other")
    await other.apply("else", [entry("one", namespace="else")], [], cursor=3)
    await other.aclose()
    strange = next((tmp_path / "other" / "lexical").iterdir())
    strange.replace(file)
    index = EmbeddedLexicalIndex(tmp_path)
    assert await index.cursor(SPACE) == 0
    await index.aclose()


async def test_a_snapshot_holds_no_text_and_goes_when_an_entry_goes(tmp_path: Path) -> None:
    index = EmbeddedLexicalIndex(tmp_path)
    private = entry("one", "secretword 秘密 stays", session_id="secretsession", tags=("secrettag",), speaker="Secretia")
    await index.apply(SPACE, [private, entry("two")], [], cursor=1)
    await index.aclose()
    file = next(path for path in (tmp_path / "lexical").iterdir())
    content = file.read_bytes().lower()
    assert b"secret" not in content
    assert "秘密".encode() not in content
    index = EmbeddedLexicalIndex(tmp_path)
    await index.apply(SPACE, [], ["one"], cursor=2)
    assert not file.exists()
    await index.aclose()
    index = EmbeddedLexicalIndex(tmp_path)
    assert (await index.cursor(SPACE), await index.count(SPACE)) == (2, 1)
    await index.aclose()


async def test_what_a_killed_process_left_half_saved_is_cleared_away(tmp_path: Path) -> None:
    file = await saved(tmp_path)
    left = file.with_name(f"{file.name}.123.new")
    fresh = file.with_name(f"{file.name}.456.new")  # of a process that saves just now
    for each in (left, fresh):
        each.write_bytes(file.read_bytes()[:100])
    os.utime(left, (0, 0))
    index = EmbeddedLexicalIndex(tmp_path)
    await index.apply(SPACE, [entry("three")], [], cursor=9)
    await index.aclose()
    assert sorted(file.parent.iterdir()) == [file, fresh]
    index = EmbeddedLexicalIndex(tmp_path)
    await index.drop(SPACE)
    assert list(file.parent.iterdir()) == []
    await index.aclose()


async def test_a_folder_that_cannot_be_written_costs_the_snapshot_only(tmp_path: Path) -> None:
    (tmp_path / "lexical").write_text("a file where the folder should be")
    index = EmbeddedLexicalIndex(tmp_path)
    await index.apply(SPACE, [entry("one")], [], cursor=1)
    assert len(await index.search(SPACE, ["cat"], Filters(), limit=5)) == 1
    await index.aclose()


async def test_many_changes_of_few_entries_stay_small_and_right(tmp_path: Path) -> None:
    index = EmbeddedLexicalIndex(tmp_path)
    for turn in range(30):
        changed = [entry(f"e{number:03}", f"turn{turn} cats") for number in range(200)]
        await index.apply(SPACE, changed, [], cursor=turn + 1)
    assert await index.count(SPACE) == 200
    assert list(await index.search(SPACE, ["turn28"], Filters(), limit=5)) == []
    assert [hit.id for hit in await index.search(SPACE, ["turn29"], Filters(), limit=2)] == ["e000", "e001"]
    assert len(await index.search(SPACE, ["cat"], Filters(), limit=1_000)) == 200
    await index.aclose()
