"""Entries, filters and vectors for tests of indexes: few distinct values, so that filters often match something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.memory import Kind, Layer, Status
from hindsight.domain.query import Filters, TimeRange

SPACE = "someone"
DAY = datetime(2024, 1, 15, 12, tzinfo=UTC)
TEXTS = ("cats sleep", "cats and dogs", "我养了一只猫", "rerank精排", "a dog called Bello", "早上喝咖啡", "UA123", "?!")

_words = st.sampled_from(["a", "b", "猫", "O'Hara"])
_sessions = st.none() | st.sampled_from(["s1", "s2", "会话三"])
_speakers = st.none() | st.sampled_from(["Ann", "李雷"])
_moments = st.integers(-3, 3).map(lambda days: DAY + timedelta(days=days)) | st.sampled_from(
    [DAY + timedelta(microseconds=1), DAY - timedelta(microseconds=1), datetime.min.replace(tzinfo=UTC)]
)
_confidences = st.sampled_from([0.0, 0.29, 0.3, 0.5, 1.0])


def entry(entry_id: str = "one", content: str = TEXTS[0], **fields: object) -> Entry:
    """An active fact of `SPACE`, unless `fields` say otherwise."""
    known: dict[str, object] = {"layer": Layer.SEMANTIC, "kind": Kind.FACT, "occurred_at": DAY, "namespace": SPACE}
    return Entry(id=entry_id, content=content, **(known | fields))  # type: ignore[arg-type]  # only what it reads


@st.composite
def _entries_of(draw: st.DrawFn, entry_id: str) -> Entry:
    return Entry(
        id=entry_id,
        namespace=SPACE,
        content=draw(st.sampled_from(TEXTS)),
        layer=draw(st.sampled_from(Layer)),
        kind=draw(st.none() | st.sampled_from(Kind)),
        occurred_at=draw(_moments),
        status=draw(st.sampled_from(Status)),
        confidence=draw(_confidences),
        valid_from=draw(st.none() | _moments),
        valid_to=draw(st.none() | _moments),
        session_id=draw(_sessions),
        position=draw(st.integers(-1, 2)),
        speaker=draw(_speakers),
        tags=tuple(draw(st.lists(_words, max_size=2))),
        entities=tuple(draw(st.lists(_words, max_size=2))),
        pinned=draw(st.booleans()),
    )


def entries(*, max_size: int = 12) -> st.SearchStrategy[list[Entry]]:
    """Entries with ids of their own."""
    ids = st.lists(st.sampled_from([f"e{number:02}" for number in range(max_size)]), unique=True, max_size=max_size)
    return ids.flatmap(lambda names: st.tuples(*(_entries_of(name) for name in names))).map(list)


def _some(values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just(()) | st.lists(values, min_size=1, max_size=2).map(tuple)


def filters() -> st.SearchStrategy[Filters]:
    """Filters over the values that `entries` draws from."""
    sessions, speakers = st.sampled_from(["s1", "会话三", "unknown"]), st.sampled_from(["Ann", "unknown"])
    return st.builds(
        Filters,
        kinds=st.just(()) | st.lists(st.sampled_from(Kind), max_size=3).map(tuple),
        layers=st.just(()) | st.lists(st.sampled_from(Layer), max_size=2).map(tuple),
        session_ids=_some(sessions),
        exclude_sessions=_some(sessions),
        tags=_some(_words),
        entities=_some(_words),
        speakers=_some(speakers),
        time_range=st.none() | st.builds(TimeRange, st.none() | _moments, st.none() | _moments),
        min_confidence=st.none() | _confidences,
        as_of=st.none() | _moments,
        statuses=st.just((Status.ACTIVE,)) | st.lists(st.sampled_from(Status), max_size=3).map(tuple),
        episodes=st.booleans(),
        pinned=st.none() | st.booleans(),
    )


def unit_vectors(count: int, dimensions: int, *, seed: int = 1) -> NDArray[np.float32]:
    """Vectors as sentence encoders make them: clustered, and with most of their length in few directions."""
    random = np.random.default_rng(seed)
    strengths = 1 / np.sqrt(1 + np.arange(dimensions))
    centres = random.normal(size=(max(2, count // 20), dimensions)) * strengths
    vectors = (
        centres[random.integers(len(centres), size=count)] + 0.5 * random.normal(size=(count, dimensions)) * strengths
    )
    units: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return units
