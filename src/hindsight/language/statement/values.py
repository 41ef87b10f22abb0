"""How the values of two claims about the same subject stand to each other."""

from __future__ import annotations

from dataclasses import replace

from hindsight.language.statement.claim import LIGHT, Claim
from hindsight.language.statement.clauses import LED
from hindsight.language.statement.moments import times_differ
from hindsight.language.statement.subjects import Subjects
from hindsight.language.statement.verdict import Relation, Verdict, different, supersedes, unrelated

# Closeness, on the calibrated scale, from which two values in different scripts count as each other's translation.
TRANSLATED = 0.85
_TASTES = frozenset(["like", "eat", "drink", "allergy", "play", "speak", "read", "watch", "listen", "cook", "visit"])


def slots_meet(a: Claim, b: Claim) -> bool:
    if a.slot == b.slot:
        return True
    if (a.slot in LIGHT and b.slot in LIGHT) or {a.slot, b.slot} == {"be", "work"}:
        return True
    if {a.slot, b.slot} == {"be", "use"} and len(a.content & b.content) >= 2:
        return True
    if "like" in (a.slot, b.slot) and (b.now or b.turn is not None) and (a.slot in b.verbs or b.slot in a.verbs):
        return True
    mine, theirs = a.verbs | a.content | {_root(a.slot)}, b.verbs | b.content | {_root(b.slot)}
    return (_root(a.slot) in theirs or a.slot in LIGHT) and (_root(b.slot) in mine or b.slot in LIGHT)


def _root(slot: str) -> str:
    """The word of a slot that also has a preposition: «host» of «host_in»."""
    head, _, led = slot.partition("_")
    return head if led in LED else slot


def denied(a: Claim, b: Claim) -> Verdict:
    """One denies: the other's own value, or another."""
    denial, other = (a, b) if a.negated else (b, a)
    if times_differ(a.times, b.times):
        return different("at another time")
    if set(a.value) - {"user"} == set(b.value) - {"user"} and (equal_values(a, b) or not a.numbers or not b.numbers):
        return supersedes("the opposite")
    if not denial.value and not denial.numbers:
        return supersedes("the opposite") if b.now or b.turn or not other.value else different("another value")
    if not other.value and denial.value and denial is b:
        return different("a narrower denial")
    if set(denial.value) < set(other.value) and not equal_values(a, b) and denial.value:
        return supersedes("the opposite")
    return different("another value")


def equal_values(a: Claim, b: Claim) -> bool:
    return frozenset(a.value) - {"user"} == frozenset(b.value) - {"user"} and sorted(a.numbers) == sorted(b.numbers)


def values_of(a: Claim, b: Claim, subjects: Subjects, closeness: float | None) -> Verdict:
    """Two values of one slot, both affirmed or both denied. `closeness`: where they are in different languages."""
    mine, theirs = _content(a), _content(b)
    if _lookalike(a, b, mine ^ theirs):
        return different("another number or code")
    if _alike(mine, theirs, exact=a.negated or not heads_agree(a, b)):
        return _unsure(a, b, subjects) or _measures(a, b)
    if closeness is not None and closeness >= TRANSLATED and _untranslated(mine ^ theirs):
        measured = _measures(a, b)
        return (
            replace(measured, reason="the same in another language") if measured.relation is Relation.SAME else measured
        )
    if b.also:
        return different("another one as well")
    if a.single and b.single and subjects is Subjects.EQUAL and (a.slot == b.slot or {a.slot, b.slot} <= LIGHT):
        return supersedes("a new value") if mine and theirs else unrelated("another relation")
    return different("another value")


def _content(claim: Claim) -> frozenset[str]:
    return frozenset(claim.value) - {"user"}


def _unsure(a: Claim, b: Claim, subjects: Subjects) -> Verdict | None:
    """Equal values that say too little: of subjects that need not be one, or one value and none."""
    said_at = a.times & b.times
    if subjects is Subjects.LOOSE and not (a.content & b.content) and not said_at:
        return different("not surely about the same")
    one_sided = bool(_content(a)) != bool(_content(b)) and a.slot in LIGHT
    if one_sided and not (set(a.numbers) & set(b.numbers) or said_at):
        return different("not surely about the same")
    return None


def _measures(a: Claim, b: Claim) -> Verdict:
    """Equal values with their numbers and times."""
    timed = times_differ(a.times, b.times)
    if _numbers_differ(a, b):
        if ((a.past or b.past) and not b.now) or not _measured(a, b):
            return different("another number")
        return supersedes("a new time" if timed else "a new number")
    return supersedes("a new time") if timed else Verdict(Relation.SAME, "the same statement")


def _lookalike(a: Claim, b: Claim, differing: frozenset[str]) -> bool:
    """Whether all that differs are figures that name things: «UA123» and «UA124», Room 101 and 102."""
    figures = all(any(letter.isdigit() for letter in word) for word in differing)
    both = differing & set(a.value) and differing & set(b.value)
    return bool(both) and figures and b.turn is None and not b.now


def heads_agree(a: Claim, b: Claim) -> bool:
    """Whether what one says more of a liked thing leaves it the same thing: not «coffee cake» for «coffee»."""
    if a.slot not in _TASTES or b.slot not in _TASTES or not a.value or not b.value:
        return True
    longer, shorter = sorted((a.value, b.value), key=len, reverse=True)
    return longer[-1] in shorter


def _alike(mine: frozenset[str], theirs: frozenset[str], *, exact: bool) -> bool:
    """Equal values, or one that says the other more closely; a denial is `exact`, only as wide as its words."""
    rest_a, rest_b = mine - theirs, theirs - mine
    for one in list(rest_a):
        match = next((other for other in rest_b if _spelled_alike(one, other)), None)
        if match is not None:
            rest_a, rest_b = rest_a - {one}, rest_b - {match}
    if exact:
        return not rest_a and not rest_b
    return not rest_a or not rest_b


def _spelled_alike(one: str, other: str) -> bool:
    """A short form of a Chinese word: every character of it in order in the longer one, with its last the same."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 2 or shorter[-1] != longer[-1] or not "\u4e00" <= shorter[0] <= "\u9fff":
        return shorter == longer
    letters = iter(longer)
    return all(letter in letters for letter in shorter)


def overlap(mine: set[str], theirs: set[str]) -> bool:
    return bool(mine & theirs) or any(_spelled_alike(one, other) for one in mine for other in theirs)


def _numbers_differ(a: Claim, b: Claim) -> bool:
    mine, theirs = set(a.numbers), set(b.numbers)
    return not (mine <= theirs or theirs <= mine)


def _measured(a: Claim, b: Claim) -> bool:
    """Whether two numbers are measures of one thing, not names of two."""
    return a.single or b.single or b.now or bool(a.units & b.units) or bool(a.every & b.every) or bool(a.value)


def _untranslated(words: frozenset[str]) -> bool:
    """Whether the words that differ are of two scripts, so that one may be the other's translation."""
    han = any("\u4e00" <= word[:1] <= "\u9fff" for word in words)
    return han and any(word[:1].isascii() for word in words)
