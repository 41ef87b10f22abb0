"""Values for tests: builders with plain defaults, and Hypothesis strategies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hindsight.domain.change import Act, Batch, Embedding, Put
from hindsight.domain.episode import Episode, Origin, Role
from hindsight.domain.experience import Action, Credit, Experience, Outcome, OutcomeStatus, Trigger, Way
from hindsight.domain.memory import Kind, Layer, Memory, Source, Statement, Status
from hindsight.domain.query import Filters, TimeRange

NOON = datetime(2024, 1, 15, 12, 0, 0, 123456, tzinfo=UTC)
SPACE = "user:li"
MODEL = "model-a@1"


def an_episode(name: str = "e1", **fields: Any) -> Episode:
    """An episode called `name`; its key follows from it."""
    plain = Episode(
        id=name,
        namespace=SPACE,
        content=f"{name}: 用户说他住在北京朝阳区，家里有只猫叫咪咪",
        occurred_at=NOON,
        recorded_at=NOON,
        timezone="Asia/Shanghai",
        key=f"key of {name}",
    )
    return replace(plain, **fields)


def a_memory(name: str = "m1", **fields: Any) -> Memory:
    """A fact called `name`; its content and content key follow from it."""
    plain = Memory(
        id=name,
        namespace=SPACE,
        content=f"{name}: 用户住在北京朝阳区",
        layer=Layer.SEMANTIC,
        kind=Kind.FACT,
        occurred_at=NOON,
        timezone="Asia/Shanghai",
        created_at=NOON,
        updated_at=NOON,
        content_key=f"content of {name}",
    )
    return replace(plain, **fields)


def an_experience(**fields: Any) -> Experience:
    """What to do when a report is due."""
    plain = Experience(
        Trigger("周报要交了", ("周报", "report")),
        Action(("collect", "write", "send"), ("git", "mail")),
        Outcome(OutcomeStatus.SUCCESS, 60, 1, 0),
    )
    return replace(plain, **fields)


def new(memory: Memory, act: Act = Act.ADDED) -> Put:
    """The put of a new memory."""
    return Put(memory, None, act)


def changed(memory: Memory, act: Act = Act.UPDATED, **fields: Any) -> Put:
    """The put of a memory in its next version."""
    return Put(replace(memory, version=memory.version + 1, **fields), memory.version, act)


def a_batch(key: str, **fields: Any) -> Batch:
    """A batch, empty but for `fields`."""
    return replace(Batch(namespace=SPACE, key=key, at=NOON), **fields)


def a_vector(seed: int, dimensions: int = 64) -> Any:
    """A unit vector, another one for each seed."""
    vector = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def an_embedding(entry_id: str, seed: int = 1, model: str = MODEL) -> Embedding:
    """The embedding of an entry."""
    return Embedding(entry_id, model, a_vector(seed))


# Strategies ---------------------------------------------------------------------------------------------------------

WORDS = ("家", "home", "工作", "Ünïcode", "")
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
zones = st.sampled_from((UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-3, minutes=-30))))
times = st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1), timezones=zones)  # noqa: DTZ001 - Hypothesis adds zones
near_times = st.integers(-3, 3).map(lambda hours: NOON + timedelta(hours=hours, microseconds=hours))
shares = st.sampled_from((0.0, 0.1, 0.3, 0.5, 0.500001, 0.8, 1.0))
words = st.sampled_from(WORDS)
some_words = st.lists(words, max_size=3).map(tuple)
maybe_words = st.none() | words
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
metadata = st.dictionaries(texts, json_values, max_size=3)

some_texts = st.lists(texts, max_size=3).map(tuple)
statements = st.builds(Statement, st.none() | texts, st.none() | texts, st.none() | texts, st.booleans(), some_words)
actions = st.builds(Action, some_texts, some_texts)
outcomes = st.builds(
    Outcome,
    st.sampled_from(OutcomeStatus),
    st.integers(0, 100),
    st.integers(0, 9),
    st.integers(0, 9),
    st.none() | times.map(lambda moment: moment.astimezone(UTC)),
)
experiences = st.builds(
    Experience,
    st.builds(Trigger, texts, some_texts),
    actions,
    outcomes,
    st.lists(st.builds(Way, texts, actions, outcomes), max_size=2).map(tuple),
    some_texts,
    st.lists(st.builds(Credit, texts, st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple),
)


def episodes_called(name: str) -> st.SearchStrategy[Episode]:
    """Any episode with this id and the key that goes with it."""
    return st.builds(
        an_episode,
        st.just(name),
        content=texts,
        occurred_at=times,
        recorded_at=times,
        timezone=texts,
        session_id=maybe_words,
        role=st.sampled_from(Role),
        speaker=st.none() | texts,
        agent=st.none() | texts,
        tool=st.none() | texts,
        metadata=metadata,
    )


def memories_called(name: str, sources: tuple[Source, ...] = ()) -> st.SearchStrategy[Memory]:
    """Any memory with this id, every field free; its values meet those of `filters`."""
    return st.builds(
        a_memory,
        st.just(name),
        content=texts,
        layer=st.sampled_from(Layer),
        kind=st.sampled_from(Kind),
        occurred_at=near_times,
        timezone=texts,
        created_at=near_times,
        updated_at=times,
        body=statements | experiences,
        status=st.sampled_from(Status),
        importance=shares,
        confidence=shares,
        strength=shares,
        pinned=st.booleans(),
        verbatim=st.booleans(),
        origin=st.sampled_from(Origin),
        valid_from=st.none() | near_times,
        valid_to=st.none() | near_times,
        superseded_by=st.none() | texts,
        session_id=maybe_words,
        speaker=maybe_words,
        agent=st.none() | texts,
        tags=some_words,
        entities=some_words,
        sources=st.lists(st.sampled_from(sources), max_size=3).map(tuple) if sources else st.just(()),
        metadata=metadata,
    )


def few(values: type[StrEnum]) -> st.SearchStrategy[tuple[Any, ...]]:
    """None, one or two members of an enum, most often none."""
    return st.just(()) | st.lists(st.sampled_from(values), max_size=2).map(tuple)


few_words = st.just(()) | st.lists(words, max_size=2).map(tuple)
filters = st.builds(
    Filters,
    kinds=few(Kind),
    layers=few(Layer),
    session_ids=few_words,
    exclude_sessions=few_words,
    tags=few_words,
    entities=few_words,
    speakers=few_words,
    time_range=st.none() | st.builds(TimeRange, st.none() | near_times, st.none() | near_times),
    min_confidence=st.none() | shares,
    as_of=st.none() | near_times,
    statuses=st.just((Status.ACTIVE,)) | few(Status),
    episodes=st.booleans(),
    pinned=st.none() | st.booleans(),
)
