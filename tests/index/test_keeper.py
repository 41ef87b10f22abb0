"""Where work on a namespace runs: at once, or in the keeper's thread."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from hindsight.index import keeper
from hindsight.index.keeper import Keeper

HERE = threading.get_ident


async def seat(held: Keeper[list[str]]) -> int:
    """The thread in which a look is done."""
    return await held.look("s", lambda _: HERE(), size=len)


async def test_a_short_look_is_done_at_once_when_the_namespace_is_open() -> None:
    held: Keeper[list[str]] = Keeper("test", lambda name: [name])
    assert await seat(held) != HERE()  # opening reads files
    assert await seat(held) == HERE()
    await held.aclose(list.clear)


async def test_a_look_at_many_entries_is_done_in_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "QUICK", 1)
    held: Keeper[list[str]] = Keeper("test", lambda name: [name, name])
    await seat(held)
    assert await seat(held) != HERE()
    await held.aclose(list.clear)


async def test_a_look_waits_in_the_thread_for_what_is_at_work() -> None:
    held: Keeper[list[str]] = Keeper("test", lambda name: [name])
    await seat(held)
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def change(names: list[str]) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(10)
        names.append("changed")

    changing = asyncio.create_task(held.call("s", change))
    await begun.wait()
    read: Callable[[list[str]], list[str]] = list
    looking = asyncio.create_task(held.look("s", read, size=len))
    await asyncio.sleep(0)
    assert not looking.done()
    go_on.set()
    assert await looking == ["s", "changed"]
    await changing
    await held.aclose(list.clear)


async def test_a_look_that_fails_gives_its_turn_back() -> None:
    held: Keeper[list[str]] = Keeper("test", lambda name: [name])
    await seat(held)
    with pytest.raises(IndexError):
        await held.look("s", lambda names: names[1], size=len)
    assert await seat(held) == HERE()
    await held.aclose(list.clear)
