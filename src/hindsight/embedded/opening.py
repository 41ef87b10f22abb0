"""An engine on a data folder: opened once, at the first call, and seen from a namespace."""

from __future__ import annotations

import asyncio
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from hindsight import config
from hindsight.app import open_engine
from hindsight.config import Settings
from hindsight.engine import Engine
from hindsight.observe.metrics import Metrics


class Opened:
    """Opens its engine at the first call or at `async with`; `aclose` finishes what is queued."""

    def __init__(
        self,
        data_dir: str | PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        settings: Settings | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        given = {} if data_dir is None else {"data_dir": Path(data_dir)}
        self._settings = settings or config.load(**given)
        self._namespace = self._settings.namespace if namespace is None else namespace
        self._metrics = metrics or Metrics()
        self._opening: asyncio.Task[Engine] | None = None
        self._parent: Self | None = None

    def namespace(self, name: str) -> Self:
        """The same memory seen from another namespace; closing it closes nothing."""
        view = type(self)(namespace=name, settings=self._settings)
        view._parent = self._parent or self
        return view

    @property
    def name(self) -> str:
        """The namespace it is seen from."""
        return self._namespace

    def reporting_as(self, agent: str) -> Self:
        """The same memory as one agent uses it: its experiences and reports carry its name, unless one is set."""
        if self._settings.agent is not None:
            return self
        view = self.namespace(self._namespace)
        view._settings = self._settings.model_copy(update={"agent": agent})
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
            self._opening = asyncio.create_task(open_engine(self._settings, self._metrics))
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
