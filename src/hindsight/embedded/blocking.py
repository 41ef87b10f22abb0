"""`Hindsight`: the same methods for programs without an event loop."""

from __future__ import annotations

from os import PathLike

from hindsight.blocking import Blocking, LoopThread, blocking
from hindsight.config import Settings
from hindsight.embedded.asynchronous import AsyncHindsight


class Hindsight(Blocking[AsyncHindsight]):
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
        self._loop = LoopThread()

    write = blocking(AsyncHindsight.write)
    write_many = blocking(AsyncHindsight.write_many)
    write_experience = blocking(AsyncHindsight.write_experience)
    merge_experiences = blocking(AsyncHindsight.merge_experiences)
    search = blocking(AsyncHindsight.search)
    trace = blocking(AsyncHindsight.trace)
    replay = blocking(AsyncHindsight.replay)
    explain = blocking(AsyncHindsight.explain)
    evaluate = blocking(AsyncHindsight.evaluate)
    get = blocking(AsyncHindsight.get)
    list = blocking(AsyncHindsight.list)
    history = blocking(AsyncHindsight.history)
    update = blocking(AsyncHindsight.update)
    pin = blocking(AsyncHindsight.pin)
    forget = blocking(AsyncHindsight.forget)
    undo = blocking(AsyncHindsight.undo)
    purge = blocking(AsyncHindsight.purge)
    forget_about = blocking(AsyncHindsight.forget_about)
    proof = blocking(AsyncHindsight.proof)
    jobs = blocking(AsyncHindsight.jobs)
    cancel_job = blocking(AsyncHindsight.cancel_job)
    schedule = blocking(AsyncHindsight.schedule)
    working = blocking(AsyncHindsight.working)
    end_session = blocking(AsyncHindsight.end_session)
    sessions = blocking(AsyncHindsight.sessions)
    reviews = blocking(AsyncHindsight.reviews)
    resolve_review = blocking(AsyncHindsight.resolve_review)
    feedback = blocking(AsyncHindsight.feedback)
    prune = blocking(AsyncHindsight.prune)
    reflect = blocking(AsyncHindsight.reflect)
    summarize = blocking(AsyncHindsight.summarize)
    answer = blocking(AsyncHindsight.answer)
    cleanup = blocking(AsyncHindsight.cleanup)
    profile = blocking(AsyncHindsight.profile)
    make_key = blocking(AsyncHindsight.make_key)
    keys = blocking(AsyncHindsight.keys)
    revoke_key = blocking(AsyncHindsight.revoke_key)
    warm = blocking(AsyncHindsight.warm)
    stats = blocking(AsyncHindsight.stats)
