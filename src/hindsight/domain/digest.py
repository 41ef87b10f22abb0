"""Many memories told in few sentences, each of which rests on the ids that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hindsight.domain.memory import short_id


class Method(StrEnum):
    """How the sentences came about."""

    EXTRACTIVE = "extractive"  # chosen among what was said, word for word
    ABSTRACTIVE = "abstractive"  # written by a language model, each checked against what it cites


@dataclass(frozen=True, slots=True)
class Passage:
    """Something that can be told: a memory, or a turn that no memory tells. `at`: when it happened, in `timezone`."""

    id: str
    text: str
    at: datetime
    timezone: str = "UTC"
    importance: float = 0.5
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a digest. `ids`: what it rests on, at least one; `at`: when the first of these happened."""

    text: str
    ids: tuple[str, ...]
    at: datetime
    timezone: str = "UTC"

    @property
    def short_ids(self) -> tuple[str, ...]:
        """The short forms of `ids`."""
        return tuple(map(short_id, self.ids))


@dataclass(frozen=True, slots=True)
class Digest:
    """A session or a time range told. `context`: the fenced block; `text`: its lines without the fence.

    `examined`: passages there were to tell; `written_by`: the model and its prompt where one wrote it; `degraded` names
    what should have had a part and had not.
    """

    sentences: tuple[Sentence, ...]
    method: Method
    text: str
    context: str
    tokens: int
    examined: int
    written_by: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer to a question, with citations.

    `answered` is false where nothing in memory answers; `confident`: the search found something that fits well.
    Other fields as in `Digest`; `trace_id` is that of the search.
    """

    sentences: tuple[Sentence, ...]
    answered: bool
    confident: bool
    method: Method
    text: str
    context: str
    tokens: int
    trace_id: str
    written_by: str | None = None
    degraded: tuple[str, ...] = ()

    @property
    def cited(self) -> tuple[str, ...]:
        """Every id that a sentence rests on, once, in order."""
        return tuple(dict.fromkeys(one for sentence in self.sentences for one in sentence.ids))
