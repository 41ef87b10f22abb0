"""The whole of hindsight where processes die, race each other, and run out of room (CASES W8, W9, W12, R2, R3, S4)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import httpx2
import pytest

from hindsight import Hindsight, app, config
from hindsight.domain.memory import Memory
from hindsight.errors import StorageFull
from tests.fellow import Fellow
from tests.forks import Forks

KILLS = 10
CLIENTS = 4

no_kill = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL")


def plain(folder: Path) -> Hindsight:
    """Memory by words alone: nothing here is about meaning, and it opens at once."""
    return Hindsight(settings=config.load(data_dir=folder, embedding_model="none"))


def everything(memory: Hindsight) -> list[Memory]:
    held: list[Memory] = []
    after: str | None = None
    while True:
        page = memory.list(limit=500, after=after)
        held += page.items
        after = page.next
        if after is None:
            return held


def write_on(base: str, first: int, enough: Event, wanted: int) -> dict[str, str]:
    """Write until the server is gone: the texts that were answered, by the id of their memory."""
    answered: dict[str, str] = {}
    with httpx2.Client(base_url=base, timeout=60) as client:
        while True:
            text = f"Locker {first + len(answered)} belongs to the blue team"
            try:
                answer = client.post("/v1/memories", json={"content": text})
            except httpx2.TransportError:
                return answered
            assert answer.status_code == 200, answer.text
            answered[answer.json()["outcomes"][0]["memory_id"]] = text
            if len(answered) >= wanted:
                enough.set()


@no_kill
def test_a_server_killed_at_any_moment_keeps_every_answered_write(tmp_path: Path) -> None:
    chance = random.Random(20240115)
    answered: dict[str, str] = {}
    with Forks(tmp_path / "data", {"EMBEDDING_MODEL": "none"}) as forks, ThreadPoolExecutor(CLIENTS) as pool:
        for kill in range(KILLS):
            pid, base = forks.start()
            enough = Event()
            wanted = chance.choice((1, 3, 10, 30))
            writers = [
                pool.submit(write_on, base, (kill * CLIENTS + number) * 10_000, enough, wanted)
                for number in range(CLIENTS)
            ]
            assert enough.wait(60)
            # Twice it is asked to stop and saves its index; what is written afterwards is beside that snapshot.
            by = signal.SIGTERM if kill in (3, 6) else signal.SIGKILL
            os.kill(pid, by)
            for writer in writers:
                answered |= writer.result()
            assert forks.ended() in (-by, 0)
    with plain(tmp_path / "data") as memory:
        held = {one.id: one.content for one in everything(memory)}
        assert {one: held.get(one) for one in answered} == answered
        assert len(set(held.values())) == len(held) == memory.stats().episodes
        assert len(held) <= len(answered) + CLIENTS * KILLS
        for text in list(held.values())[:: max(1, len(held) // 40)]:
            assert text in memory.search(text).context


@no_kill
def test_a_server_asked_to_stop_answers_what_it_has_begun(tmp_path: Path) -> None:
    with Forks(tmp_path / "data", {"EMBEDDING_MODEL": "none"}) as forks, ThreadPoolExecutor(20) as pool:
        pid, base = forks.start()
        enough = Event()
        writers = [pool.submit(write_on, base, number * 10_000, enough, 3) for number in range(20)]
        assert enough.wait(60)
        os.kill(pid, signal.SIGTERM)
        answered = sum(len(writer.result()) for writer in writers)
        forks.ended()
    with plain(tmp_path / "data") as memory:
        assert memory.stats().episodes == answered


def test_two_processes_that_say_the_same_at_once_make_one_memory_of_two_sources(tmp_path: Path) -> None:
    with Fellow(tmp_path) as one, Fellow(tmp_path) as two:
        texts = [f"The gate code of block {number} is {number * 37 % 1000}" for number in range(40)]
        actions = []
        for text in texts:
            for each in (one, two):
                each.ask("write", text)
            actions.append({one.answer(), two.answer()})
    assert actions == [{"added", "merged"}] * len(texts)
    with plain(tmp_path) as memory:
        held = everything(memory)
        assert sorted(one.content for one in held) == sorted(texts)
        assert {len({source.episode_id for source in one.sources}) for one in held} == {2}
        assert memory.stats().episodes == 2 * len(texts)


def test_what_one_process_was_answered_another_finds_at_once(tmp_path: Path) -> None:
    with Fellow(tmp_path) as one, Fellow(tmp_path) as two:
        for number in range(20):
            writer, reader = (one, two) if number % 2 else (two, one)
            writer.ask("write", f"The gate code of block {number} is {number + 4711}")
            writer.answer()
            reader.ask("search", f"gate code of block {number}")
            assert str(number + 4711) in reader.answer()


def test_two_processes_write_five_hundred_memories_each(tmp_path: Path) -> None:
    with Fellow(tmp_path) as one, Fellow(tmp_path) as two:
        one.ask("many", 10_000, 500)
        two.ask("many", 20_000, 500)
        assert (one.answer(), two.answer()) == (500, 500)
    with plain(tmp_path) as memory:
        assert len({held.content for held in everything(memory)}) == 1_000
        assert memory.stats().change == 1_000


def test_a_filter_applies_before_the_best_are_chosen(tmp_path: Path) -> None:
    with plain(tmp_path) as memory:
        for start in range(0, 4_000, 1_000):
            loud = [{"content": f"lunch lunch at noon, table {start + number}"} for number in range(1_000)]
            memory.write_many([{**one, "session_id": f"other {number % 40}"} for number, one in enumerate(loud)])
        own = [
            "Lunch with Ana was in the old harbour",
            "Nobody paid for the lunch of Bruno",
            "We had a late lunch of rice",
        ]
        for text in own:
            memory.write(text, session_id="mine")
        found = memory.search("lunch", session_id="mine", top_k=50)
        assert sorted(hit.content for hit in found.hits) == own


LONG = "The quarterly report says nothing new about the harbour. " * 17_500


def test_a_megabyte_is_found_at_its_end_from_every_door(tmp_path: Path) -> None:
    environment = {**os.environ, "HINDSIGHT_DATA_DIR": str(tmp_path / "cli"), "EMBEDDING_MODEL": "none"}
    command = [sys.executable, "-m", "hindsight.interfaces.cli"]
    said = f"{LONG}The cellar key hangs behind the zebrafinch cage."
    written = subprocess.run([*command, "write", "-"], input=said.encode(), env=environment, capture_output=True)
    assert written.returncode == 0, written.stderr
    with plain(tmp_path / "cli") as memory:
        assert "cellar key" in memory.search("zebrafinch").context
    with plain(tmp_path / "python") as memory:
        memory.write(said)
        assert "cellar key" in memory.search("zebrafinch").context


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.needs("mount", "root")
def test_a_full_disk_is_told_and_what_is_kept_stays_found(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with plain(small_disk / "data") as memory:
        memory.write("The first crate holds bolts")
        ballast.write_bytes(b"x" * 1_000_000)
        kept = 1

        def fill() -> None:
            nonlocal kept
            while True:
                memory.write(f"Crate {kept} holds {'字' * 3_000} number {kept}")
                kept += 1

        with pytest.raises(StorageFull, match="no room") as refusal:
            fill()
        assert "Free some space" in refusal.value.hint
        assert "The first crate" in memory.search("first crate").context
        assert memory.stats().episodes >= kept
    with plain(small_disk / "data") as memory:
        assert "The first crate" in memory.search("first crate").context
        ballast.unlink()
        memory.write("The last crate holds screws")
        assert "screws" in memory.search("last crate").context


def test_a_clock_that_goes_back_loses_and_doubles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2024, 5, 5, 12, tzinfo=UTC)
    monkeypatch.setattr(app.SystemClock, "now", lambda _self: now)
    monkeypatch.setattr("time.time", lambda: now.timestamp())
    with plain(tmp_path) as memory:
        texts = [f"The gate code of block {number} is {number + 4711}" for number in range(6)]
        for number, text in enumerate(texts):
            now = datetime(2024, 5, 5, 12, tzinfo=UTC) - timedelta(days=number)
            memory.write(text)
        assert sorted(one.content for one in everything(memory)) == texts
        last = memory.search("gate code of block 5").hits[0]
        assert last.content == texts[5]
        now -= timedelta(days=365)
        undo = memory.forget(last.memory_id).undo
        assert undo is not None
        memory.undo(undo)
        assert [one.act for one in memory.history(last.memory_id)] == ["added", "forgotten", "undone"]
        assert memory.write(LONG).episode_ids
        for text in texts:
            assert text in memory.search(text).context
