"""`Client`: the same methods for programs without an event loop."""

from __future__ import annotations

from hindsight.blocking import Blocking, LoopThread, blocking
from hindsight.client.asynchronous import AsyncClient
from hindsight.client.opening import DEFAULT_URL, TIMEOUT


class Client(Blocking[AsyncClient]):
    """Memory on a server. A context manager; `close` closes the connections.

    Safe from several threads. Every method is `AsyncClient`'s, waited for.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        api_key: str | None = None,
        namespace: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._inner = AsyncClient(base_url, api_key=api_key, namespace=namespace, timeout=timeout)
        self._loop = LoopThread()

    write = blocking(AsyncClient.write)
    write_many = blocking(AsyncClient.write_many)
    get = blocking(AsyncClient.get)
    list = blocking(AsyncClient.list)
    history = blocking(AsyncClient.history)
    update = blocking(AsyncClient.update)
    pin = blocking(AsyncClient.pin)
    forget = blocking(AsyncClient.forget)
    undo = blocking(AsyncClient.undo)
    reviews = blocking(AsyncClient.reviews)
    resolve_review = blocking(AsyncClient.resolve_review)
    stats = blocking(AsyncClient.stats)
    search = blocking(AsyncClient.search)
    trace = blocking(AsyncClient.trace)
    replay = blocking(AsyncClient.replay)
    explain = blocking(AsyncClient.explain)
    write_experience = blocking(AsyncClient.write_experience)
    merge_experiences = blocking(AsyncClient.merge_experiences)
    feedback = blocking(AsyncClient.feedback)
    prune = blocking(AsyncClient.prune)
    summarize = blocking(AsyncClient.summarize)
    answer = blocking(AsyncClient.answer)
    cleanup = blocking(AsyncClient.cleanup)
    profile = blocking(AsyncClient.profile)
    reflect = blocking(AsyncClient.reflect)
    working = blocking(AsyncClient.working)
    end_session = blocking(AsyncClient.end_session)
    sessions = blocking(AsyncClient.sessions)
    forget_about = blocking(AsyncClient.forget_about)
    proof = blocking(AsyncClient.proof)
    jobs = blocking(AsyncClient.jobs)
    cancel_job = blocking(AsyncClient.cancel_job)
    schedule = blocking(AsyncClient.schedule)
