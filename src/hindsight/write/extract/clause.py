"""What the rules of both languages give back: a clause that a pattern has understood."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot


@dataclass(frozen=True, slots=True)
class Who:
    """A subject: `word` stands for it in a statement, `name` is what statements about it share.

    `own`: it is the speaker, so that "my" in the same clause is theirs.
    """

    word: str
    name: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a clause speaks of, where its predicate begins, and what of the subject's it is about.

    `thing`: `None` for the person, "person" for one who is only named, else a word such as «生日», "pet", "project".
    """

    who: Who
    at: int
    thing: str | None = None


@dataclass(frozen=True, slots=True)
class Understood:
    """One statement, `content`, read from `[start, end)` of the text."""

    content: str
    start: int
    end: int
    kind: Kind
    slot: Slot
    subject: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Speaking:
    """Who speaks. `me`: what statements about «我» and "I" share, `None` where they are not to be remembered.

    `label` is written in place of these words, so that a statement stands alone: the name of the speaker, or «用户»
    and "The user" for one who gave none.
    """

    me: str | None
    speaker: str | None = None

    def label(self, unnamed: str) -> str:
        """The word for the speaker in a statement; `unnamed` is that of the language for one without a name."""
        return self.speaker or unnamed


@dataclass(frozen=True, slots=True)
class Pattern:
    """A predicate and what it says of its subject.

    `form` must match all of the predicate (in English: all that follows the verb); its group `value` is what is said.
    `denial`: the words themselves deny ("hate"). `deniable`: it may also be said with "not". `bare`: understood of
    the speaker even where no subject was said. `of_others`: also believed of third persons who are named.
    `verbs`: the English verbs that it follows.
    """

    slot: Slot
    kind: Kind
    form: re.Pattern[str]
    denial: bool = False
    deniable: bool = True
    bare: bool = False
    of_others: bool = False
    verbs: frozenset[str] = frozenset()
