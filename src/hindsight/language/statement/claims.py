"""What a sentence claims: of whom or what, which relation, which value, denied or not, when, and whether it is news.

One grammar serves both languages, since both put the subject before the predicate and the value after it. It reads
short declarative sentences; of others it still gives the words, so that a comparison can fall back on these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from hindsight.language.statement.claim import LIGHT, Claim, Reading, Turn
from hindsight.language.statement.clauses import KIN, LED, PREDICATES, Clause, clauses
from hindsight.language.statement.predicates import concepts_of, predicated, swapped
from hindsight.language.statement.single import is_single
from hindsight.language.statement.words import Word, words

_OF_NOBODY = frozenset({"client", "assistant", "colleague", "neighbour", "boss", "friend", "classmate", "child"})
_SILENT = frozenset(["eat", "drink", "listen", "watch"])  # «喜欢吃», "love listening to"


@lru_cache(maxsize=4_096)
def read(text: str, me: str = "user") -> Reading:
    """Analyse a text. `me`: whom «我» and "I" stand for."""
    found = words(text)
    wrong = any(word.kind == "correct" and word.concept == "correct" for word in found)
    mild = any(word.kind == "correct" and word.concept == "actually" for word in found)
    claims: list[Claim] = []
    denied: list[str] = []
    for clause in clauses(found):
        if clause.only_denies and claims:
            denied += [word.concept for word in clause.words if word.carries or word.kind == "num"]
            continue
        claim = _claim(clause, claims[-1] if claims else None)
        if claims and _goes_on(clause, claims[-1]):
            claims[-1] = _extended(claims[-1], claim)
        else:
            claims.append(_named(claim, me))
    if denied and claims:
        claims[-1] = replace(claims[-1], dropped=(*claims[-1].dropped, *denied))
    latin = any(not word.han and word.kind in ("word", "name") for word in found)
    figures = tuple(word.concept for word in found if word.kind in ("num", "code"))
    names = tuple(word.concept for word in found if word.kind in ("name", "place", "company"))
    return Reading(tuple(claims), wrong or mild, any(word.han for word in found), latin, figures, names)


def _goes_on(clause: Clause, before: Claim) -> bool:
    """Whether a clause only says more of the value before it: «跑步，一次五公里», "Charles, Duke of Holstein"."""
    spoken = any(word.kind in ("me", "my", *KIN) for word in clause.subject)
    if clause.predicate is not None or clause.located or spoken:
        return False
    return before.slot != "be" or bool(before.value)


def _extended(before: Claim, more: Claim) -> Claim:
    added = tuple(one for one in (*more.subject, *more.value) if one not in before.value)
    return replace(
        before,
        value=(*before.value, *added),
        kinds=(*before.kinds, *more.kinds),
        numbers=(*before.numbers, *more.numbers),
        units=before.units | more.units,
        times=before.times | more.times,
        every=before.every | more.every,
        now=before.now or more.now,
    )


def _named(claim: Claim, me: str) -> Claim:
    if not claim.owner.startswith("i"):
        return claim
    return replace(claim, owner=me + claim.owner.removeprefix("i"))


def _claim(clause: Clause, before: Claim | None) -> Claim:
    """One clause; a subject that it lacks is carried over from the clause before."""
    claim = Claim(
        slot=clause.predicate.concept if clause.predicate is not None else "be",
        subject=concepts_of(clause.subject),
        owner=_owner(clause.subject),
        kin=frozenset(word.concept for word in clause.subject if word.kind in KIN),
        times=clause.times,
        subject_times=clause.subject_times,
        every=clause.every,
        verbs=clause.verbs,
        negated=clause.negated,
        turn=Turn.ENDED if clause.no_longer else None,
        now=clause.now,
        past=clause.past,
        planned=clause.planned,
        also=clause.also,
        for_good=clause.for_good,
        names=frozenset(
            word.concept
            for word in clause.subject
            if word.kind in ("name", "place", "company", "code") or (word.han and word.kind == "word")
        ),
    )
    before_left, led = _left_behind(clause.led)
    after_left, rest = _left_behind(clause.rest)
    left, tail = before_left + after_left, led + rest
    claim = _valued(replace(claim, dropped=tuple(left)), tail)
    claim = swapped(predicated(claim, clause, tail), clause)
    if before is not None and set(claim.subject) <= {"they"}:
        claim = replace(claim, subject=before.subject, owner=before.owner)
    if any(word.kind == "func" and word.concept == "with" and not word.han for word in clause.rest):
        claim = replace(claim, verbs=claim.verbs | {"use"})
    return replace(claim, single=is_single(claim, clause))


def _owner(subject: Sequence[Word]) -> str:
    people = [word for word in subject if word.kind in ("me", "my", *KIN)]
    others = [word for word in subject if word.carries and word.kind not in KIN]
    figures = any(word.kind in ("num", "code") for word in subject)
    if not people or others or figures or all(word.kind == "my" for word in people):
        return ""
    if not any(word.kind in ("me", "my") for word in people) and people[0].concept in _OF_NOBODY:
        return ""  # a customer, not the speaker's
    first = "user" if any(word.concept == "user" for word in people) else "i"
    return "/".join((first, *(word.concept for word in people if word.kind in KIN)))


def _valued(claim: Claim, tail: Sequence[Word]) -> Claim:
    """The claim with content words, quantities and their units out of what follows the predicate."""
    value: list[tuple[str, str]] = []
    numbers: list[str] = []
    units: set[str] = set()
    before: Word | None = None
    acting = False  # behind «做», "as": what somebody is, known to the lexicon or not
    for at, word in enumerate(tail):
        counted = word.han or any(one.kind == "unit" for one in tail[at + 1 : at + 2])
        acting = (acting or word.text in ("as", "当", "担任")) and not (word.kind == "func" and word.concept == "in")
        named = before is not None and before.carries and before.kind not in ("word", "food")
        if word.kind == "num" and named and not counted:
            value.append((word.concept, "num"))  # «Model 3», "Room 101": part of a name
        elif word.kind == "num":
            numbers.append(word.concept)
        elif word.kind == "unit":
            units.add(word.concept)
        elif (
            word.carries
            or word.kind in ("state", "health")
            or (word.kind in PREDICATES and word.concept not in LIGHT and word.concept not in _SILENT)
        ):
            value.append((word.concept, "job" if acting and word.kind == "word" else word.kind))
        elif word.kind == "me":
            value.append(("user", word.kind))
        before = word
    return replace(
        claim,
        value=tuple(dict.fromkeys(concept for concept, _ in value)),
        kinds=tuple(value),
        numbers=tuple(numbers),
        units=frozenset(units),
    )


def _left_behind(tail: Sequence[Word]) -> tuple[list[str], list[Word]]:
    """What stands after «从», "from", "instead of" or "not", up to the next small word; and the rest."""
    left: list[str] = []
    rest: list[Word] = []
    leaving = False
    for word in tail:
        if word.concept == "from" or word.text.lower().startswith("instead"):
            leaving = True
        elif leaving and word.kind == "func" and word.concept == "of":
            continue
        elif leaving and (word.kind in PREDICATES or (word.kind == "func" and word.concept in LED)):
            leaving = False
            rest.append(word)
        elif leaving:
            left += [word.concept] if word.carries else []
        else:
            rest.append(word)
    return left, rest
