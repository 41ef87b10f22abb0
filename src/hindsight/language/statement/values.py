"""How the values of two claims about the same subject stand to each other."""

from __future__ import annotations

from dataclasses import replace

from hindsight.language.statement.claim import LIGHT, Claim
from hindsight.language.statement.clauses import LED
from hindsight.language.statement.moments import by_kind, narrower, times_differ
from hindsight.language.statement.subjects import Subjects
from hindsight.language.statement.verdict import Relation, Verdict, different, supersedes, unsure

# Closeness, on the calibrated scale, from which two values in different scripts count as each other's translation.
TRANSLATED = 0.85
# What one does again and again.
PURSUED = frozenset(
    ["like", "eat", "drink", "smoke", "play", "run", "swim", "watch", "listen", "read", "exercise", "visit"]
)
_TASTES = frozenset(["like", "eat", "drink", "allergy", "play", "speak", "read", "watch", "listen", "cook", "visit"])


ORDINAL = "第"


def slots_meet(a: Claim, b: Claim) -> bool:
    if a.slot == b.slot:
        return True
    if a.slot in LIGHT and b.slot in LIGHT:
        return True
    if {a.slot, b.slot} == {"be", "work"} and set(a.value) & set(b.value):
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
    if denial is b and (a.every or a.slot in PURSUED) and narrower(a, b):
        return different("denied for some times only")
    if set(a.value) - {"user"} == set(b.value) - {"user"} and (equal_values(a, b) or not a.numbers or not b.numbers):
        return supersedes("the opposite")
    if not denial.value and not denial.numbers:
        return supersedes("the opposite") if b.now or b.turn or not other.value else different("another value")
    if not other.value and denial.value and denial is b:
        return unsure("a narrower denial")
    if set(denial.value) < set(other.value) and not equal_values(a, b) and denial.value:
        return supersedes("the opposite")
    return unsure("another value")


def equal_values(a: Claim, b: Claim) -> bool:
    return frozenset(a.value) - {"user"} == frozenset(b.value) - {"user"} and sorted(a.numbers) == sorted(b.numbers)


def values_of(a: Claim, b: Claim, subjects: Subjects, closeness: float | None) -> Verdict:
    """Two values of one slot, both affirmed or both denied. `closeness`: where they are in different languages."""
    mine, theirs = _content(a), _content(b)
    if _lookalike(a, b, mine ^ theirs):
        return different("another number or code")
    if _alike(mine, theirs, exact=a.negated or not heads_agree(a, b), names=_names_things(a, b)):
        return _unsure(a, b, subjects) or _measures(a, b, subjects)
    if closeness is not None and closeness >= TRANSLATED and _untranslated(mine ^ theirs):
        measured = _measures(a, b, subjects)
        return (
            replace(measured, reason="the same in another language") if measured.relation is Relation.SAME else measured
        )
    if b.also:
        return different("another one as well")
    if a.single and b.single and subjects is Subjects.EQUAL and _one_slot(a, b):
        if not mine or not theirs:
            return unsure("another relation", akin=False)
        return supersedes("a new value") if same_facet(a, b) else different("another side of it")
    return unsure("another value")


def _one_slot(a: Claim, b: Claim) -> bool:
    """Whether two slots hold the same one value. What one is called is a slot of its own but for relatives."""
    if a.slot == b.slot:
        return True
    slots = {a.slot, b.slot}
    return slots <= LIGHT and ("own_name" not in slots or "/" in a.owner)


def same_facet(a: Claim, b: Claim) -> bool:
    """Whether two claims about work tell of the same side of it: whom for, or as what."""
    if a.slot != "work" or b.slot != "work":
        return True
    if any(kind == "word" and concept in b.value for concept, kind in a.kinds):
        return True  # "in the field of X", "in the field of Y"
    mine, theirs = _roles(a), _roles(b)
    for_a, for_b = _content(a) - mine, _content(b) - theirs
    return (
        bool(mine and theirs and not mine & theirs)
        or bool(for_a and for_b and not for_a & for_b)
        or (not for_b and not theirs)
    )


def _roles(claim: Claim) -> frozenset[str]:
    return frozenset(concept for concept, kind in claim.kinds if kind == "job" and concept in claim.value)


def _content(claim: Claim) -> frozenset[str]:
    return frozenset(claim.value) - {"user"}


def _unsure(a: Claim, b: Claim, subjects: Subjects) -> Verdict | None:
    """Equal values that say too little: of subjects that need not be one, or one value and none."""
    if subjects is Subjects.LOOSE and not a.content & b.content:
        return unsure("not surely about the same")
    if bool(_content(a)) != bool(_content(b)) and not _tells(a) & _tells(b) and not (a.numbers and b.numbers):
        return unsure("not surely about the same")
    more_a, more_b = _content(a) - _content(b), _content(b) - _content(a)
    one_measures = not (a.numbers and b.numbers)
    if one_measures and ((more_a and _tells(b) - _tells(a)) or (more_b and _tells(a) - _tells(b))):
        return unsure("each says more than the other")
    return None


def _measures(a: Claim, b: Claim, subjects: Subjects) -> Verdict:
    """Equal values with their numbers and times."""
    timed = times_differ(a.times, b.times)
    if _numbers_differ(a, b) and a.units and b.units and not a.units & b.units:
        return different("another measure")
    if (timed or _numbers_differ(a, b)) and subjects is not Subjects.EQUAL and not b.now:
        return unsure("not surely about the same")
    if _numbers_differ(a, b):
        if ORDINAL in a.value and ORDINAL in b.value:
            return different("another of several")  # «第1次», «第2次»: a number that tells one from the next
        if ((a.past or b.past) and not b.now) or not _measured(a, b):
            return different("another number")
        return supersedes("a new time" if timed else "a new number")
    if timed:
        return supersedes("a new time")
    if _tells(a) - _tells(b) and _tells(b) - _tells(a):
        return unsure("each says more than the other")
    return Verdict(Relation.SAME, "the same statement")


def _tells(claim: Claim) -> frozenset[str]:
    """Figures and times that a claim gives; what it values is compared before."""
    return frozenset(
        (*claim.numbers, *(time for kind, found in by_kind(claim.times).items() if kind != "half" for time in found))
    )


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


def _names_things(a: Claim, b: Claim) -> bool:
    """Whether the values are what somebody or something is called, which no two characters may be taken for."""
    return "own_name" in (a.slot, b.slot) or "/" in a.owner


def _alike(mine: frozenset[str], theirs: frozenset[str], *, exact: bool, names: bool) -> bool:
    """Equal values, or one that says the other more closely; a denial is `exact`, only as wide as its words.

    Short and long forms of a Chinese word count as equal, of `names` they don't.
    """
    rest_a, rest_b = mine - theirs, theirs - mine
    for one in list(rest_a) if not names else ():
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
