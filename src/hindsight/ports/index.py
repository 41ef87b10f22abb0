"""What searches look things up in: projections of the store, and answers kept for a moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hindsight.domain.entry import Entry
from hindsight.domain.query import Answer, Filters, Scored
from hindsight.domain.surroundings import Surroundings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Index(Protocol):
    """A projection of the store: can be deleted at any time, and catches up by the change log."""

    async def cursor(self, namespace: str) -> int:
        """The change number this index has followed to; 0 for an empty one."""
        ...

    async def mark(self, namespace: str) -> str:
        """What `apply` was told of the change at the cursor: another store's change of this number has another."""
        ...

    async def drop(self, namespace: str) -> None:
        """Forget a namespace; its cursor is 0 again."""
        ...

    async def count(self, namespace: str) -> int:
        """Entries held."""
        ...

    async def aclose(self) -> None:
        """Save what makes the next start quick, and close."""
        ...


class VectorIndex(Index, Protocol):
    """Finds entries by closeness of meaning."""

    async def apply(
        self,
        namespace: str,
        upserts: Sequence[tuple[Entry, NDArray[np.float32]]],
        deletes: Sequence[str],
        *,
        cursor: int,
        mark: str = "",
    ) -> None:
        """Take in entries with their unit vectors, let others go, and move the cursor. Repeating it changes nothing."""
        ...

    async def search(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Sequence[Scored]:
        """The `limit` entries with the highest cosine among those that match, best first; ties by id."""
        ...

    async def cosines(self, namespace: str, vector: NDArray[np.float32], ids: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each of these entries, in their order; NaN for one that is not held."""
        ...


class LexicalIndex(Index, Protocol):
    """Finds entries by their words; one scorer for all stores."""

    async def apply(
        self, namespace: str, upserts: Sequence[Entry], deletes: Sequence[str], *, cursor: int, mark: str = ""
    ) -> None:
        """Take in entries, let others go, and move the cursor. Repeating it changes nothing."""
        ...

    async def search(self, namespace: str, terms: Sequence[str], filters: Filters, *, limit: int) -> Sequence[Scored]:
        """The `limit` best entries by BM25 among those that match and share a term, best first; ties by id.

        `terms` come from `hindsight.language.segment.query_terms`.
        """
        ...

    async def ceiling(self, namespace: str, terms: Sequence[str]) -> float:
        """Sum of the terms' idf: what a text that has them all could score; puts scores on an absolute scale."""
        ...

    async def around(self, namespace: str, terms: Sequence[str], filters: Filters, ids: Sequence[str]) -> Surroundings:
        """These entries and the rest of their sessions, as far as they match, with the BM25 of each (0: no term).

        Those without a session first, then session by session, turn by turn: by time, then by position.
        Unknown ids are passed over.
        """
        ...


class Cache(Protocol):
    """Answers kept for a moment. It may lose any of them at any time, and whoever reads one checks that it still holds.

    A cache that can't be reached raises `Unavailable`, soon.
    """

    async def get(self, namespace: str, key: str) -> Answer | None:
        """The answer last put there, while it is kept."""
        ...

    async def put(self, namespace: str, key: str, answer: Answer) -> None:
        """Keep an answer for the cache's lifetime, in place of one of the same key."""
        ...

    async def drop(self, namespace: str) -> None:
        """Let go all answers of a namespace."""
        ...

    async def aclose(self) -> None:
        """Let go of memory and connections; a second call does nothing."""
        ...
