"""Where the rules can't tell how two statements stand to each other, and what another judge may then say of them."""

from __future__ import annotations

from hindsight.language.statement.claim import Reading
from hindsight.language.statement.verdict import Relation, Verdict

# Classes of words that tell no two things apart: outside the lexicon, or no nouns.
_NO_THINGS = frozenset({"word", "num", "code", "verb", "be", "state", "health", "end", "change", "me", "my"})
_NONE: frozenset[Relation] = frozenset()


def open_to(old: Reading, new: Reading, verdict: Verdict) -> frozenset[Relation]:
    """The relations that a judge may choose from in place of a verdict; empty where the rules are sure.

    Another figure, name, known thing or a denial rules out the same; nothing is replaced that the new words leave be.
    """
    if verdict.sure:
        return _NONE
    choices = {Relation.DIFFERENT}
    if _may_be_same(old, new):
        choices.add(Relation.SAME)
    if verdict.relation is Relation.SUPERSEDES or _turns(old, new):
        choices.add(Relation.SUPERSEDES)
    return frozenset(choices) if len(choices) > 1 else _NONE


def _may_be_same(old: Reading, new: Reading) -> bool:
    if any(claim.turn is not None or claim.dropped for claim in (*old.claims, *new.claims)) or new.corrects:
        return False
    mine, theirs = set(old.names), set(new.names)
    times = [frozenset().union(*(claim.times for claim in reading.claims)) for reading in (old, new)]
    return (
        sorted(old.figures) == sorted(new.figures)
        and (mine <= theirs or theirs <= mine)
        and (times[0] <= times[1] or times[1] <= times[0])
        and _denies(old) == _denies(new)
        and not (_things(old) - _things(new) and _things(new) - _things(old))
    )


def _things(reading: Reading) -> frozenset[str]:
    """The things it speaks of that the lexicon knows: two of these are not one, «pizza» and «sushi»."""
    return frozenset(concept for claim in reading.claims for concept, kind in claim.kinds if kind not in _NO_THINGS)


def _turns(old: Reading, new: Reading) -> bool:
    """Whether the new words say that something has changed."""
    changed = any(claim.turn is not None or claim.now or claim.dropped or claim.for_good for claim in new.claims)
    return changed or new.corrects or _denies(old) != _denies(new)


def _denies(reading: Reading) -> bool:
    return any(claim.negated for claim in reading.claims)
