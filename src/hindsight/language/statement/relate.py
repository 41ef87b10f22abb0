"""How a later statement stands to an earlier one: the same, different, or in its place.

Decided by what both say, never by closeness alone: by subject, slot, value, denial, number, time and turn. In doubt
they are different, since a second copy costs less than a lost fact.
"""

from __future__ import annotations

from hindsight.language.statement.claim import LIGHT, Claim, Reading, Turn
from hindsight.language.statement.lexicon import relatives
from hindsight.language.statement.moments import apart_in_time
from hindsight.language.statement.subjects import Subjects, has_figures, owners, plain, subjects_of
from hindsight.language.statement.turns import (
    changed,
    corrected,
    ended,
    given_up,
    moved_or_cancelled,
    outgrown,
    replaced,
)
from hindsight.language.statement.values import denied, heads_agree, slots_meet, values_of
from hindsight.language.statement.verdict import Relation, Verdict, different, unrelated, unsure

_WEAK = LIGHT | {"use", "run", "wear", "work", "host"}  # of a thing they say little more than «is» and «has»


MAX_WORDS = 8  # with content, in all clauses of a text that is still compared by words in common


def relate(old: Reading, new: Reading, closeness: float | None = None) -> Verdict:
    """How `new`, said later, stands to `old`. `closeness`: calibrated similarity of the texts, if known."""
    if not old.claims or not new.claims:
        return Verdict(Relation.DIFFERENT, "nothing to compare")
    if old == new:
        return Verdict(Relation.SAME, "the same statement")
    verdicts = [[_claims(a, b, new, old, closeness) for b in new.claims] for a in old.claims]
    flat = [one for row in verdicts for one in row]
    turned = [one for one in flat if one.relation is Relation.SUPERSEDES]
    if any(one.sure for one in turned) or (turned and _plain_enough(old) and _plain_enough(new)):
        return max(turned, key=lambda one: one.sure)
    if _ordered_otherwise(old, new):
        return different("the same words in another order")
    if (whole := _whole(old, new)) is not None:
        return whole
    fewer = verdicts if len(old.claims) <= len(new.claims) else list(zip(*verdicts, strict=True))
    if max(len(old.claims), len(new.claims)) <= 2 and all(
        any(one.relation is Relation.SAME for one in row) for row in fewer
    ):
        return next(one for one in flat if one.relation is Relation.SAME)
    apart = [one for one in flat if one.relation is Relation.DIFFERENT]
    return next((one for one in apart if one.akin), apart[0] if apart else unsure("not surely the same"))


def _plain_enough(reading: Reading) -> bool:
    """Whether a text is so short that words in common mean something: not a story of several clauses."""
    return len(reading.claims) <= 2 and sum(len(one.content) for one in reading.claims) <= MAX_WORDS


def _claims(a: Claim, b: Claim, new: Reading, old: Reading, closeness: float | None) -> Verdict:
    subjects = subjects_of(a, b)
    if new.corrects and (verdict := corrected(a, b, subjects)) is not None:
        return verdict
    if b.turn in (Turn.RESCHEDULED, Turn.CANCELLED):
        return moved_or_cancelled(a, b, subjects)
    if (verdict := replaced(a, b)) is not None:
        return verdict
    if subjects is Subjects.OTHER:
        return unrelated("about something else")
    if (verdict := outgrown(a, b)) is not None:
        return verdict
    if apart_in_time(a, b):
        return different("at another time")
    if (verdict := given_up(a, b, subjects) or ended(a, b) or changed(a, b, subjects)) is not None:
        return verdict
    if not slots_meet(a, b):
        return unsure("another relation", akin=False)
    if a.negated != b.negated:
        return denied(a, b)
    foreign = old.han != new.han
    return values_of(a, b, subjects, closeness if foreign else None)


def _whole(old: Reading, new: Reading) -> Verdict | None:
    """The same said in other order: all content words and times of one are in the other («我有只狗叫…», «我的狗叫…»).

    What one says more may be anything but a relative, a figure, or more of a denial.
    """
    claims = (*old.claims, *new.claims)
    a, b = old.claims[0], new.claims[0]
    if any(one.turn is not None or one.negated != a.negated or one.past != a.past for one in claims):
        return None
    mine, theirs = _everything(old), _everything(new)
    fewer, more = sorted((mine, theirs), key=len)
    if fewer != more and (len(old.claims), len(new.claims)) != (1, 1):
        return None
    extra = more - fewer - {"user"}
    if (
        len(fewer - {"user"}) < 2
        or not fewer <= more
        or (extra and (a.negated or has_figures(extra) or extra & relatives()))
    ):
        return None
    if not (slots_meet(a, b) or ({a.slot, b.slot} <= _WEAK and not extra)) or _crossed(a, b):
        return None
    if not extra and _exchanged(a, b):
        return None
    if extra and not heads_agree(a, b):
        return None
    return Verdict(Relation.SAME, "the same statement in other words")


def _ordered_otherwise(old: Reading, new: Reading) -> bool:
    """Whether figures or names stand in another order, where that matters: not around an «is»."""
    copulas = all(any("be" in claim.verbs for claim in reading.claims) for reading in (old, new))
    return _permuted(old.figures, new.figures) or (not copulas and _permuted(old.names, new.names))


def _permuted(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether what both have stands in another order: «3 cats and 2 dogs», «from Rome to Oslo»."""
    shared = set(mine) & set(theirs)
    return [one for one in mine if one in shared] != [one for one in theirs if one in shared]


def _crossed(a: Claim, b: Claim) -> bool:
    """Two chains of relatives that differ («我哥哥的老婆», «我老婆的哥哥»)."""
    return "/" in a.owner and "/" in b.owner and owners(a, b) is Subjects.OTHER


def _everything(reading: Reading) -> frozenset[str]:
    found: set[str] = set()
    for claim in reading.claims:
        # A quantity is not the figure that names a thing: «Room 12 has 3 chairs» is not «Room 3 has 12 chairs».
        found |= claim.content | claim.times | {f"#{number}" for number in claim.numbers} | (claim.verbs - _WEAK)
        found |= {"user"} if claim.owner or "user" in (*claim.subject, *claim.value) else set()
    return frozenset(found)


def _exchanged(a: Claim, b: Claim) -> bool:
    """The same words with subject and value exchanged: «甲管乙», «乙管甲»."""
    if a.slot in LIGHT or b.slot in LIGHT:
        return False
    return bool(plain(a.subject) & set(b.value)) and bool(plain(b.subject) & set(a.value))
