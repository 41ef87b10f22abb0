"""Memory inside a Python program: an `Engine` on a data folder, async and sync, with the methods of SPEC §8.

from hindsight import Hindsight

with Hindsight("my-data") as memory:
    memory.write("用户对花生过敏", session_id="s1")
    print(memory.search("吃什么要小心").context)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from hindsight import config
from hindsight.app import open_engine
from hindsight.config import Settings
from hindsight.domain.change import Contradiction, Receipt, ReviewChoice, ReviewState, Revision
from hindsight.domain.episode import EMPTY, JsonValue, Message, Metadata
from hindsight.domain.evaluation import Evaluation
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.page import Order, Page, Stats
from hindsight.domain.pruning import PruneReport
from hindsight.domain.query import Filters, SearchResult, TimeRange
from hindsight.domain.replay import Explanation, Replay
from hindsight.engine import Engine
from hindsight.errors import Unavailable
from hindsight.experience.prune import parse_prune
from hindsight.experience.record import agent_name, parse_experience
from hindsight.search.request import parse_filters, parse_query
from hindsight.write.parse import parse_write

P = ParamSpec("P")
T = TypeVar("T")


class AsyncHindsight:
    """Memory on a data folder, for `async` programs.

    Opens at the first call or at `async with`; `aclose` finishes what is queued. Several may share one folder, in one
    process or in many. `namespace` is the wall everything stays behind unless a call names another.
    """

    def __init__(
        self,
        data_dir: str | PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        given = {} if data_dir is None else {"data_dir": Path(data_dir)}
        self._settings = settings or config.load(**given)
        self._namespace = self._settings.namespace if namespace is None else namespace
        self._opening: asyncio.Task[Engine] | None = None
        self._parent: AsyncHindsight | None = None

    def namespace(self, name: str) -> AsyncHindsight:
        """The same memory seen from another namespace; closing it closes nothing."""
        view = AsyncHindsight(namespace=name, settings=self._settings)
        view._parent = self._parent or self
        return view

    @property
    def is_view(self) -> bool:
        """Whether this is another's namespace view."""
        return self._parent is not None

    async def engine(self) -> Engine:
        """The engine, opened once."""
        if self._parent is not None:
            return await self._parent.engine()
        if self._opening is None:
            self._opening = asyncio.create_task(open_engine(self._settings))
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    def _opened(self, opening: asyncio.Task[Engine]) -> None:
        # One that failed is let go, and the next call tries again; one that a caller stopped waiting for stays.
        if self._opening is opening and (opening.cancelled() or opening.exception() is not None):
            self._opening = None

    async def aclose(self) -> None:
        """Finish what is queued and close. A later call would open it again."""
        opening, self._opening = self._opening, None
        if opening is not None:
            await (await opening).aclose()

    async def __aenter__(self) -> Self:
        await self.engine()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _within(self, namespace: str | None) -> str:
        return self._namespace if namespace is None else namespace

    async def write(
        self,
        content: str | Message | Sequence[Message | Mapping[str, object]],
        *,
        namespace: str | None = None,
        session_id: str | None = None,
        occurred_at: datetime | str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        kind: Kind | str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        timezone: str | None = None,
        metadata: Metadata = EMPTY,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Keep what was said or done. Text, or messages with roles, speakers and times of their own.

        `kind` says what the whole content is, and it becomes one memory of that kind; without it, statements are
        extracted. Raises `InvalidInput` by field.
        """
        given = {
            "content": content,
            "session_id": session_id,
            "occurred_at": occurred_at,
            "speaker": speaker,
            "role": role,
            "kind": kind,
            "importance": importance,
            "tags": tags,
            "timezone": timezone,
            "metadata": metadata,
            "idempotency_key": idempotency_key,
        }
        engine = await self.engine()
        return await engine.write(self._within(namespace), parse_write(given, timezone=self._settings.timezone))

    async def write_many(
        self, writes: Iterable[Mapping[str, object]], *, namespace: str | None = None
    ) -> list[Receipt]:
        """Keep many things at once, each a mapping of `write`'s arguments by name; much quicker than one by one."""
        zone = self._settings.timezone
        requests = [parse_write(given, timezone=zone) for given in writes]
        engine = await self.engine()
        return await engine.write_many(self._within(namespace), requests)

    async def write_experience(
        self,
        trigger_context: str,
        action_steps: Sequence[str],
        *,
        namespace: str | None = None,
        outcome_status: OutcomeStatus | str = OutcomeStatus.SUCCESS,
        tags: Sequence[str] = (),
        tools_used: Sequence[str] = (),
        keywords: Sequence[str] = (),
        session_id: str | None = None,
        agent: str | None = None,
    ) -> Receipt:
        """Keep what worked or failed: in which situation, which steps, how it ended.

        One for the same situation as another is merged with it. A situation that fits everything is sharpened by what
        the steps name, or refused with what is missing (`InvalidInput`). `agent`: who says so, else the setting.
        """
        request = parse_experience(
            trigger_context,
            action_steps,
            outcome_status=outcome_status,
            tags=tags,
            tools_used=tools_used,
            keywords=keywords,
            session_id=session_id,
            agent=self._settings.agent if agent is None else agent,
        )
        engine = await self.engine()
        return await engine.write_experience(self._within(namespace), request)

    async def merge_experiences(self, *, namespace: str | None = None, agent: str | None = None) -> Receipt:
        """Merge experiences that are for the same situation; the receipt's `undo` takes all of it back."""
        engine = await self.engine()
        agent = self._settings.agent if agent is None else agent
        return await engine.merge_experiences(self._within(namespace), agent=agent)

    async def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        top_k: int | None = None,
        session_id: str | None = None,
        time_range: TimeRange | str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        asked_at: datetime | str | None = None,
        max_tokens: int | None = None,
        as_of: datetime | str | None = None,
    ) -> SearchResult:
        """What matters for a question, ranked, with the context block. `session_id` asks for that session only."""
        engine = await self.engine()
        question = parse_query(
            query,
            now=engine.now(),
            timezone=self._settings.timezone,
            top_k=top_k,
            session_id=session_id,
            time_range=time_range,
            filters=filters,
            asked_at=asked_at,
            max_tokens=max_tokens,
            as_of=as_of,
        )
        return await engine.search(self._within(namespace), question)

    async def trace(self, trace_id: str, *, namespace: str | None = None) -> dict[str, JsonValue]:
        """The record of one search by the `trace_id` of its result. `NotFound` once it is no longer kept."""
        return await (await self.engine()).trace(self._within(namespace), trace_id)

    async def replay(
        self,
        trace_id: str,
        *,
        namespace: str | None = None,
        as_of_then: bool = False,
        weights: str | Mapping[str, float] | None = None,
    ) -> Replay:
        """Run a traced search again with the clock, use counts and weights of then, and tell what is different.

        `as_of_then` asks the store as it was. `weights`: a preset, `now`, or numbers by name in place of those of then.
        """
        engine = await self.engine()
        return await engine.replay(self._within(namespace), trace_id, as_of_then=as_of_then, weights=weights)

    async def explain(self, trace_id: str, memory_id: str, *, namespace: str | None = None) -> Explanation:
        """Why a traced search did, or did not, return a memory: the stage that lost it."""
        return await (await self.engine()).explain(self._within(namespace), trace_id, memory_id)

    async def evaluate(
        self,
        questions: Sequence[Mapping[str, object]] | None = None,
        *,
        namespace: str | None = None,
        a: str | None = None,
        b: str | None = None,
    ) -> Evaluation:
        """How well questions with known answers are answered under the settings `a` and `b`, each by default the one
        in force, for instance `weights=balanced;routes=keyword;rerank=off`.

        `questions`: objects with `query`, `relevant` (ids) and `asked_at`; `None` takes the stored searches that had
        feedback. Nothing is written.
        """
        return await (await self.engine()).evaluate(self._within(namespace), questions, a, b)

    async def get(self, memory_id: str, *, namespace: str | None = None) -> Memory:
        """One memory by its id, whole or short. `NotFound`, `Ambiguous`."""
        return await (await self.engine()).get(self._within(namespace), memory_id)

    async def list(
        self,
        *,
        namespace: str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        order: Order | str = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        """Memories that match, a page at a time; `after` is the `next` of the page before."""
        wanted = filters if isinstance(filters, Filters) else parse_filters(filters, timezone=self._settings.timezone)
        engine = await self.engine()
        return await engine.list(self._within(namespace), wanted, order=order, limit=limit, after=after)

    async def history(self, memory_id: str, *, namespace: str | None = None) -> Sequence[Revision]:
        """Every state of a memory, oldest first."""
        return await (await self.engine()).history(self._within(namespace), memory_id)

    async def update(
        self,
        memory_id: str,
        new_content: str | None = None,
        *,
        namespace: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
    ) -> Receipt:
        """Change a memory; its former state stays in the history."""
        engine = await self.engine()
        return await engine.update(
            self._within(namespace),
            memory_id,
            new_content=new_content,
            confidence=confidence,
            importance=importance,
        )

    async def pin(self, memory_id: str, *, namespace: str | None = None, pinned: bool = True) -> Receipt:
        """Keep a memory from fading and always in the context block; `pinned=False` lets it go."""
        return await (await self.engine()).pin(self._within(namespace), memory_id, pinned=pinned)

    async def forget(
        self, memory_id: str, *, namespace: str | None = None, decay_factor: float = 1.0, reason: str = ""
    ) -> Receipt:
        """Weaken a memory by a factor; 1 hides it at once. The receipt's `undo` takes it back.

        The id of a turn, which a search gives where no memory says the same, hides the turn and the memories that rest
        on it alone.
        """
        engine = await self.engine()
        return await engine.forget(self._within(namespace), memory_id, decay_factor=decay_factor, reason=reason)

    async def undo(self, token: str, *, namespace: str | None = None) -> Receipt:
        """Take back what a receipt's `undo` token stands for. `Conflict` if it has been changed since."""
        return await (await self.engine()).undo(self._within(namespace), token)

    async def reviews(
        self,
        *,
        namespace: str | None = None,
        state: ReviewState | str = ReviewState.OPEN,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Contradiction]:
        """Contradictions that wait for the user's decision, oldest first; `after` is the `next` of the page before."""
        engine = await self.engine()
        return await engine.reviews(self._within(namespace), state=state, limit=limit, after=after)

    async def resolve_review(
        self, memory_id: str, choice: ReviewChoice | str, *, namespace: str | None = None
    ) -> Receipt:
        """Decide a review by the id of its new memory: `new` holds, `old` goes on, or `both` stand.

        `NotFound` where nothing waits; `Conflict` where it has been decided already. The receipt's `undo` takes the
        decision back, and the review waits again.
        """
        return await (await self.engine()).resolve_review(self._within(namespace), memory_id, choice)

    async def feedback(
        self,
        memory_id: str,
        outcome: OutcomeStatus | str,
        *,
        namespace: str | None = None,
        note: str = "",
        agent: str | None = None,
    ) -> Memory:
        """Say whether following an experience worked; its confidence moves (+10 / -20 hundredths).

        `agent` is who says so, else the setting of that name. Of a merged experience the id of each original counts for
        the way that came of it.
        """
        engine = await self.engine()
        agent = self._settings.agent if agent is None else agent
        return await engine.feedback(self._within(namespace), memory_id, outcome, note=note, agent=agent)

    async def prune(
        self,
        *,
        namespace: str | None = None,
        dry_run: bool = True,
        min_confidence: float | None = None,
        max_age_days: int | None = None,
        min_uses: int | None = None,
        agent: str | None = None,
    ) -> PruneReport:
        """Experiences trusted below 0.3, or older than 90 days (180 in a small library) with fewer than 3 uses.

        A dry run only names them. Else they are archived, the report's `undo` takes that back, and 30 days later they
        may be purged. Pinned ones stay, and failures kept as lessons however old they are.
        """
        agent = self._settings.agent if agent is None else agent
        wanted = parse_prune(
            dry_run=dry_run,
            min_confidence=min_confidence,
            max_age_days=max_age_days,
            min_uses=min_uses,
            actor="" if agent is None else agent_name(agent),
        )
        return await (await self.engine()).prune(self._within(namespace), wanted)

    async def warm(self, *, namespace: str | None = None) -> None:
        """Load now what would otherwise load at the first search."""
        await (await self.engine()).warm(self._within(namespace))

    async def stats(self, *, namespace: str | None = None) -> Stats:
        """Counts of the namespace."""
        return await (await self.engine()).stats(self._within(namespace))


def _blocking(
    method: Callable[Concatenate[AsyncHindsight, P], Coroutine[object, object, T]],
) -> Callable[Concatenate[Hindsight, P], T]:
    """The same method for programs without a loop: one implementation, called across."""

    def call(self: Hindsight, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(method(self._inner, *args, **kwargs))

    call.__name__ = method.__name__
    call.__qualname__ = f"Hindsight.{method.__name__}"
    call.__doc__ = method.__doc__
    return call


class _LoopThread:
    """An event loop in a thread of its own; it ends with the program or with `close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hindsight", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._loop.is_closed()

    def run(self, work: Coroutine[object, object, T]) -> T:
        if self.closed:
            work.close()
            raise Unavailable("this Hindsight is closed", hint="Open a new one on the same folder.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Hindsight:
    """Memory on a data folder. A context manager; `close` finishes what is queued.

    Safe from several threads. Every method is `AsyncHindsight`'s, waited for.
    """

    def __init__(
        self,
        data_dir: str | PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._inner = AsyncHindsight(data_dir, namespace=namespace, settings=settings)
        self._loop = _LoopThread()

    def namespace(self, name: str) -> Hindsight:
        """The same memory seen from another namespace; closing it closes nothing."""
        view = object.__new__(Hindsight)
        view._inner = self._inner.namespace(name)
        view._loop = self._loop
        return view

    def close(self) -> None:
        """Finish what is queued and close; a second call does nothing."""
        if self._inner.is_view or self._loop.closed:
            return
        self._loop.run(self._inner.aclose())
        self._loop.close()

    def __enter__(self) -> Self:
        self._loop.run(self._inner.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    write = _blocking(AsyncHindsight.write)
    write_many = _blocking(AsyncHindsight.write_many)
    write_experience = _blocking(AsyncHindsight.write_experience)
    merge_experiences = _blocking(AsyncHindsight.merge_experiences)
    search = _blocking(AsyncHindsight.search)
    trace = _blocking(AsyncHindsight.trace)
    replay = _blocking(AsyncHindsight.replay)
    explain = _blocking(AsyncHindsight.explain)
    evaluate = _blocking(AsyncHindsight.evaluate)
    get = _blocking(AsyncHindsight.get)
    list = _blocking(AsyncHindsight.list)
    history = _blocking(AsyncHindsight.history)
    update = _blocking(AsyncHindsight.update)
    pin = _blocking(AsyncHindsight.pin)
    forget = _blocking(AsyncHindsight.forget)
    undo = _blocking(AsyncHindsight.undo)
    reviews = _blocking(AsyncHindsight.reviews)
    resolve_review = _blocking(AsyncHindsight.resolve_review)
    feedback = _blocking(AsyncHindsight.feedback)
    prune = _blocking(AsyncHindsight.prune)
    warm = _blocking(AsyncHindsight.warm)
    stats = _blocking(AsyncHindsight.stats)
